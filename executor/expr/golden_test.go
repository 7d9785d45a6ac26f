package expr_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// server, when given, is a PostgreSQL 15 connection string: the golden files'
// answers are taken from it anew.
var server = flag.String("server", "", "rewrite testdata with the answers of this PostgreSQL server")

var snapshot = catalog.New(nil).Current()

// bind turns an SQL expression into a bound one.
func bind(sql string) (plan.Expr, error) {
	st, err := parser.ParseOne("SELECT " + sql)
	if err != nil {
		return nil, err
	}
	q, err := planner.Plan(&planner.Context{Snap: snapshot, DB: snapshot.Database("postgres").OID,
		SearchPath: []string{"pg_catalog", "public"}, Fmt: types.DefaultFmt, Texts: parser.Texts{}}, st.Stmt)
	if err != nil {
		return nil, err
	}
	switch n := q.Root.(type) {
	case *plan.Project:
		return n.Exprs[0], nil
	case *plan.Values:
		return n.Rows[0][0], nil
	}
	return nil, errors.New("unexpected plan")
}

func testEnv() *expr.Env {
	now := time.Date(2024, 5, 17, 13, 45, 30, 123456000, time.UTC)
	return &expr.Env{Ctx: context.Background(), Fmt: types.DefaultFmt, TxnStart: types.TimestampFromTime(now),
		StmtStart: types.TimestampFromTime(now), Clock: func() time.Time { return now }, Session: &testSession{rand: expr.NewRand()}}
}

func answer(d types.Datum, err error) string {
	if err != nil {
		return "ERROR " + string(sqlerr.CodeOf(err)) + " " + err.Error()
	}
	if d.Null {
		return "NULL"
	}
	if d.T == types.TRegtype {
		return types.FormatTypeNoMod(types.OID(d.I))
	}
	return escape(string(types.AppendText(nil, d, types.DefaultFmt)))
}

func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\t", "\\t").Replace(s)
}

// TestLikeServer evaluates the expressions of testdata/*.txt, one a line with
// the server's answer after a tab.
func TestLikeServer(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if *server != "" {
				rewrite(t, file)
			}
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for sc := bufio.NewScanner(f); sc.Scan(); {
				sql, want, ok := strings.Cut(sc.Text(), "\t")
				if !ok {
					continue
				}
				if got := answer(run(sql)); got != want {
					t.Errorf("%s\n got %s\nwant %s", sql, got, want)
				}
			}
		})
	}
}

// run binds and evaluates; a panic becomes a failing answer of its own.
func run(sql string) (d types.Datum, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	e, err := bind(sql)
	if err != nil {
		return d, err
	}
	return evaluate(e)
}

// evaluate runs the compiled expression on one row.
func evaluate(e plan.Expr) (types.Datum, error) {
	ev, err := expr.Compile(e)
	if err != nil {
		return types.Datum{}, err
	}
	v, err := ev.Eval(testEnv(), &vec.Batch{N: 1})
	if err != nil {
		return types.Datum{}, err
	}
	return v.Get(0), nil
}

func rewrite(t *testing.T, file string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, *server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "SET timezone = 'UTC'; SET intervalstyle = postgres; SET datestyle = 'ISO, MDY'"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		sql, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if sql == "" || strings.HasPrefix(sql, "#") {
			out.WriteString(sql + "\n")
			continue
		}
		res, err := conn.PgConn().Exec(ctx, "SELECT "+sql).ReadAll()
		var pe *pgconn.PgError
		switch {
		case errors.As(err, &pe):
			out.WriteString(sql + "\tERROR " + pe.Code + " " + pe.Message + "\n")
		case err != nil:
			t.Fatal(err)
		case res[0].Rows[0][0] == nil:
			out.WriteString(sql + "\tNULL\n")
		default:
			out.WriteString(sql + "\t" + escape(string(res[0].Rows[0][0])) + "\n")
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
