package plan

import "kvsqld/catalog/types"

// ReadsIndex reports whether the plan reads an index, in a subplan as well.
func (q *Query) ReadsIndex(oid types.OID) bool {
	found := readsIndex(q.Root, oid)
	for _, c := range q.CTEs {
		found = found || readsIndex(c.Plan, oid) || readsIndex(c.Step, oid)
	}
	return found
}

func readsIndex(n Node, oid types.OID) (found bool) {
	switch n := n.(type) {
	case nil:
		return false
	case *Scan:
		found = n.Index != nil && n.Index.OID == oid
		for _, w := range n.Narrow {
			found = found || w.Index != nil && w.Index.OID == oid
		}
	case *LookupJoin:
		found = n.Index != nil && n.Index.OID == oid
	}
	MapExprs(n, func(e Expr) Expr {
		Visit(e, func(x Expr) bool {
			if s, ok := x.(*SubPlan); ok {
				found = found || readsIndex(s.Plan, oid)
			}
			return !found
		})
		return e
	})
	for _, c := range n.Children() {
		found = found || readsIndex(c, oid)
	}
	return found
}
