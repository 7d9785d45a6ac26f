package executor

import "kvsqld/catalog/types/vec"

// runMerge merges sorted runs, a heap of cursors with the least row on top. On
// equal keys the earlier run comes first, which keeps the order of arrival.
type runMerge struct {
	order *rowOrder
	heap  []*runCursor
	out   *rowStore
	view  vec.Batch
	left  int // rows still wanted
}

type runCursor struct {
	run   int
	r     *spillReader
	batch *vec.Batch
	row   int
}

func (m *runMerge) open(runs []*spillFile) error {
	for i, f := range runs {
		c := &runCursor{run: i, r: f.reader()}
		b, err := c.r.next()
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		c.batch = b
		m.heap = append(m.heap, c)
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return nil
}

func (m *runMerge) less(a, b *runCursor) bool {
	c := m.order.compare(0, a.batch.Cols, a.row, b.batch.Cols, b.row)
	return c < 0 || c == 0 && a.run < b.run
}

func (m *runMerge) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(m.heap) {
			return
		}
		if k+1 < len(m.heap) && m.less(m.heap[k+1], m.heap[k]) {
			k++
		}
		if !m.less(m.heap[k], m.heap[i]) {
			return
		}
		m.heap[i], m.heap[k] = m.heap[k], m.heap[i]
		i = k
	}
}

// next returns the next rows in order, nil at the end.
func (m *runMerge) next() (*vec.Batch, error) {
	m.out.reset()
	var sel [1]uint32
	for m.out.n < vec.BatchSize && m.left > 0 && len(m.heap) > 0 {
		c := m.heap[0]
		sel[0] = uint32(c.row)
		m.out.appendCols(c.batch.Cols, sel[:], 1)
		m.left--
		if c.row++; c.row == c.batch.N {
			b, err := c.r.next()
			if err != nil {
				return nil, err
			}
			if c.batch, c.row = b, 0; b == nil {
				last := len(m.heap) - 1
				m.heap[0] = m.heap[last]
				m.heap = m.heap[:last]
			}
		}
		m.down(0)
	}
	if m.out.n == 0 {
		return nil, nil
	}
	m.out.window(&m.view, 0, m.out.n)
	return &m.view, nil
}
