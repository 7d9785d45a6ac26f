package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"kvsqld/storage"
)

// TestSamples loads each sample that has a script of queries and runs it.
func TestSamples(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/samples/*/queries.test")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range scripts {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			srv := startServer(t, storage.Options{NoSync: true})
			ctx := context.Background()
			c, err := srv.connect(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(ctx)
			for _, name := range []string{"schema.sql", "data.sql"} {
				sql, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Exec(ctx, string(sql)).ReadAll(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			s := &script{connect: srv.connect}
			s.run(t, path)
		})
	}
}
