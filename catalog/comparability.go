package catalog

import (
	"slices"
	"sync"

	"kvsqld/catalog/types"
)

// Comparability says what the default operator classes of a type offer.
type Comparability struct{ Equality, Order, Hash bool }

// BuiltinComparability is that of a built-in type which has an operator class of its
// own, or turns into one that has without a function; ok is false for others.
func BuiltinComparability(o types.OID) (c Comparability, ok bool) {
	c, ok = builtinComparability()[o]
	return c, ok
}

var builtinComparability = sync.OnceValue(func() map[types.OID]Comparability {
	m := map[types.OID]Comparability{types.OUnknown: {true, true, true}, types.ORecord: {true, true, true}}
	add := func(o types.OID, method types.OID) {
		c := m[o]
		c.Equality = true
		c.Order, c.Hash = c.Order || method == OIDBtreeAm, c.Hash || method == OIDHashAm
		m[o] = c
	}
	for _, c := range slices.Concat(Opclasses(), typeOpclasses()) {
		if !c.Default || c.Method != OIDBtreeAm && c.Method != OIDHashAm {
			continue
		}
		add(c.InType, c.Method)
		for _, k := range Casts() {
			if k.Target == c.InType && k.Method == 'b' && k.Context == 'i' {
				add(k.Source, c.Method)
			}
		}
	}
	return m
})
