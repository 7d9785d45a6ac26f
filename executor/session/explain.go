package session

import (
	"context"
	"encoding/json"
	"fmt"
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

// explainOptions reads EXPLAIN's options.
func explainOptions(x *ast.Explain) (o plan.ExplainOptions, asJSON bool, err error) {
	o.Costs = true
	timing, timingSet := true, false
	for i := range x.Options {
		opt := &x.Options[i]
		on := true
		word := ""
		if opt.X != nil {
			c, ok := opt.X.(*ast.Const)
			if !ok {
				return o, false, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name)
			}
			word = strings.ToLower(c.Val)
			switch word {
			case "true", "on", "1":
			case "false", "off", "0":
				on = false
			default:
				if opt.Name != "format" {
					return o, false, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name)
				}
			}
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
			timing, timingSet = on, true
		case "summary", "settings":
		case "buffers", "wal":
			if on {
				return o, false, sqlerr.Unsupported(opt.Pos(), "EXPLAIN option %s", strings.ToUpper(opt.Name))
			}
		case "format":
			switch word {
			case "text":
			case "json":
				asJSON = true
			case "xml", "yaml":
				return o, false, sqlerr.Unsupported(opt.Pos(), "EXPLAIN format %s", word)
			default:
				return o, false, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"format\": \"%s\"", word).At(opt.Pos())
			}
		default:
			return o, false, sqlerr.New(sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", opt.Name).At(opt.Pos())
		}
	}
	if o.KV && !o.Analyze {
		return o, false, sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option KV requires ANALYZE")
	}
	if timingSet && timing && !o.Analyze {
		return o, false, sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE")
	}
	o.Timing = timing
	return o, asJSON, nil
}

// discardSink drops rows.
type discardSink struct{}

func (discardSink) begin([]wire.Column, *types.FmtOpts) {}
func (discardSink) batch(*vec.Batch) error              { return nil }

// explain prints the plan of a statement; with ANALYZE it runs it first.
func (s *Session) explain(ctx context.Context, c *call, x *ast.Explain, out sink) (string, int64, error) {
	o, asJSON, err := explainOptions(x)
	if err != nil {
		return "", 0, err
	}
	p, params, err := s.explained(ctx, x.Stmt, c.params)
	if err != nil {
		return "", 0, err
	}
	start := time.Now()
	if err := s.prepare(ctx, p, params); err != nil {
		return "", 0, err
	}
	planning := time.Since(start)
	actual := map[int]plan.NodeActual{}
	var running time.Duration
	if o.Analyze {
		start = time.Now()
		st := executor.NewStats()
		if _, err := s.runPlanned(ctx, p, params, discardSink{}, st); err != nil {
			return "", 0, err
		}
		running = time.Since(start)
		for id, n := range st.Nodes() {
			a := plan.NodeActual{Rows: n.Rows, Loops: n.Loops, Time: n.Time, Mem: n.Mem, Spilled: n.Spilled, Regions: n.Regions, Narrowed: n.Narrowed}
			for name, f := range n.Files {
				a.Files = append(a.Files, plan.FileActual{File: name, Gets: f.Gets.Load(), Scans: f.Scans.Load(), Keys: f.KeysRead.Load(),
					BytesRead: f.BytesRead.Load(), BytesWritten: f.BytesWritten.Load()})
			}
			sort.Slice(a.Files, func(i, j int) bool { return a.Files[i].File < a.Files[j].File })
			actual[id] = a
		}
	}
	lines := plan.Explain(p.q, o, actual)
	if o.Analyze && o.Timing {
		lines = append(lines, fmt.Sprintf("Planning time: %.3f ms", float64(planning.Microseconds())/1000),
			fmt.Sprintf("Execution time: %.3f ms", float64(running.Microseconds())/1000))
	}
	t := types.TText
	if asJSON {
		t = types.Of(types.OJSON)
		doc, err := json.MarshalIndent([]map[string]any{{"Lines": lines}}, "", "  ")
		if err != nil {
			return "", 0, err
		}
		lines = []string{string(doc)}
	}
	out.begin([]wire.Column{{Name: "QUERY PLAN", Type: t}}, s.settings.fmt)
	b := &vec.Batch{N: len(lines), Cols: []*vec.Vec{vec.New(t, len(lines))}}
	for i, l := range lines {
		b.Cols[0].B[i] = []byte(l)
	}
	if err := out.batch(b); err != nil {
		return "", 0, err
	}
	return "EXPLAIN", -1, nil
}

// explained is the plan of what EXPLAIN is about, with the parameters to run it.
func (s *Session) explained(ctx context.Context, st ast.Stmt, params []types.Datum) (*plannedStmt, []types.Datum, error) {
	switch x := st.(type) {
	case *ast.Execute:
		ps, params, err := s.executeArgs(ctx, x)
		if err != nil {
			return nil, nil, err
		}
		return ps.planned, params, nil
	case *ast.DeclareCursor:
		if err := checkDeclare(x); err != nil {
			return nil, nil, err
		}
		return &plannedStmt{stmt: x.Query, cursor: true, declared: typesOf(params)}, params, nil
	}
	if !plannable(st) {
		return nil, nil, sqlerr.Unsupported(st.Pos(), "EXPLAIN of this statement")
	}
	return &plannedStmt{stmt: st, declared: typesOf(params)}, params, nil
}

// explainColumns describes EXPLAIN's result.
func (s *Session) explainColumns(x *ast.Explain) []wire.Column {
	t := types.TText
	if _, asJSON, err := explainOptions(x); err == nil && asJSON {
		t = types.Of(types.OJSON)
	}
	return []wire.Column{{Name: "QUERY PLAN", Type: t}}
}
