package executor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

func orderRows(keys []plan.SortKey, cols []int) func(a, b row) int {
	return func(a, b row) int {
		for i, k := range keys {
			x, y := a[cols[i]], b[cols[i]]
			c := 0
			switch {
			case x.Null && y.Null:
			case x.Null || y.Null:
				c = 1
				if x.Null == k.NullsFirst {
					c = -1
				}
			default:
				if c = types.Compare(x, y); k.Desc {
					c = -c
				}
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}

func TestSortIsTheStableSort(t *testing.T) {
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		for range 12 {
			rows := randomRows(r, r.IntN(1500), 1+r.IntN(40))
			var keys []plan.SortKey
			var cols []int
			for range 1 + r.IntN(3) {
				c := r.IntN(len(mixed))
				cols = append(cols, c)
				keys = append(keys, plan.SortKey{X: col(mixed, c), Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0})
			}
			n := &plan.Sort{Common: outCols(mixed), Input: valuesNode(mixed, rows), Keys: keys}
			want := slices.Clone(rows)
			slices.SortStableFunc(want, orderRows(keys, cols))
			if r.IntN(2) == 0 {
				k := r.IntN(60)
				n.Limit = &plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, int64(k))}
				want = want[:min(max(k, 1), len(want))]
			}
			equalRows(t, "sort", showAll(runNode(t, n, env, size), false), showAll(want, false))
		}
	})
}

func TestDistinctKeepsFirstRows(t *testing.T) {
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		for range 8 {
			rows := randomRows(r, r.IntN(1200), 1+r.IntN(12))
			on := []int{0, 2}
			seen := map[string]bool{}
			var want []row
			for _, x := range rows {
				k := fmt.Sprint(show(x[:1]), "|", x[2].Null, x[2].Dec.TrimScale())
				if !seen[k] {
					seen[k] = true
					want = append(want, x)
				}
			}
			n := &plan.Distinct{Common: outCols(mixed), Input: valuesNode(mixed, rows), On: on}
			equalRows(t, "distinct", showAll(runNode(t, n, env, size), true), showAll(want, true))

			slices.SortStableFunc(rows, orderRows([]plan.SortKey{{}}, []int{0}))
			n = &plan.Distinct{Common: outCols(mixed), Input: valuesNode(mixed, rows), On: []int{0}, Ordered: true}
			want = slices.CompactFunc(slices.Clone(rows), func(a, b row) bool { return show(a[:1]) == show(b[:1]) })
			equalRows(t, "ordered distinct", showAll(runNode(t, n, env, size), false), showAll(want, false))
		}
	})
}

func TestGroupFoldsEachKey(t *testing.T) {
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		for range 8 {
			rows := randomRows(r, r.IntN(1500), 1+r.IntN(300))
			type state struct {
				key         row
				n, sum, odd int64
				any         bool
				distinct    map[string]bool
			}
			byKey := map[string]*state{}
			for _, x := range rows {
				k := show(x[:2])
				s := byKey[k]
				if s == nil {
					s = &state{key: x[:2], distinct: map[string]bool{}}
					byKey[k] = s
				}
				s.n++
				if !x[0].Null {
					s.sum += x[0].I
					s.any = true
				}
				if !x[3].Null {
					s.distinct[show(x[3:4])] = true
					if x[3].F > 2 {
						s.odd++
					}
				}
			}
			var want []row
			for _, s := range byKey {
				sum := types.Null(types.TInt8)
				if s.any {
					sum = types.Int(types.TInt8, s.sum)
				}
				want = append(want, row{s.key[0], s.key[1], types.Int(types.TInt8, s.n), sum,
					types.Int(types.TInt8, int64(len(s.distinct))), types.Int(types.TInt8, s.odd)})
			}
			cd := agg("count", types.TInt8, col(mixed, 3))
			cd.Distinct = true
			cf := agg("count", types.TInt8)
			two := &plan.Const{At: plan.At{T: mixed[3]}, Val: types.Float(mixed[3], 2)}
			cf.Filter = call("float8gt", types.TBool, col(mixed, 3), two)
			n := &plan.Group{
				Common: outCols([]types.T{mixed[0], mixed[1], types.TInt8, types.TInt8, types.TInt8, types.TInt8}),
				Input:  valuesNode(mixed, rows),
				Keys:   []plan.Expr{col(mixed, 0), col(mixed, 1)},
				Aggs:   []plan.Agg{agg("count", types.TInt8), agg("sum", types.TInt8, col(mixed, 0)), cd, cf},
			}
			equalRows(t, "group", showAll(runNode(t, n, env, size), true), showAll(want, true))
		}
	})
}

func TestOrderedInputIsGroupedInOrder(t *testing.T) {
	ts := []types.T{types.TInt4, types.TInt4}
	for _, size := range []int{1, 7, 1024} {
		var rows []row
		var want []string
		for i := range 6000 {
			for j := range 1 + i%3 {
				rows = append(rows, ints([]int{i, j})...)
			}
			want = append(want, fmt.Sprintf("%d|%d", i, 1+i%3))
		}
		n := &plan.Group{Common: outCols([]types.T{ts[0], types.TInt8}), Input: valuesNode(ts, rows), Keys: []plan.Expr{col(ts, 0)},
			Aggs: []plan.Agg{agg("count", types.TInt8)}, Ordered: true}
		equalRows(t, "ordered groups", showAll(runNode(t, n, memEnv(t, 1), size), false), want)
	}
}

func TestGroupOrderedAggregate(t *testing.T) {
	ts := []types.T{types.TInt4, types.TText}
	rows := []row{
		{types.Int(ts[0], 1), types.Text("b")}, {types.Int(ts[0], 2), types.Text("z")},
		{types.Int(ts[0], 1), types.Text("a")}, {types.Int(ts[0], 1), types.Text("b")},
	}
	sep := &plan.Const{At: plan.At{T: types.TText}, Val: types.Text(",")}
	a := agg("string_agg", types.TText, col(ts, 1), sep)
	a.OrderBy = []plan.SortKey{{X: col(ts, 1), Desc: true}}
	d := a
	d.Distinct = true
	n := &plan.Group{Common: outCols([]types.T{ts[0], types.TText, types.TText}), Input: valuesNode(ts, rows),
		Keys: []plan.Expr{col(ts, 0)}, Aggs: []plan.Agg{a, d}}
	equalRows(t, "group", showAll(runNode(t, n, memEnv(t, 0), 2), false), []string{"1|b,b,a|b,a", "2|z|z"})
}

// TestDistinctArgumentsSpill aggregates distinct values whose set does not fit into the
// work memory, in the order of arrival, in a given one, and with FILTER.
func TestDistinctArgumentsSpill(t *testing.T) {
	ts := []types.T{types.TInt4, types.TInt4, types.TText}
	const values = 20000
	var rows []row
	for i := range 3 * values {
		v := i * 7919 % values
		rows = append(rows, row{types.Int(ts[0], int64(v%2)), types.Int(ts[1], int64(v)), types.Text(strconv.Itoa(v % 500))})
	}
	count := agg("count", types.TInt8, col(ts, 1))
	count.Distinct = true
	sum := agg("sum", types.TInt8, col(ts, 1))
	sum.Distinct, sum.Filter = true, call("int4gt", types.TBool, col(ts, 1), &plan.Const{At: plan.At{T: ts[1]}, Val: types.Int(ts[1], values/2-1)})
	list := agg("string_agg", types.TText, col(ts, 2), &plan.Const{At: plan.At{T: types.TText}, Val: types.Text(",")})
	list.Distinct, list.OrderBy, list.Filter = true, []plan.SortKey{{X: col(ts, 2), Desc: true}}, call("int4gt", types.TBool, col(ts, 1), &plan.Const{At: plan.At{T: ts[1]}, Val: types.Int(ts[1], values-500)})
	want := func(step, from int) string {
		var texts []string
		n, total := 0, 0
		for v := from; v < values; v += step {
			if n++; v >= values/2 {
				total += v
			}
			if v > values-500 {
				texts = append(texts, strconv.Itoa(v%500))
			}
		}
		slices.Sort(texts)
		slices.Reverse(texts)
		return fmt.Sprintf("%d|%d|%s", n, total, strings.Join(texts, ","))
	}
	for keys, want := range [][]string{{want(1, 0)}, {"0|" + want(2, 0), "1|" + want(2, 1)}} {
		n := &plan.Group{Common: outCols([]types.T{ts[0], types.TInt8, types.TInt8, types.TText}[1-keys:]), Input: valuesNode(ts, rows),
			Keys: []plan.Expr{col(ts, 0)}[:keys], Aggs: []plan.Agg{count, sum, list}}
		env := memEnv(t, 4<<10)
		equalRows(t, "group", showAll(runNode(t, n, env, 0), true), want)
		if env.Tally.TempFiles == 0 {
			t.Error("nothing was spilled")
		}
	}
}

func TestGroupWithoutKeysHasOneRow(t *testing.T) {
	ts := []types.T{types.TInt4}
	n := &plan.Group{Common: outCols([]types.T{types.TInt8, types.TInt8}), Input: valuesNode(ts, nil),
		Aggs: []plan.Agg{agg("count", types.TInt8), agg("sum", types.TInt8, col(ts, 0))}}
	equalRows(t, "group", showAll(runNode(t, n, memEnv(t, 0), 0), false), []string{"0|NULL"})
}

func TestGroupingSets(t *testing.T) {
	ts := []types.T{types.TInt4, types.TText}
	rows := []row{
		{types.Int(ts[0], 1), types.Text("a")}, {types.Int(ts[0], 1), types.Text("b")}, {types.Int(ts[0], 2), types.Null(ts[1])},
	}
	n := &plan.Group{Common: outCols([]types.T{ts[0], ts[1], types.TInt8, types.TInt4}), Input: valuesNode(ts, rows),
		Keys: []plan.Expr{col(ts, 0), col(ts, 1)}, Aggs: []plan.Agg{agg("count", types.TInt8)},
		Sets: [][]int{{0, 1}, {0}, {}}}
	want := []string{"1|NULL|2|2", "1|a|1|0", "1|b|1|0", "2|NULL|1|0", "2|NULL|1|2", "NULL|NULL|3|3"}
	equalRows(t, "sets", showAll(runNode(t, n, memEnv(t, 0), 2), true), want)
	n.Input = valuesNode(ts, nil)
	equalRows(t, "sets of nothing", showAll(runNode(t, n, memEnv(t, 0), 0), true), []string{"NULL|NULL|0|3"})
}

func TestSetOperations(t *testing.T) {
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		work := []int64{0, 1, 2000, 20_000}
		for i := range 12 {
			env.WorkMem = work[i%len(work)]
			most := []int{60, 60, 600}[i%3]
			left, right := randomRows(r, r.IntN(most), 2), randomRows(r, r.IntN(most), 2)
			ts := mixed[:2]
			cut := func(rows []row) (out []row) {
				for _, x := range rows {
					out = append(out, x[:2])
				}
				return out
			}
			left, right = cut(left), cut(right)
			for _, op := range []string{"INTERSECT", "EXCEPT"} {
				for _, all := range []bool{false, true} {
					n := &plan.SetOp{Common: outCols(ts), Op: op, All: all, Left: valuesNode(ts, left), Right: valuesNode(ts, right)}
					equalRows(t, fmt.Sprint(op, all), showAll(runNode(t, n, env, size), true), naiveSetOp(op, all, left, right))
					if used, temp := env.Mem.Used(), env.Mem.temp.Load(); used != 0 || temp != 0 {
						t.Fatalf("%s: %d bytes of memory and %d of files are still accounted for", op, used, temp)
					}
				}
			}
		}
	})
}

func naiveSetOp(op string, all bool, left, right []row) []string {
	l, r := map[string]int{}, map[string]int{}
	for _, x := range left {
		l[show(x)]++
	}
	for _, x := range right {
		r[show(x)]++
	}
	var out []string
	for k, n := range l {
		m := min(n, r[k])
		if op == "EXCEPT" {
			m = max(n-r[k], 0)
			if !all && r[k] > 0 {
				m = 0
			}
		}
		if !all {
			m = min(m, 1)
		}
		for range m {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

func TestLimitOffsetAndTies(t *testing.T) {
	num := func(n int) plan.Expr {
		return &plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, int64(n))}
	}
	ts := []types.T{types.TInt4}
	for _, size := range []int{1, 3, 1024} {
		for total := range 12 {
			var rows []row
			for i := range total {
				rows = append(rows, row{types.Int(ts[0], int64(i/2))})
			}
			for count := range 8 {
				for offset := range 6 {
					n := &plan.Limit{Common: outCols(ts), Input: valuesNode(ts, rows), Count: num(count), Offset: num(offset)}
					lo := min(offset, total)
					hi := min(lo+count, total)
					what := fmt.Sprintf("%d rows, limit %d offset %d, batches of %d", total, count, offset, size)
					equalRows(t, what, showAll(runNode(t, n, memEnv(t, 0), size), false), showAll(rows[lo:hi], false))
					n.TieKeys = []plan.SortKey{{X: col(ts, 0)}}
					for hi > lo && hi < total && rows[hi][0].I == rows[hi-1][0].I {
						hi++
					}
					equalRows(t, what+" with ties", showAll(runNode(t, n, memEnv(t, 0), size), false), showAll(rows[lo:hi], false))
				}
			}
		}
	}
}

// joinKinds are all kinds with the naive meaning of each.
var joinKinds = []plan.JoinKind{plan.Inner, plan.Left, plan.Right, plan.Full, plan.Semi, plan.Anti}

func naiveJoin(kind plan.JoinKind, left, right []row, match func(l, r row) bool) []row {
	var out []row
	nulls := func(ts []types.T) (r row) {
		for _, t := range ts {
			r = append(r, types.Null(t))
		}
		return r
	}
	hit := make([]bool, len(right))
	for _, l := range left {
		any := false
		for j, r := range right {
			if match(l, r) {
				hit[j] = true
				if kind != plan.Semi && kind != plan.Anti {
					out = append(out, slices.Concat(l, r))
				} else if kind == plan.Semi && !any {
					out = append(out, l)
				}
				any = true
			}
		}
		if !any {
			switch kind {
			case plan.Left, plan.Full:
				out = append(out, slices.Concat(l, nulls(mixed)))
			case plan.Anti:
				out = append(out, l)
			}
		}
	}
	if kind == plan.Right || kind == plan.Full {
		for j, r := range right {
			if !hit[j] {
				out = append(out, slices.Concat(nulls(mixed), r))
			}
		}
	}
	return out
}

func TestJoinsAgreeWithTheNaiveJoin(t *testing.T) {
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		for range 4 {
			left, right := randomRows(r, r.IntN(200), 20), randomRows(r, r.IntN(400), 20)
			both := append(slices.Clone(mixed), mixed...)
			residual := call("float8lt", types.TBool, col(both, 3), col(both, 7))
			for _, kind := range joinKinds {
				for _, withResidual := range []bool{false, true} {
					match := func(l, r row) bool {
						if l[0].Null || r[0].Null || l[0].I != r[0].I {
							return false
						}
						return !withResidual || !l[3].Null && !r[3].Null && l[3].F < r[3].F
					}
					want := naiveJoin(kind, left, right, match)
					ts := both
					if kind == plan.Semi || kind == plan.Anti {
						ts = mixed
					}
					var res plan.Expr
					if withResidual {
						res = residual
					}
					what := fmt.Sprintf("kind %d residual %v", kind, withResidual)
					keys := []plan.Expr{col(mixed, 0)}
					h := &plan.HashJoin{Common: outCols(ts), Kind: kind, Left: valuesNode(mixed, left), Right: valuesNode(mixed, right),
						LeftKeys: keys, RightKeys: keys, Residual: res}
					equalRows(t, "hash join "+what, showAll(runNode(t, h, env, size), true), showAll(want, true))

					cond := call("int4eq", types.TBool, col(both, 0), col(both, 4))
					if withResidual {
						cond = &plan.And{At: plan.At{T: types.TBool}, Args: []plan.Expr{cond, residual}}
					}
					l := &plan.LoopJoin{Common: outCols(ts), Kind: kind, Left: h.Left, Right: h.Right, Cond: cond}
					equalRows(t, "loop join "+what, showAll(runNode(t, l, env, size), true), showAll(want, true))

					order := orderRows([]plan.SortKey{{}}, []int{0})
					ls, rs := slices.Clone(left), slices.Clone(right)
					slices.SortStableFunc(ls, order)
					slices.SortStableFunc(rs, order)
					m := &plan.MergeJoin{Common: outCols(ts), Kind: kind, Left: valuesNode(mixed, ls), Right: valuesNode(mixed, rs),
						LeftKeys: keys, RightKeys: keys, Residual: res}
					equalRows(t, "merge join "+what, showAll(runNode(t, m, env, size), true), showAll(want, true))
				}
			}
		}
	})
}

func TestHashJoinKeepsLeftOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	left, right := randomRows(r, 300, 30), randomRows(r, 50, 30)
	keys := []plan.Expr{col(mixed, 1), col(mixed, 2)}
	n := &plan.HashJoin{Common: outCols(append(slices.Clone(mixed), mixed...)), Kind: plan.Left, Left: valuesNode(mixed, left), Right: valuesNode(mixed, right),
		LeftKeys: keys, RightKeys: keys, NullEq: []bool{true, false}}
	want := naiveJoin(plan.Left, left, right, func(l, r row) bool {
		eq := l[1].Null && r[1].Null || !l[1].Null && !r[1].Null && types.Equal(l[1], r[1])
		return eq && !l[2].Null && !r[2].Null && types.Equal(l[2], r[2])
	})
	equalRows(t, "hash join", showAll(runNode(t, n, memEnv(t, 0), 7), false), showAll(want, false))
}

func TestNullAwareAntiJoinIsNotIn(t *testing.T) {
	ts := []types.T{types.TInt4}
	ints := func(vals ...int) (rows []row) {
		for _, v := range vals {
			d := types.Int(ts[0], int64(v))
			if v < 0 {
				d = types.Null(ts[0])
			}
			rows = append(rows, row{d})
		}
		return rows
	}
	tests := []struct {
		name        string
		left, right []row
		want        []string
	}{
		{"an empty right side lets all pass", ints(1, -1), nil, []string{"1", "NULL"}},
		{"NULL on the left is not true", ints(1, -1, 3), ints(3), []string{"1"}},
		{"NULL on the right lets none pass", ints(1, 3), ints(3, -1), nil},
	}
	for _, tt := range tests {
		for _, mem := range []int64{0, 1} {
			n := &plan.HashJoin{Common: outCols(ts), Kind: plan.Anti, NullAware: true, Left: valuesNode(ts, tt.left), Right: valuesNode(ts, tt.right),
				LeftKeys: []plan.Expr{col(ts, 0)}, RightKeys: []plan.Expr{col(ts, 0)}}
			equalRows(t, tt.name, showAll(runNode(t, n, memEnv(t, mem), 2), true), showAll2(tt.want))
		}
	}
}

func showAll2(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func TestMemoryLimitIsAnError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	env := memEnv(t, 0)
	env.Mem.Limit = 10_000
	n := &plan.Sort{Common: outCols(mixed), Input: valuesNode(mixed, randomRows(r, 2000, 50)), Keys: []plan.SortKey{{X: col(mixed, 0)}}}
	run, err := Build(&plan.Query{Root: n, ReadOnly: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if _, err := tryCollect(run); sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		t.Fatalf("got %v, want 53200", err)
	}
}
