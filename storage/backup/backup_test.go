package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"kvsqld/storage/backup"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/memkv"
	"kvsqld/storage/txn"
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

func update(t testing.TB, st kv.Store, f func(tx kv.Txn) error) {
	t.Helper()
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	must(t, err)
	defer tx.Rollback()
	must(t, f(tx))
	must(t, tx.Commit(ctx))
}

// stores are one of each engine; in the bolt engine half of the pairs are in
// the log.
func stores(t *testing.T) map[string]kv.Store {
	bolt, err := boltkv.Open(t.TempDir(), boltkv.Options{NoSync: true})
	must(t, err)
	out := map[string]kv.Store{"bolt": bolt, "mem": memkv.Open(txn.Options{})}
	for _, st := range out {
		t.Cleanup(func() { st.Close() })
	}
	return out
}

func fill(t *testing.T, st kv.Store) {
	update(t, st, func(tx kv.Txn) error {
		err := errors.Join(tx.CreateSpace(table), tx.CreateSpace(index))
		for i := range 3000 {
			err = errors.Join(err, tx.Put(table, fmt.Appendf(nil, "%06d", i), bytes.Repeat([]byte{byte(i)}, 200)))
		}
		return err
	})
	update(t, st, func(tx kv.Txn) error {
		return errors.Join(tx.Put(index, []byte("k"), []byte("v")), tx.Put(table, []byte("000007"), []byte("new")),
			tx.Delete(table, []byte("000008")), tx.Put(table, []byte("big"), make([]byte, 1<<20)))
	})
}

// content is everything in a snapshot.
func content(t *testing.T, s kv.Snapshot) string {
	t.Helper()
	sps, err := s.Spaces(ctx)
	must(t, err)
	var out bytes.Buffer
	for _, sp := range sps {
		fmt.Fprintf(&out, "%s/%s\n", sp.DB, sp.File)
		it := s.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
		for {
			ps, err := it.Next()
			must(t, err)
			if len(ps) == 0 {
				break
			}
			for _, p := range ps {
				fmt.Fprintf(&out, "%x=%x\n", p.Key, p.Val)
			}
		}
		it.Close()
	}
	return out.String()
}

// TestRestore: what was written is what is restored, from and to each engine,
// and later commits are not in it.
func TestRestore(t *testing.T) {
	for name, st := range stores(t) {
		fill(t, st)
		s, err := st.Snapshot(ctx)
		must(t, err)
		want := content(t, s)
		update(t, st, func(tx kv.Txn) error { return tx.Put(index, []byte("later"), []byte("v")) })
		var stream bytes.Buffer
		wrote, err := backup.Write(ctx, s, &stream)
		must(t, err)
		s.Close()
		if wrote.Files != 2 || wrote.Pairs != 3001 {
			t.Errorf("%s: wrote %+v", name, wrote)
		}
		for to, dst := range stores(t) {
			got, err := backup.Restore(ctx, bytes.NewReader(stream.Bytes()), dst)
			must(t, err)
			if got != wrote {
				t.Errorf("%s to %s: restored %+v, wrote %+v", name, to, got, wrote)
			}
			d, err := dst.Snapshot(ctx)
			must(t, err)
			if content(t, d) != want {
				t.Errorf("%s to %s: the restored store is not what was written", name, to)
			}
			d.Close()
		}
	}
}

// TestDamage cuts a stream at every byte, changes bytes, leaves out and
// exchanges blocks, and appends something: all of it is refused.
func TestDamage(t *testing.T) {
	st := memkv.Open(txn.Options{})
	t.Cleanup(func() { st.Close() })
	update(t, st, func(tx kv.Txn) error {
		err := tx.CreateSpace(table)
		for i := range 40 {
			err = errors.Join(err, tx.Put(table, []byte{byte(i)}, make([]byte, 20<<10)))
		}
		return err
	})
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	var blocks blocks
	_, err = backup.Write(ctx, s, &blocks)
	must(t, err)
	if len(blocks) < 4 {
		t.Fatalf("the stream has %d blocks", len(blocks))
	}
	whole := bytes.Join(blocks, nil)
	_, err = backup.Verify(bytes.NewReader(whole))
	must(t, err)
	refused := func(what string, b []byte) {
		t.Helper()
		if _, err := backup.Verify(bytes.NewReader(b)); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for cut := range whole {
		refused(fmt.Sprint("cut at ", cut), whole[:cut])
	}
	for at := range whole {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		refused(fmt.Sprint("flipped at ", at), b)
	}
	refused("a byte more", append(bytes.Clone(whole), 0))
	refused("twice", append(bytes.Clone(whole), whole...))
	refused("a block left out", bytes.Join([][]byte{blocks[0], bytes.Join(blocks[2:], nil)}, nil))
	refused("blocks exchanged", bytes.Join([][]byte{blocks[0], blocks[2], blocks[1], bytes.Join(blocks[3:], nil)}, nil))
	refused("another file", []byte("PGDMP and so on, for long enough to have a length"))
}

type blocks [][]byte

func (b *blocks) Write(p []byte) (int, error) {
	*b = append(*b, bytes.Clone(p))
	return len(p), nil
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("kvsqld backup 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := backup.Verify(bytes.NewReader(b)); err == nil {
			t.Error("accepted")
		} else if !errors.Is(err, backup.ErrDamaged) {
			t.Error(err)
		}
	})
}
