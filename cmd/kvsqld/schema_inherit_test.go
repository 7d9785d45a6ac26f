package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kvsqld/storage"
)

// Two states of a schema whose tables inherit: children come, go and change their
// parents, and checks of parents come and go.
const (
	inheritBefore = `
CREATE TABLE z (a int NOT NULL DEFAULT 1, b text STORAGE external, CONSTRAINT zc CHECK (a > 0));
CREATE TABLE c (d int) INHERITS (z);
CREATE TABLE grown (d int) INHERITS (z);
CREATE TABLE other (x int, CONSTRAINT oc CHECK (x > 0), CONSTRAINT own CHECK (x < 9) NO INHERIT);
CREATE TABLE two (y int) INHERITS (z, other);
CREATE TABLE leaves (a int NOT NULL, b text, CONSTRAINT zc CHECK (a > 0)) INHERITS (z);
CREATE TABLE joins (b text, a int NOT NULL, CONSTRAINT zc CHECK (a > 0));
CREATE TABLE drops (e int) INHERITS (c);
CREATE TABLE gone (g int);
CREATE TABLE gonechild () INHERITS (gone);
ALTER TABLE c ALTER b SET STORAGE main, ALTER b SET STATISTICS 7;
INSERT INTO z VALUES (1, 'z');
INSERT INTO c VALUES (2, 'c', 3);
INSERT INTO joins VALUES ('j', 4);`
	inheritChange = `
ALTER TABLE leaves NO INHERIT z;
ALTER TABLE joins ADD CONSTRAINT zn CHECK (length(b) < 100);
ALTER TABLE joins INHERIT z;
DROP TABLE drops, gone, gonechild;
ALTER TABLE z ADD CONSTRAINT zn CHECK (length(b) < 100);
ALTER TABLE other DROP CONSTRAINT oc;
ALTER TABLE ONLY z ALTER b SET STATISTICS 5;
CREATE TABLE a (f int GENERATED ALWAYS AS (a + 1) STORED, a int NOT NULL DEFAULT 9, CHECK (a < 1000)) INHERITS (c);
CREATE TABLE a1 () INHERITS (a, other);
ALTER TABLE a1 ALTER x SET DEFAULT 3;
CREATE TABLE a2 () INHERITS (other, a1);
ALTER TABLE a1 ALTER a DROP DEFAULT, ALTER d SET DEFAULT 5, ALTER d SET NOT NULL, ALTER b SET STORAGE plain;
CREATE TABLE late (b text, n int, a int NOT NULL, CONSTRAINT zc CHECK (a > 0), CONSTRAINT zn CHECK (length(b) < 100));
ALTER TABLE late INHERIT z;
CREATE TABLE p (k int);
ALTER TABLE p ADD CONSTRAINT pk CHECK (k > 1);
CREATE TABLE p1 (CONSTRAINT pk CHECK (k > 1)) INHERITS (p);`
)

func TestCatalogDiffOfInheritance(t *testing.T) { diffForthAndBack(t, inheritBefore, inheritChange) }

// TestCatalogDiffRefusesInheritance has differences that no statements make.
func TestCatalogDiffRefusesInheritance(t *testing.T) {
	const base = "CREATE TABLE p (a int); "
	for _, x := range []struct{ old, to, want string }{
		{base + "CREATE TABLE c () INHERITS (p)", base + "CREATE TABLE c () INHERITS (p); ALTER TABLE p ADD b int; ALTER TABLE c ALTER b SET DEFAULT 4", "changing the columns of table public.c"},
		{base + "CREATE TABLE c (a int)", base + "CREATE TABLE c () INHERITS (p)", "changing whether column a of table public.c is its parents' alone"},
		{base + "CREATE TABLE c (a int)", base + "CREATE TABLE c (a int); ALTER TABLE c INHERIT p; ALTER TABLE p ADD CHECK (a > 0)",
			"changing whether check p_a_check of table public.c is its parents' alone"},
		{"", base + "CREATE TABLE c (d int) INHERITS (p); ALTER TABLE p ADD b int", "making table public.c"},
	} {
		dir := t.TempDir()
		file := func(name, sql string) string {
			var b bytes.Buffer
			s := startServer(t, storage.Options{Store: "mem"})
			c, err := s.connect(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(t.Context())
			if _, err := c.Exec(t.Context(), sql).ReadAll(); err != nil {
				t.Fatal(err)
			}
			if err := s.ExportCatalog(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		var script bytes.Buffer
		err := diffFiles(file("old.xml", x.old), file("new.xml", x.to), "", &script)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v\n%s", x.to, err, script.String())
		}
	}
}

// Columns of a table and of those that inherit from it change together.
func TestCatalogDiffOfInheritedColumns(t *testing.T) {
	diffForthAndBack(t, `
CREATE TABLE up (a int, b text DEFAULT 'b');
CREATE TABLE mid (c int) INHERITS (up);
CREATE TABLE low () INHERITS (mid);
CREATE TABLE side (y int) INHERITS (up);
CREATE TABLE alone (a int);
CREATE TABLE own (v int) INHERITS (alone);
INSERT INTO low VALUES (1, 'x', 2);`, `
ALTER TABLE up ADD z int DEFAULT 4;
ALTER TABLE up ALTER a TYPE bigint, ALTER a SET NOT NULL, ALTER b SET DEFAULT 'c';
ALTER TABLE own ALTER v TYPE bigint, ADD w int NOT NULL DEFAULT 1;
CREATE TABLE more (x int) INHERITS (up);`)
}
