package planner

import "slices"

// placeSemis puts the semi and anti joins into the chosen join tree, each where
// the fewest rows come to it: in
//
//	FROM a, b WHERE a.x < b.x AND EXISTS (SELECT 1 FROM c WHERE c.x = a.x)
//
// the rows of a are looked at once each, not once for each row of b. Those that
// read no entry of FROM stay above the tree.
func (p *planner) placeSemis(s *state) {
	s.semis = map[*joinStep][]*semi{}
	var above []*semi
	for _, m := range s.b.semis {
		var ids relSet
		for _, c := range m.conds {
			ids.addAll(s.entries(c))
		}
		if ids.empty() {
			above = append(above, m)
			continue
		}
		at := p.semiPlace(s, s.order[0], ids)
		s.semis[at] = append(s.semis[at], m)
	}
	s.b.semis = above
}

// semiPlace is the subtree with the fewest rows that has all entries of ids, the
// lowest of several. A table that its join reads by lookups is left alone: a semi
// join on it would have to read it whole.
func (p *planner) semiPlace(s *state, j *joinStep, ids relSet) *joinStep {
	best := j
	for j.unit == nil {
		switch {
		case ids.within(j.l.rels()):
			j = j.l
		case ids.within(j.r.rels()):
			if u := j.r.unit; u != nil && (!u.after.empty() || p.lookupPath(s, u, slices.Concat(s.conj, u.local), j.l.rels()) != nil) {
				return best
			}
			j = j.r
		default:
			return best
		}
		if j.rows <= best.rows {
			best = j
		}
	}
	return best
}

// rels are the entries that a subtree joins.
func (j *joinStep) rels() relSet {
	if j.unit != nil {
		return j.unit.rels
	}
	return j.l.rels().union(j.r.rels())
}
