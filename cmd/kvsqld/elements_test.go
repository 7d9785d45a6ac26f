package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHstoreElementsOutside: keys of an hstore stored by elements are shown one by one,
// and its storage goes through documents and their differences.
func TestHstoreElementsOutside(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) string {
		t.Helper()
		out, err := command(args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	load := func(data, sql string) {
		t.Helper()
		if err := os.WriteFile(path("x.sql"), []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
		run("load", "--data", path(data), path("x.sql"))
	}
	contains := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%q is not in\n%s", w, out)
			}
		}
	}
	const table = "CREATE EXTENSION hstore; CREATE TABLE t (id int PRIMARY KEY, m hstore"
	load("a", table+` STORAGE elements DEFAULT 'k=>v');
		INSERT INTO t VALUES (1, 'b=>1, a=>NULL, "long key"=>"x y"'), (2, ''), (3, NULL), (4, DEFAULT); UPDATE t SET m['c'] = '2', m['b'] = NULL WHERE id = 1;`)
	shown := []string{`/1 → hstore of 4`, `/1 "a" → NULL`, `/1 "b" → NULL`, `/1 "c" → "2"`, `/1 "long key" → "x y"`, `/2 → hstore of 0`, `/4 "k" → "v"`}
	contains(run("inspect", "--data", path("a"), "t"), shown...)
	run("check", "--data", path("a"))
	run("catalog", "export", "--data", path("a"), path("a.xml"))
	run("catalog", "import", "--data", path("b"), path("a.xml"))
	run("catalog", "export", "--data", path("b"), path("b.xml"))
	if out := run("catalog", "diff", path("a.xml"), path("b.xml")); strings.Contains(out, "TABLE") {
		t.Errorf("a document and what was imported from it differ:\n%s", out)
	}
	load("b", `INSERT INTO t VALUES (1, 'c=>2, b=>NULL, a=>NULL, "long key"=>"x y"'), (2, '') , (4, DEFAULT);`)
	contains(run("inspect", "--data", path("b"), "t"), shown...)

	load("c", table+" DEFAULT 'k=>v'); INSERT INTO t VALUES (5, 'p=>q, r=>NULL')")
	run("catalog", "export", "--data", path("c"), path("c.xml"))
	ddl := run("catalog", "diff", path("c.xml"), path("a.xml"))
	contains(ddl, "SET STORAGE elements")
	load("c", ddl)
	contains(run("inspect", "--data", path("c"), "t"), `/5 → hstore of 2`, `/5 "p" → "q"`, `/5 "r" → NULL`)
	ddl = run("catalog", "diff", path("a.xml"), path("c.xml"))
	load("a", ddl)
	if out := run("inspect", "--data", path("a"), "t"); strings.Contains(out, "hstore of") || !strings.Contains(out, "long key") {
		t.Errorf("after\n%s:\n%s", ddl, out)
	}
	run("check", "--data", path("a"))
	run("check", "--data", path("c"))
}
