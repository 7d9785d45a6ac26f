package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// DatabaseCopy is a database that was made from a template.
type DatabaseCopy struct {
	DB, Template *Database
	// OIDs has, for the objects and types of the template, those of the copy.
	OIDs map[types.OID]types.OID
	// Values are the states of sequences that are not at their start.
	Values []SequenceValue
}

// CreateDatabase makes a database with all that a template has but its rows, its
// settings, its privileges and its temporary objects. "" is template1. state tells
// where the template's sequences are.
func (c *Change) CreateDatabase(name, owner, template string, state SequenceState) (*DatabaseCopy, error) {
	if c.snap.Database(name) != nil {
		return nil, sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", name)
	}
	if template == "" {
		template = "template1"
	}
	from := c.snap.Database(template)
	if from == nil {
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, "template database \"%s\" does not exist", template)
	}
	if owner == "" {
		owner = c.Owner
	}
	// The document names what objects refer to, so that reading it again makes others
	// that refer to each other in the same way.
	w := &xmlWriter{snap: c.snap, state: state}
	w.open("Databases", nil)
	w.database(&Database{Common: Common{OID: from.OID, Name: name, Owner: owner}, ConnLimit: -1, Defaults: from.Defaults, Notes: from.Notes})
	w.close("Databases")
	if w.err != nil {
		return nil, w.err
	}
	doc, err := Import(bytes.NewReader(w.buf.Bytes()), c.snap, c.alloc, owner)
	if err != nil {
		return nil, err
	}
	put, _ := doc.Delta.Final()
	for _, o := range put {
		if v, ok := o.(*View); ok && v.Materialized != nil {
			v.Populated = c.snap.Relation(from.OID, v.Schema, v.Name).(*View).Populated
		}
	}
	if err := c.adopt(put); err != nil {
		return nil, err
	}
	d := c.snap.Database(name)
	if from.LargeObjects != (LargeObjectFiles{}) {
		n := *d
		n.LargeObjects = LargeObjectFiles{Metadata: c.alloc.AllocSpace(), Pages: c.alloc.AllocSpace()}
		if err := c.adopt([]Object{&n}); err != nil {
			return nil, err
		}
		d = &n
	}
	return &DatabaseCopy{DB: d, Template: from, OIDs: c.snap.counterparts(from.OID, d.OID), Values: doc.Values}, nil
}

// counterparts maps the OIDs of what a database has to those of what a copy of it
// has by the same names.
func (s *Snapshot) counterparts(from, to types.OID) map[types.OID]types.OID {
	out := make(map[types.OID]types.OID)
	here, there := s.byIdentity(from), s.byIdentity(to)
	for id, list := range here {
		copies := there[id]
		for i := range min(len(list), len(copies)) {
			a, b := numbers(list[i]), numbers(copies[i])
			for k := range min(len(a), len(b)) {
				out[a[k]] = b[k]
			}
		}
	}
	delete(out, 0)
	return out
}

// byIdentity groups a database's lasting objects by kind and name. Where several
// have the same, they are in the order in which a document has them.
func (s *Snapshot) byIdentity(db types.OID) map[string][]Object {
	w := &xmlWriter{snap: s}
	out := make(map[string][]Object)
	for _, o := range objectsOf(s, func(o Object) bool { return o.DatabaseOID() == db }) {
		if t := StorageOf(o); t != nil && t.Temp {
			continue
		}
		if c, ok := o.(commoner); ok {
			id := fmt.Sprintf("%T %q", o, w.sortKey(c))
			out[id] = append(out[id], o)
		}
	}
	return out
}

// numbers lists the OIDs of an object and of what belongs to it, in an order that is
// the same for all objects that look alike.
func numbers(o Object) []types.OID {
	out := []types.OID{o.ObjectOID()}
	switch o := o.(type) {
	case *Table:
		out = append(out, o.RowType, o.RowArray)
		indexes := slices.Clone(o.Indexes)
		slices.SortFunc(indexes, func(a, b *Index) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
		for _, ix := range indexes {
			out = append(out, ix.OID)
		}
	case *View:
		out = append(out, o.RowType, o.RowArray)
	case *UserType:
		out = append(out, o.Array, o.RelOID)
	}
	return out
}
