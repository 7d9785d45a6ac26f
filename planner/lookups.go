package planner

import (
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
	b := q.block
	if len(b.from) != 1 || b.from[0].rel == nil || b.from[0].rel.table == nil || b.from[0].rel.tree != nil {
		return false
	}
	r := b.from[0].rel
	matches := -1.0
	rows := p.tableRows(r.table)
	for _, k := range keys {
		v, ok := bareVar(k)
		if !ok || v.Rel != r.id || v.Col < 0 || !leadsTo(r.table, v.Col, nil) {
			continue
		}
		if m := rows / max(1, p.distinct(v, b.rels, rows)); matches < 0 || m < matches {
			matches = m
		}
	}
	if matches < 0 {
		return false
	}
	runs := 0.0
	for _, j := range s.b.from {
		if j.rel == nil || j.rel.table == nil {
			return false
		}
		var own []plan.Expr
		for _, c := range s.b.where {
			in := s.entries(c)
			if len(in) == 1 && in[j.rel.id] && !hasSub(c) {
				own = append(own, c)
			}
		}
		runs = max(runs, p.tableRows(j.rel.table)*p.jointSelectivity(own, s.b.rels))
	}
	runs = min(runs, most)
	return runs*(costRun+matches*costGet) < rows*costBuild
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
