package vec

import (
	"bytes"

	"kvsqld/catalog/types"
)

// Hash mixes the hash of each row of v into out, so that several columns hash
// one after the other into an out that starts with zeros. Entry i belongs to
// row sel[i], or to row i when sel is nil; len(out) rows are hashed. Rows that
// EqualRows calls equal hash alike, also between the numeric forms and among
// the integer types.
func Hash(v *Vec, sel []uint32, out []uint64) {
	if v.Const {
		h := hashRow(v, 0)
		for i := range out {
			out[i] = types.CombineHash(out[i], h)
		}
		return
	}
	if !v.Nulls.Any() && v.T.Rep() == types.RepInt && sel == nil {
		for i, x := range v.I64[:len(out)] {
			out[i] = types.CombineHash(out[i], types.HashInt(x))
		}
		return
	}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		out[i] = types.CombineHash(out[i], hashRow(v, r))
	}
}

func hashRow(v *Vec, i int) uint64 {
	if v.Nulls.Get(i) {
		return types.Hash(types.Null(v.T))
	}
	switch v.T.Rep() {
	case types.RepInt:
		return types.HashInt(v.I64[i])
	case types.RepFloat:
		return types.HashFloat(v.F64[i])
	case types.RepBytes:
		switch {
		case plainBytes(v.T):
			return types.HashBytes(v.B[i])
		case v.T.OID == types.OBpchar:
			return types.HashBytes(bytes.TrimRight(v.B[i], " "))
		}
	}
	return types.Hash(v.Get(i))
}

// plainBytes reports whether equality of the type is equality of bytes.
func plainBytes(t types.T) bool {
	switch t.Kind() {
	case types.KText:
		return t.OID != types.OBpchar && t.Elem != types.OBpchar
	case types.KBytea, types.KUUID, types.KEnum, types.KMacaddr, types.KWord:
		return true
	}
	return false
}

// EqualRows reports whether two rows of the same kind are not distinct: equal,
// or both NULL.
func EqualRows(a *Vec, ar int, b *Vec, br int) bool {
	i, j := a.Idx(ar), b.Idx(br)
	if an, bn := a.Nulls.Get(i), b.Nulls.Get(j); an || bn {
		return an && bn
	}
	switch a.T.Rep() {
	case types.RepBool:
		return a.Bool[i] == b.Bool[j]
	case types.RepInt:
		return a.I64[i] == b.I64[j]
	case types.RepFloat:
		return types.CompareFloat(a.F64[i], b.F64[j]) == 0
	case types.RepDec:
		if a.Dec == nil && b.Dec == nil && a.Scale == b.Scale {
			return a.I64[i] == b.I64[j]
		}
	case types.RepBytes:
		if plainBytes(a.T) && plainBytes(b.T) {
			return bytes.Equal(a.B[i], b.B[j])
		}
	}
	return types.Equal(a.Get(i), b.Get(j))
}

// CompareRows orders two rows of the same kind as types.Compare does; NULL is
// greater than every value and equal to NULL.
func CompareRows(a *Vec, ar int, b *Vec, br int) int {
	i, j := a.Idx(ar), b.Idx(br)
	if an, bn := a.Nulls.Get(i), b.Nulls.Get(j); !an && !bn {
		switch a.T.Rep() {
		case types.RepInt:
			switch x, y := a.I64[i], b.I64[j]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		case types.RepFloat:
			return types.CompareFloat(a.F64[i], b.F64[j])
		case types.RepBytes:
			if plainBytes(a.T) && plainBytes(b.T) {
				return bytes.Compare(a.B[i], b.B[j])
			}
		}
	}
	return types.Compare(a.Get(i), b.Get(j))
}
