package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// lookupRounds is what a lookup join knows of a batch of left rows of which it only asks
// whether they have a match. The table's rows come round by round, and no more of those
// left rows that are decided.
type lookupRounds struct {
	on      bool
	matched []bool // by left row
	cut     int    // the first left row whose match cannot be told: the join's fault is its
	l, r    []uint32
}

func (s *lookupRounds) settled(row uint32) bool { return s.matched[row] || int(row) >= s.cut }

// decide returns the rows of the left batch that a semi or anti join passes.
func (op *lookupJoin) decide() (*vec.Batch, error) {
	s, in := &op.rounds, op.batch
	s.matched = slices.Grow(s.matched[:0], in.N)[:in.N]
	clear(s.matched)
	s.cut = in.N
	for {
		probes, err := op.lookup.Next(&op.found)
		if err != nil {
			return nil, err
		}
		op.count(op.found.N)
		if op.found.N == 0 {
			break
		}
		if err := op.match(probes, nil); err != nil {
			if !ofRow(err) || !repeatable([]plan.Expr{op.node.Filter, op.node.Residual}) {
				return nil, err
			}
			if err := op.matchEach(probes); err != nil {
				return nil, err
			}
		}
		if err := ctxErr(op.env.Ctx); err != nil {
			return nil, err
		}
	}
	rows := make([]uint32, 0, in.Rows())
	for i := range in.Rows() {
		if r := in.Row(i); r < s.cut && s.matched[r] == (op.node.Kind == plan.Semi) {
			rows = append(rows, uint32(r))
		}
	}
	return op.out.chosen(in, rows), nil
}

// match marks the left rows with a match among the rows found, or the selected ones.
func (op *lookupJoin) match(probes, sel []uint32) error {
	s := &op.rounds
	f := vec.Batch{Cols: op.found.Cols, N: op.found.N, Sel: sel}
	if op.pred != nil {
		if err := op.pred.Select(op.env.Expr, &f); err != nil {
			return err
		}
	}
	s.l, s.r = s.l[:0], s.r[:0]
	for i := range f.Rows() {
		r := f.Row(i)
		s.l, s.r = append(s.l, probes[r]), append(s.r, uint32(r))
	}
	if op.out.residual == nil || len(s.l) == 0 {
		for _, l := range s.l {
			s.matched[l] = true
		}
		return nil
	}
	pass, err := op.out.passing(op.env, op.batch, op.found.Cols, s.l, s.r)
	for _, i := range pass {
		s.matched[s.l[i]] = true
	}
	return err
}

// matchEach is match after that failed: one row after the other, only where it counts, up
// to the first that fails.
func (op *lookupJoin) matchEach(probes []uint32) error {
	s := &op.rounds
	for i, l := range probes[:op.found.N] {
		if s.settled(l) {
			continue
		}
		if err := op.match(probes, []uint32{uint32(i)}); err != nil {
			if !ofRow(err) {
				return err
			}
			op.out.fault.err, s.cut = err, int(l)
			return nil
		}
	}
	return nil
}
