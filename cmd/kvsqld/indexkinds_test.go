package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// indexKinds are the ways to index the same rows: each is a schema of its own.
var indexKinds = []struct {
	schema  string
	indexes []string
}{
	{"none", nil},
	{"btree", []string{"CREATE INDEX ON t (a)", "CREATE INDEX ON t (s, a)", "CREATE INDEX ON t (n)", "CREATE INDEX ON t (arr)"}},
	{"hash", []string{"CREATE INDEX ON t USING hash (a)", "CREATE INDEX ON t USING hash (s)", "CREATE INDEX ON t USING hash (n)",
		"CREATE INDEX ON t USING hash (arr)", "CREATE INDEX ON t USING hash ((a + 1))"}},
	{"inverted", []string{"CREATE INDEX ON t USING inverted (a)", "CREATE INDEX ON t USING inverted (s, a)", "CREATE INDEX ON t USING inverted (n)",
		"CREATE INDEX ON t USING inverted (arr)", "CREATE INDEX ON t USING gin (j)"}},
	{"gin", []string{"CREATE INDEX ON t USING gin (arr, j)", "CREATE INDEX ON t USING inverted (j, arr)"}},
}

// kindsRow makes the values of a random row but its id: few different values, so
// that lists are long and conditions hit.
func kindsRow(r *rand.Rand) string {
	null := func(s string) string {
		if r.IntN(12) == 0 {
			return "NULL"
		}
		return s
	}
	var arr, obj []string
	for range r.IntN(4) {
		arr = append(arr, fmt.Sprint(r.IntN(8)))
		obj = append(obj, fmt.Sprintf(`"k%d": %d`, r.IntN(5), r.IntN(4)))
	}
	return strings.Join([]string{null(fmt.Sprint(r.IntN(20))), null("'" + kindsText(r) + "'"), null(fmt.Sprintf("%d.%02d", r.IntN(9)-4, r.IntN(3)*25)),
		null("'{" + strings.Join(arr, ",") + "}'"), null("'{" + strings.Join(obj, ", ") + "}'")}, ", ")
}

func kindsText(r *rand.Rand) string {
	return []string{"a", "ab", "abc", "abd", "b", "", "A%", "a_c", "z~", "é"}[r.IntN(10)]
}

// kindsCondition makes a random condition.
func kindsCondition(r *rand.Rand, deep int) string {
	n := func(below int) int { return r.IntN(below) }
	if deep > 0 && n(3) == 0 {
		op := []string{" AND ", " AND ", " OR "}[n(3)]
		return "(" + kindsCondition(r, deep-1) + op + kindsCondition(r, deep-1) + ")"
	}
	cmp := []string{"=", "<", "<=", ">", ">=", "<>"}[n(6)]
	elems := fmt.Sprintf("'{%d,%d}'::int[]", n(8), n(8))
	switch n(16) {
	case 0:
		return fmt.Sprintf("a = %d", n(22))
	case 1:
		return fmt.Sprintf("a %s %d", cmp, n(22))
	case 2:
		return fmt.Sprintf("a BETWEEN %d AND %d", n(12), n(22))
	case 3:
		return fmt.Sprintf("a IN (%d, %d, NULL)", n(22), n(22))
	case 4:
		return fmt.Sprintf("a = ANY (%s)", elems)
	case 5:
		return fmt.Sprintf("s LIKE '%s%%'", []string{"a", "ab", "A\\%", "", "a_"}[n(5)])
	case 6:
		return fmt.Sprintf("s %s '%s' AND a %s %d", []string{"=", cmp}[n(2)], kindsText(r), cmp, n(22))
	case 7:
		return fmt.Sprintf("n %s %d.%d", cmp, n(9)-4, n(3)*25)
	case 8:
		return []string{"a IS NULL", "s IS NULL", "arr IS NULL", "n IS NOT NULL", "j IS NULL"}[n(5)]
	case 9:
		return fmt.Sprintf("arr @> %s", []string{elems, "'{}'", fmt.Sprintf("'{%d}'", n(8))}[n(3)])
	case 10:
		return fmt.Sprintf("arr <@ '{%d,%d,%d}'", n(8), n(8), n(8))
	case 11:
		return fmt.Sprintf("arr && %s", elems)
	case 12:
		return fmt.Sprintf("%d = ANY (arr)", n(9))
	case 13:
		return fmt.Sprintf("arr = '{%d,%d}'", n(8), n(8))
	case 14:
		return fmt.Sprintf("j ?%s", []string{fmt.Sprintf(" 'k%d'", n(6)), fmt.Sprintf("| '{k%d,k%d}'", n(6), n(6)), fmt.Sprintf("& '{k%d,k%d}'", n(6), n(6))}[n(3)])
	default:
		return fmt.Sprintf(`j @> '{"k%d": %d}'`, n(6), n(4))
	}
}

// TestIndexKindsAgree changes the same random rows in tables without an index, with
// btree indexes and with inverted ones, and asks all of them the same queries.
func TestIndexKindsAgree(t *testing.T) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, startServer(t, storage.Options{NoSync: true}).dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	used := make([]int, len(indexKinds)) // plans with an index
	do := func(sql string) {
		t.Helper()
		if _, err := c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	everywhere := func(sql string) {
		t.Helper()
		for _, k := range indexKinds {
			do("SET search_path = " + k.schema)
			do(sql)
		}
	}
	lines := func(sql string) []string {
		t.Helper()
		rows, err := c.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		var out []string
		if err == nil {
			out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return out
	}
	for _, k := range indexKinds {
		do("CREATE SCHEMA " + k.schema + "; SET search_path = " + k.schema)
		do("CREATE TABLE t (id int PRIMARY KEY, a int, s text, n numeric(6,2), arr int[], j jsonb)")
		for _, ix := range k.indexes {
			do(ix)
		}
	}
	r := rand.New(rand.NewPCG(3, 5))
	next := 0
	for round := range 9 {
		for range 4 {
			switch r.IntN(4) {
			case 0:
				everywhere("DELETE FROM t WHERE " + kindsCondition(r, 1) + fmt.Sprintf(" AND id %% 3 = %d", r.IntN(3)))
			case 1:
				set := []string{fmt.Sprintf("a = %d", r.IntN(20)), "s = '" + kindsText(r) + "', n = -n", fmt.Sprintf("arr = array_append(arr, %d)", r.IntN(8)),
					fmt.Sprintf(`j = j || '{"k%d": %d}'`, r.IntN(5), r.IntN(4)), "arr = NULL"}[r.IntN(5)]
				everywhere("UPDATE t SET " + set + " WHERE " + kindsCondition(r, 0) + fmt.Sprintf(" AND id %% 5 = %d", r.IntN(5)))
			default:
				var rows []string
				for range 100 + r.IntN(200) {
					next++
					rows = append(rows, fmt.Sprintf("(%d, %s)", next, kindsRow(r)))
				}
				everywhere("INSERT INTO t VALUES " + strings.Join(rows, ", "))
			}
		}
		if round%3 == 1 {
			everywhere("VACUUM ANALYZE t") // deltas go into the lists
		}
		for range 40 {
			where := kindsCondition(r, 2)
			sql := "SELECT t::text FROM t WHERE " + where + " ORDER BY id"
			switch r.IntN(4) {
			case 0:
				order := []string{"a, id", "a DESC NULLS LAST, id", "s, a, id", "n DESC, id"}[r.IntN(4)]
				sql = fmt.Sprintf("SELECT t::text FROM t WHERE %s ORDER BY %s LIMIT %d OFFSET %d", where, order, 1+r.IntN(20), r.IntN(5))
			case 1:
				sql = "SELECT concat_ws('/', a, count(*), count(s), min(s), max(n)) FROM t WHERE " + where + " GROUP BY a ORDER BY a"
			}
			var want []string
			for i, k := range indexKinds {
				do("SET search_path = " + k.schema)
				got := lines(sql)
				if strings.Contains(strings.Join(lines("EXPLAIN "+sql), "\n"), " by t_") {
					used[i]++
				}
				if i == 0 {
					want = got
				} else if !slices.Equal(got, want) {
					t.Fatalf("%s\n%s has %d rows\n%q\nwithout an index there are %d\n%q", sql, k.schema, len(got), got, len(want), want)
				}
			}
		}
	}
	if used[0] != 0 || slices.Min(used[1:]) < 30 {
		t.Errorf("plans that use an index of the table: %v", used)
	}
}
