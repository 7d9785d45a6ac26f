package executor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

type row = []types.Datum

// memEnv is an environment without storage.
func memEnv(t testing.TB, workMem int64) *Env {
	return &Env{Tally: new(Tally), Ctx: context.Background(), WorkMem: workMem, TempDir: t.TempDir(), Mem: new(Memory),
		Expr: &expr.Env{Ctx: context.Background(), Fmt: types.DefaultFmt}}
}

func outCols(ts []types.T) plan.Base {
	var b plan.Base
	for i, t := range ts {
		b.Cols = append(b.Cols, plan.OutCol{Name: fmt.Sprint("c", i), T: t})
	}
	return b
}

func valuesNode(ts []types.T, rows []row) *plan.Values {
	n := &plan.Values{Common: outCols(ts)}
	for _, r := range rows {
		es := make([]plan.Expr, len(r))
		for i, d := range r {
			es[i] = &plan.Const{At: plan.At{T: ts[i], Off: -1}, Val: d}
		}
		n.Rows = append(n.Rows, es)
	}
	return n
}

func col(ts []types.T, i int) plan.Expr {
	return &plan.Col{At: plan.At{T: ts[i], Off: -1}, Idx: i}
}

// call is a call of a strict immutable function of the registry.
func call(src string, ret types.T, args ...plan.Expr) plan.Expr {
	p := &catalog.Proc{Name: src, Src: src, Kind: 'f', Strict: true, Volatile: 'i', Ret: ret.OID}
	for _, a := range args {
		p.Args = append(p.Args, a.Type().OID)
	}
	return &plan.Call{At: plan.At{T: ret, Off: -1}, Proc: p, Args: args}
}

func agg(name string, ret types.T, args ...plan.Expr) plan.Agg {
	p := &catalog.Proc{Name: name, Src: "aggregate_dummy", Kind: 'a', Ret: ret.OID}
	for _, a := range args {
		p.Args = append(p.Args, a.Type().OID)
	}
	return plan.Agg{Proc: p, Args: args, Star: len(args) == 0, T: ret, Off: -1}
}

// chunked passes an operator's rows in batches of a given size, between rows
// that are not selected.
type chunked struct {
	Operator
	size  int
	types []types.T
	rows  *rowStore
	at    int
	out   vec.Batch
}

func (c *chunked) Open(env *Env) error {
	c.rows, c.at = newRowStore(c.types), 0
	return readAll(env, c.Operator, c.rows, new(account))
}

func (c *chunked) Next() (*vec.Batch, error) {
	n := min(c.size, c.rows.n-c.at)
	if n == 0 {
		return nil, nil
	}
	rows := make([]uint32, 0, 2*n)
	sel := make([]uint32, 0, n)
	for i := range n {
		rows = append(rows, 0) // junk
		sel = append(sel, uint32(len(rows)))
		rows = append(rows, uint32(c.at+i))
	}
	c.at += n
	c.out.Cols = newVecs(c.types)
	gatherBatch(c.out.Cols, c.rows.cols, rows, false)
	c.out.N, c.out.Sel = len(rows), sel
	return &c.out, nil
}

// rechunk puts chunked operators around an operator's inputs.
func rechunk(op Operator, n plan.Node, size int) {
	wrap := func(in *Operator, i int) {
		*in = &chunked{Operator: *in, size: size, types: outTypes(n.Children()[i])}
	}
	switch op := op.(type) {
	case *sortOp:
		wrap(&op.input, 0)
	case *group:
		wrap(&op.input, 0)
	case *distinct:
		wrap(&op.input, 0)
	case *limit:
		wrap(&op.input, 0)
	case *filter:
		wrap(&op.input, 0)
	case *project:
		wrap(&op.input, 0)
	case *window:
		wrap(&op.input, 0)
	case *hashJoin:
		wrap(&op.left, 0)
		wrap(&op.right, 1)
	case *loopJoin:
		wrap(&op.left, 0)
		wrap(&op.right, 1)
	case *mergeJoin:
		wrap(&op.left, 0)
		wrap(&op.right, 1)
	case *setOp:
		wrap(&op.left, 0)
		wrap(&op.right, 1)
	}
}

// runNode runs a plan with inputs in batches of size rows and returns the rows.
func runNode(t testing.TB, n plan.Node, env *Env, size int) []row {
	t.Helper()
	r, err := Build(&plan.Query{Root: n, ReadOnly: true, Returns: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if size > 0 {
		rechunk(r.root, n, size)
	}
	return collect(t, r)
}

func collect(t testing.TB, r *Run) []row {
	t.Helper()
	rows, err := tryCollect(r)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func tryCollect(r *Run) ([]row, error) {
	var out []row
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return out, err
		}
		if b.Rows() == 0 {
			return nil, fmt.Errorf("a batch without rows")
		}
		for i := range b.Rows() {
			one := make(row, len(b.Cols))
			for j, c := range b.Cols {
				one[j] = c.Get(b.Row(i))
				one[j].B = slices.Clone(one[j].B)
			}
			out = append(out, one)
		}
	}
}

func show(r row) string {
	var b strings.Builder
	for i, d := range r {
		if i > 0 {
			b.WriteByte('|')
		}
		if d.Null {
			b.WriteString("NULL")
		} else {
			b.Write(types.AppendText(nil, d, types.DefaultFmt))
		}
	}
	return b.String()
}

func showAll(rows []row, sorted bool) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = show(r)
	}
	if sorted {
		slices.Sort(out)
	}
	return out
}

func equalRows(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				lo, hi := max(0, i-2), i+3
				t.Fatalf("%s: %d rows, want %d; from row %d: got %q, want %q", what, len(got), len(want), lo,
					got[min(lo, len(got)):min(hi, len(got))], want[min(lo, len(want)):min(hi, len(want))])
			}
		}
	}
}

var mixed = []types.T{types.TInt4, types.TText, {OID: types.ONumeric, Mod: -1}, types.Of(types.OFloat8)}

// randomRows returns rows of the types of mixed with values that repeat.
func randomRows(r *rand.Rand, n, spread int) []row {
	rows := make([]row, n)
	for i := range rows {
		d := row{
			types.Int(mixed[0], int64(r.IntN(spread)-spread/2)),
			types.Text(fmt.Sprintf("%s%d", []string{"", "a", "longer prefix "}[r.IntN(3)], r.IntN(spread))),
			{T: mixed[2], Dec: types.NewDecimal(int64(r.IntN(spread)), int32(r.IntN(2)))},
			types.Float(mixed[3], float64(r.IntN(spread))/4),
		}
		for j := range d {
			if r.IntN(8) == 0 {
				d[j] = types.Null(mixed[j])
			}
		}
		rows[i] = d
	}
	return rows
}

// forSizes runs a test over batch sizes, with memory enough and with hardly any.
func forSizes(t *testing.T, f func(t *testing.T, r *rand.Rand, env *Env, size int)) {
	for _, size := range []int{1, 3, 1024} {
		for _, mem := range []int64{0, 4 << 10} {
			t.Run(fmt.Sprintf("batch %d, memory %d", size, mem), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(size), uint64(mem)))
				env := memEnv(t, mem)
				f(t, r, env, size)
				if used := env.Mem.Used(); used != 0 {
					t.Errorf("%d bytes are still accounted for after Close", used)
				}
			})
		}
	}
}

// readAll fills a store with an input's rows.
func readAll(env *Env, op Operator, rows *rowStore, acct *account) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	for {
		in, err := op.Next()
		if in == nil || err != nil {
			return err
		}
		rows.append(in)
		if err := acct.set(rows.size); err != nil {
			return err
		}
	}
}
