package walkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// run is the gapless sequence of records at the beginning of a log file.
type run struct {
	name        string
	epoch       uint64
	first, last uint64   // numbers; 0 if there is no record
	bodies      [][]byte // of the records
	rest        []byte   // behind the run
}

// readRun reads a log file up to the first record that is not whole or not the
// next one.
func readRun(fsys vfs.FS, dir, name string) (*run, error) {
	epoch, b, err := readLog(fsys, dir, name)
	if err != nil {
		return nil, err
	}
	r := &run{name: name, epoch: epoch}
	for {
		seq, body, ok := parseRecord(b, epoch)
		if !ok || r.first != 0 && seq != r.last+1 {
			break
		}
		if r.first == 0 {
			r.first = seq
		}
		r.last = seq
		r.bodies = append(r.bodies, body)
		b = b[recordHeader+len(body):]
	}
	r.rest = b
	return r, nil
}

// recover brings everything in the log into the base and removes the log (W3).
func (e *Engine) recover() error {
	var epoch, applied, ended uint64
	m, err := e.base.Mark()
	if err != nil {
		return err
	}
	made := 0 // log files that have to be there
	if m != nil {
		switch {
		case len(m) == 16:
		case len(m) == 17 && m[16] == bothMade:
			made = 2
		case len(m) == 24:
			ended = binary.BigEndian.Uint64(m[16:])
		default:
			return fmt.Errorf("%w: the mark of the write-ahead log", kv.ErrCorrupt)
		}
		epoch, applied = binary.BigEndian.Uint64(m), binary.BigEndian.Uint64(m[8:])
	}
	var runs []*run
	for _, name := range fileNames {
		r, err := readRun(e.opt.FS, e.dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if r.epoch != epoch {
			// The log of the epoch that has ended, whose records are in the base, one
			// that was just begun, or the log of another data file. Marks of earlier
			// versions do not tell which epoch it was that ended.
			left := r.epoch == ended || len(m) == 16 && epoch == 0
			if r.last > applied || r.last != 0 && !left {
				return fmt.Errorf("%w: %s does not belong to the data file", kv.ErrCorrupt, name)
			}
			continue
		}
		runs = append(runs, r)
	}
	if len(runs) < made || epoch != 0 && len(runs) == 0 {
		return fmt.Errorf("%w: the write-ahead log of the last run, %s and %s, is not there, or not all of it",
			kv.ErrCorrupt, fileNames[0], fileNames[1])
	}
	active, last, err := e.replay(runs, applied)
	if err != nil {
		return err
	}
	sn, err := e.base.Snapshot()
	if err != nil {
		return err
	}
	base := sn.Seq()
	sn.Release()
	if last > applied || epoch != 0 {
		n, err := e.base.ApplyMark(active.changes(nil, nil), endMark(epoch, last))
		if errors.Is(err, kv.ErrUndetermined) {
			return err
		}
		if err != nil {
			// What is readable can be read. A full disk may get room again, and what is
			// damaged may be dropped.
			e.left = epoch
			if e.unrecovered = errors.Is(err, kv.ErrDiskFull) || errors.Is(err, kv.ErrCorrupt); !e.unrecovered {
				defer e.fail(err)
			}
			e.publish(&state{seq: max(last, base), base: base, active: active, activeSeq: applied})
			return nil
		}
		base = n
	}
	e.empty(max(last, base), base)
	return removeLogs(e.opt.FS, e.dir, e.opt.NoSync)
}

// finishRecovery is the end of recover for a base that had no room or is damaged, and
// writes a batch with it, if there is one.
func (e *Engine) finishRecovery(batch []txn.Change) (uint64, error) {
	st := e.cur.Load()
	seq := st.seq
	if batch != nil {
		seq++
	}
	changes := append(st.active.changes(nil, removed(batch)), batch...)
	base, err := e.base.ApplyMark(changes, endMark(e.left, seq))
	if err != nil {
		e.lost(err, seq)
		return 0, err
	}
	e.unrecovered = false
	e.empty(seq, base)
	return seq, removeLogs(e.opt.FS, e.dir, e.opt.NoSync)
}

// replay returns the trees of all records above applied, and the number of the
// last one.
func (e *Engine) replay(runs []*run, applied uint64) (active tables, last uint64, err error) {
	slices.SortFunc(runs, func(a, b *run) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	last = applied
	for _, r := range runs {
		if r.first == 0 || r.last <= last {
			continue
		}
		if r.first > last+1 {
			return nil, 0, fmt.Errorf("%w: %s begins with batch %d, the last one before it is %d", kv.ErrCorrupt, r.name, r.first, last)
		}
		for i, body := range r.bodies {
			if r.first+uint64(i) <= last {
				continue
			}
			if active, err = e.mem.insert(body, active); err != nil {
				return nil, 0, fmt.Errorf("%s: %w", r.name, err)
			}
		}
		last = r.last
	}
	for _, r := range runs {
		if provesDurable(r.rest, r.epoch, last+1) {
			return nil, 0, fmt.Errorf("%w: %s is damaged after batch %d", kv.ErrCorrupt, r.name, last)
		}
	}
	return active, last, nil
}
