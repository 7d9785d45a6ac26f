package expr

import "kvsqld/planner/plan"

// SubCache keeps what steady subplans returned, so that each runs once.
//
// A subplan nested in a correlated one may depend on the parameters that the
// outer one sets. So entries remember how many correlated runs enclosed their
// making, and Enter forgets the deeper ones.
type SubCache struct {
	depth   int
	entries map[*plan.SubPlan]subEntry
	alloc   func(bytes int64) error // what accounts for them
}

type subEntry struct {
	depth int
	value any
}

// Reset empties the cache for the next run of a statement.
func (c *SubCache) Reset() {
	c.depth = 0
	clear(c.entries)
}

// Enter says that parameters have just been set for a correlated run (also an
// Apply node's); Leave ends it. Both work on nil.
func (c *SubCache) Enter() {
	if c == nil {
		return
	}
	for k, e := range c.entries {
		if e.depth > c.depth {
			if rows, ok := e.value.(*subRows); ok && c.alloc != nil {
				_ = c.alloc(-rows.bytes) // giving back does not fail
			}
			delete(c.entries, k)
		}
	}
	c.depth++
}

// Leave ends what Enter began.
func (c *SubCache) Leave() {
	if c != nil {
		c.depth--
	}
}

func (c *SubCache) get(s *plan.SubPlan) (any, bool) {
	if c == nil {
		return nil, false
	}
	e, ok := c.entries[s]
	return e.value, ok
}

func (c *SubCache) put(env *Env, s *plan.SubPlan, v any) {
	if c != nil {
		c.alloc = env.Alloc
		if c.entries == nil {
			c.entries = make(map[*plan.SubPlan]subEntry)
		}
		c.entries[s] = subEntry{c.depth, v}
	}
}
