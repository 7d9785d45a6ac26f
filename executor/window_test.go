package executor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

func winFunc(name string, ret types.T, f plan.Frame, args ...plan.Expr) plan.WindowFunc {
	return plan.WindowFunc{Agg: plan.Agg{Proc: &catalog.Proc{Name: name, Src: "window_" + name, Kind: 'w', Ret: ret.OID}, Args: args, T: ret}, Frame: f}
}

var defaultFrame = plan.Frame{Mode: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}

// sortedNode passes rows in the order of the keys.
func sortedNode(ts []types.T, rows []row, keys ...plan.SortKey) plan.Node {
	n := &plan.Sort{Input: valuesNode(ts, rows), Keys: keys, Stable: true}
	n.Common = outCols(ts)
	return n
}

func TestRankingFunctions(t *testing.T) {
	ts := []types.T{types.TInt4, types.TInt4}
	rows := ints([]int{1, 30}, []int{2, 5}, []int{1, 10}, []int{1, 30}, []int{1, 40}, []int{2, none})
	f8 := types.Of(types.OFloat8)
	n := &plan.Window{Input: sortedNode(ts, rows, plan.SortKey{X: col(ts, 0)}, plan.SortKey{X: col(ts, 1)}), Partition: []plan.Expr{col(ts, 0)}, OrderBy: []plan.SortKey{{X: col(ts, 1)}},
		Funcs: []plan.WindowFunc{
			winFunc("row_number", types.TInt8, defaultFrame), winFunc("rank", types.TInt8, defaultFrame), winFunc("dense_rank", types.TInt8, defaultFrame),
			winFunc("percent_rank", f8, defaultFrame), winFunc("cume_dist", f8, defaultFrame), winFunc("ntile", types.TInt4, defaultFrame, lit(3)),
			winFunc("lag", types.TInt4, defaultFrame, col(ts, 1)), winFunc("lead", types.TInt4, defaultFrame, col(ts, 1), lit(2), lit(-1)),
			winFunc("first_value", types.TInt4, defaultFrame, col(ts, 1)), winFunc("last_value", types.TInt4, defaultFrame, col(ts, 1)),
			winFunc("nth_value", types.TInt4, defaultFrame, col(ts, 1), lit(2)),
		}}
	n.Common = outCols([]types.T{ts[0], ts[1], types.TInt8, types.TInt8, types.TInt8, f8, f8, types.TInt4, types.TInt4, types.TInt4, types.TInt4, types.TInt4, types.TInt4})
	want := []string{
		"1|10|1|1|1|0|0.25|1|NULL|30|10|10|NULL",
		"1|30|2|2|2|0.3333333333333333|0.75|1|10|40|10|30|30",
		"1|30|3|2|2|0.3333333333333333|0.75|2|30|-1|10|30|30",
		"1|40|4|4|3|1|1|3|30|-1|10|40|30",
		"2|5|1|1|1|0|0.5|1|NULL|-1|5|5|NULL",
		"2|NULL|2|2|2|1|1|2|5|-1|5|NULL|NULL",
	}
	for _, size := range []int{1, 4, 1024} {
		equalRows(t, "window", showAll(runNode(t, n, memEnv(t, 0), size), false), want)
	}
}

// TestFramesAgreeWithTheirDefinition sums over every kind of frame, and forgets rows
// that have been passed as soon as it can.
func TestFramesAgreeWithTheirDefinition(t *testing.T) {
	defer func(n int) { windowTrim = n }(windowTrim)
	windowTrim = 1
	ts := []types.T{types.TInt4, types.TInt4, types.TInt4}
	forSizes(t, func(t *testing.T, r *rand.Rand, env *Env, size int) {
		starts := []string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING"}
		ends := []string{"PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}
		for range 25 {
			var rows []row
			for range r.IntN(60) {
				rows = append(rows, ints([]int{r.IntN(2), r.IntN(12), r.IntN(100)})...)
				if r.IntN(8) == 0 {
					rows[len(rows)-1][1].Null = true
				}
			}
			f := plan.Frame{Mode: []string{"ROWS", "RANGE", "GROUPS"}[r.IntN(3)], StartKind: starts[r.IntN(4)], EndKind: ends[r.IntN(4)],
				Exclude: []string{"", "", "CURRENT ROW", "GROUP", "TIES"}[r.IntN(5)]}
			a, b := r.IntN(4), r.IntN(4)
			off := func(kind string, v int) plan.Expr {
				if kind != "PRECEDING" && kind != "FOLLOWING" {
					return nil
				}
				if f.Mode == "RANGE" {
					return lit(v)
				}
				return &plan.Const{At: plan.At{T: types.TInt8}, Val: types.Int(types.TInt8, int64(v))}
			}
			f.Start, f.End = off(f.StartKind, a), off(f.EndKind, b)
			desc := r.IntN(2) == 0
			key := plan.SortKey{X: col(ts, 1), Desc: desc, NullsFirst: r.IntN(2) == 0}
			sum := plan.WindowFunc{Agg: agg("sum", types.TInt8, col(ts, 2)), Frame: f}
			n := &plan.Window{Input: sortedNode(ts, rows, plan.SortKey{X: col(ts, 0)}, key), Partition: []plan.Expr{col(ts, 0)}, OrderBy: []plan.SortKey{key},
				Funcs: []plan.WindowFunc{sum, winFunc("last_value", types.TInt4, f, col(ts, 2))}}
			n.Common = outCols([]types.T{ts[0], ts[1], ts[2], types.TInt8, types.TInt4})
			what := fmt.Sprintf("%s %s %d to %s %d exclude %q desc %v nulls first %v", f.Mode, f.StartKind, a, f.EndKind, b, f.Exclude, desc, key.NullsFirst)
			equalRows(t, what, showAll(runNode(t, n, env, size), false), naiveFrames(rows, key, f, a, b))
		}
	})
}

// TestWindowsSpill runs functions that ask for the end of their partition with hardly any
// work memory, and compares with what they give when all rows are held.
func TestWindowsSpill(t *testing.T) {
	ts := []types.T{types.TInt4, types.TInt4, types.TText}
	f8 := types.Of(types.OFloat8)
	whole := plan.Frame{Mode: "ROWS", StartKind: "UNBOUNDED PRECEDING", EndKind: "UNBOUNDED FOLLOWING"}
	rowwise := plan.Frame{Mode: "ROWS", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	filtered := plan.WindowFunc{Agg: agg("sum", types.TInt8, col(ts, 1)), Frame: whole}
	filtered.Filter = call("int4gt", types.TBool, col(ts, 1), lit(3))
	all := []plan.WindowFunc{
		winFunc("row_number", types.TInt8, defaultFrame), winFunc("rank", types.TInt8, defaultFrame),
		winFunc("percent_rank", f8, defaultFrame), winFunc("cume_dist", f8, defaultFrame),
		winFunc("ntile", types.TInt4, defaultFrame, lit(7)), winFunc("ntile", types.TInt4, defaultFrame, col(ts, 1)),
		winFunc("lag", types.TText, defaultFrame, col(ts, 2)), winFunc("lead", types.TText, defaultFrame, col(ts, 2), lit(3)),
		winFunc("first_value", types.TText, whole, col(ts, 2)), winFunc("last_value", types.TText, whole, col(ts, 2)),
		winFunc("first_value", types.TText, defaultFrame, col(ts, 2)), winFunc("last_value", types.TText, rowwise, col(ts, 2)),
		{Agg: agg("count", types.TInt8), Frame: whole}, filtered,
		{Agg: agg("max", types.TText, col(ts, 2)), Frame: whole}, {Agg: agg("sum", types.TInt8, col(ts, 1)), Frame: defaultFrame},
	}
	defer func(n int) { windowTrim = n }(windowTrim)
	windowTrim = 1
	r := rand.New(rand.NewPCG(1, 2))
	spilled := 0
	for round := range 60 {
		var rows []row
		for g := range 1 + r.IntN(4) {
			for range r.IntN([]int{4, 3000}[r.IntN(2)]) {
				rows = append(rows, row{types.Int(ts[0], int64(g)), types.Int(ts[1], 1+int64(r.IntN(400))), types.Text(fmt.Sprint("v", r.IntN(1000)))})
				if r.IntN(9) == 0 {
					rows[len(rows)-1][1+r.IntN(2)].Null = true
				}
			}
		}
		var funcs []plan.WindowFunc
		out := slices.Clone(ts)
		for range 1 + r.IntN(4) {
			f := all[r.IntN(len(all))]
			funcs = append(funcs, f)
			out = append(out, f.T)
		}
		n := &plan.Window{Partition: []plan.Expr{col(ts, 0)}, OrderBy: []plan.SortKey{{X: col(ts, 1)}}, Funcs: funcs}
		if round%4 == 0 {
			n.Partition, n.OrderBy = nil, n.OrderBy[:r.IntN(2)]
		}
		keys := slices.Clone(n.OrderBy)
		if n.Partition != nil {
			keys = append([]plan.SortKey{{X: col(ts, 0)}}, keys...)
		}
		n.Input, n.Common = sortedNode(ts, rows, append(keys, plan.SortKey{X: col(ts, 2)}, plan.SortKey{X: col(ts, 1)})...), outCols(out)
		want := showAll(runNode(t, n, memEnv(t, 0), 0), false)
		for _, size := range []int{1 + r.IntN(50), 1024} {
			env := memEnv(t, 20<<10)
			equalRows(t, fmt.Sprint("round ", round), showAll(runNode(t, n, env, size), false), want)
			spilled += int(env.Tally.TempFiles)
		}
	}
	if spilled == 0 {
		t.Error("nothing was spilled")
	}
}

func naiveFrames(rows []row, key plan.SortKey, f plan.Frame, a, b int) []string {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, orderRows([]plan.SortKey{{}, key}, []int{0, 1}))
	peer := orderRows([]plan.SortKey{key}, []int{1})
	var out []string
	for lo := 0; lo < len(rows); {
		hi := lo
		for hi < len(rows) && rows[hi][0].I == rows[lo][0].I {
			hi++
		}
		part := rows[lo:hi]
		lo = hi
		group := make([]int, len(part))
		for i := 1; i < len(part); i++ {
			group[i] = group[i-1] + boolInt(peer(part[i-1], part[i]) != 0)
		}
		for i, x := range part {
			sum, last := types.Null(types.TInt8), types.Null(types.TInt4)
			for j, y := range part {
				if !afterStart(part, group, key, f, i, j, a) || !beforeEnd(part, group, key, f, i, j, b) {
					continue
				}
				same := group[i] == group[j]
				if f.Exclude == "CURRENT ROW" && i == j || f.Exclude == "GROUP" && same || f.Exclude == "TIES" && same && i != j {
					continue
				}
				sum.Null, last.Null = false, false
				sum.I += y[2].I
				last.I = y[2].I
			}
			out = append(out, show(append(slices.Clone(x), sum, last)))
		}
	}
	return out
}

// distance is how far row j is after row i in the frame's unit; ok is false when
// the key's NULLs make it meaningless.
func distance(part []row, group []int, key plan.SortKey, f plan.Frame, i, j int) (d int, ok bool) {
	switch f.Mode {
	case "ROWS":
		return j - i, true
	case "GROUPS":
		return group[j] - group[i], true
	}
	x, y := part[i][1], part[j][1]
	if x.Null || y.Null {
		return 0, false
	}
	if key.Desc {
		return int(x.I - y.I), true
	}
	return int(y.I - x.I), true
}

func afterStart(part []row, group []int, key plan.SortKey, f plan.Frame, i, j, a int) bool {
	switch f.StartKind {
	case "UNBOUNDED PRECEDING":
		return true
	case "CURRENT ROW":
		if f.Mode == "ROWS" {
			return j >= i
		}
		return group[j] >= group[i]
	}
	d, ok := distance(part, group, key, f, i, j)
	if !ok { // NULLs are peers of each other and lie beyond all values
		return group[j] >= group[i]
	}
	if f.StartKind == "PRECEDING" {
		a = -a
	}
	return d >= a
}

func beforeEnd(part []row, group []int, key plan.SortKey, f plan.Frame, i, j, b int) bool {
	switch f.EndKind {
	case "UNBOUNDED FOLLOWING":
		return true
	case "CURRENT ROW":
		if f.Mode == "ROWS" {
			return j <= i
		}
		return group[j] <= group[i]
	}
	d, ok := distance(part, group, key, f, i, j)
	if !ok {
		return group[j] <= group[i]
	}
	if f.EndKind == "PRECEDING" {
		b = -b
	}
	return d <= b
}
