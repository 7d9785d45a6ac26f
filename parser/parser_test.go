package parser

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

func sqlError(t *testing.T, err error) *sqlerr.Error {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *sqlerr.Error", err)
	}
	return e
}

func TestAcceptedStatements(t *testing.T) {
	for _, sql := range statements(t, "accepted.sql") {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%v\n  in %s", err, sql)
		}
	}
}

func TestRefusedStatements(t *testing.T) {
	for _, line := range statements(t, "refused.tsv") {
		cols := strings.SplitN(line, "\t", 3)
		pos, _ := strconv.Atoi(cols[0])
		_, err := Parse(cols[2])
		if err == nil {
			t.Errorf("accepted: %s", cols[2])
			continue
		}
		e := sqlError(t, err)
		if e.Code != sqlerr.SyntaxError || e.Message != cols[1] || e.Pos != pos {
			t.Errorf("%s\n got %s %s at %d\nwant %s at %d", cols[2], e.Code, e.Message, e.Pos, cols[1], pos)
		}
	}
}

func TestScriptOffsets(t *testing.T) {
	sql := "  select 1 ;; -- c\n update t set a = $2;\n"
	list, err := Parse(sql)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for i, want := range []string{"select 1", "update t set a = $2"} {
		st := list[i]
		if st.Text != want || sql[st.Off:st.End] != want || st.Stmt.Pos() != st.Off {
			t.Errorf("statement %d: %q at %d to %d, tree at %d", i, st.Text, st.Off, st.End, st.Stmt.Pos())
		}
	}
	if list[0].NumParams != 0 || list[1].NumParams != 2 {
		t.Errorf("parameters: %d and %d", list[0].NumParams, list[1].NumParams)
	}
	if line, col := LineCol(sql, list[1].Off); line != 2 || col != 2 {
		t.Errorf("second statement at %d:%d", line, col)
	}
	if _, col := LineCol("é x", 3); col != 3 {
		t.Errorf("columns are characters: got %d", col)
	}
}

func TestParseOne(t *testing.T) {
	if st, err := ParseOne(" ; -- nothing"); err != nil || st.Stmt != nil {
		t.Errorf("empty: %v, %v", st, err)
	}
	_, err := ParseOne("select 1; select 2")
	if e := sqlError(t, err); e.Code != sqlerr.SyntaxError || e.Message != "cannot insert multiple commands into a prepared statement" {
		t.Error(e.Code, e)
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	const n = 100_000
	tests := []string{
		"select " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"select " + strings.Repeat("(", n),
		"select " + strings.Repeat("not ", n) + "a",
		"select " + strings.Repeat("- ", n) + "a",
		"select " + strings.Repeat("f(", n),
		"select " + strings.Repeat("case when ", n),
		"select " + strings.Repeat("array[", n),
		"select " + strings.Repeat("(select ", n),
		strings.Repeat("(", n) + "select 1",
		"select * from " + strings.Repeat("(", n) + "a",
		"select * from " + strings.Repeat("(select * from ", n),
		"select 1" + strings.Repeat("+1", n),
		"select 1" + strings.Repeat(" union select 1", n),
		"select a" + strings.Repeat("::int", n),
		"select a" + strings.Repeat("[1]", n),
		"select a from t group by " + strings.Repeat("grouping sets (", n),
		strings.Repeat("with a as (", n),
		strings.Repeat("explain ", n) + "select 1",
		"select a is null" + strings.Repeat(" is null", n),
	}
	for _, sql := range tests {
		_, err := Parse(sql)
		if err == nil {
			t.Errorf("accepted: %.40s…", sql)
			continue
		}
		if e := sqlError(t, err); e.Code != sqlerr.StatementTooComplex && !strings.HasPrefix(sql, "explain") {
			t.Errorf("%.40s…: %s %.100s", sql, e.Code, e.Message)
		}
	}
}

func TestLongListsAreFine(t *testing.T) {
	const n = 50_000
	for _, sql := range []string{
		"select 1" + strings.Repeat(" or a = 1", n),
		"select 1" + strings.Repeat(" and a = 1", n),
		"select a in (1" + strings.Repeat(", 1", n) + ")",
		"insert into t values (1)" + strings.Repeat(", (1)", n),
		"select 1" + strings.Repeat(", 1", 5000),
		strings.Repeat("select 1;", n),
	} {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%.40s…: %v", sql, err)
		}
	}
}

func TestEncoding(t *testing.T) {
	for _, sql := range []string{"select '\xff'", "select \xc3", "select E'\\xff'", "select '\x00'"} {
		_, err := Parse(sql)
		if err == nil {
			t.Errorf("accepted %q", sql)
			continue
		}
		if e := sqlError(t, err); e.Code != sqlerr.CharacterNotInRepertoire {
			t.Errorf("%q: %s %s", sql, e.Code, e)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	long := strings.Repeat("ä", 40)
	st, err := ParseOne(`select FooBar, "FooBar", "a""b", U&"d\0061t", "` + long + `" from t`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tg := range st.Stmt.(*ast.Select).Targets {
		got = append(got, tg.X.(*ast.ColumnRef).Parts[0])
	}
	want := []string{"foobar", "FooBar", `a"b`, "dat", strings.Repeat("ä", 31)}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLiterals(t *testing.T) {
	tests := []struct {
		sql, val string
		kind     ast.ConstKind
	}{
		{`'it''s'`, "it's", ast.ConstString},
		{"'a' -- c\n  'b'\n'c'", "abc", ast.ConstString},
		{`E'a\n\x41\102\u00e9\U0001F600\'\\'`, "a\nAB\u00e9\U0001F600'\\", ast.ConstString},
		{`E'\ud83d\ude00'`, "\U0001F600", ast.ConstString},
		{`U&'\0041\+01F600\\'`, "A\U0001F600\\", ast.ConstString},
		{`U&'!0041' uescape '!'`, "A", ast.ConstString},
		{`$$a'b$$`, "a'b", ast.ConstString},
		{`$x$a$$b$x$`, "a$$b", ast.ConstString},
		{`B'01'`, "01", ast.ConstBit},
		{`X'1F'`, "1F", ast.ConstHexBit},
		{`42`, "42", ast.ConstInt},
		{`-42`, "-42", ast.ConstInt},
		{`- - 42`, "42", ast.ConstInt},
		{`.5e-3`, ".5e-3", ast.ConstNumeric},
		{`5.`, "5.", ast.ConstNumeric},
		{`TRUE`, "true", ast.ConstBool},
		{`null`, "", ast.ConstNull},
		{`'\'`, `\`, ast.ConstString},
	}
	for _, tt := range tests {
		x, err := ParseExpr(tt.sql)
		if err != nil {
			t.Errorf("%s: %v", tt.sql, err)
			continue
		}
		if c, ok := x.(*ast.Const); !ok || c.Kind != tt.kind || c.Val != tt.val {
			t.Errorf("%s: %#v", tt.sql, x)
		}
	}
}

// TestPrecedence shows the tree by printing it with every operation in
// parentheses.
func TestPrecedence(t *testing.T) {
	tests := []struct{ sql, same string }{
		{"a or b and not c = d", "a or (b and (not (c = d)))"},
		{"a + b * c ^ d", "a + (b * (c ^ d))"},
		{"a || b + c", "a || (b + c)"},
		{"a < b || c", "a < (b || c)"},
		{"-a ^ b", "(-a) ^ b"},
		{"- a::int", "-(a::int)"},
		{"a between b and c and d", "(a between b and c) and d"},
		{"a = b is null", "(a = b) is null"},
		{"a like b || c", "a like (b || c)"},
		{"not a like b", "not (a like b)"},
		{"a at time zone b || c", "(a at time zone b) || c"},
		{"a || b collate c", "a || (b collate c)"},
		{"a - b - c", "(a - b) - c"},
		{"@ a + b", "@ (a + b)"},
		{"a = any (b) and c", "(a = any (b)) and c"},
		{"a->b->>c = d", "((a->b)->>c) = d"},
		{"a is distinct from b or c", "(a is distinct from b) or c"},
		{"a in (b) = c", "(a in (b)) = c"},
	}
	for _, tt := range tests {
		a, err1 := ParseExpr(tt.sql)
		b, err2 := ParseExpr(tt.same)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", tt.sql, err1, err2)
			continue
		}
		if ast.Format(a) != ast.Format(b) {
			t.Errorf("%s: got %s, want %s", tt.sql, ast.Format(a), ast.Format(b))
		}
	}
}

func TestJoinTrees(t *testing.T) {
	tests := []struct{ from, same string }{
		{"a join b join c on x on y", "a join (b join c on x) on y"},
		{"a left join b on x join c on y", "(a left join b on x) join c on y"},
		{"a join b cross join c on x", "a join (b cross join c) on x"},
		{"a cross join b natural full join c", "(a cross join b) natural full join c"},
		{"a, b join c using (d) as e, f", "a, (b join c using (d) as e), f"},
	}
	for _, tt := range tests {
		a, err1 := ParseOne("select from " + tt.from)
		b, err2 := ParseOne("select from " + tt.same)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", tt.from, err1, err2)
			continue
		}
		if ast.Format(a.Stmt) != ast.Format(b.Stmt) {
			t.Errorf("%s: got %s, want %s", tt.from, ast.Format(a.Stmt), ast.Format(b.Stmt))
		}
	}
}

func TestTypeNames(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"int", "integer"}, {"INT8", "int8"}, {"pg_catalog.int8", "bigint"}, {"varchar(10)[]", "character varying(10)[]"},
		{"char", "character(1)"}, {"decimal(10,2)", "numeric(10, 2)"}, {"float(24)", "real"}, {"float(25)", "double precision"},
		{"timestamp(3) with time zone", "timestamp(3) with time zone"}, {"interval day to second(3)", "interval DAY TO SECOND(3)"},
		{"text array[3]", "text[]"}, {`"My".typ`, `"My".typ`}, {"bit varying(3)", "bit varying(3)"}, {"geo(1,2)", "geo(1, 2)"},
	}
	for _, tt := range tests {
		typ, err := ParseTypeName(tt.sql)
		if err != nil {
			t.Errorf("%s: %v", tt.sql, err)
			continue
		}
		if got := ast.FormatType(typ); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.sql, got, tt.want)
		}
	}
}

func TestDialect(t *testing.T) {
	for _, sql := range []string{
		"create table t (a int, m jsonb storage elements) with (layout = 'column', groups = 'a b; c', regions = 4)",
		"create index i on t using inverted (a)",
		"explain (analyze, kv) select 1",
	} {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestUnsupportedIsNamed(t *testing.T) {
	st, err := ParseOne("create constraint trigger t after insert on x for each row execute function f()")
	if u, ok := st.Stmt.(*ast.Unsupported); err != nil || !ok || u.What != "CREATE CONSTRAINT TRIGGER" {
		t.Errorf("%#v, %v", st.Stmt, err)
	}
	_, err = Parse("select xmlelement(name a)")
	if e := sqlError(t, err); e.Code != sqlerr.FeatureNotSupported {
		t.Error(e.Code, e)
	}
}
