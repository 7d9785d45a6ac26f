package planner

import "maps"

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
		ids := map[int]bool{}
		for _, c := range m.conds {
			relsOf(c, ids)
		}
		maps.DeleteFunc(ids, func(id int, _ bool) bool { return s.b.rels[id] == nil })
		if len(ids) == 0 {
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
func (p *planner) semiPlace(s *state, j *joinStep, ids map[int]bool) *joinStep {
	best := j
	for j.unit == nil {
		switch {
		case subset(ids, j.l.rels()):
			j = j.l
		case subset(ids, j.r.rels()):
			if u := j.r.unit; u != nil && (u.after != nil || p.lookupPath(s, u, s.conj, j.l.rels()) != nil) {
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
func (j *joinStep) rels() map[int]bool {
	if j.unit != nil {
		return j.unit.rels
	}
	out := maps.Clone(j.l.rels())
	maps.Copy(out, j.r.rels())
	return out
}
