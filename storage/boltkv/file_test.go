package boltkv_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

var (
	ctx   = context.Background()
	table = kv.Space{ID: 1, DB: "db", File: "table"}
	index = kv.Space{ID: 2, DB: "db", File: "index"}
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func update(st kv.Store, f func(tx kv.Txn) error) error {
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func create(st kv.Store) error {
	return update(st, func(tx kv.Txn) error {
		return errors.Join(tx.CreateSpace(table), tx.CreateSpace(index))
	})
}

func value(t testing.TB, st kv.Store, key string) string {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	v, err := s.Get(ctx, table, []byte(key))
	if errors.Is(err, kv.ErrNotFound) {
		return ""
	}
	must(t, err)
	return string(v)
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	st, err := boltkv.Open(dir, boltkv.Options{})
	must(t, err)
	must(t, create(st))
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("k"), []byte("v")) }))
	seq := st.Stats().Seq
	if _, err := boltkv.Open(dir, boltkv.Options{LockWait: 1}); !errors.Is(err, kv.ErrInUse) {
		t.Errorf("opening a directory in use gives %v", err)
	}
	must(t, st.Close())

	db, err := bolt.Open(filepath.Join(dir, boltkv.FileName), 0o600, &bolt.Options{ReadOnly: true})
	must(t, err)
	must(t, db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket([]byte("db")).Bucket([]byte("table")).Get([]byte("k")); string(v) != "v" {
			t.Errorf("the bucket has value %q", v)
		}
		return nil
	}))
	must(t, db.Close())

	again := open(t, dir, boltkv.Options{})
	if got := value(t, again, "k"); got != "v" {
		t.Errorf("value is %q after reopening", got)
	}
	must(t, update(again, func(tx kv.Txn) error { return tx.Put(table, []byte("k"), []byte("w")) }))
	if s := again.Stats(); s.Seq <= seq || s.FileBytes == 0 {
		t.Errorf("stats after reopening are %+v, number before was %d", s, seq)
	}
}

func TestFormat(t *testing.T) {
	write := func(f func(tx *bolt.Tx) error) func(path string) error {
		return func(path string) error {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(f), db.Close())
		}
	}
	for _, tt := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"text", func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("not a database "), 5000), 0o600) }, kv.ErrFormat},
		{"short", func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }, kv.ErrFormat},
		{"another program's bbolt file", write(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("theirs"))
			return err
		}), kv.ErrFormat},
		{"newer version", write(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket([]byte("\x00kvsqld"))
			if err != nil {
				return err
			}
			return errors.Join(b.Put([]byte("magic"), []byte("kvsqld data file")), b.Put([]byte("format"), []byte("5")))
		}), kv.ErrFormat},
		{"interrupted creation", write(func(*bolt.Tx) error { return nil }), nil},
		{"empty file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, boltkv.FileName)
			must(t, tt.make(path))
			before, err := os.ReadFile(path)
			must(t, err)
			st, err := boltkv.Open(dir, boltkv.Options{})
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err == nil {
				must(t, st.Close())
				return
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func TestDiskFull(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{MaxFileBytes: 40 << 20, NoSync: true})
	must(t, create(st))
	big := make([]byte, 1<<20)
	var err error
	n := 0
	for ; n < 100 && err == nil; n++ {
		err = update(st, func(tx kv.Txn) error { return tx.Put(table, fmt.Append(nil, n), big) })
	}
	if !errors.Is(err, kv.ErrDiskFull) {
		t.Fatalf("after %d MB: %v, want ErrDiskFull", n, err)
	}
	if value(t, st, fmt.Sprint(n-1)) != "" || len(value(t, st, fmt.Sprint(n-2))) != len(big) {
		t.Error("the failed commit left something behind or took something away")
	}
	must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(table) }))
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("k"), []byte("v")) }))
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("again"), big) }))
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// TestGrowth lets the file outgrow its mapping again and again while others
// read: whoever waits for the mapping must not be waited for.
func TestGrowth(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{MmapBytes: 1, NoSync: true})
	must(t, create(st))
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for c := range errs {
		wg.Go(func() {
			for i := range 40 {
				errs[c] = update(st, func(tx kv.Txn) error {
					if _, err := tx.BatchGet(ctx, table, [][]byte{{1}, {2}}); err != nil {
						return err
					}
					return tx.Put(table, fmt.Appendf(nil, "%d/%d", c, i), make([]byte, 50_000))
				})
				if errs[c] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// damage flips a bit in the headers of the leaf pages with at least minCount
// and less than maxCount keys.
func damage(t *testing.T, dir string, minCount, maxCount int) {
	t.Helper()
	path := filepath.Join(dir, boltkv.FileName)
	file, err := os.ReadFile(path)
	must(t, err)
	size, n := os.Getpagesize(), 0
	for p := file[2*size:]; len(p) >= size; p = p[size:] {
		const leafFlag = 2 // bbolt's page header: id (8 bytes), flags (2), number of keys (2), …
		count := int(binary.LittleEndian.Uint16(p[10:]))
		if binary.LittleEndian.Uint16(p[8:]) == leafFlag && count >= minCount && count < maxCount {
			p[0] ^= 0x40
			n++
		}
	}
	if n == 0 {
		t.Fatal("found no page to damage")
	}
	must(t, os.WriteFile(path, file, 0o600))
}

func TestDamagedPages(t *testing.T) {
	build := func() (dir string) {
		dir = t.TempDir()
		st, err := boltkv.Open(dir, boltkv.Options{})
		must(t, err)
		must(t, create(st))
		must(t, update(st, func(tx kv.Txn) error {
			var errs []error
			for i := range 5000 {
				errs = append(errs, tx.Put(table, fmt.Appendf(nil, "%05d", i), make([]byte, 100)))
			}
			return errors.Join(errs...)
		}))
		must(t, st.Close())
		return dir
	}
	t.Run("rows", func(t *testing.T) {
		dir := build()
		damage(t, dir, 10, 1000)
		st := open(t, dir, boltkv.Options{Log: walkv.Options{DirectBytes: 1}})
		s, err := st.Snapshot(ctx)
		must(t, err)
		_, err = s.Get(ctx, table, []byte("02500"))
		if !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("Get gives %v", err)
		}
		it := s.Scan(ctx, table, kv.Range{}, kv.ScanOpt{})
		if _, err := it.Next(); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("Next gives %v", err)
		}
		it.Close()
		s.Close()
		err = update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("02500"), []byte("v"), kv.Covered) })
		if !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("writing gives %v", err)
		}
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("k"), []byte("v")) }))
		faults := 0
		must(t, st.Check(ctx, func(string) { faults++ }))
		if faults == 0 {
			t.Error("Check found nothing")
		}
	})
	t.Run("any pages", func(t *testing.T) {
		whole := build()
		b, err := os.ReadFile(filepath.Join(whole, "kvsqld.db"))
		must(t, err)
		for seed := range uint64(20) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(whole)))
			bad := slices.Clone(b)
			for range 1 + rnd.IntN(20) {
				at := 4096 * (2 + rnd.IntN(len(bad)/4096-2)) // the meta pages are for Open
				for range 4 {                                // among a page's elements: where keys and values are, and how long
					bad[at+16+rnd.IntN(512)] ^= 1 << rnd.IntN(8)
				}
			}
			must(t, os.WriteFile(filepath.Join(dir, "kvsqld.db"), bad, 0o600))
			st, err := boltkv.Open(dir, boltkv.Options{})
			if errors.Is(err, kv.ErrCorrupt) || errors.Is(err, kv.ErrFormat) {
				continue
			}
			must(t, err)
			must(t, st.Check(ctx, func(string) {})) // which bbolt's own might not survive
			must(t, st.Close())
		}
	})
	// A damaged file does not keep the others from being read and written, also after a
	// crash, when the pages in use are searched for; and it can be dropped.
	t.Run("after a crash", func(t *testing.T) {
		dir := build()
		defer boltkv.ListNever()()
		st, err := boltkv.Open(dir, boltkv.Options{Log: walkv.Options{DirectBytes: 1}})
		must(t, err)
		must(t, update(st, func(tx kv.Txn) error {
			var errs []error
			for i := range 5000 { // shorter pairs: more of them are on a page
				errs = append(errs, tx.Put(index, fmt.Appendf(nil, "%05d", i), []byte("v")))
			}
			return errors.Join(errs...)
		}))
		crashed := t.TempDir()
		must(t, os.CopyFS(crashed, os.DirFS(dir)))
		must(t, st.Close())
		damage(t, crashed, 60, 1000)
		opt := boltkv.Options{Log: walkv.Options{DirectBytes: 1}}
		for range 2 {
			st, err := boltkv.Open(crashed, opt)
			must(t, err)
			if !strings.Contains(st.Stats().Damage, "checksum") {
				t.Errorf("the store tells of damage %q", st.Stats().Damage)
			}
			if v := value(t, st, "02500"); len(v) != 100 {
				t.Errorf("a row of a whole file is %q", v)
			}
			s, err := st.Snapshot(ctx)
			must(t, err)
			if _, err := s.Get(ctx, index, []byte("02500")); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("Get from the damaged file gives %v", err)
			}
			s.Close()
			must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("new"), []byte("v")) }))
			next := t.TempDir()
			must(t, os.CopyFS(next, os.DirFS(crashed)))
			must(t, st.Close())
			crashed = next
		}
		st, err = boltkv.Open(crashed, opt)
		must(t, err)
		must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(index) }))
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("k"), []byte("v")) }))
		faults := 0
		must(t, st.Check(ctx, func(string) { faults++ }))
		if faults == 0 {
			t.Error("Check found nothing before the damaged pages were removed")
		}
		must(t, st.Compact(ctx, nil))
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
		must(t, st.Close())
		again := open(t, crashed, opt)
		s, err := again.Snapshot(ctx)
		must(t, err)
		defer s.Close()
		if v, err := s.Get(ctx, index, []byte("k")); err != nil || string(v) != "v" {
			t.Errorf("after all, the new file has %q, %v", v, err)
		}
		if v := value(t, again, "new"); v != "v" {
			t.Errorf("a row written beside the damage is %q", v)
		}
	})
	t.Run("the list of free pages", func(t *testing.T) {
		dir := build()
		path := filepath.Join(dir, boltkv.FileName)
		b, err := os.ReadFile(path)
		must(t, err)
		n := 0
		for at := 2 * 4096; at < len(b); at += 4096 {
			if binary.NativeEndian.Uint16(b[at+8:]) == 0x10 { // bbolt's flag of such a page
				b[at+20] ^= 1
				n++
			}
		}
		if n == 0 {
			t.Fatal("found no list")
		}
		must(t, os.WriteFile(path, b, 0o600))
		st, err := boltkv.Open(dir, boltkv.Options{Log: walkv.Options{DirectBytes: 1}})
		must(t, err)
		if !strings.Contains(st.Stats().Damage, "checksum") {
			t.Errorf("the store tells of damage %q", st.Stats().Damage)
		}
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("new"), []byte("v")) }))
		must(t, st.Compact(ctx, nil))
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
		if len(value(t, st, "02500")) != 100 || value(t, st, "new") != "v" {
			t.Error("something is lost")
		}
		must(t, st.Close())
	})
	// What the log has for a damaged file keeps everything from being written, until the
	// file is dropped.
	t.Run("under the log", func(t *testing.T) {
		dir := build()
		opt := boltkv.Options{Log: walkv.Options{Interval: time.Hour}}
		st, err := boltkv.Open(dir, opt)
		must(t, err)
		must(t, update(st, func(tx kv.Txn) error {
			return errors.Join(tx.Put(table, []byte("02500"), []byte("v")), tx.Put(index, []byte("k"), []byte("v")))
		}))
		crashed := t.TempDir()
		must(t, os.CopyFS(crashed, os.DirFS(dir)))
		must(t, st.Close())
		damage(t, crashed, 10, 1000) // of the table
		for range 2 {
			st, err = boltkv.Open(crashed, opt)
			must(t, err)
			s, err := st.Snapshot(ctx)
			must(t, err)
			if v, err := s.Get(ctx, index, []byte("k")); err != nil || string(v) != "v" {
				t.Errorf("what is in the log is %q, %v", v, err)
			}
			s.Close()
			if err := update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("l"), []byte("v")) }); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("writing gives %v", err)
			}
			if err := st.Close(); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("closing gives %v", err)
			}
		}
		st, err = boltkv.Open(crashed, opt)
		must(t, err)
		must(t, update(st, func(tx kv.Txn) error { return tx.DropSpace(table) }))
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("l"), []byte("w")) }))
		must(t, st.Close())
		again := open(t, crashed, opt)
		s, err := again.Snapshot(ctx)
		must(t, err)
		defer s.Close()
		for key, want := range map[string]string{"k": "v", "l": "w"} {
			if v, err := s.Get(ctx, index, []byte(key)); err != nil || string(v) != want {
				t.Errorf("%s is %q, %v", key, v, err)
			}
		}
	})
	t.Run("the list of databases", func(t *testing.T) {
		dir := build()
		damage(t, dir, 0, 10)
		if _, err := boltkv.Open(dir, boltkv.Options{}); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("Open gives %v", err)
		}
	})
}

const (
	crashDir  = "BOLTKV_CRASH_DIR"
	crashBusy = "BOLTKV_CRASH_BUSY" // the log moves into the file all the time
)

// TestCrashChild is the process that TestCrash kills: it commits numbers to
// two files from several goroutines and prints those that were acknowledged.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("runs only as a child of TestCrash")
	}
	opt := boltkv.Options{}
	if os.Getenv(crashBusy) != "" {
		opt.Log = walkv.Options{MemBytes: 20_000, Interval: 5 * time.Millisecond}
	}
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	if value(t, st, "start") == "" {
		must(t, create(st))
	}
	var mu sync.Mutex
	next := 0
	must(t, update(st, func(tx kv.Txn) error {
		v, err := tx.Get(ctx, table, []byte("start"))
		if err == nil {
			next, _ = strconv.Atoi(string(v))
		}
		next += 1_000_000
		return tx.Put(table, []byte("start"), fmt.Append(nil, next))
	}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				mu.Lock()
				next++
				n := fmt.Append(nil, next)
				mu.Unlock()
				must(t, update(st, func(tx kv.Txn) error {
					return errors.Join(tx.Put(table, n, bytes.Repeat(n, 50)), tx.Put(index, n, n))
				}))
				mu.Lock()
				fmt.Printf("ack %s\n", n)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestCrash kills a committing process: every acknowledged commit is there,
// and no commit is there by half.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	dir := t.TempDir()
	acked := map[string]bool{}
	for round := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		if round%2 == 1 {
			cmd.Env = append(cmd.Env, crashBusy+"=1")
		}
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		seen := 0
		for sc := bufio.NewScanner(out); sc.Scan(); {
			var n string
			if _, err := fmt.Sscanf(sc.Text(), "ack %s", &n); err != nil {
				continue
			}
			acked[n] = true
			if seen++; seen == 20+round*37 {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait() // it was killed
		if seen < 20+round*37 {
			t.Fatalf("the child ended by itself after %d commits", seen)
		}
		checkCrashed(t, dir, acked)
	}
}

func checkCrashed(t *testing.T, dir string, acked map[string]bool) {
	t.Helper()
	st, err := boltkv.Open(dir, boltkv.Options{})
	must(t, err)
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	s, err := st.Snapshot(ctx)
	must(t, err)
	files := map[kv.Space]map[string]bool{table: {}, index: {}}
	for sp, keys := range files {
		it := s.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{KeysOnly: true})
		for {
			ps, err := it.Next()
			must(t, err)
			if len(ps) == 0 {
				break
			}
			for _, p := range ps {
				keys[string(p.Key)] = true
			}
		}
		it.Close()
	}
	s.Close()
	must(t, st.Close())
	delete(files[table], "start")
	for n := range acked {
		if !files[table][n] {
			t.Errorf("acknowledged commit %s is lost", n)
		}
	}
	for n := range files[table] {
		if !files[index][n] {
			t.Errorf("commit %s is there by half", n)
		}
	}
	if len(files[table]) != len(files[index]) {
		t.Errorf("%d rows and %d index entries", len(files[table]), len(files[index]))
	}
}
