package session

import (
	"context"
	"io"
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// Large objects are rows: one for each object, with its owner and privileges, and one
// for each page of its bytes. Pages that are not there are zeros; the object ends with
// its last page. This file has the descriptors and the SQL functions;
// largeobject_rows.go reads and writes the rows.

const (
	lobPage    = 2048
	lobMax     = lobPage * math.MaxInt32 // the greatest offset
	lobMaxRead = 1<<30 - 5               // what a bytea takes

	lobWrite = 0x20000 // the modes of lo_open
	lobRead  = 0x40000
)

// lobs are the large objects that a transaction has open.
type lobs struct {
	open  []*lobDescriptor // by descriptor; nil where one was closed
	wrote bool             // the transaction has changed some
	// before reads what there was before the statement changed any; nil while it has not.
	before kv.Reader
}

// changes is called before large objects are changed.
func (l *lobs) changes(tx kv.Txn) {
	if l.wrote = true; l.before == nil {
		l.before = tx.Before()
	}
}

// lobDescriptor is an open large object. One that is only read keeps what it sees;
// one that is written sees every change.
type lobDescriptor struct {
	oid   types.OID
	write bool
	at    int64
	level int         // savepoints that were open when it was opened
	snap  kv.Snapshot // nil: the transaction's present state
	once  kv.Reader   // what one that lives as long as a call reads; nil otherwise
}

// LargeObject implements expr.SessionInfo.
func (s sessionInfo) LargeObject(ctx context.Context, src string, a []types.Datum, ret types.T) (types.Datum, error) {
	n, b, err := s.largeObject(ctx, src, a)
	switch {
	case err != nil:
		return types.Datum{}, err
	case ret.OID == types.OBytea:
		return types.Bytes(ret, b), nil
	case ret.OID == types.OVoid:
		return types.Bytes(ret, nil), nil
	}
	return types.Int(ret, n), nil
}

// largeObject answers a function with a number or with bytes.
func (s *Session) largeObject(ctx context.Context, src string, a []types.Datum) (n int64, b []byte, err error) {
	oid := types.OID(a[0].I)
	switch src {
	case "be_lo_creat":
		oid, err = s.createLob(ctx, 0)
		return int64(oid), nil, err
	case "be_lo_create":
		oid, err = s.createLob(ctx, oid)
		return int64(oid), nil, err
	case "be_lo_from_bytea":
		if oid, err = s.createLob(ctx, oid); err == nil {
			err = s.writeLob(ctx, &lobDescriptor{oid: oid, write: true}, a[1].B)
		}
		return int64(oid), nil, err
	case "be_lo_import":
		oid, err = s.importLob(ctx, string(a[0].B), 0)
		return int64(oid), nil, err
	case "be_lo_import_with_oid":
		oid, err = s.importLob(ctx, string(a[0].B), types.OID(a[1].I))
		return int64(oid), nil, err
	case "be_lo_export":
		return 1, nil, s.exportLob(ctx, oid, string(a[1].B))
	case "be_lo_unlink":
		return 1, nil, s.unlinkLob(ctx, oid)
	case "be_lo_open":
		d, err := s.openLob(ctx, oid, a[1].I)
		if err != nil {
			return 0, nil, err
		}
		return int64(s.tx.lobs.add(d)), nil, nil
	case "be_lo_get":
		b, err = s.getLob(ctx, oid, 0, -1)
		return 0, b, err
	case "be_lo_get_fragment":
		if a[2].I < 0 {
			return 0, nil, sqlerr.New(sqlerr.InvalidParameterValue, "requested length cannot be negative")
		}
		b, err = s.getLob(ctx, oid, a[1].I, a[2].I)
		return 0, b, err
	case "be_lo_put":
		d, err := s.openLob(ctx, oid, lobWrite)
		if err != nil {
			return 0, nil, err
		}
		if _, err := s.seekLob(ctx, d, a[1].I, io.SeekStart); err != nil {
			return 0, nil, err
		}
		return 0, nil, s.writeLob(ctx, d, a[2].B)
	}
	return s.useLob(ctx, src, int(a[0].I), a[1:])
}

// useLob answers a function of an open descriptor.
func (s *Session) useLob(ctx context.Context, src string, fd int, a []types.Datum) (n int64, b []byte, err error) {
	open := s.tx.lobs.open
	if fd < 0 || fd >= len(open) || open[fd] == nil {
		return 0, nil, sqlerr.New(sqlerr.UndefinedObject, "invalid large-object descriptor: %d", fd)
	}
	d := open[fd]
	small := func(n int64, err error, what string) (int64, []byte, error) {
		if err == nil && n > math.MaxInt32 {
			err = sqlerr.New(sqlerr.NumericValueOutOfRange, "%s result out of range for large-object descriptor %d", what, fd)
		}
		return n, nil, err
	}
	switch src {
	case "be_lo_close":
		d.close()
		open[fd] = nil
		return 0, nil, nil
	case "be_loread":
		b, err = s.readLob(ctx, d, max(a[0].I, 0))
		return 0, b, err
	case "be_lo_lseek":
		n, err = s.seekLob(ctx, d, a[0].I, int(a[1].I))
		return small(n, err, "lo_lseek")
	case "be_lo_lseek64":
		n, err = s.seekLob(ctx, d, a[0].I, int(a[1].I))
		return n, nil, err
	case "be_lo_tell":
		return small(d.at, nil, "lo_tell")
	case "be_lo_tell64":
		return d.at, nil, nil
	}
	if !d.write {
		return 0, nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "large object descriptor %d was not opened for writing", fd)
	}
	switch src {
	case "be_lowrite":
		return int64(len(a[0].B)), nil, s.writeLob(ctx, d, a[0].B)
	case "be_lo_truncate", "be_lo_truncate64":
		return 0, nil, s.truncateLob(ctx, d, a[0].I)
	}
	return 0, nil, sqlerr.Unsupported(-1, "function %s", src)
}

// add gives a descriptor the least free number.
func (l *lobs) add(d *lobDescriptor) int {
	for i, o := range l.open {
		if o == nil {
			l.open[i] = d
			return i
		}
	}
	l.open = append(l.open, d)
	return len(l.open) - 1
}

func (d *lobDescriptor) close() {
	if d.snap != nil {
		d.snap.Close()
		d.snap = nil
	}
}

// closeFrom closes the descriptors that were opened when as many savepoints, or more,
// were open.
func (l *lobs) closeFrom(level int) {
	for i, d := range l.open {
		if d != nil && d.level >= level {
			d.close()
			l.open[i] = nil
		}
	}
}

// released moves the descriptors of released savepoints to the level below them.
func (l *lobs) released(level int) {
	for _, d := range l.open {
		if d != nil {
			d.level = min(d.level, level)
		}
	}
}

// lobMark is the state of the descriptors before a statement that may have to run
// again.
type lobMark struct {
	open []*lobDescriptor
	at   []int64
}

func (l *lobs) mark() (m lobMark) {
	for _, d := range l.open {
		m.open = append(m.open, d)
		at := int64(0)
		if d != nil {
			at = d.at
		}
		m.at = append(m.at, at)
	}
	return m
}

// rollbackTo closes what was opened since the mark and moves the others to where they
// were. What was closed since stays closed if it kept a state that is gone.
func (l *lobs) rollbackTo(m lobMark) {
	for i, d := range l.open {
		if d != nil && (i >= len(m.open) || m.open[i] != d) {
			d.close()
		}
	}
	l.open = m.open
	for i, d := range l.open {
		if d != nil {
			d.at = m.at[i]
		}
	}
}

// openLob is lo_open: it finds the object and checks the rights.
func (s *Session) openLob(ctx context.Context, oid types.OID, mode int64) (*lobDescriptor, error) {
	d := &lobDescriptor{oid: oid, write: mode&lobWrite != 0, level: len(s.tx.saves)}
	if mode&(lobWrite|lobRead) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid flags for opening a large object: %d", mode)
	}
	need := catalog.PrivSelect
	if d.write {
		need |= catalog.PrivUpdate
		if err := s.writable("lo_open(INV_WRITE)"); err != nil {
			return nil, err
		}
		if err := s.lockLob(ctx, oid); err != nil {
			return nil, err
		}
	}
	var reader kv.Reader = s.tx.kv
	if !d.write && s.tx.lobs.before != nil {
		reader = s.tx.lobs.before
	}
	o, err := s.lobIn(ctx, reader, oid)
	if err != nil {
		return nil, err
	}
	if s.settings.get("lo_compat_privileges") != "on" {
		if err := s.snapshot().CheckPriv(s.user, o, need); err != nil {
			return nil, err
		}
	}
	if !d.write && !s.tx.lobs.wrote {
		d.snap, err = s.tx.kv.Export()
	}
	return d, err
}

// seekLob is lo_lseek64.
func (s *Session) seekLob(ctx context.Context, d *lobDescriptor, offset int64, whence int) (int64, error) {
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = d.at
	case io.SeekEnd:
		size, err := s.sizeOfLob(ctx, d)
		if err != nil {
			return 0, err
		}
		base = size
	default:
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid whence setting: %d", whence)
	}
	to := base + offset // an overflow is negative
	if to < 0 || to > lobMax {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid large object seek target: %d", to)
	}
	d.at = to
	return to, nil
}

// getLob is lo_get: n bytes from an offset on, all with n < 0.
func (s *Session) getLob(ctx context.Context, oid types.OID, offset, n int64) ([]byte, error) {
	d, err := s.openLob(ctx, oid, lobRead)
	if err != nil {
		return nil, err
	}
	defer d.close()
	d.once = s.tx.lobs.before
	size, err := s.sizeOfLob(ctx, d)
	if err != nil {
		return nil, err
	}
	if _, err := s.seekLob(ctx, d, offset, io.SeekStart); err != nil {
		return nil, err
	}
	if left := max(size-offset, 0); n < 0 || n > left {
		n = left
	}
	return s.readLob(ctx, d, n)
}

// unlinkLob is lo_unlink. The descriptors of the object that are open are closed.
func (s *Session) unlinkLob(ctx context.Context, oid types.OID) error {
	o, err := s.mustLob(ctx, oid)
	if err != nil {
		return err
	}
	if s.settings.get("lo_compat_privileges") != "on" && !s.snapshot().Owns(s.user, o) {
		return s.snapshot().NotOwner(o)
	}
	if err := s.writable("lo_unlink()"); err != nil {
		return err
	}
	l := &s.tx.lobs
	for i, d := range l.open {
		if d != nil && d.oid == oid {
			d.close()
			l.open[i] = nil
		}
	}
	return s.dropLob(ctx, oid)
}
