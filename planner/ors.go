package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// maxArms bounds the disjunctions that are looked into.
const maxArms = 1000

// factorOrs draws what all arms of a disjunction have in common out of it:
// (a AND x) OR (a AND y) is a AND (x OR y), also in three-valued logic. A join
// condition that was written in each arm serves as one then.
func (p *planner) factorOrs(conj []plan.Expr) []plan.Expr {
	if p.NoOptimizer || !slices.ContainsFunc(conj, isOr) {
		return conj
	}
	var out []plan.Expr
	for _, c := range conj {
		or, ok := c.(*plan.Or)
		if !ok || len(or.Args) > maxArms {
			out = append(out, c)
			continue
		}
		out = append(out, factor(or)...)
	}
	return out
}

func isOr(e plan.Expr) bool {
	_, ok := e.(*plan.Or)
	return ok
}

func factor(or *plan.Or) []plan.Expr {
	arms := make([][]plan.Expr, len(or.Args))
	for i, a := range or.Args {
		arms[i] = conjuncts(a, nil)
	}
	common := map[string]bool{}
	for _, c := range arms[0] {
		if !volatileCall(c) && !hasSub(c) {
			common[exprKey(c)] = true
		}
	}
	for _, arm := range arms[1:] {
		if len(common) == 0 {
			return []plan.Expr{or}
		}
		here := map[string]bool{}
		for _, c := range arm {
			here[exprKey(c)] = true
		}
		maps.DeleteFunc(common, func(k string, _ bool) bool { return !here[k] })
	}
	if len(common) == 0 {
		return []plan.Expr{or}
	}
	var out []plan.Expr
	rest := make([]plan.Expr, len(arms))
	certain := false // an arm has nothing else: it holds when the common part does
	for i, arm := range arms {
		var own []plan.Expr
		taken := map[string]bool{}
		for _, c := range arm {
			k := exprKey(c)
			switch {
			case !common[k]:
				own = append(own, c)
			case i == 0 && !taken[k]:
				out = append(out, c)
			}
			taken[k] = true
		}
		certain = certain || len(own) == 0
		if len(own) > 0 {
			rest[i] = conjunction(own)
		}
	}
	if !certain {
		out = append(out, &plan.Or{At: or.At, Args: rest})
	}
	return out
}

// impliedByOrs are the disjunctions over one entry of FROM alone that follow
// from those over several: where each arm restricts the entry, one of these
// restrictions holds. They leave less to join; the disjunction itself is tested
// as well, and its share of rows is corrected for what they took.
func (p *planner) impliedByOrs(s *state) []plan.Expr {
	if p.NoOptimizer {
		return nil
	}
	var out []plan.Expr
	for _, c := range s.conj {
		or, ok := c.(*plan.Or)
		if !ok || len(or.Args) > maxArms {
			continue
		}
		in := s.entries(or)
		if in.len() < 2 {
			continue
		}
		for id := range in.all() {
			if x := impliedOn(or, id, s); x != nil {
				if share := p.selectivity(x, s.b.rels); share < 0.9 {
					out = append(out, x)
					p.correct(or, share)
				}
			}
		}
	}
	return out
}

// minShare keeps corrections finite.
const minShare = 1e-6

func (p *planner) correct(or *plan.Or, share float64) {
	if p.implied == nil {
		p.implied = map[*plan.Or]float64{}
	}
	if before, ok := p.implied[or]; ok {
		share *= before
	}
	p.implied[or] = max(share, minShare)
}

// impliedOn is the disjunction over the entry id that an arm-wise look at or
// gives, nil when an arm does not restrict the entry.
func impliedOn(or *plan.Or, id int, s *state) plan.Expr {
	arms := make([]plan.Expr, len(or.Args))
	for i, a := range or.Args {
		var own []plan.Expr
		for _, c := range conjuncts(a, nil) {
			in := s.entries(c)
			if in.len() == 1 && in.has(id) && !volatileCall(c) && !hasSub(c) {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			return nil
		}
		arms[i] = conjunction(own)
	}
	return &plan.Or{At: plan.At{T: types.TBool, Off: or.Pos()}, Args: arms}
}
