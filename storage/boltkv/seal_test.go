package boltkv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

// checkFlip says whether a pair is one of flipStore's.
func checkFlip(key, val []byte) error {
	var i int
	if _, err := fmt.Sscanf(string(key), "row %06d", &i); err != nil || !bytes.Equal(val, flipValue(i/2)) {
		return fmt.Errorf("%w: pair %q", kv.ErrCorrupt, key)
	}
	return nil
}

// scanChecked scans a store's table and counts the pairs that are asked about.
func scanChecked(t *testing.T, st kv.Store) (checked int, err error) {
	t.Helper()
	return scanCheckedIn(t, st, false)
}

func scanCheckedIn(t *testing.T, st kv.Store, reverse bool) (checked int, err error) {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	it := s.Scan(ctx, table, kv.Range{}, kv.ScanOpt{Reverse: reverse, Check: func(ps []kv.Pair) error {
		checked += len(ps)
		for _, p := range ps {
			if err := checkFlip(p.Key, p.Val); err != nil {
				return err
			}
		}
		return nil
	}})
	defer it.Close()
	for n := 0; ; {
		ps, err := it.Next()
		if len(ps) == 0 || err != nil {
			if err == nil && n != flipRows {
				t.Errorf("%d pairs", n)
			}
			return checked, err
		}
		n += len(ps)
	}
}

// TestSeals scans leaves whose pairs were right as they were written: not one is asked
// about, not by the first scan after a start either. A pair that was wrong is found by
// its own checksum, a bit that was flipped by the page's.
func TestSeals(t *testing.T) {
	opt := boltkv.Options{NoSync: true, MmapBytes: 1 << 20, Check: checkFlip}
	dir := flipStoreOf(t, opt)
	for _, before := range []string{"start", "another start", "some time", "compaction"} {
		st, err := boltkv.Open(dir, opt)
		must(t, err)
		if before == "some time" {
			boltkv.PassTime(kv.CheckAgain)
		}
		if before == "compaction" {
			must(t, st.Compact(ctx, nil))
		}
		for _, reverse := range []bool{true, false} {
			if n, err := scanCheckedIn(t, st, reverse); n != 0 || err != nil {
				t.Errorf("after %s %d pairs are asked about, reverse %v: %v", before, n, reverse, err)
			}
		}
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
		must(t, st.Close())
	}

	t.Run("a wrong pair", func(t *testing.T) {
		dir := flipStoreOf(t, opt)
		st := open(t, dir, opt)
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, flipKey(800), []byte("wrong")) }))
		_, err := scanChecked(t, st)
		if !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("a scan gives %v", err)
		}
		must(t, st.Close())
		st = open(t, dir, opt) // moves it out of the log
		if n, err := scanChecked(t, st); n == 0 || n > flipRows/10 || !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%d pairs are asked about: %v", n, err)
		}
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	})
	t.Run("a flipped bit", func(t *testing.T) {
		dir := flipStoreOf(t, opt)
		path := filepath.Join(dir, boltkv.FileName)
		b, err := os.ReadFile(path)
		must(t, err)
		b[bytes.Index(b, flipKey(1000))+len(flipKey(1000))] ^= 1
		must(t, os.WriteFile(path, b, 0o600))
		if _, err := scanChecked(t, open(t, dir, opt)); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("a scan gives %v", err)
		}
	})
}

// TestUpgradeSeals opens directories of formats 2 and 3 whose checksums are no seals: all
// pairs are asked about until their leaves are written again.
func TestUpgradeSeals(t *testing.T) {
	for _, format := range []int{2, 3} {
		t.Run(strconv.Itoa(format), func(t *testing.T) { upgradeSeals(t, format) })
	}
}

func upgradeSeals(t *testing.T, format int) {
	dir := flipStore(t)
	must(t, boltkv.WriteFormat(dir, format))
	opt := boltkv.Options{NoSync: true, Check: checkFlip}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2 { // upgraded, and opened again
		st, err := boltkv.Open(dir, opt)
		must(t, err)
		if n, err := scanChecked(t, st); n != flipRows || err != nil {
			t.Errorf("%d pairs are asked about: %v", n, err)
		}
		boltkv.PassTime(kv.CheckAgain)
		if n, err := scanChecked(t, st); n > flipRows/20 || err != nil { // small pieces of leaves
			t.Errorf("after the first scan %d pairs are asked about: %v", n, err)
		}
		readAll(t, r, st, false)
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
		must(t, st.Close())
	}
	st := open(t, dir, opt)
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, flipKey(0), flipValue(0)) }))
	must(t, st.Close())
	if n, err := scanChecked(t, open(t, dir, opt)); n == 0 || n >= flipRows || err != nil {
		t.Errorf("when a leaf was written again %d pairs are asked about: %v", n, err)
	}
}
