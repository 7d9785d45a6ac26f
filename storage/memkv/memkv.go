// Package memkv is a store in memory, for tests and throw-away databases: the
// transactions of storage/txn over copy-on-write trees.
//
// A state is a map of immutable trees. Apply changes private working trees and
// publishes cheap copies of them in one step, so a snapshot is a pointer.
// Nothing survives Close.
package memkv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tidwall/btree"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// Open returns an empty store.
func Open(opt txn.Options) *txn.Store {
	e := &engine{work: make(map[uint64]*space)}
	e.cur.Store(&snapshot{})
	return txn.New(e, opt)
}

// Sizes above these are refused; they are those of the bolt engine, so that a
// test finds the same limits.
const (
	maxKey = 32 << 10
	maxVal = 1<<31 - 3
)

type tree = btree.BTreeG[kv.Pair]

type space struct {
	sp   kv.Space
	tree *tree
}

func newTree() *tree {
	return btree.NewBTreeGOptions(func(a, b kv.Pair) bool { return bytes.Compare(a.Key, b.Key) < 0 },
		btree.Options{NoLocks: true})
}

type engine struct {
	cur  atomic.Pointer[snapshot]
	work map[uint64]*space // belongs to Apply
}

// snapshot is one published state; its trees are never changed.
type snapshot struct {
	seq    uint64
	spaces map[uint64]*space
}

func (e *engine) Limits() (int, int)                                       { return maxKey, maxVal }
func (e *engine) Close() error                                             { return nil }
func (e *engine) Stats(s *kv.StoreStats)                                   { s.Seq = e.cur.Load().seq }
func (e *engine) Compact(context.Context, func(*kv.StoreStats) bool) error { return nil }
func (e *engine) Check(context.Context, func(string)) error                { return nil }
func (e *engine) Snapshot() (txn.EngineSnapshot, error)                    { return e.cur.Load(), nil }

// Apply checks all changes first, so that it cannot fail halfway.
func (e *engine) Apply(changes []txn.Change) (uint64, error) {
	exists := make(map[uint64]bool)
	for _, c := range changes {
		has, seen := exists[c.Space.ID]
		if !seen {
			_, has = e.work[c.Space.ID]
		}
		switch {
		case c.Op == txn.OpCreate && has:
			return 0, fmt.Errorf("%w: file %s/%s", kv.ErrExists, c.Space.DB, c.Space.File)
		case c.Op != txn.OpCreate && !has:
			return 0, fmt.Errorf("%w: file %s/%s", kv.ErrNotFound, c.Space.DB, c.Space.File)
		}
		exists[c.Space.ID] = c.Op != txn.OpDrop
	}

	old := e.cur.Load()
	next := &snapshot{seq: old.seq + 1, spaces: maps.Clone(old.spaces)}
	if next.spaces == nil {
		next.spaces = make(map[uint64]*space)
	}
	for _, c := range changes {
		id := c.Space.ID
		switch c.Op {
		case txn.OpDrop:
			delete(e.work, id)
			delete(next.spaces, id)
			continue
		case txn.OpCreate, txn.OpClear:
			e.work[id] = &space{sp: c.Space, tree: newTree()}
		}
		w := e.work[id]
		for k, v := range c.Writes {
			if v == nil {
				w.tree.Delete(kv.Pair{Key: k})
			} else {
				w.tree.Set(kv.Pair{Key: bytes.Clone(k), Val: bytes.Clone(v)})
			}
		}
		next.spaces[id] = &space{sp: w.sp, tree: w.tree.Copy()}
	}
	e.cur.Store(next)
	return next.seq, nil
}

func (s *snapshot) Seq() uint64 { return s.seq }
func (s *snapshot) Release()    {}

// Spaces lists the spaces by database and file.
func (s *snapshot) Spaces() (out []kv.Space, err error) {
	for _, f := range s.spaces {
		out = append(out, f.sp)
	}
	slices.SortFunc(out, func(a, b kv.Space) int {
		return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.File, b.File))
	})
	return out, nil
}

func (s *snapshot) HasSpace(sp kv.Space) (bool, error) { return s.spaces[sp.ID] != nil, nil }

func (s *snapshot) Get(sp kv.Space, key []byte) ([]byte, error) {
	if f := s.spaces[sp.ID]; f != nil {
		p, _ := f.tree.Get(kv.Pair{Key: key})
		return p.Val, nil
	}
	return nil, nil
}

func (s *snapshot) BatchGet(sp kv.Space, keys, out [][]byte) error {
	for i, k := range keys {
		out[i], _ = s.Get(sp, k)
	}
	return nil
}

func (s *snapshot) Scan(sp kv.Space, r kv.Range, o kv.ScanOpt, _ txn.Chunks) txn.Chunks {
	f := s.spaces[sp.ID]
	if f == nil {
		return &chunks{}
	}
	c := &chunks{it: f.tree.Iter(), r: r, o: o}
	switch {
	case !o.Reverse && r.Lo == nil:
		c.ok = c.it.First()
	case !o.Reverse:
		c.ok = c.it.Seek(kv.Pair{Key: r.Lo})
	case r.Hi != nil && c.it.Seek(kv.Pair{Key: r.Hi}):
		c.ok = c.it.Prev()
	default:
		c.ok = c.it.Last()
	}
	return c
}

// chunks walks over one tree; it stands on the next pair while ok.
type chunks struct {
	it btree.IterG[kv.Pair]
	r  kv.Range
	o  kv.ScanOpt
	ok bool
}

func (c *chunks) Fill(dst []kv.Pair) (n int, err error) {
	for n < len(dst) && c.ok {
		p := c.it.Item()
		if c.o.Reverse {
			if c.r.Lo != nil && bytes.Compare(p.Key, c.r.Lo) < 0 {
				c.ok = false
				break
			}
			c.ok = c.it.Prev()
		} else {
			if c.r.Hi != nil && bytes.Compare(p.Key, c.r.Hi) >= 0 {
				c.ok = false
				break
			}
			if c.o.Skip != nil {
				if next := c.o.Skip(p.Key); next != nil {
					c.ok = c.it.Seek(kv.Pair{Key: next})
					continue
				}
			}
			c.ok = c.it.Next()
		}
		if c.o.KeysOnly {
			p.Val = nil
		}
		dst[n] = p
		n++
	}
	return n, c.o.Checked(dst[:n])
}

func (c *chunks) Close() {}
