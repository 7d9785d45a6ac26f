package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

var int4s = []types.T{types.TInt4}

func param(i int) plan.Expr { return &plan.Param{At: plan.At{T: types.TInt4, Off: -1}, Idx: i} }

func series(args ...plan.Expr) plan.Expr {
	p := &catalog.Proc{Name: "generate_series", Src: "generate_series_int4", Kind: 'f', RetSet: true, Strict: true, Volatile: 'i', Ret: types.OInt4,
		Args: []types.OID{types.OInt4, types.OInt4}}
	return &plan.Call{At: plan.At{T: types.TInt4, Off: -1}, Proc: p, Args: args}
}

func runQuery(t *testing.T, q *plan.Query, env *Env) []string {
	t.Helper()
	r, err := Build(q, env)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return showAll(collect(t, r), false)
}

func TestFuncScanPadsShorterSets(t *testing.T) {
	n := &plan.FuncScan{Common: outCols([]types.T{types.TInt4, types.TInt4, types.TInt8}), Funcs: []plan.Expr{series(lit(1), lit(3)), series(lit(5), lit(6))},
		FuncCols: []int{1, 1}, Ordinality: true}
	equalRows(t, "rows from", showAll(runNode(t, n, memEnv(t, 0), 0), false), []string{"1|5|1", "2|6|2", "3|NULL|3"})
	n = &plan.FuncScan{Common: outCols(int4s), Funcs: []plan.Expr{series(lit(1), lit(5000))}, FuncCols: []int{1}}
	if got := len(runNode(t, n, memEnv(t, 0), 0)); got != 5000 {
		t.Fatalf("%d rows, want 5000", got)
	}
}

func TestProjectSetRepeatsPlainColumns(t *testing.T) {
	n := &plan.ProjectSet{Common: outCols([]types.T{types.TInt4, types.TInt4, types.TInt4}), Input: valuesNode(int4s, ints([]int{2}, []int{0}, []int{3})),
		Exprs: []plan.Expr{col(int4s, 0), series(lit(1), col(int4s, 0)), series(lit(8), lit(9))}}
	want := []string{"2|1|8", "2|2|9", "0|NULL|8", "0|NULL|9", "3|1|8", "3|2|9", "3|3|NULL"}
	equalRows(t, "project set", showAll(runNode(t, n, memEnv(t, 0), 0), false), want)
}

func TestApplyRunsOncePerRow(t *testing.T) {
	left := valuesNode(int4s, ints([]int{2}, []int{0}, []int{none}, []int{3}))
	both := []types.T{types.TInt4, types.TInt4}
	for _, tt := range []struct {
		kind plan.JoinKind
		want []string
	}{
		{plan.Inner, []string{"2|1", "2|2", "3|1", "3|2", "3|3"}},
		{plan.Left, []string{"2|1", "2|2", "0|NULL", "NULL|NULL", "3|1", "3|2", "3|3"}},
		{plan.Semi, []string{"2", "3"}},
		{plan.Anti, []string{"0", "NULL"}},
	} {
		n := &plan.Apply{Kind: tt.kind, Left: left, Outer: []plan.SubParam{{Idx: 0, X: col(int4s, 0)}},
			Right: &plan.FuncScan{Common: outCols(int4s), Funcs: []plan.Expr{series(lit(1), param(0))}, FuncCols: []int{1}}}
		n.Common = outCols(both)
		if tt.kind == plan.Semi || tt.kind == plan.Anti {
			n.Common = outCols(int4s)
		}
		q := &plan.Query{Root: n, NumSlots: 1, ReadOnly: true, Returns: true}
		equalRows(t, fmt.Sprint("kind ", tt.kind), runQuery(t, q, memEnv(t, 0)), tt.want)
	}
}

func TestRecursiveCTE(t *testing.T) {
	c := &plan.CTE{Name: "r", Recursive: true, Plan: valuesNode(int4s, ints([]int{1}, []int{1}))}
	next := &plan.Project{Common: outCols(int4s), Exprs: []plan.Expr{call("int4pl", types.TInt4, col(int4s, 0), lit(1))},
		Input: &plan.Filter{Common: outCols(int4s), Input: &plan.WorkScan{Common: outCols(int4s), CTE: c}, Cond: call("int4lt", types.TBool, col(int4s, 0), lit(4))}}
	c.Step = next
	q := &plan.Query{Root: &plan.CTEScan{Common: outCols(int4s), CTE: c}, CTEs: []*plan.CTE{c}, ReadOnly: true, Returns: true}
	for _, mem := range []int64{0, 1} {
		c.UnionAll = false
		equalRows(t, "union", runQuery(t, q, memEnv(t, mem)), []string{"1", "2", "3", "4"})
		c.UnionAll = true
		equalRows(t, "union all", runQuery(t, q, memEnv(t, mem)), []string{"1", "1", "2", "2", "3", "3", "4", "4"})
	}
}

func TestSubplans(t *testing.T) {
	outer := valuesNode(int4s, ints([]int{2}, []int{5}, []int{2}, []int{none}, []int{0}))
	inner := &plan.Group{Common: outCols([]types.T{types.TInt8}), Aggs: []plan.Agg{agg("sum", types.TInt8, col(int4s, 0))},
		Input: &plan.FuncScan{Common: outCols(int4s), Funcs: []plan.Expr{series(lit(1), param(0))}, FuncCols: []int{1}}}
	sub := &plan.SubPlan{At: plan.At{T: types.TInt8, Off: -1}, Kind: plan.SubScalar, Plan: inner, Outer: []plan.SubParam{{Idx: 0, X: col(int4s, 0)}}}
	n := &plan.Project{Common: outCols([]types.T{types.TInt4, types.TInt8}), Input: outer, Exprs: []plan.Expr{col(int4s, 0), sub}}
	q := &plan.Query{Root: n, NumSlots: 1, ReadOnly: true, Returns: true}
	equalRows(t, "correlated", runQuery(t, q, memEnv(t, 0)), []string{"2|3", "5|15", "2|3", "NULL|NULL", "0|NULL"})

	two := &plan.SubPlan{At: plan.At{T: types.TInt4, Off: -1}, Kind: plan.SubScalar, Plan: valuesNode(int4s, ints([]int{1}, []int{2}))}
	run, err := Build(&plan.Query{Root: &plan.Project{Common: outCols(int4s), Input: outer, Exprs: []plan.Expr{two}}, ReadOnly: true}, memEnv(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if _, err := tryCollect(run); sqlerr.CodeOf(err) != sqlerr.CardinalityViolation {
		t.Fatalf("got %v, want 21000", err)
	}
}

func TestRunIsUsedAgainWithOtherParameters(t *testing.T) {
	n := &plan.Filter{Common: outCols(int4s), Input: valuesNode(int4s, ints([]int{1}, []int{2}, []int{3})), Cond: call("int4ge", types.TBool, col(int4s, 0), param(0))}
	env := memEnv(t, 0)
	env.Expr.Params = []types.Datum{types.Int(types.TInt4, 3)}
	run, err := Build(&plan.Query{Root: n, Params: int4s, NumSlots: 1, ReadOnly: true, Returns: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	equalRows(t, "first", showAll(collect(t, run), false), []string{"3"})
	env2 := memEnv(t, 0)
	env2.Expr.Params = []types.Datum{types.Int(types.TInt4, 2)}
	run.Reset(env2)
	equalRows(t, "second", showAll(collect(t, run), false), []string{"2", "3"})
	if run.Affected() != 2 {
		t.Fatalf("affected %d, want 2", run.Affected())
	}
	run.Close()
}

func TestCancelNamesItsCause(t *testing.T) {
	for _, tt := range []struct {
		cause error
		want  string
	}{
		{context.Canceled, "canceling statement due to user request"},
		{context.DeadlineExceeded, "canceling statement due to statement timeout"},
		{sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command"), "terminating connection due to administrator command"},
	} {
		env := memEnv(t, 0)
		ctx, cancel := context.WithCancelCause(context.Background())
		env.Ctx, env.Expr.Ctx = ctx, ctx
		cancel(tt.cause)
		run, err := Build(&plan.Query{Root: valuesNode(int4s, ints([]int{1})), ReadOnly: true}, env)
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Next()
		run.Close()
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Message != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestStatsCountRowsAndLoops(t *testing.T) {
	env := memEnv(t, 0)
	env.Stats = NewStats()
	v := valuesNode(int4s, ints([]int{1}, []int{2}, []int{3}))
	v.Common.ID = 2
	n := &plan.Sort{Common: outCols(int4s), Input: v, Keys: []plan.SortKey{{X: col(int4s, 0), Desc: true}}}
	n.Common.ID = 1
	run, err := Build(&plan.Query{Root: n, ReadOnly: true, Returns: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	equalRows(t, "sort", showAll(collect(t, run), false), []string{"3", "2", "1"})
	run.Close()
	for id := 1; id <= 2; id++ {
		if s := run.NodeStats()[id]; s == nil || s.Rows != 3 || s.Loops != 1 {
			t.Errorf("node %d: %+v", id, s)
		}
	}
	if run.NodeStats()[1].Mem == 0 {
		t.Error("the sort has kept rows and counts no memory")
	}
}
