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
// cheaper that they paid for the planning. Plans that do the same as the one without
// values are not: what is cheaper is the estimate, where a radius or a bound is known.
type customPlan struct {
	generic *plan.Query // the plan without values
	tries   int
	run     float64 // what the plans of all tries cost
	planned float64 // what making them did
	shape   string  // of generic, from the first try on
	differs bool    // one of the tries had another shape
	uses    int     // of generic since the last try
}

// tried notes a plan for values.
func (c *customPlan) tried(q *plan.Query) {
	c.tries++
	c.uses = 0
	c.run += q.Cost()
	c.planned += planningCost * float64(1+len(q.Tables))
	if c.differs {
		return
	}
	if c.shape == "" {
		c.shape = plan.Shape(c.generic)
	}
	c.differs = plan.Shape(q) != c.shape
}

// worse reports whether plans for values are not worth making, where the one without
// values costs so much.
func (c *customPlan) worse(cost float64) bool {
	return c.tries >= customTries && (c.run+c.planned)/float64(c.tries) >= cost || c.alike()
}

// alike reports whether plans for values do what the one without values does, and cost
// less than making them. Other values may ask for another plan, which a try shows once in
// a while.
func (c *customPlan) alike() bool {
	return c.tries >= customTries && !c.differs && c.run < c.planned && c.uses < alikeUses
}

const (
	// customTries is the number of executions planned with their values before
	// the costs are compared.
	customTries = 5
	// alikeUses is how often the plan without values is run, because those for values were
	// like it, before one is made again.
	alikeUses = 100
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
	mode := planAuto
	if p.uses != nil {
		mode = s.settings.planMode
	}
	cost := c.generic.Cost()
	if mode == planAuto && cost <= maxGenericCost && p.q == c.generic {
		return nil
	}
	if mode == planGeneric || mode == planAuto && (cost <= maxGenericCost || c.worse(cost)) {
		c.uses++
		if p.q != c.generic {
			p.use(c.generic)
		}
		return nil
	}
	pc := s.planDuring(ctx, snap)
	pc.ParamTypes, pc.ParamValues = p.declared, params
	pc.Reading, pc.Routine, pc.Cursor, pc.System = p.reading, p.routine, p.cursor, p.system
	q, err := planner.Plan(pc, p.stmt)
	if err != nil {
		return err
	}
	c.tried(q)
	p.use(q)
	return nil
}

// planMode is plan_cache_mode.
type planMode uint8

const (
	planAuto planMode = iota
	planGeneric
	planCustom
)

// planModeOf reads plan_cache_mode.
func planModeOf(v string) planMode {
	switch v {
	case "force_generic_plan":
		return planGeneric
	case "force_custom_plan":
		return planCustom
	}
	return planAuto
}

// planUses counts the executions of a prepared statement by plans without and with the
// values of its parameters.
type planUses struct{ generic, custom int64 }

// countIn makes the next run, of a prepared statement, count in its uses.
func (p *plannedStmt) countIn(u *planUses) {
	if p != nil {
		p.uses, p.counted = u, false
	}
}

// count counts the plan that is about to run.
func (p *plannedStmt) count() {
	if p.uses == nil || p.counted {
		return
	}
	p.uses.planned(p.q != p.custom.generic)
	p.counted = true
}

// planned counts an execution by a plan with the values of the parameters or without.
func (u *planUses) planned(forValues bool) {
	if forValues {
		u.custom++
	} else {
		u.generic++
	}
}

// use makes q the plan that is run next.
func (p *plannedStmt) use(q *plan.Query) {
	if p.run != nil {
		p.run.Close()
	}
	p.run, p.q = nil, q
}
