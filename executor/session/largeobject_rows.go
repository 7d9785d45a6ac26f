package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/parser"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// The statements that change the rows of large objects. They run inside of the calling
// statement, so that locks, conflicts and savepoints are those of SQL.
const (
	lobInsert  = "INSERT INTO pg_catalog.pg_largeobject_metadata (oid, lomowner) VALUES ($1, $2)"
	lobLock    = "SELECT oid FROM pg_catalog.pg_largeobject_metadata WHERE oid = $1 FOR KEY SHARE"
	lobSeize   = "SELECT oid FROM pg_catalog.pg_largeobject_metadata WHERE oid = $1 FOR UPDATE"
	lobUpdate  = "UPDATE pg_catalog.pg_largeobject_metadata SET lomowner = $2, lomacl = $3, comment = $4 WHERE oid = $1"
	lobDelete  = "DELETE FROM pg_catalog.pg_largeobject_metadata WHERE oid = $1"
	lobPut     = "INSERT INTO pg_catalog.pg_largeobject VALUES ($1, $2, $3) ON CONFLICT (loid, pageno) DO UPDATE SET data = EXCLUDED.data"
	lobCut     = "DELETE FROM pg_catalog.pg_largeobject WHERE loid = $1 AND pageno > $2"
	lobMissing = "large object %d does not exist"
)

// systemRun runs a statement of the server's own, whose parameters have the types that
// it wants. executor.ErrRetry goes to the calling statement, which begins again.
func (s *Session) systemRun(ctx context.Context, sql string, params ...types.Datum) (int64, error) {
	p := s.system[sql]
	if p == nil {
		st, err := parser.ParseOne(sql)
		if err != nil {
			return 0, err
		}
		p = &plannedStmt{stmt: st.Stmt, inOrder: true, system: true}
		if s.system == nil {
			s.system = make(map[string]*plannedStmt)
		}
		s.system[sql] = p
	}
	if err := s.prepare(ctx, p, nil); err != nil {
		return 0, withoutPosition(err)
	}
	n, err := s.drain(ctx, p, params, discard{}, nil)
	return n, withoutPosition(err)
}

func oidDatum(o types.OID) types.Datum { return types.Int(types.TOid, int64(o)) }

// makeLobFiles gives the session's database the files of large objects, in a
// transaction of its own: others that make their first large object do not wait for
// this session's. A change of the database that is published at the same moment makes it
// begin again.
func (s *Session) makeLobFiles(ctx context.Context) error {
	s.srv.lobFiles.Lock()
	defer s.srv.lobFiles.Unlock()
	for {
		err := s.tryLobFiles(ctx)
		if sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
			return err
		}
	}
}

func (s *Session) tryLobFiles(ctx context.Context) error {
	srv := s.srv
	ch := catalog.NewChange(srv.Catalog.Current(), s.db, "postgres", nil, srv.Catalog)
	if err := ch.MakeLargeObjects(); err != nil {
		return err
	}
	if !ch.Delta().Empty() {
		tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		metadata, pages := ch.Snapshot().LargeObjects(s.db)
		for _, t := range []*catalog.Table{metadata, pages} {
			d, err := srv.Tables.For(t)
			if err != nil {
				return err
			}
			if err := d.Create(tx); err != nil {
				return err
			}
		}
		if err := srv.commit(ctx, tx, ch.Delta()); err != nil {
			return err
		}
	}
	return s.rebase()
}

// createLob makes a large object, with an OID of the server's choice where there is none.
func (s *Session) createLob(ctx context.Context, oid types.OID) (types.OID, error) {
	if err := s.writable("lo_create()"); err != nil {
		return 0, err
	}
	if metadata, _ := s.snapshot().LargeObjects(s.db); metadata == nil {
		if err := s.makeLobFiles(ctx); err != nil {
			return 0, err
		}
	}
	for choose := oid == 0; choose; {
		oid = s.srv.Catalog.AllocOID()
		o, err := s.lob(ctx, s.tx.kv, oid)
		if err != nil {
			return 0, err
		}
		choose = o != nil
	}
	s.tx.lobs.changes(s.tx.kv)
	_, err := s.systemRun(ctx, lobInsert, oidDatum(oid), oidDatum(s.snapshot().RoleOID(s.user)))
	return oid, err
}

// lockLob keeps a large object from being removed before the transaction's end, if it
// is there.
func (s *Session) lockLob(ctx context.Context, oid types.OID) error {
	if metadata, _ := s.snapshot().LargeObjects(s.db); metadata == nil {
		return nil
	}
	s.tx.lobs.changes(s.tx.kv)
	_, err := s.systemRun(ctx, lobLock, oidDatum(oid))
	return err
}

// dropLob removes a large object and its pages.
func (s *Session) dropLob(ctx context.Context, oid types.OID) error {
	s.tx.lobs.changes(s.tx.kv)
	if _, err := s.systemRun(ctx, lobSeize, oidDatum(oid)); err != nil {
		return err
	}
	if err := s.seesPages(ctx, oid); err != nil {
		return err
	}
	n, err := s.systemRun(ctx, lobDelete, oidDatum(oid))
	if err == nil && n == 0 {
		err = sqlerr.New(sqlerr.UndefinedObject, lobMissing, oid)
	}
	if err != nil {
		return err
	}
	_, err = s.systemRun(ctx, lobCut, oidDatum(oid), types.Int(types.TInt4, -1))
	return err
}

// seesPages fails when a large object, which nobody else can write any more, has pages
// that came while the lock was waited for: the statement begins again, or conflicts.
func (s *Session) seesPages(ctx context.Context, oid types.OID) error {
	_, pages := s.snapshot().LargeObjects(s.db)
	desc, err := s.srv.Tables.For(pages)
	if err != nil {
		return err
	}
	if behind, err := desc.Behind(s.tx.kv); err != nil || !behind {
		return err
	}
	now, err := s.srv.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer now.Close()
	spec := &table.ScanSpec{Ranges: []types.Range{{Eq: []types.Datum{oidDatum(oid)}}}, Cols: []int{1}}
	seen := make(map[int64]bool)
	err = scanRows(ctx, desc, s.tx.kv, spec, func(b *vec.Batch, r int) (bool, error) {
		seen[b.Cols[0].Get(r).I] = true
		return true, nil
	})
	if err != nil {
		return err
	}
	return scanRows(ctx, desc, now, spec, func(b *vec.Batch, r int) (bool, error) {
		switch {
		case seen[b.Cols[0].Get(r).I]:
			return true, nil
		case s.tx.iso == kv.ReadCommitted:
			return false, executor.ErrRetry
		}
		return false, kv.ErrConflict
	})
}

// lob returns a large object as a reader sees it, or nil.
func (s *Session) lob(ctx context.Context, r kv.Reader, oid types.OID) (o *catalog.LargeObject, err error) {
	eq := types.Range{Eq: []types.Datum{oidDatum(oid)}}
	err = s.eachLobIn(ctx, r, s.db, []types.Range{eq}, func(found *catalog.LargeObject) error {
		o = found
		return nil
	})
	return o, err
}

// mustLob is lob of what the transaction sees now, with 42704.
func (s *Session) mustLob(ctx context.Context, oid types.OID) (*catalog.LargeObject, error) {
	return s.lobIn(ctx, s.tx.kv, oid)
}

func (s *Session) lobIn(ctx context.Context, r kv.Reader, oid types.OID) (*catalog.LargeObject, error) {
	o, err := s.lob(ctx, r, oid)
	if err == nil && o == nil {
		err = sqlerr.New(sqlerr.UndefinedObject, lobMissing, oid)
	}
	return o, err
}

// eachLob passes the large objects of a database in the order of their OIDs.
func (s *Session) eachLob(ctx context.Context, db types.OID, f func(*catalog.LargeObject) error) error {
	return s.eachLobIn(ctx, s.tx.kv, db, nil, f)
}

// eachLobIn is eachLob of what a reader sees, of those with OIDs in ranges (nil: all).
func (s *Session) eachLobIn(ctx context.Context, reader kv.Reader, db types.OID, ranges []types.Range, f func(*catalog.LargeObject) error) error {
	snap := s.snapshot()
	metadata, _ := snap.LargeObjects(db)
	if metadata == nil {
		return nil
	}
	d, err := s.srv.Tables.For(metadata)
	if err != nil {
		return err
	}
	return scanRows(ctx, d, reader, &table.ScanSpec{Ranges: ranges, Cols: []int{0, 1, 2, 3}}, func(b *vec.Batch, r int) (bool, error) {
		text := func(c int) string { return string(b.Cols[c].Get(r).B) }
		o, err := snap.NewLargeObject(db, types.OID(b.Cols[0].Get(r).I), types.OID(b.Cols[1].Get(r).I), text(2), text(3))
		if err != nil {
			return false, err
		}
		return true, f(o)
	})
}

// scanRows passes the rows of a scan one by one until f returns false.
func scanRows(ctx context.Context, d *table.Desc, r kv.Reader, spec *table.ScanSpec, f func(b *vec.Batch, row int) (bool, error)) error {
	sc, err := d.Scan(ctx, r, spec)
	if err != nil {
		return err
	}
	defer sc.Release()
	var b vec.Batch
	for {
		if err := sc.Next(&b); err != nil || b.N == 0 {
			return err
		}
		for i := range b.Rows() {
			if more, err := f(&b, b.Row(i)); err != nil || !more {
				return err
			}
		}
	}
}

// storeLob writes what ALTER, GRANT or COMMENT changed of a large object.
func (s *Session) storeLob(ctx context.Context, o *catalog.LargeObject) error {
	owner, acl := o.Row(s.snapshot())
	text := func(v string) types.Datum {
		if v == "" {
			return types.Null(types.TText)
		}
		return types.Text(v)
	}
	s.tx.lobs.changes(s.tx.kv)
	return s.again(ctx, func() error {
		n, err := s.systemRun(ctx, lobUpdate, oidDatum(o.OID), oidDatum(owner), text(acl), text(o.Comment))
		if err == nil && n == 0 {
			err = sqlerr.New(sqlerr.UndefinedObject, lobMissing, o.OID)
		}
		return err
	})
}

// pages passes the pages of an open large object from one number to another.
func (s *Session) pages(ctx context.Context, d *lobDescriptor, from, to int64, f func(no int64, data []byte) (bool, error)) error {
	lo, hi := types.Int(types.TInt4, from), types.Int(types.TInt4, min(to, math.MaxInt32))
	r := types.Range{Eq: []types.Datum{oidDatum(d.oid)}, Lo: &lo, Hi: &hi, LoInc: true, HiInc: true}
	return s.scanPages(ctx, d, &table.ScanSpec{Ranges: []types.Range{r}, Cols: []int{1, 2}}, f)
}

func (s *Session) scanPages(ctx context.Context, d *lobDescriptor, spec *table.ScanSpec, f func(no int64, data []byte) (bool, error)) error {
	_, pages := s.snapshot().LargeObjects(s.db)
	desc, err := s.srv.Tables.For(pages)
	if err != nil {
		return err
	}
	var reader kv.Reader = s.tx.kv
	if d.snap != nil {
		reader = d.snap
	}
	if d.once != nil {
		reader = d.once
	}
	return scanRows(ctx, desc, reader, spec, func(b *vec.Batch, r int) (bool, error) {
		return f(b.Cols[0].Get(r).I, b.Cols[1].Get(r).B)
	})
}

// sizeOfLob is the offset behind the last byte.
func (s *Session) sizeOfLob(ctx context.Context, d *lobDescriptor) (size int64, err error) {
	all := types.Range{Eq: []types.Datum{oidDatum(d.oid)}}
	err = s.scanPages(ctx, d, &table.ScanSpec{Ranges: []types.Range{all}, Cols: []int{1, 2}, Reverse: true, Limit: 1},
		func(no int64, data []byte) (bool, error) {
			size = no*lobPage + int64(len(data))
			return false, nil
		})
	return size, err
}

// readLob reads up to n bytes at the descriptor's place and moves it on.
func (s *Session) readLob(ctx context.Context, d *lobDescriptor, n int64) ([]byte, error) {
	if n > lobMaxRead {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "large object read request is too large")
	}
	if n <= 0 {
		return nil, nil
	}
	var out []byte
	granted := 0
	room := func(want int) error { // what is read is copied when it grows
		if want <= granted {
			return nil
		}
		granted = 2 * want
		return s.roomFn(int64(want))
	}
	last := (d.at + n - 1) / lobPage
	err := s.pages(ctx, d, d.at/lobPage, last, func(no int64, data []byte) (bool, error) {
		begin, end := no*lobPage, no*lobPage+int64(len(data))
		here := d.at + int64(len(out))
		if err := room(int(min(end, d.at+n) - d.at)); err != nil {
			return false, err
		}
		if gap := begin - here; gap > 0 {
			out = append(out, make([]byte, gap)...)
			here = begin
		}
		if skip := here - begin; skip < int64(len(data)) {
			data = data[skip:]
			out = append(out, data[:min(int64(len(data)), n-int64(len(out)))]...)
		}
		return int64(len(out)) < n, nil
	})
	if err == nil && int64(len(out)) < n { // zeros, if there is a page behind
		err = s.pages(ctx, d, last+1, lobMax/lobPage, func(int64, []byte) (bool, error) {
			err := room(int(n))
			if err == nil {
				out = append(out, make([]byte, n-int64(len(out)))...)
			}
			return false, err
		})
	}
	d.at += int64(len(out))
	return out, err
}

// page returns a copy of a page with that many bytes, zeros where it had none.
func (s *Session) page(ctx context.Context, d *lobDescriptor, no int64, atLeast int) ([]byte, error) {
	out := make([]byte, 0, lobPage)
	err := s.pages(ctx, d, no, no, func(_ int64, data []byte) (bool, error) {
		out = append(out, data...)
		return false, nil
	})
	if n := len(out); n < atLeast {
		out = out[:atLeast]
		clear(out[n:])
	}
	return out, err
}

func (s *Session) putPage(ctx context.Context, d *lobDescriptor, no int64, data []byte) error {
	s.tx.lobs.changes(s.tx.kv)
	_, err := s.systemRun(ctx, lobPut, oidDatum(d.oid), types.Int(types.TInt4, no), types.Bytes(types.TBytea, data))
	return err
}

// writeLob writes at the descriptor's place and moves it on.
func (s *Session) writeLob(ctx context.Context, d *lobDescriptor, data []byte) error {
	if d.at+int64(len(data)) > lobMax {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid large object write request size: %d", len(data))
	}
	for len(data) > 0 {
		no, at := d.at/lobPage, int(d.at%lobPage)
		part := data[:min(lobPage-at, len(data))]
		page := part
		if len(part) < lobPage {
			var err error
			if page, err = s.page(ctx, d, no, at+len(part)); err != nil {
				return err
			}
			copy(page[at:], part)
		}
		if err := s.putPage(ctx, d, no, page); err != nil {
			return err
		}
		d.at += int64(len(part))
		data = data[len(part):]
	}
	return nil
}

// truncateLob makes the object end at an offset, with zeros where it was shorter.
func (s *Session) truncateLob(ctx context.Context, d *lobDescriptor, size int64) error {
	if size < 0 || size > lobMax {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid large object truncation target: %d", size)
	}
	no, end := size/lobPage, int(size%lobPage)
	page, err := s.page(ctx, d, no, end)
	if err != nil {
		return err
	}
	if err := s.putPage(ctx, d, no, page[:end]); err != nil {
		return err
	}
	_, err = s.systemRun(ctx, lobCut, oidDatum(d.oid), types.Int(types.TInt4, no))
	return err
}

// serverFile refuses lo_import and lo_export by rights, or where no directory of files
// was opened.
func (s *Session) serverFile(function string) error {
	switch {
	case !s.mayCall("be_" + function):
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for function %s", function)
	case s.srv.opts.Files == nil:
		return sqlerr.Unsupported(-1, "%s of a server file", function).
			WithHint("Start the server with --server-files DIR, or use psql's \\%s.", function)
	}
	return nil
}

func serverFileError(path, doing string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || sqlerr.CodeOf(err) == undefinedFile {
		return sqlerr.New(undefinedFile, "could not %s server file \"%s\": No such file or directory", doing, path)
	}
	return err
}

// importLob is lo_import.
func (s *Session) importLob(ctx context.Context, path string, oid types.OID) (types.OID, error) {
	if err := s.serverFile("lo_import"); err != nil {
		return 0, err
	}
	f, err := s.srv.opts.Files.open(path)
	if err != nil {
		return 0, serverFileError(path, "open", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if oid, err = s.createLob(ctx, oid); err != nil {
		return 0, err
	}
	d, buf := &lobDescriptor{oid: oid, write: true}, make([]byte, 32*lobPage)
	for {
		n, err := io.ReadFull(f, buf)
		if werr := s.writeLob(ctx, d, buf[:n]); werr != nil {
			return 0, werr
		}
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return oid, nil
		case err != nil:
			return 0, sqlerr.New(sqlerr.IOError, "could not read server file \"%s\": %v", path, err)
		}
	}
}

// exportLob is lo_export.
func (s *Session) exportLob(ctx context.Context, oid types.OID, path string) error {
	if err := s.serverFile("lo_export"); err != nil {
		return err
	}
	d, err := s.openLob(ctx, oid, lobRead)
	if err != nil {
		return err
	}
	defer d.close()
	f, err := s.srv.opts.Files.create(path)
	if err != nil {
		return serverFileError(path, "create", err)
	}
	for {
		data, err := s.readLob(ctx, d, 32*lobPage)
		if err == nil && len(data) > 0 {
			_, err = f.Write(data)
		}
		if err != nil || len(data) == 0 {
			return errors.Join(err, f.Close())
		}
	}
}

// lobStore implements ddl.LargeObjects.
type lobStore struct {
	s   *Session
	ctx context.Context
}

func (l lobStore) Get(oid types.OID) (*catalog.LargeObject, error) { return l.s.mustLob(l.ctx, oid) }

func (l lobStore) Each(db types.OID, f func(*catalog.LargeObject) error) error {
	return l.s.eachLob(l.ctx, db, f)
}

func (l lobStore) Store(o *catalog.LargeObject) error { return l.s.storeLob(l.ctx, o) }

func (l lobStore) Drop(oid types.OID) error {
	return l.s.again(l.ctx, func() error { return l.s.dropLob(l.ctx, oid) })
}

// largeObjects is pgcatalog.Env.LargeObjects.
func (s *Session) largeObjects(one types.OID, f func(*catalog.LargeObject)) error {
	if s.tx == nil {
		return nil // nothing is read outside of a transaction
	}
	var ranges []types.Range
	if one != 0 {
		ranges = []types.Range{{Eq: []types.Datum{oidDatum(one)}}}
	}
	return s.eachLobIn(context.Background(), s.tx.kv, s.db, ranges, func(o *catalog.LargeObject) error {
		f(o)
		return nil
	})
}
