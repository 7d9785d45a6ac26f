package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// command runs kvsqld with arguments and returns what it printed.
func command(args ...string) (string, error) {
	cmd := newRootCmd()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

// TestBackup takes backups of a server under writes, restores them and looks for
// what was acknowledged before, and for transactions by half.
func TestBackup(t *testing.T) {
	ctx := context.Background()
	srv := startServer(t, storage.Options{NoSync: true})
	conn, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
		CREATE TABLE entry (id bigserial PRIMARY KEY, account int REFERENCES account, note text);
		CREATE INDEX entry_note ON entry (note);
		INSERT INTO account SELECT i, 100 FROM generate_series(1, 50) AS g(i)`); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := 0
	for w := range 3 {
		wg.Go(func() {
			c, err := pgx.Connect(ctx, srv.dsn())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close(ctx)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				from := (i*7 + w) % 49
				err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
					b := &pgx.Batch{}
					b.Queue("UPDATE account SET balance = balance - 1 WHERE id = $1", from+1)
					b.Queue("UPDATE account SET balance = balance + 1 WHERE id = $1", from+2)
					b.Queue("INSERT INTO entry (account, note) VALUES ($1, $2)", from+1, fmt.Sprint("note ", i))
					return tx.SendBatch(ctx, b).Close()
				})
				if err != nil && sqlState(err) != "40P01" {
					t.Error(err)
					return
				}
				if err == nil {
					mu.Lock()
					acked++
					mu.Unlock()
				}
			}
		})
	}
	file, dir := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	for round := range 3 {
		mu.Lock()
		least := acked
		mu.Unlock()
		if out, err := command("backup", file, "--dsn", srv.dsn()); err != nil {
			t.Fatal(out, err)
		}
		args := []string{"restore", file, "--data", dir}
		if round > 0 {
			if _, err := command(args...); err == nil || !strings.Contains(err.Error(), "is not empty") {
				t.Errorf("restoring over data gives %v", err)
			}
			args = append(args, "--force")
		}
		if out, err := command(args...); err != nil {
			t.Fatal(out, err)
		}
		if out, err := command("check", file); err != nil || !strings.Contains(out, "no faults") {
			t.Error(out, err)
		}
		verifyBackup(t, dir, least)
	}
	close(stop)
	wg.Wait()
}

func verifyBackup(t *testing.T, dir string, least int) {
	t.Helper()
	ctx := context.Background()
	srv, err := openServer(storage.Options{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.checkAndStop(t)
	if out, err := command("check", "--data", dir); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("checking a directory in use gives %s, %v", out, err)
	}
	if out, err := command("restore", "nothing", "--data", dir, "--force"); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("replacing a directory in use gives %s, %v", out, err)
	}
	conn, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var sum, entries, byIndex int
	if err := conn.QueryRow(ctx, `SELECT (SELECT sum(balance) FROM account), (SELECT count(*) FROM entry),
		(SELECT count(*) FROM entry WHERE note LIKE 'note %')`).Scan(&sum, &entries, &byIndex); err != nil {
		t.Fatal(err)
	}
	if sum != 5000 || entries < least || byIndex != entries {
		t.Errorf("balances add up to %d; %d entries, by the index %d, acknowledged before %d", sum, entries, byIndex, least)
	}
	var id int
	if err := conn.QueryRow(ctx, "INSERT INTO entry (account) VALUES (1) RETURNING id").Scan(&id); err != nil || id <= entries {
		t.Errorf("the next number is %d, %v", id, err)
	}
}

// TestBackupRefused: damaged backups are not restored, and what is there stays.
func TestBackupRefused(t *testing.T) {
	tmp := t.TempDir()
	dir, file := filepath.Join(tmp, "data"), filepath.Join(tmp, "backup")
	script := filepath.Join(tmp, "s.sql")
	if err := os.WriteFile(script, []byte("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2);"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"load", script, "--data", dir}, {"backup", file, "--data", dir}} {
		if out, err := command(args...); err != nil {
			t.Fatal(out, err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, b := range map[string][]byte{"cut": whole[:len(whole)-1], "flipped": flipped, "empty": nil} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"restore", file, "--data", dir, "--force"}, {"restore", file, "--data", dir + "2"}, {"check", file}} {
			if out, err := command(args...); err == nil || !strings.Contains(err.Error(), "the backup is damaged") {
				t.Errorf("%s, %s: %s, %v", name, args[0], out, err)
			}
		}
		if out, err := command("check", "--data", dir); err != nil || out != "1 tables checked, no faults\n" {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
	if es, _ := os.ReadDir(tmp); len(es) != 3 {
		t.Errorf("left behind: %v", es)
	}
}
