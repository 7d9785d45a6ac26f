package executor

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// onConflict inserts rows and handles those whose key exists: leaves them out,
// or updates the existing row.
type onConflict struct {
	node *plan.OnConflict
	set  []expr.Eval
	cond expr.Pred
	// views are checked of the rows that are to be inserted, existing of those that are
	// there, checks of what these become.
	views, existing, checks rowChecks
	system                  []int // the system columns that RETURNING reads

	w        *tableWriter
	excluded []excludedBy    // exclusion constraints whose conflicts leave rows out
	mode     kv.RowLockMode  // of existing rows
	touched  map[string]bool // row keys inserted or updated by this statement
	moving   bool            // see givesUpKeys
	added    []string        // touched by the batch, if moving
	// awaitsFirst: WITH queries that change rows are read by new values alone, and no row
	// has got any yet; see passesOver.
	awaitsFirst bool
}

func newOnConflict(n *plan.OnConflict) (*onConflict, error) {
	c := &onConflict{node: n}
	if !n.DoUpdate {
		return c, nil
	}
	var err error
	if c.set, err = expr.CompileAll(n.Set); err != nil {
		return nil, err
	}
	if c.existing, err = newRowChecks(n.Existing); err != nil {
		return nil, err
	}
	if c.checks, err = newRowChecks(n.Checks); err != nil {
		return nil, err
	}
	if n.Where != nil {
		c.cond, err = expr.CompilePredicate(n.Where)
	}
	return c, err
}

// excludedBy is an exclusion constraint of DO NOTHING.
type excludedBy struct {
	index *catalog.Index
	test  *table.Excluded
}

func (c *onConflict) open(w *tableWriter) error {
	c.w, c.mode, c.excluded = w, kv.ForNoKeyUpdate, nil
	for _, ix := range w.table.Indexes {
		if w.table.Exclusion(ix) == nil || c.node.DoUpdate ||
			c.node.Indexes != nil && !slices.ContainsFunc(c.node.Indexes, func(a *catalog.Index) bool { return a.OID == ix.OID }) {
			continue
		}
		ex, err := w.env.TableExprs(w.table)
		if err != nil {
			return err
		}
		test, err := NewExcluded(w.table, ix, ex, w.env.Expr)
		if err != nil {
			return err
		}
		c.excluded = append(c.excluded, excludedBy{ix, test})
	}
	if slices.ContainsFunc(w.changed(c.node.SetCols), w.isKey) {
		c.mode = kv.ForUpdate
	}
	c.touched = make(map[string]bool)
	c.moving = c.node.DoUpdate && c.givesUpKeys()
	c.awaitsFirst = w.touched != nil && c.node.DoUpdate && w.env.run.readsLate()
	return nil
}

// givesUpKeys reports whether the update of one row may change whether a later one has a
// conflict: it sets what a unique index is over, and not to what it was compared with.
func (c *onConflict) givesUpKeys() bool {
	t, n := c.w.table, c.node
	changed := c.w.changed(n.SetCols)
	sets := func(col int) bool {
		if !slices.Contains(changed, col) {
			return false
		}
		at := slices.Index(n.SetCols, col)
		if at < 0 || len(n.Indexes) != 1 || !slices.ContainsFunc(n.Indexes[0].Keys, func(k catalog.IndexKey) bool { return k.Col == col }) {
			return true
		}
		from, ok := n.Set[at].(*plan.Col)
		return !ok || from.Idx != len(c.w.live)+c.w.pos[col]
	}
	return len(changed) > 0 && slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool {
		return ix.Unique && (ix.Where != "" || slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col < 0 || sets(k.Col) }))
	})
}

func errSecondHit() error {
	return sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
		WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

// write inserts the batch's rows and returns the rows inserted and updated, in
// the order of the input.
func (c *onConflict) write(b *vec.Batch) (*vec.Batch, error) {
	if len(c.w.fks) > 0 {
		defer c.w.env.run.inTurn(b.N)()
	}
	if !c.moving || b.Rows() < 2 {
		return c.writeAtOnce(b)
	}
	if c.w.touched != nil {
		return c.writeSingly(b) // what was touched is not taken back
	}
	// Where an update gives up a key that a later row gets, or gets one that a later row has,
	// doing all at once fails.
	txn := c.w.env.Txn
	mark := txn.Savepoint()
	c.added = c.added[:0]
	if c.w.anyGen { // computed anew where those of rows that change are
		b = copyBatch(b)
	}
	out, err := c.writeAtOnce(b)
	switch code := string(sqlerr.CodeOf(err)); {
	case err == nil:
		txn.Release(mark)
	case strings.HasPrefix(code, "21"), strings.HasPrefix(code, "22"), strings.HasPrefix(code, "23"): // a row is at fault, this or another one
		txn.RollbackTo(mark)
		for _, k := range c.added {
			delete(c.touched, k)
		}
		c.w.w.TakeDeferred()
		return c.writeSingly(b)
	}
	return out, err
}

// writeSingly is write for one row after the other.
func (c *onConflict) writeSingly(b *vec.Batch) (*vec.Batch, error) {
	rows, done := copyBatch(b), (*rowStore)(nil)
	for r := range uint32(rows.N) {
		out, err := c.writeAtOnce(&vec.Batch{Cols: rows.Cols, N: rows.N, Sel: []uint32{r}})
		if err != nil {
			return nil, err
		}
		if done == nil {
			done = newRowStore(typesOf(out.Cols))
		}
		done.appendCols(out.Cols, out.Sel, out.Rows())
	}
	return &vec.Batch{Cols: done.cols, N: done.n}, nil
}

// copyBatch returns the selected rows, one after the other, in memory of their own.
func copyBatch(b *vec.Batch) *vec.Batch {
	s := newRowStore(typesOf(b.Cols))
	s.appendCols(b.Cols, b.Sel, b.Rows())
	return &vec.Batch{Cols: s.cols, N: s.n}
}

// inTurnOf calls f, which writes rows that come from those of the batch.
func (c *onConflict) inTurnOf(of []uint32, f func() error) error {
	r := c.w.env.run
	if was := r.turn; was != nil {
		r.turn = func(row int) int { return int(of[row]) }
		defer func() { r.turn = was }()
	}
	return f()
}

// touch notes that a row was inserted or updated.
func (c *onConflict) touch(key []byte) {
	if k := string(key); !c.touched[k] {
		c.touched[k] = true
		if c.moving {
			c.added = append(c.added, k)
		}
	}
}

// writeAtOnce is write where all rows are looked for before any is changed.
func (c *onConflict) writeAtOnce(b *vec.Batch) (*vec.Batch, error) {
	o := table.InsertOpt{Conflict: table.ConflictSkip, Arbiters: c.node.Indexes, Mode: c.mode}
	if c.node.DoUpdate {
		o.Conflict = table.ConflictReport
	}
	bad, err := c.views.failing(c.w.env, b)
	if err != nil {
		return nil, err
	}
	if len(bad) > 0 && b.Rows() > 1 {
		return c.writeSingly(b) // rows before one that is left out may fail
	}
	if len(c.excluded) > 0 {
		inserted, keys, err := c.insertFree(b, o)
		if err != nil {
			return nil, err
		}
		out := &vec.Batch{Cols: b.Cols, N: b.N, Sel: inserted}
		if err := bad.of(c.w, out); err != nil {
			return nil, err
		}
		return c.w.withSystem(c.system, out, 0, func(r int) []byte { return keys[r] })
	}
	res, err := c.w.insertRows(b, o)
	if err != nil {
		if c.node.DoUpdate && !c.moving && b.Rows() > 1 && sqlerr.CodeOf(err) == sqlerr.UniqueViolation {
			return c.writeSingly(b) // the update of a row before may fail by something else
		}
		return nil, err
	}
	inserted := insertedRows(b, res)
	out := &vec.Batch{Cols: b.Cols, N: b.N, Sel: inserted}
	later := c.moving && len(inserted) < b.Rows() // what comes may undo it
	if !later {
		if err := c.w.inserted(out, len(inserted)); err != nil {
			return nil, err
		}
	}
	if err := bad.of(c.w, out); err != nil {
		return nil, err
	}
	if out, err = c.w.withSystem(c.system, out, 0, func(r int) []byte { return res.Keys[r] }); err != nil {
		return nil, err
	}
	if !c.node.DoUpdate || len(res.Conflicts) == 0 && len(inserted) == b.Rows() {
		c.remember(res)
		return out, nil
	}
	// Generated columns of the rows that change are computed where those of the inserted
	// ones are, which are kept therefore.
	kept := newRowStore(typesOf(out.Cols))
	kept.appendCols(out.Cols, out.Sel, len(out.Sel))
	updated, rows, err := c.update(b, res)
	if err != nil {
		return nil, err
	}
	if later {
		err := c.inTurnOf(inserted, func() error {
			return c.w.inserted(&vec.Batch{Cols: kept.cols[:len(b.Cols)], N: kept.n}, kept.n)
		})
		if err != nil {
			return nil, err
		}
	}
	if updated.Rows() == 0 {
		return out, nil
	}
	return mergeChanged(kept, out.Sel, updated, rows), nil
}

// insertFree inserts one row after the other where no exclusion constraint has a conflict
// with it, and returns the numbers of those that were inserted, and their keys by number.
func (c *onConflict) insertFree(b *vec.Batch, o table.InsertOpt) (inserted []uint32, keys [][]byte, err error) {
	inserted, keys = make([]uint32, 0, b.Rows()), make([][]byte, b.N)
	for i := range b.Rows() {
		r := b.Row(i)
		one := vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{uint32(r)}}
		taken, err := c.taken(&one, r)
		if err != nil {
			return nil, nil, err
		}
		if taken {
			continue
		}
		res, err := c.w.insert(&one, o)
		if err != nil {
			return nil, nil, err
		}
		if res.Keys[r] != nil {
			inserted = append(inserted, uint32(r))
			keys[r] = res.Keys[r]
		}
	}
	return inserted, keys, nil
}

// taken reports whether an exclusion constraint has a conflict with a row.
func (c *onConflict) taken(one *vec.Batch, row int) (bool, error) {
	w := c.w
	for _, x := range c.excluded {
		vals, err := w.indexVals(one, false)
		if err != nil {
			return false, err
		}
		conflict, newer, err := w.w.Excluded(w.env.Ctx, x.index, x.test, one, vals, row, lockOpt(w.env))
		switch {
		case err != nil:
			return false, retry(err)
		case newer && !w.env.ReadCommitted:
			return false, sqlerr.New(sqlerr.SerializationFailure, msgConcurrentUpdate)
		case conflict:
			return true, nil
		}
	}
	return false, nil
}

func (c *onConflict) remember(res *table.InsertResult) {
	if !c.node.DoUpdate {
		return
	}
	for _, k := range res.Keys {
		if k != nil {
			c.touch(k)
		}
	}
}

// update changes the existing rows; it returns their new live columns and, for
// each, the row number of the input row that hit it.
func (c *onConflict) update(b *vec.Batch, res *table.InsertResult) (*vec.Batch, []uint32, error) {
	again := func(x table.Conflict) bool {
		return x.Same || c.touched[string(x.Key)] || !c.awaitsFirst && c.w.touched.touches(x.Key)
	}
	list, second := res.Conflicts, false
	if i := slices.IndexFunc(list, again); i >= 0 { // those before may fail by something else
		list, second = list[:i], true
	}
	n := len(list)
	keys := make([][]byte, n)
	hit := make([]uint32, n)
	for i, x := range list {
		keys[i] = append([]byte(nil), x.Key...)
		hit[i] = x.Row
	}
	c.remember(res)
	w := c.w
	old, err := c.existingRows(keys, list)
	if err != nil {
		return nil, nil, err
	}
	both := vec.Batch{Cols: append([]*vec.Vec(nil), old.Cols[:len(w.live)]...), N: n}
	for _, col := range b.Cols {
		v := new(vec.Vec)
		gather(v, col, hit, false)
		both.Cols = append(both.Cols, v)
	}
	if c.cond != nil {
		if err := c.cond.Select(w.env.Expr, &both); err != nil {
			return nil, nil, err
		}
	}
	// A row that the condition leaves as it is may be met again.
	changed := make([]bool, n)
	for i := range both.Rows() {
		changed[both.Row(i)] = true
	}
	sel := make([]uint32, 0, n)
	for i, k := range keys {
		if c.touched[string(k)] || !c.awaitsFirst && w.touched.touches(k) {
			second = true
			break
		}
		if changed[i] {
			if c.passesOver(k) {
				continue
			}
			c.touch(k)
			sel = append(sel, uint32(i))
		}
	}
	both.Sel = sel
	if len(sel) == 0 {
		if second {
			return nil, nil, errSecondHit()
		}
		return &both, hit, nil
	}
	if _, err := c.existing.failing(w.env, &vec.Batch{Cols: both.Cols[:len(w.live)], N: n, Sel: both.Sel}); err != nil {
		return nil, nil, err
	}
	next := &vec.Batch{Cols: append([]*vec.Vec(nil), both.Cols[:len(w.live)]...), N: n, Sel: both.Sel}
	for i, col := range c.node.SetCols {
		v, err := c.set[i].Eval(w.env.Expr, &both)
		if err != nil {
			return nil, nil, err
		}
		next.Cols[w.pos[col]] = v
	}
	if err := w.staysInBound(next); err != nil {
		return nil, nil, err
	}
	if next, err = w.completePart(next); err != nil {
		return nil, nil, err
	}
	prev := &vec.Batch{Cols: both.Cols[:len(w.live)], N: n, Sel: both.Sel}
	kv := vec.New(types.Of(types.OBytea), n)
	copy(kv.B, keys)
	bad, err := c.checks.failing(w.env, next)
	if err != nil {
		return nil, nil, err
	}
	shown := next
	then := func(now [][]byte) (err error) {
		for _, r := range sel {
			c.touch(now[r]) // another one, if the key has changed
		}
		// What was there was locked first, which its xmax tells.
		shown, err = w.withSystem(c.system, next, 1, func(r int) []byte { return now[r] })
		return err
	}
	err = c.inTurnOf(hit, func() error { return w.updateThen(kv, prev, next, w.changed(c.node.SetCols), nil, nil, then) })
	if err != nil {
		return nil, nil, err
	}
	if err := bad.of(w, next); err != nil {
		return nil, nil, err
	}
	if second {
		return nil, nil, errSecondHit()
	}
	return shown, hit, nil
}

// passesOver reports whether a row that is to be updated is left as it is: the first one,
// if a WITH query that only its new values read changes it. PostgreSQL runs that query
// when it computes them, with the row in hand, and finds then that it has changed.
func (c *onConflict) passesOver(key []byte) bool {
	if !c.awaitsFirst {
		return false
	}
	c.awaitsFirst = false
	return c.w.touched.touches(key)
}

// existingRows reads the live columns of rows that conflict, those that others have
// changed since the statement's snapshot as they are now.
func (c *onConflict) existingRows(keys [][]byte, list []table.Conflict) (*vec.Batch, error) {
	w, n := c.w, len(keys)
	old := new(vec.Batch)
	if err := w.desc.GetRows(w.env.Ctx, w.env.Txn, keys, w.live, nil, old); err != nil {
		return nil, err
	}
	found := old.Rows()
	if slices.ContainsFunc(list, func(x table.Conflict) bool { return x.Newer }) {
		if w.env.Recheck == nil { // what the statement is part of may have read the old row
			return nil, ErrRetry
		}
		newest, err := w.env.Txn.Newest()
		if err != nil {
			return nil, err
		}
		defer newest.Close()
		var now vec.Batch
		if err := w.desc.GetRows(w.env.Ctx, newest, keys, w.live, nil, &now); err != nil {
			return nil, err
		}
		s := newRowStore(typesOf(old.Cols))
		s.appendCols(old.Cols, nil, n)
		s.appendCols(now.Cols, nil, n)
		from := make([]uint32, n)
		for i, x := range list {
			if from[i] = uint32(i); x.Newer {
				from[i] += uint32(n)
			}
		}
		both := selectedSet(old, &now, n)
		found = 0
		for _, r := range from {
			if both[r] {
				found++
			}
		}
		old = &vec.Batch{Cols: newVecs(typesOf(s.cols)), N: n}
		gatherBatch(old.Cols, s.cols, from, false)
	}
	switch {
	case found == n:
		return old, nil
	case w.env.ReadCommitted:
		return nil, ErrRetry
	}
	return nil, sqlerr.New(sqlerr.SerializationFailure, msgConcurrentUpdate)
}

// selectedSet tells which of the rows of two batches of n, one after the other, are there.
func selectedSet(a, b *vec.Batch, n int) []bool {
	out := make([]bool, 2*n)
	for k, x := range []*vec.Batch{a, b} {
		for i := range x.Rows() {
			out[k*n+x.Row(i)] = true
		}
	}
	return out
}

// mergeChanged puts updated rows between inserted ones, which are kept already, in the order of the
// input; ins and hit are the numbers of the input's rows.
func mergeChanged(kept *rowStore, ins []uint32, upd *vec.Batch, hit []uint32) *vec.Batch {
	kept.appendCols(upd.Cols[:len(kept.cols)], upd.Sel, upd.Rows())
	order := make([]uint32, 0, kept.n)
	i, j := 0, 0
	for i < len(ins) || j < upd.Rows() {
		if j == upd.Rows() || i < len(ins) && ins[i] < hit[upd.Row(j)] {
			order = append(order, uint32(i))
			i++
		} else {
			order = append(order, uint32(len(ins)+j))
			j++
		}
	}
	out := &vec.Batch{Cols: newVecs(typesOf(kept.cols)), N: len(order)}
	gatherBatch(out.Cols, kept.cols, order, false)
	return out
}
