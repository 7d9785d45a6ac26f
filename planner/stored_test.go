package planner

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/parser/ast"
)

// storedContext has a table t with a column of many types, and two sequences.
func storedContext(t testing.TB) (*Context, *catalog.Table) {
	t.Helper()
	cat := catalog.New(nil)
	db := cat.Current().Database("postgres").OID
	ch := catalog.NewChange(cat.Current(), db, "postgres", []string{"public"}, cat)
	c := &Context{Snap: ch.Snapshot(), DB: db, SearchPath: []string{"pg_catalog", "public"}, Fmt: types.DefaultFmt, Texts: parser.Texts{}}
	spec := &catalog.TableSpec{Schema: "public", Name: "t"}
	for _, def := range strings.Split(`qty int, a int, b int, c text, v varchar(20), ch char(5), d numeric(12;2), f float8, r real,
		bo boolean, ts timestamp, tz timestamptz, dt date, tm time, iv interval, j jsonb, arr int[], ta text[], u uuid,
		bi bigint, si smallint, by bytea, ip inet, Mixed int, select int`, ",") {
		name, ty, _ := strings.Cut(strings.TrimSpace(def), " ")
		spec.Columns = append(spec.Columns, catalog.ColumnSpec{Column: catalog.Column{Name: name, Type: typeNamed(t, c, strings.ReplaceAll(ty, ";", ","))}})
	}
	tab, err := ch.CreateTable(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deparse_seq", "Odd Seq"} {
		if _, err := ch.CreateSequence(&catalog.SequenceSpec{Schema: "public", Name: name, Type: types.TInt8}); err != nil {
			t.Fatal(err)
		}
	}
	c.Snap = ch.Snapshot()
	return c, tab
}

func typeNamed(t testing.TB, c *Context, name string) types.T {
	t.Helper()
	n, err := parser.ParseTypeName(name)
	if err != nil {
		t.Fatal(err)
	}
	ty, err := ResolveType(c, &n)
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

// golden reads testdata/stored.tsv.
func goldenTexts(t testing.TB) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/stored.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return out
}

var (
	leadingBreak = regexp.MustCompile(`^\\n *`)
	openBreak    = regexp.MustCompile(`([(\[])\\n *`)
	lineBreak    = regexp.MustCompile(`\\n *`)
)

// oneLine undoes the line breaks that pg_get_expr makes at CASE.
func oneLine(s string) string {
	return lineBreak.ReplaceAllString(openBreak.ReplaceAllString(leadingBreak.ReplaceAllString(s, ""), "$1"), " ")
}

func TestStoredNamesHaveTheirSchemas(t *testing.T) {
	c, _ := storedContext(t)
	bind := func(sql string) *Stored {
		t.Helper()
		x, err := parser.ParseExpr(sql)
		if err != nil {
			t.Fatal(err)
		}
		s, err := StoredExpr(c, x, nil, types.T{}, "DEFAULT expressions")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for sql, want := range map[string]string{
		"nextval('deparse_seq')":        "nextval('public.deparse_seq'::regclass)",
		"nextval('DEPARSE_SEQ')":        "nextval('public.deparse_seq'::regclass)",
		"nextval('public.deparse_seq')": "nextval('public.deparse_seq'::regclass)",
		`nextval('"Odd Seq"')`:          `nextval('public."Odd Seq"'::regclass)`,
		"'pg_class'::regclass":          "'pg_class'::regclass",
	} {
		s := bind(sql)
		if s.Text != want || (len(s.Deps) == 1) != strings.HasPrefix(sql, "next") {
			t.Errorf("%s: %s (relations %d), want %s", sql, s.Text, s.Deps, want)
		}
	}
	x, err := parser.ParseExpr("VALUE > 0 AND value <> '7'")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := DomainCheck(c, x, types.TInt4); err != nil || s.Text != "((VALUE > 0) AND (VALUE <> 7))" {
		t.Errorf("check of a domain: %v, %v", s, err)
	}
}

func TestStoredTextsAreSpelledAsPostgreSQLSpellsThem(t *testing.T) {
	c, tab := storedContext(t)
	for _, row := range goldenTexts(t) {
		kind, sql, want := row[0], row[1], row[2]
		if strings.Contains(want, `E'`) || strings.Contains(sql, `E'`) {
			want = strings.ReplaceAll(want, `\n`, "\n")
		} else {
			want = oneLine(want)
		}
		t.Run(kind+" "+sql, func(t *testing.T) {
			on, ty, what := tab, types.T{}, "index expressions"
			switch {
			case kind == "check":
				ty, what = types.TBool, "check constraints"
			case strings.HasPrefix(kind, "default "):
				on, ty, what = nil, typeNamed(t, c, strings.TrimPrefix(kind, "default ")), "DEFAULT expressions"
			}
			bind := func(text string) (*Stored, error) {
				x, err := parser.ParseExpr(text)
				if err != nil {
					return nil, err
				}
				return StoredExpr(c, x, on, ty, what)
			}
			s, err := bind(sql)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if got := strings.ReplaceAll(s.Text, "'public.", "'"); got != want && got != "("+want+")" { // around it where a conversion is not shown
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			again, err := bind(s.Text)
			if err != nil {
				t.Fatalf("%s: %v", s.Text, err)
			}
			if again.Text != s.Text && !respelled[sql] {
				t.Errorf("bound again: %s\n        not: %s", again.Text, s.Text)
			}
		})
	}
}

// respelled are texts that PostgreSQL itself spells differently when it reads
// them back: it flattens AND in parentheses on the left, and casts of ARRAY[…]
// go to the elements.
var respelled = map[string]bool{
	"v IN ('x', 'y')": true, "v NOT IN ('x', 'y')": true, "a BETWEEN 1 AND 3 AND b > 1": true,
}

func TestQualifiedQueriesMeanTheSameOnEveryPath(t *testing.T) {
	c, _ := storedContext(t)
	for sql, want := range map[string]string{
		"SELECT a FROM t": "SELECT a FROM public.t",
		"SELECT x.a FROM t AS x, pg_class WHERE EXISTS (SELECT 1 FROM t)": "SELECT x.a FROM public.t AS x, pg_class WHERE EXISTS (SELECT 1 FROM public.t)",
		"WITH t AS (SELECT 1 AS a) SELECT t.a FROM t":                     "WITH t AS (SELECT 1 AS a) SELECT t.a FROM t",
		"SELECT (WITH q AS (SELECT 1) SELECT 2 FROM q, t) FROM t":         "SELECT (WITH q AS (SELECT 1) SELECT 2 FROM q, public.t) FROM public.t",
		"SELECT 1::int FROM nosuch":                                       "SELECT 1::int FROM nosuch",
	} {
		q, err := c.Texts.ParseQuery(sql)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Texts.ParseQuery(want)
		if err != nil {
			t.Fatal(err)
		}
		QualifyBody(c, []ast.Stmt{q})
		if got := ast.Format(q); got != ast.Format(again) {
			t.Errorf("%s: %s, want %s", sql, got, ast.Format(again))
		}
	}
}
