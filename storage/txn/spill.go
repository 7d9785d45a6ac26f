package txn

import (
	"bytes"
	"cmp"
	"runtime/debug"
	"slices"

	"kvsqld/storage/kv"
	"kvsqld/storage/kv/keysort"
)

// The writes of a transaction are in memory until they are too many. Then all of them
// are sorted and written to temporary files (sealedRun), and memory is begun anew. Where
// a RollbackTo may go back to, a run ends and another begins, so that going back drops
// whole runs. Reads merge the runs of files with those of memory; a commit hands the
// engine the merged writes, in order.
//
// Nothing in the files outlives the transaction: they have no names, and what was
// committed is in the engine's files.

const (
	// mergeRunsAt is the number of neighbouring runs, merged as often as each other,
	// from which they are merged into one.
	mergeRunsAt = 32
	// spillLeast is the memory below which a transaction does not spill when others
	// have taken all there is.
	spillLeast = 1 << 20
)

// seal moves all writes to files. After an error nothing has changed.
func (w *writes) seal(sp *kv.Spill) (err error) {
	if w.inFiles() {
		return nil
	}
	defer faults(debug.SetPanicOnFault(true), &err)
	out, err := newSealer(sp)
	if err != nil {
		return err
	}
	type part struct {
		l    *layer
		runs int
	}
	var parts []part
	for _, s := range w.list {
		for i := range s.layers {
			l := &s.layers[i]
			if len(l.log) == 0 {
				continue
			}
			from, before := 0, len(out.runs)
			for _, to := range append(w.backTo(s, i), len(l.log)) {
				if to <= from {
					continue
				}
				if err := out.sort(l.base+from, l.log[from:to]); err != nil {
					out.abandon()
					return err
				}
				from = to
			}
			parts = append(parts, part{l, len(out.runs) - before})
		}
	}
	runs, err := out.close()
	if err != nil {
		return err
	}
	w.files = append(w.files, runs[0].data, runs[0].index)
	for _, p := range parts {
		l := p.l
		l.sealed = append(slices.Clip(l.sealed), runs[:p.runs]...)
		runs = runs[p.runs:]
		l.base = l.end()
		l.log, l.runs, l.indexed, l.filter = nil, nil, 0, filter{}
	}
	w.arena = arena{used: w.arena.used}
	return nil
}

// inFiles reports whether nothing is left to be sealed.
func (w *writes) inFiles() bool {
	for _, s := range w.list {
		for i := range s.layers {
			if len(s.layers[i].log) > 0 {
				return false
			}
		}
	}
	return true
}

// backTo returns the positions in the log of layer i to which a RollbackTo may go back,
// ascending.
func (w *writes) backTo(s *spaceWrites, i int) []int {
	var out []int
	for p, at := range w.points {
		end := len(w.marks)
		if p+1 < len(w.points) {
			end = w.points[p+1]
		}
		if s.index < end-at {
			if m := w.marks[at+s.index]; m.layers == i+1 && m.log > s.layers[i].base {
				out = append(out, m.log-s.layers[i].base)
			}
		}
	}
	return out
}

// sort writes a part of a log, which begins at position from of its layer, as a run.
func (out *sealer) sort(from int, log []entry) error {
	out.begin(from, from+len(log), 0, len(log))
	if slices.IsSortedFunc(log, func(a, b entry) int { return cmp.Or(bytes.Compare(a.key(), b.key()), -1) }) {
		for _, e := range log {
			if err := out.add(e); err != nil {
				return err
			}
		}
		return out.finish()
	}
	items := keysort.Items(len(log), func(i int) []byte { return log[i].key() })
	covered := uint16(flagCovered)
	for i, it := range items {
		e := log[it.Pos]
		covered &= e.flags
		if i+1 < len(items) && items[i+1].Prefix == it.Prefix && bytes.Equal(log[items[i+1].Pos].key(), e.key()) {
			continue
		}
		e.flags = e.flags&^flagCovered | covered // of one write that was not, the lock is marked
		covered = flagCovered
		if err := out.add(e); err != nil {
			return err
		}
	}
	return out.finish()
}

// dropFiles gives back the files whose runs are all gone, or all files.
func (w *writes) dropFiles(sp *kv.Spill, all bool) {
	used := make(map[*mapped]bool)
	for _, s := range w.list {
		for i := range s.layers {
			for _, r := range s.layers[i].sealed {
				used[r.data], used[r.index] = !all, !all
			}
		}
	}
	kept := w.files[:0]
	for _, m := range w.files {
		if used[m] {
			kept = append(kept, m)
		} else if sp.Grow != nil {
			_ = sp.Grow(-m.told) // giving back does not fail
		}
	}
	clear(w.files[len(kept):])
	w.files = kept
}

// merge merges the last runs of layers where they have become many. Runs whose keys
// come one behind the other, as those of a load do, stay: no search looks into two.
func (w *writes) merge(sp *kv.Spill) (err error) {
	defer faults(debug.SetPanicOnFault(true), &err)
	for _, s := range w.list {
		for i := range s.layers {
			l := &s.layers[i]
			for {
				n := w.mergeable(s, i)
				if n == 0 {
					break
				}
				run, err := mergeSealed(sp, l.sealed[len(l.sealed)-n:])
				if err != nil {
					return err
				}
				l.sealed = append(slices.Clone(l.sealed[:len(l.sealed)-n]), run)
				w.files = append(w.files, run.data, run.index)
				w.dropFiles(sp, false)
			}
		}
	}
	return nil
}

// mergeable returns how many of the last runs of a layer are to be merged.
func (w *writes) mergeable(s *spaceWrites, i int) int {
	l := &s.layers[i]
	if len(l.sealed) < mergeRunsAt {
		return 0
	}
	last, low := l.sealed[len(l.sealed)-1], 0
	for p, at := range w.points {
		end := len(w.marks)
		if p+1 < len(w.points) {
			end = w.points[p+1]
		}
		if s.index < end-at {
			if m := w.marks[at+s.index]; m.layers == i+1 && m.log < last.to {
				low = max(low, m.log)
			}
		}
	}
	var wins []window
	for n := len(l.sealed) - 1; n >= 0 && l.sealed[n].tier == last.tier && l.sealed[n].from >= low; n-- {
		wins = append(wins, l.sealed[n].window())
	}
	if len(wins) < mergeRunsAt {
		return 0
	}
	n := len(wins)
	slices.Reverse(wins)
	if apart(wins) {
		return 0
	}
	return n
}

// mergeSealed makes one run of neighbouring ones.
func mergeSealed(sp *kv.Spill, runs []*sealedRun) (*sealedRun, error) {
	out, err := newSealer(sp)
	if err != nil {
		return nil, err
	}
	wins, n := make([]window, len(runs)), 0
	for i, r := range runs {
		wins[i] = r.window()
		n += r.n
	}
	out.begin(runs[0].from, runs[len(runs)-1].to, runs[0].tier+1, n)
	it := newOverlayIter(wins, false)
	for ; it.valid; it.next() {
		if err := out.add(it.cur); err != nil {
			out.abandon()
			return nil, err
		}
	}
	if err := out.finish(); err != nil {
		out.abandon()
		return nil, err
	}
	made, err := out.close()
	if err != nil {
		return nil, err
	}
	return made[0], nil
}
