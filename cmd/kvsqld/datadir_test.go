package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kvsqld/storage"
)

// dataDirs makes three copies of one data directory: after a stop, after more commits
// and another stop, and after more of them and a crash.
func dataDirs(t *testing.T) (old, stopped, crashed string) {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "data")
	copyTo := func(name string) string {
		to := filepath.Join(base, name)
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		return to
	}
	run := func(script string, after func()) {
		srv, err := openServer(storage.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, ctx := pgxConn(t, srv)
		if _, err := c.Exec(ctx, script); err != nil {
			t.Fatal(err)
		}
		c.Close(ctx)
		after()
		srv.checkAndStop(t)
	}
	run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 5000)", func() {})
	old = copyTo("old")
	run("INSERT INTO t VALUES (5001)", func() {})
	stopped = copyTo("stopped")
	run("INSERT INTO t VALUES (5002)", func() { crashed = copyTo("crashed") })
	return old, stopped, crashed
}

// fingerprint is what a directory contains, without the lock file.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Name() == "kvsqld.lock" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			fmt.Fprintf(&out, "%s %s\n", e.Name(), e.Type())
			continue
		}
		fmt.Fprintf(&out, "%s %x\n", e.Name(), sha256.Sum256(b))
	}
	return out.String()
}

// TestDataDirectoryFaults: a data directory of which something is missing, older or
// of another one is refused in one line that says what to do, by every command, and
// stays as it is.
func TestDataDirectoryFaults(t *testing.T) {
	old, stopped, crashed := dataDirs(t)
	name := func(dir, pattern string) string {
		m, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(m) != 1 {
			t.Fatal(pattern, m, err)
		}
		return m[0]
	}
	remove := func(patterns ...string) func(dir string) error {
		return func(dir string) (err error) {
			for _, p := range patterns {
				if err = os.Remove(name(dir, p)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	replace := func(from string, patterns ...string) func(dir string) error {
		return func(dir string) error {
			for _, p := range patterns {
				b, err := os.ReadFile(name(from, p))
				if err == nil {
					err = os.WriteFile(name(dir, p), b, 0o600)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	truncate := func(pattern string, size int64) func(dir string) error {
		return func(dir string) error { return os.Truncate(name(dir, pattern), size) }
	}
	other, _, _ := dataDirs(t)
	const backup = "restore --force"
	for _, tt := range []struct {
		what  string
		from  string
		make  func(dir string) error
		wants []string
	}{
		{"no data file", stopped, remove("kvsqld.db"), []string{"missing or empty", ".sum beside it", backup}},
		{"no data file after a crash", crashed, remove("kvsqld.db"), []string{"missing or empty", backup}},
		{"a log alone", crashed, remove("kvsqld.db", "*.sum"), []string{"missing or empty", "kvsqld.log0", backup}},
		{"an empty data file", stopped, truncate("kvsqld.db", 0), []string{"missing or empty", backup}},
		{"a short data file", stopped, truncate("kvsqld.db", 100), []string{"bytes are missing at its end", backup}},
		{"a text in place of the data file", stopped, func(dir string) error {
			return os.WriteFile(name(dir, "kvsqld.db"), bytes.Repeat([]byte("text "), 50_000), 0o600)
		}, []string{"not a data file", "choose another --data"}},
		{"a data file with its last pages gone", stopped, truncate("kvsqld.db", 12*4096), []string{"bytes are missing at its end", backup}},
		{"no checksums", stopped, remove("*.sum"), []string{".sum is missing", backup}},
		{"empty checksums", stopped, truncate("*.sum", 0), []string{"is damaged", backup}},
		{"an older data file", stopped, replace(old, "kvsqld.db"), []string{"older copy", backup}},
		{"an older data file after a crash", crashed, replace(old, "kvsqld.db"), []string{"older copy", backup}},
		{"an older data file and checksums", crashed, replace(old, "kvsqld.db", "*.sum"), []string{"kvsqld.log0 does not belong to the data file", backup}},
		{"the data file of another directory", stopped, replace(other, "kvsqld.db"), []string{".sum is missing", backup}},
		{"no log", crashed, remove("kvsqld.log0", "kvsqld.log1"), []string{"write-ahead log", "is not there", backup}},
		{"half of the log", crashed, remove("kvsqld.log0"), []string{"write-ahead log", "not all of it", backup}},
		{"the other half of the log", crashed, remove("kvsqld.log1"), []string{"write-ahead log", "not all of it", backup}},
		{"an empty log", crashed, truncate("kvsqld.log0", 0), []string{"kvsqld.log0", "the header is damaged", backup}},
		{"a directory in place of the data file", stopped, func(dir string) error {
			if err := remove("kvsqld.db")(dir); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(dir, "kvsqld.db"), 0o700)
		}, []string{"no regular file"}},
		{"nothing", stopped, func(dir string) error { return remove("kvsqld.db", "*.sum", "kvsqld.lock")(dir) },
			[]string{"there is no data of this program", "name the directory"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.CopyFS(dir, os.DirFS(tt.from)); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			before := fingerprint(t, dir)
			file := filepath.Join(t.TempDir(), "backup")
			commands := [][]string{{"check"}, {"inspect"}, {"backup", file}, {"serve", "--listen", "127.0.0.1:0"}}
			if tt.what == "nothing" {
				commands = commands[:3]
			}
			for _, c := range commands {
				out, err := command(append(c, "--data", dir)...)
				if err == nil {
					t.Errorf("%s succeeds: %s", c[0], out)
					continue
				}
				text := oneLine(err)
				for _, w := range tt.wants {
					if !strings.Contains(text, w) {
						t.Errorf("%s says %q, without %q", c[0], text, w)
					}
				}
				if after := fingerprint(t, dir); after != before {
					t.Fatalf("%s changed the directory from\n%sto\n%s", c[0], before, after)
				}
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("there is a backup")
			}
		})
	}
}

// TestDataDirectoryLink: a link to a data directory, or in it to the data file, works
// like what it points to, and a restored directory takes the place of the former.
func TestDataDirectoryLink(t *testing.T) {
	_, dir, _ := dataDirs(t)
	base := t.TempDir()
	link, file := filepath.Join(base, "link"), filepath.Join(base, "backup")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check"}, {"backup", file}, {"restore", file, "--force"}, {"check"}} {
		if out, err := command(append(args, "--data", link)...); err != nil {
			t.Fatal(args, out, err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != dir {
		t.Errorf("the link is %s, %v", to, err)
	}
	if out, err := command("check", "--data", dir); err != nil {
		t.Error(out, err)
	}
}

// TestRestoreSparesOthers: a directory of something else is not replaced.
func TestRestoreSparesOthers(t *testing.T) {
	_, dir, _ := dataDirs(t)
	file, home := filepath.Join(t.TempDir(), "backup"), t.TempDir()
	if out, err := command("backup", file, "--data", dir); err != nil {
		t.Fatal(out, err)
	}
	letter := filepath.Join(home, "letter")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command("restore", file, "--force", "--data", home); err == nil || !strings.Contains(err.Error(), "choose another --data") {
		t.Errorf("restoring over it gives %v", err)
	}
	if b, err := os.ReadFile(letter); err != nil || !bytes.Equal(b, []byte("dear")) {
		t.Errorf("the file is %q, %v", b, err)
	}
}
