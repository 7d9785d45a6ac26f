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

var descriptionOf = sync.OnceValue(func() map[[2]types.OID]string {
	m := make(map[[2]types.OID]string, len(descriptions()))
	for _, d := range descriptions() {
		m[[2]types.OID{d.Class, d.OID}] = d.Text
		if _, several := m[[2]types.OID{0, d.OID}]; !several {
			m[[2]types.OID{0, d.OID}] = d.Text
		}
	}
	return m
})

// Descriptions lists the descriptions of built-in objects. The slice is shared.
func Descriptions() []Description { return descriptions() }

// DescriptionOf is the description of a built-in object, "" for none; the class 0
// stands for any.
func DescriptionOf(class, oid types.OID) string { return descriptionOf()[[2]types.OID{class, oid}] }
