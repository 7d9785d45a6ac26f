package catalog

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Catalog holds the current snapshot. Readers take it without a lock; changes
// are published one at a time.
type Catalog struct {
	current atomic.Pointer[Snapshot]
	oid     atomic.Uint32 // the next OID
	space   atomic.Uint64 // the next space
	form    atomic.Int32  // of what is stored

	// publish is held from Begin to Commit or Abort, so that the order of changes
	// in the store is the order in memory.
	publish sync.Mutex
}

// Allocator gives out identifiers that were never used before. *Catalog is one.
type Allocator interface {
	AllocOID() types.OID
	AllocSpace() SpaceID
}

// New returns the catalog of a new server. overlay may be nil.
func New(overlay Overlay) *Catalog {
	c := &Catalog{}
	s := Empty()
	s.overlay = overlay
	c.current.Store(s)
	c.oid.Store(uint32(types.FirstUserOID))
	c.space.Store(1)
	c.form.Store(newestForm)
	return c
}

// newestForm is the form of values that the stored catalog and the rows that it describes
// are in. In the first one, which has no number, tids are texts.
const newestForm = 2

// Older reports whether the loaded catalog, and the rows that it describes, have values in
// the form of an older version. The fragments are read as if they had those of this one.
func (c *Catalog) Older() bool { return c.form.Load() < newestForm }

// Renewed tells that the rows have the form of this version, and that all fragments are
// about to be stored anew: those of EncodeCounters say so from now on.
func (c *Catalog) Renewed() { c.form.Store(newestForm) }

// Current returns the newest published snapshot.
func (c *Catalog) Current() *Snapshot { return c.current.Load() }

// AllocOID returns an OID that no object ever had. Identifiers count as used
// once the counters of EncodeCounters are stored.
func (c *Catalog) AllocOID() types.OID { return types.OID(c.oid.Add(1) - 1) }

// AllocSpace returns a space that no file ever had.
func (c *Catalog) AllocSpace() SpaceID { return SpaceID(c.space.Add(1) - 1) }

// Publication is a change that was found valid and waits for the store's
// commit. Other changes wait for it.
type Publication struct {
	c    *Catalog
	next *Snapshot
	put  []Object
	del  []types.OID
	done bool
}

// Begin checks a delta against the current snapshot and keeps other changes out
// until the publication is committed or aborted. It fails when a rule is
// violated, or with 40001 when an object that the delta changes was changed by
// another transaction since the delta was begun.
func (c *Catalog) Begin(d *Delta) (*Publication, error) {
	c.publish.Lock()
	cur := c.current.Load()
	put, del := d.Final()
	put, del = withFiles(cur, put), withStats(cur, del)
	if err := unchanged(cur, d, put, del); err != nil {
		c.publish.Unlock()
		return nil, err
	}
	next := cur
	if len(put) > 0 || len(del) > 0 {
		var err error
		if next, err = cur.apply(put, del); err != nil {
			c.publish.Unlock()
			return nil, err
		}
	}
	return &Publication{c: c, next: next, put: put, del: del}, nil
}

// withStats adds the statistics of dropped relations: they may have been
// gathered after the drop was begun.
func withStats(cur *Snapshot, del []types.OID) []types.OID {
	for _, oid := range del {
		if st := cur.Stats(oid); st != nil && !slices.Contains(del, st.OID) {
			del = append(del, st.OID)
		}
	}
	return del
}

// unchanged checks that nobody else changed what the delta changes. Statistics
// may be overwritten.
func unchanged(cur *Snapshot, d *Delta, put []Object, del []types.OID) error {
	if d == nil {
		return nil
	}
	check := func(oid types.OID) error {
		was, known := d.base[oid]
		if !known || cur.objs.get(oid) == was {
			return nil
		}
		if _, ok := was.(*Stats); ok || gotFiles(was, cur.objs.get(oid)) {
			return nil
		}
		return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
	}
	for _, o := range put {
		if err := check(o.ObjectOID()); err != nil {
			return err
		}
	}
	for _, oid := range del {
		if err := check(oid); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns what the store has to write and delete.
func (p *Publication) Changes() (put []Object, del []types.OID) { return p.put, p.del }

// Next returns the snapshot that Commit will publish.
func (p *Publication) Next() *Snapshot { return p.next }

// Commit makes the change visible to everyone. It is called when the store has
// committed.
func (p *Publication) Commit() {
	if p.done {
		return
	}
	p.done = true
	p.c.current.Store(p.next)
	p.c.publish.Unlock()
}

// Abort gives the change up. After Commit it does nothing, so that it can be
// deferred.
func (p *Publication) Abort() {
	if p.done {
		return
	}
	p.done = true
	p.c.publish.Unlock()
}

// Publish applies a delta to the current snapshot and publishes the outcome:
// Begin and Commit in one, for changes that are stored already.
func (c *Catalog) Publish(d *Delta) error {
	p, err := c.Begin(d)
	if err != nil {
		return err
	}
	p.Commit()
	return nil
}

// Load replaces the catalog's contents by stored fragments: that of
// EncodeCounters, and those of EncodeObject in any order behind it. Without
// fragments the catalog is that of a new server.
func (c *Catalog) Load(fragments [][]byte) error {
	if len(fragments) == 0 {
		return nil
	}
	c.publish.Lock()
	defer c.publish.Unlock()
	var objs []Object
	maxOID, maxSpace := types.FirstUserOID-1, SpaceID(0)
	form := 1
	for i, f := range fragments {
		o, counters, err := decodeFragment(f, form)
		if err == nil && counters != nil && i > 0 {
			err = errors.New("the counters are not the first fragment")
		}
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "a part of the catalog is damaged, or was written by a newer kvsqld: %v", err)
		}
		if counters != nil {
			maxOID = max(maxOID, counters.OID-1)
			maxSpace = max(maxSpace, counters.Space-1)
			form = counters.Form
			continue
		}
		objs = append(objs, o)
		o2, s2 := highest(o)
		maxOID, maxSpace = max(maxOID, o2), max(maxSpace, s2)
	}
	s := newSnapshot()
	s.overlay = c.current.Load().overlay
	next, err := s.apply(objs, nil)
	if err != nil {
		return err
	}
	c.oid.Store(uint32(maxOID) + 1)
	c.space.Store(uint64(maxSpace) + 1)
	c.form.Store(int32(form))
	c.current.Store(next)
	return nil
}

// highest returns the highest OID and space in use by an object.
func highest(o Object) (types.OID, SpaceID) {
	oid, space := o.ObjectOID(), SpaceID(0)
	see := func(os ...types.OID) { oid = max(oid, max(os[0], os[len(os)-1])) }
	if t := StorageOf(o); t != nil {
		see(t.RowType, t.RowArray)
		space = t.Space
		if t.Cluster != nil {
			space = max(space, t.Cluster.Regions)
		}
		for _, ix := range t.Indexes {
			see(ix.OID, ix.Constraint)
			space = max(space, ix.Space)
		}
		for _, g := range t.Groups {
			space = max(space, g.Space)
		}
		for _, u := range t.Uniques {
			see(u.OID)
		}
		for _, k := range t.Checks {
			see(k.OID)
		}
		for _, k := range t.ForeignKeys {
			see(k.OID)
		}
	}
	switch x := o.(type) {
	case *Database:
		space = max(x.LargeObjects.Metadata, x.LargeObjects.Pages)
	case *View:
		see(x.RowType, x.RowArray)
	case *UserType:
		see(x.Array, x.RelOID)
		for _, l := range x.Labels {
			see(l.OID)
		}
		for _, k := range x.Checks {
			see(k.OID)
		}
	}
	return oid, space
}
