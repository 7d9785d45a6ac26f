package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// readBefore makes scans read the state before the statement when a WITH query
// changes a table that another part of the statement reads, or the statement reads the
// table that it writes while it writes: all parts see one state, whatever the order they
// run in. So do they when functions may see something else.
func (r *Run) readBefore() {
	if r.seesWrites == nil {
		is := r.overlaps()
		r.seesWrites = &is
	}
	if r.env.From == nil && (r.callsBodies() || *r.seesWrites) {
		r.env.reader = r.env.Txn.Before()
	}
	if r.env.Expr.Reads = nil; r.env.reader != kv.Reader(r.env.Txn) {
		r.env.Expr.Reads = r.env.reader
	}
}

// touchedBy returns the rows of a table that any part of the statement has changed,
// or nil when only one part can. A row is changed once in a statement: a second
// UPDATE or DELETE in another WITH query passes over it.
func (r *Run) touchedBy(table types.OID) *keySet {
	if k := r.touched[table]; k != nil || len(r.query.CTEs) == 0 {
		return k
	}
	parts := 0
	count := func(n plan.Node) {
		if slices.Contains(written(n), table) {
			parts++
		}
	}
	count(r.query.Root)
	for _, c := range r.query.CTEs {
		count(c.Plan)
	}
	if parts < 2 {
		return nil
	}
	if r.touched == nil {
		r.touched = make(map[types.OID]*keySet)
	}
	r.touched[table] = newKeySet([]types.T{types.TBytea})
	return r.touched[table]
}

// touch adds the keys of a batch's rows to those that the statement has changed, k,
// which may be nil; keys are by row number, nil for rows that were not changed.
func (k *keySet) touch(b *vec.Batch, keys [][]byte) {
	if k == nil {
		return
	}
	v := vec.New(types.TBytea, 1)
	cols := []*vec.Vec{v}
	for i := range b.Rows() {
		if key := keys[b.Row(i)]; key != nil {
			v.B[0] = key
			k.findOrAdd(cols, 0, hashRows(cols, nil, 1, nil)[0])
		}
	}
}

// touches reports whether the statement has changed the row with a key.
func (k *keySet) touches(key []byte) bool {
	if k == nil {
		return false
	}
	v := vec.New(types.TBytea, 1)
	v.B[0] = key
	cols := []*vec.Vec{v}
	return k.find(cols, 0, hashRows(cols, nil, 1, nil)[0]) >= 0
}

// modifyingOrder says when the modifying WITH queries run: those that the main query
// reads before it, in the order in which it reads them, the others after it, the last
// one first. It is PostgreSQL's order, but that there the main query and what it reads
// take turns: two parts that change one row, or insert one key, end as they do there.
func (r *Run) modifyingOrder() (before, after []*plan.CTE) {
	if !slices.ContainsFunc(r.query.CTEs, func(c *plan.CTE) bool { return c.Modifying }) {
		return nil, nil
	}
	var order []*plan.CTE
	seen := map[*plan.CTE]bool{}
	var visit func(c *plan.CTE)
	visit = func(c *plan.CTE) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, n := range []plan.Node{c.Plan, c.Step} {
			if n != nil {
				ctesOf(n, visit)
			}
		}
		if c.Modifying {
			order = append(order, c)
		}
	}
	ctesOf(r.query.Root, visit)
	n := len(order)
	for _, c := range slices.Backward(r.query.CTEs) {
		visit(c)
	}
	return order[:n:n], order[n:]
}

// readsLate reports whether an INSERT ... ON CONFLICT reads WITH queries that change rows
// where it updates a row, and not before.
func (r *Run) readsLate() bool {
	in, ok := r.query.Root.(*plan.Insert)
	if !ok {
		return false
	}
	early, late := false, false
	ctesOf(in.Input, func(c *plan.CTE) { early = early || c.Modifying })
	ctesOf(in, func(c *plan.CTE) { late = late || c.Modifying })
	return late && !early
}

// ctesOf calls visit with the WITH queries that a plan reads, itself or in subplans.
func ctesOf(n plan.Node, visit func(*plan.CTE)) {
	if s, ok := n.(*plan.CTEScan); ok {
		visit(s.CTE)
	}
	plan.MapExprs(n, func(e plan.Expr) plan.Expr {
		plan.Visit(e, func(x plan.Expr) bool {
			if s, ok := x.(*plan.SubPlan); ok {
				ctesOf(s.Plan, visit)
			}
			return true
		})
		return e
	})
	for _, c := range n.Children() {
		ctesOf(c, visit)
	}
}

// fill runs WITH queries to their ends, but for those that do it as they are read.
func (r *Run) fill(list []*plan.CTE) error {
	for _, c := range list {
		if x := r.ctes[c]; x.late() {
			continue
		} else if err := x.fill(r.env); err != nil {
			return err
		}
	}
	return nil
}

// overlaps reports whether a part of the statement writes a table that another one, or it
// itself meanwhile, reads.
func (r *Run) overlaps() bool {
	if readsWritten(r.query.Root) {
		return true
	}
	parts := []plan.Node{r.query.Root}
	modifying := false
	for _, c := range r.query.CTEs {
		parts = append(parts, c.Plan)
		modifying = modifying || c.Modifying
		if c.Modifying && readsWritten(c.Plan) {
			return true
		}
	}
	if !modifying {
		return false
	}
	for _, w := range parts {
		for _, oid := range written(w) {
			for _, other := range parts {
				if other != w && sees(other, oid) {
					return true
				}
			}
		}
	}
	return false
}

// readsWritten reports whether a statement reads the table that it writes while it
// writes: in RETURNING, in what ON CONFLICT or an action of MERGE computes, or in a
// condition of new rows.
func readsWritten(n plan.Node) bool {
	switch n.(type) {
	case *plan.Insert, *plan.Update, *plan.Delete, *plan.Merge:
	default:
		return false
	}
	found := false
	plan.MapExprs(n, func(e plan.Expr) plan.Expr {
		plan.Visit(e, func(x plan.Expr) bool {
			if s, ok := x.(*plan.SubPlan); ok {
				for _, oid := range written(n) {
					found = found || sees(s.Plan, oid)
				}
			}
			return !found
		})
		return e
	})
	return found
}

// written returns the tables that a part of a statement writes.
func written(n plan.Node) []types.OID {
	targets := func(t *catalog.Table, tree []*catalog.Table) []types.OID {
		out := []types.OID{t.OID}
		for _, m := range tree {
			out = append(out, m.OID)
		}
		return out
	}
	switch n := n.(type) {
	case *plan.Insert:
		return targets(n.Table, n.Tree)
	case *plan.Update:
		return targets(n.Table, n.Tree)
	case *plan.Delete:
		return targets(n.Table, n.Tree)
	case *plan.Merge:
		return targets(n.Table, n.Tree)
	}
	for _, c := range n.Children() {
		if oids := written(c); oids != nil {
			return oids
		}
	}
	return nil
}

// seesAny reports whether a plan reads any of the tables.
func seesAny(n plan.Node, tables []*catalog.Table) bool {
	return slices.ContainsFunc(tables, func(t *catalog.Table) bool { return sees(n, t.OID) })
}
