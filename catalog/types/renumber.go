package types

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// HoldsOIDs reports whether values of the type may contain OIDs of types or objects
// of their database: those of reg* types are one, and values of arrays, rows and
// ranges have the OIDs of the types that they are made of.
func HoldsOIDs(t T) bool {
	switch t.Kind() {
	case KOid:
		return isReg(t)
	case KArray:
		e := t.ElemType()
		return e.User != KInvalid || HoldsOIDs(e)
	case KRange, KMultirange:
		return builtinRange(t) == 0
	case KRecord:
		return true
	}
	return false
}

// Renumber returns a value of such a type with the OIDs in it replaced by what to
// returns for them. The result shares no bytes with d and keeps its type.
func Renumber(d Datum, to func(OID) OID) Datum {
	switch {
	case d.Null:
	case d.T.Kind() == KOid:
		d.I = int64(to(OID(d.I)))
	default:
		d.B = bytes.Clone(d.B)
		renumber(d.T, d.B, to)
	}
	return d
}

// isReg reports whether a type's values are OIDs of objects.
func isReg(t T) bool {
	o := t.OID
	if base := t.base(); base != 0 {
		o = base
	}
	in := Lookup(o)
	return in != nil && in.Kind == KOid && strings.HasPrefix(in.Name, "reg")
}

// renumber replaces the OIDs in a value's stored bytes; damaged bytes are left alone
// from where they are damaged.
func renumber(t T, b []byte, to func(OID) OID) {
	put := func(at int) OID {
		old := OID(binary.BigEndian.Uint32(b[at:]))
		binary.BigEndian.PutUint32(b[at:], uint32(to(old)))
		return old
	}
	t = userValue(t, b)
	switch t.Kind() {
	case KOid:
		if len(b) == 4 && isReg(t) {
			put(0)
		}
	case KArray:
		it := ArrayIter{Elem: t.ElemType()}
		if it.init(b) != nil {
			return
		}
		elem := elementType(put(8))
		for it.left > 0 {
			e, null, err := it.nextRaw()
			if err != nil {
				return
			}
			if !null {
				renumber(elem, e, to)
			}
		}
	case KRecord:
		if len(b) < 4 {
			return
		}
		n := int(int32(binary.BigEndian.Uint32(b)))
		for b = b[4:]; n > 0 && len(b) >= 8; n-- {
			field, size := elementType(put(0)), int(int32(binary.BigEndian.Uint32(b[4:])))
			if b = b[8:]; size > len(b) {
				return
			}
			if size > 0 {
				renumber(field, b[:size], to)
				b = b[size:]
			}
		}
	case KRange, KMultirange:
		if builtinRange(t) == 0 && len(b) >= userRangeHead {
			put(1)
		}
	}
}
