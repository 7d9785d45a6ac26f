package codec

import (
	"encoding/binary"
	"math"

	"kvsqld/catalog/types/vec"
)

// regular reports whether a key is as long as it must be and has no NULL up to
// this column, so that the column is at k.at. Only for columns whose at is not
// negative.
func (k *keyCol) regular(key []byte) bool {
	if len(key) < k.at || len(key) < k.end {
		return false
	}
	for _, t := range k.tags {
		if key[t] != tagValue {
			return false
		}
	}
	return true
}

// DecodeVec decodes column i of keys into rows base … of v, which has room. Text
// without escapes aliases the key; other bytes are put into the arena.
func (c *KeyCodec) DecodeVec(i int, keys [][]byte, v *vec.Vec, base int, a *vec.Arena) error {
	k := &c.cols[i]
	quick := k.at >= 0 && !k.Desc
	for r, key := range keys {
		if quick && k.regular(key) {
			done, err := k.decodeRegular(key, v, base+r, a)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		}
		if k.off > 0 {
			if len(key) < k.off {
				return corrupt("key of %d bytes is too short", len(key))
			}
			key = key[k.off:]
		} else if k.off < 0 {
			var err error
			if key, _, err = c.Skip(key, i); err != nil {
				return err
			}
		}
		d, _, err := k.decodeArena(key, a)
		if err != nil {
			return err
		}
		v.Set(base+r, d)
	}
	return nil
}

// decodeRegular decodes an ascending column of a regular key without a datum in
// between; false for the forms, and values, that need one.
func (k *keyCol) decodeRegular(key []byte, v *vec.Vec, row int, a *vec.Arena) (bool, error) {
	switch k.form {
	case formInt2:
		v.I64[row] = int64(int16(binary.BigEndian.Uint16(key[k.at:]) ^ 1<<15))
	case formInt4:
		v.I64[row] = int64(getInt32(key[k.at:]))
	case formInt8:
		v.I64[row] = getInt64(key[k.at:])
	case formFloat8:
		v.F64[row] = getFloat64(key[k.at:])
	case formDec64:
		coef := getInt64(key[k.at:])
		if coef == decNaN64 || !v.Narrow() || v.Scale != k.scale {
			return false, nil
		}
		v.I64[row] = coef
	case formUUID:
		v.B[row] = key[k.at:k.end:k.end]
	case formText:
		b := key[k.at:]
		n, err := escapedWidth(b, 0)
		if err != nil {
			return false, err
		}
		v.B[row] = unescape(b[:n], a)
	default:
		return false, nil
	}
	if v.Nulls.Any() {
		v.Nulls.Unset(row)
	}
	return true, nil
}

func getFloat64(b []byte) float64 {
	u := binary.BigEndian.Uint64(b)
	if u>>63 != 0 {
		return math.Float64frombits(u ^ 1<<63)
	}
	return math.Float64frombits(^u)
}
