package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// scanTest tests the rows of a scan on the columns that its filters read, before the
// others are decoded: of
//
//	SELECT * FROM hits WHERE url LIKE '%kv%'
//
// only url is decoded of the rows that do not match. It ends where it costs more than
// it saves.
type scanTest struct {
	env     *expr.Env
	filters []*keyFilter
	pred    expr.Pred
	cols    []int // of the output, that filters and pred read
	reads   []int // … as columns of the table
	others  int   // columns beside them
	asks    table.EntryFilter

	view   vec.Batch
	sel    [2][]uint32
	ran    bool // on all rows of the scanner's last batch
	failed bool // on one of them: who reads the batch tests it anew
	tested int
	passed int
	// passedOver are the rows since the last taken that were read and are in no batch.
	passedOver int
}

// newScanTest returns the test of a scan of the master file, nil: there is nothing to save.
// Key filters may have led the scan to an index, whose entries lack columns of the test.
func newScanTest(n *plan.Scan, spec *table.ScanSpec, filters []*keyFilter, pred expr.Pred) *scanTest {
	if spec.Index != nil || len(n.Parts) > 0 || len(filters) == 0 && pred == nil || !parallelSafe(n.Filter) {
		return nil
	}
	t := &scanTest{filters: filters, pred: pred, view: vec.Batch{Cols: make([]*vec.Vec, len(n.Cols))}}
	for _, f := range filters {
		t.cols = append(t.cols, f.col)
	}
	if n.Filter != nil {
		plan.Visit(n.Filter, func(x plan.Expr) bool {
			if c, ok := x.(*plan.Col); ok {
				t.cols = append(t.cols, c.Idx)
			}
			return true
		})
	}
	slices.Sort(t.cols)
	t.cols = slices.Compact(t.cols)
	if t.others = len(n.Cols) - len(t.cols); t.others == 0 {
		return nil
	}
	for _, at := range t.cols {
		t.reads = append(t.reads, n.Cols[at])
	}
	t.asks = t.test
	return t
}

// ask has a scan that begins call the test.
func (t *scanTest) ask(env *expr.Env, spec *table.ScanSpec) {
	t.env, t.tested, t.passed = env, 0, 0
	spec.EntryFilter, spec.EntryCols = t.asks, t.reads
}

// test is a table.EntryFilter.
func (t *scanTest) test(b *vec.Batch) error {
	t.ran = true
	for i, at := range t.cols {
		t.view.Cols[at] = b.Cols[i]
	}
	t.view.N, t.view.Sel = b.N, nil
	if err := narrow(t.env, &t.view, t.filters, t.pred, &t.sel); err != nil {
		t.failed = true
		return nil
	}
	b.Sel = t.view.Sel
	t.tested, t.passed = t.tested+b.N, t.passed+b.Rows()
	t.passedOver += b.N - b.Rows()
	return nil
}

// next reads the scanner's next batch and reports whether its rows are still to be tested.
func (t *scanTest) next(s *table.Scanner, b *vec.Batch) (again bool, err error) {
	if t == nil {
		return true, s.Next(b)
	}
	t.ran, t.failed = false, false
	if err := s.Next(b); err != nil {
		return false, err
	}
	// Rows that pass have the tested columns decoded twice.
	if t.tested > 8*vec.BatchSize && t.passed*(len(t.cols)+1) > (t.tested-t.passed)*t.others {
		s.PassAll()
	}
	return !t.ran || t.failed, nil
}

// taken returns the number of rows that were read since the last call and not passed.
func (t *scanTest) taken() int64 {
	if t == nil {
		return 0
	}
	n := t.passedOver
	t.passedOver = 0
	return int64(n)
}
