package session

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/wire"
)

// rowBuffer is a sink that keeps copies of a statement's rows until it is known that they
// are its result. The zero value keeps all of them in memory; one of a session counts
// them against the limits of a statement, and has those beyond the work memory in a
// temporary file.
type rowBuffer struct {
	cols    []wire.Column
	opts    *types.FmtOpts
	batches []*vec.Batch
	s       *Session         // nil: nobody counts
	mem     *executor.Memory // what the batches take
	rest    *executor.KeptRows
}

// rowBuffer returns an empty buffer, which is to be released.
func (s *Session) rowBuffer() *rowBuffer { return &rowBuffer{s: s, mem: s.rowMemory()} }

// rowMemory is the memory for rows that are kept beyond a statement's own.
func (s *Session) rowMemory() *executor.Memory {
	return &executor.Memory{Limit: s.srv.opts.MaxStatementMemory, Pool: &s.srv.memory, TempLimit: s.settings.tempLimit}
}

func (k *rowBuffer) begin(cols []wire.Column, o *types.FmtOpts) { k.cols, k.opts = cols, o }

func (k *rowBuffer) batch(b *vec.Batch) error {
	switch {
	case b.Rows() == 0:
		return nil
	case k.rest != nil:
		return k.rest.Add(b)
	case k.s == nil:
		k.batches = append(k.batches, copyBatch(b))
		return nil
	}
	if err := k.mem.Grow(bytesOf(b)); err != nil {
		return err
	}
	k.batches = append(k.batches, copyBatch(b))
	if soft := k.s.settings.workMem; soft > 0 && k.mem.Used() > soft {
		ts := make([]types.T, len(b.Cols))
		for i, c := range b.Cols {
			ts[i] = c.T
		}
		k.rest = executor.NewKeptRows(ts, 1, k.s.srv.opts.TempDir, k.s.rowMemory(), &k.s.tally) // in a file from the first row on
	}
	return nil
}

// passTo passes the rows on.
func (k *rowBuffer) passTo(out sink) error {
	out.begin(k.cols, k.opts)
	return k.yield(func(b *vec.Batch) (bool, error) { return true, out.batch(b) })
}

// yield passes the rows on until it is told that no more are wanted.
func (k *rowBuffer) yield(yield rowYield) error {
	for _, b := range k.batches {
		if more, err := yield(b); err != nil || !more {
			return err
		}
	}
	if k.rest == nil {
		return nil
	}
	for at := int64(0); at < k.rest.Rows(); {
		b, _, err := k.rest.At(at)
		if err != nil {
			return err
		}
		if more, err := yield(b); err != nil || !more {
			return err
		}
		at += int64(b.Rows())
	}
	return nil
}

// release gives memory and file back.
func (k *rowBuffer) release() {
	k.mem.Release()
	k.rest.Close()
}

// copyBatch copies the selected rows into memory of their own.
func copyBatch(b *vec.Batch) *vec.Batch {
	n := b.Rows()
	out := &vec.Batch{N: n, Cols: make([]*vec.Vec, len(b.Cols))}
	arena := new(vec.Arena)
	for i, c := range b.Cols {
		v := vec.New(c.T, n)
		for r := range n {
			vec.AppendFrom(v, r, c, b.Row(r), arena)
		}
		out.Cols[i] = v
	}
	return out
}

// bytesOf estimates the memory of a batch's copy.
func bytesOf(b *vec.Batch) int64 {
	n := int64(b.Rows()) * 24 * int64(len(b.Cols))
	for _, c := range b.Cols {
		if c.T.Rep() != types.RepBytes {
			continue
		}
		for i := range b.Rows() {
			if r := c.Idx(b.Row(i)); !c.Nulls.Get(r) {
				n += int64(len(c.B[r]))
			}
		}
	}
	return n
}
