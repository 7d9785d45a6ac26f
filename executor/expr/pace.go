package expr

import (
	"runtime/metrics"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// Pace says how many of a batch's rows to compute at a time. Every function keeps
// its results for all rows of a batch: with values of a megabyte, a gigabyte for each
// call in an expression. So the first rows of a statement that makes values of any
// length are few, and their number grows as long as they take little memory.
type Pace struct {
	rows   int // the size of the next piece; 0: none was computed yet
	timed  int // rows of the piece under way, if it is measured
	before uint64
	calm   int // pieces of full size in sequence that took little
	sample [1]metrics.Sample
}

const (
	paceFirst = 32
	paceGrow  = 8
	paceBytes = 8 << 20 // what a piece should allocate at most
	paceCalm  = 4       // pieces of full size after which only some are measured
	paceEvery = 16
)

// Begin returns the size of the next piece of left rows.
func (p *Pace) Begin(left int) int {
	if p.rows == 0 {
		p.rows = paceFirst
		p.sample[0].Name = "/gc/heap/allocs:bytes"
	}
	n := min(left, p.rows)
	if p.timed = 0; p.calm < paceCalm || p.calm%paceEvery == 0 {
		p.timed, p.before = n, p.allocated()
	}
	p.calm++
	return n
}

// End tells that the piece is done. What other statements allocate meanwhile counts
// too: the pieces are smaller then, and no result is another.
func (p *Pace) End() {
	if p.timed == 0 {
		return
	}
	took := p.allocated() - p.before
	fit := int(min(paceBytes*uint64(p.timed)/max(took, 1), vec.BatchSize))
	switch {
	case fit < p.rows:
		p.rows, p.calm = max(fit, 1), 0
	case fit > p.rows && p.timed == p.rows: // a few rows may find room that is left of others
		p.rows, p.calm = min(p.rows*paceGrow, fit), 0
	}
}

func (p *Pace) allocated() uint64 {
	metrics.Read(p.sample[:])
	return p.sample[0].Value.Uint64()
}

// Lengthy reports whether an expression makes values of any length.
func Lengthy(es ...plan.Expr) bool {
	found := false
	for _, e := range es {
		plan.Visit(e, func(x plan.Expr) bool {
			switch x.(type) {
			case *plan.Col, *plan.Const, *plan.Param, *plan.Var:
				return !found
			}
			found = found || x.Type().Rep() == types.RepBytes
			return !found
		})
	}
	return found
}

// pacedPred computes a condition that makes long values for some rows at a time.
type pacedPred struct {
	p    Pred
	pace Pace
	few  vec.Extract
	sel  []uint32
}

func (p *pacedPred) Select(env *Env, b *vec.Batch) error {
	rows := rowsOf(b)
	n := p.pace.Begin(len(rows))
	if n == len(rows) {
		err := p.p.Select(env, b)
		p.pace.End()
		return err
	}
	keep := room(p.sel, b)
	for {
		piece := p.few.Rows(b, rows[:n])
		if err := p.p.Select(env, piece); err != nil {
			return err
		}
		for i := range piece.Rows() {
			keep = append(keep, rows[piece.Row(i)])
		}
		p.pace.End()
		if rows = rows[n:]; len(rows) == 0 {
			break
		}
		n = p.pace.Begin(len(rows))
	}
	p.sel, b.Sel = keep, keep
	return nil
}
