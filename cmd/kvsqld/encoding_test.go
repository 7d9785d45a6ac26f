package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/executor/session"
	"kvsqld/storage"
)

// TestClientEncoding speaks LATIN1 from the startup packet on, in both formats of
// the extended protocol.
func TestClientEncoding(t *testing.T) {
	ctx := t.Context()
	srv := startServer(t, storage.Options{Store: "mem"})
	c, err := pgconn.Connect(ctx, srv.dsn()+"&client_encoding=latin1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if got := c.ParameterStatus("client_encoding"); got != "LATIN1" {
		t.Errorf("client_encoding is reported as %q", got)
	}
	for _, format := range []int16{0, 1} {
		r := c.ExecParams(ctx, "SELECT $1::text || 'h\xe9' AS \"\xe9\", length($1::text), convert_to($1::text, 'UTF8')",
			[][]byte{[]byte("\xfc")}, nil, []int16{format}, []int16{format, 0, 1}).Read()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		row := r.Rows[0]
		if string(row[0]) != "\xfch\xe9" || string(row[1]) != "1" || string(row[2]) != "ü" || r.FieldDescriptions[0].Name != "\xe9" {
			t.Errorf("format %d: %q of %q", format, row, r.FieldDescriptions[0].Name)
		}
	}
	tests := []struct {
		name, sql, code string
		format          int16
	}{
		{"a character that LATIN1 does not have", "SELECT chr(8364)", "22P05", 0},
		{"the same in binary", "SELECT chr(8364)", "22P05", 1},
		{"text within binary values", "SELECT ARRAY['a']", "0A000", 1},
		{"numbers within binary values", "SELECT ARRAY[1]", "", 1},
		{"text within text values", "SELECT ARRAY['a']", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := c.ExecParams(ctx, tt.sql, nil, nil, nil, []int16{tt.format}).Read()
			if got := pgCode(r.Err); got != tt.code {
				t.Errorf("SQLSTATE %q, want %q: %v", got, tt.code, r.Err)
			}
		})
	}
	_, err = c.Exec(ctx, "SELECT nop\xe9").ReadAll()
	e, ok := err.(*pgconn.PgError)
	if !ok || e.Message != "column \"nop\xe9\" does not exist" {
		t.Errorf("error %q", err)
	}
}

func pgCode(err error) string {
	if e, ok := err.(*pgconn.PgError); ok {
		return e.Code
	}
	return ""
}

// TestServerFiles copies through files of a directory and tries to leave it.
func TestServerFiles(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(files, "out")); err != nil {
		t.Fatal(err)
	}
	root, err := session.OpenServerFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	srv := startServerWith(t, storage.Options{Store: "mem"}, session.Options{Files: root})
	c, err := srv.connect(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	tests := []struct{ sql, code string }{
		{"CREATE TABLE t(i int); INSERT INTO t VALUES (1), (2)", ""},
		{"COPY t TO '$/t'", ""},
		{"COPY t FROM '$/t'", ""},
		{"COPY t FROM 't'", ""},
		{"COPY t TO 't'", "42602"},
		{"COPY t FROM '$/../secret'", "42501"},
		{"COPY t FROM '../secret'", "42501"},
		{"COPY t FROM 'out/secret'", "42501"},
		{"COPY t TO '$/out/written'", "42501"},
		{"COPY t FROM '/etc/passwd'", "42501"},
		{"COPY t FROM '$'", "42809"},
		{"COPY t TO '$'", "42809"},
		{"COPY t FROM '$/none'", "58P01"},
		{"COPY t FROM PROGRAM 'cat $/t'", "0A000"},
		{"COPY t TO PROGRAM 'cat'", "0A000"},
		{"CREATE ROLE plain; GRANT ALL ON t TO plain; SET ROLE plain", ""},
		{"COPY t FROM '$/t'", "42501"},
		{"COPY t TO '$/t'", "42501"},
		{"RESET ROLE; GRANT pg_read_server_files TO plain; SET ROLE plain", ""},
		{"COPY t FROM '$/t'", ""},
		{"COPY t TO '$/t'", "42501"},
	}
	for _, tt := range tests {
		_, err := c.Exec(ctx, strings.ReplaceAll(tt.sql, "$/", files+"/")).ReadAll()
		if strings.Contains(tt.sql, "'$'") {
			_, err = c.Exec(ctx, strings.ReplaceAll(tt.sql, "$", files)).ReadAll()
		}
		if got := pgCode(err); got != tt.code {
			t.Errorf("%s: SQLSTATE %q, want %q: %v", tt.sql, got, tt.code, err)
		}
	}
	r, err := c.Exec(ctx, "SELECT count(*) FROM t").ReadAll()
	if err != nil || string(r[0].Rows[0][0]) != "8" {
		t.Errorf("rows %v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "written")); err == nil {
		t.Error("a file was written outside of the directory")
	}
}
