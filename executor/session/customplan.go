package session

import (
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// customPlan decides whether a costly statement is planned again for the values
// of its parameters: it is at first, and from then on if those plans were so much
// cheaper that they paid for the planning.
type customPlan struct {
	generic *plan.Query // the plan without values
	tries   int
	cost    float64 // of all tries, planning included
}

const (
	// customTries is the number of executions planned with their values before
	// the costs are compared.
	customTries = 5
	// planningCost is what planning costs per table, in the planner's units.
	planningCost = 2000
)

// suit makes the plan one for the values of the parameters where that pays.
func (p *plannedStmt) suit(ctx context.Context, s *Session, snap *catalog.Snapshot, params []types.Datum) error {
	c := &p.custom
	if len(params) == 0 || c.generic == nil || len(params) != len(c.generic.Params) {
		return nil
	}
	if p.busy {
		if p.q.ForValues { // who runs it has other values
			p.run, p.busy, p.q = nil, false, c.generic
		}
		return nil
	}
	cost := c.generic.Cost()
	if cost <= maxGenericCost {
		return nil
	}
	if c.tries >= customTries && c.cost/float64(c.tries) >= cost {
		if p.q != c.generic {
			p.use(c.generic)
		}
		return nil
	}
	pc := s.planDuring(ctx, snap)
	pc.ParamTypes, pc.ParamValues = p.declared, params
	q, err := planner.Plan(pc, p.stmt)
	if err != nil {
		return err
	}
	c.tries++
	c.cost += q.Cost() + planningCost*float64(1+len(q.Tables))
	p.use(q)
	return nil
}

// use makes q the plan that is run next.
func (p *plannedStmt) use(q *plan.Query) {
	if p.run != nil {
		p.run.Close()
	}
	p.run, p.q = nil, q
}
