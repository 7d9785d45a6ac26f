package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Conjuncts that an index entry can answer are tested before its row is fetched.
//
// Given CREATE INDEX i ON t (x, y):
//
//	WHERE x BETWEEN 1 AND 2 AND y > 5    range of i on x, y > 5 on its entries
//	WHERE x BETWEEN 1 AND 2 AND z > 5    z is in no entry: tested on the row

// onEntry reports whether a conjunct may be tested on the entries of a path's
// index. It must not be able to fail: on an entry it comes before conjuncts that
// may have been written to guard it.
func (p *planner) onEntry(r *rel, x *path, c plan.Expr) bool {
	if x.index == nil || x.byElems || x.only || x.single || x.access == plan.UniqueGet || p.NoOptimizer || !neverFails(c) {
		return false
	}
	need := map[int]map[int]bool{}
	needOf(c, need)
	return len(need) == 1 && len(need[r.id]) > 0 && p.inKey(r.table, x.index, need[r.id])
}

// inKey reports whether columns can be read from the key of an index.
func (p *planner) inKey(t *catalog.Table, ix *catalog.Index, cols map[int]bool) bool {
	for c := range cols {
		in := slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col == c }) || slices.Contains(t.PK, c)
		if c < 0 || !in || !exactKey(t.Columns[c].Type) && !equalKey(t.Columns[c].Type) {
			return false
		}
	}
	return true
}

// equalKey reports whether the value read back from a key is equal to the one that
// it was made of, if not the same: that serves comparisons.
func equalKey(t types.T) bool {
	switch t.Kind() {
	case types.KFloat4, types.KFloat8, types.KNumeric, types.KInterval:
		return true
	}
	return false
}

// neverFails reports whether an expression is made of comparisons of columns and
// values that are the same for all rows. One of those that cannot be computed fails
// the statement as it does in PostgreSQL, which computes it when the scan starts.
func neverFails(e plan.Expr) bool {
	ok := true
	plan.Visit(e, func(x plan.Expr) bool {
		if sameForAll(x) {
			return false
		}
		switch x := x.(type) {
		case *plan.Var:
			ok = ok && x.Level == 0
		case *plan.Const, *plan.Param, *plan.Col, *plan.Relabel, *plan.And, *plan.Or, *plan.Not, *plan.Is, *plan.InList:
		case *plan.Call:
			ok = ok && compares(x.Op)
		case *plan.AnyArray:
			ok = ok && compares(x.Op)
		default:
			ok = false
		}
		return ok
	})
	return ok
}

func compares(op string) bool {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// sameForAll reports whether an expression reads no row and gives the same value
// each time.
func sameForAll(e plan.Expr) bool {
	ok := true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			ok = ok && x.Proc.Volatile != 'v'
		case *plan.Const, *plan.Param, *plan.CoerceIO, *plan.CoerceMod, *plan.Relabel, *plan.KeyBound:
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// entryFilter is the conjunction of conjuncts over the columns that they read.
func (p *planner) entryFilter(r *rel, conj []plan.Expr) (plan.Expr, []int) {
	all := conjunction(conj)
	if all == nil {
		return nil, nil
	}
	cols := inOrder(withTested(r, conj, nil, nil))
	lay := layout{}
	for i, c := range cols {
		lay[[2]int{r.id, c}] = i
	}
	return p.place(all, lay), cols
}

// entrySel is the share of a path's entries that its entry filter passes.
func (p *planner) entrySel(r *rel, x *path, conj []plan.Expr) float64 {
	rels := map[int]*rel{r.id: r}
	s := 1.0
	for _, c := range conj {
		if !x.answers(c) && p.onEntry(r, x, c) {
			s *= p.selectivity(c, rels)
		}
	}
	return s
}
