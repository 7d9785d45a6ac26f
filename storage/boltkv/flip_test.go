package boltkv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

const flipRows = 2000

func flipKey(i int) []byte { return fmt.Appendf(nil, "row %06d", i) }

func flipValue(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%d.", i), 1+i%30) }

// flipStore makes a directory with branch pages, buckets inside of pages, long
// values and free pages, stopped cleanly.
func flipStore(t *testing.T) (dir string) {
	return flipStoreOf(t, boltkv.Options{NoSync: true, MmapBytes: 1 << 20})
}

func flipStoreOf(t *testing.T, opt boltkv.Options) (dir string) {
	dir = t.TempDir()
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	must(t, create(st))
	must(t, update(st, func(tx kv.Txn) error {
		var errs []error
		for i := range flipRows {
			errs = append(errs, tx.Put(table, flipKey(2*i), flipValue(i)))
		}
		return errors.Join(append(errs, tx.Put(index, []byte("long"), bytes.Repeat([]byte("x"), 20_000)))...)
	}))
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("k"), []byte("v")) }))
	must(t, st.Close())
	return dir
}

// damagedOr fails unless err is nil or says that data is corrupted.
func damagedOr(t *testing.T, what string, err error) (ok bool) {
	t.Helper()
	if err != nil && !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("%s gives %v", what, err)
	}
	return err == nil
}

// readAll compares everything that can be read with what was written: each read
// answers right or fails.
func readAll(t *testing.T, r *rand.Rand, st kv.Store, extra bool) {
	t.Helper()
	s, err := st.Snapshot(ctx)
	if !damagedOr(t, "Snapshot", err) {
		return
	}
	defer s.Close()
	for range 40 {
		i := r.IntN(2*flipRows + 1)
		v, err := s.Get(ctx, table, flipKey(i))
		present := i%2 == 0 && i < 2*flipRows
		if present {
			if damagedOr(t, "Get", err) && !bytes.Equal(v, flipValue(i/2)) {
				t.Errorf("Get of %d answers %.30q", i, v)
			}
		} else if err == nil {
			t.Errorf("Get of the absent %d answers %.30q", i, v)
		} else if !errors.Is(err, kv.ErrNotFound) {
			damagedOr(t, "Get", err)
		}
	}
	for _, reverse := range []bool{false, true} {
		it := s.Scan(ctx, table, kv.Range{}, kv.ScanOpt{Reverse: reverse})
		n, whole := 0, false
		for {
			ps, err := it.Next()
			if !damagedOr(t, "Next", err) {
				break
			}
			if whole = len(ps) == 0; whole {
				break
			}
			for _, p := range ps {
				i := n
				if reverse {
					i = flipRows - 1 - n
				}
				n++
				if !bytes.Equal(p.Key, flipKey(2*i)) || !bytes.Equal(p.Val, flipValue(i)) {
					t.Errorf("pair %d of the scan (reverse: %v) is %.20q", i, reverse, p.Key)
					return
				}
			}
		}
		if whole && n != flipRows {
			t.Errorf("the scan (reverse: %v) ends after %d pairs", reverse, n)
		}
		it.Close()
	}
	v, err := s.Get(ctx, index, []byte("long"))
	if damagedOr(t, "Get of the long value", err) && len(v) != 20_000 {
		t.Errorf("the long value has %d bytes", len(v))
	}
	if v, err = s.Get(ctx, index, []byte("new")); errors.Is(err, kv.ErrNotFound) && !extra {
		return
	}
	if damagedOr(t, "Get of the new value", err) && string(v) != "v" {
		t.Errorf("the new value is %q", v)
	}
}

// used is the length without the zeros at the end.
func used(b []byte) int { return len(bytes.TrimRight(b, "\x00")) }

// TestFlippedBits flips bits all over the data file and its checksum file: the
// store is refused, or each read answers right or fails, also after writing.
func TestFlippedBits(t *testing.T) {
	dir := flipStore(t)
	files := map[string][]byte{}
	es, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range es {
		files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
	}
	sum, err := filepath.Glob(filepath.Join(dir, "*.sum"))
	must(t, err)
	trials := 120
	if testing.Short() {
		trials = 20
	}
	r := rand.New(rand.NewPCG(1, 2))
	opened := 0
	for trial := range trials {
		must(t, os.RemoveAll(dir))
		must(t, os.Mkdir(dir, 0o700))
		for name, b := range files {
			if name == boltkv.FileName && trial%10 != 9 || name == filepath.Base(sum[0]) && trial%10 == 9 {
				b = bytes.Clone(b)
				for range 1 + r.IntN(3) {
					b[r.IntN(used(b))] ^= 1 << r.IntN(8)
				}
			}
			must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		st, err := boltkv.Open(dir, boltkv.Options{NoSync: true, MmapBytes: 1 << 20})
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrFormat) {
				t.Errorf("trial %d: Open gives %v", trial, err)
			}
			continue
		}
		opened++
		readAll(t, r, st, false)
		err = update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("new"), []byte("v")) })
		readAll(t, r, st, damagedOr(t, "Put", err))
		err = update(st, func(tx kv.Txn) error { return tx.Put(table, flipKey(2*r.IntN(flipRows)+1), make([]byte, 1<<20)) })
		if damagedOr(t, "a large Put", err) {
			err = update(st, func(tx kv.Txn) error { return tx.ClearSpace(table) })
			damagedOr(t, "ClearSpace", err)
		} else {
			readAll(t, r, st, false)
		}
		damagedOr(t, "Close", st.Close())
		if t.Failed() {
			t.Fatalf("in trial %d", trial)
		}
	}
	t.Logf("%d trials, %d stores opened", trials, opened)
}

// TestCheckedLeaves lets a scan check all pairs, those after it none for a while, and
// then one find the bit that was flipped in the mapped file meanwhile.
func TestCheckedLeaves(t *testing.T) {
	dir := flipStore(t)
	st := open(t, dir, boltkv.Options{NoSync: true, MmapBytes: 1 << 20})
	scan := func(rd kv.Reader, g kv.Range) (checked int, err error) {
		it := rd.Scan(ctx, table, g, kv.ScanOpt{Check: func(ps []kv.Pair) error {
			checked += len(ps)
			for _, p := range ps {
				if err := checkFlip(p.Key, p.Val); err != nil {
					return err
				}
			}
			return nil
		}})
		defer it.Close()
		for {
			ps, err := it.Next()
			if len(ps) == 0 || err != nil {
				return checked, err
			}
		}
	}
	snapshot := func(g kv.Range) (int, error) {
		s, err := st.Snapshot(ctx)
		must(t, err)
		defer s.Close()
		return scan(s, g)
	}
	want := func(what string, n int, err error, wanted int) {
		t.Helper()
		if err != nil || n != wanted {
			t.Errorf("%s: %d pairs are checked, not %d: %v", what, n, wanted, err)
		}
	}
	part := kv.Range{Lo: flipKey(100), Hi: flipKey(110)}
	n, err := snapshot(part)
	want("a part of a leaf", n, err, 5)
	n, err = snapshot(part)
	want("again", n, err, 5)
	n, err = snapshot(kv.Range{})
	want("all", n, err, flipRows)
	n, err = snapshot(kv.Range{})
	want("all again", n, err, 0)
	n, err = snapshot(part)
	want("a part of what was checked", n, err, 0)
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, flipKey(300), flipValue(150)) }))
	n, err = snapshot(kv.Range{})
	want("after a write", n, err, 1)
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	must(t, err)
	defer tx.Rollback()
	must(t, tx.Put(table, flipKey(302), flipValue(151)))
	n, err = scan(tx, kv.Range{})
	want("with an own write", n, err, 2)
	boltkv.PassTime(kv.CheckAgain)
	n, err = snapshot(part)
	want("a part of a leaf after a while", n, err, 5)
	n, err = snapshot(kv.Range{})
	if err != nil || n == 0 || n > flipRows/20 { // what was written, and small pieces of leaves
		t.Errorf("all after a while, by their pages: %d pairs are checked: %v", n, err)
	}
	n, err = snapshot(part)
	want("a part of what was checked by its page", n, err, 0)

	path := filepath.Join(dir, boltkv.FileName)
	b, err := os.ReadFile(path)
	must(t, err)
	at := bytes.Index(b, flipKey(1000))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte{b[at+len(flipKey(1000))] ^ 1}, int64(at+len(flipKey(1000))))
	must(t, errors.Join(err, f.Close()))
	boltkv.PassTime(kv.CheckAgain)
	if _, err := snapshot(kv.Range{}); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("a bit that was flipped after the first check: %v", err)
	}
	boltkv.PassTime(kv.CheckAgain)
	n, err = snapshot(part)
	want("after a while", n, err, 5)
}

// TestUpgrade opens a directory of format 1, which had no checksums.
func TestUpgrade(t *testing.T) {
	dir := flipStore(t)
	path := filepath.Join(dir, boltkv.FileName)
	must(t, os.Remove(filepath.Join(dir, "kvsqld.lock")))
	sum, err := filepath.Glob(filepath.Join(dir, "*.sum"))
	must(t, err)
	must(t, os.Remove(sum[0]))
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("\x00kvsqld"))
		return errors.Join(b.Put([]byte("format"), []byte("1")), b.Delete([]byte("id")))
	}))
	must(t, db.Close())
	old, err := os.ReadFile(path)
	must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for range 2 { // upgraded, and opened again
		st, err := boltkv.Open(dir, boltkv.Options{NoSync: true})
		must(t, err)
		readAll(t, r, st, false)
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
		must(t, st.Close())
	}
	// A crash before the commit of the upgrade leaves the old file and a new
	// checksum file.
	must(t, os.WriteFile(path, old, 0o600))
	readAll(t, r, open(t, dir, boltkv.Options{NoSync: true}), false)
	if sums, _ := filepath.Glob(filepath.Join(dir, "*.sum")); len(sums) != 1 {
		t.Errorf("checksum files are %v", sums)
	}
}
