package expr_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

func aggProc(t *testing.T, name string, args ...types.OID) *catalog.Proc {
	t.Helper()
	for _, p := range catalog.ProcsByName(name) {
		if p.Kind != 'a' || len(p.Args) != len(args) {
			continue
		}
		ok := true
		for i, a := range p.Args {
			ok = ok && (a == args[i] || a == types.OAny || a == types.OAnynonarray || a == types.OAnyelement)
		}
		if ok {
			return p
		}
	}
	t.Fatalf("no aggregate %s", name)
	return nil
}

// TestAggregatesLikeServer folds the array of each line of testdata/agg at once,
// and as two halves that are merged.
func TestAggregatesLikeServer(t *testing.T) {
	const file = "testdata/agg/simple.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if *server != "" {
		data = []byte(askAggregates(t, string(data)))
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 4)
		arg := types.Of(types.ByName(f[1]).OID)
		arr, err := types.Parse(types.Of(types.ArrayOf(arg.OID)), f[2], types.DefaultFmt)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, elems, err := types.ArrayElems(arr)
		if err != nil {
			t.Fatal(err)
		}
		p := aggProc(t, f[0], arg.OID)
		ret := types.Of(p.Ret)
		if p.Ret == types.OAnyarray {
			ret = arr.T
		}
		a := &plan.Agg{Proc: p, Args: []plan.Expr{&plan.Col{At: plan.At{T: arg}}}, T: ret}
		for _, merged := range []bool{false, true} {
			if merged && arg.OID == types.OFloat4 && f[0] == "sum" {
				continue // single-precision sums depend on the order
			}
			if got := foldAggregate(t, a, elems, arg, merged); got != f[3] {
				t.Errorf("%s (merged: %v): got %s", strings.Join(f, "|"), merged, got)
			}
		}
	}
}

func foldAggregate(t *testing.T, a *plan.Agg, elems []types.Datum, arg types.T, merged bool) string {
	t.Helper()
	env := testEnv()
	agg, err := expr.NewAggregator(a, nil)
	if err != nil {
		return err.Error()
	}
	agg.Grow(2)
	other, _ := expr.NewAggregator(a, nil)
	other.Grow(1)
	for i, d := range elems {
		v := vec.New(arg, 1)
		d.T = arg
		v.Set(0, d)
		target := agg
		if merged && i >= len(elems)/2 {
			target = other
		}
		if err := target.Add(env, []uint32{0}, []*vec.Vec{v}, nil); err != nil {
			return answer(types.Datum{}, err)
		}
	}
	if merged {
		if err := agg.Merge(other, 0, 0); err != nil {
			return answer(types.Datum{}, err)
		}
	}
	out := vec.New(a.T, 2)
	if err := agg.Result(env, out, 0, 2); err != nil {
		return answer(types.Datum{}, err)
	}
	return answer(out.Get(0), nil)
}

func askAggregates(t *testing.T, data string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, *server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var out strings.Builder
	for line := range strings.Lines(data) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 4)
		res, err := conn.PgConn().Exec(ctx, "SELECT "+f[0]+"(x) FROM unnest('"+f[2]+"'::"+f[1]+"[]) x").ReadAll()
		if err != nil {
			t.Fatal(line, err)
		}
		want := "NULL"
		if v := res[0].Rows[0][0]; v != nil {
			want = escape(string(v))
		}
		out.WriteString(strings.Join(f[:3], "|") + "|" + want + "\n")
	}
	return out.String()
}
