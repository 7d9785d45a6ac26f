package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestIsolationCompare plays the *.play files of the directory KVSQLD_ISOLATION_DIR
// on PostgreSQL and on the server and reports plays that differ, all fields of errors
// included. A file has the form of testdata/isolation without outcomes and without
// lines of dashes: blocks that begin with "setup" or "play [LEVEL, …]", parted by
// empty lines.
func TestIsolationCompare(t *testing.T) {
	dir := os.Getenv("KVSQLD_ISOLATION_DIR")
	if dir == "" {
		t.Skip("KVSQLD_ISOLATION_DIR names no directory")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.play"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plays in %s: %v", dir, err)
	}
	pg := requirePostgres(t)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".play"), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 4*statementTimeout)
			defer cancel()
			db, err := pg.connect(ctx, "postgres", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close(ctx)
			for _, q := range []string{"DROP DATABASE IF EXISTS isolation_compare", "CREATE DATABASE isolation_compare TEMPLATE template0"} {
				if _, err := db.Exec(ctx, q).ReadAll(); err != nil {
					t.Fatal(err)
				}
			}
			srv := startServer(t, storage.Options{Store: "mem"})
			comparePlays(ctx, t, path,
				&play{t: t, full: true, postgres: true, connect: func(ctx context.Context, f func(*pgconn.Notice)) (*pgconn.PgConn, error) {
					return pg.connect(ctx, "isolation_compare", f)
				}},
				&play{t: t, full: true, connect: srv.connect})
		})
	}
}

func comparePlays(ctx context.Context, t *testing.T, path string, want, got *play) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*play{want, got} {
		if p.admin, err = p.connect(ctx, nil); err != nil {
			t.Fatal(err)
		}
		defer p.admin.Close(ctx)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		head, body, _ := strings.Cut(strings.TrimSpace(block), "\n")
		word, rest, _ := strings.Cut(head, " ")
		switch word {
		case "setup":
			want.setup, got.setup = body, body
		case "play":
			levels := isolationLevels
			if rest != "" {
				levels = strings.Split(rest, ", ")
			}
			for _, level := range levels {
				a, b := want.level(level, body), got.level(level, body)
				if waitsFor.ReplaceAllString(a, "waits") != waitsFor.ReplaceAllString(b, "waits") {
					t.Errorf("%s:\n%s\n%s", level, body, sideBySide(a, b))
				}
			}
		}
	}
}

// sideBySide shows the lines of two texts, those that differ one below the other.
func sideBySide(a, b string) string {
	var out strings.Builder
	al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(al), len(bl)) {
		var x, y string
		if i < len(al) {
			x = al[i]
		}
		if i < len(bl) {
			y = bl[i]
		}
		if x == y {
			fmt.Fprintf(&out, "   %s\n", x)
			continue
		}
		fmt.Fprintf(&out, " P %s\n K %s\n", x, y)
	}
	return out.String()
}
