package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func (c *compiler) compileSubPlan(e *plan.SubPlan) (Eval, error) {
	out := &subEval{plan: e, t: e.T, steady: true}
	for _, o := range e.Outer {
		if _, ok := o.X.(*plan.Param); !ok {
			out.steady = false
		}
		x, err := c.compile(o.X)
		if err != nil {
			return nil, err
		}
		out.outer = append(out.outer, x)
	}
	for _, col := range e.Plan.Base().Cols {
		if !col.Hidden {
			out.cols = append(out.cols, col.T)
		}
	}
	if e.Kind != plan.SubAny && e.Kind != plan.SubAll {
		return out, nil
	}
	var err error
	if out.x, err = c.compileAll(e.X); err != nil {
		return nil, err
	}
	if out.test, err = newCompiler().compile(e.Test); err != nil {
		return nil, err
	}
	out.hash = e.Hash && e.Kind == plan.SubAny && out.steady && len(e.X) == 1 && len(out.cols) == 1 &&
		sameFamily(e.X[0].Type(), out.cols[0])
	out.index = out.indexes()
	return out, nil
}

// sameFamily reports whether equal values of the two types have equal
// representations.
func sameFamily(a, b types.T) bool {
	ka, kb := a.Kind(), b.Kind()
	integer := func(k types.Kind) bool {
		return k == types.KInt2 || k == types.KInt4 || k == types.KInt8 || k == types.KOid
	}
	if integer(ka) && integer(kb) {
		return true
	}
	switch ka {
	case types.KText, types.KNumeric, types.KDate, types.KTimestamp, types.KTimestamptz, types.KUUID, types.KBytea:
		return ka == kb
	case types.KFloat4, types.KFloat8:
		return kb == types.KFloat4 || kb == types.KFloat8
	}
	return false
}

// subEval is a subquery inside an expression.
type subEval struct {
	plan  *plan.SubPlan
	t     types.T
	outer []Eval
	cols  []types.T // the subquery's visible columns
	// steady says that the subplan depends on no column of the rows that are under way,
	// but at most on parameters that were set further out: it is the same for all rows.
	steady bool
	x      []Eval
	test   Eval
	hash   bool // rows go to a valueSet …
	index  bool // … or to a rowIndex
	out    vec.Vec
	vecs   []*vec.Vec
	probe  []types.Datum
}

// subRows are the kept rows of an ANY or ALL subquery.
type subRows struct {
	batches []*vec.Batch
	set     *valueSet // of a single column, when it can be hashed
	index   *rowIndex // of others that can
	bytes   int64
}

func (r *subRows) grow(env *Env, bytes int64) error {
	r.bytes += bytes
	return account(env, bytes)
}

func (e *subEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if env.RunSub == nil {
		return nil, sqlerr.Unsupported(e.plan.Off, "a subquery in this expression")
	}
	if b.Rows() == 0 {
		return setNull(&e.out, e.t), nil
	}
	if len(e.outer) == 0 {
		return e.once(env, b)
	}
	e.vecs = e.vecs[:0]
	for _, o := range e.outer {
		v, err := o.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.vecs = append(e.vecs, v)
	}
	var xs []*vec.Vec
	if !e.steady {
		var err error
		if xs, err = e.left(env, b); err != nil {
			return nil, err
		}
	}
	saved := make([]types.Datum, len(e.outer))
	for k, o := range e.plan.Outer {
		for len(env.Params) <= o.Idx {
			env.Params = append(env.Params, types.Datum{Null: true})
		}
		saved[k] = env.Params[o.Idx]
	}
	defer func() {
		for k, o := range e.plan.Outer {
			env.Params[o.Idx] = saved[k]
		}
	}()
	if e.steady {
		for k, o := range e.plan.Outer {
			env.Params[o.Idx] = e.vecs[k].Get(0)
		}
		return e.once(env, b)
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, i := range rowsOf(b) {
		for k, o := range e.plan.Outer {
			env.Params[o.Idx] = e.vecs[k].Get(int(i))
		}
		env.Subs.Enter()
		d, err := e.row(env, xs, int(i))
		env.Subs.Leave()
		if err != nil {
			return nil, err
		}
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

func (e *subEval) left(env *Env, b *vec.Batch) ([]*vec.Vec, error) {
	xs := make([]*vec.Vec, len(e.x))
	for k, x := range e.x {
		v, err := x.Eval(env, b)
		if err != nil {
			return nil, err
		}
		xs[k] = v
	}
	return xs, nil
}

// row runs the subplan for one outer row.
func (e *subEval) row(env *Env, xs []*vec.Vec, i int) (types.Datum, error) {
	if e.test == nil {
		return e.value(env)
	}
	q := e.quantify(xs, i)
	err := env.RunSub(env, e.plan, func(b *vec.Batch) (bool, error) {
		err := q.look(env, b)
		return !q.decided, err
	})
	return q.result(), err
}

// once evaluates a steady subplan, which runs at most once while the parameters that it
// depends on stay.
func (e *subEval) once(env *Env, b *vec.Batch) (*vec.Vec, error) {
	kept, ok := env.Subs.get(e.plan)
	if !ok {
		var err error
		if e.test == nil {
			kept, err = e.value(env)
		} else {
			kept, err = e.collect(env)
		}
		if err != nil {
			return nil, err
		}
		env.Subs.put(env, e.plan, kept)
	}
	if e.test == nil {
		d := kept.(types.Datum)
		d.T = e.t
		e.out.Reset(e.t, 1)
		e.out.Const = true
		e.out.Set(0, d)
		return &e.out, nil
	}
	xs, err := e.left(env, b)
	if err != nil {
		return nil, err
	}
	rows := kept.(*subRows)
	if rows.set != nil {
		in := inSet{x: &holder{xs[0]}, t: e.t, set: rows.set, not: e.plan.Not, out: e.out}
		v, err := in.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.out = *v
		return &e.out, nil
	}
	e.out.Reset(e.t, max(b.N, 1))
	test := e.quantified
	if rows.index != nil {
		test = e.among
	}
	for _, i := range rowsOf(b) {
		d, err := test(env, xs, int(i), rows)
		if err != nil {
			return nil, err
		}
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

// value runs a scalar, EXISTS, ARRAY or row subquery.
func (e *subEval) value(env *Env) (types.Datum, error) {
	if e.plan.Kind == plan.SubArray {
		return e.array(env)
	}
	result, found := types.Null(e.t), false
	err := env.RunSub(env, e.plan, func(b *vec.Batch) (bool, error) {
		for _, i := range rowsOf(b) {
			if e.plan.Kind == plan.SubExists {
				found = true
				return false, nil
			}
			if found {
				return false, sqlerr.New(sqlerr.CardinalityViolation,
					"more than one row returned by a subquery used as an expression")
			}
			found = true
			if e.plan.Kind == plan.SubScalar {
				result = own(b.Cols[0].Get(int(i)))
				continue
			}
			fields := make([]types.Datum, len(e.cols))
			for k := range fields {
				fields[k] = b.Cols[k].Get(int(i))
			}
			result = newRecord(fields...)
		}
		return true, nil
	})
	if err != nil {
		return result, err
	}
	if e.plan.Kind == plan.SubExists {
		result = types.Bool(found != e.plan.Not)
	}
	result.T = e.t
	return result, nil
}

// array runs an ARRAY subquery, as array_agg collects but for no rows.
func (e *subEval) array(env *Env) (types.Datum, error) {
	elem := e.cols[0]
	elem.Mod = -1
	var all Aggregator = &arrayAgg{elem: elem}
	if elem.OID == e.t.OID {
		all = &nestedArrayAgg{t: elem}
	}
	all.Grow(1)
	held, none := int64(0), true
	defer func() { _ = account(env, -held) }() // giving back does not fail
	var groups []uint32
	err := env.RunSub(env, e.plan, func(b *vec.Batch) (bool, error) {
		groups = append(groups[:0], make([]uint32, b.Rows())...)
		none = none && len(groups) == 0
		if err := all.Add(env, groups, b.Cols[:1], b.Sel); err != nil {
			return false, err
		}
		n := all.Bytes() - held
		held += n
		return true, account(env, n)
	})
	if err != nil || none {
		if elem.OID == e.t.OID {
			elem = elemType(elem)
		}
		d := types.NewArray(elem, nil, nil, nil)
		d.T = e.t
		return d, err
	}
	out := vec.Vec{T: e.t}
	if err := all.Result(env, &out, 0, 1); err != nil {
		return null, err
	}
	d := out.Get(0)
	d.T = e.t
	return d, nil
}

// collect runs an ANY or ALL subquery and keeps its rows.
func (e *subEval) collect(env *Env) (*subRows, error) {
	rows := &subRows{}
	if e.hash {
		rows.set = &valueSet{rep: e.cols[0].Rep()}
		return rows, env.RunSub(env, e.plan, func(b *vec.Batch) (bool, error) {
			for _, i := range rowsOf(b) {
				rows.set.add(b.Cols[0].Get(int(i)))
			}
			return true, rows.grow(env, int64(b.Rows())*32)
		})
	}
	if e.index {
		rows.index = newRowIndex(e.cols)
	}
	build := vec.NewBuilder(e.cols)
	row := make([]types.Datum, len(e.cols))
	err := env.RunSub(env, e.plan, func(b *vec.Batch) (bool, error) {
		for _, i := range rowsOf(b) {
			for k := range row {
				row[k] = b.Cols[k].Get(int(i))
			}
			build.Append(row)
			if rows.index != nil {
				rows.index.add(row)
			}
			if build.Len() == vec.BatchSize {
				rows.batches = append(rows.batches, build.Finish())
			}
		}
		return true, rows.grow(env, int64(b.Rows()*len(row))*32)
	})
	if build.Len() > 0 {
		rows.batches = append(rows.batches, build.Finish())
	}
	if rows.index != nil {
		rows.index.finish(rows.batches)
	}
	return rows, err
}

func account(env *Env, bytes int64) error {
	if env.Alloc == nil {
		return nil
	}
	return env.Alloc(bytes)
}

// quantified tests one row's left values against all rows of the subquery.
func (e *subEval) quantified(env *Env, xs []*vec.Vec, i int, rows *subRows) (types.Datum, error) {
	q := e.quantify(xs, i)
	for _, b := range rows.batches {
		if err := q.look(env, b); err != nil || q.decided {
			return q.result(), err
		}
	}
	return q.result(), nil
}

// quantifier is ANY or ALL for the left values of one row.
type quantifier struct {
	e       *subEval
	left    []*vec.Vec
	decided bool // by a row for which the test says so
	unknown bool // for a row
}

func (e *subEval) quantify(xs []*vec.Vec, i int) *quantifier {
	q := &quantifier{e: e, left: make([]*vec.Vec, len(xs))}
	for k, x := range xs {
		q.left[k] = vec.NewConst(x.Get(i))
	}
	return q
}

// look tests further rows, to the first that decides.
func (q *quantifier) look(env *Env, rows *vec.Batch) error {
	b := &vec.Batch{Cols: append(q.left[:len(q.left):len(q.left)], rows.Cols...), N: rows.N, Sel: rows.Sel}
	v, err := q.e.test.Eval(env, b)
	if err != nil {
		return err
	}
	all := q.e.plan.Kind == plan.SubAll
	for _, row := range rowsOf(b) {
		switch k := int(row); {
		case v.IsNull(k):
			q.unknown = true
		case v.Bool[v.Idx(k)] != all:
			q.decided = true
			return nil
		}
	}
	return nil
}

// result is that of the rows looked at.
func (q *quantifier) result() types.Datum {
	all := q.e.plan.Kind == plan.SubAll
	switch {
	case q.decided:
		return types.Bool(!all != q.e.plan.Not)
	case q.unknown:
		return types.Null(q.e.t)
	}
	return types.Bool(all != q.e.plan.Not)
}
