package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// addSets adds the batch once per grouping set, with the keys that are not in
// the set replaced by NULL.
func (op *group) addSets(s *groupState, in *vec.Batch) error {
	n := in.Rows()
	cols := append([]*vec.Vec(nil), op.in...)
	op.hashKeys(in.Sel, n)
	for i, set := range op.node.Sets {
		op.setKeys(cols, i, set)
		keys := vec.Batch{Cols: cols[:op.nkeys], N: in.N, Sel: in.Sel}
		for _, a := range op.aggs {
			if err := a.evalKeyed(op.env, &keys, cols[a.at:]); err != nil {
				return err
			}
		}
		if err := op.addHashed(s, cols, in.Sel, n, op.hashSet(cols[:len(op.ktypes)], op.mask[i], n)); err != nil {
			return err
		}
	}
	return nil
}

// hashKeys hashes each key of the batch, once for all sets that have it.
func (op *group) hashKeys(sel []uint32, n int) {
	if op.byKey == nil {
		op.byKey = make([][]uint64, op.nkeys)
	}
	for k, key := range op.in[:op.nkeys] {
		op.byKey[k] = zeroHashes(op.byKey[k], n)
		vec.Hash(key, sel, op.byKey[k])
	}
}

// hashSet is what hashRows says of the keys of a set, made of the keys' hashes, those
// apart that the mask says are not in the set.
func (op *group) hashSet(keys []*vec.Vec, mask int32, n int) []uint64 {
	out := zeroHashes(op.hashes, n)
	op.hashes = out
	for k, key := range keys {
		if k == op.nkeys || mask>>k&1 != 0 {
			vec.Hash(key, nil, out)
			continue
		}
		for i, h := range op.byKey[k] {
			out[i] = types.CombineHash(out[i], h)
		}
	}
	return finishHashes(out)
}

func (op *group) setKeys(cols []*vec.Vec, i int, set []int) {
	for k := range op.nkeys {
		cols[k] = nil
	}
	for _, k := range set {
		cols[k] = op.in[k]
	}
	for k := range op.nkeys {
		if cols[k] == nil {
			cols[k] = vec.NewConst(types.Null(op.ktypes[k]))
		}
	}
	// The set's number, not its mask, keeps equal sets apart.
	cols[op.nkeys] = vec.NewConst(types.Int(types.TInt4, int64(i)))
}

func (op *group) addEmptySets(s *groupState) error {
	for i, set := range op.node.Sets {
		if len(set) > 0 {
			continue
		}
		cols := make([]*vec.Vec, len(op.ktypes))
		op.setKeys(cols, i, nil)
		op.hashes = hashRows(cols, nil, 1, op.hashes)
		if s.set.find(cols, 0, op.hashes[0]) < 0 && len(s.parts) == 0 {
			s.set.add(cols, 0, op.hashes[0])
			s.ngrp = s.set.len()
		}
	}
	return nil
}
