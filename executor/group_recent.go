package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// recentGroups remembers the groups of the integer keys seen last, by the low
// bits of the key. With few groups nearly every row finds its group here, without
// a hash and in the cache of the processor.
type recentGroups struct {
	slots []recentSlot
	rows  int
	miss  int
	off   bool // too many groups
}

type recentSlot struct {
	key   int64
	group uint32 // + 1, 0 in an empty slot
}

const (
	recentSize  = 1 << 12
	recentTrial = 8 * vec.BatchSize // rows after which the misses are judged
)

// serves reports whether the keys of a batch can be looked up here.
func (c *recentGroups) serves(keys []*vec.Vec) bool {
	return !c.off && len(keys) == 1 && keys[0].T.Rep() == types.RepInt && !keys[0].Const && !keys[0].Nulls.Any()
}

// probeRecent finds or makes each row's group by way of the recent ones.
func (op *group) probeRecent(s *groupState, keys []*vec.Vec, sel, groups []uint32) {
	c := &s.recent
	if c.slots == nil {
		c.slots = make([]recentSlot, recentSize)
	}
	slots := c.slots[:recentSize]
	vals := keys[0].I64
	for i := range groups {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		k := vals[r]
		e := &slots[uint64(k)%recentSize]
		if e.key == k && e.group != 0 {
			groups[i] = e.group - 1
			continue
		}
		c.miss++
		g, _ := s.set.findOrAdd(keys, r, hashInt(k))
		*e = recentSlot{k, uint32(g) + 1}
		groups[i] = uint32(g)
	}
	c.rows += len(groups)
	if c.rows >= recentTrial {
		c.off = 4*c.miss > c.rows
		c.rows, c.miss = 0, 0
	}
}
