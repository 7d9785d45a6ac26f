package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
	"kvsqld/wire"
)

// explainRequest is what EXPLAIN's options ask for.
type explainRequest struct {
	plan.ExplainOptions
	format   string // text, json, xml or yaml
	summary  bool   // the time of planning, and of running
	settings bool   // the parameters that matter to plans and are not at their defaults
}

// explainOptions reads EXPLAIN's options. BUFFERS and WAL print what KV does, the
// keys and bytes of each file, as there are no blocks to count.
func explainOptions(x *ast.Explain) (o explainRequest, err error) {
	o.Costs, o.Timing, o.format = true, true, "text"
	var timing, summary, usage, wal bool // as given
	for i := range x.Options {
		opt := &x.Options[i]
		if opt.Name == "format" {
			if o.format, err = explainFormat(opt); err != nil {
				return o, err
			}
			continue
		}
		on, ok := optionBool(opt)
		if !ok && explainOption(opt.Name) {
			return o, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name)
		}
		switch opt.Name {
		case "analyze":
			o.Analyze = on
		case "verbose":
			o.Verbose = on
		case "costs":
			o.Costs = on
		case "kv":
			o.KV = on
		case "timing":
			o.Timing, timing = on, on
		case "summary":
			o.summary, summary = on, true
		case "settings":
			o.settings = on
		case "buffers":
			usage = on
		case "wal":
			wal = on
		default:
			return o, sqlerr.New(sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", opt.Name).At(opt.Pos())
		}
	}
	for _, r := range []struct {
		on   bool
		name string
	}{{wal, "WAL"}, {timing, "TIMING"}, {o.KV, "KV"}} {
		if r.on && !o.Analyze {
			return o, sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option %s requires ANALYZE", r.name)
		}
	}
	o.KV = o.KV || o.Analyze && (usage || wal)
	if !summary {
		o.summary = o.Analyze && o.Timing
	}
	return o, nil
}

func explainOption(name string) bool {
	return slices.Contains([]string{"analyze", "verbose", "costs", "kv", "timing", "summary", "settings", "buffers", "wal"}, name)
}

func explainFormat(o *ast.Option) (string, error) {
	word, err := optionText(o)
	if err != nil {
		return "", err
	}
	switch word {
	case "text", "json", "xml", "yaml":
		return word, nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"format\": \"%s\"", word).At(o.Pos())
}

// discardSink drops rows.
type discardSink struct{}

func (discardSink) begin([]wire.Column, *types.FmtOpts) {}
func (discardSink) batch(*vec.Batch) error              { return nil }

// explain prints the plan of a statement; with ANALYZE it runs it first.
func (s *Session) explain(ctx context.Context, c *call, x *ast.Explain, out sink) (string, int64, error) {
	o, err := explainOptions(x)
	if err != nil {
		return "", 0, err
	}
	p, params, err := s.explained(ctx, x.Stmt, c.params)
	if err != nil {
		return "", 0, err
	}
	if p == nil {
		return "EXPLAIN", -1, explainRows(out, o.format, s.settings.fmt, utilityPlan(o.format))
	}
	_, stores := created(x.Stmt)
	if stores {
		there, err := s.storesNothing(x.Stmt)
		if err != nil {
			return "", 0, err
		}
		if there {
			return "EXPLAIN", -1, explainRows(out, o.format, s.settings.fmt, nothingStored(o.format, x.Stmt))
		}
	}
	if o.Analyze && !plannable(x.Stmt) && !isExecute(x.Stmt) && !stores {
		return "", 0, sqlerr.Unsupported(x.Stmt.Pos(), "EXPLAIN ANALYZE of this statement")
	}
	start := time.Now()
	if err := s.prepare(ctx, p, params); err != nil {
		return "", 0, err
	}
	if p.q.Fault != nil {
		return "", 0, p.q.Fault
	}
	planning := plan.Millis(float64(time.Since(start).Microseconds()) / 1000)
	shown := p.q
	var running plan.Millis
	actual := map[int]plan.NodeActual{}
	if o.Analyze {
		start = time.Now()
		st := executor.NewStats()
		if stores {
			q, err := s.storing(ctx, c, x.Stmt, st)
			if err != nil {
				return "", 0, err
			}
			if q != nil {
				shown = q
			}
		} else if _, err := s.runPlanned(ctx, p, params, discardSink{}, st); err != nil {
			return "", 0, err
		}
		running = plan.Millis(float64(time.Since(start).Microseconds()) / 1000)
		actual = actuals(st)
	}
	var used []plan.Property
	if o.settings {
		used = s.planSettings()
	}
	snap, path := s.snapshot(), s.searchPath(true)
	o.Spell.TypeName = func(t types.T) string { return snap.FormatType(t, s.db, path) }
	if o.format == "text" {
		lines := plan.Explain(shown, o.ExplainOptions, actual)
		if used != nil {
			lines = append(lines, "Settings: "+settingsText(used))
		}
		if o.summary {
			lines = append(lines, fmt.Sprintf("Planning Time: %.3f ms", float64(planning)))
			if o.Analyze {
				lines = append(lines, fmt.Sprintf("Execution Time: %.3f ms", float64(running)))
			}
		}
		return "EXPLAIN", -1, explainRows(out, o.format, s.settings.fmt, lines)
	}
	doc := plan.ExplainTree(shown, o.ExplainOptions, actual)
	if used != nil {
		doc = append(doc, plan.Property{Key: "Settings", Value: plan.Object(used)})
	}
	if o.summary {
		doc = append(doc, plan.Property{Key: "Planning Time", Value: planning})
	}
	if o.Analyze {
		doc = append(doc, plan.Property{Key: "Triggers", Value: []plan.Object{}})
		if o.summary {
			doc = append(doc, plan.Property{Key: "Execution Time", Value: running})
		}
	}
	print := map[string]func(plan.Object) string{"json": plan.FormatJSON, "xml": plan.FormatXML, "yaml": plan.FormatYAML}[o.format]
	return "EXPLAIN", -1, explainRows(out, o.format, s.settings.fmt, []string{print(doc)})
}

// storing runs the statement that stores a query's rows, and returns the plan that it
// took them from, nil for WITH NO DATA.
func (s *Session) storing(ctx context.Context, c *call, st ast.Stmt, stats *executor.Stats) (*plan.Query, error) {
	run := &call{stmt: st, text: c.text, params: c.params, several: c.several, stats: stats}
	_, _, err := s.definition(ctx, run, nil)
	return run.took, err
}

// storesNothing reports whether a statement that stores a query's rows passes over a
// relation that is there already, and says so; without IF NOT EXISTS that is an error.
func (s *Session) storesNothing(st ast.Stmt) (bool, error) {
	var n *ast.Name
	ifNot, temp := false, false
	switch x := st.(type) {
	case *ast.CreateTable:
		n, ifNot, temp = &x.Name, x.IfNotExists, x.Temp
	case *ast.CreateView:
		n, ifNot = &x.Name, x.IfNotExists
	case *ast.Select:
		n = x.Into
	default:
		return false, nil
	}
	if temp || n.Schema() == "" && len(s.creationPath()) == 0 {
		return false, nil // the statement itself finds out
	}
	schema := s.schemaName(n.Schema())
	if schema == "" {
		schema = s.creationPath()[0]
	}
	if s.snapshot().Relation(s.db, schema, n.Last()) == nil {
		return false, nil
	}
	exists := sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", n.Last())
	if !ifNot {
		return false, exists
	}
	s.tell(notice("NOTICE", sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", n.Last()))
	return true, nil
}

// actuals is what the operators counted.
func actuals(st *executor.Stats) map[int]plan.NodeActual {
	out := map[int]plan.NodeActual{}
	for id, n := range st.Nodes() {
		a := plan.NodeActual{Rows: n.Rows, Loops: n.Loops, Time: n.Time, Mem: n.Mem, Spilled: n.Spilled, Regions: n.Regions, Narrowed: n.Narrowed, Turned: n.Turned}
		for name, f := range n.Files {
			a.Files = append(a.Files, plan.FileActual{File: name, Gets: f.Gets.Load(), Scans: f.Scans.Load(), Keys: f.KeysRead.Load(),
				BytesRead: f.BytesRead.Load(), BytesWritten: f.BytesWritten.Load()})
		}
		sort.Slice(a.Files, func(i, j int) bool { return a.Files[i].File < a.Files[j].File })
		out[id] = a
	}
	return out
}

// utilityPlan says that a statement has no plan.
func utilityPlan(format string) []string {
	if format == "text" {
		return []string{"Utility statements have no plan structure"}
	}
	return []string{emptyGroup(format, "Utility Statement")}
}

// nothingStored is what EXPLAIN shows of a statement whose relation is there already.
func nothingStored(format string, st ast.Stmt) []string {
	if format == "text" {
		return nil
	}
	name := "CREATE TABLE AS"
	if _, ok := st.(*ast.CreateView); ok {
		name = "CREATE MATERIALIZED VIEW"
	}
	return []string{emptyGroup(format, name)}
}

// emptyGroup is a document with nothing but a name.
func emptyGroup(format, name string) string {
	switch format {
	case "json":
		return "[\n  \"" + name + "\"\n]"
	case "xml":
		return "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <" + strings.ReplaceAll(name, " ", "-") + " />\n</explain>"
	}
	return "- \"" + name + "\""
}

// explainRows sends lines of text, or a document as one value.
func explainRows(out sink, format string, fmt *types.FmtOpts, lines []string) error {
	t := explainType(format)
	out.begin([]wire.Column{{Name: "QUERY PLAN", Type: t}}, fmt)
	b := &vec.Batch{N: len(lines), Cols: []*vec.Vec{vec.New(t, len(lines))}}
	for i, l := range lines {
		b.Cols[0].B[i] = []byte(l)
	}
	return out.batch(b)
}

func explainType(format string) types.T {
	switch format {
	case "json":
		return types.Of(types.OJSON)
	case "xml":
		return types.Of(types.OXML)
	}
	return types.TText
}

// planSettings lists the parameters that plans depend on and that are not as
// shipped.
func (s *Session) planSettings() []plan.Property {
	out := []plan.Property{}
	for key, d := range settingTable() {
		switch {
		case strings.HasPrefix(d.category, "Query Tuning"), key == "work_mem", key == "temp_buffers", key == "search_path":
			if v := s.settings.get(key); v != d.def {
				out = append(out, plan.Property{Key: d.name, Value: d.show(v)})
			}
		}
	}
	slices.SortFunc(out, func(a, b plan.Property) int { return compareFold(a.Key, b.Key) })
	return out
}

func settingsText(list []plan.Property) string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s = '%s'", p.Key, p.Value))
	}
	return strings.Join(out, ", ")
}

func isExecute(st ast.Stmt) bool {
	_, is := st.(*ast.Execute)
	return is
}

// explained is the plan of what EXPLAIN is about, with the parameters to run it;
// nil for a statement that has none.
func (s *Session) explained(ctx context.Context, st ast.Stmt, params []types.Datum) (*plannedStmt, []types.Datum, error) {
	switch x := st.(type) {
	case *ast.Execute:
		ps, params, err := s.executeArgs(ctx, x)
		if err != nil {
			return nil, nil, err
		}
		return ps.planned, params, nil
	case *ast.DeclareCursor:
		if err := cmp.Or(checkScroll(x), checkDeclared(x)); err != nil {
			return nil, nil, err
		}
		return &plannedStmt{stmt: x.Query, cursor: true, declared: typesOf(params)}, params, nil
	}
	if q, ok := created(st); ok {
		if e, ok := q.(*ast.Execute); ok {
			return s.explained(ctx, e, params)
		}
		st = q
	}
	if _, ok := st.(*ast.Refresh); ok {
		return nil, nil, nil
	}
	if !plannable(st) {
		return nil, nil, sqlerr.Unsupported(st.Pos(), "EXPLAIN of this statement")
	}
	return &plannedStmt{stmt: st, declared: typesOf(params)}, params, nil
}

// explainColumns describes EXPLAIN's result.
func (s *Session) explainColumns(x *ast.Explain) []wire.Column {
	o, err := explainOptions(x)
	if err != nil {
		o.format = "text"
	}
	return []wire.Column{{Name: "QUERY PLAN", Type: explainType(o.format)}}
}

// created is the query whose rows a CREATE TABLE AS, SELECT INTO or CREATE
// MATERIALIZED VIEW stores.
func created(st ast.Stmt) (ast.Stmt, bool) {
	switch x := st.(type) {
	case *ast.CreateTable:
		if x.AsExecute != nil {
			return x.AsExecute, true
		}
		return x.As, x.As != nil
	case *ast.CreateView:
		return x.Query, x.Materialized
	case *ast.Select:
		if x.Into != nil {
			q := *x
			q.Into = nil
			return &q, true
		}
	}
	return nil, false
}
