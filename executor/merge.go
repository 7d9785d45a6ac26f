package executor

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// merge gives each row of its input to the first WHEN clause that takes it. The
// input has the row key, NULL for a row that matched nothing, the table's live
// columns and the source's columns.
type merge struct {
	dml
	node    *plan.Merge
	whens   []mergeWhen
	touched distinctRows // rows updated or deleted
	members *members     // nil when the rows are in one table
}

type mergeWhen struct {
	cond   expr.Pred
	values []expr.Eval
	// existing are checked of rows that are there, checks of new ones
	existing, checks rowChecks
}

func (b *builder) merge(n *plan.Merge) (Operator, error) {
	d, err := b.newDML(n, n.Table, n.Input, false, nil)
	if err != nil {
		return nil, err
	}
	op := &merge{dml: d, node: n, whens: make([]mergeWhen, len(n.Whens))}
	op.dml.write, op.begin = op.write, func() { op.touched.open(op.env.run, n.Table.OID, n.Tree) }
	if n.Tree != nil {
		op.touched.oid = len(n.Input.Base().Cols) - 1
		op.dml.prepare = func() (err error) {
			op.members, err = op.env.run.newMembers(n.Table)
			return err
		}
	}
	for i := range n.Whens {
		if op.whens[i].cond, err = b.predicate(n.Whens[i].Cond); err != nil {
			return nil, err
		}
		if op.whens[i].existing, err = newRowChecks(n.Whens[i].Existing); err != nil {
			return nil, err
		}
		if op.whens[i].checks, err = newRowChecks(n.Whens[i].Checks); err != nil {
			return nil, err
		}
		if op.whens[i].values, err = expr.CompileAll(n.Whens[i].Values); err != nil {
			return nil, err
		}
	}
	return op, nil
}

// write does what the clauses say, in the order of the rows: neighbours with
// the same clause together. It returns the rows for which something was done.
func (op *merge) write(in *vec.Batch) (*vec.Batch, error) {
	clause, err := op.decide(in)
	if err != nil {
		return nil, err
	}
	done := &vec.Batch{Cols: in.Cols, N: in.N, Sel: []uint32{}}
	for from, n := 0, in.Rows(); from < n; {
		k := clause[in.Row(from)]
		var sel []uint32
		for ; from < n && clause[in.Row(from)] == k; from++ {
			sel = append(sel, uint32(in.Row(from)))
		}
		if k < 0 || op.node.Whens[k].Action == plan.MergeNothing {
			continue
		}
		if err := op.apply(k, &vec.Batch{Cols: in.Cols, N: in.N, Sel: sel}); err != nil {
			return nil, err
		}
		done.Sel = append(done.Sel, sel...)
	}
	return done, nil
}

// decide finds the clause of each row, by row number; -1 is none.
func (op *merge) decide(in *vec.Batch) ([]int, error) {
	clause := make([]int, in.N)
	for i := range clause {
		clause[i] = -1
	}
	for k := range op.whens {
		b := vec.Batch{Cols: in.Cols[1:], N: in.N, Sel: []uint32{}}
		for i := range in.Rows() {
			r := in.Row(i)
			if clause[r] < 0 && in.Cols[0].IsNull(r) != op.node.Whens[k].Matched {
				b.Sel = append(b.Sel, uint32(r))
			}
		}
		if c := op.whens[k].cond; c != nil && len(b.Sel) > 0 {
			if err := c.Select(op.env.Expr, &b); err != nil {
				return nil, err
			}
		}
		for i := range b.Rows() {
			clause[b.Row(i)] = k
		}
	}
	return clause, nil
}

// proposed completes the rows that a clause is about to store, for the checks of
// policies: those of a partitioned table have not been given to a partition yet.
func (op *merge) proposed(b *vec.Batch) (*vec.Batch, error) {
	if op.w.table.Key != nil {
		return op.w.completePart(b)
	}
	return op.w.complete(b)
}

// apply does what clause k says for rows.
func (op *merge) apply(k int, rows *vec.Batch) error {
	w, when := op.w, &op.node.Whens[k]
	if when.Action == plan.MergeInsert {
		return op.insertInOrder(k, rows)
	}
	values, err := op.values(k, rows)
	if err != nil {
		return err
	}
	if len(op.touched.sel(rows)) < rows.Rows() {
		return sqlerr.New(sqlerr.CardinalityViolation, "MERGE command cannot affect row a second time").
			WithHint("Ensure that not more than one source row matches any one target row.")
	}
	old := &vec.Batch{Cols: rows.Cols[1 : 1+len(w.live)], N: rows.N, Sel: rows.Sel}
	if _, err := op.whens[k].existing.failing(op.env, old); err != nil {
		return err
	}
	if len(op.whens[k].checks) > 0 {
		next := &vec.Batch{Cols: slices.Clone(old.Cols), N: rows.N, Sel: rows.Sel}
		for i, c := range when.Cols {
			next.Cols[w.pos[c]] = values[i]
		}
		next, err := op.proposed(next)
		if err == nil {
			_, err = op.whens[k].checks.failing(op.env, next)
		}
		if err != nil {
			return err
		}
	}
	if op.members != nil {
		return op.members.each(rows, func(x *member, part *vec.Batch) error { return op.members.mergeChange(x, when, part, values) })
	}
	if when.Action == plan.MergeDelete {
		if err := w.lockRows(rows.Cols[0], rows, kv.ForUpdate); err != nil {
			return err
		}
		return w.remove(rows.Cols[0], old, nil)
	}
	next := &vec.Batch{Cols: slices.Clone(old.Cols), N: rows.N, Sel: rows.Sel}
	for i, c := range when.Cols {
		next.Cols[w.pos[c]] = values[i]
	}
	if err := w.lockChanged(rows.Cols[0], old, next, when.Cols); err != nil {
		return err
	}
	if next, err = w.complete(next); err != nil {
		return err
	}
	return w.update(rows.Cols[0], old, next, w.changed(when.Cols), nil, nil)
}

// values computes what clause k stores.
func (op *merge) values(k int, rows *vec.Batch) ([]*vec.Vec, error) {
	values := make([]*vec.Vec, len(op.node.Whens[k].Values))
	return values, evalAll(op.env, op.whens[k].values, &vec.Batch{Cols: rows.Cols[1:], N: rows.N, Sel: rows.Sel}, values)
}

// insertInOrder inserts what clause k says for rows. If that fails, the error is that of the
// first row at fault.
func (op *merge) insertInOrder(k int, rows *vec.Batch) error {
	values, err := op.values(k, rows)
	if err != nil {
		return firstFailure(rows, err, func(one *vec.Batch) error {
			_, err := op.values(k, one)
			return err
		}, func(before *vec.Batch) error { return op.insertInOrder(k, before) })
	}
	txn := op.env.Txn
	mark := txn.Savepoint()
	b := &vec.Batch{Cols: values, N: rows.N, Sel: rows.Sel}
	err = op.insert(k, b)
	if err == nil || sqlerr.CodeOf(err) == "" {
		txn.Release(mark)
		return err
	}
	txn.RollbackTo(mark)
	return firstFailure(b, err, func(one *vec.Batch) error { return op.insert(k, one) }, nil)
}

// insert inserts rows of clause k.
func (op *merge) insert(k int, b *vec.Batch) error {
	if len(op.whens[k].checks) > 0 {
		next, err := op.proposed(b)
		if err == nil {
			_, err = op.whens[k].checks.failing(op.env, next)
		}
		if err != nil {
			return err
		}
	}
	if op.members != nil {
		return op.members.mergeInsert(b)
	}
	b, err := op.w.complete(b)
	if err != nil {
		return err
	}
	_, err = op.w.insert(b, table.InsertOpt{})
	return err
}
