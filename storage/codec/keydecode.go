package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// maxArrayElems bounds the elements of an array in a key, so that damaged bytes
// cannot ask for much memory.
const maxArrayElems = 1 << 20

// Decode decodes the first len(out) columns of a key and returns the rest of it.
// Bytes of the datums are the key's or were newly made.
func (c *KeyCodec) Decode(key []byte, out []types.Datum) (rest []byte, err error) {
	for i := range out {
		if out[i], key, err = c.cols[i].decode(key); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// Skip returns the key after its first n columns, and whether one of them is
// NULL.
func (c *KeyCodec) Skip(key []byte, n int) (rest []byte, null bool, err error) {
	if n > 0 {
		if k := &c.cols[n-1]; k.end > 0 && k.regular(key) {
			return key[k.end:], false, nil
		}
	}
	for i := range c.cols[:n] {
		k := &c.cols[i]
		l, isNull, err := k.width(key)
		if err != nil {
			return nil, false, err
		}
		null = null || isNull
		key = key[l:]
	}
	return key, null, nil
}

// width returns the number of bytes of the column at the start of key.
func (k *keyCol) width(key []byte) (n int, null bool, err error) {
	if k.Nullable {
		if len(key) == 0 {
			return 0, false, corrupt("key ends before a column")
		}
		switch key[0] {
		case tagNullFirst, tagNullLast:
			return 1, true, nil
		case tagValue:
			n = 1
		default:
			return 0, false, corrupt("unknown tag %#x in a key", key[0])
		}
	}
	w, err := k.valueWidth(key[n:], mask(k.Desc))
	return n + w, false, err
}

// mask is what stored bytes of the column are to be xored with.
func mask(desc bool) byte {
	if desc {
		return 0xff
	}
	return 0
}

// valueWidth returns the number of bytes of a value, whose bytes are xored with m.
func (k *keyCol) valueWidth(b []byte, m byte) (int, error) {
	n := int(widths[k.form])
	switch k.form {
	case formText, formBpchar, formJSONB, formCitext:
		return escapedWidth(b, m)
	case formHstore:
		first, err := escapedWidth(b, m)
		if err != nil {
			return 0, err
		}
		second, err := escapedWidth(b[first:], m)
		return first + second, err
	case formDecimal:
		return decimalWidth(b, m)
	case formInet:
		if len(b) == 0 {
			return 0, corrupt("key ends in a network address")
		}
		f := b[0] ^ m
		if f != inetV4 && f != inetV6 {
			return 0, corrupt("unknown address family %d in a key", f)
		}
		n = 2 + 2*inetLen(f)
	case formBit:
		w, err := escapedWidth(b, m)
		if err != nil {
			return 0, err
		}
		n = w + 4
	case formArray:
		return k.arrayWidth(b, m)
	case formRange, formMultirange:
		return k.rangeWidth(b, m)
	}
	if n > len(b) {
		return 0, corrupt("key ends in a value of %d bytes", n)
	}
	return n, nil
}

func decimalWidth(b []byte, m byte) (int, error) {
	if len(b) == 0 {
		return 0, corrupt("key ends in a number")
	}
	c := b[0] ^ m
	if c != decNeg && c != decPos {
		return 1, nil
	}
	end := m
	if c == decNeg {
		end = ^m
	}
	if len(b) >= 5 {
		if i := bytes.IndexByte(b[5:], end); i >= 0 {
			return 5 + i + 1, nil
		}
	}
	return 0, corrupt("key ends in a number")
}

func escapedWidth(b []byte, m byte) (int, error) {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], escape^m)
		if j < 0 || i+j+1 >= len(b) {
			return 0, corrupt("key ends in a string")
		}
		i += j + 2
		switch b[i-1] ^ m {
		case terminator:
			return i, nil
		case escapedNul:
		default:
			return 0, corrupt("unknown escape in a key")
		}
	}
}

func (k *keyCol) arrayWidth(b []byte, m byte) (int, error) {
	n := 0
	for {
		if n >= len(b) {
			return 0, corrupt("key ends in an array")
		}
		tag := b[n] ^ m
		n++
		switch tag {
		case tagNullLast:
		case tagValue:
			w, err := k.elem.valueWidth(b[n:], m)
			if err != nil {
				return 0, err
			}
			n += w
		case tagArrayEnd:
			if n < len(b) {
				if end := n + 1 + 8*int(b[n]^m); end <= len(b) {
					return end, nil
				}
			}
			return 0, corrupt("key ends in an array")
		default:
			return 0, corrupt("unknown tag %#x in an array", tag)
		}
	}
}

func (k *keyCol) decode(key []byte) (types.Datum, []byte, error) {
	return k.decodeArena(key, nil)
}

// decodeArena decodes the column at the start of key and returns the rest. Bytes
// that are not the key's own go into the arena, or new memory if it is nil.
func (k *keyCol) decodeArena(key []byte, a *vec.Arena) (types.Datum, []byte, error) {
	n, null, err := k.width(key)
	if err != nil {
		return types.Datum{}, nil, err
	}
	d := types.Datum{T: k.T, Null: null}
	if null {
		return d, key[n:], nil
	}
	b := key[:n:n]
	if k.Nullable {
		b = b[1:]
	}
	if k.Desc {
		if a != nil {
			b = a.Copy(b)
		} else {
			b = bytes.Clone(b)
		}
		invert(b)
	}
	return d, key[n:], k.value(&d, b, a)
}

// value decodes exactly one ascending value.
func (k *keyCol) value(d *types.Datum, b []byte, a *vec.Arena) error {
	switch k.form {
	case formBool:
		if b[0] > 1 {
			return corrupt("boolean %d in a key", b[0])
		}
		d.I = int64(b[0])
	case formInt2:
		d.I = int64(int16(binary.BigEndian.Uint16(b) ^ 1<<15))
	case formInt4:
		d.I = int64(getInt32(b))
	case formInt8:
		d.I = getInt64(b)
	case formOid:
		d.I = int64(binary.BigEndian.Uint32(b))
	case formFloat4:
		u := binary.BigEndian.Uint32(b)
		if u>>31 != 0 {
			u ^= 1 << 31
		} else {
			u = ^u
		}
		d.F = float64(math.Float32frombits(u))
	case formFloat8:
		d.F = getFloat64(b)
	case formDec64:
		d.Dec = coefToDec(getInt64(b), k.scale)
	case formDecimal:
		return decodeDecimalKey(d, b)
	case formText, formBpchar, formCitext:
		d.B = unescape(b, a)
	case formHstore:
		first, err := escapedWidth(b, 0)
		if err != nil {
			return err
		}
		d.B = unescape(b[first:], a)
	case formUUID, formMacaddr:
		d.B = b
	case formInterval:
		return decodeSpan(d, b)
	case formTimetz:
		zone := getInt32(b[8:])
		d.B = make([]byte, 0, 12)
		d.B = binary.BigEndian.AppendUint64(d.B, uint64(getInt64(b)-int64(zone)*1_000_000))
		d.B = binary.BigEndian.AppendUint32(d.B, uint32(zone))
	case formInet:
		l := inetLen(b[0])
		cidr := byte(0)
		if k.T.OID == types.OCidr {
			cidr = 1
		}
		d.B = append([]byte{b[0], b[1+l], cidr, byte(l)}, b[2+l:]...)
	case formBit:
		n := len(b) - 4
		d.B = append(bytes.Clone(b[n:]), unescape(b[:n], nil)...)
		if nbits := binary.BigEndian.Uint32(d.B); (uint64(nbits)+7)/8 != uint64(len(d.B)-4) {
			return corrupt("bit string of %d bits in %d bytes", nbits, len(d.B)-4)
		}
	case formRange, formMultirange:
		return k.decodeRanges(d, b)
	case formJSONB:
		doc, err := types.JSONBOfKey(unescape(b, nil), nextDecimal)
		if err != nil {
			return corrupt("%v", err)
		}
		d.B = doc
	default:
		return k.decodeArray(d, b)
	}
	return nil
}

func getInt64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }
func getInt32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b) ^ 1<<31) }

// unescape removes the terminator and the escapes.
func unescape(b []byte, a *vec.Arena) []byte {
	b = b[: len(b)-2 : len(b)-2]
	i := bytes.IndexByte(b, escape)
	if i < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i >= 0 {
		out = append(out, b[:i+1]...)
		b = b[i+2:]
		i = bytes.IndexByte(b, escape)
	}
	out = append(out, b...)
	if a != nil {
		return a.Copy(out)
	}
	return out
}

// nextDecimal reads the number at the start of b and returns the rest.
func nextDecimal(b []byte) (types.Decimal, []byte, error) {
	n, err := decimalWidth(b, 0)
	if err != nil {
		return types.Decimal{}, nil, err
	}
	var d types.Datum
	err = decodeDecimalKey(&d, b[:n])
	return d.Dec, b[n:], err
}

// decodeDecimalKey reads a number with as few fractional digits as it needs.
func decodeDecimalKey(d *types.Datum, b []byte) error {
	switch b[0] {
	case decNaN:
		d.Dec = types.DecimalNaN
		return nil
	case decPosInf:
		d.Dec = types.DecimalPosInf
		return nil
	case decNegInf:
		d.Dec = types.DecimalNegInf
		return nil
	case decZero:
		d.Dec = types.NewDecimal(0, 0)
		return nil
	case decPos, decNeg:
	default:
		return corrupt("unknown class %#x of a number in a key", b[0])
	}
	m := byte(0)
	if b[0] == decNeg {
		m = 0xff
	}
	e := int32((binary.BigEndian.Uint32(b[1:]) ^ uint32(m)*0x01010101) ^ 1<<31)
	pairs := b[5 : len(b)-1]
	if e > 200_000 || e < -200_000 || len(pairs) == 0 || len(pairs) > 200_000 {
		return corrupt("number with exponent %d in a key", e)
	}
	text := make([]byte, 0, 2*len(pairs)+16)
	if m != 0 {
		text = append(text, '-')
	}
	text = append(text, "0."...)
	for _, p := range pairs {
		p = (p ^ m) - 1
		if p > 99 {
			return corrupt("digits %d of a number in a key", p)
		}
		text = append(text, '0'+p/10, '0'+p%10)
	}
	if text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	text = append(text, 'e')
	dec, err := types.ParseDecimal(string(strconv.AppendInt(text, int64(e), 10)))
	if err != nil {
		return corrupt("number in a key: %v", err)
	}
	d.Dec = dec
	return nil
}

// decodeSpan reads an interval as days and microseconds, or months and days where
// there are too many days for that.
func decodeSpan(d *types.Datum, b []byte) error {
	days, rest := getInt64(b), getInt64(b[8:])
	if bits.Len64(uint64(max(days, -days))) > 40 {
		return corrupt("interval of %d days in a key", days)
	}
	if days == int64(int32(days)) {
		d.Iv = types.Interval{Days: int32(days), Micros: rest}
		return nil
	}
	months := days / 30
	if months != int64(int32(months)) {
		months = int64(math.MaxInt32)
		if days < 0 {
			months = math.MinInt32
		}
	}
	left := days - months*30
	if left != int64(int32(left)) {
		return corrupt("interval of %d days in a key", days)
	}
	d.Iv = types.Interval{Months: int32(months), Days: int32(left), Micros: rest}
	return nil
}

func (k *keyCol) decodeArray(d *types.Datum, b []byte) error {
	var elems []types.Datum
	for b[0] != tagArrayEnd {
		if len(elems) == maxArrayElems {
			return corrupt("array of more than %d elements in a key", maxArrayElems)
		}
		e := types.Datum{T: k.elem.T, Null: b[0] == tagNullLast}
		b = b[1:]
		if !e.Null {
			n, err := k.elem.valueWidth(b, 0)
			if err != nil {
				return err
			}
			if err := k.elem.value(&e, b[:n], nil); err != nil {
				return err
			}
			b = b[n:]
		}
		elems = append(elems, e)
	}
	ndim := int(b[1])
	dims, lbs := make([]int, ndim), make([]int, ndim)
	b = b[2:]
	total := 1
	for i := range dims {
		dims[i], lbs[i] = int(getInt32(b)), int(getInt32(b[4:]))
		b = b[8:]
		if dims[i] < 0 || dims[i] > maxArrayElems || total > maxArrayElems {
			return corrupt("array dimension %d in a key", dims[i])
		}
		total *= dims[i]
	}
	if ndim == 0 {
		total = 0
	}
	if total != len(elems) || ndim > 6 {
		return corrupt("array of %d elements and %d dimensions in a key", len(elems), ndim)
	}
	arr := types.NewArray(k.elem.T, dims, lbs, elems)
	d.B = arr.B
	return nil
}
