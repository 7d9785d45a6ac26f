package codec

import "kvsqld/catalog/types"

// form is how values of a type are encoded, in keys and in rows.
type form uint8

const (
	formNone form = iota
	formBool
	formInt2
	formInt4
	formInt8
	formOid
	formFloat4
	formFloat8
	formDec64   // numeric(p,s), p <= 18, s >= 0: the coefficient at scale s
	formDecimal // other numerics
	formText
	formBpchar
	formUUID
	formInterval
	formTimetz
	formMacaddr
	formInet
	formBit
	formArray
	formRange
	formMultirange
	formJSONB
	formCitext
	formHstore
	formBytes // bytes without an order: rows only
)

// widths of the forms in a row's fixed section; 0 is variable.
var widths = [...]uint8{
	formBool: 1, formInt2: 2, formInt4: 4, formInt8: 8, formOid: 4, formFloat4: 4, formFloat8: 8,
	formDec64: 8, formUUID: 16, formInterval: 16, formTimetz: 12, formMacaddr: 6,
	formBytes: 0,
}

// formOf returns the form of a type.
func formOf(t types.T) form {
	switch t.Kind() {
	case types.KBool:
		return formBool
	case types.KInt2:
		return formInt2
	case types.KInt4, types.KDate:
		return formInt4
	case types.KInt8, types.KTime, types.KTimestamp, types.KTimestamptz, types.KMoney:
		return formInt8
	case types.KOid:
		return formOid
	case types.KFloat4:
		return formFloat4
	case types.KFloat8:
		return formFloat8
	case types.KNumeric:
		if _, ok := types.NarrowScale(t); ok {
			return formDec64
		}
		return formDecimal
	case types.KText:
		if t.OID == types.OBpchar || t.User != types.KInvalid && t.Elem == types.OBpchar {
			return formBpchar
		}
		return formText
	case types.KBytea, types.KEnum, types.KWord:
		return formText
	case types.KUUID:
		return formUUID
	case types.KInterval:
		return formInterval
	case types.KTimetz:
		return formTimetz
	case types.KMacaddr:
		return formMacaddr
	case types.KInet:
		return formInet
	case types.KBit:
		return formBit
	case types.KArray:
		return formArray
	case types.KRange:
		return formRange
	case types.KMultirange:
		return formMultirange
	case types.KJSONB:
		return formJSONB
	case types.KCitext:
		return formCitext
	case types.KHstore:
		return formHstore
	case types.KInvalid, types.KPseudo:
		return formNone
	}
	return formBytes
}

// LossyKey reports whether a value of the type cannot be read back from its key
// exactly as it was, though it compares equal: such primary key columns are
// stored in the row as well.
func LossyKey(t types.T) bool {
	switch formOf(t) {
	case formDecimal, formFloat4, formFloat8, formInterval, formArray, formRange, formMultirange, formJSONB, formCitext:
		return true
	}
	return false
}

// Orderable reports whether values of the type can be part of a key.
func Orderable(t types.T) bool {
	switch f := formOf(t); f {
	case formNone, formBytes:
		return false
	case formArray:
		return Orderable(elemOf(t))
	case formRange, formMultirange:
		return Orderable(rangeElem(t))
	}
	return true
}

// elemOf returns the element type of an array type.
func elemOf(t types.T) types.T {
	if t.Elem != 0 {
		return types.Of(t.Elem)
	}
	if in := types.Lookup(t.OID); in != nil {
		return types.Of(in.Elem)
	}
	return types.T{}
}
