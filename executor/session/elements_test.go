package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/storage/table"
)

// elementGen makes statements about a table t (id int, n int, j jsonb, a int[], b
// jsonb NOT NULL, h hstore).
type elementGen struct{ *rand.Rand }

// form fills in what a pattern mentions.
func form(pattern string, args ...any) string {
	out, _, _ := strings.Cut(fmt.Sprintf(pattern, args...), "%!(EXTRA")
	return out
}

func pick[T any](g elementGen, of ...T) T { return of[g.IntN(len(of))] }

func (g elementGen) key() string {
	return pick(g, "a", "b", "", "0", "1", "-1", "it''s", strings.Repeat("k", 300), "nested")
}

func (g elementGen) json(depth int) string {
	switch n := g.IntN(9); {
	case n < 3 && depth > 0:
		var parts []string
		for range g.IntN(4) {
			parts = append(parts, fmt.Sprintf(`"%s": %s`, g.key(), g.json(depth-1)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n == 3 && depth > 0:
		return "[" + g.json(depth-1) + ", " + g.json(depth-1) + "]"
	case n == 4:
		return "null"
	case n == 5:
		return `"text"`
	}
	return fmt.Sprint(g.IntN(100))
}

func (g elementGen) jsonValue() string {
	if g.IntN(8) == 0 {
		return "NULL"
	}
	return "'" + g.json(3) + "'"
}

func (g elementGen) array() string {
	switch g.IntN(9) {
	case 0:
		return "NULL"
	case 1:
		return "'{}'"
	case 2:
		return "'{{1,2},{3,4}}'"
	case 3:
		return "'[-3:-1]={7,NULL,9}'"
	case 4:
		return "array(SELECT generate_series(1, 400))"
	}
	return "'{1,2,NULL,4,5}'"
}

func (g elementGen) hstore() string {
	if g.IntN(8) == 0 {
		return "NULL"
	}
	var parts []string
	for range g.IntN(5) {
		parts = append(parts, fmt.Sprintf(`"%s"=>%s`, g.key(), pick(g, "NULL", `""`, "1", `"two words"`)))
	}
	return "'" + strings.Join(parts, ", ") + "'"
}

func (g elementGen) sub() string { return fmt.Sprint(pick(g, -2, 0, 1, 2, 3, 5, 6, 9, 300)) }

// read is an expression that looks at elements, or at more.
func (g elementGen) read() string {
	j := pick(g, "j", "b")
	k := g.key()
	return form(pick(g,
		"%[1]s->'%[2]s'", "%[1]s->>'%[2]s'", "%[1]s['%[2]s']", "%[1]s['%[2]s']['b']", "%[1]s->%[3]s", "%[1]s->>%[3]s", "%[1]s[%[3]s]",
		"%[1]s#>'{%[4]s,b}'", "%[1]s#>>'{}'", "jsonb_extract_path(%[1]s, 'a', 'b')", "%[1]s ? '%[2]s'", "%[1]s ?| '{a,b}'", "%[1]s ?& '{a,0}'",
		"%[1]s @> '{\"a\": %[3]s}'", "%[1]s @> '5'", "'{\"a\": 1, \"b\": 2}' @> %[1]s", "%[1]s IS NULL", "jsonb_typeof(%[1]s)", "%[1]s - 'a'",
		"a[%[3]s]", "a[%[3]s][1]", "a[%[3]s:5]", "array_length(a, 1)", "cardinality(a)", "array_lower(a, 1)", "array_dims(a)", "a IS NOT NULL", "2 = ANY (a)",
		"coalesce(%[1]s->'a', %[1]s->'b')", "(SELECT %[1]s->'a')", "jsonb_set(%[1]s, '{a}', '1')", "%[1]s",
		"h->'%[2]s'", "h['%[2]s']", "h[%[3]s]", "h ? '%[2]s'", "h ?| '{a,b}'", "h ?& '{a,%[4]s}'", "h->'{b,a,%[4]s}'::text[]", "slice(h, '{a,%[4]s}')",
		"h @> '%[4]s=>1'", "h @> 'a=>NULL'", "h @> ''", "h <@ 'a=>1,b=>NULL,0=>1'", "h IS NULL", "exist(h, 'a')", "defined(h, '%[2]s')",
		"h - 'a'::text", "h || 'a=>1'", "akeys(h)", "h['a'] || h['%[2]s']", "h"), j, k, g.sub(), pick(g, "a", "nested", "0"))
}

func (g elementGen) where() string {
	switch g.IntN(5) {
	case 0:
		return ""
	case 1:
		return " WHERE (" + g.read() + ") IS NOT NULL"
	case 2:
		return fmt.Sprintf(" WHERE a[%s] > 2", g.sub())
	}
	return fmt.Sprintf(" WHERE id = %d", g.IntN(6))
}

func (g elementGen) set() string {
	val := g.jsonValue()
	return form(pick(g,
		"j['%[1]s'] = %[2]s", "b['%[1]s'] = %[2]s", "j['%[1]s']['b'] = %[2]s", "j[%[3]s] = %[2]s", "j['a'] = %[2]s, j['b'] = b->'a'",
		"j = jsonb_set(j, '{%[1]s}', %[2]s)", "j = jsonb_set(jsonb_set(j, '{a}', '1'), '{b}', %[2]s, false)", "b = jsonb_set(b, '{nested,a}', %[2]s)",
		"a[%[3]s] = %[4]d", "a[%[3]s] = NULL", "a[%[3]s] = a[1], a[%[5]s] = 9", "a[%[3]s] = array_length(a, 1)", "a[2:3] = '{8,9}'", "a[%[3]s][1] = 5", "a[NULL] = 1",
		"j['a'] = to_jsonb(coalesce((j->>'n')::int, 0) + 1), a[%[3]s] = n", "n = n + 1", "j = %[2]s", "a = NULL", "id = id", "b = NULL", "j['a'] = j",
		"h['%[1]s'] = 'v'", "h['%[1]s'] = NULL", "h['a'] = n, h['b'] = h['a']", "h[%[3]s] = a[1], j['a'] = to_jsonb(h['b'])", "h[NULL] = 'x'",
		"h = h - '%[1]s'::text", "h = h - '{a,b,0}'::text[]", "h = (h - %[6]s::hstore) || 'a=>NULL'", "h = h || %[6]s", "h = %[6]s", "h = h || h", "h = slice(h, '{a,b}')", "h = NULL"),
		g.key(), val, g.sub(), g.IntN(50), g.sub(), g.hstore())
}

func (g elementGen) statement() string {
	switch n := g.IntN(20); {
	case n < 4:
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %s, %s, '%s', %s) ON CONFLICT (id) DO UPDATE SET j['up'] = '1', a = excluded.a, h['up'] = excluded.h['a']",
			g.IntN(6), g.IntN(3), g.jsonValue(), g.array(), g.json(2), g.hstore())
	case n < 10:
		up := "UPDATE t SET " + g.set() + g.where()
		if g.IntN(4) == 0 {
			up += " RETURNING " + g.read()
		}
		return up
	case n == 10:
		return fmt.Sprintf("DELETE FROM t WHERE id = %d", g.IntN(6))
	case n == 11:
		return "UPDATE t SET j['from'] = to_jsonb(s.v) FROM (VALUES (1, 10), (3, 30)) s (k, v) WHERE s.k = t.id"
	case n == 12:
		return "SELECT s.k, (SELECT t.j->s.v FROM t WHERE t.id = s.k), (SELECT a[s.k] FROM t WHERE id = 1) FROM (VALUES (1, 'a'), (2, 'b')) s (k, v) ORDER BY 1"
	case n == 13:
		return "SELECT s.k, t.a[2], t.j->'a' FROM (VALUES (1), (3), (7)) s (k) LEFT JOIN t ON t.id = s.k AND t.j ? 'a' ORDER BY 1"
	case n == 14:
		return "SELECT j->>'a', count(*), max(a[2]) FROM t GROUP BY 1 ORDER BY 1"
	case n == 15 && g.IntN(4) == 0:
		// of one row: of several, another one's error may be met first
		return fmt.Sprintf("UPDATE t SET a[150000000] = 1 WHERE id = %d", g.IntN(6))
	case n == 15:
		return pick(g, "BEGIN", "COMMIT", "ROLLBACK")
	}
	return fmt.Sprintf("SELECT id, %s, %s FROM t%s ORDER BY id%s", g.read(), g.read(), g.where(), pick(g, "", " DESC", " LIMIT 2"))
}

// TestElementsModel compares columns stored by elements with ordinary ones.
func TestElementsModel(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 400
	}
	for _, layout := range []string{"row", "column"} {
		t.Run(layout, func(t *testing.T) {
			srv := newServer(t)
			g := elementGen{rand.New(rand.NewPCG(1, uint64(len(layout))))}
			clients := map[string]*client{"plain": srv.client(t), "elem": srv.client(t)}
			for name, c := range clients {
				c.must("CREATE SCHEMA " + name)
				c.must("CREATE EXTENSION IF NOT EXISTS hstore SCHEMA public")
				c.must("SET search_path = " + name + ", public")
				c.must(fmt.Sprintf("CREATE TABLE t (id int PRIMARY KEY, n int, j jsonb, a int[], b jsonb NOT NULL, h hstore) WITH (layout = '%s')", layout))
			}
			clients["elem"].must("ALTER TABLE t ALTER j SET STORAGE elements, ALTER a SET STORAGE elements, ALTER b SET STORAGE elements, ALTER h SET STORAGE elements")
			var log []string
			for range n {
				q := g.statement()
				log = append(log, q)
				want, got := clients["plain"].sql(q), clients["elem"].sql(q)
				if want != got && !bothFail(q, want, got) {
					t.Fatalf("%s\nby elements:\n%s\nordinary:\n%s\nafter:\n%s", q, got, want, strings.Join(log[max(0, len(log)-12):], "\n"))
				}
				if g.IntN(10) == 0 {
					q = "SELECT * FROM t ORDER BY id"
					if want, got := clients["plain"].sql(q), clients["elem"].sql(q); want != got {
						t.Fatalf("rows by elements:\n%s\nordinary:\n%s\nafter:\n%s", got, want, strings.Join(log[max(0, len(log)-12):], "\n"))
					}
				}
			}
			for _, c := range clients {
				c.sql("ROLLBACK")
			}
			srv.checkTables(t)
		})
	}
}

// bothFail reports whether two answers to a statement are errors. Where several rows
// fail, columns stored by elements may do so at another row and with another column, for
// they are written one by one; with one row the errors are the same.
func bothFail(q, a, b string) bool {
	return !oneRow.MatchString(q) && strings.HasPrefix(a, "ERROR ") && strings.HasPrefix(b, "ERROR ")
}

var oneRow = regexp.MustCompile(`^SELECT|WHERE id = \d+$|^INSERT INTO t VALUES \([^()]*\)`)

// checkTables verifies the tables of all databases.
func (srv *Server) checkTables(t *testing.T) {
	t.Helper()
	var tables []*catalog.Table
	cat := srv.Catalog.Current()
	for _, db := range cat.Databases() {
		if metadata, pages := cat.LargeObjects(db.OID); metadata != nil {
			tables = append(tables, metadata, pages)
		}
		for _, r := range cat.Relations(db.OID) {
			if r, ok := r.(*catalog.Table); ok {
				tables = append(tables, r)
			}
		}
	}
	snap, err := srv.Store.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	report := func(p table.Problem) { t.Errorf("check: %s", p) }
	if err := srv.CheckTables(context.Background(), snap, tables, report); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := srv.Tables.CheckFiles(context.Background(), tables, report); err != nil {
		t.Errorf("check: %v", err)
	}
}
