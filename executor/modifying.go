package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// readBefore makes scans read the state before the statement when a WITH query
// changes a table that another part of the statement reads, or RETURNING the
// table that is written: all parts see one state, whatever the order they run
// in.
func (r *Run) readBefore() {
	if r.overlaps() {
		r.env.reader = r.env.Txn.Before()
	}
}

// overlaps reports whether a WITH query writes a table that another part reads.
func (r *Run) overlaps() bool {
	if returningSees(r.query.Root) {
		return true
	}
	parts := []plan.Node{r.query.Root}
	modifying := false
	for _, c := range r.query.CTEs {
		parts = append(parts, c.Plan)
		modifying = modifying || c.Modifying
		if c.Modifying && returningSees(c.Plan) {
			return true
		}
	}
	if !modifying {
		return false
	}
	for _, w := range parts {
		oid := written(w)
		if oid == 0 {
			continue
		}
		for _, other := range parts {
			if other != w && sees(other, oid) {
				return true
			}
		}
	}
	return false
}

// returningSees reports whether a subquery in RETURNING reads the table that the
// statement writes.
func returningSees(n plan.Node) bool {
	var list []plan.Expr
	var oid types.OID
	switch n := n.(type) {
	case *plan.Insert:
		list, oid = n.Returning, n.Table.OID
	case *plan.Update:
		list, oid = n.Returning, n.Table.OID
	case *plan.Delete:
		list, oid = n.Returning, n.Table.OID
	}
	found := false
	for _, e := range list {
		plan.Visit(e, func(x plan.Expr) bool {
			if s, ok := x.(*plan.SubPlan); ok {
				found = found || sees(s.Plan, oid)
			}
			return !found
		})
	}
	return found
}

// written returns the table that a part of a statement writes, 0 for none.
func written(n plan.Node) types.OID {
	switch n := n.(type) {
	case *plan.Insert:
		return n.Table.OID
	case *plan.Update:
		return n.Table.OID
	case *plan.Delete:
		return n.Table.OID
	case *plan.Merge:
		return n.Table.OID
	}
	for _, c := range n.Children() {
		if oid := written(c); oid != 0 {
			return oid
		}
	}
	return 0
}
