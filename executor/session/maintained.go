package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// maintained is a table that VACUUM or ANALYZE is to look at.
type maintained struct {
	table *catalog.Table
	cols  []string // to be analysed, nil for all
	named bool     // by the statement: what happens to it is told
}

// maintained lists the tables that a statement names, with their partitions, or all of
// the database.
func (s *Session) maintained(x *ast.Vacuum) ([]maintained, error) {
	var out []maintained
	if x.Kind != "VACUUM" && x.Kind != "ANALYZE" {
		return nil, s.checkMaintained(x)
	}
	if x.Tables == nil {
		for _, r := range s.snapshot().Relations(s.db) {
			if t := catalog.StorageOf(r); t != nil && s.maintains(x, t) {
				out = append(out, maintained{table: t})
			}
		}
		return out, nil
	}
	for i := range x.Tables {
		ref := &x.Tables[i]
		skipped := func() {
			s.tell(warning(sqlerr.Warning, "skipping \"%s\" --- cannot %s non-tables or special system tables",
				ref.Name.Last(), map[string]string{"VACUUM": "vacuum", "ANALYZE": "analyze"}[x.Kind]))
		}
		r, err := s.mustRelation(&ref.Name)
		if sqlerr.CodeOf(err) == sqlerr.WrongObjectType { // an index
			skipped()
			continue
		}
		if err != nil {
			return nil, err
		}
		t := catalog.StorageOf(r)
		if t == nil {
			if v, virtual := r.(*catalog.Virtual); virtual && (!s.maintainsSystem(x, v) || !v.View) {
				continue
			}
			skipped()
			continue
		}
		tree := []*catalog.Table{t}
		if t.Key != nil {
			tree = s.snapshot().Tree(t)
		}
		for _, t := range tree {
			if s.maintains(x, t) {
				out = append(out, maintained{table: t, cols: ref.Cols, named: t == tree[0]})
			}
		}
	}
	return out, nil
}

// maintains reports whether the current role may VACUUM and ANALYZE a table: it
// owns the table or the database. Others are warned.
func (s *Session) maintains(x *ast.Vacuum, t *catalog.Table) bool {
	if s.snapshot().Owns(s.user, t) || s.ownsDatabase() {
		return true
	}
	s.tell(warning(sqlerr.Warning, "skipping \"%s\" --- only table or database owner can %s it", t.Name, strings.ToLower(x.Kind)))
	return false
}

// maintainsSystem is maintains for a relation of the catalog, which has no rows to look at.
func (s *Session) maintainsSystem(x *ast.Vacuum, v *catalog.Virtual) bool {
	who := "superuser or database owner"
	if r := pgcatalog.ByOID(v.OID); r != nil && pgcatalog.Shared(r) {
		who = "superuser"
	}
	if s.isSuper(s.user) || who != "superuser" && s.ownsDatabase() {
		return true
	}
	s.tell(warning(sqlerr.Warning, "skipping \"%s\" --- only %s can %s it", v.Name, who, strings.ToLower(x.Kind)))
	return false
}

func (s *Session) ownsDatabase() bool {
	snap := s.snapshot()
	return snap.Owns(s.user, snap.Object(s.db))
}

// columns lists the numbers of the columns to be analysed, nil for all.
func (m *maintained) columns() ([]int, error) {
	if m.cols == nil {
		return nil, nil
	}
	var out []int
	for _, n := range m.cols {
		c := m.table.Col(n)
		if c < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, m.table.Name)
		}
		if slices.Contains(out, c) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" appears more than once", n, m.table.Name)
		}
		out = append(out, c)
	}
	return out, nil
}

// analyzeListed analyses a table, unless others have dropped it meanwhile or, with
// skipLocked, have it locked.
func (s *Session) analyzeListed(ctx context.Context, m maintained, skipLocked bool) error {
	cols, err := m.columns()
	if m.table.Key != nil || err != nil {
		return err
	}
	o := s.lockOpt()
	if skipLocked {
		o.Wait = 0
	}
	err = s.analyze(ctx, m.table, cols, o)
	code, why := sqlerr.UndefinedTable, "relation no longer exists"
	switch {
	case skipLocked && errors.Is(err, kv.ErrLockTimeout):
		code, why = sqlerr.LockNotAvailable, "lock not available"
	case sqlerr.CodeOf(err) != sqlerr.UndefinedTable:
		return err
	}
	if m.named {
		s.tell(warning(code, "skipping analyze of \"%s\" --- %s", m.table.Name, why))
	}
	return nil
}

// analyzeTree records how many rows the partitions of a partitioned table have, which are
// its own statistics.
func (s *Session) analyzeTree(t *catalog.Table) error {
	if t = s.snapshot().Table(t.OID); t == nil || t.Key == nil {
		return nil
	}
	st := &catalog.Stats{Table: t.OID}
	for _, part := range s.snapshot().Tree(t) {
		if of := s.snapshot().Stats(part.OID); of != nil && part.Key == nil {
			st.Rows += of.Rows
		}
	}
	s.tx.kv.AllowWrites()
	return s.ddl().PutStats(st)
}

// lockDefined takes the right to define a table, and the lock of those who work on one
// beside writers, and returns the table as it is then.
func (s *Session) lockDefined(ctx context.Context, t *catalog.Table, o kv.LockOpt) (*catalog.Table, error) {
	return s.whereItIs(t, func(d *table.Desc) (*catalog.Table, error) {
		if err := d.LockDefined(ctx, s.tx.kv, kv.ShareUpdateExclusive, o); err != nil {
			return nil, err
		}
		return s.lockTable(ctx, d.Table, kv.ShareUpdateExclusive)
	})
}

// analyze computes and records a table's statistics.
func (s *Session) analyze(ctx context.Context, t *catalog.Table, cols []int, o kv.LockOpt) error {
	t, err := s.lockDefined(ctx, t, o)
	if err != nil {
		return err
	}
	d, err := s.srv.Tables.For(t)
	if err != nil {
		return err
	}
	st, err := sampleTable(ctx, d, s.tx.kv, t, cols)
	if err != nil {
		return err
	}
	s.warnOfSets(t, cols)
	if old := s.snapshot().Stats(t.OID); old != nil && cols != nil {
		keepOther(st, old, cols)
	}
	s.tx.kv.AllowWrites() // statistics are no data: READ ONLY allows them
	if err := s.ddl().PutStats(st); err != nil {
		return err
	}
	if _, ok := s.tx.deltas[t.OID]; ok {
		s.tx.deltas[t.OID] = rowDelta{} // the sample has what the transaction did
	}
	counter := s.srv.rows.of(t.OID)
	s.tx.kv.OnCommit(func() {
		counter.delta.Store(0)
		counter.changed.Store(0)
		s.srv.cumulative.rel(t.OID).analyze.done()
	})
	return nil
}

// warnOfSets tells of the statistics objects of a table that have columns of which nothing
// was computed.
func (s *Session) warnOfSets(t *catalog.Table, cols []int) {
	for _, set := range s.snapshot().ExtStatsOf(t.OID) {
		none := func(c int) bool { return t.Columns[c].StatTarget < 0 || cols != nil && !contains(cols, c) }
		if slices.ContainsFunc(set.Cols, none) {
			w := warning(sqlerr.InvalidObjectDefinition, "statistics object \"%s.%s\" could not be computed for relation \"%s.%s\"",
				set.Schema, set.Name, t.Schema, t.Name)
			w.Schema, w.Table = t.Schema, t.Name
			s.tell(w)
		}
	}
}

// keepOther keeps the statistics of the columns that were not analysed.
func keepOther(st, old *catalog.Stats, cols []int) {
	for i := range st.Cols {
		if i < len(old.Cols) && !contains(cols, i) {
			st.Cols[i] = old.Cols[i]
		}
	}
}

func contains(l []int, v int) bool {
	for _, x := range l {
		if x == v {
			return true
		}
	}
	return false
}
