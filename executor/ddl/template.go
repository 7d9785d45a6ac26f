package ddl

import (
	"cmp"
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// mayCopyDatabase reports 42501 when the template is another role's and not meant to be
// copied by everybody.
func (x *exec) mayCopyDatabase(s *ast.CreateDatabase) error {
	for i := range s.Options {
		o := &s.Options[i]
		if o.Name != "template" {
			continue
		}
		if d := x.snap().Database(optionText(o)); d != nil && !d.Template && x.ownsDatabase(d.Name) != nil {
			return denied("permission denied to copy database \"%s\"", d.Name)
		}
	}
	return nil
}

// copyDatabase makes a database with all that its template has.
func (x *exec) copyDatabase(name, owner, template string) error {
	if d := x.snap().Database(template); d != nil && x.snap().Database(name) == nil {
		if err := x.vacate(d, "source database", false); err != nil {
			return err
		}
	}
	state := func(q *catalog.Sequence) (int64, bool, error) {
		st, err := x.Tables.SeqState(x.Ctx, q)
		return st.Last, st.Called, err
	}
	made, err := x.Change.CreateDatabase(name, owner, template, state)
	if err != nil {
		return err
	}
	for _, v := range made.Values {
		if err := x.Tables.RestartSequence(x.Txn, v.Sequence.OID, table.SeqState{Last: v.Last, Called: v.Called}); err != nil {
			return err
		}
	}
	end, err := x.Txn.ReadNewest()
	if err != nil {
		return err
	}
	defer end()
	y := x.within(made.DB.OID)
	rw := rewrite{renumber: func(o types.OID) types.OID {
		if n, ok := made.OIDs[o]; ok {
			return n
		}
		return o
	}}
	from, to := stored(x.snap(), made.Template.OID), stored(x.snap(), made.DB.OID)
	for _, t := range parentsFirst(x.snap(), from) {
		if t.Temp {
			continue
		}
		if err := x.hold(t, kv.Share); err != nil {
			return err
		}
		if err := y.copyFiles(t, to[made.OIDs[t.OID]], rw); err != nil {
			return err
		}
	}
	metadata, pages := x.snap().LargeObjects(made.Template.OID)
	if metadata == nil {
		return nil
	}
	newMetadata, newPages := x.snap().LargeObjects(made.DB.OID)
	if err := y.copyFiles(metadata, newMetadata, rw); err != nil {
		return err
	}
	return y.copyFiles(pages, newPages, rw)
}

// within is x for expressions of another database.
func (x *exec) within(db types.OID) *exec {
	env := *x.Env
	env.Planner = func() *planner.Context {
		p := x.Planner()
		p.DB = db
		return p
	}
	return &exec{Env: &env, before: x.before}
}

// copyFiles makes the files of a table that is a copy of another, with its rows.
func (x *exec) copyFiles(t, made *catalog.Table, rw rewrite) error {
	from, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	to, err := x.Tables.For(made)
	if err != nil {
		return err
	}
	if err := to.Create(x.Txn); err != nil || t.Partitioned() {
		return err
	}
	if err := to.LockTable(x.Ctx, x.Txn, kv.AccessExclusive, x.lockOpt()); err != nil {
		return err
	}
	return x.copyRows(x.Txn, from, to, rw)
}

// parentsFirst lists tables so that each comes behind the one that it is stored with.
func parentsFirst(s *catalog.Snapshot, tables map[types.OID]*catalog.Table) []*catalog.Table {
	depth := make(map[types.OID]int)
	for _, t := range tables {
		for _, below := range s.ClusterBelow(t) {
			depth[below.OID]++
		}
	}
	return slices.SortedFunc(maps.Values(tables), func(a, b *catalog.Table) int {
		return cmp.Or(cmp.Compare(depth[a.OID], depth[b.OID]), cmp.Compare(a.OID, b.OID))
	})
}
