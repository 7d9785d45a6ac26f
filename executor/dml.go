package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// dml is the part that INSERT, UPDATE and DELETE have in common: rows of the
// input are written batch by batch, those written are counted and passed to
// RETURNING.
type dml struct {
	table     *catalog.Table
	input     dmlInput
	returning returning
	begin     func()                               // called with a new writer, may be nil
	instead   func() (rows int64, err error)       // does it all without the input, unless rows is negative; may be nil
	prepare   func() error                         // called before begin, may be nil
	write     func(*vec.Batch) (*vec.Batch, error) // writes a batch and returns the rows written

	single bool // what is done with a row may see those before it: see writesSingly

	env   *Env
	w     *tableWriter
	rows  singleRows // of the input, if they are written one at a time
	alone bool       // they are
	count int64
	done  bool
}

// writes returns the driver of an operator that writes.
func writes(op Operator) (*dml, bool) {
	if s, ok := op.(*statsOp); ok {
		op = s.Operator
	}
	w, ok := op.(interface{ driver() *dml })
	if !ok {
		return nil, false
	}
	return w.driver(), true
}

func (op *dml) driver() *dml { return op }

// newDML makes the driver of a statement, node n, that writes t and reads all of its input
// first; but see newDMLOver.
func (b *builder) newDML(n plan.Node, t *catalog.Table, in plan.Node, returns bool, list []plan.Expr) (dml, error) {
	op, err := b.node(in)
	if err != nil {
		return dml{}, err
	}
	return b.newDMLOver(n, t, op, in, false, returns, list)
}

// inserted makes the driver of an INSERT.
func (b *builder) inserted(n *plan.Insert, stream bool) (dml, error) {
	op, err := b.node(n.Input)
	if err != nil {
		return dml{}, err
	}
	return b.newDMLOver(n, n.Table, op, n.Input, n.OnConflict == nil && stream, n.HasReturning, n.Returning)
}

// newDMLOver is newDML with the input's operator; stream as in dmlInput. Volatile functions
// with bodies that the input calls see what has been written of the rows before.
func (b *builder) newDMLOver(n plan.Node, t *catalog.Table, op Operator, in plan.Node, stream, returns bool, list []plan.Expr) (dml, error) {
	d := dml{table: t, single: b.writesSingly(n)}
	stream = !locksRows(in) && b.stepsInput(op, d.single) || stream
	d.input = newDMLInput(op, in, stream)
	var err error
	d.returning, err = newReturning(returns, list)
	return d, err
}

func (op *dml) Open(env *Env) error {
	op.env, op.count, op.done, op.rows.in = env, 0, false, nil
	var err error
	if op.w, err = env.run.writer(op.table); err != nil {
		return err
	}
	op.alone = op.single || op.w.bodies
	if op.prepare != nil {
		if err := op.prepare(); err != nil {
			return err
		}
	}
	if op.begin != nil {
		op.begin()
	}
	if op.instead != nil {
		if n, err := op.instead(); n >= 0 || err != nil {
			op.count, op.done = n, true
			return err
		}
	}
	return op.input.open(env)
}

func (op *dml) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			break
		}
		op.w.expected = op.input.rows()
		out, err := op.write(in)
		if err != nil {
			return nil, err
		}
		op.count += int64(out.Rows())
		if op.returning.wanted && out.Rows() > 0 {
			return op.returning.project(op.env, out)
		}
	}
	return nil, nil
}

// next returns rows that are written together.
func (op *dml) next() (*vec.Batch, error) {
	if op.alone {
		return op.rows.next(&op.input)
	}
	return op.input.Next()
}

func (op *dml) Close() {
	op.input.close()
	op.returning.serial.release()
}

// distinctRows keeps UPDATE and DELETE from touching a row twice, which a join
// may pass several times.
type distinctRows struct {
	once bool // the input passes no row twice
	oid  int  // the column with the OID of the row's table, 0 when there is one table
	seen *keySet

	shared bool                  // seen is that of the whole statement
	run    *Run                  // whose parts change the rows of several tables, too, or nil
	tables map[types.OID]*keySet // instead of seen, if so
}

// open is reset for rows of a table, or of those of its tree, which other parts of the
// statement may change as well.
func (d *distinctRows) open(r *Run, table types.OID, tree []*catalog.Table) {
	d.shared, d.run, d.tables = false, nil, nil
	if d.oid > 0 {
		if slices.ContainsFunc(tree, func(t *catalog.Table) bool { return r.touchedBy(t.OID) != nil }) {
			d.run, d.tables = r, make(map[types.OID]*keySet)
			return
		}
	} else if k := r.touchedBy(table); k != nil {
		d.seen, d.shared = k, true
		return
	}
	d.reset()
}

func (d *distinctRows) reset() {
	if !d.once {
		ts := []types.T{types.TBytea}
		if d.oid > 0 {
			ts = append(ts, types.TOid)
		}
		d.seen = newKeySet(ts)
	}
}

// sel selects the rows whose key, the batch's first column, is not NULL (an outer
// join's empty side) and has not been seen.
func (d *distinctRows) sel(in *vec.Batch) []uint32 {
	if d.once && !d.shared && d.run == nil {
		return in.Sel
	}
	keys := in.Cols[:1:1]
	if d.oid > 0 && d.run == nil {
		keys = append(keys, in.Cols[d.oid])
	}
	n := in.Rows()
	hashes := hashRows(keys, in.Sel, n, nil)
	sel := make([]uint32, 0, n)
	for i := range n {
		r := in.Row(i)
		if keys[0].IsNull(r) {
			continue
		}
		seen := d.seen
		if d.run != nil {
			oids := in.Cols[d.oid]
			seen = d.seenIn(types.OID(oids.I64[oids.Idx(r)]))
		}
		if _, isNew := seen.findOrAdd(keys, r, hashes[i]); isNew {
			sel = append(sel, uint32(r))
		}
	}
	return sel
}

// seenIn returns the rows that were seen of one of several tables.
func (d *distinctRows) seenIn(table types.OID) *keySet {
	k := d.tables[table]
	if k == nil {
		if k = d.run.touchedBy(table); k == nil {
			k = newKeySet([]types.T{types.TBytea})
		}
		d.tables[table] = k
	}
	return k
}

// passesOnce reports whether a plan passes each row of its table once at most.
func passesOnce(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan, *plan.IndexUnion:
		return true
	case *plan.Project:
		return passesOnce(n.Input)
	case *plan.Filter:
		return passesOnce(n.Input)
	case *plan.Append:
		return n.Table != nil // the tables' rows are scanned once
	}
	return false
}
