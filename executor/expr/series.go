package expr

import (
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

func seriesFuncs(r *registry) {
	r.addSet(intSeries, "generate_series_int4", "generate_series_int8", "generate_series_step_int4", "generate_series_step_int8")
	r.addSet(decimalSeries, "generate_series_numeric", "generate_series_step_numeric")
	r.addSet(timeSeries, "generate_series_timestamp", "generate_series_timestamptz")
	r.addSet(unnest, "array_unnest")
	r.addSet(rowsSet(subscripts), "generate_subscripts", "generate_subscripts_nodir")
	r.addSet(expandArray, "pg_expandarray")
	r.addSet(rowsSet(optionsToTable), "pg_options_to_table")
}

func errZeroStep() error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot equal zero")
}

func intSeries(call *plan.Call) setBody {
	return func(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
		at, end, step := a[0].I, a[1].I, int64(1)
		if len(a) > 2 {
			step = a[2].I
		}
		if step == 0 {
			return nil, errZeroStep()
		}
		done := step > 0 && at > end || step < 0 && at < end
		return func(out *emitter) (bool, error) {
			for !done && !out.full() {
				i := out.b.Extend()
				out.b.Col(0).I64[i] = at
				next := at + step
				// The end, or past it, or around it.
				done = step > 0 && (next > end || next < at) || step < 0 && (next < end || next > at)
				at = next
			}
			return !done, nil
		}, nil
	}
}

func decimalSeries(call *plan.Call) setBody {
	return func(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
		at, end, step := a[0].Dec, a[1].Dec, types.NewDecimal(1, 0)
		if len(a) > 2 {
			step = a[2].Dec
		}
		for k, what := range []string{"start", "stop", "step size"} {
			if k < len(a) && !a[k].Dec.IsFinite() {
				kind := "infinity"
				if a[k].Dec.IsNaN() {
					kind = "NaN"
				}
				if what != "step size" {
					what += " value"
				}
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s cannot be %s", what, kind)
			}
		}
		if step.IsZero() {
			return nil, errZeroStep()
		}
		return func(out *emitter) (bool, error) {
			for !out.full() {
				if c := at.Cmp(end); c != 0 && (c > 0) == (step.Sign() > 0) {
					return false, nil
				}
				out.row(types.Datum{T: call.T, Dec: at})
				at = at.Add(step)
			}
			return true, nil
		}, nil
	}
}

func timeSeries(call *plan.Call) setBody {
	return func(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
		at, end, step := a[0].I, a[1].I, a[2].Iv
		var loc *time.Location
		if a[0].T.Kind() == types.KTimestamptz {
			loc = c.zone()
		}
		sign := step.Sign()
		if sign == 0 {
			return nil, errZeroStep()
		}
		return func(out *emitter) (bool, error) {
			for !out.full() {
				if sign > 0 && at > end || sign < 0 && at < end {
					return false, nil
				}
				out.row(types.Int(call.T, at))
				next, err := types.AddInterval(at, step, loc)
				if err != nil {
					return false, err
				}
				at = next // of infinity the same: such a series has no end
			}
			return true, nil
		}, nil
	}
}

// unnest gives the elements of one array, or of several side by side; in FROM
// the fields of rows are columns.
func unnest(call *plan.Call) setBody {
	cols := setColumns(call)
	if call.Defined != nil {
		return unnestRows(cols, call.Args[0].Type().ElemType().OID == types.ORecord)
	}
	if len(cols) == 1 {
		return unnestOne(cols[0])
	}
	return func(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
		arrays, n, at := make([][]types.Datum, len(a)), 0, 0
		for k, d := range a {
			if d.Null {
				continue
			}
			p, err := partsOf(d)
			if err != nil {
				return nil, err
			}
			arrays[k] = p.elems
			n = max(n, len(p.elems))
		}
		row := make([]types.Datum, len(a))
		return func(out *emitter) (bool, error) {
			for ; at < n && !out.full(); at++ {
				for k := range row {
					row[k] = types.Null(cols[k])
					if at < len(arrays[k]) {
						row[k] = arrays[k][at]
						row[k].T = cols[k]
					}
				}
				out.row(row...)
			}
			return at < n, nil
		}, nil
	}
}

// unnestOne gives the elements of one array.
func unnestOne(col types.T) setBody {
	it := &types.ArrayIter{}
	next := func(out *emitter) (bool, error) {
		for !out.full() {
			raw, isNull, ok, err := it.NextRaw()
			if err != nil || !ok {
				return false, err
			}
			n := out.b.Extend()
			if isNull {
				out.b.Col(0).Nulls.Set(n)
				continue
			}
			d, err := types.StoredElem(it.Elem, raw)
			if err != nil {
				return false, err
			}
			if d.B != nil {
				d.B = out.b.Copy(d.B)
			}
			d.T = col
			out.b.Col(0).Set(n, d)
		}
		return true, nil
	}
	return func(_ *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
		if a[0].Null {
			return nil, nil
		}
		return next, it.Init(a[0])
	}
}

// unnestRows gives the fields of the rows of an array. Those of anonymous rows are to have
// the types that the query says.
func unnestRows(cols []types.T, anonymous bool) setBody {
	return rowsSet(func(_ *callCtx, a []types.Datum) ([][]types.Datum, error) {
		if a[0].Null {
			return nil, nil
		}
		p, err := partsOf(a[0])
		if err != nil {
			return nil, err
		}
		rows := make([][]types.Datum, len(p.elems))
		for i, d := range p.elems {
			row := make([]types.Datum, len(cols))
			for k := range row {
				row[k] = types.Null(cols[k])
			}
			if !d.Null {
				if anonymous {
					if err := sameFields(d, cols); err != nil {
						return nil, err
					}
				}
				fields, err := types.RecordFields(d)
				if err != nil {
					return nil, err
				}
				for k := range min(len(row), len(fields)) {
					row[k] = fields[k]
					row[k].T = cols[k]
				}
			}
			rows[i] = row
		}
		return rows, nil
	})(nil)
}

func subscripts(_ *callCtx, a []types.Datum) ([][]types.Datum, error) {
	p, err := partsOf(a[0])
	k := int(a[1].I) - 1
	if err != nil || k < 0 || k >= len(p.dims) {
		return nil, err
	}
	out := make([]types.Datum, p.dims[k])
	for i := range out {
		out[i] = types.Int(types.TInt4, int64(p.lbs[k]+i))
	}
	if len(a) > 2 && a[2].I != 0 {
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return column1(out), nil
}

// optionsToTable splits an array of name=value texts.
func optionsToTable(_ *callCtx, a []types.Datum) ([][]types.Datum, error) {
	p, err := partsOf(a[0])
	if err != nil {
		return nil, err
	}
	var rows [][]types.Datum
	for _, d := range p.elems {
		name, value, ok := strings.Cut(string(d.B), "=")
		v := types.Null(types.TText)
		if ok {
			v = types.Text(value)
		}
		rows = append(rows, []types.Datum{types.Text(name), v})
	}
	return rows, nil
}

// expandArray gives the elements of an array, each with its place from 1 on.
func expandArray(call *plan.Call) setBody {
	elem := setColumns(call)[0]
	return rowsSet(func(_ *callCtx, a []types.Datum) ([][]types.Datum, error) {
		p, err := partsOf(a[0])
		if err != nil || len(p.dims) > 1 {
			return nil, err
		}
		rows := make([][]types.Datum, len(p.elems))
		for i, d := range p.elems {
			d.T = elem
			rows[i] = []types.Datum{d, types.Int(types.TInt4, int64(i+1))}
		}
		return rows, nil
	})(call)
}
