package executor

import (
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// feed passes a store's rows again and again.
type feed struct {
	rows *rowStore
	at   int
	view vec.Batch
}

func (f *feed) Open(*Env) error { f.at = 0; return nil }

func (f *feed) Next() (*vec.Batch, error) {
	if f.at >= f.rows.n {
		return nil, nil
	}
	to := min(f.at+vec.BatchSize, f.rows.n)
	f.rows.window(&f.view, f.at, to)
	f.at = to
	return &f.view, nil
}

func (f *feed) Close() {}

var benchTypes = []types.T{types.TInt4, types.TInt8, types.Of(types.OFloat8), types.TText}

func benchRows(n, keys int) *rowStore {
	r := rand.New(rand.NewPCG(7, 7))
	s := newRowStore(benchTypes)
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon"}
	for range n {
		s.appendDatums(row{types.Int(types.TInt4, int64(r.IntN(keys))), types.Int(types.TInt8, int64(r.IntN(1000))),
			types.Float(benchTypes[2], r.Float64()), types.Text(words[r.IntN(len(words))])})
	}
	return s
}

// bench runs a plan over stores in place of its inputs.
func bench(b *testing.B, n plan.Node, rows int, patch func(op Operator)) {
	b.Helper()
	env := memEnv(b, 0)
	run, err := Build(&plan.Query{Root: n, ReadOnly: true, Returns: true}, env)
	if err != nil {
		b.Fatal(err)
	}
	patch(run.root)
	b.ReportAllocs()
	for b.Loop() {
		run.Reset(env)
		for {
			out, err := run.Next()
			if err != nil {
				b.Fatal(err)
			}
			if out == nil {
				break
			}
		}
		run.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

const million = 1_000_000

func BenchmarkFilterGroupFewKeys(b *testing.B)  { benchGroup(b, 10) }
func BenchmarkFilterGroupManyKeys(b *testing.B) { benchGroup(b, 200_000) }

func benchGroup(b *testing.B, keys int) {
	rows := benchRows(million, keys)
	in := valuesNode(benchTypes, nil)
	f := &plan.Filter{Common: outCols(benchTypes), Input: in, Cond: call("int8lt", types.TBool, col(benchTypes, 1),
		&plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, 900)})}
	n := &plan.Group{Common: outCols([]types.T{types.TInt4, types.TInt8, benchTypes[2]}), Input: f, Keys: []plan.Expr{col(benchTypes, 0)},
		Aggs: []plan.Agg{agg("count", types.TInt8), agg("sum", benchTypes[2], col(benchTypes, 2))}}
	bench(b, n, million, func(op Operator) { op.(*group).input.(*filter).input = &feed{rows: rows} })
}

func BenchmarkGroupText(b *testing.B) {
	rows := benchRows(million, 10)
	n := &plan.Group{Common: outCols([]types.T{types.TText, types.TInt8}), Input: valuesNode(benchTypes, nil), Keys: []plan.Expr{col(benchTypes, 3)},
		Aggs: []plan.Agg{agg("count", types.TInt8)}}
	bench(b, n, million, func(op Operator) { op.(*group).input = &feed{rows: rows} })
}

// BenchmarkGroupRollup groups by a text and two numbers, and by fewer of them.
func BenchmarkGroupRollup(b *testing.B) {
	rows := benchRows(million, 1000)
	n := &plan.Group{Common: outCols([]types.T{types.TText, benchTypes[0], benchTypes[1], types.TInt8, types.TInt4}), Input: valuesNode(benchTypes, nil),
		Keys: []plan.Expr{col(benchTypes, 3), col(benchTypes, 0), col(benchTypes, 1)},
		Aggs: []plan.Agg{agg("count", types.TInt8)}, Sets: [][]int{{0, 1}, {0, 2}, {0}, {}}}
	bench(b, n, million, func(op Operator) { op.(*group).input = &feed{rows: rows} })
}

func BenchmarkHashJoin(b *testing.B) {
	probe, build := benchRows(million, 100_000), benchRows(100_000, 100_000)
	keys := []plan.Expr{col(benchTypes, 0)}
	n := &plan.HashJoin{Common: outCols(append(append([]types.T(nil), benchTypes...), benchTypes...)), Left: valuesNode(benchTypes, nil), Right: valuesNode(benchTypes, nil),
		LeftKeys: keys, RightKeys: keys}
	bench(b, n, million, func(op Operator) {
		op.(*hashJoin).left, op.(*hashJoin).right = &feed{rows: probe}, &feed{rows: build}
	})
}

func BenchmarkSortInt(b *testing.B)  { benchSort(b, 0) }
func BenchmarkSortText(b *testing.B) { benchSort(b, 3, 1) }

func benchSort(b *testing.B, cols ...int) {
	rows := benchRows(million, million)
	n := &plan.Sort{Common: outCols(benchTypes), Input: valuesNode(benchTypes, nil)}
	for _, c := range cols {
		n.Keys = append(n.Keys, plan.SortKey{X: col(benchTypes, c)})
	}
	bench(b, n, million, func(op Operator) { op.(*sortOp).input = &feed{rows: rows} })
}

func BenchmarkTopN(b *testing.B) {
	rows := benchRows(million, million)
	n := &plan.Sort{Common: outCols(benchTypes), Input: valuesNode(benchTypes, nil), Keys: []plan.SortKey{{X: col(benchTypes, 2)}},
		Limit: &plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, 10)}}
	bench(b, n, million, func(op Operator) { op.(*sortOp).input = &feed{rows: rows} })
}

func BenchmarkPointGet(b *testing.B) {
	w := newWorld(b)
	a := w.table("t", []int{0}, []string{"a", "b"})
	x := w.begin()
	for lo := 0; lo < 10_000; lo += 1000 {
		var rows [][]int
		for i := range 1000 {
			rows = append(rows, []int{lo + i, i})
		}
		x.must(insertNode(a, rows...))
	}
	x.commit()
	x = w.begin()
	defer x.env.Txn.Rollback()
	ts := liveTypes(a)
	s := &plan.Scan{Common: outCols(ts), Table: a, Access: plan.PointGet, Cols: []int{0, 1}, Ranges: []plan.KeyRange{{Eq: []plan.Expr{param(0)}}}}
	n := &plan.Project{Common: outCols(ts[1:]), Input: s, Exprs: []plan.Expr{col(ts, 1)}}
	x.env.Expr.Params = []types.Datum{types.Int(types.TInt4, 77)}
	run, err := Build(&plan.Query{Root: n, Params: int4s, NumSlots: 1, ReadOnly: true, Returns: true}, x.env)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		run.Reset(x.env)
		x.env.Expr.Params[0].I = int64(i % 10_000)
		if out, err := run.Next(); err != nil || out == nil {
			b.Fatal(err)
		}
		if out, err := run.Next(); err != nil || out != nil {
			b.Fatal(err)
		}
		run.Close()
	}
}

// benchTable is a stored table with a million rows.
func benchTable(b *testing.B) (*testTx, *plan.Scan) {
	w := newWorld(b)
	a := w.table("t", []int{0}, []string{"a", "b", "c", "d"})
	d, err := w.db.For(a)
	if err != nil {
		b.Fatal(err)
	}
	x := w.begin()
	wr := d.NewWriter(x.env.Txn)
	for lo := 0; lo < million; lo += 1000 {
		in := &vec.Batch{N: 1000}
		for range 4 {
			in.Cols = append(in.Cols, vec.New(types.TInt4, 1000))
		}
		for i := range 1000 {
			k := int64(lo + i)
			in.Cols[0].I64[i], in.Cols[1].I64[i], in.Cols[2].I64[i], in.Cols[3].I64[i] = k, k%10, k*7%1000, k%100_000
		}
		if _, err := wr.Insert(b.Context(), in, nil, table.InsertOpt{}); err != nil {
			b.Fatal(err)
		}
	}
	x.commit()
	x = w.begin()
	s := scanNode(a)
	s.Common.Cost = million
	s.Filter = call("int4lt", types.TBool, col(liveTypes(a), 2), lit(900))
	return x, s
}

func BenchmarkScanFilterGroup(b *testing.B)         { benchScanGroup(b, 1) }
func BenchmarkScanFilterGroupParallel(b *testing.B) { benchScanGroup(b, 2) }

func benchScanGroup(b *testing.B, workers int) {
	x, s := benchTable(b)
	defer x.env.Txn.Rollback()
	x.env.MaxParallel = workers
	ts := liveTypes(s.Table)
	n := &plan.Group{Common: outCols([]types.T{types.TInt4, types.TInt8, types.TInt8}), Input: s, Keys: []plan.Expr{col(ts, 1)},
		Aggs: []plan.Agg{agg("count", types.TInt8), agg("sum", types.TInt8, col(ts, 3))}}
	run, err := Build(&plan.Query{Root: n, ReadOnly: true, Returns: true}, x.env)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		run.Reset(x.env)
		for {
			out, err := run.Next()
			if err != nil {
				b.Fatal(err)
			}
			if out == nil {
				break
			}
		}
		run.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/row")
}
