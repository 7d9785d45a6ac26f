package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kvsqld/storage/kv"
)

// testSpill returns where writes go in a test, and the bytes that are accounted for.
func testSpill(t *testing.T, at int64) (*kv.Spill, *int64) {
	dir, bytes := t.TempDir(), new(int64)
	return &kv.Spill{
		At: at,
		File: func() (*os.File, error) {
			f, err := os.CreateTemp(dir, "")
			if err != nil {
				return nil, err
			}
			return f, os.Remove(f.Name())
		},
		Grow: func(n int64) error { *bytes += n; return nil },
	}, bytes
}

func rowKey(i int) []byte { return fmt.Appendf(nil, "row %06d", i) }

// Memory stays what it may be, whatever is written, and all is given back at the end.
func TestSpillBoundsMemory(t *testing.T) {
	for name, order := range map[string]func(i int) int{
		"ascending": func(i int) int { return i },
		"mixed":     func(i int) int { return i * 7919 % 20_000 },
		"same keys": func(i int) int { return i % 37 },
	} {
		t.Run(name, func(t *testing.T) {
			e, st := newFake(t, Options{})
			spill, inFiles := testSpill(t, 100_000)
			var held, most int64
			tx, err := st.Begin(ctx, kv.BeginOpt{Spill: spill, Grow: func(n int64) error {
				held += n
				most = max(most, held)
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for i := range 20_000 {
				k, v := rowKey(order(i)), fmt.Sprint("value ", i)
				if err := tx.Put(sp, k, []byte(v), kv.Covered); err != nil {
					t.Fatal(err)
				}
				want[string(k)] = v
			}
			if most > 110_000 || *inFiles == 0 {
				t.Errorf("%d bytes of memory, %d in files", most, *inFiles)
			}
			w := tx.(*Txn).w
			if n := len(w.list[0].top().sealed); n > 2*mergeRunsAt && name != "ascending" {
				t.Errorf("%d runs", n)
			}
			for _, f := range w.files {
				used := false
				for _, r := range w.list[0].top().sealed {
					used = used || r.data == f || r.index == f
				}
				if !used {
					t.Error("a file without runs is kept")
				}
			}
			got := map[string]string{}
			last := ""
			e.fail = func(cs []Change) error {
				n := 0
				for k, v := range cs[0].Writes {
					if string(k) <= last {
						t.Fatalf("%q comes after %q", k, last)
					}
					last = string(k)
					got[last] = string(v)
					n++
				}
				if n != cs[0].Count || len(cs) != 1 {
					t.Errorf("%d writes, counted were %d", n, cs[0].Count)
				}
				return nil
			}
			if err := tx.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d writes are committed, want %d", len(got), len(want))
			}
			if held != 0 || *inFiles != 0 {
				t.Errorf("%d bytes of memory and %d of files are not given back", held, *inFiles)
			}
		})
	}
}

// A transaction spills before its share when others have all the memory, and refuses
// writes only when that does not help.
func TestSpillWhenMemoryIsShort(t *testing.T) {
	_, st := newFake(t, Options{})
	spill, inFiles := testSpill(t, 1<<30)
	room, short := int64(6<<20), errors.New("no memory")
	tx, err := st.Begin(ctx, kv.BeginOpt{Spill: spill, Grow: func(n int64) error {
		if n > room {
			return short
		}
		room -= n
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	val := make([]byte, 900)
	for i := range 20_000 {
		if err := tx.Put(sp, rowKey(i), val, kv.Covered); err != nil {
			t.Fatal(i, err)
		}
	}
	if *inFiles < 10<<20 {
		t.Errorf("%d bytes in files", *inFiles)
	}
	room = -1 << 40
	for i := range 20_000 {
		if err = tx.Put(sp, rowKey(i), val, kv.Covered); err != nil {
			break
		}
	}
	if !errors.Is(err, short) {
		t.Errorf("without any room: %v", err)
	}
}

// An error of a file refuses the write, and leaves what was written before as it was.
func TestSpillErrors(t *testing.T) {
	_, st := newFake(t, Options{})
	spill, inFiles := testSpill(t, 5000)
	r := rand.New(rand.NewPCG(5, 5))
	limit := errors.New("limit")
	file, grow := spill.File, spill.Grow
	spill.File = func() (*os.File, error) {
		switch r.IntN(3) {
		case 0:
			return nil, &os.PathError{Op: "open", Path: "x", Err: syscall.ENOSPC}
		case 1: // whose writes fail
			f, err := file()
			if err != nil {
				return nil, err
			}
			name := filepath.Join(t.TempDir(), "f")
			if err := errors.Join(f.Close(), os.WriteFile(name, nil, 0o600)); err != nil {
				return nil, err
			}
			return os.Open(name)
		}
		return file()
	}
	spill.Grow = func(n int64) error {
		if n > 0 && r.IntN(4) == 0 {
			return limit
		}
		return grow(n)
	}
	tx, err := st.Begin(ctx, kv.BeginOpt{Spill: spill})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	refused := map[error]int{}
	for i := range 1200 {
		k, v := rowKey(r.IntN(500)), fmt.Sprint(i)
		switch err := tx.Put(sp, k, []byte(v), kv.Covered); {
		case err == nil:
			want[string(k)] = v
		case errors.Is(err, limit):
			refused[limit]++
		case errors.Is(err, kv.ErrDiskFull):
			refused[kv.ErrDiskFull]++
		case errors.Is(err, kv.ErrTempFile):
			refused[kv.ErrTempFile]++
		default:
			t.Fatal(err)
		}
		if i%40 == 0 {
			got := map[string]string{}
			it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
			for {
				ps, err := it.Next()
				if err != nil {
					t.Fatal(err)
				}
				if len(ps) == 0 {
					break
				}
				for _, p := range ps {
					got[string(p.Key)] = string(p.Val)
				}
			}
			it.Close()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("after %d writes: %v, want %v", i+1, got, want)
			}
		}
	}
	if len(refused) != 3 || *inFiles == 0 {
		t.Errorf("refused: %v, %d bytes in files", refused, *inFiles)
	}
	tx.Rollback()
	if *inFiles != 0 {
		t.Errorf("%d bytes are not given back", *inFiles)
	}
}
