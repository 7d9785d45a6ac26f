package planner

import (
	"math"
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// costRun is what a run of a subplan costs beside the rows that it reads.
const costRun = 30

// fewRuns reports whether a subquery, which finds its rows by equality with
// the keys, had better run for each row of the block than be joined: few rows are
// looked at, most at most, and an index leads to those of each. Given an index on b.x,
//
//	SELECT (SELECT max(y) FROM b WHERE b.x = a.x) FROM a WHERE a.id < 10    runs nine times
func (p *planner) fewRuns(s *state, q *query, keys []plan.Expr, most float64) bool {
	rows, matches := p.foundByKeys(q.block, keys)
	if rows == 0 {
		return false
	}
	runs := min(p.rowsOfBlock(s), most)
	return runs*(costRun+matches*costGet) < rows*costBuild
}

// foundByKeys is how many rows the table has of which one run of a block with values for
// the keys finds its rows by an index, and how many gets that takes with those of the
// tables that it is joined to; 0 if any has to be read whole.
func (p *planner) foundByKeys(b *block, keys []plan.Expr) (rows, gets float64) {
	conds := slices.Clone(b.where)
	var tables []*rel
	plain := true
	for _, f := range b.from {
		f.each(func(j *joinItem) {
			switch {
			case j.rel != nil:
				tables = append(tables, j.rel)
				plain = plain && j.rel.table != nil && j.rel.tree == nil
			case j.kind == plan.Inner:
				conds = append(conds, j.on...)
			default:
				plain = false
			}
		})
	}
	if !plain {
		return 0, 0
	}
	var first *rel
	for _, k := range keys {
		v, ok := bareVar(k)
		if !ok || v.Col < 0 || !slices.Contains(tables, b.rels[v.Rel]) || !leadsTo(b.rels[v.Rel].table, v.Col, nil) {
			continue
		}
		all := p.tableRows(b.rels[v.Rel].table)
		if m := all / max(1, p.distinct(v, b.rels, all)); first == nil || m < gets {
			first, gets, rows = b.rels[v.Rel], m, all
		}
	}
	for _, r := range tables {
		if r != first && !slices.ContainsFunc(conds, func(c plan.Expr) bool { return foundBy(r, c) }) {
			return 0, 0
		}
	}
	return rows, gets * float64(len(tables))
}

// rowsOfBlock is about how many rows the joins of a block give, before they are planned;
// infinitely many where one of its entries is no table.
func (p *planner) rowsOfBlock(s *state) float64 {
	rows, in := 1.0, relSet{}
	for _, j := range s.b.from {
		r, of := p.rowsFrom(s, j)
		rows = p.rowsJoined(s, rows, r, in, of, s.between(s.b.where, in, of))
		in.addAll(of)
	}
	return rows
}

// rowsFrom is rowsOfBlock of one entry of FROM, and the rels that are in it.
func (p *planner) rowsFrom(s *state, j *joinItem) (rows float64, in relSet) {
	if j.rel != nil {
		in = relSetOf(j.rel.id)
		if j.rel.table == nil {
			return math.Inf(1), in
		}
		return p.rowsJoined(s, p.tableRows(j.rel.table), 1, in, relSet{}, s.b.where), in
	}
	l, in := p.rowsFrom(s, j.l)
	r, right := p.rowsFrom(s, j.r)
	conds := j.on
	if j.kind == plan.Inner {
		conds = slices.Concat(conds, s.between(s.b.where, in, right))
	}
	rows = p.rowsJoined(s, l, r, in, right, conds)
	if j.kind == plan.Left || j.kind == plan.Full {
		rows = max(rows, l)
	}
	if j.kind == plan.Right || j.kind == plan.Full {
		rows = max(rows, r)
	}
	return rows, in.union(right)
}

// rowsJoined is about how many pairs of l and r rows of two sets of rels the conditions
// leave that read nothing else. With one set they are the conditions on its rows.
func (p *planner) rowsJoined(s *state, l, r float64, left, right relSet, conds []plan.Expr) float64 {
	rows := l * r
	var own []plan.Expr
	for _, c := range conds {
		in := s.entries(c)
		if in.empty() || hasSub(c) || !in.within(left.union(right)) {
			continue
		}
		if !s.spans(c, left, right) {
			own = append(own, c)
		} else if x, y, ok := equality(c); ok {
			rows /= max(1, p.distinctOf(x, s.b.rels), p.distinctOf(y, s.b.rels))
		} else {
			rows /= 3
		}
	}
	return max(rows*p.jointSelectivity(own, s.b.rels), 1)
}

// distinctOf is how many values an expression has, if it is a column of a table; else 1.
func (p *planner) distinctOf(x plan.Expr, rels map[int]*rel) float64 {
	v, ok := bareVar(x)
	if !ok || rels[v.Rel] == nil || rels[v.Rel].table == nil {
		return 1
	}
	return p.distinct(v, rels, p.tableRows(rels[v.Rel].table))
}

// between are the conditions that read rels of both sets.
func (s *state) between(conds []plan.Expr, left, right relSet) []plan.Expr {
	return slices.DeleteFunc(slices.Clone(conds), func(c plan.Expr) bool { return !s.spans(c, left, right) })
}

// spans reports whether a condition reads rels of both sets.
func (s *state) spans(c plan.Expr, left, right relSet) bool {
	in := s.entries(c)
	return in.meets(left) && in.meets(right)
}

// foundBy reports whether a condition makes a column of the table that leads to its rows
// equal to something of others.
func foundBy(r *rel, c plan.Expr) bool {
	x, y, ok := equality(c)
	if !ok {
		return false
	}
	v, ok := bareVar(x)
	if !ok || v.Rel != r.id {
		if v, ok = bareVar(y); !ok || v.Rel != r.id {
			return false
		}
		y = x
	}
	in := relsOf(y)
	return v.Col >= 0 && !in.empty() && !in.has(r.id) && leadsTo(r.table, v.Col, nil)
}

// leadsTo reports whether a table's rows with one value of a column are found by a
// key that begins with it, or with fixed columns before it.
func leadsTo(t *catalog.Table, col int, fixed map[int]bool) bool {
	if t.KeyIsRowKey() {
		for _, c := range t.PK {
			if c == col {
				return true
			}
			if !fixed[c] {
				break
			}
		}
	}
	for _, ix := range t.Indexes {
		if ix.Invalid || ix.Where != "" || ix.Kind != catalog.KindBtree {
			continue
		}
		for _, k := range ix.Keys {
			if k.Col == col {
				return true
			}
			if !fixed[k.Col] {
				break
			}
		}
	}
	return false
}
