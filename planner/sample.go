package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// notSampled is the refusal of TABLESAMPLE on what has no rows of its own.
func notSampled(f *ast.TableRef) {
	failf(sqlerr.FeatureNotSupported, f.Pos(), "TABLESAMPLE clause can only be applied to tables and materialized views")
}

// tablesample binds TABLESAMPLE to a condition on the key of each row, which
// belongs to the table and not to WHERE: outer joins see the sample only. There
// are no pages to choose: SYSTEM takes blocks of numbers, where the key is one, so that
// the others need not be read, and samples rows as BERNOULLI does of other tables.
func (p *planner) tablesample(f *ast.TableRef, r *rel, sc *scope) {
	ts := f.Tablesample
	switch {
	case r.virt != nil:
		unsupported(f.Pos(), "TABLESAMPLE of a system catalog")
	case r.table == nil:
		notSampled(f)
	}
	method := strings.TrimPrefix(ts.Method, "pg_catalog.")
	if method != "bernoulli" && method != "system" {
		failf(sqlerr.UndefinedObject, ts.Pos(), "tablesample method %s does not exist", ts.Method)
	}
	if len(ts.Args) != 1 {
		failf(sqlerr.InvalidTablesampleArgument, ts.Pos(), "tablesample method %s requires 1 argument, not %d", ts.Method, len(ts.Args))
	}
	b := &binder{planner: p, scope: sc, what: "functions in FROM", noAgg: true, noWin: true}
	percent := b.must(b.expr(ts.Args[0]), types.TFloat4, assignment)
	b.noLateral(percent)
	var seed plan.Expr
	if ts.Seed != nil {
		seed = b.must(b.expr(ts.Seed), types.TFloat8, assignment)
		b.noLateral(seed)
	} else {
		// another sample for each statement
		epoch := &plan.Const{At: plan.At{T: types.TText, Off: -1}, Val: types.Text("epoch")}
		now := p.namedCall("statement_timestamp")
		seed = p.namedCall("date_part", epoch, now)
	}
	key := &plan.Var{At: plan.At{T: types.TBytea, Off: -1}, Rel: r.id, Col: plan.ColRowKey}
	pr := catalog.ProcByOID(catalog.OProcInSample)
	blocks := method == "system" && r.table.CtidTellsKey()
	r.sample = &sample{method: method, percent: percent, seed: seed,
		cond: &plan.Call{At: plan.At{T: types.TBool, Off: f.Pos()}, Proc: pr, Args: []plan.Expr{key, percent, seed, constBool(blocks)}}}
}

// sample is TABLESAMPLE of a table.
type sample struct {
	method        string
	percent, seed plan.Expr
	cond          plan.Expr // whether a row is in it
}

// sampleOf is the sample of blocks that a scan takes of a table by a test of the
// conjuncts, and the fraction of the table that it is; nil and all if there is none.
func (p *planner) sampleOf(t *catalog.Table, conj []plan.Expr) (*plan.Sample, float64) {
	if !t.CtidTellsKey() {
		return nil, 1
	}
	for _, c := range conj {
		x, ok := c.(*plan.Call)
		if !ok || x.Proc.OID != catalog.OProcInSample {
			continue
		}
		if blocks, ok := x.Args[3].(*plan.Const); ok && blocks.Val.I != 0 {
			return &plan.Sample{Percent: p.place(x.Args[1], nil), Seed: p.place(x.Args[2], nil)}, p.sampleSel(x)
		}
	}
	return nil, 1
}

// sampleSel is the fraction of rows that a sample takes.
func (p *planner) sampleSel(x *plan.Call) float64 {
	if percent, ok := p.estimate(x.Args[1]); ok && percent.F >= 0 && percent.F <= 100 {
		return percent.F / 100
	}
	return selSample
}

// selSample is that of an unknown percentage.
const selSample = 0.1

// namedCall is a call of a built-in function that takes exactly such arguments.
func (p *planner) namedCall(name string, args ...plan.Expr) plan.Expr {
	c, args := p.findFunction(&funcCall{schema: "pg_catalog", name: name, args: args, off: -1})
	return &plan.Call{At: plan.At{T: p.T(c.proc.Ret, -1), Off: -1}, Proc: c.proc, Args: args}
}

// noLateral refuses columns of the same FROM list.
func (b *binder) noLateral(x plan.Expr) {
	plan.Visit(x, func(e plan.Expr) bool {
		if v, ok := e.(*plan.Var); ok && b.scope.owns(relSetOf(v.Rel)) {
			unsupported(v.Off, "a column in TABLESAMPLE")
		}
		return true
	})
}

// restricted adds to an entry's conjuncts what hides rows of its table: TABLESAMPLE
// and policies.
func (r *rel) restricted(local []plan.Expr) []plan.Expr {
	if r == nil || r.sample == nil && r.secure == nil {
		return local
	}
	out := append(slices.Clone(local), r.secure...)
	if r.sample != nil {
		out = append(out, r.sample.cond)
	}
	return out
}
