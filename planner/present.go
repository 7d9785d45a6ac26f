package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// present returns an expression that is NULL where an outer join has no row of
// the entry, nil when it always has one. A table's row has its key; a derived
// table gets a further column that is true, and functions one that counts rows.
func (b *binder) present(it *nsItem) plan.Expr {
	r := it.rel
	if r == nil || b.rec != nil {
		return nil
	}
	for s := b.scope; s != nil; s = s.parent {
		joins := s.joins
		if s.block != nil {
			joins = slices.Concat(s.block.from, joins)
		}
		for _, j := range joins {
			if j.nullable(r) {
				switch of := r.relation(); {
				case r.table != nil:
					return &plan.Var{At: plan.At{T: types.TBytea, Off: -1}, Rel: r.id, Col: plan.ColRowKey}
				case r.funcs != nil:
					return r.numberedRows()
				case r.virt != nil || r.seq != nil:
					return notNullColumn(r, of)
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

// numberedRows is a column of functions in FROM that numbers their rows.
func (r *rel) numberedRows() plan.Expr {
	if r.mark == 0 {
		r.mark = len(r.cols)
		if r.ordinality {
			r.mark--
		} else {
			r.numbered = true
			r.cols = append(slices.Clip(r.cols), plan.OutCol{T: types.TInt8})
		}
	}
	return &plan.Var{At: plan.At{T: types.TInt8, Off: -1}, Rel: r.id, Col: r.mark}
}

// notNullColumn is a column of a system relation or a sequence that is never NULL, nil for
// none.
func notNullColumn(r *rel, of catalog.Relation) plan.Expr {
	for i, c := range of.RelColumns() {
		if c.NotNull && i < len(r.cols) {
			return &plan.Var{At: plan.At{T: r.cols[i].T, Off: -1}, Rel: r.id, Col: i, Name: c.Name}
		}
	}
	return nil
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
