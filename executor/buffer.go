package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// buffer keeps rows in the order of arrival to be read any number of times: in
// memory, or in a file beyond the budget.
type buffer struct {
	types []types.T
	env   *Env
	acct  account
	n     int // rows
	rows  *rowStore
	file  *spillFile
	taken pieces // of the operator that is drained
}

func newBuffer(ts []types.T) *buffer { return &buffer{types: ts, rows: newRowStore(ts)} }

func (b *buffer) open(env *Env) {
	b.close()
	b.env = env
	b.acct.open(env)
}

// add takes n rows.
func (b *buffer) add(cols []*vec.Vec, sel []uint32, n int) error {
	b.n += n
	if b.file != nil {
		return b.file.write(b.env, cols, sel, n)
	}
	b.rows.appendCols(cols, sel, n)
	if err := b.acct.set(b.rows.size); err != nil {
		return err
	}
	if !b.acct.over() {
		return nil
	}
	b.file = newSpillFile(b.types)
	var view vec.Batch
	for at := 0; at < b.rows.n; at += vec.BatchSize {
		b.rows.window(&view, at, min(at+vec.BatchSize, b.rows.n))
		if err := b.file.write(b.env, view.Cols, nil, view.N); err != nil {
			return err
		}
	}
	b.rows.release()
	return b.acct.set(0)
}

// finish ends the writing; readers may be opened.
func (b *buffer) finish() error {
	if b.file != nil {
		return b.file.finish()
	}
	return nil
}

func (b *buffer) close() {
	if b.rows.n > 0 {
		b.rows.release()
	}
	b.recycle()
}

// recycle is close that keeps a little memory for the next rows. Nobody may look
// at values of the present ones any more.
func (b *buffer) recycle() {
	b.file.close()
	b.file, b.n = nil, 0
	if b.rows.n > 0 {
		b.rows.recycle()
	}
	b.acct.close()
}

// read returns a reader from the first row on.
func (b *buffer) read() *bufferReader {
	r := new(bufferReader)
	r.begin(b)
	return r
}

// bufferReader passes a buffer's rows batch by batch.
type bufferReader struct {
	buf  *buffer
	file *spillReader
	at   int
	skip int // rows of the file that were read before it was written
	view vec.Batch
}

// begin makes r a reader from the buffer's first row on.
func (r *bufferReader) begin(b *buffer) {
	r.buf, r.file, r.at, r.skip = b, nil, 0, 0
	if b.file != nil {
		r.file = b.file.reader()
		r.view = vec.Batch{}
	}
}

func (r *bufferReader) fromFile() (*vec.Batch, error) {
	for {
		b, err := r.file.next()
		if b == nil || err != nil || r.skip == 0 {
			return b, err
		}
		if n := b.Rows(); r.skip >= n {
			r.skip -= n
			continue
		}
		sel := make([]uint32, 0, b.Rows()-r.skip)
		for i := r.skip; i < b.Rows(); i++ {
			sel = append(sel, uint32(b.Row(i)))
		}
		r.skip = 0
		r.view = vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
		return &r.view, nil
	}
}

func (r *bufferReader) next() (*vec.Batch, error) {
	if err := ctxErr(r.buf.env.Ctx); err != nil {
		return nil, err
	}
	if r.file == nil && r.buf.file != nil {
		// the rows went to a file since the reader began
		r.file, r.skip = r.buf.file.reader(), r.at
	}
	if r.file != nil {
		return r.fromFile()
	}
	if r.at >= r.buf.rows.n {
		return nil, nil
	}
	to := min(r.at+vec.BatchSize, r.buf.rows.n)
	r.buf.rows.window(&r.view, r.at, to)
	r.at = to
	return &r.view, nil
}

// drain reads an operator to its end into the buffer. The operator is opened
// and closed.
func (b *buffer) drain(env *Env, op Operator) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	return b.take(op)
}

// take reads an operator, which is open, to its end into the buffer.
func (b *buffer) take(op Operator) error {
	b.taken.open()
	for {
		in, err := b.taken.next(op)
		if err != nil {
			return err
		}
		if in == nil {
			return b.finish()
		}
		if err := b.add(in.Cols, in.Sel, in.Rows()); err != nil {
			return err
		}
	}
}
