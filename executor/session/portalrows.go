package session

import (
	"context"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/wire"
)

// portalRows are a portal's rows: made by a run as they are asked for, kept when
// the transaction ends before, or when a cursor may go back to them. Rows count from 1.
type portalRows struct {
	run    *executor.Run
	runCtx *portalContext
	owner  *plannedStmt  // of the run
	all    []wire.Column // of the run's rows, the hidden ones included
	// visible is the number of columns that the client gets.
	visible int

	read    int64      // rows that came out of the run
	pending *vec.Batch // the last of them
	kept    *executor.KeptRows
	before  int64 // rows before the first that is kept
	err     error // of a run that was ended early: after the rows kept
	store   func([]wire.Column) *executor.KeptRows

	portalView
	locked  *lockedRows // of a cursor that locks its rows, else nil
	over    int64       // rows that were passed over, as the transaction has changed them
	locking *lockingRun // of a run that locks them as they are asked for, else nil

	back bool // passed rows can be gone back to
	// again starts the run anew, on the same view: passed rows are kept only when somebody
	// has gone back, from the first one on. nil: from the beginning.
	again  func() (*executor.Run, error)
	undone bool // it was

	at int64 // current row: 0 before the first, read+1 after the last
}

// keptRows returns an empty store for rows of the columns, that counts against
// the limits of a statement.
func (s *Session) keptRows(cols []wire.Column) *executor.KeptRows {
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return executor.NewKeptRows(ts, s.settings.workMem, s.srv.opts.TempDir, s.rowMemory(), &s.tally)
}

// keptSink keeps the rows of a statement that is run to its end.
type keptSink struct {
	p    *portal
	cols []wire.Column
}

func (k *keptSink) begin(cols []wire.Column, _ *types.FmtOpts) { k.cols = cols }

func (k *keptSink) batch(b *vec.Batch) error {
	if k.p.all = k.cols; k.p.planned != nil {
		k.p.all = k.p.planned.rowCols()
	}
	k.p.read += int64(b.Rows())
	return k.p.keep(b)
}

// keep copies rows that came out of the run.
func (p *portalRows) keep(b *vec.Batch) error {
	if p.kept == nil {
		p.before = p.read - int64(b.Rows())
		p.kept = p.store(p.all)
	}
	return p.kept.Add(b)
}

// during ties the run to a call, by whose cancellation it ends. The returned
// function ends the tie.
func (p *portalRows) during(ctx context.Context) func() {
	if p.run == nil && !p.passing() {
		return func() {}
	}
	untie := p.runCtx.during(ctx)
	return func() { untie() }
}

// row returns a batch that has row n, and its number there; nil when there are
// fewer rows.
func (p *portalRows) row(n int64) (*vec.Batch, int, error) {
	for {
		if p.pending != nil {
			if first := p.read - int64(p.pending.Rows()) + 1; n >= first && n <= p.read {
				return p.pending, int(n - first), nil
			}
		}
		if n <= p.read {
			if p.passing() {
				if err := p.rewind(); err != nil {
					return nil, 0, err
				}
				continue
			}
			return p.kept.At(n - p.before - 1)
		}
		if p.run == nil {
			return nil, 0, p.err
		}
		b, err := p.nextBatch()
		if err != nil {
			return nil, 0, err
		}
		p.pending = b
		if b == nil {
			p.endRun()
			continue
		}
		p.read += int64(b.Rows())
		if p.back && !p.passing() {
			if err := p.keep(b); err != nil {
				return nil, 0, err
			}
		}
	}
}

// passing reports whether passed rows are not kept, though somebody may go back.
func (p *portalRows) passing() bool { return p.again != nil && !p.undone }

// rewind begins anew, now with the rows kept.
func (p *portalRows) rewind() (err error) {
	p.undone = true
	if p.run != nil {
		p.owner.release(p.run)
	}
	p.pending, p.read = nil, 0
	p.run, err = p.again()
	return err
}

// onRow reports whether the portal stands on a row.
func (p *portalRows) onRow() bool { return p.at > 0 && (p.at <= p.read || p.run != nil) }

// toEnd reads all rows, so that their number is known.
func (p *portalRows) toEnd() error {
	p.wants(0)
	for p.run != nil {
		if _, _, err := p.row(p.read + 1); err != nil {
			return err
		}
	}
	return p.err
}

// forward sends up to limit rows (0: all) from the one after the current one.
func (p *portalRows) forward(limit int64, out sink) (n int64, err error) {
	if p.at > p.read && p.run == nil && p.err == nil {
		return 0, nil
	}
	p.wants(limit)
	for limit == 0 || n < limit {
		b, i, err := p.row(p.at + 1)
		if err != nil {
			return n, err
		}
		if b == nil {
			p.at = p.read + 1
			return n, nil
		}
		to := b.Rows()
		if limit > 0 && int64(to-i) > limit-n {
			to = i + int(limit-n)
		}
		if p.locked.gone(p.view, b, i) {
			p.at++
			p.over++
			continue
		}
		for k := i + 1; k < to; k++ {
			if p.locked.gone(p.view, b, k) {
				to = k
			}
		}
		if err := p.send(b, i, to, out); err != nil {
			return n, err
		}
		n += int64(to - i)
		p.at += int64(to - i)
	}
	return n, nil
}

// send passes rows on without the hidden columns.
func (p *portalRows) send(b *vec.Batch, from, to int, out sink) error {
	return out.batch(rowsOf(b, from, to).First(p.visible))
}

// settle keeps the rows still to come, so that the run can end. An error of theirs is
// for who asks for them.
func (p *portalRows) settle(ctx context.Context) error {
	if p.run == nil {
		return nil
	}
	defer p.during(ctx)()
	p.wants(0)
	if n := p.read - p.at; !p.back && p.pending != nil && (n > 0 || p.at > 0) {
		// The current row stays as well: WHERE CURRENT OF may ask for it.
		from := p.pending.Rows() - int(n)
		if from > 0 {
			from--
		}
		b := rowsOf(p.pending, from, p.pending.Rows())
		if err := p.keep(b); err != nil {
			return err
		}
	}
	for {
		b, err := p.nextBatch()
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			p.err = err
			break
		}
		if b == nil {
			break
		}
		p.read += int64(b.Rows())
		if err := p.keep(b); err != nil {
			return err
		}
	}
	p.endRun()
	return nil
}

// endRun releases the run; rows that were kept stay.
func (p *portalRows) endRun() {
	if p.run != nil {
		p.owner.release(p.run)
		p.run, p.pending = nil, nil
	}
	if p.passing() { // it may run again
		return
	}
	if p.runCtx != nil {
		p.runCtx.cancel(nil)
	}
	p.locking.end()
	p.close()
}

// release gives everything up.
func (p *portalRows) release() {
	p.again = nil
	p.endRun()
	p.kept.Close()
	p.kept, p.pending, p.err = nil, nil, nil
	p.at = p.read + 1
}
