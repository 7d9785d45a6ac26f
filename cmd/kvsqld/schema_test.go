package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"kvsqld/storage"
)

// schemaServer is a server of a property test, with a connection.
type schemaServer struct {
	*server
	t    *rapid.T
	conn *pgx.Conn
}

// withServer runs f with a new server in memory.
func withServer(tb testing.TB, t *rapid.T, f func(s *schemaServer)) {
	srv, err := openServer(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.checkAndStop(tb)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	f(&schemaServer{srv, t, c})
}

func (s *schemaServer) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	_, err := s.conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// make runs the statements that can be run and returns them.
func (s *schemaServer) make(list []string) []string {
	var done []string
	for _, sql := range list {
		if s.exec(sql) == nil {
			done = append(done, sql)
		}
	}
	return done
}

// rows puts some rows into every table, of columns that take them.
func (s *schemaServer) rows() {
	for _, t := range s.tables() {
		for i := range 3 {
			for _, cols := range []string{"k, a, b", "k, a", "k, b", "k"} {
				n := strings.Count(cols, ",")
				sql := fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%d%s)", t, cols, i+1, strings.Repeat(fmt.Sprintf(", '%d'", i+1), n))
				if s.exec(sql) == nil {
					break
				}
			}
		}
	}
}

// tables are those with a column k.
func (s *schemaServer) tables() []string {
	return s.strings("SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid " +
		"WHERE nspname IN ('public', 'My Schema') AND relkind = 'r' AND attname = 'k' ORDER BY 1")
}

// keys has the values of column k of every table.
func (s *schemaServer) keys() map[string]string {
	out := map[string]string{}
	for _, t := range s.tables() {
		out[t] = strings.Join(s.strings("SELECT coalesce(k::text, 'NULL') FROM ONLY "+t+" ORDER BY k"), " ")
	}
	return out
}

func (s *schemaServer) strings(sql string) []string {
	rows, err := s.conn.Query(context.Background(), sql)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (s *schemaServer) export() string {
	var b bytes.Buffer
	if err := s.ExportCatalog(context.Background(), &b); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// pgDump is the schema as pg_dump writes it; "" where it is not installed.
func (s *schemaServer) pgDump() string {
	bin, err := findPostgres()
	if err != nil {
		return ""
	}
	out, err := exec.Command(filepath.Join(bin, "pg_dump"), "--schema-only", "--no-sync", s.dsn()).CombinedOutput()
	if err != nil {
		s.t.Fatalf("pg_dump: %v\n%s", err, out)
	}
	return defaultGrants.ReplaceAllStringFunc(restrictLines.ReplaceAllString(string(out), ""), func(run string) string {
		lines := strings.SplitAfter(run, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
}

// defaultGrants are in the order of the roles' OIDs, which a document does not keep.
var defaultGrants = regexp.MustCompile(`(?m)(^ALTER DEFAULT PRIVILEGES .*\n)+`)

// restrictLines are different in every dump.
var restrictLines = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

// TestCatalogOfRealSchemasComesBack exports a random schema, imports it into a
// new server and compares: the documents, states of sequences included, and what
// pg_dump makes of both.
func TestCatalogOfRealSchemasComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var doc, dump string
		withDump := rapid.IntRange(1, 10).Draw(rt, "dump") == 1 // the slow half
		withServer(t, rt, func(s *schemaServer) {
			s.make(newSchemaGen(rt).statements())
			s.make([]string{"SELECT nextval('counter'), nextval('counter')", "SELECT nextval(c.oid) FROM pg_class c WHERE relkind = 'S'",
				"CREATE ROLE clerk LOGIN", "ALTER ROLE clerk SET work_mem = '1MB'", "GRANT SELECT ON t1 TO clerk", "ALTER DATABASE postgres SET timezone = 'UTC'"})
			doc = s.export()
			if withDump {
				dump = s.pgDump()
			}
		})
		withServer(t, rt, func(s *schemaServer) {
			if _, err := s.ImportCatalog(context.Background(), strings.NewReader(doc)); err != nil {
				rt.Fatalf("%v\n%s", err, doc)
			}
			if got := s.export(); got != doc {
				rt.Fatalf("the document changes on its way:\n%s", firstDifference(doc, got))
			}
			if withDump {
				if got := s.pgDump(); got != dump {
					rt.Fatalf("the dump changes:\n%s", firstDifference(dump, got))
				}
			}
		})
	})
}

// firstDifference shows the first lines in which two texts differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(i-3, 0)
	return fmt.Sprintf("want (line %d):\n%s\ngot:\n%s", i+1, strings.Join(a[from:min(i+3, len(a))], "\n"), strings.Join(b[from:min(i+3, len(b))], "\n"))
}

// notDescribed is no part of what a diff makes equal: the state of sequences, statistics,
// the names of files, and what no statement says, as whether an alias in a stored query
// was written and how a partition came to its key.
// Grants are compared as rights: two lists of them can mean the same.
var notDescribed = regexp.MustCompile(` (lastValue|isCalled|fileName|regionFile|validUntil|acl|derived)="[^"]*"|\s*<madeAlias [^>]*>|(?s)<Statistics>.*?</Statistics>|\s*<DefaultPrivileges>.*?</DefaultPrivileges>`)

// keptNames are the names that indexes keep of columns whose names changed, which no
// statement says either; those of expressions stand before other attributes.
var keptNames = regexp.MustCompile(` columnName="[^"]*">`)

// options are storage parameters, of which nothing but the order in which they were given
// depends on their order.
var options = regexp.MustCompile(`(?s)<Options>\n(.*?)\n *</Options>`)

// described is what a diff makes equal of a document.
func described(doc string) string {
	doc = options.ReplaceAllStringFunc(doc, func(s string) string {
		lines := strings.Split(s, "\n")
		slices.Sort(lines[1 : len(lines)-1])
		return strings.Join(lines, "\n")
	})
	return keptNames.ReplaceAllString(notDescribed.ReplaceAllString(doc, ""), ">")
}

// rights are all grants of the database and the memberships of roles.
const rights = `
SELECT concat_ws(' ', 'relation', n.nspname, relname, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace,
       aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))) a
  WHERE relkind IN ('r', 'v', 'm', 'S') AND n.nspname IN ('public', 'My Schema')
UNION ALL SELECT concat_ws(' ', 'column', attrelid::regclass, attname, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_attribute, aclexplode(attacl) a WHERE attacl IS NOT NULL AND NOT attisdropped
UNION ALL SELECT concat_ws(' ', 'schema', nspname, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a WHERE nspname IN ('public', 'My Schema')
UNION ALL SELECT concat_ws(' ', 'type', typname, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_type, aclexplode(coalesce(typacl, acldefault('T', typowner))) a WHERE typname IN ('mood', 'name_text', 'pair')
UNION ALL SELECT concat_ws(' ', 'database', datname, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) a WHERE datname = current_database()
UNION ALL SELECT concat_ws(' ', 'default', defaclrole::regrole, coalesce(nspname, '-'), defaclobjtype, a.grantor::regrole, a.grantee::regrole, privilege_type, is_grantable)
  FROM pg_default_acl LEFT JOIN pg_namespace n ON n.oid = defaclnamespace, aclexplode(defaclacl) a
UNION ALL SELECT concat_ws(' ', 'member', roleid::regrole, member::regrole, admin_option) FROM pg_auth_members
UNION ALL SELECT concat_ws(' ', 'role', rolname, nullif(rolvaliduntil, 'infinity')) FROM pg_roles
ORDER BY 1`

// TestCatalogDiff applies the statements of the difference between two random
// schemas to a database of the first one, which then has the second.
func TestCatalogDiff(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		write := func(name, doc string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
				rt.Fatal(err)
			}
			return path
		}
		var old, to string
		var made, wantRights []string
		withServer(t, rt, func(s *schemaServer) {
			made = s.make(newSchemaGen(rt).statements())
			to = s.export()
			wantRights = s.strings(rights)
		})
		newFile := write("new.xml", to)
		withServer(t, rt, func(s *schemaServer) {
			before := s.make(newSchemaGen(rt).statements())
			old = s.export()
			var kept map[string]string
			withRows := rapid.Bool().Draw(rt, "rows")
			if withRows {
				s.rows()
				kept = s.keys()
			}
			var script bytes.Buffer
			err := diffFiles(write("old.xml", old), newFile, "", &script)
			if err != nil {
				if strings.Contains(err.Error(), "not supported") {
					return // refused by name
				}
				rt.Fatalf("%v\nold:\n%s\nnew:\n%s", err, strings.Join(before, ";\n"), strings.Join(made, ";\n"))
			}
			if err := s.exec("BEGIN;\n" + script.String() + "COMMIT;"); err != nil {
				var pe *pgconn.PgError
				if withRows && errors.As(err, &pe) && (strings.HasPrefix(pe.Code, "22") || strings.HasPrefix(pe.Code, "23")) {
					return // the rows do not fit the new schema
				}
				rt.Fatalf("%v\nscript:\n%s\nold:\n%s\nnew:\n%s", err, script.String(), strings.Join(before, ";\n"), strings.Join(made, ";\n"))
			}
			want, got := described(to), described(s.export())
			if got != want {
				rt.Fatalf("%s\nscript:\n%s\nold:\n%s\nnew:\n%s", firstDifference(want, got), script.String(), strings.Join(before, ";\n"), strings.Join(made, ";\n"))
			}
			if got := s.strings(rights); !slices.Equal(got, wantRights) {
				rt.Fatalf("%s\nscript:\n%s\nold:\n%s\nnew:\n%s", firstDifference(strings.Join(wantRights, "\n"), strings.Join(got, "\n")), script.String(),
					strings.Join(before, ";\n"), strings.Join(made, ";\n"))
			}
			script.Reset()
			if err := diffFiles(write("old.xml", s.export()), newFile, "", &script); err != nil || script.Len() > 0 {
				rt.Fatalf("a difference is left: %v\n%s", err, script.String())
			}
			now := s.keys()
			for table, keys := range kept {
				if got, ok := now[table]; ok && got != keys {
					rt.Fatalf("table %s had the keys %s and has %s\nscript:\n%s", table, keys, got, script.String())
				}
			}
		})
	})
}

// Attributes of a composite type that nothing has values of get other types.
func TestCatalogDiffOfAttributes(t *testing.T) {
	diffForthAndBack(t, `
CREATE TYPE small AS (a int, b text, c date);
CREATE TYPE odd AS ("A b" int);
CREATE FUNCTION f(small) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE goes (s small);`, `
DROP TABLE goes;
ALTER TYPE small ALTER ATTRIBUTE b TYPE varchar(9) COLLATE "C", ALTER ATTRIBUTE a TYPE bigint, ADD ATTRIBUTE d int;
ALTER TYPE odd ALTER ATTRIBUTE "A b" TYPE numeric(5, 2);
CREATE TABLE comes (o odd[]);`)
}

// A table that becomes unlogged takes its sequences along, but for those that became
// logged again.
func TestCatalogDiffOfSequences(t *testing.T) {
	diffForthAndBack(t, `
CREATE TABLE t (k int, i bigint GENERATED ALWAYS AS IDENTITY, s serial);
CREATE SEQUENCE logged OWNED BY t.k;
CREATE UNLOGGED TABLE u (k int, s serial);
CREATE UNLOGGED SEQUENCE unlogged OWNED BY u.k;`, `
ALTER TABLE t SET UNLOGGED;
ALTER SEQUENCE logged SET LOGGED;
ALTER TABLE u SET LOGGED;
ALTER SEQUENCE unlogged SET UNLOGGED;`)
}
