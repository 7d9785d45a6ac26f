package catalog

import "kvsqld/catalog/types"

// Delta is a set of changes to objects: what CREATE, ALTER and DROP did. Put
// holds new and changed objects, Del the OIDs of dropped ones. Both only grow
// while a transaction runs, so that a savepoint is a pair of lengths; of several
// objects with one OID the last counts, and Del wins over Put (OIDs are never
// used again).
type Delta struct {
	Put []Object
	Del []types.OID
	// base has, for each object the delta changes or drops, what it was in the
	// snapshot the delta began with: see Catalog.Begin.
	base map[types.OID]Object
}

// DeltaMark is a savepoint in a Delta.
type DeltaMark struct{ put, del int }

// Add records a new or changed object.
func (d *Delta) Add(o Object) { d.Put = append(d.Put, o) }

// Drop records that an object is gone.
func (d *Delta) Drop(o types.OID) { d.Del = append(d.Del, o) }

// Empty reports whether nothing was recorded.
func (d *Delta) Empty() bool { return d == nil || len(d.Put) == 0 && len(d.Del) == 0 }

// Mark returns a savepoint.
func (d *Delta) Mark() DeltaMark { return DeltaMark{len(d.Put), len(d.Del)} }

// RollbackTo forgets what was recorded since the mark.
func (d *Delta) RollbackTo(m DeltaMark) {
	put, del := d.Put[m.put:], d.Del[m.del:]
	d.Put, d.Del = d.Put[:m.put], d.Del[:m.del]
	kept := make(map[types.OID]bool, len(d.Put)+len(d.Del))
	for _, o := range d.Put {
		kept[o.ObjectOID()] = true
	}
	for _, oid := range d.Del {
		kept[oid] = true
	}
	// Others may change what is not of the delta any more, before it is again.
	forget := func(oid types.OID) {
		if !kept[oid] {
			delete(d.base, oid)
		}
	}
	for _, o := range put {
		forget(o.ObjectOID())
	}
	for _, oid := range del {
		forget(oid)
	}
}

// Final returns the outcome: the last version of each object that still exists,
// in the order of first appearance, and the dropped OIDs.
func (d *Delta) Final() (put []Object, del []types.OID) {
	if d == nil {
		return nil, nil
	}
	gone := make(map[types.OID]bool, len(d.Del))
	for _, o := range d.Del {
		if !gone[o] {
			gone[o] = true
			del = append(del, o)
		}
	}
	at := make(map[types.OID]int, len(d.Put))
	for _, o := range d.Put {
		oid := o.ObjectOID()
		if gone[oid] {
			continue
		}
		if i, seen := at[oid]; seen {
			put[i] = o
			continue
		}
		at[oid] = len(put)
		put = append(put, o)
	}
	return put, del
}

// remember keeps the first known version of an object.
func (d *Delta) remember(oid types.OID, was Object) {
	if d.base == nil {
		d.base = make(map[types.OID]Object)
	}
	if _, known := d.base[oid]; !known {
		d.base[oid] = was
	}
}
