package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// distinctFlow passes each group's distinct argument values on: at once, or
// ordered at the end.
//
// When the set of those that were seen has taken the work memory, it grows no more: rows
// whose values are not in it go to partitions in temporary files, by hash. At the end
// each partition is looked through with a set of its own, by other bits of the hash.
type distinctFlow struct {
	filterFlow
	set     *keySet
	soft    int64        // bytes that the set should take at most, 0: any number
	depth   int          // passes before the one under way: selects the hash bits of partitions
	parts   []*spillFile // of this pass, nil as long as the set grows
	later   []groupPart  // partitions waiting for their pass
	ordered *orderedFlow // nil: in the order of arrival
	key     *vec.Vec     // group numbers
	keys    []*vec.Vec
	hashes  []uint64
	fresh   []uint32
	freshG  []uint32
}

func newDistinctFlow(env *Env, d directFlow) *distinctFlow {
	f := &distinctFlow{filterFlow: filterFlow{directFlow: d}, soft: env.WorkMem, key: &vec.Vec{T: types.TInt8}}
	f.set = newKeySet(f.rowTypes()[:1+d.call.nargs])
	if len(d.call.order) > 0 {
		f.ordered = newOrderedFlow(env, d)
	}
	return f
}

// rowTypes are the types of the rows in partitions: the group's number, and the call's
// columns but for FILTER's.
func (f *distinctFlow) rowTypes() []types.T {
	return slices.Concat([]types.T{types.TInt8}, f.call.types[f.call.filter:])
}

func (f *distinctFlow) add(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error {
	c := f.call
	if c.filter == 1 {
		f.narrow(groups, cols[0], sel)
		groups, sel = f.kept, f.rows
	}
	return f.addRows(env, ngrp, groups, cols[c.filter:], sel)
}

// addRows is add for rows that FILTER lets through, without its column.
func (f *distinctFlow) addRows(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error {
	args := cols[:f.call.nargs]
	groupVec(f.key, groups, sel)
	f.keys = append(append(f.keys[:0], f.key), args...)
	f.hashes = hashRows(f.keys, sel, len(groups), f.hashes)
	f.fresh, f.freshG = f.fresh[:0], f.freshG[:0]
	if f.fresh == nil {
		f.fresh = make([]uint32, 0, len(groups))
	}
	if f.parts == nil && f.soft > 0 && f.set.bytes() > f.soft && f.depth < groupMaxDepth {
		f.parts = make([]*spillFile, groupFan)
		for i := range f.parts {
			f.parts[i] = newSpillFile(f.rowTypes())
		}
	}
	f.set.near(f.hashes)
	var away [groupFan][]uint32
	for i, g := range groups {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if f.parts != nil {
			if h := f.hashes[i]; f.set.find(f.keys, r, h) < 0 {
				p := groupPartOf(h, f.depth)
				away[p] = append(away[p], uint32(r))
			}
			continue
		}
		if _, isNew := f.set.findOrAdd(f.keys, r, f.hashes[i]); isNew {
			f.fresh = append(f.fresh, uint32(r))
			f.freshG = append(f.freshG, g)
		}
	}
	if f.parts != nil {
		row := slices.Concat(f.keys[:1], cols)
		for p, list := range away {
			if err := f.parts[p].write(env, row, list, len(list)); err != nil {
				return err
			}
		}
		return nil
	}
	if f.ordered != nil {
		if f.call.filter == 1 {
			passed := vec.NewConst(types.Bool(true))
			cols = slices.Concat([]*vec.Vec{passed}, cols)
		}
		return f.ordered.take(f.freshG, cols, f.fresh)
	}
	return f.directFlow.add(env, ngrp, f.freshG, args, f.fresh)
}

// finish looks the partitions through.
func (f *distinctFlow) finish(env *Env, ngrp int) error {
	var groups []uint32
	for {
		for _, p := range f.parts {
			if p.rows == 0 {
				continue
			}
			if err := p.finish(); err != nil {
				return err
			}
			f.later = append(f.later, groupPart{p, f.depth + 1})
		}
		f.parts = nil
		if len(f.later) == 0 {
			break
		}
		p := f.later[len(f.later)-1]
		f.later = f.later[:len(f.later)-1]
		f.set, f.depth = newKeySet(f.rowTypes()[:1+f.call.nargs]), p.depth
		for r := p.file.reader(); ; {
			if err := ctxErr(env.Ctx); err != nil {
				p.file.close()
				return err
			}
			b, err := r.next()
			if b == nil && err == nil {
				break
			}
			if err == nil {
				groups = groups[:0]
				for i := range b.N {
					groups = append(groups, uint32(b.Cols[0].I64[i]))
				}
				err = f.addRows(env, ngrp, groups, b.Cols[1:], nil)
			}
			if err != nil {
				p.file.close()
				return err
			}
		}
		p.file.close()
	}
	if f.ordered != nil {
		return f.ordered.finish(env, ngrp)
	}
	return f.directFlow.finish(env, ngrp)
}

func (f *distinctFlow) bytes() int64 { return f.set.bytes() + f.agg.Bytes() }

func (f *distinctFlow) close() {
	for _, p := range f.parts {
		p.close()
	}
	for _, p := range f.later {
		p.file.close()
	}
	f.parts, f.later = nil, nil
	if f.ordered != nil {
		f.ordered.close()
	}
}
