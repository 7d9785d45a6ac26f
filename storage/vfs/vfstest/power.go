package vfstest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"kvsqld/storage/vfs"
)

// Power records what happens to the files of one directory, so that a loss of
// power at any moment can be acted out afterwards. Operations are carried out on
// the real files, syncs are only recorded.
//
// What is simulated: of the writes and truncations of a file after its last
// sync, any subset may have reached the disk, and of each write any subset of
// its sectors, written as they were or not at all. Of the creations, renamings
// and removals after the last sync of the directory, any number may have
// happened, but none before an earlier one, as on file systems with a journal.
// What is not: sectors that contain garbage, and writes that were synced and are
// not there.
type Power struct {
	dir string

	mu     sync.Mutex
	names  map[string]*inode
	start  []event // makes the directory as it was at the beginning
	events []event
}

// inode is a file under whatever name; its identity is its address.
type inode struct{ _ byte }

type eventKind uint8

const (
	evWrite eventKind = iota
	evTruncate
	evAllocate
	evSync
	evName // name stands for file; nil: for none
	evRename
	evSyncDir
	evMark
)

type event struct {
	kind     eventKind
	file     *inode
	off      int64 // of a write; the size of a truncation
	data     []byte
	name, to string
	mark     any
}

// sector is what a disk writes as a whole.
const sector = 512

// NewPower returns a recorder for the files of a directory, whose content is
// taken to be on the disk.
func NewPower(dir string) (*Power, error) {
	p := &Power{dir: dir, names: make(map[string]*inode)}
	es, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range es {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		p.start = append(p.start, p.adopt(e.Name(), b)...)
	}
	p.start = append(p.start, event{kind: evSyncDir})
	return p, nil
}

// adopt returns the events of a file that is on the disk already.
func (p *Power) adopt(name string, b []byte) []event {
	n := &inode{}
	p.names[name] = n
	return []event{{kind: evName, name: name, file: n}, {kind: evTruncate, file: n, off: int64(len(b))},
		{kind: evWrite, file: n, data: b}, {kind: evSync, file: n}}
}

func (p *Power) add(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

// Mark records that something has happened at this moment, such as an answer to
// a client.
func (p *Power) Mark(what any) { p.add(event{kind: evMark, mark: what}) }

func (p *Power) OpenFile(path string, flag int) (vfs.File, error) {
	f, err := vfs.OS.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := filepath.Base(path)
	n := p.names[name]
	switch {
	case n == nil:
		n = &inode{}
		p.names[name] = n
		p.events = append(p.events, event{kind: evName, name: name, file: n})
	case flag&os.O_TRUNC != 0:
		p.events = append(p.events, event{kind: evTruncate, file: n})
	}
	return &powerFile{f, p, n}, nil
}

// Adopt takes what the file contains for synced.
func (p *Power) Adopt(path string, f *os.File) vfs.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := filepath.Base(path)
	b, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	if n := p.names[name]; n == nil {
		p.events = append(p.events, p.adopt(name, b)...)
	} else {
		p.events = append(p.events, event{kind: evTruncate, file: n, off: int64(len(b))},
			event{kind: evWrite, file: n, data: b}, event{kind: evSync, file: n})
	}
	return &powerFile{vfs.OS.Adopt(path, f), p, p.names[name]}
}

func (p *Power) ReadFile(path string) ([]byte, error) { return vfs.OS.ReadFile(path) }

func (p *Power) Rename(from, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, b := filepath.Base(from), filepath.Base(to)
	p.events = append(p.events, event{kind: evRename, name: a, to: b})
	p.names[b] = p.names[a]
	delete(p.names, a)
	return vfs.OS.Rename(from, to)
}

func (p *Power) Remove(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := vfs.OS.Remove(path)
	if !errors.Is(err, os.ErrNotExist) {
		p.events = append(p.events, event{kind: evName, name: filepath.Base(path)})
		delete(p.names, filepath.Base(path))
	}
	return err
}

func (p *Power) SyncDir(string) error {
	p.add(event{kind: evSyncDir})
	return nil
}

type powerFile struct {
	vfs.File
	p *Power
	n *inode
}

func (f *powerFile) WriteAt(b []byte, off int64) (int, error) {
	f.p.add(event{kind: evWrite, file: f.n, off: off, data: bytes.Clone(b)})
	return f.File.WriteAt(b, off)
}

func (f *powerFile) Truncate(size int64) error {
	f.p.add(event{kind: evTruncate, file: f.n, off: size})
	return f.File.Truncate(size)
}

// Allocate makes the file longer; no disk is full here.
func (f *powerFile) Allocate(from, to int64) error {
	f.p.add(event{kind: evAllocate, file: f.n, off: to})
	return f.File.Allocate(from, to)
}

func (f *powerFile) Sync() error {
	f.p.add(event{kind: evSync, file: f.n})
	return nil
}

func (f *powerFile) Datasync() error { return f.Sync() }

// Cuts acts out so many losses of power at random moments. For each it calls try
// with the marks made before, in order, and a function that writes what the disk
// contains to a directory.
func (p *Power) Cuts(r *rand.Rand, cuts int, try func(marks []any, restore func(dir string) error)) {
	p.mu.Lock()
	events := p.events
	p.mu.Unlock()
	at := make(map[int]int)
	for range cuts {
		at[r.IntN(len(events)+1)]++
	}
	d := &disk{files: make(map[*inode]*content), names: make(map[string]*inode)}
	for _, e := range p.start {
		d.apply(e)
	}
	var marks []any
	for i := 0; ; i++ {
		for range at[i] {
			try(marks, func(dir string) error { return d.restore(r, dir) })
		}
		if i == len(events) {
			return
		}
		if events[i].kind == evMark {
			marks = append(marks, events[i].mark)
		} else {
			d.apply(events[i])
		}
	}
}

// disk is what is on the disk, and what waits to be.
type disk struct {
	files   map[*inode]*content
	names   map[string]*inode
	pending []event // of names
}

type content struct {
	b       []byte
	pending []event
}

func (d *disk) apply(e event) {
	switch e.kind {
	case evName, evRename:
		d.pending = append(d.pending, e)
	case evSyncDir:
		for _, e := range d.pending {
			rename(d.names, e)
		}
		d.pending = nil
	default:
		c := d.files[e.file]
		if c == nil {
			c = &content{}
			d.files[e.file] = c
		}
		if e.kind != evSync {
			c.pending = append(c.pending, e)
			return
		}
		for _, e := range c.pending {
			c.b = change(c.b, e, nil)
		}
		c.pending = nil
	}
}

func rename(names map[string]*inode, e event) {
	switch {
	case e.kind == evRename:
		names[e.to] = names[e.name]
		delete(names, e.name)
	case e.file == nil:
		delete(names, e.name)
	default:
		names[e.name] = e.file
	}
}

// change carries out a write or truncation; r chooses the sectors that are
// written, nil: all.
func change(b []byte, e event, r *rand.Rand) []byte {
	size := e.off
	switch e.kind {
	case evWrite:
		size = max(int64(len(b)), e.off+int64(len(e.data)))
	case evAllocate:
		size = max(int64(len(b)), e.off)
	}
	if int64(len(b)) < size {
		b = append(b, make([]byte, size-int64(len(b)))...)
	} else {
		b = b[:size]
	}
	for at := e.off; e.kind == evWrite && at < e.off+int64(len(e.data)); {
		end := min(at/sector*sector+sector, e.off+int64(len(e.data)))
		if r == nil || r.IntN(2) == 0 {
			copy(b[at:end], e.data[at-e.off:])
		}
		at = end
	}
	return b
}

// restore writes one of the states that a loss of power may leave.
func (d *disk) restore(r *rand.Rand, dir string) error {
	names := make(map[string]*inode)
	for n, f := range d.names {
		names[n] = f
	}
	for _, e := range d.pending[:r.IntN(len(d.pending)+1)] {
		rename(names, e)
	}
	for n, f := range names {
		var b []byte
		if c := d.files[f]; c != nil {
			b = c.b
			if len(c.pending) > 0 {
				b = bytes.Clone(b)
			}
			for _, e := range c.pending {
				switch r.IntN(4) {
				case 0: // it did not reach the disk
				case 1:
					b = change(b, e, r)
				default:
					b = change(b, e, nil)
				}
			}
		}
		if err := writeSparse(filepath.Join(dir, n), b); err != nil {
			return err
		}
	}
	return nil
}

// writeSparse writes a file without its zeros.
func writeSparse(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	const block = 4096
	zeros := make([]byte, block)
	for at := 0; at < len(b) && err == nil; at += block {
		if p := b[at:min(at+block, len(b))]; !bytes.Equal(p, zeros[:len(p)]) {
			_, err = f.WriteAt(p, int64(at))
		}
	}
	return errors.Join(err, f.Truncate(int64(len(b))), f.Close())
}
