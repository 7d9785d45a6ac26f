package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectElements: the elements of an array are shown by their subscripts, which
// begin where the array says.
func TestInspectElements(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "x.sql")
	const sql = `CREATE TABLE t (id int PRIMARY KEY, a int[] STORAGE elements);
INSERT INTO t VALUES (1, '{10,20}'), (2, '[-1:0]={30,40}'), (3, '{50}');`
	if err := os.WriteFile(script, []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := command("load", "--data", data, script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := command("inspect", "--data", data, "t")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"/1 [1] → 10", "/1 [2] → 20", "/2 [-1] → 30", "/2 [0] → 40", "/3 [1] → 50"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect does not show %q:\n%s", want, out)
		}
	}
}
