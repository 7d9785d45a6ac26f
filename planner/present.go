package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// present returns an expression that is NULL where an outer join has no row of
// the entry, nil when it always has one. A table's row has its key; a derived
// table gets a further column that is true.
func (b *binder) present(it *nsItem) plan.Expr {
	r := it.rel
	if r == nil || b.rec != nil || r.virt != nil || r.seq != nil || r.funcs != nil {
		return nil
	}
	for s := b.scope; s != nil; s = s.parent {
		joins := s.joins
		if s.block != nil {
			joins = slices.Concat(s.block.from, joins)
		}
		for _, j := range joins {
			if j.nullable(r) {
				if r.table != nil {
					return &plan.Var{At: plan.At{T: types.TBytea, Off: -1}, Rel: r.id, Col: plan.ColRowKey}
				}
				return b.marked(r)
			}
		}
	}
	return nil
}

// nullable reports whether the entry lies on a side of an outer join that may
// have no row.
func (j *joinItem) nullable(r *rel) bool {
	if j.rel != nil {
		return false
	}
	inL, inR := j.l.ids().has(r.id), j.r.ids().has(r.id)
	switch {
	case inL && (j.kind == plan.Right || j.kind == plan.Full), inR && (j.kind == plan.Left || j.kind == plan.Full):
		return true
	case inL:
		return j.l.nullable(r)
	}
	return inR && j.r.nullable(r)
}

// marked is a column of the derived table that is true in each row; the query
// is wrapped in one that has it.
func (b *binder) marked(r *rel) plan.Expr {
	if r.mark == 0 {
		in := b.queryRel(r.query, r.alias)
		q := &query{rel: b.newRel(), block: &block{from: []*joinItem{{rel: in}}, rels: map[int]*rel{in.id: in}}}
		for i, c := range r.query.cols {
			q.block.targets = append(q.block.targets, target{x: &plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: in.id, Col: i, Name: c.Name}, name: c.Name})
		}
		q.block.targets = append(q.block.targets, target{x: constBool(true)})
		q.block.ncols = len(q.block.targets)
		col := plan.OutCol{T: types.TBool}
		q.cols = append(append(q.cols, r.query.cols...), col)
		r.mark = len(r.cols)
		r.cols = append(r.cols[:r.mark:r.mark], col)
		r.query = q
	}
	return &plan.Var{At: plan.At{T: types.TBool, Off: -1}, Rel: r.id, Col: r.mark}
}
