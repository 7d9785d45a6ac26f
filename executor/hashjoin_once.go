package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// onceProbe decides the left rows of a semi or anti join with a residual. A row is
// decided by its first match, which may come long before its last candidate:
//
//	… WHERE NOT EXISTS (SELECT FROM t y WHERE y.a = x.a AND y.d > x.d)
//
// So it takes one candidate of each row of a batch that is not decided yet, then two of
// those that are left, four, and so on; here those with the largest d first (leadColumn).
// The order in which candidates are looked at is none that anybody sees: where one
// fails, or is computed by something volatile, the batch is left to the way that goes by
// rows.
type onceProbe struct {
	open []onceRow // left rows without a match so far that have candidates
	hit  []bool    // by position in the batch
	l, r []uint32  // candidates, as rows of the batch and of the table
	of   []uint32  // the place in open that each is of
	sel  []uint32
}

// onceRow is a left row under way.
type onceRow struct {
	pos, row uint32 // position in the batch, and row
	chain    uint32 // its next candidate + 1, 0 for none
}

// once reports whether left rows are decided by onceProbe.
func (op *hashJoin) once() bool {
	return (op.node.Kind == plan.Semi || op.node.Kind == plan.Anti) && op.out.residual != nil && op.steady
}

// probeOnce decides all rows of the batch and returns those that pass.
func (op *hashJoin) probeOnce() (*vec.Batch, error) {
	o, anti := &op.probing, op.node.Kind == plan.Anti
	n := op.batch.Rows()
	o.open = o.open[:0]
	o.hit = slices.Grow(o.hit[:0], n)[:n]
	clear(o.hit)
	for op.pos = range n {
		r := op.batch.Row(op.pos)
		if op.skip != nil && op.skip(r) {
			o.hit[op.pos] = anti && op.node.NullAware && !op.empty // NULL NOT IN (something) is not true
			continue
		}
		if c := op.first(r); c != 0 {
			o.open = append(o.open, onceRow{uint32(op.pos), uint32(r), c})
		}
	}
	for share := 1; len(o.open) > 0; share *= 2 {
		if err := ctxErr(op.env.Ctx); err != nil {
			return nil, err
		}
		if err := op.onceRound(share); err != nil {
			return nil, err
		}
	}
	o.sel = o.sel[:0]
	if o.sel == nil {
		o.sel = make([]uint32, 0, n)
	}
	for i, hit := range o.hit {
		if hit != anti {
			o.sel = append(o.sel, uint32(op.batch.Row(i)))
		}
	}
	return op.out.chosen(op.batch, o.sel), nil
}

// onceRound looks at so many candidates of each row that is open, and closes those that
// have a match or no further candidate.
func (op *hashJoin) onceRound(share int) error {
	o, t := &op.probing, op.table
	lead := op.lead.over(op)
	for i := range o.open {
		x := &o.open[i]
		for k := 0; k < share && x.chain != 0; k++ {
			c := x.chain
			if t.ints == nil { // else all rows of the chain have the key
				if c = t.match(c, op.keys, int(x.row)); c == 0 {
					x.chain = 0
					break
				}
			}
			if lead.ends(x.row, c-1) {
				x.chain = 0
				break
			}
			x.chain = t.next[c-1]
			o.l, o.r, o.of = append(o.l, x.row), append(o.r, c-1), append(o.of, uint32(i))
			if len(o.l) < vec.BatchSize {
				continue
			}
			if err := op.onceTest(); err != nil {
				return err
			}
			if o.hit[x.pos] {
				break
			}
		}
	}
	if err := op.onceTest(); err != nil {
		return err
	}
	o.open = slices.DeleteFunc(o.open, func(x onceRow) bool { return x.chain == 0 || o.hit[x.pos] })
	return nil
}

// onceTest evaluates the residual over the candidates collected.
func (op *hashJoin) onceTest() error {
	o := &op.probing
	l, r, of := o.l, o.r, o.of
	o.l, o.r, o.of = l[:0], r[:0], of[:0]
	if len(l) == 0 {
		return nil
	}
	pass, err := op.out.passing(op.env, op.batch, op.tableCols(), l, r)
	for _, i := range pass {
		o.hit[o.open[of[i]].pos] = true
	}
	return err
}
