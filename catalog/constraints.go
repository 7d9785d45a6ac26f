package catalog

import (
	"iter"

	"kvsqld/catalog/types"
)

// Constraints yields the OIDs and names of the table's constraints.
func (t *Table) Constraints() iter.Seq2[types.OID, string] {
	return func(yield func(types.OID, string) bool) {
		for _, u := range t.Uniques {
			if !yield(u.OID, u.Name) {
				return
			}
		}
		for _, k := range t.Checks {
			if !yield(k.OID, k.Name) {
				return
			}
		}
		for _, k := range t.ForeignKeys {
			if !yield(k.OID, k.Name) {
				return
			}
		}
	}
}

// ConstraintOID returns the OID of the table's constraint, or 0.
func (t *Table) ConstraintOID(name string) types.OID {
	for oid, n := range t.Constraints() {
		if n == name {
			return oid
		}
	}
	return 0
}

// constraintName returns the name of a constraint of the table, or "".
func (t *Table) constraintName(oid types.OID) string {
	for o, name := range t.Constraints() {
		if o == oid {
			return name
		}
	}
	return ""
}
