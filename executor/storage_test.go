package executor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// world is a store with tables and the catalog that lists them.
type world struct {
	t    testing.TB
	db   *tabletest.DB
	objs []catalog.Object
	snap *catalog.Snapshot
	ex   map[*catalog.Table]*plan.TableExprs
}

func newWorld(t testing.TB) *world {
	return &world{t: t, db: tabletest.Open(t), ex: map[*catalog.Table]*plan.TableExprs{}}
}

// table makes a table of int4 columns.
func (w *world) table(name string, pk []int, cols []string, indexes ...*catalog.Index) *catalog.Table {
	var cs []catalog.Column
	for _, c := range cols {
		cs = append(cs, tabletest.Col(c, types.TInt4))
	}
	for _, c := range pk {
		cs[c].NotNull = true
	}
	d := w.db.Create(name, cs, pk, indexes...)
	w.ex[d.Table] = &plan.TableExprs{Live: d.Live, Generated: make([]plan.Expr, len(cs)), Defaults: make([]plan.Expr, len(cs)),
		Checks: make([]plan.Expr, len(d.Table.Checks)), IndexKeys: make([][]plan.Expr, len(d.Table.Indexes)), Preds: make([]plan.Expr, len(d.Table.Indexes))}
	w.objs = append(w.objs, d.Table)
	return d.Table
}

// references adds a foreign key to the parent's primary key.
func (w *world) references(child, parent *catalog.Table, col int, onDelete, onUpdate byte) *catalog.ForeignKey {
	fk := &catalog.ForeignKey{OID: types.OID(50000 + len(child.ForeignKeys) + col), Name: child.Name + "_fkey", Cols: []int{col}, RefTable: parent.OID, RefCols: []int{0},
		RefIndex: parent.PrimaryIndex().OID, OnDelete: onDelete, OnUpdate: onUpdate, Match: 's'}
	child.ForeignKeys = append(child.ForeignKeys, fk)
	return fk
}

// session is a transaction with its environment.
type testTx struct {
	w   *world
	env *Env
}

func (w *world) begin() *testTx {
	w.t.Helper()
	if w.snap == nil {
		s, err := catalog.Empty().Apply(&catalog.Delta{Put: w.objs})
		if err != nil {
			w.t.Fatal(err)
		}
		w.snap = s
	}
	tx, err := w.db.Store().Begin(context.Background(), kv.BeginOpt{})
	if err != nil {
		w.t.Fatal(err)
	}
	env := memEnv(w.t, 0)
	env.Txn, env.Tables, env.Snap, env.DB, env.ReadCommitted = tx, w.db.DB, w.snap, 5, true
	env.TableExprs = func(t *catalog.Table) (*plan.TableExprs, error) { return w.ex[t], nil }
	env.Deferred = new(DeferredChecks)
	return &testTx{w, env}
}

func (x *testTx) commit() {
	x.w.t.Helper()
	if err := x.env.Txn.Commit(context.Background()); err != nil {
		x.w.t.Fatal(err)
	}
}

// do runs a plan; the transaction's writes of a failed one are undone.
func (x *testTx) do(n plan.Node) ([]row, error) {
	mark := x.env.Txn.Savepoint()
	r, err := Build(&plan.Query{Root: n, Returns: true}, x.env)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows, err := tryCollect(r)
	if err != nil {
		x.env.Txn.RollbackTo(mark)
	}
	return rows, err
}

func (x *testTx) must(n plan.Node) []row {
	x.w.t.Helper()
	rows, err := x.do(n)
	if err != nil {
		x.w.t.Fatal(err)
	}
	return rows
}

func liveTypes(t *catalog.Table) []types.T {
	var ts []types.T
	for _, c := range t.Columns {
		ts = append(ts, c.Type)
	}
	return ts
}

// none marks NULL in rows of ints.
const none = math.MinInt

func ints(rows ...[]int) []row {
	var out []row
	for _, r := range rows {
		var one row
		for _, v := range r {
			d := types.Int(types.TInt4, int64(v))
			if v == none {
				d = types.Null(types.TInt4)
			}
			one = append(one, d)
		}
		out = append(out, one)
	}
	return out
}

func insertNode(t *catalog.Table, rows ...[]int) *plan.Insert {
	return &plan.Insert{Table: t, Input: valuesNode(liveTypes(t), ints(rows...))}
}

func allCols(t *catalog.Table) []int {
	cols := make([]int, len(t.Columns))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

func scanNode(t *catalog.Table) *plan.Scan {
	return &plan.Scan{Common: outCols(liveTypes(t)), Table: t, Cols: allCols(t)}
}

// target is the input of an UPDATE or DELETE of rows whose first column is key.
func target(t *catalog.Table, key int, set ...plan.Expr) plan.Node {
	ts := append([]types.T{types.Of(types.OBytea)}, liveTypes(t)...)
	s := &plan.Scan{Common: outCols(ts), Table: t, Cols: append([]int{plan.ColRowKey}, allCols(t)...)}
	if key != none {
		s.Filter = call("int4eq", types.TBool, col(ts, 1), &plan.Const{At: plan.At{T: types.TInt4}, Val: types.Int(types.TInt4, int64(key))})
	}
	if set == nil {
		return s
	}
	p := &plan.Project{Input: s}
	for i := range ts {
		p.Exprs = append(p.Exprs, col(ts, i))
	}
	p.Exprs = append(p.Exprs, set...)
	p.Common = outCols(exprTypes(p.Exprs))
	return p
}

func lit(v int) plan.Expr {
	return &plan.Const{At: plan.At{T: types.TInt4, Off: -1}, Val: ints([]int{v})[0][0]}
}

func (x *testTx) contents(t *catalog.Table) []string { return showAll(x.must(scanNode(t)), true) }

func wantErr(t testing.TB, err error, code sqlerr.Code, message, detail string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %s", err, code)
	}
	if e.Code != code || e.Message != message || e.Detail != detail {
		t.Fatalf("got  %s %s\n     %s\nwant %s %s\n     %s", e.Code, e.Message, e.Detail, code, message, detail)
	}
}

func TestInsertChecksConstraints(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b", "c"})
	a.Columns[1].NotNull = true
	a.Checks = []*catalog.Check{{Name: "t_c_check"}}
	ts := liveTypes(a)
	w.ex[a].Checks = []plan.Expr{call("int4gt", types.TBool, col(ts, 2), lit(0))}
	x := w.begin()
	defer x.env.Txn.Rollback()
	_, err := x.do(insertNode(a, []int{1, 1, 1}, []int{2, none, 3}))
	wantErr(t, err, sqlerr.NotNullViolation, `null value in column "b" of relation "t" violates not-null constraint`, "Failing row contains (2, null, 3).")
	_, err = x.do(insertNode(a, []int{1, 1, none}, []int{2, 2, 0}))
	wantErr(t, err, sqlerr.CheckViolation, `new row for relation "t" violates check constraint "t_c_check"`, "Failing row contains (2, 2, 0).")
	x.must(insertNode(a, []int{1, 1, none}, []int{2, 2, 5}))
	_, err = x.do(insertNode(a, []int{2, 9, 9}))
	wantErr(t, err, sqlerr.UniqueViolation, `duplicate key value violates unique constraint "t_pkey"`, "Key (a)=(2) already exists.")
	equalRows(t, "t", x.contents(a), []string{"1|1|NULL", "2|2|5"})
}

func TestInsertOnConflict(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"})
	x := w.begin()
	defer x.env.Txn.Rollback()
	x.must(insertNode(a, []int{1, 10}, []int{2, 20}))
	ts := liveTypes(a)
	n := insertNode(a, []int{2, 5}, []int{3, 30}, []int{3, 31})
	n.OnConflict = &plan.OnConflict{}
	n.HasReturning, n.Returning = true, []plan.Expr{col(ts, 0), col(ts, 1)}
	n.Common = outCols(ts)
	equalRows(t, "do nothing returns what it inserted", showAll(x.must(n), false), []string{"3|30"})

	both := append(slices.Clone(ts), ts...)
	n = insertNode(a, []int{4, 40}, []int{2, 5}, []int{5, 50}, []int{1, 7})
	n.OnConflict = &plan.OnConflict{Indexes: []*catalog.Index{a.PrimaryIndex()}, DoUpdate: true, SetCols: []int{1},
		Set: []plan.Expr{call("int4pl", types.TInt4, col(both, 1), col(both, 3))}}
	n.HasReturning, n.Returning = true, []plan.Expr{col(ts, 0), col(ts, 1)}
	n.Common = outCols(ts)
	equalRows(t, "do update returns in the input's order", showAll(x.must(n), false), []string{"4|40", "2|25", "5|50", "1|17"})

	n = insertNode(a, []int{4, 1}, []int{4, 2})
	n.OnConflict = &plan.OnConflict{Indexes: []*catalog.Index{a.PrimaryIndex()}, DoUpdate: true, SetCols: []int{1}, Set: []plan.Expr{col(both, 3)}}
	_, err := x.do(n)
	wantErr(t, err, sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time", "")
	equalRows(t, "t", x.contents(a), []string{"1|17", "2|25", "3|30", "4|40", "5|50"})
}

func TestUpdateAndDelete(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"}, tabletest.Index("t_b", false, 1))
	x := w.begin()
	x.must(insertNode(a, []int{1, 10}, []int{2, 20}, []int{3, 30}))
	x.commit()
	x = w.begin()
	ts := append([]types.T{types.Of(types.OBytea)}, liveTypes(a)...)
	up := &plan.Update{Table: a, SetCols: []int{1}, Input: target(a, none, call("int4pl", types.TInt4, col(ts, 2), lit(1)))}
	up.HasReturning, up.Returning = true, []plan.Expr{col(ts[1:], 0), col(ts[1:], 1)}
	up.Common = outCols(ts[1:])
	equalRows(t, "update returning", showAll(x.must(up), true), []string{"1|11", "2|21", "3|31"})
	x.must(&plan.Delete{Table: a, Input: target(a, 2)})
	equalRows(t, "t", x.contents(a), []string{"1|11", "3|31"})
	ix := &plan.Scan{Common: outCols(ts[1:]), Table: a, Index: a.Indexes[1], Access: plan.IndexRange, Cols: []int{0, 1},
		Ranges: []plan.KeyRange{{Lo: lit(11), LoInc: true, Hi: lit(31)}}}
	equalRows(t, "index range", showAll(x.must(ix), true), []string{"1|11"})
	point := &plan.Scan{Common: outCols(ts[1:]), Table: a, Access: plan.PointGet, Cols: []int{0, 1}, Ranges: []plan.KeyRange{{Eq: []plan.Expr{lit(3)}}}}
	equalRows(t, "point get", showAll(x.must(point), true), []string{"3|31"})
	x.commit()
}

func TestLookupJoin(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"}, tabletest.Index("t_b", false, 1))
	x := w.begin()
	defer x.env.Txn.Rollback()
	var rows [][]int
	for i := range 40 {
		rows = append(rows, []int{i, i % 7})
	}
	x.must(insertNode(a, rows...))
	left := ints([]int{3}, []int{none}, []int{9}, []int{0}, []int{3})
	one := []types.T{types.TInt4}
	for _, kind := range []plan.JoinKind{plan.Inner, plan.Left, plan.Semi, plan.Anti} {
		var want []string
		for _, l := range left {
			n := 0
			for _, r := range rows {
				if !l[0].Null && int(l[0].I) == r[1] && r[0] < 20 {
					n++
					switch kind {
					case plan.Inner, plan.Left:
						want = append(want, fmt.Sprintf("%d|%d|%d", l[0].I, r[0], r[1]))
					case plan.Semi:
						if n == 1 {
							want = append(want, show(l))
						}
					}
				}
			}
			switch {
			case n == 0 && kind == plan.Left:
				want = append(want, show(l)+"|NULL|NULL")
			case n == 0 && kind == plan.Anti:
				want = append(want, show(l))
			}
		}
		ts := []types.T{types.TInt4, types.TInt4, types.TInt4}
		if kind == plan.Semi || kind == plan.Anti {
			ts = one
		}
		n := &plan.LookupJoin{Common: outCols(ts), Kind: kind, Left: valuesNode(one, left), Table: a, Index: a.Indexes[1], Keys: []plan.Expr{col(one, 0)},
			Cols: []int{0, 1}, Filter: call("int4lt", types.TBool, col(liveTypes(a), 0), lit(20))}
		equalRows(t, fmt.Sprint("kind ", kind), showAll(x.must(n), false), want)
	}
}

func TestForeignKeyActions(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		w := newWorld(t)
		parent := w.table("p", []int{0}, []string{"id", "x"})
		var ix []*catalog.Index
		if indexed {
			ix = []*catalog.Index{tabletest.Index("c_pid", false, 1)}
		}
		child := w.table("c", []int{0}, []string{"id", "pid"}, ix...)
		w.references(child, parent, 1, 'a', 'c')
		grand := w.table("g", []int{0}, []string{"id", "cid"})
		w.references(grand, child, 1, 'c', 'a')
		nuller := w.table("n", []int{0}, []string{"id", "cid"})
		w.references(nuller, child, 1, 'n', 'a')
		x := w.begin()
		x.must(insertNode(parent, []int{1, 0}, []int{2, 0}))
		x.must(insertNode(child, []int{10, 1}, []int{11, 1}, []int{12, none}))
		x.must(insertNode(grand, []int{100, 10}, []int{101, 11}))
		x.must(insertNode(nuller, []int{200, 10}))
		_, err := x.do(insertNode(child, []int{13, 2}, []int{14, 9}))
		wantErr(t, err, sqlerr.ForeignKeyViolation, `insert or update on table "c" violates foreign key constraint "c_fkey"`, `Key (pid)=(9) is not present in table "p".`)
		_, err = x.do(&plan.Delete{Table: parent, Input: target(parent, 1)})
		wantErr(t, err, sqlerr.ForeignKeyViolation, `update or delete on table "p" violates foreign key constraint "c_fkey" on table "c"`, `Key (id)=(1) is still referenced from table "c".`)
		x.must(&plan.Delete{Table: parent, Input: target(parent, 2)})
		x.must(&plan.Update{Table: parent, SetCols: []int{0}, Input: target(parent, 1, lit(7))})
		equalRows(t, "cascaded update", x.contents(child), []string{"10|7", "11|7", "12|NULL"})
		x.must(&plan.Delete{Table: child, Input: target(child, 10)})
		equalRows(t, "cascaded delete", x.contents(grand), []string{"101|11"})
		equalRows(t, "set null", x.contents(nuller), []string{"200|NULL"})
		x.commit()
	}
}

func TestDeferredForeignKey(t *testing.T) {
	w := newWorld(t)
	parent := w.table("p", []int{0}, []string{"id"})
	child := w.table("c", []int{0}, []string{"id", "pid"})
	fk := w.references(child, parent, 1, 'a', 'a')
	fk.Deferrable, fk.InitiallyDeferred = true, true
	x := w.begin()
	defer x.env.Txn.Rollback()
	x.must(insertNode(child, []int{1, 5}))
	if err := x.env.Deferred.Check(x.env, true); err == nil {
		t.Fatal("a missing parent passed at the end of the transaction")
	}
	x.must(insertNode(child, []int{2, 6}))
	x.must(insertNode(parent, []int{6}))
	if err := x.env.Deferred.Check(x.env, true); err != nil {
		t.Fatal(err)
	}
	x.must(insertNode(child, []int{3, 8}))
	x.must(&plan.Delete{Table: child, Input: target(child, 3)})
	if err := x.env.Deferred.Check(x.env, true); err != nil {
		t.Fatalf("the row is gone, and still %v", err)
	}
}

func TestChangedRowAsksForAnotherRun(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"})
	x := w.begin()
	x.must(insertNode(a, []int{1, 10}))
	x.commit()
	first, second := w.begin(), w.begin()
	defer second.env.Txn.Rollback()
	second.contents(a) // opens the snapshot
	first.must(&plan.Update{Table: a, SetCols: []int{1}, Input: target(a, 1, lit(11))})
	first.commit()
	up := &plan.Update{Table: a, SetCols: []int{1}, Input: target(a, 1, lit(12))}
	if _, err := second.do(up); !errors.Is(err, ErrRetry) {
		t.Fatalf("got %v, want ErrRetry", err)
	}
	if err := second.env.Txn.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	second.must(up)
	equalRows(t, "t", second.contents(a), []string{"1|12"})
}

func TestInsertFromItselfSeesNoneOfItsRows(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", nil, []string{"a"})
	x := w.begin()
	defer x.env.Txn.Rollback()
	x.must(insertNode(a, []int{1}, []int{2}))
	for range 3 {
		x.must(&plan.Insert{Table: a, Input: scanNode(a)})
	}
	if got := len(x.contents(a)); got != 16 {
		t.Fatalf("%d rows, want 16", got)
	}
}

func TestParallelScanPassesEveryRow(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"})
	digits := w.table("digit", []int{0}, []string{"d"})
	const n = 60_000
	d, err := w.db.For(a)
	if err != nil {
		t.Fatal(err)
	}
	x := w.begin()
	wr := d.NewWriter(x.env.Txn)
	for lo := 0; lo < n; lo += 1000 {
		b := &vec.Batch{N: 1000, Cols: []*vec.Vec{vec.New(types.TInt4, 1000), vec.New(types.TInt4, 1000)}}
		for i := range 1000 {
			b.Cols[0].I64[i], b.Cols[1].I64[i] = int64(lo+i), int64((lo+i)%10)
		}
		if _, err := wr.Insert(context.Background(), b, nil, table.InsertOpt{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		x.must(insertNode(digits, []int{i}))
	}
	x.commit()
	x = w.begin()
	defer x.env.Txn.Rollback()
	x.env.MaxParallel = 4
	s := scanNode(a)
	s.Common.Cost = 1e6
	s.Filter = call("int4eq", types.TBool, col(liveTypes(a), 1), lit(3))
	run, err := Build(&plan.Query{Root: s, ReadOnly: true, Returns: true}, x.env)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	seen := map[int64]bool{}
	for _, r := range collect(t, run) {
		seen[r[0].I] = true
	}
	if len(seen) != n/10 {
		t.Fatalf("%d rows, want %d", len(seen), n/10)
	}

	s.Filter = call("int4ne", types.TBool, col(liveTypes(a), 1), lit(3))
	g := &plan.Group{Common: outCols([]types.T{types.TInt4, types.TInt8, types.TInt8}), Input: s, Keys: []plan.Expr{col(liveTypes(a), 1)},
		Aggs: []plan.Agg{agg("count", types.TInt8), agg("sum", types.TInt8, col(liveTypes(a), 0))}}
	var want [2][]string
	for i := range 4 {
		x.env.MaxParallel = 1 + i%2*3
		x.env.WorkMem = int64(i / 2) // also when the workers' groups do not fit
		run, err := Build(&plan.Query{Root: g, ReadOnly: true, Returns: true}, x.env)
		if err != nil {
			t.Fatal(err)
		}
		want[i%2] = showAll(collect(t, run), true)
		run.Close()
		if i%2 == 1 {
			equalRows(t, "parallel groups", want[1], want[0])
		}
	}
	if len(want[0]) != 9 {
		t.Fatalf("%d groups, want 9", len(want[0]))
	}

	// The same above joins whose tables the workers share, the lower one's read
	// from a table.
	lower := &plan.HashJoin{Common: outCols(liveTypes(a)), Kind: plan.Semi, Left: s, Right: scanNode(digits),
		LeftKeys: []plan.Expr{col(liveTypes(a), 1)}, RightKeys: []plan.Expr{col(liveTypes(digits), 0)}}
	looked := &plan.LookupJoin{Common: outCols(liveTypes(a)), Kind: plan.Semi, Left: s, Table: digits, Cols: []int{0},
		Keys: []plan.Expr{col(liveTypes(a), 1)}}
	names := valuesNode(int4s, ints([]int{1}, []int{4}, []int{4}, []int{8}))
	ts := append(liveTypes(a), int4s...)
	for _, kind := range []plan.JoinKind{plan.Inner, plan.Left, plan.Semi, plan.Anti} {
		for _, left := range []plan.Node{lower, looked} {
			j := &plan.HashJoin{Common: outCols(ts), Kind: kind, Left: left, Right: names, LeftKeys: []plan.Expr{col(ts, 1)}, RightKeys: []plan.Expr{col(int4s, 0)}}
			if kind == plan.Semi || kind == plan.Anti {
				j.Common = outCols(ts[:2])
			}
			g.Input = j
			for i := range 4 {
				x.env.MaxParallel, x.env.WorkMem = 1+i%2*3, int64(i/2)
				run, err := Build(&plan.Query{Root: g, ReadOnly: true, Returns: true}, x.env)
				if err != nil {
					t.Fatal(err)
				}
				want[i%2] = showAll(collect(t, run), true)
				run.Close()
				if i%2 == 1 {
					equalRows(t, fmt.Sprintf("parallel groups over join %v of %T", kind, left), want[1], want[0])
				}
			}
		}
	}
}

func TestWithQueriesSeeOneSnapshot(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a", "b"})
	x := w.begin()
	x.must(insertNode(a, []int{1, 10}, []int{2, 20}))
	x.commit()
	x = w.begin()
	up := &plan.Update{Table: a, SetCols: []int{1}, Input: target(a, none, lit(0))}
	c := &plan.CTE{Name: "u", Modifying: true, Plan: up}
	run, err := Build(&plan.Query{Root: scanNode(a), CTEs: []*plan.CTE{c}, Returns: true}, x.env)
	if err != nil {
		t.Fatal(err)
	}
	equalRows(t, "the main query", showAll(collect(t, run), true), []string{"1|10", "2|20"})
	run.Close()
	equalRows(t, "the next statement", x.contents(a), []string{"1|0", "2|0"})
	x.commit()
}

func TestLimitLocksNoMoreRowsThanItPasses(t *testing.T) {
	w := newWorld(t)
	a := w.table("t", []int{0}, []string{"a"})
	x := w.begin()
	x.must(insertNode(a, []int{1}, []int{2}, []int{3}))
	x.commit()
	ts := []types.T{types.TInt4, types.Of(types.OBytea)}
	locked := func() plan.Node {
		s := &plan.Scan{Common: outCols(ts), Table: a, Cols: []int{0, plan.ColRowKey}}
		l := &plan.LockRows{Common: outCols(ts), Input: s, Locks: []plan.Lock{{Table: a, KeyCol: 1, Strength: "UPDATE", SkipLocked: true}}}
		p := &plan.Project{Common: outCols(ts[:1]), Input: l, Exprs: []plan.Expr{col(ts, 0)}}
		one := &plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, 1)}
		return &plan.Limit{Common: outCols(ts[:1]), Input: p, Count: one}
	}
	var got []string
	for range 4 {
		x := w.begin()
		defer x.env.Txn.Rollback()
		got = append(got, showAll(x.must(locked()), false)...)
	}
	equalRows(t, "each takes the next free row", got, []string{"1", "2", "3"})
}
