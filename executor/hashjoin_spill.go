package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

const (
	joinFanBits  = 4
	joinFan      = 1 << joinFanBits
	joinMaxDepth = 8
)

// joinSpill is the part of a hash join that works on partitions: pairs of files
// with the build and the probe rows of one range of hashes. A partition that is
// too large again is cut further, by other bits.
type joinSpill struct {
	on    bool // build rows go to files
	depth int  // of the partition under way; 0 is the whole input
	build []*spillFile
	probe *spillReader // source of left rows, nil: the left input
	files joinPart     // under way
	queue []joinPart
	bytes int64
	hash  []uint64
	batch vec.Batch
}

// joinPart is a partition waiting to be joined.
type joinPart struct {
	build, probe *spillFile
	depth        int
}

func (s *joinSpill) reset() {
	s.close()
	*s = joinSpill{}
}

func (s *joinSpill) close() {
	for _, f := range s.build {
		f.close()
	}
	for _, p := range s.queue {
		p.build.close()
		p.probe.close()
	}
	s.files.build.close()
	s.files.probe.close()
	s.build, s.queue, s.files, s.probe = nil, nil, joinPart{}, nil
}

// start begins to write build rows to partitions.
func (s *joinSpill) start(op *hashJoin) {
	s.on = true
	s.build = make([]*spillFile, joinFan)
	for i := range s.build {
		s.build[i] = newSpillFile(op.rtypes)
	}
}

// scatter writes rows to the files of their hashes.
func (s *joinSpill) scatter(env *Env, files []*spillFile, keys, cols []*vec.Vec, sel []uint32, n int) error {
	s.hash = hashRows(keys, sel, n, s.hash)
	var to [joinFan][]uint32
	for i, h := range s.hash {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		p := h >> (60 - joinFanBits*s.depth) & (joinFan - 1)
		to[p] = append(to[p], uint32(r))
	}
	for p, rows := range to {
		if err := files[p].write(env, cols, rows, len(rows)); err != nil {
			return err
		}
	}
	return nil
}

func (s *joinSpill) writeBuild(op *hashJoin, cols []*vec.Vec, sel []uint32, n int) error {
	keys := make([]*vec.Vec, len(op.rkeyAt))
	for i, k := range op.rkeyAt {
		keys[i] = cols[k]
	}
	if skip := nullRows(keys, op.node.NullEq); skip != nil && !op.hasNull {
		for i := range n {
			r := i
			if sel != nil {
				r = int(sel[i])
			}
			if skip(r) {
				op.hasNull = true
				break
			}
		}
	}
	return s.scatter(op.env, s.build, keys, cols, sel, n)
}

// partition cuts the left rows as the build rows were cut and turns to the next
// partition; false when there is none.
func (op *hashJoin) partition() (bool, error) {
	s := &op.spill
	ts := append(append([]types.T(nil), op.ltypes...), exprTypes(op.node.LeftKeys)...)
	probes := make([]*spillFile, joinFan)
	for i := range probes {
		probes[i] = newSpillFile(ts)
	}
	// The files are closed with the queue.
	for i, f := range s.build {
		s.queue = append(s.queue, joinPart{f, probes[i], s.depth + 1})
	}
	build := s.build
	s.build = nil
	if s.depth == 0 && !op.nothing() {
		if err := op.openLeft(); err != nil {
			return false, err
		}
	}
	cols := make([]*vec.Vec, len(ts))
	for !op.nothing() {
		if err := ctxErr(op.env.Ctx); err != nil {
			return false, err
		}
		var in *vec.Batch
		var err error
		if s.probe != nil {
			if in, err = s.probe.next(); in == nil || err != nil {
				if err != nil {
					return false, err
				}
				break
			}
			copy(cols, in.Cols)
		} else {
			if in, err = op.leftRows().Next(); in == nil || err != nil {
				if err != nil {
					return false, err
				}
				break
			}
			copy(cols, in.Cols)
			if err := evalAll(op.env, op.lkeys, in, cols[len(op.ltypes):]); err != nil {
				return false, err
			}
		}
		if err := s.scatter(op.env, probes, cols[len(op.ltypes):], cols, in.Sel, in.Rows()); err != nil {
			return false, err
		}
	}
	for i := range build {
		if err := build[i].finish(); err != nil {
			return false, err
		}
		if err := probes[i].finish(); err != nil {
			return false, err
		}
		s.bytes += build[i].bytes + probes[i].bytes
	}
	s.files.build.close()
	s.files.probe.close()
	s.files, s.probe = joinPart{}, nil
	return s.nextPartition(op)
}

// nextPartition loads the build rows of the next partition; false when there is
// none.
func (s *joinSpill) nextPartition(op *hashJoin) (bool, error) {
	s.files.build.close()
	s.files.probe.close()
	s.files, s.probe = joinPart{}, nil
	for len(s.queue) > 0 {
		p := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.files, s.depth, s.on = p, p.depth, false
		if p.probe.rows == 0 && !op.out.tracksRight() {
			p.build.close()
			p.probe.close()
			continue
		}
		op.table = newJoinTable(op.rtypes, op.rkeyAt)
		if err := op.acct.set(0); err != nil {
			return false, err
		}
		r := p.build.reader()
		for {
			b, err := r.next()
			if err != nil {
				return false, err
			}
			if b == nil {
				break
			}
			if err := op.store(b.Cols, nil, b.N); err != nil {
				return false, err
			}
		}
		s.probe = p.probe.reader()
		if s.on {
			return op.partition()
		}
		return true, op.ready()
	}
	return false, nil
}

// nextProbe returns the next left batch of the partition and sets its keys.
func (s *joinSpill) nextProbe(op *hashJoin) (*vec.Batch, error) {
	if err := ctxErr(op.env.Ctx); err != nil {
		return nil, err
	}
	in, err := s.probe.next()
	if in == nil || err != nil {
		return nil, err
	}
	n := len(op.ltypes)
	copy(op.keys, in.Cols[n:])
	s.batch = vec.Batch{Cols: in.Cols[:n], N: in.N}
	return &s.batch, nil
}
