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

// A file that tables share shows the rows of all of them, whichever is asked for.
func TestInspectClusteredTables(t *testing.T) {
	dir := t.TempDir()
	data, script := filepath.Join(dir, "data"), filepath.Join(dir, "s.sql")
	err := os.WriteFile(script, []byte(`
CREATE TABLE geo (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon', region_size = '1 x 1');
CREATE TABLE poi (id text, geo int REFERENCES geo, n int, PRIMARY KEY (geo, id)) WITH (cluster_with = 'geo');
INSERT INTO geo VALUES (1, 46.77, 23.59), (2, NULL, NULL);
INSERT INTO poi VALUES ('x', 1, 5), ('y', 2, 6);`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command("load", "--data", data, script); err != nil {
		t.Fatal(err, out)
	}
	for _, x := range []struct{ table, geo, poi string }{{"geo", "", "poi "}, {"poi", "geo ", ""}} {
		out, err := command("inspect", "--data", data, x.table)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"\n" + x.geo + "/no position/2 → (lat=NULL, lon=NULL)\n", "\n" + x.poi + "/no position/2/1/\"y\" → (n=6)\n",
			x.poi + "/136-203.e13702ec/1/1/\"x\" → (n=5)\n", "geo.kv: 4 pairs",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("inspect %s does not show %q:\n%s", x.table, want, out)
			}
		}
	}
}
