package boltkv

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	bolt "go.etcd.io/bbolt"
)

// bbolt maps its file into memory, and maps it anew when it outgrows the mapping.
// It removes the old mapping then, so it waits until nobody reads, while a reader
// may itself wait: for a row that the writer holds, or for its client. Our readers
// therefore let bbolt's lock go once they have begun, and the mappings are kept, and
// removed, here: each stays for as long as somebody reads from it.

// mappings are those of one file.
type mappings struct {
	lock *sync.RWMutex // bbolt's: held alone while it maps the file anew
	ref  *[]byte       // bbolt's: what it would remove; nil once we have it. Guarded by lock and mu

	mu  sync.Mutex
	now *mapping
}

// mapping is a part of the address space. Its users, guarded by mappings.mu, are
// the file, while it is the newest one, and the states that are read from it.
type mapping struct {
	b     []byte
	users int
}

// ownMappings takes the mappings of a file from bbolt, which does not export what
// is needed for that; the tests of this file fail should a new version lack it.
func ownMappings(db *bolt.DB) (*mappings, error) {
	if !canUnmap {
		return nil, nil
	}
	v := reflect.ValueOf(db).Elem()
	lock, ref := v.FieldByName("mmaplock"), v.FieldByName("dataref")
	if !lock.IsValid() || lock.Type() != reflect.TypeFor[sync.RWMutex]() || !ref.IsValid() || ref.Type() != reflect.TypeFor[[]byte]() {
		return nil, errors.New("this version of bbolt maps its file in another way")
	}
	m := &mappings{
		lock: (*sync.RWMutex)(unsafe.Pointer(lock.UnsafeAddr())),
		ref:  (*[]byte)(unsafe.Pointer(ref.UnsafeAddr())),
		now:  &mapping{users: 1},
	}
	m.take()
	return m, nil
}

// take makes a mapping that bbolt has made ours.
func (m *mappings) take() {
	m.lock.RLock()
	defer m.lock.RUnlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takeLocked()
}

// takeLocked is take for who holds both locks.
func (m *mappings) takeLocked() {
	if *m.ref == nil {
		return
	}
	old := m.now
	m.now = &mapping{b: *m.ref, users: 1}
	*m.ref = nil
	m.dropLocked(old)
}

// hold keeps the newest mapping, for who holds bbolt's lock, until drop.
func (m *mappings) hold() *mapping {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takeLocked()
	m.now.users++
	return m.now
}

func (m *mappings) drop(x *mapping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(x)
}

// dropLocked removes a mapping that nobody uses any more. Should that fail, address
// space is lost and nothing else.
func (m *mappings) dropLocked(x *mapping) {
	if x.users--; x.users == 0 && x.b != nil {
		_ = unmap(x.b)
		x.b = nil
	}
}

// view is one state of the file that is being read.
type view struct {
	f  *dataFile
	tx *bolt.Tx // keeps the state's pages from being used again
	p  *pager
	m  *mapping // nil where bbolt keeps the mappings
}

// view begins to read the newest state. Whoever maps the file anew does not wait
// for its end, where canUnmap.
func (f *dataFile) view() (*view, error) {
	tx, err := f.db.Begin(false)
	if err != nil {
		return nil, err
	}
	v := &view{f: f, tx: tx}
	if f.maps == nil {
		v.p = f.pager(tx)
		return v, nil
	}
	v.m = f.maps.hold()
	v.p = f.pager(tx)
	f.maps.lock.RUnlock()
	return v, nil
}

// end may be called once. The pages are not to be read any more.
func (v *view) end() {
	if v.m != nil {
		v.f.maps.lock.RLock() // Rollback lets it go
	}
	_ = v.tx.Rollback() // says only that it has ended
	if v.m != nil {
		v.f.maps.drop(v.m)
	}
}
