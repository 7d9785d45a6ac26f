package catalog

import (
	"sync"

	"kvsqld/catalog/types"
)

// Description is what pg_description has for a built-in object of a system relation.
type Description struct {
	Class, OID types.OID
	Text       string
}

var descriptions = sync.OnceValue(func() []Description {
	rows := readBuiltin("pg_description", 3)
	out := make([]Description, 0, len(rows))
	for _, r := range rows {
		out = append(out, Description{Class: r.oid(0), OID: r.oid(1), Text: r[2]})
	}
	return out
})

var descriptionsOf = sync.OnceValue(func() map[types.OID][]Description {
	m := make(map[types.OID][]Description)
	for _, d := range descriptions() {
		m[d.OID] = append(m[d.OID], d)
	}
	return m
})

// Descriptions lists the descriptions of built-in objects. The slice is shared.
func Descriptions() []Description { return descriptions() }

// DescriptionsOf lists those of the built-in objects with an OID. The slice is shared.
func DescriptionsOf(oid types.OID) []Description { return descriptionsOf()[oid] }

// DescriptionOf is the description of a built-in object, "" for none; the class 0
// stands for any.
func DescriptionOf(class, oid types.OID) string {
	for _, d := range DescriptionsOf(oid) {
		if class == 0 || d.Class == class {
			return d.Text
		}
	}
	return ""
}
