package parser

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"kvsqld/parser/ast"
)

// statements returns the lines of a file of testdata, one script each.
func statements(t testing.TB, file string) []string {
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var l []string
	for _, s := range strings.Split(string(b), "\n") {
		if s != "" && !strings.HasPrefix(s, "#") {
			l = append(l, s)
		}
	}
	return l
}

var offType = reflect.TypeOf(ast.Off(0))

// forgetOffsets clears every offset, and the texts kept beside trees, in place.
func forgetOffsets(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			forgetOffsets(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			forgetOffsets(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			switch name := v.Type().Field(i).Name; {
			case v.Type() == reflect.TypeOf(ast.Comment{}) && name == "Text":
			case f.Type() == offType, name == "Text", name == "BodyText":
				f.SetZero()
			default:
				forgetOffsets(f)
			}
		}
	}
}

// checkFormat prints each statement of sql and parses it again.
func checkFormat(t testing.TB, sql string) {
	t.Helper()
	list, err := Parse(sql)
	if err != nil {
		return
	}
	for _, st := range list {
		if _, ok := st.Stmt.(*ast.Unsupported); ok {
			continue
		}
		text := ast.Format(st.Stmt)
		again, err := ParseOne(text)
		if err != nil {
			t.Errorf("%v\nfrom %s\nto   %s", err, st.Text, text)
			continue
		}
		if third := ast.Format(again.Stmt); third != text {
			t.Errorf("printed differently\nfirst  %s\nsecond %s", text, third)
		}
		forgetOffsets(reflect.ValueOf(st.Stmt))
		forgetOffsets(reflect.ValueOf(again.Stmt))
		if !reflect.DeepEqual(st.Stmt, again.Stmt) {
			t.Errorf("another tree\nfrom %s\nto   %s", st.Text, text)
		}
	}
}

func TestFormatGivesTheSameTree(t *testing.T) {
	for _, sql := range corpus(t) {
		checkFormat(t, sql)
	}
	for _, sql := range statements(t, "accepted.sql") {
		checkFormat(t, sql)
	}
}

func TestQuoteIdentAgreesWithKeywords(t *testing.T) {
	Keywords(func(word string, cat Category, _ bool) {
		if quoted := ast.QuoteIdent(word) != word; quoted != (cat != Unreserved) {
			t.Errorf("QuoteIdent(%s) = %s, category %d", word, ast.QuoteIdent(word), cat)
		}
	})
}

func TestFormatIsReadable(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"select a+b*c, (a+b)*c, -a, -1, (-1)::int from t x where not a and (b or c)",
			"SELECT a + b * c, (a + b) * c, - a, -1, (-1)::integer FROM t AS x WHERE NOT a AND (b OR c)"},
		{"select cast(a as varchar(3)[]), timestamp with time zone 'x', interval '1' day, char 'a'",
			"SELECT a::character varying(3)[], timestamp with time zone 'x', interval '1' DAY, pg_catalog.bpchar 'a'"},
		{`select "A b"."select" as "from"`, `SELECT "A b"."select" AS "from"`},
		{"select a from t join u using (a) left join (v cross join w) on true",
			"SELECT a FROM t INNER JOIN u USING (a) LEFT JOIN (v CROSS JOIN w) ON TRUE"},
	}
	for _, tt := range tests {
		st, err := ParseOne(tt.sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := ast.Format(st.Stmt); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.sql, got, tt.want)
		}
	}
}
