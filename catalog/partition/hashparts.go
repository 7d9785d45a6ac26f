package partition

import (
	"encoding/binary"

	"kvsqld/catalog/types"
)

// hashParts is the hash of a value that is made of others.
func hashParts(t types.T, d types.Datum, seed uint64) uint64 {
	switch t.Kind() {
	case types.KArray:
		_, _, _, elems, err := types.ArrayElems(d)
		if err != nil {
			return hashBytes(d.B, seed)
		}
		if t.OID == types.OOidVector {
			var b []byte
			for _, e := range elems {
				b = binary.LittleEndian.AppendUint32(b, uint32(e.I))
			}
			return hashBytes(b, seed)
		}
		return hashList(1, elems, seed)
	case types.KRecord:
		fields, err := types.RecordFields(d)
		if err != nil {
			return hashBytes(d.B, seed)
		}
		return hashList(0, fields, seed)
	case types.KRange:
		r, err := types.DecodeRange(d)
		if err != nil {
			return hashBytes(d.B, seed)
		}
		return hashRange(r, seed)
	case types.KMultirange:
		list, err := types.DecodeMultirange(d)
		if err != nil {
			return hashBytes(d.B, seed)
		}
		h := uint64(1)
		for _, r := range list {
			h = h<<5 - h + hashRange(r, seed)
		}
		return h
	}
	return hashJSONB(d.B, seed)
}

// hashList folds the hashes of elements; that of NULL is 0.
func hashList(h uint64, elems []types.Datum, seed uint64) uint64 {
	for _, e := range elems {
		one := uint64(0)
		if !e.Null {
			one = Hash(e.T, e, seed)
		}
		h = h<<5 - h + one
	}
	return h
}

// The bits of a range that say which bounds it has.
const (
	rangeEmpty = 1 << iota
	rangeLoInc
	rangeHiInc
	rangeNoLo
	rangeNoHi
)

func hashRange(r types.RangeValue, seed uint64) uint64 {
	flags := uint32(0)
	var lo, hi uint64
	if r.Empty {
		flags = rangeEmpty
	} else {
		if r.LoInc {
			flags |= rangeLoInc
		}
		if r.HiInc {
			flags |= rangeHiInc
		}
		if r.Lo == nil {
			flags |= rangeNoLo
		} else {
			lo = Hash(r.Lo.T, *r.Lo, seed)
		}
		if r.Hi == nil {
			flags |= rangeNoHi
		} else {
			hi = Hash(r.Hi.T, *r.Hi, seed)
		}
	}
	return rotateHalves(hashUint32(flags, seed)^lo) ^ hi
}

// rotateHalves moves the bits of both halves up by one, each around its own end.
func rotateHalves(v uint64) uint64 { return v<<1&0xfffffffefffffffe | v>>31&0x100000001 }

// hashJSONB folds the kinds of containers and the hashes of keys and scalars, in
// the order in which jsonb stores them. A scalar alone counts as in an array.
func hashJSONB(b []byte, seed uint64) uint64 {
	h, parts := uint64(0), 0
	mark := func(kind uint64) { h ^= kind | kind<<32 }
	types.WalkJSONB(b, func(v types.JSONPart) {
		parts++
		switch v.Kind {
		case types.JSONArrayBegins:
			mark(0x40000000)
			return
		case types.JSONObjectBegins:
			mark(0x20000000)
			return
		}
		one := uint64(1) + seed
		switch v.Kind {
		case types.JSONString:
			one = hashBytes(v.Text, seed)
		case types.JSONNumber:
			one = hashNumeric(v.Number, seed)
		case types.JSONBool:
			switch {
			case seed != 0:
				one = hashUint32(map[bool]uint32{true: 1}[v.Truth], seed)
			case v.Truth:
				one = 2
			default:
				one = 4
			}
		}
		h = rotateHalves(h) ^ one
	})
	if parts == 1 {
		return seed // an empty array or object
	}
	return h
}
