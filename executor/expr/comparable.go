package expr

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Arrays and rows have comparison operators whatever they hold: only when values
// are compared does it show that those of a part cannot be.

// needEqual is the error of comparing values of type t for equality, or nil.
func needEqual(t types.T) error {
	if e := part(t); !partComparability(e).Equality {
		return sqlerr.New(sqlerr.UndefinedFunction, "could not identify an equality operator for type %s", partName(e))
	}
	return nil
}

// needOrder is the error of ordering values of type t, or nil.
func needOrder(t types.T) error {
	if e := part(t); !partComparability(e).Order {
		return sqlerr.New(sqlerr.UndefinedFunction, "could not identify a comparison function for type %s", partName(e))
	}
	return nil
}

// part is the type of an array's elements, and any other type itself.
func part(t types.T) types.T {
	for t.Kind() == types.KArray {
		t = t.ElemType()
	}
	return t
}

// partName is the name of a type that cannot be compared: all such are built in.
func partName(t types.T) string {
	return types.FormatTypeNoMod(partOID(t))
}

// partOID is a built-in type: that below a domain.
func partOID(t types.T) types.OID {
	if t.User != types.KInvalid && t.Elem != 0 {
		return t.Elem
	}
	return t.OID
}

// equalValues compares two values, none NULL, that have an equality.
func equalValues(a, b types.Datum) (bool, error) {
	if a.T.Kind() != types.KRecord {
		return compareDatums(a, b) == 0, nil
	}
	k, err := compareRows(a, b, rowOrder, needEqual)
	return k == 0 && err == nil, err
}

func partComparability(t types.T) catalog.Comparability {
	switch t.Kind() {
	case types.KEnum, types.KRecord, types.KRange, types.KMultirange:
		return catalog.Comparability{Equality: true, Order: true}
	}
	if t.OID == types.OUnknown { // a literal in a row, which nothing made text
		return catalog.Comparability{}
	}
	c, _ := catalog.BuiltinComparability(partOID(t))
	return c
}
