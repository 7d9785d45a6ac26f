package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// virtualScan passes the rows of a declared relation, which its provider emits
// all at once.
type virtualScan struct {
	node  *plan.VirtualScan
	types []types.T
	pred  expr.Pred

	// few are the values that a join above has partners for in the column fewCol, by
	// which rows are looked up; filters tell of such values where rows are not.
	few     []types.Datum
	fewCol  int
	filters []*keyFilter
	sel     [2][]uint32

	env  *Env
	rows *rowStore
	read bool
	at   int
	view vec.Batch
	out  vec.Batch

	fault rowFault
}

func (b *builder) virtualScan(n *plan.VirtualScan) (Operator, error) {
	op := &virtualScan{node: n, types: outTypes(n)}
	op.rows = newRowStore(op.types)
	var err error
	op.pred, err = b.predicate(n.Filter)
	return op, err
}

func (op *virtualScan) Open(env *Env) error {
	op.env, op.read, op.at, op.fault = env, false, 0, rowFault{}
	op.rows.reset()
	return nil
}

// lookupRows is how many rows of a declared relation cost what a lookup in it does at
// worst: some go through all objects for it.
const lookupRows = 50

// pushFilter takes a filter for one of the output columns. The rows of few keys are
// looked up, where the relation can.
func (op *virtualScan) pushFilter(col int, f *keyFilter) bool {
	n, c := op.node, op.node.Cols[col]
	if n.KeyCols != nil || len(f.few) == 0 || float64(len(f.few)*lookupRows) > n.Total ||
		!slices.ContainsFunc(n.Rel.Keys, func(k []int) bool { return len(k) == 1 && k[0] == c }) {
		f.col = col
		op.filters = append(op.filters, f)
		return true
	}
	op.few, op.fewCol = distinctValues(f.values(op.types[col])), c
	return true
}

// distinctValues are the values of a list, each once.
func distinctValues(list []types.Datum) []types.Datum {
	slices.SortFunc(list, types.Compare)
	return slices.CompactFunc(list, func(a, b types.Datum) bool { return types.Compare(a, b) == 0 })
}

// keyValues are the values of the lookup; false where no row can have them.
func (op *virtualScan) keyValues() ([]types.Datum, bool, error) {
	n := op.node
	var vals []types.Datum
	for _, x := range n.KeyVals {
		d, err := expr.EvalConst(op.env.Expr, x)
		switch {
		case err != nil:
			return nil, false, err
		case d.Null && n.AnyOf:
		case d.Null:
			return nil, false, nil // equality with NULL holds for no row
		case n.AnyOf && d.T.Kind() == types.KArray:
			_, _, _, elems, err := types.ArrayElems(d)
			if err != nil {
				return nil, false, err
			}
			vals = append(vals, slices.DeleteFunc(elems, func(e types.Datum) bool { return e.Null })...)
		default:
			vals = append(vals, d)
		}
	}
	return vals, len(vals) > 0 || !n.AnyOf, nil
}

// anyOf has the rows with one of the values looked up, where that costs less than to
// read them all.
func (op *virtualScan) anyOf(vals []types.Datum) {
	vals = distinctValues(vals)
	if float64(len(vals)*lookupRows) <= max(op.node.Total, lookupRows) {
		op.few, op.fewCol = vals, op.node.KeyCols[0]
	}
}

func (op *virtualScan) fill() error {
	op.read = true
	n := op.node
	vals, some, err := op.keyValues()
	if err != nil || !some {
		return err
	}
	keys := n.KeyCols
	if n.AnyOf {
		op.few = nil // of the run before
		op.anyOf(vals)
		keys, vals = nil, nil
	}
	row := make([]types.Datum, len(n.Cols))
	var stopped error
	emit := func(full []types.Datum) bool {
		for i, c := range n.Cols {
			switch {
			case c >= 0:
				row[i] = full[c]
			case c == plan.ColTableOID:
				row[i] = types.Int(op.types[i], int64(n.Rel.OID))
			default:
				row[i] = types.Null(op.types[i])
			}
		}
		op.rows.appendDatums(row)
		if op.rows.n%vec.BatchSize == 0 {
			stopped = ctxErr(op.env.Ctx)
		}
		return stopped == nil
	}
	if op.few == nil {
		err = op.env.Virtual(n.Rel, keys, vals, n.Cols, emit)
	}
	for i := range op.few {
		if err == nil && stopped == nil {
			err = op.env.Virtual(n.Rel, []int{op.fewCol}, op.few[i:i+1], n.Cols, emit)
		}
	}
	// A batch counts as a read, as that of a table does: monitors divide by the reads of a
	// server that nobody has used yet.
	op.env.Tally.tableScanned(n.Rel.OID, 1, int64(op.rows.n), 1+int64(op.rows.n/vec.BatchSize))
	if err == nil {
		err = stopped
	}
	return err
}

func (op *virtualScan) Next() (*vec.Batch, error) {
	if !op.read {
		if err := op.fill(); err != nil {
			return nil, err
		}
	}
	for {
		if err := op.fault.due(); err != nil || op.at >= op.rows.n {
			return nil, err
		}
		to := min(op.at+vec.BatchSize, op.rows.n)
		op.rows.window(&op.view, op.at, to)
		op.at = to
		op.out = op.view
		if op.pred != nil || op.filters != nil {
			if err := op.test(&op.out); err != nil {
				op.out = op.view
				if err := op.fault.rescue(err, &op.out, op.test, op.node.Filter); err != nil {
					return nil, err
				}
			}
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
}

func (op *virtualScan) test(b *vec.Batch) error {
	return narrow(op.env.Expr, b, op.filters, op.pred, &op.sel)
}

func (op *virtualScan) Close() {
	op.few, op.filters = nil, nil
	op.rows.release()
}
