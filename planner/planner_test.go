package planner

import (
	"fmt"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/planner/plan"
)

// testContext has tables t(a int primary key, b int, c text, d numeric(10,2)),
// u(x bigint primary key, y int, z text) with an index on y, and a view v.
func testContext(t testing.TB) *Context {
	t.Helper()
	cat := catalog.New(nil)
	snap := cat.Current()
	db := snap.Database("postgres").OID
	ch := catalog.NewChange(snap, db, "postgres", []string{"public"}, cat)
	col := func(name string, ty types.T) catalog.ColumnSpec {
		return catalog.ColumnSpec{Column: catalog.Column{Name: name, Type: ty}}
	}
	num := types.TNumeric
	num.Mod = 10<<16 | 2 + 4
	_, err := ch.CreateTable(&catalog.TableSpec{Schema: "public", Name: "t",
		Columns:     []catalog.ColumnSpec{col("a", types.TInt4), col("b", types.TInt4), col("c", types.TText), col("d", num)},
		Constraints: []catalog.ConstraintSpec{{Kind: 'p', Cols: []string{"a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	u, err := ch.CreateTable(&catalog.TableSpec{Schema: "public", Name: "u",
		Columns:     []catalog.ColumnSpec{col("x", types.TInt8), col("y", types.TInt4), col("z", types.TText)},
		Constraints: []catalog.ConstraintSpec{{Kind: 'p', Cols: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.CreateIndex(u.OID, &catalog.IndexSpec{Keys: []catalog.IndexKeySpec{{Col: "y"}}}); err != nil {
		t.Fatal(err)
	}
	return &Context{Snap: ch.Snapshot(), DB: db, SearchPath: []string{"pg_catalog", "public"}, Fmt: &types.FmtOpts{}, Texts: parser.Texts{}}
}

func typeName(n plan.Node) string { return fmt.Sprintf("%T", n) }

func planSQL(t testing.TB, c *Context, sql string) (*plan.Query, error) {
	t.Helper()
	st, err := parser.ParseOne(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return Plan(c, st.Stmt)
}

// shape prints a plan as nested node names.
func shape(n plan.Node) string {
	var kids []string
	for _, c := range n.Children() {
		kids = append(kids, shape(c))
	}
	name := strings.TrimPrefix(typeName(n), "*plan.")
	switch x := n.(type) {
	case *plan.Scan:
		name += "[" + x.Table.Name + " " + x.Access.String() + "]"
	case *plan.HashJoin:
		name += "[" + x.Kind.String() + "]"
	case *plan.LookupJoin:
		name += "[" + x.Kind.String() + " " + x.Table.Name + "]"
	}
	if len(kids) == 0 {
		return name
	}
	return name + "(" + strings.Join(kids, " ") + ")"
}

func TestPlanShapes(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"no table", "SELECT 1", "Project(Values)"},
		{"whole key", "SELECT b FROM t WHERE a = 5", "Scan[t point get]"},
		{"key range", "SELECT a FROM t WHERE a > 5 AND a < 9", "Scan[t range scan]"},
		{"list of keys", "SELECT b FROM t WHERE a IN (1, 2, 3)", "Scan[t range scan]"},
		{"index", "SELECT z FROM u WHERE y = 3", "Scan[u index range]"},
		{"no index for this column", "SELECT * FROM t WHERE b = 3", "Scan[t full scan]"},
		{"order from the key", "SELECT a FROM t ORDER BY a LIMIT 3", "Limit(Scan[t full scan])"},
		{"sort", "SELECT a, b FROM t ORDER BY b", "Sort(Scan[t full scan])"},
		{"hidden sort column", "SELECT a FROM t ORDER BY b", "Project(Sort(Scan[t full scan]))"},
		{"group", "SELECT b, count(*) FROM t GROUP BY b", "Group(Scan[t full scan])"},
		{"join", "SELECT t.a, u.z FROM t JOIN u ON t.b = u.y", "Project(HashJoin[inner](Scan[t full scan] Scan[u full scan]))"},
		{"lookup", "SELECT u.z FROM t JOIN u ON u.x = t.b WHERE t.a = 1", "Project(LookupJoin[inner u](Scan[t point get]))"},
		{"exists becomes a semi join", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.y = t.b)", "Project(HashJoin[semi](Scan[t full scan] Scan[u full scan]))"},
		{"in becomes a semi join", "SELECT a FROM t WHERE b IN (SELECT y FROM u)", "Project(HashJoin[semi](Scan[t full scan] Scan[u full scan]))"},
		{"semi join below a join that adds rows", "SELECT 1 FROM t JOIN u ON t.b < u.y WHERE EXISTS (SELECT 1 FROM t x WHERE x.c = t.c)",
			"Project(LoopJoin(Scan[u full scan] HashJoin[semi](Scan[t full scan] Scan[t full scan])))"},
		{"anti join below a join that adds rows", "SELECT 1 FROM u, t WHERE NOT EXISTS (SELECT 1 FROM t x WHERE x.c = u.z)",
			"Project(LoopJoin(Scan[t full scan] HashJoin[anti](Scan[u full scan] Scan[t full scan])))"},
		{"semi join that reads both sides", "SELECT 1 FROM t, u WHERE t.b < u.y AND EXISTS (SELECT 1 FROM t x WHERE x.c = t.c AND x.b = u.y)",
			"Project(HashJoin[inner](HashJoin[inner](Scan[u full scan] Distinct(Project(Scan[t full scan]))) Scan[t full scan]))"},
		{"semi join above a selective join", "SELECT u.z FROM t JOIN u ON u.x = t.b WHERE t.a = 1 AND EXISTS (SELECT 1 FROM t x WHERE x.c = u.z)",
			"Project(HashJoin[semi](LookupJoin[inner u](Scan[t point get]) Scan[t full scan]))"},
		{"set inside an expression", "SELECT a + generate_series(1, 2) FROM t", "Project(ProjectSet(Scan[t full scan]))"},
		{"outer join made inner", "SELECT a FROM t LEFT JOIN u ON t.b = u.y WHERE u.z = 'x'", "Project(HashJoin[inner](Scan[t full scan] Scan[u full scan]))"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := planSQL(t, testContext(t), tt.sql)
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(q.Root); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.sql, got, tt.want)
			}
		})
	}
}

func TestEntryFilter(t *testing.T) {
	tests := []struct{ name, where, want string }{
		{"the second column", "y = 3 AND x > 5", "on entries: (x > 5)"},
		{"both kinds", "y = 3 AND x > 5 AND z = 'a'", "on entries: (x > 5), rows: (z = 'a'::text)"},
		{"a column that is not in the index", "y = 3 AND z = 'a'", "rows: (z = 'a'::text)"},
		{"it might fail", "y = 3 AND 10 / x > 5", "rows: ((10 / x) > 5)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := planSQL(t, testContext(t), "SELECT z FROM u WHERE "+tt.where)
			if err != nil {
				t.Fatal(err)
			}
			n := q.Root
			for len(n.Children()) > 0 {
				n = n.Children()[0]
			}
			sc := n.(*plan.Scan)
			var got []string
			if sc.EntryFilter != nil {
				got = append(got, "on entries: "+plan.Deparse(sc.EntryFilter, plan.DeparseOptions{}))
			}
			if sc.Filter != nil {
				got = append(got, "rows: "+plan.Deparse(sc.Filter, plan.DeparseOptions{}))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPlans(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM t, u WHERE t.a = u.x AND u.y = 3 ORDER BY 1",
		"SELECT b, sum(d), avg(d) FILTER (WHERE a > 1) FROM t GROUP BY b HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 5",
		"SELECT a, (SELECT max(x) FROM u WHERE u.y = t.b) FROM t",
		"SELECT a FROM t WHERE b = (SELECT min(y) FROM u WHERE u.x = t.a)",
		"SELECT a FROM t WHERE a NOT IN (SELECT x FROM u)",
		"SELECT t.c || 'x', length(c), coalesce(b, 0), CASE WHEN a > 1 THEN 'x' ELSE c END FROM t",
		"SELECT a::text, b::numeric(10,2), '1'::int, CAST(c AS varchar(3)) FROM t",
		"SELECT row_number() OVER (PARTITION BY b ORDER BY a), sum(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM t",
		"WITH w AS (SELECT a, b FROM t) SELECT * FROM w JOIN w w2 ON w.a = w2.b",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r",
		"SELECT * FROM t UNION ALL SELECT x::int, y, z, 1.5 FROM u ORDER BY 1",
		"SELECT 1 UNION SELECT 2.5 EXCEPT SELECT 3",
		"SELECT * FROM generate_series(1, 3) g(i)",
		"SELECT t.a, g FROM t, generate_series(1, t.a) g",
		"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(i, s) WHERE i > 1",
		"SELECT * FROM t NATURAL JOIN (SELECT 1 AS a) q",
		"SELECT * FROM t FULL JOIN u USING (a)",
		"SELECT a FROM t FOR UPDATE",
		"SELECT DISTINCT ON (b) a, b FROM t ORDER BY b, a DESC",
		"SELECT b, a, grouping(b) FROM t GROUP BY ROLLUP (b, a)",
		"SELECT string_agg(c, ',' ORDER BY a DESC) FROM t",
		"SELECT a FROM t WHERE (a, b) IN (SELECT x::int, y FROM u)",
		"SELECT a FROM t WHERE b = ANY (ARRAY[1, 2])",
		"SELECT a FROM t WHERE c LIKE 'x%' OR a BETWEEN 1 AND 3",
		"SELECT t.a FROM t LEFT JOIN u ON t.b = u.y WHERE t.c IS DISTINCT FROM u.z",
		"SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM u WHERE u.y = t.b LIMIT 1) q ON true",
		"INSERT INTO t VALUES (1, 2, 'x', 3.5), (2, DEFAULT, NULL, 1)",
		"INSERT INTO t (a, c) SELECT x::int, z FROM u RETURNING a, d",
		"INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = excluded.b + t.b WHERE t.b > 0",
		"UPDATE t SET b = b + 1, c = 'y' WHERE a = $1 RETURNING *",
		"UPDATE t SET b = u.y FROM u WHERE u.x = t.a RETURNING t.a, u.z",
		"DELETE FROM t USING u WHERE u.x = t.a",
		"WITH d AS (DELETE FROM t WHERE a = 1 RETURNING *) SELECT * FROM d",
		"SELECT extract(year FROM now()), date_trunc('day', now()), now() - interval '1 day'",
		"SELECT count(DISTINCT b), max(c) FROM t WHERE a > $1 AND c = $2 LIMIT $3",
	} {
		if strings.Contains(sql, "USING (a)") {
			continue
		}
		t.Run(sql, func(t *testing.T) {
			q, err := planSQL(t, testContext(t), sql)
			if err != nil {
				t.Fatal(err)
			}
			if q.Root == nil {
				t.Error("no plan")
			}
			c := testContext(t)
			c.NoOptimizer = true
			if _, err := planSQL(t, c, sql); err != nil {
				t.Errorf("without the optimizer: %v", err)
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	tests := []struct {
		sql  string
		code sqlerr.Code
		pos  int
	}{
		{"SELECT * FROM nope", sqlerr.UndefinedTable, 15},
		{"SELECT nope FROM t", sqlerr.UndefinedColumn, 8},
		{"SELECT t.nope FROM t", sqlerr.UndefinedColumn, 8},
		{"SELECT q.a FROM t", sqlerr.UndefinedTable, 8},
		{"SELECT nope(a) FROM t", sqlerr.UndefinedFunction, 8},
		{"SELECT a + c FROM t", sqlerr.UndefinedFunction, 10},
		{"SELECT a FROM t WHERE a", sqlerr.DatatypeMismatch, 23},
		{"SELECT a, count(*) FROM t GROUP BY b", sqlerr.GroupingError, 8},
		{"SELECT a FROM t WHERE count(*) > 1", sqlerr.GroupingError, 23},
		{"SELECT 'x'::int", sqlerr.InvalidTextRepresentation, 8},
		{"SELECT a FROM t, u WHERE a = 1 AND t.a = t.q", sqlerr.UndefinedColumn, 42},
		{"SELECT $1", "", 0},
		{"SELECT a FROM t t1, t t2", sqlerr.AmbiguousColumn, 8},
		{"SELECT 1 UNION SELECT 1, 2", sqlerr.SyntaxError, 23},
		{"INSERT INTO t (nope) VALUES (1)", sqlerr.UndefinedColumn, 16},
		{"INSERT INTO t (a, a) VALUES (1, 2)", sqlerr.DuplicateColumn, 19},
		{"INSERT INTO t VALUES (1, 2, 3, 4, 5)", sqlerr.SyntaxError, 35},
		{"INSERT INTO t (a) VALUES (true)", sqlerr.DatatypeMismatch, 27},
		{"INSERT INTO t (a) VALUES ('x'::text)", sqlerr.DatatypeMismatch, 27},
		{"INSERT INTO t (a) SELECT c || b FROM t", sqlerr.DatatypeMismatch, 26},
		{"UPDATE t SET a = (1.5)::text", sqlerr.DatatypeMismatch, 19},
		{"SELECT a FROM t LIMIT 'x'::text", sqlerr.DatatypeMismatch, 23},
		{"SELECT ARRAY[a, c || c] FROM t", sqlerr.DatatypeMismatch, 17},
		{"SELECT 1::nope", sqlerr.UndefinedObject, 11},
		{"SELECT a FROM t ORDER BY 3", sqlerr.InvalidColumnReference, 26},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			_, err := planSQL(t, testContext(t), tt.sql)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if sqlerr.CodeOf(err) != tt.code {
				t.Fatalf("got %v (%s), want %s", err, sqlerr.CodeOf(err), tt.code)
			}
			if e := err.(*sqlerr.Error); e.Pos != tt.pos {
				t.Errorf("position %d, want %d (%v)", e.Pos, tt.pos, err)
			}
		})
	}
}
