package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A cursor stands on rows of tables when each row of its result is made of one row
// of each of them: those of FOR UPDATE and its relatives, or the only table of a
// query that just filters it. Their keys are hidden columns of the result, for
// WHERE CURRENT OF.

// standing says which query's rows a cursor passes, and marks its only table.
func (p *planner) standing(q *query) {
	p.cursorQuery = q
	if len(q.locks) == 0 {
		needOnlyKey(q)
	}
}

// needOnlyKey marks the only table of a query that just filters it, which may be that of a
// view or a subquery.
func needOnlyKey(q *query) {
	b := q.block
	if q.setop != nil || b == nil || b.grouped || b.distinct || b.distinctOn != nil ||
		len(b.wins) > 0 || b.hasSRF || len(b.rels) != 1 {
		return
	}
	for _, r := range b.rels {
		switch {
		case r.table != nil:
			r.needKey = true
		case r.query != nil:
			needOnlyKey(r.query)
		}
	}
}

// placeTargets adds the row keys of the tables that a cursor stands on as hidden
// targets, behind those that lock.
func (p *planner) placeTargets(s *state, locks map[int]int) {
	if s.q != p.cursorQuery {
		return
	}
	seen := map[int]bool{}
	for _, l := range s.q.locks {
		for id := range l.rels.all() {
			if t := s.b.rels[id].table; t != nil && !seen[id] {
				seen[id] = true
				place := plan.Place{Table: t, Col: locks[id], Locked: true}
				if tree := s.b.rels[id].tree; tree != nil {
					place.Tree, place.OIDCol = tree.members, place.Col+1
				}
				p.places = append(p.places, place)
			}
		}
	}
	if len(s.q.locks) > 0 || len(s.b.semis) > 0 {
		return
	}
	for id, r := range s.b.rels {
		if len(s.b.rels) == 1 && r.table != nil && r.needKey {
			s.b.targets = append(s.b.targets, target{x: &plan.Var{At: plan.At{T: types.TBytea, Off: -1}, Rel: id, Col: plan.ColRowKey}})
			place := plan.Place{Table: r.table, Col: len(s.b.targets) - 1}
			if r.tree != nil {
				s.b.targets = append(s.b.targets, target{x: &plan.Var{At: plan.At{T: types.TOid, Off: -1}, Rel: id, Col: plan.ColTableOID}})
				place.Tree, place.OIDCol = r.tree.members, place.Col+1
			}
			p.places = append(p.places, place)
		}
	}
}

// finishCursor gives the hidden columns their place behind the result's. A sort
// moves the cursor away from the table's scan, unless FOR UPDATE names it.
func (p *planner) finishCursor(out *plan.Query, q *query) {
	if len(p.places) == 0 || len(out.Root.Base().Cols) <= len(q.cols) {
		return
	}
	if p.places[0].Locked || scansOnly(out.Root) {
		out.Places = p.places
	}
}

// scansOnly reports whether rows come from the scans of tables as they are passed.
func scansOnly(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Project, *plan.Filter, *plan.Limit:
		return scansOnly(n.Children()[0])
	case *plan.Append:
		return !slices.ContainsFunc(n.Inputs, func(c plan.Node) bool { return !scansOnly(c) })
	case *plan.Scan, *plan.IndexUnion:
		return true
	}
	return false
}

// stepwise marks the projections through which a cursor's rows pass one by one,
// and that do more than name columns.
func stepwise(n plan.Node) {
	switch n := n.(type) {
	case *plan.Project:
		for _, x := range n.Exprs {
			switch x.(type) {
			case *plan.Col, *plan.Const, *plan.Param:
			default:
				n.Stepwise = true
			}
		}
		stepwise(n.Input)
	case *plan.Filter, *plan.Limit, *plan.LockRows:
		stepwise(n.Children()[0])
	case *plan.Append:
		for _, c := range n.Inputs {
			stepwise(c)
		}
	}
}
