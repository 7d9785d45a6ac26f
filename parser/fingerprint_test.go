package parser

import (
	"strings"
	"testing"

	"kvsqld/parser/ast"
)

func TestFingerprintTakesOperands(t *testing.T) {
	tests := []struct {
		sql  string
		want string // values joined by |, or "refused"
	}{
		{"select a from t where id = 5", "5"},
		{"select a from t where id = 5 and b like 'x%' limit 10 offset 3;", "5|10|3"},
		{"select 1, 'x' from t where a in (1,2.5,'q''r')", "1|2.5|q'r"},
		{"select a + 1 from t where b > 2 group by a + 1 having count(*) > 3 order by 1", "2"},
		{"insert into t values (1, 'x', null, date '2020-01-01', interval '1' day)", "1|x"},
		{"insert into t (a) values (1) on conflict (a) where b = 2 do update set c = 3 where t.d = 4", "1|3|4"},
		{"update t set a = a + 1, b = 'x' where c::varchar(10) = 'y' and (d = 7)", "1|x|y|7"},
		{"delete from t where a between 1 and 2 returning b, 3", "1|2"},
		{"select a from t where b = cast('5' as numeric(10,2)) and c = 6", "5|6"},
		{"select a from t where extract('year' from b) = 2020", "2020"},
		{"select a from (select b from u where c = 1) x where d = (select 2 where e = 3)", "1|3"},
		{"select a from generate_series(1, 10) a where a < 5", "5"},
		{"with x as (select a from t where b = 1) select * from x where c = 2", "1|2"},
		{"select a from t where b = -5 and c = e'a\\nb' and d = $$q$$", "5|a\nb|q"},
		{"select a from t where b->'k' = '1' and c ~ 'x'", "1"},
		{"select a from t where id = $1", "refused"},
		{"select 1; select 2", "refused"},
		{"create table t (a int)", "refused"},
		{"select a into b from t", "refused"},
		{"select a from t where b = 'x", "refused"},
		{"select a from t where b = x(1) 'y'", "refused"},
	}
	for _, tt := range tests {
		_, lits, ok := fingerprint(tt.sql, nil)
		got := "refused"
		if ok {
			vals := make([]string, len(lits))
			for i, l := range lits {
				vals[i] = l.Val
			}
			got = strings.Join(vals, "|")
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.sql, got, tt.want)
			continue
		}
		if ok {
			checkNormalized(t, tt.sql, lits)
		}
	}
}

// checkNormalized parses sql with its literals taken out and counts the
// parameters that result.
func checkNormalized(t *testing.T, sql string, lits []Literal) {
	t.Helper()
	st, err := ParseNormalized(sql, lits)
	if err != nil {
		t.Errorf("ParseNormalized: %v\n  in %s", err, sql)
		return
	}
	seen := map[int]bool{}
	ast.Walk(st.Stmt, func(n ast.Node) bool {
		if p, ok := n.(*ast.Param); ok {
			seen[p.Num] = true
		}
		return true
	})
	if len(seen) != len(lits) || st.NumParams != len(lits) {
		t.Errorf("%d parameters for %d literals\n  in %s", len(seen), len(lits), sql)
	}
}

func TestFingerprintKeys(t *testing.T) {
	same := [][2]string{
		{"select a from t where b = 1", "SELECT  A FROM T where b=2 -- x"},
		{"select a from t where b = 'x'", "select a from t where b = 'it''s'"},
	}
	for _, s := range same {
		a, _, ok1 := fingerprint(s[0], nil)
		b, _, ok2 := fingerprint(s[1], nil)
		if !ok1 || !ok2 || string(a) != string(b) {
			t.Errorf("%q and %q have different keys", s[0], s[1])
		}
	}
	differ := [][2]string{
		{"select a from t where b = 1", "select a from t where b = '1'"},
		{"select a from t where b = 1", "select a from t where b = 3000000000"},
		{"select a from t where b = 1", "select a from t where b = 1.0"},
		{"select a from t order by 1", "select a from t order by 2"},
		{"select a from t where b = cast(c as varchar(1))", "select a from t where b = cast(c as varchar(2))"},
		{"select ab from t", "select a b from t"},
		{`select "A" from t`, "select a from t"},
		{"select a from t where b like 'x%'", "select a from t where b like 'y%'"},
	}
	for _, s := range differ {
		a, _, ok1 := fingerprint(s[0], nil)
		b, _, ok2 := fingerprint(s[1], nil)
		if !ok1 || !ok2 || string(a) == string(b) {
			t.Errorf("%q and %q have the same key", s[0], s[1])
		}
	}
}

func TestFingerprintOfClientStatements(t *testing.T) {
	taken := 0
	for _, sql := range corpus(t) {
		if _, lits, ok := fingerprint(sql, nil); ok {
			taken++
			checkNormalized(t, sql, lits)
		}
	}
	if taken < 100 {
		t.Errorf("only %d statements have a fingerprint", taken)
	}
}

// fingerprint is Fingerprinter.Run with the key appended to buf[:0].
func fingerprint(sql string, buf []byte) (key []byte, lits []Literal, ok bool) {
	f := Fingerprinter{Key: buf}
	ok = f.Run(sql)
	return f.Key, f.Lits, ok
}
