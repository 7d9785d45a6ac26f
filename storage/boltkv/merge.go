package boltkv

import (
	"bytes"
	"sort"

	bolt "go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"kvsqld/storage/kv"
)

// A load into the middle of a bucket, such as that of rows that are stored with their
// parents, has many pairs for each leaf. bbolt would search its way from the root for
// each of them, and move those behind it in the leaf. Here the first one makes bbolt
// read the leaf, and the others are merged with what is there; bbolt divides the leaf
// when it commits.

// mergeMin is the number of pairs of one leaf from which merging is better.
const mergeMin = 8

// group are writes in ascending order that belong to one leaf, about.
type group struct {
	pairs   []kv.Pair // without a value: deletions
	deletes bool
}

func (g *group) add(key, val []byte) {
	g.pairs = append(g.pairs, kv.Pair{Key: key, Val: val})
	g.deletes = g.deletes || val == nil
}

// write makes the writes of the group, which is empty then. The bytes of the pairs stay
// as they are until the commit.
func (g *group) write(b *bolt.Bucket) error {
	pairs := g.pairs
	if len(pairs) >= mergeMin && !g.deletes {
		if err := b.Put(pairs[0].Key, pairs[0].Val); err != nil { // so that there are nodes
			return err
		}
		n, err := mergeInto(b, pairs)
		if err != nil {
			return err
		}
		pairs = pairs[n:]
	}
	for _, p := range pairs {
		var err error
		if p.Val == nil {
			err = b.Delete(p.Key)
		} else {
			err = b.Put(p.Key, p.Val)
		}
		if err != nil {
			return err
		}
	}
	clear(g.pairs)
	g.pairs, g.deletes = g.pairs[:0], false
	return nil
}

// mergeInto puts pairs, the first of which bbolt has just put, into the leaf that has
// it, and returns how many of them belong there.
func mergeInto(b *bolt.Bucket, pairs []kv.Pair) (int, error) {
	leaf, until := leafOf(b, pairs[0].Key)
	if leaf == nil {
		return 0, nil
	}
	n := len(pairs)
	if until != nil {
		n = sort.Search(n, func(i int) bool { return bytes.Compare(pairs[i].Key, until) >= 0 })
	}
	out := make([]boltInode, 0, len(leaf.inodes)+n-1)
	have := leaf.inodes
	for i := range pairs[:n] {
		p := &pairs[i]
		if err := checkPair(p.Key, p.Val); err != nil {
			return 0, err
		}
		for len(have) > 0 {
			c := bytes.Compare(have[0].key, p.Key)
			if c < 0 {
				out = append(out, have[0])
			}
			if c > 0 {
				break
			}
			have = have[1:]
		}
		out = append(out, boltInode{key: p.Key, value: p.Val})
	}
	leaf.inodes = append(out, have...)
	return n, nil
}

// leafOf returns the leaf that bbolt has in memory for a key, and the first key behind
// those that belong there; nil for both: there is none.
func leafOf(b *bolt.Bucket, key []byte) (n *boltNode, until []byte) {
	n = *rootOf(b)
next:
	for n != nil && !n.isLeaf {
		i := max(1, sort.Search(len(n.inodes), func(i int) bool { return bytes.Compare(n.inodes[i].key, key) > 0 }))
		if i < len(n.inodes) {
			until = n.inodes[i].key
		}
		for j := len(n.children) - 1; j >= 0; j-- { // the last one read is the last here
			if c := n.children[j]; c.pgid == n.inodes[i-1].pgid {
				n = c
				continue next
			}
		}
		return nil, nil
	}
	return n, until
}

// checkPair is what bbolt asks of a pair.
func checkPair(key, val []byte) error {
	switch {
	case len(key) == 0:
		return bolterr.ErrKeyRequired
	case len(key) > bolt.MaxKeySize:
		return bolterr.ErrKeyTooLarge
	case len(val) > bolt.MaxValueSize:
		return bolterr.ErrValueTooLarge
	}
	return nil
}
