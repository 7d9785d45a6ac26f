package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// maintain runs VACUUM, ANALYZE, REINDEX, CLUSTER and CHECKPOINT. Rows are in the order of
// their keys always: CLUSTER has nothing to do. VACUUM folds the posting lists of inverted
// indexes as well.
func (s *Session) maintain(ctx context.Context, x *ast.Vacuum, c *call) (string, int64, error) {
	o, err := maintainOptions(x)
	if err != nil {
		return "", 0, err
	}
	analyze := o.analyze
	if x.Kind == "REINDEX" && (x.What == "DATABASE" || x.What == "SYSTEM" || x.What == "SCHEMA") {
		if err := s.alone(c, "REINDEX "+x.What); err != nil {
			return "", 0, err
		}
	}
	if x.Kind == "REINDEX" && concurrent(x) {
		if err := s.alone(c, "REINDEX CONCURRENTLY"); err != nil {
			return "", 0, err
		}
	}
	if x.Kind == "VACUUM" || x.Kind == "CLUSTER" && len(x.Tables) == 0 {
		if err := s.alone(c, x.Kind); err != nil {
			return "", 0, err
		}
	}
	if x.Kind == "CHECKPOINT" && !s.isSuper(s.user) && !s.snapshot().HasRole(s.db, s.user, "pg_checkpoint") {
		return "", 0, sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
	}
	tables, err := s.maintained(x)
	if err != nil {
		return "", 0, err
	}
	if x.Kind == "REINDEX" {
		if err := s.reindex(ctx, x, c); err != nil {
			return "", 0, err
		}
	}
	if x.Kind == "CLUSTER" {
		if err := s.clusterTables(ctx, x, c); err != nil {
			return "", 0, err
		}
	}
	if x.Kind == "VACUUM" {
		for _, m := range tables {
			if o.parallel && catalog.IsTempSchema(m.table.Schema) && len(m.table.Indexes) > 1 {
				s.tell(notice("WARNING", sqlerr.Warning,
					"disabling parallel option of vacuum on \"%s\" --- cannot vacuum temporary tables in parallel", m.table.Name))
			}
			if err := s.srv.Tables.FoldPostings(ctx, m.table); err != nil {
				return "", 0, err
			}
		}
		if s.ownsDatabase() || x.Tables != nil && tables != nil { // else the file is not the role's to write anew
			if err := s.vacuum(ctx, x, o); err != nil {
				return "", 0, err
			}
		}
		for _, m := range tables {
			st := s.srv.cumulative.rel(m.table.OID)
			st.vacuumed.Store(st.sum(cntInserted))
			st.vacuum.done()
		}
	}
	if analyze {
		for _, m := range tables {
			if err := s.analyzeListed(ctx, m, o.skipLocked); err != nil {
				return "", 0, err
			}
		}
		for _, m := range tables {
			if err := s.analyzeTree(m.table); err != nil {
				return "", 0, err
			}
		}
	}
	return x.Kind, -1, nil
}

// checkMaintained checks the names in REINDEX and CLUSTER.
func (s *Session) checkMaintained(x *ast.Vacuum) error {
	beside := x.Kind == "REINDEX" && concurrent(x)
	system := sqlerr.New(sqlerr.FeatureNotSupported, "cannot reindex system catalogs concurrently")
	if beside && x.What == "SYSTEM" {
		return system
	}
	for i := range x.Tables {
		n := &x.Tables[i].Name
		hidden, err := s.checkHidden(x, n, beside)
		switch {
		case err != nil:
			return err
		case hidden:
		case x.What == "SCHEMA" && n.Last() == s.tempName():
		case x.What == "SCHEMA" && beside && n.Last() == catalog.SchemaPgCatalog:
			s.tell(notice("WARNING", sqlerr.FeatureNotSupported, "cannot reindex system catalogs concurrently, skipping all"))
		case x.What == "SCHEMA":
			if s.snapshot().Schema(s.db, n.Last()) == nil {
				return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Last())
			}
			if sc := s.snapshot().Schema(s.db, n.Last()); !s.snapshot().Owns(s.user, sc) {
				return s.snapshot().NotOwner(sc)
			}
		case x.What == "DATABASE" || x.What == "SYSTEM":
			if n.Last() != s.dbName {
				return sqlerr.New(sqlerr.FeatureNotSupported, "can only reindex the currently open database")
			}
			if d := s.snapshot().Object(s.db); !s.snapshot().Owns(s.user, d) {
				return s.snapshot().NotOwner(d)
			}
		case x.What == "INDEX":
			t, ix := s.findIndex(n)
			if ix == nil {
				if _, err := s.mustRelation(n); err == nil {
					return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", n.Last())
				}
				return noRelation(n)
			}
			if !s.snapshot().Owns(s.user, t) {
				return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of index %s", ix.Name)
			}
		default:
			r, err := s.mustRelation(n)
			if err != nil {
				if _, ix := s.findIndex(n); ix != nil && x.Kind == "REINDEX" {
					return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", n.Last())
				}
				return err
			}
			if v, virtual := r.(*catalog.Virtual); virtual && beside && v.Schema != catalog.SchemaInformation {
				return system
			}
			switch v, isView := r.(*catalog.View); {
			case isView && v.Materialized == nil:
				return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", n.Last())
			case !s.snapshot().Owns(s.user, r):
				return s.snapshot().NotOwner(r)
			}
			if cols := x.Tables[i].Cols; x.Kind == "CLUSTER" && len(cols) > 0 {
				t := catalog.StorageOf(r)
				at := -1
				if t != nil {
					at = slices.IndexFunc(t.Indexes, func(ix *catalog.Index) bool { return ix.Name == cols[0] })
				}
				if at < 0 {
					return sqlerr.New(sqlerr.UndefinedObject, "index \"%s\" for table \"%s\" does not exist", cols[0], n.Last())
				}
				if err := t.Indexes[at].Clusterable(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkHidden is checkMaintained for a name of REINDEX that stands for an index of the
// catalog, a TOAST table or the index of one: there is nothing that could be made anew.
func (s *Session) checkHidden(x *ast.Vacuum, n *ast.Name, beside bool) (hidden bool, err error) {
	if x.Kind != "REINDEX" || x.What != "TABLE" && x.What != "INDEX" {
		return false, nil
	}
	of, index, hidden := s.hiddenStorage(n)
	if !hidden {
		return false, nil
	}
	kind := strings.ToLower(x.What)
	switch {
	case index && x.What == "TABLE":
		err = sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", n.Last())
	case !index && x.What == "INDEX":
		err = sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", n.Last())
	case !s.snapshot().Owns(s.user, of):
		err = sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of %s %s", kind, n.Last())
	case beside && of.ObjectOID() < types.FirstUserOID:
		err = sqlerr.New(sqlerr.FeatureNotSupported, "cannot reindex system catalogs concurrently")
	}
	return true, err
}

// hiddenStorage returns the relation whose index of the catalog, TOAST table or index of
// that has the name.
func (s *Session) hiddenStorage(n *ast.Name) (of catalog.Relation, index, ok bool) {
	schema := cmp.Or(n.Schema(), catalog.SchemaPgCatalog)
	if schema != catalog.SchemaPgCatalog && schema != catalog.SchemaToast {
		return nil, false, false
	}
	oid, index, ok := s.pgEnv().HiddenStorage(schema, n.Last())
	if ok {
		of = s.snapshot().RelationByOID(s.db, oid)
	}
	return of, index, of != nil
}

// clusterTables marks the index that CLUSTER names; without one the table must have
// one that is marked.
func (s *Session) clusterTables(ctx context.Context, x *ast.Vacuum, c *call) error {
	for i := range x.Tables {
		r, err := s.mustRelation(&x.Tables[i].Name)
		if err != nil {
			return err
		}
		t := catalog.StorageOf(r)
		if t == nil {
			continue
		}
		at := slices.IndexFunc(t.Indexes, func(ix *catalog.Index) bool { return ix.Clustered })
		cols := x.Tables[i].Cols
		switch {
		case len(cols) == 0 && at < 0:
			return sqlerr.New(sqlerr.UndefinedObject, "there is no previously clustered index for table \"%s\"", x.Tables[i].Name.Last())
		}
		if t.Key == nil {
			// Files are in order, but others meet the lock of PostgreSQL, which moves rows.
			if _, err := s.lockTable(ctx, t, kv.AccessExclusive); err != nil {
				return err
			}
			if err := s.unused(ctx, t, "CLUSTER"); err != nil {
				return err
			}
		}
		if len(cols) == 0 || at >= 0 && t.Indexes[at].Name == cols[0] || t.Key != nil {
			continue
		}
		mark := *c
		kind := "TABLE"
		if v, ok := r.(*catalog.View); ok && v.Materialized != nil {
			kind = "MATERIALIZED VIEW"
		}
		mark.stmt = &ast.AlterTable{Off: x.Off, Kind: kind, Name: x.Tables[i].Name, Actions: []ast.AlterAction{{Off: x.Off, Kind: "CLUSTER", Name: cols[0]}}}
		s.tx.kv.AllowWrites() // the mark is no data: READ ONLY allows it
		if _, err := s.define(ctx, &mark); err != nil {
			return err
		}
		s.settings.epoch++
	}
	return nil
}

const (
	// A table is analysed when so many rows, and that part of all rows, have
	// changed since the last time.
	autoAnalyzeRows = 1000
	autoAnalyzePart = 0.2
	// Each analysis makes all sessions plan anew, so that a small table with many
	// changes must not be analysed all the time, nor may a large one take more
	// than its share of the processor.
	autoAnalyzePause  = 10 * time.Second
	autoAnalyzeShare  = 50 // of the time that an analysis takes
	autoAnalyzeGrowth = 4
)

// needsAnalyze reports whether a table's statistics are out of date.
func (srv *Server) needsAnalyze(t types.OID) bool {
	n := srv.rows.of(t).changed.Load()
	if n < autoAnalyzeRows {
		return false
	}
	st := srv.Catalog.Current().Stats(t)
	return st == nil || float64(n) > autoAnalyzePart*st.Rows
}

// outgrown reports whether a table has become so much larger that plans made for
// what it was may be bad ones.
func (srv *Server) outgrown(t types.OID) bool {
	st := srv.Catalog.Current().Stats(t)
	return st == nil || float64(srv.rows.of(t).delta.Load()) > autoAnalyzeGrowth*st.Rows
}

// What the analyzer knows of a table.
const (
	analyzeIdle    int32 = iota
	analyzeAsked         // it is in the queue, or being analysed
	analyzeDelayed       // it will be asked for when its pause is over
)

// noticeChanges has a table analysed that needs it. Each commit calls it, so it
// wakes the analyzer only for what that does not know.
func (srv *Server) noticeChanges(t types.OID) {
	switch srv.rows.of(t).analyze.Load() {
	case analyzeIdle:
		if srv.needsAnalyze(t) {
			srv.requestAnalyze(t)
		}
	case analyzeDelayed:
		if srv.outgrown(t) {
			srv.requestAnalyze(t)
		}
	}
}

// requestAnalyze asks the background worker to look at a table.
func (srv *Server) requestAnalyze(t types.OID) {
	c := srv.rows.of(t)
	if c.analyze.Swap(analyzeAsked) == analyzeAsked {
		return
	}
	select {
	case srv.stale <- t:
	default: // it has enough to do, and the table stays out of date
		c.analyze.Store(analyzeIdle)
	}
}

// analyzer keeps statistics up to date until the server closes.
func (srv *Server) analyzer() {
	defer close(srv.analyzerDone)
	next := make(map[types.OID]time.Time)
	armed := make(map[types.OID]bool) // will be asked for at next
	for {
		select {
		case <-srv.ctx.Done():
			return
		case oid := <-srv.stale:
			state := &srv.rows.of(oid).analyze
			if !srv.needsAnalyze(oid) {
				state.Store(analyzeIdle)
				srv.noticeChanges(oid) // a commit may have relied on this look
				continue
			}
			if wait := time.Until(next[oid]); wait > 0 && !srv.outgrown(oid) {
				state.Store(analyzeDelayed)
				if !armed[oid] {
					armed[oid] = true
					time.AfterFunc(wait, func() { srv.requestAnalyze(oid) })
				}
				srv.noticeChanges(oid)
				continue
			}
			delete(armed, oid)
			start := time.Now()
			done, err := srv.autoAnalyze(srv.ctx, oid)
			next[oid] = time.Now().Add(max(autoAnalyzePause, autoAnalyzeShare*time.Since(start)))
			state.Store(analyzeIdle)
			if done {
				srv.noticeChanges(oid)
			}
			if err != nil && srv.ctx.Err() == nil && !errors.Is(err, kv.ErrLockTimeout) {
				srv.opts.Logger.Warn("statistics were not updated", "table", oid, "error", err)
			}
		}
	}
}

// autoAnalyze analyses one table in a transaction of its own. It gives way to
// whoever has the table locked; done says that the statistics are new.
func (srv *Server) autoAnalyze(ctx context.Context, oid types.OID) (done bool, err error) {
	snap := srv.Catalog.Current()
	t := storageOf(snap, &catalog.Table{Common: catalog.Common{OID: oid}})
	if t == nil || t.Temp || t.Key != nil {
		return false, nil
	}
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	d, err := srv.Tables.For(t)
	if err != nil {
		return false, err
	}
	if err := d.LockDefined(ctx, tx, kv.ShareUpdateExclusive, kv.LockOpt{}); err != nil {
		return false, err
	}
	if snap = srv.Catalog.Current(); storageOf(snap, t) != t {
		return false, nil
	}
	counter := srv.rows.of(oid)
	delta, changed := counter.delta.Load(), counter.changed.Load()
	st, err := sampleTable(ctx, d, tx, t, nil)
	if err != nil {
		return false, err
	}
	ch := catalog.NewChange(snap, t.DB, t.Owner, nil, srv.Catalog)
	if err := ch.PutStats(st); err != nil {
		return false, err
	}
	tx.OnCommit(func() {
		counter.delta.Add(-delta)
		counter.changed.Add(-changed)
		srv.cumulative.rel(oid).autoAnalyze.done()
	})
	err = srv.commit(ctx, tx, ch.Delta())
	return err == nil, err
}
