package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/storage"
)

// TestExplainForms explains each statement of testdata/diff that can be planned, in the
// forms that programs read: they parse, each node has a type and costs, each subquery that a condition
// names is there, and nothing has no name.
func TestExplainForms(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/diff/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, len(paths))
	}
	explained := 0
	for _, path := range paths {
		if filepath.Base(path) == "encoding.sql" {
			continue // its clients do not read UTF-8
		}
		s := &script{t: t, connect: startServer(t, storage.Options{Store: "mem"}).connect, conns: map[string]*pgconn.PgConn{}}
		ctx := context.Background()
		for _, q := range scriptStatements(t, path) {
			c := s.conn(ctx, "")
			if planned(q) && c.TxStatus() == 'I' {
				if tree := explainedAs(ctx, c, "JSON", q); tree != "" {
					explained++
					checkExplained(t, q, tree)
					if err := wellFormed(explainedAs(ctx, c, "XML", q)); err != nil {
						t.Errorf("%s\nXML: %v", q, err)
					}
				}
			}
			s.out.Reset()
			s.statement(ctx, c, q, false)
		}
		s.close()
	}
	if explained < 3000 {
		t.Errorf("only %d statements", explained)
	}
}

// planned reports whether a statement has a plan.
func planned(q string) bool {
	st, err := parser.ParseOne(q)
	if err != nil {
		return false
	}
	switch x := st.Stmt.(type) {
	case *ast.Select:
		return x.Into == nil
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return true
	}
	return false
}

// explainedAs is the plan of a statement in a form, "" if it has none.
func explainedAs(ctx context.Context, c *pgconn.PgConn, form, q string) string {
	res, err := c.Exec(ctx, "EXPLAIN (VERBOSE, FORMAT "+form+") "+q).ReadAll()
	if err != nil || len(res) != 1 || len(res[0].Rows) != 1 {
		return ""
	}
	return string(res[0].Rows[0][0])
}

var (
	subPlanUse   = regexp.MustCompile(`\((SubPlan \d+)\)`)
	unnamedValue = regexp.MustCompile(`""`)
	quoted       = regexp.MustCompile(`'[^']*'`)
)

func checkExplained(t *testing.T, q, tree string) {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(tree), &list); err != nil || len(list) != 1 {
		t.Errorf("%s\nJSON: %v\n%s", q, err, tree)
		return
	}
	named := map[string]bool{}
	var used []string
	var node func(v any)
	node = func(v any) {
		o, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s\na plan is %T\n%s", q, v, tree)
			return
		}
		if typ, _ := o["Node Type"].(string); typ == "" || strings.Contains(typ, ".") {
			t.Errorf("%s\na node of type %q\n%s", q, typ, tree)
		}
		for _, key := range []string{"Startup Cost", "Total Cost", "Plan Rows", "Plan Width"} {
			if n, ok := o[key].(float64); !ok || n < 0 {
				t.Errorf("%s\n%s of %v is %v\n%s", q, key, o["Node Type"], o[key], tree)
			}
		}
		if name, _ := o["Subplan Name"].(string); name != "" {
			named[name] = true
		}
		for key, v := range o {
			switch key {
			case "Plans":
				for _, below := range v.([]any) {
					node(below)
				}
				continue
			case "Output":
				for _, c := range v.([]any) {
					if c == "" {
						t.Errorf("%s\na column without a name\n%s", q, tree)
					}
				}
			}
			for _, m := range subPlanUse.FindAllStringSubmatch(fmt.Sprint(v), -1) {
				used = append(used, m[1])
			}
			if strings.HasSuffix(key, "Cond") || key == "Sort Key" || key == "Group Key" {
				if s := fmt.Sprint(v); unnamedValue.MatchString(quoted.ReplaceAllString(s, "''")) {
					t.Errorf("%s\n%s: %s", q, key, s)
				}
			}
		}
	}
	node(list[0]["Plan"])
	for _, u := range used {
		if !named[u] {
			t.Errorf("%s\n%s is not among the plans\n%s", q, u, tree)
		}
	}
}

func wellFormed(doc string) error {
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
