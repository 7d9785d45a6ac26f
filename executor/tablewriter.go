package executor

import (
	"bytes"
	"errors"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// tableWriter is what writing to one table needs: its storage, its constraints
// and computed columns, compiled. A run has one per table it writes, foreign
// key actions included.
type tableWriter struct {
	table   *catalog.Table
	live    []int       // live columns: indexes into table.Columns
	pos     []int       // position among the live columns, by column index; -1: dropped
	domains []expr.Eval // evaluated for their errors
	checks  []check
	gen     []expr.Eval // per live column, nil unless generated
	anyGen  bool
	ixKeys  [][]expr.Eval       // per index and key, nil for plain columns
	preds   []expr.Eval         // per index, nil without predicate
	plain   bool                // no index has expressions or a predicate
	calls   []*catalog.Function // see plan.TableExprs
	allowed bool                // the role may execute calls
	bodies  bool                // calls may see the rows that are written

	env  *Env
	desc *table.Desc
	w    *table.Writer
	fks  []fkChild // its own foreign keys
	refs []catalog.FKRef
	// bound is the check of a partition's bound, nil until it is wanted.
	bound *boundCheck
	// absent are columns of which the rows that are checked have no values, only
	// NULLs in their place; absentKeys are the keys of these rows.
	absent     []int
	absentKeys *vec.Vec
	// shown is set while rows are checked that a statement on another table gave.
	shown *member

	replaced func(keys [][]byte) error // unsee
	locked   [][]byte                  // memory of lockRows
	expected int                       // rows that the statement is going to lock, if it is known
	touched  *keySet                   // see Run.touchedBy
}

// check is a compiled CHECK constraint.
type check struct {
	name string
	eval expr.Eval
	cols []int // columns of the table that it looks at
}

// writer returns the run's writer for a table.
func (r *Run) writer(t *catalog.Table) (*tableWriter, error) {
	w := r.writers[t]
	if w != nil && w.env != nil {
		return w, nil
	}
	if w == nil {
		var err error
		if w, err = newTableWriter(t, r.env); err != nil {
			return nil, err
		}
		if r.writers == nil {
			r.writers = make(map[*catalog.Table]*tableWriter)
		}
		r.writers[t] = w
	}
	desc, err := r.env.Tables.For(t)
	if err != nil {
		return nil, err
	}
	if w.w != nil && w.desc == desc {
		w.w.Renew(r.env.Txn)
	} else {
		w.desc, w.w = desc, desc.NewWriter(r.env.Txn)
	}
	r.writing = append(r.writing, w)
	w.env, w.bound, w.expected, w.allowed = r.env, nil, 0, false
	w.touched = r.touchedBy(t.OID)
	w.w.Replaced = w.replaced
	w.refs = r.env.Snap.Referencing(r.env.DB, t.OID)
	return w, nil
}

func newTableWriter(t *catalog.Table, env *Env) (*tableWriter, error) {
	ex, err := env.TableExprs(t)
	if err != nil {
		return nil, err
	}
	w := &tableWriter{table: t, live: ex.Live, calls: ex.Calls, bodies: slices.ContainsFunc(ex.Calls, hasVolatileBody), plain: true, pos: make([]int, len(t.Columns))}
	w.replaced = w.unsee
	for i := range w.pos {
		w.pos[i] = -1
	}
	for i, c := range w.live {
		w.pos[c] = i
	}
	for _, d := range ex.Domains {
		e, err := expr.Compile(d)
		if err != nil {
			return nil, err
		}
		w.domains = append(w.domains, e)
	}
	for i, c := range t.Checks {
		if i >= len(ex.Checks) || ex.Checks[i] == nil {
			continue
		}
		e, err := expr.Compile(ex.Checks[i])
		if err != nil {
			return nil, err
		}
		w.checks = append(w.checks, check{c.Name, e, plan.ColsIn(ex.Checks[i], ex.Live)})
	}
	// PostgreSQL checks them in the order of their names.
	slices.SortStableFunc(w.checks, func(a, b check) int {
		if a.name < b.name {
			return -1
		}
		return boolInt(a.name > b.name)
	})
	w.gen = make([]expr.Eval, len(w.live))
	for i, g := range ex.Generated {
		if g == nil {
			continue
		}
		if w.gen[i], err = expr.Compile(g); err != nil {
			return nil, err
		}
		w.anyGen = true
	}
	if err := w.compileIndexes(ex); err != nil {
		return nil, err
	}
	for _, fk := range t.ForeignKeys {
		w.fks = append(w.fks, fkChild{fk: fk})
	}
	return w, nil
}

func (w *tableWriter) compileIndexes(ex *plan.TableExprs) error {
	n := len(w.table.Indexes)
	w.ixKeys, w.preds = make([][]expr.Eval, n), make([]expr.Eval, n)
	for i := range w.table.Indexes {
		if i < len(ex.IndexKeys) {
			w.ixKeys[i] = make([]expr.Eval, len(ex.IndexKeys[i]))
			for j, k := range ex.IndexKeys[i] {
				if k == nil {
					continue
				}
				e, err := expr.Compile(k)
				if err != nil {
					return err
				}
				w.ixKeys[i][j], w.plain = e, false
			}
		}
		if i < len(ex.Preds) && ex.Preds[i] != nil {
			e, err := expr.Compile(ex.Preds[i])
			if err != nil {
				return err
			}
			w.preds[i], w.plain = e, false
		}
	}
	return nil
}

// lockOpt is how the statement waits for row locks.
func lockOpt(env *Env) table.LockOpt {
	o := table.LockOpt{Wait: kv.WaitForever}
	if env.LockTimeout > 0 {
		o.Wait = env.LockTimeout
	}
	return o
}

// retry turns storage's word for a changed row into the session's.
func retry(err error) error {
	if errors.Is(err, table.ErrChanged) {
		return ErrRetry
	}
	return err
}

// indexVals computes expressions and predicates of the indexes over live
// columns; nil when all indexes are plain. The vectors are the writer's only
// until the next call, so copies are made when keep is set.
func (w *tableWriter) indexVals(b *vec.Batch, keep bool) ([]table.IndexVals, error) {
	return w.indexValsOf(b, keep, false)
}

// storedIndexVals is indexVals for rows that are there. An index that is not valid may
// lack rows for which its expressions fail: these are in no index.
func (w *tableWriter) storedIndexVals(b *vec.Batch, keep bool) ([]table.IndexVals, error) {
	return w.indexValsOf(b, keep, true)
}

func (w *tableWriter) indexValsOf(b *vec.Batch, keep, stored bool) ([]table.IndexVals, error) {
	if w.plain {
		return nil, nil
	}
	out := make([]table.IndexVals, len(w.table.Indexes))
	eval := func(e expr.Eval, at *vec.Batch) (*vec.Vec, error) {
		v, err := e.Eval(w.env.Expr, at)
		if err != nil || !keep {
			return v, err
		}
		return copyVec(v, at), nil
	}
	for i := range out {
		rows := *b
		if p := w.preds[i]; p != nil {
			v, err := eval(p, b)
			if err != nil {
				return nil, err
			}
			out[i].Pred = v
			rows.Sel = passing(v, b, nil) // keys of other rows are not computed
		}
		if w.ixKeys[i] == nil {
			continue
		}
		if stored && w.table.Indexes[i].Invalid {
			v := w.computable(i, &rows)
			out[i].Pred, rows.Sel = v, passing(v, &rows, nil)
		}
		out[i].Keys = make([]*vec.Vec, len(w.ixKeys[i]))
		for j, e := range w.ixKeys[i] {
			if e == nil {
				continue
			}
			v, err := eval(e, &rows)
			if err != nil {
				return nil, err
			}
			out[i].Keys[j] = v
		}
	}
	return out, nil
}

// computable tells the rows for which the expressions of an index do not fail.
func (w *tableWriter) computable(i int, b *vec.Batch) *vec.Vec {
	out := &vec.Vec{T: types.TBool}
	out.Reset(types.TBool, b.N)
	one := *b
	for k := range b.Rows() {
		r := b.Row(k)
		one.Sel = []uint32{uint32(r)}
		out.Bool[r] = !slices.ContainsFunc(w.ixKeys[i], func(e expr.Eval) bool {
			if e == nil {
				return false
			}
			_, err := e.Eval(w.env.Expr, &one)
			return err != nil
		})
	}
	return out
}

// copyVec copies the selected rows of a vector to the same row numbers.
func copyVec(v *vec.Vec, b *vec.Batch) *vec.Vec {
	rows := make([]uint32, b.N)
	for i := range rows {
		rows[i] = noRow
	}
	for i := range b.Rows() {
		r := b.Row(i)
		rows[r] = uint32(r)
	}
	shared := new(vec.Vec)
	gather(shared, v, rows, true)
	s := newRowStore(typesOf([]*vec.Vec{shared}))
	s.appendCols([]*vec.Vec{shared}, nil, b.N)
	return s.cols[0]
}

// complete computes generated columns, in place of what the batch has there, and
// checks domains, NOT NULL, CHECK and the bound of a partition. It returns the
// batch to be stored.
func (w *tableWriter) complete(b *vec.Batch) (*vec.Batch, error) {
	if w.table.Key != nil {
		return nil, sqlerr.New(sqlerr.InternalError, "rows of partitioned table \"%s\" were not given to its partitions", w.table.Name)
	}
	out, err := w.completePart(b)
	if err != nil {
		return nil, err
	}
	return out, w.verifyBound(out)
}

// completePart is complete for rows that were given to the partition.
func (w *tableWriter) completePart(b *vec.Batch) (*vec.Batch, error) {
	out, err := w.compute(b)
	if err != nil {
		return nil, err
	}
	return out, w.verify(out)
}

// compute is completePart without a look at the constraints.
func (w *tableWriter) compute(b *vec.Batch) (*vec.Batch, error) {
	if err := w.mayCall(); err != nil {
		return nil, err
	}
	out := b
	if w.anyGen {
		out = &vec.Batch{Cols: slices.Clone(b.Cols), N: b.N, Sel: b.Sel}
		for i, g := range w.gen {
			if g == nil {
				continue
			}
			v, err := g.Eval(w.env.Expr, b)
			if err != nil {
				return nil, err
			}
			out.Cols[i] = v
		}
	}
	for _, d := range w.domains {
		if _, err := d.Eval(w.env.Expr, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// faultOf returns what is wrong with rows by themselves, of one row in the order in which it
// is looked at: policies come before constraints.
func (w *tableWriter) faultOf(b *vec.Batch, l rowChecks) error {
	rows, err := w.compute(b)
	if err != nil {
		return err
	}
	if _, err := l.failing(w.env, rows); err != nil {
		return err
	}
	if err := w.verify(rows); err != nil {
		return err
	}
	return w.verifyBound(rows)
}

// insert stores rows of live columns and queues their foreign key checks.
func (w *tableWriter) insert(b *vec.Batch, o table.InsertOpt) (*table.InsertResult, error) {
	res, err := w.insertRows(b, o)
	if err != nil {
		return nil, err
	}
	in := *b
	if len(w.fks) > 0 && res.Inserted < b.Rows() {
		in.Sel = insertedRows(b, res)
	}
	return res, w.inserted(&in, res.Inserted)
}

// insertRows is insert without what inserted does.
func (w *tableWriter) insertRows(b *vec.Batch, o table.InsertOpt) (*table.InsertResult, error) {
	if err := w.room(b); err != nil {
		return nil, err
	}
	ix, err := w.indexVals(b, false)
	if err != nil {
		return nil, firstFailure(b, err, func(one *vec.Batch) error {
			_, err := w.indexVals(one, false)
			return err
		}, func(before *vec.Batch) error {
			_, err := w.insertRows(before, o)
			return err
		})
	}
	o.Lock = lockOpt(w.env)
	res, err := w.w.Insert(w.env.Ctx, b, ix, o)
	if err != nil {
		return nil, w.hideKey(retry(err))
	}
	w.touched.touch(b, res.Keys)
	return res, nil
}

// insertVerified inserts rows of a statement that fails, and looks at their exclusion
// constraints at once: the fault of a row comes before those of the next ones.
func (w *tableWriter) insertVerified(b *vec.Batch) error {
	if _, err := w.insertRows(b, table.InsertOpt{}); err != nil {
		return err
	}
	for _, k := range w.w.TakeDeferred() {
		if u := uniqueOf(k); w.env.Deferred.waits(u.OID, u.Deferrable, u.InitiallyDeferred) || u.Exclude == nil {
			continue
		}
		if err := verifyUnique(w.env, k); err != nil {
			return err
		}
	}
	return nil
}

// insertedRows are the numbers of the batch's rows that were inserted.
func insertedRows(b *vec.Batch, res *table.InsertResult) []uint32 {
	sel := make([]uint32, 0, res.Inserted)
	for i := range b.Rows() {
		if r := b.Row(i); res.Keys[r] != nil {
			sel = append(sel, uint32(r))
		}
	}
	return sel
}

// inserted counts n rows that were inserted, which are those of the batch if the table
// refers to others, and queues the checks of their keys.
func (w *tableWriter) inserted(b *vec.Batch, n int) error {
	w.env.Tally.Rel(w.table.OID).Inserted += int64(n)
	w.deferUniques()
	if len(w.fks) == 0 {
		return nil
	}
	return w.env.run.fkInserted(w, b, nil)
}

// mayCall checks that the current role may execute what storing a row calls. What foreign
// keys do is done in the name of the tables' owners.
func (w *tableWriter) mayCall() error {
	if w.allowed || len(w.calls) == 0 || w.env.MayCall == nil || w.env.run.acting {
		return nil
	}
	for _, f := range w.calls {
		if err := w.env.MayCall(f); err != nil {
			return err
		}
	}
	w.allowed = true
	return nil
}

// room makes sure that there is memory to store rows with long values: each is encoded,
// copied into the transaction's writes, and copied once more for the log.
func (w *tableWriter) room(b *vec.Batch) error {
	if need := copyBytes(b.Cols, b.Sel, b.Rows(), 2); need > 0 && w.env.Expr.Room != nil {
		return w.env.Expr.Room(need)
	}
	return nil
}

// update replaces locked rows; changed lists the columns that may differ, parts
// those of which both have only elements, unread those of which old does not have
// the values.
func (w *tableWriter) update(keys *vec.Vec, old, new *vec.Batch, changed []int, parts []table.Part, unread []int) error {
	return w.updateThen(keys, old, new, changed, parts, unread, nil)
}

// updateThen is update that calls then, unless it is nil, with the row keys that the rows
// have got, by row number, before foreign keys change more rows.
func (w *tableWriter) updateThen(keys *vec.Vec, old, new *vec.Batch, changed []int, parts []table.Part, unread []int, then func(now [][]byte) error) error {
	if err := w.room(new); err != nil {
		return err
	}
	if err := w.unmodified(keys, old, unread, "updated"); err != nil {
		return err
	}
	oldIx, err := w.storedIndexVals(old, true)
	if err != nil {
		return err
	}
	newIx, err := w.indexVals(new, false)
	if err != nil {
		return err
	}
	now, err := w.w.Update(w.env.Ctx, keys, old, new, changed, parts, unread, oldIx, newIx, lockOpt(w.env))
	if err != nil {
		return w.hideKey(retry(err))
	}
	w.touched.touch(new, now)
	w.noteMoved(keys, new, func(r int) []byte { return now[r] })
	if then != nil {
		if err := then(now); err != nil {
			return err
		}
	}
	w.env.Tally.Rel(w.table.OID).Updated += int64(new.Rows())
	w.deferUniques()
	if w.table.Cluster != nil {
		if err := w.moveBelow(keys, now, old, new); err != nil {
			return err
		}
	}
	if err := w.env.run.fkRemoved(w, keys, old, new); err != nil {
		return err
	}
	return w.env.run.fkInserted(w, new, old)
}

// system reads system columns of the selected rows of a batch, which are stored under
// keys; xmax is that of all of them.
func (w *tableWriter) system(cols []int, b *vec.Batch, xmax int64, key func(row int) []byte) ([]*vec.Vec, error) {
	out := make([]*vec.Vec, len(cols))
	for i, c := range cols {
		var err error
		switch c {
		case plan.ColCtid:
			out[i] = w.desc.Ctids(b, key)
		case plan.ColXmax:
			out[i] = vec.New(types.Of(types.OXid), b.N)
			for k := range out[i].I64 {
				out[i].I64[k] = xmax
			}
		default:
			out[i], err = w.desc.Xmins(w.env.Ctx, w.env.Txn, b, key)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withSystem adds system columns to rows with the live columns.
func (w *tableWriter) withSystem(cols []int, b *vec.Batch, xmax int64, key func(row int) []byte) (*vec.Batch, error) {
	if len(cols) == 0 {
		return b, nil
	}
	system, err := w.system(cols, b, xmax, key)
	if err != nil {
		return nil, err
	}
	out := *b
	out.Cols = append(slices.Clip(b.Cols[:len(w.live)]), system...)
	return &out, nil
}

// systemTypes are the types of system columns.
func systemTypes(cols []int) []types.T {
	out := make([]types.T, len(cols))
	for i, c := range cols {
		if out[i] = types.Of(types.OXid); c == plan.ColCtid {
			out[i] = types.Of(types.OTid)
		}
	}
	return out
}

// deferUniques queues the checks of deferrable unique constraints.
func (w *tableWriter) deferUniques() {
	if keys := w.w.TakeDeferred(); keys != nil {
		q := w.env.run.queue()
		q.uniques = append(q.uniques, keys...)
	}
}

// remove deletes locked rows. unread are columns of which old does not have the
// values.
func (w *tableWriter) remove(keys *vec.Vec, old *vec.Batch, unread []int) error {
	if err := w.take(keys, old, unread); err != nil {
		return err
	}
	return w.env.run.fkRemoved(w, keys, old, nil)
}

// take deletes locked rows without a look at the foreign keys that refer to them.
func (w *tableWriter) take(keys *vec.Vec, old *vec.Batch, unread []int) error {
	if err := w.unmodified(keys, old, unread, "deleted"); err != nil {
		return err
	}
	ix, err := w.storedIndexVals(old, false)
	if err != nil {
		return err
	}
	if err := w.w.Delete(w.env.Ctx, keys, old, unread, ix, lockOpt(w.env)); err != nil {
		return retry(err)
	}
	w.noteMoved(keys, old, nil)
	w.env.Tally.Rel(w.table.OID).Deleted += int64(old.Rows())
	return nil
}

// noteMoved tells of rows that have other keys than before, or are gone if now is nil.
func (w *tableWriter) noteMoved(keys *vec.Vec, rows *vec.Batch, now func(row int) []byte) {
	if w.env.Moved == nil {
		return
	}
	for i := range rows.Rows() {
		r := rows.Row(i)
		was := keys.B[keys.Idx(r)]
		var is []byte
		if now != nil {
			if is = now(r); is == nil || bytes.Equal(is, was) {
				continue
			}
		}
		w.env.Moved(w.table.OID, was, is)
	}
}

// lockRows locks the rows of the key vector. ErrRetry when one has changed.
func (w *tableWriter) lockRows(keys *vec.Vec, b *vec.Batch, m kv.RowLockMode) error {
	if b.Rows() == 0 {
		return nil
	}
	list := w.locked[:0]
	for i := range b.Rows() {
		list = append(list, keys.B[keys.Idx(b.Row(i))])
	}
	o := lockOpt(w.env)
	o.NoValue, o.Mode, o.Expect = true, m, w.expected
	_, err := w.env.run.lockRows(w.table, w.desc, list, o)
	clear(list)
	w.locked = list
	return err
}

// lockChanged locks the rows of an update: for update those whose key gets
// another value, the others in the mode that foreign keys do not wait for. cols
// are the columns that it sets.
func (w *tableWriter) lockChanged(keys *vec.Vec, old, next *vec.Batch, cols []int) error {
	if !slices.ContainsFunc(w.changed(cols), w.isKey) {
		return w.lockRows(keys, old, kv.ForNoKeyUpdate)
	}
	var set []int
	for _, c := range w.changed(cols) {
		if w.isKey(c) {
			if w.gen[w.pos[c]] != nil { // not computed yet
				return w.lockRows(keys, old, kv.ForUpdate)
			}
			set = append(set, c)
		}
	}
	eq := newKeyEq(columnTypes(w.table, set))
	was, now := w.pickCols(old, set), w.pickCols(next, set)
	same, other := *old, *old
	same.Sel, other.Sel = nil, nil
	for i := range old.Rows() {
		if r := old.Row(i); eq.equal(was, r, now, r) {
			same.Sel = append(same.Sel, uint32(r))
		} else {
			other.Sel = append(other.Sel, uint32(r))
		}
	}
	if other.Sel != nil {
		if err := w.lockRows(keys, &other, kv.ForUpdate); err != nil {
			return err
		}
	}
	if same.Sel == nil {
		return nil
	}
	return w.lockRows(keys, &same, kv.ForNoKeyUpdate)
}

// isKey reports whether a column is part of a key that foreign keys could refer
// to.
func (w *tableWriter) isKey(col int) bool {
	if slices.Contains(w.table.PK, col) {
		return true
	}
	for _, ix := range w.table.Indexes {
		if !ix.Unique || ix.Where != "" || slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col < 0 }) {
			continue
		}
		if slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col == col }) {
			return true
		}
	}
	return false
}
