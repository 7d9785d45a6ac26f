package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// vecBatch is what queries of our own yield.
type vecBatch = *vec.Batch

// evalConst evaluates an expression without columns.
func (x *exec) evalConst(e plan.Expr) (types.Datum, error) { return expr.EvalConst(x.Eval(), e) }

// toRun binds an expression that is about to be computed, and checks that the current role
// may execute what it calls.
func (x *exec) toRun(e ast.Expr, t *catalog.Table, want types.T, what string) (plan.Expr, error) {
	b, err := planner.ColumnExpr(x.Planner(), e, t, want, what)
	if err != nil {
		return nil, err
	}
	return b.X, x.mayCall(b.Calls)
}

func (x *exec) mayCall(calls []*catalog.Function) error {
	if len(calls) == 0 {
		return nil
	}
	return x.MayRun(&plan.Query{Calls: calls})
}

// live lists the numbers of the columns that are not dropped.
func live(t *catalog.Table) []int {
	var out []int
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			out = append(out, i)
		}
	}
	return out
}

// copyRows reads the rows of the old table as they were, computes those of the new
// one, and stores them, a batch at a time: what they take in memory is what the
// transaction's writes take.
func (x *exec) copyRows(old kv.Reader, from, to *table.Desc, rw rewrite) error {
	was, t := from.Table, to.Table
	cols := live(was)
	s, err := from.Scan(x.Ctx, old, &table.ScanSpec{Cols: cols})
	if err != nil {
		return err
	}
	defer s.Close()
	pos := map[int]int{}
	for i, c := range cols {
		pos[c] = i
	}
	want := live(t)
	evals, generated := make([]expr.Eval, len(want)), make([]expr.Eval, len(want))
	for i, c := range want {
		if rw.generated[c] {
			if generated[i], err = x.generation(t, c); err != nil {
				return err
			}
		} else if e := rw.cols[c]; e != nil {
			if evals[i], err = expr.Compile(e); err != nil {
				return err
			}
		}
	}
	w, err := x.rowWriter(to)
	if err != nil {
		return err
	}
	env := x.Eval()
	var b, nb vec.Batch
	for {
		if err := s.Next(&b); err != nil || b.N == 0 {
			return err
		}
		nb.N, nb.Cols = b.N, nb.Cols[:0]
		for i, c := range want {
			src := vec.NewConst(types.Null(t.Columns[c].Type))
			if rw.renumber != nil {
				src = b.Cols[i] // both have the same columns, but for dropped ones
			} else if evals[i] != nil {
				if src, err = evals[i].Eval(env, &b); err != nil {
					return err
				}
			} else if p, ok := pos[c]; ok {
				src = b.Cols[p]
			} else if d := t.Columns[c].Missing; d != nil { // new, and what old rows have in it is known
				src = vec.NewConst(*d)
			}
			if generated[i] != nil { // of the other columns, when all of them are there
				nb.Cols = append(nb.Cols, src)
				continue
			}
			v, err := rewritten(t, c, src, b.N)
			if err != nil {
				return err
			}
			if rw.renumber != nil && types.HoldsOIDs(v.T) {
				for r := range nb.N {
					v.Set(r, types.Renumber(v.Get(r), rw.renumber))
				}
			}
			if rw.renewTids && v.T.Kind() == types.KWord {
				for r := range nb.N {
					v.B[r], _ = types.RenewTid(v.T, v.B[r])
				}
			}
			nb.Cols = append(nb.Cols, v)
		}
		for i, g := range generated {
			if g == nil {
				continue
			}
			v, err := g.Eval(env, &nb)
			if err != nil {
				return err
			}
			if nb.Cols[i], err = rewritten(t, want[i], v, nb.N); err != nil {
				return err
			}
		}
		if err := w.insert(&nb); err != nil {
			return err
		}
	}
}

// generation computes a generated column of the row's other columns.
func (x *exec) generation(t *catalog.Table, c int) (expr.Eval, error) {
	text, err := x.Planner().Texts.ParseExpr(t.Columns[c].Default)
	if err != nil {
		return nil, err
	}
	e, err := x.toRun(text, t, t.Columns[c].Type, "column generation expressions")
	if err != nil {
		return nil, err
	}
	return expr.Compile(e)
}

// rowWriter stores rows in a new or rewritten table.
type rowWriter struct {
	x    *exec
	w    *table.Writer
	t    *catalog.Table
	vals func(*vec.Batch) ([]table.IndexVals, error)
}

func (x *exec) rowWriter(d *table.Desc) (*rowWriter, error) {
	vals, err := x.indexVals(d.Table, d.Table.Indexes)
	return &rowWriter{x: x, w: d.NewWriter(x.Txn), t: d.Table, vals: vals}, err
}

// insert stores a batch of live columns.
func (w *rowWriter) insert(b *vec.Batch) error {
	ix, err := w.vals(b)
	if err != nil {
		return err
	}
	if _, err = w.w.Insert(w.x.Ctx, b, ix, table.InsertOpt{Lock: w.x.lockOpt()}); err != nil {
		return w.x.asBuildError(err)
	}
	return nil
}

// rewritten copies n values into a vector of the type of the new table's column c.
func rewritten(t *catalog.Table, c int, src *vec.Vec, n int) (*vec.Vec, error) {
	v := vec.New(t.Columns[c].Type, n)
	arena := new(vec.Arena)
	for r := range n {
		vec.AppendFrom(v, r, src, r, arena)
	}
	v.T = t.Columns[c].Type
	if t.Columns[c].NotNull && v.Nulls.Any() {
		for r := range n {
			if v.Nulls.Get(r) {
				return nil, containsNulls(t, c)
			}
		}
	}
	return v, nil
}

func containsNulls(t *catalog.Table, c int) error {
	e := sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null values", t.Columns[c].Name, t.Name)
	e.Schema, e.Table, e.Column = t.Schema, t.Name, t.Columns[c].Name
	return e
}

// asBuildError rewords a duplicate found while a constraint is being added.
func (x *exec) asBuildError(err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || e.Code != sqlerr.UniqueViolation || x.merging {
		return err
	}
	c := *e
	c.Message = "could not create unique index \"" + e.Constraint + "\""
	table.AsDuplicated(&c)
	return &c
}

// indexVals returns a function that computes the expressions and predicates of some
// of a table's indexes for a batch of live columns; it gives nil when all are plain.
func (x *exec) indexVals(t *catalog.Table, indexes []*catalog.Index) (func(*vec.Batch) ([]table.IndexVals, error), error) {
	plain := true
	for _, ix := range indexes {
		plain = plain && ix.Where == ""
		for _, k := range ix.Keys {
			plain = plain && k.Col >= 0
		}
	}
	if plain {
		return func(*vec.Batch) ([]table.IndexVals, error) { return nil, nil }, nil
	}
	exprs, where, calls, err := planner.IndexExprs(x.Planner(), t, indexes)
	if err != nil {
		return nil, err
	}
	keys := make([][]expr.Eval, len(indexes))
	preds := make([]expr.Eval, len(indexes))
	for i := range indexes {
		keys[i] = make([]expr.Eval, len(exprs[i]))
		for k, e := range exprs[i] {
			if e != nil {
				if keys[i][k], err = expr.Compile(e); err != nil {
					return nil, err
				}
			}
		}
		if where[i] != nil {
			if preds[i], err = expr.Compile(where[i]); err != nil {
				return nil, err
			}
		}
	}
	env := x.Eval()
	asked := false
	return func(b *vec.Batch) ([]table.IndexVals, error) {
		if !asked { // nobody has to be allowed to call what an empty table's index calls
			if err := x.mayCall(slices.Concat(calls...)); err != nil {
				return nil, err
			}
			asked = true
		}
		out := make([]table.IndexVals, len(indexes))
		for i := range out {
			out[i].Keys = make([]*vec.Vec, len(keys[i]))
			for k, ev := range keys[i] {
				if ev != nil {
					if out[i].Keys[k], err = ev.Eval(env, b); err != nil {
						return nil, err
					}
				}
			}
			if preds[i] != nil {
				if out[i].Pred, err = preds[i].Eval(env, b); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}, nil
}

// query runs a SELECT of our own making over the working snapshot and calls
// yield for each batch until it returns false. It meets all rows there are, also
// those that are newer than what the transaction's own statements see.
func (x *exec) query(sql string, yield func(*vec.Batch) bool) error {
	st, err := parser.ParseOne(sql)
	if err != nil {
		return err
	}
	q, err := planner.Plan(x.Planner(), st.Stmt)
	if err != nil {
		return err
	}
	if err := x.mayCall(q.Calls); err != nil {
		return err
	}
	end, err := x.Txn.ReadNewest()
	if err != nil {
		return err
	}
	defer end()
	return x.runPlan(q, yield)
}

func (x *exec) runPlan(q *plan.Query, yield func(*vec.Batch) bool) error {
	r, err := x.Exec(q)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil || b == nil {
			return err
		}
		if !yield(b) {
			return nil
		}
	}
}

// any reports whether a query of our own making returns a row.
func (x *exec) any(sql string) (found bool, err error) {
	err = x.query(sql, func(b *vec.Batch) bool {
		found = b.Rows() > 0
		return !found
	})
	return found, err
}

// firstTexts returns the first n columns of the first row of a
// query of our own making; nil when it returns none.
func (x *exec) firstTexts(sql string, n int) (vals []string, err error) {
	err = x.query(sql, func(b *vec.Batch) bool {
		if b.Rows() == 0 {
			return true
		}
		for _, c := range b.Cols[:n] {
			vals = append(vals, string(types.AppendText(nil, c.Get(b.Row(0)), x.Planner().Fmt)))
		}
		return false
	})
	return vals, err
}
