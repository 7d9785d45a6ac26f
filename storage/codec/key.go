package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// A key is the concatenation of its columns. A column of a nullable key starts
// with a tag; columns of master keys have none.
//
//	tag 0x08   NULL of a NULLS FIRST column
//	tag 0x10   a value follows
//	tag 0x18   NULL of a NULLS LAST column
//
//	bool                   1 byte, 0 or 1
//	int2 int4 int8         2, 4, 8 bytes big-endian, sign bit flipped
//	date                   as int4; time, timestamp, timestamptz as int8
//	oid and its kin        4 bytes big-endian
//	float4 float8          4, 8 bytes IEEE big-endian; sign bit flipped if
//	                       positive, all bits if negative; -0 is 0, NaN greatest
//	numeric(p<=18, s>=0)   coefficient at scale s as int8; NaN is the greatest
//	numeric otherwise      class 0x04 -Infinity, 0x08 negative, 0x10 zero, 0x18
//	                       positive, 0x20 Infinity, 0x28 NaN. Negative and positive
//	                       go on: decimal exponent as int4, pairs of digits plus 1,
//	                       0x00; all of it inverted for negatives
//	text varchar bytea     bytes with 0x00 as 0x00 0xff, then 0x00 0x01
//	bpchar                 the same without trailing blanks
//	citext                 the same in lower case
//	hstore                 keys and values one behind the other, then the value, as bytea
//	uuid macaddr           16, 6 bytes as they are
//	interval               whole days of the span as int8, microseconds of the rest as int8
//	timetz                 microseconds in UTC as int8, zone as int4
//	inet cidr              family, network address, mask bits, address
//	bit varbit             the bytes as bytea, number of bits as int4
//	arrays                 0x10 and value, or 0x18 for NULL, per element; 0x08; number
//	                       of dimensions, each one's length and lower bound as int4
//	ranges                 0x04 empty, or 0x10 and the bounds: 0x08 no lower bound, 0x18
//	                       no upper one, or 0x10, value, a byte: 0 for a lower bound in
//	                       the range and an upper one outside, else 1
//	                       the range and an upper one outside, else 1. Of a ByLength column
//	                       a byte before that has the part by length
//	multiranges            each range as above; 0x08
//	point box circle …     of an Unordered column: the bytes as bytea, in no order of theirs
//
// A descending column has all bytes after the tag inverted.
const (
	tagNullFirst = 0x08
	tagValue     = 0x10
	tagNullLast  = 0x18

	tagArrayEnd = 0x08

	escape     = 0x00
	escapedNul = 0xff
	terminator = 0x01

	decNegInf = 0x04
	decNeg    = 0x08
	decZero   = 0x10
	decPos    = 0x18
	decPosInf = 0x20
	decNaN    = 0x28
)

// decNaN64 stands for NaN among the coefficients of narrow numerics, which have
// at most 18 digits.
const decNaN64 = math.MaxInt64

// KeyCol describes a column of a key.
type KeyCol struct {
	T          types.T
	Nullable   bool // NULLs are allowed: every value has a tag
	Desc       bool
	NullsFirst bool
	ByLength   bool // ranges are kept by their length, in no order of theirs
	Unordered  bool // the values need not sort as they do in SQL: geometric types, which do not, are taken
}

type keyCol struct {
	KeyCol
	form  form
	scale int32   // of formDec64
	elem  *keyCol // of formArray, and of the bounds of formRange and formMultirange
	off   int     // offset in the key if everything before is of fixed width, else -1

	// Where the column is in a regular key, one without NULLs up to this column,
	// the column included: see regular.
	at   int   // offset of the value behind its tag, -1 if columns before differ in width
	end  int   // its end, 0 if values differ in width or at is -1
	tags []int // offsets of the tags up to the column's own
}

// KeyCodec encodes and decodes keys of a fixed list of columns. It is immutable.
type KeyCodec struct{ cols []keyCol }

// NewKeyCodec returns the codec, or a *NoOrderError.
func NewKeyCodec(cols []KeyCol) (*KeyCodec, error) {
	c := &KeyCodec{cols: make([]keyCol, len(cols))}
	off, at := 0, 0
	var tags []int
	for i, k := range cols {
		kc, err := newKeyCol(k)
		if err != nil {
			return nil, err
		}
		kc.off = off
		if at >= 0 && k.Nullable {
			tags = append(tags, at)
			at++
		}
		kc.at, kc.tags = at, tags[:len(tags):len(tags)]
		if w := int(widths[kc.form]); w > 0 && at >= 0 {
			at += w
			kc.end = at
		} else {
			at = -1
		}
		if w := int(widths[kc.form]); off >= 0 && w > 0 && !k.Nullable {
			off += w
		} else {
			off = -1
		}
		c.cols[i] = *kc
	}
	return c, nil
}

func newKeyCol(k KeyCol) (*keyCol, error) {
	kc := &keyCol{KeyCol: k, form: formOf(k.T)}
	if k.Unordered && k.T.Kind() == types.KGeometry {
		kc.form = formText
	} else if !Orderable(k.T) {
		return nil, &NoOrderError{T: k.T}
	}
	kc.scale, _ = types.NarrowScale(k.T)
	var err error
	switch kc.form {
	case formArray:
		kc.elem, err = newKeyCol(KeyCol{T: elemOf(k.T)})
	case formRange, formMultirange:
		kc.elem, err = newKeyCol(KeyCol{T: rangeElem(k.T)})
	}
	if err != nil {
		return nil, err
	}
	return kc, nil
}

// Len returns the number of columns.
func (c *KeyCodec) Len() int { return len(c.cols) }

// FixedWidth returns the number of bytes of every key, -1 if keys differ.
func (c *KeyCodec) FixedWidth() int {
	if len(c.cols) == 0 {
		return 0
	}
	last := &c.cols[len(c.cols)-1]
	w := int(widths[last.form])
	if last.off < 0 || w == 0 || last.Nullable {
		return -1
	}
	return last.off + w
}

// Offset returns where column i begins in every key, -1 if that differs.
func (c *KeyCodec) Offset(i int) int { return c.cols[i].off }

// SkipCol returns what follows a value of column i at the start of key.
func (c *KeyCodec) SkipCol(i int, key []byte) ([]byte, error) {
	n, _, err := c.cols[i].width(key)
	if err != nil {
		return nil, err
	}
	return key[n:], nil
}

// Col returns the description of a column.
func (c *KeyCodec) Col(i int) KeyCol { return c.cols[i].KeyCol }

// Append appends the key made of a row of cols, which are in key order.
func (c *KeyCodec) Append(dst []byte, cols []*vec.Vec, row int) []byte {
	for i := range c.cols {
		dst = c.cols[i].appendVec(dst, cols[i], row)
	}
	return dst
}

// AppendCol appends the value of one column.
func (c *KeyCodec) AppendCol(dst []byte, i int, d types.Datum) []byte {
	k := &c.cols[i]
	if d.Null {
		return k.appendNull(dst)
	}
	start := len(dst)
	if k.Nullable {
		dst = append(dst, tagValue)
		start++
	}
	dst = k.appendDatum(dst, &d)
	if k.Desc {
		invert(dst[start:])
	}
	return dst
}

func (k *keyCol) appendNull(dst []byte) []byte {
	if k.NullsFirst {
		return append(dst, tagNullFirst)
	}
	return append(dst, tagNullLast)
}

func (k *keyCol) appendVec(dst []byte, v *vec.Vec, row int) []byte {
	i := v.Idx(row)
	if v.Nulls.Any() && v.Nulls.Get(i) {
		return k.appendNull(dst)
	}
	start := len(dst)
	if k.Nullable {
		dst = append(dst, tagValue)
		start++
	}
	switch k.form {
	case formInt4:
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.I64[i])^1<<31)
	case formInt8:
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^1<<63)
	case formText:
		dst = appendEscaped(dst, v.B[i])
	case formDec64:
		if v.Dec == nil && v.Scale == k.scale {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^1<<63)
			break
		}
		d := v.Get(i)
		dst = k.appendDatum(dst, &d)
	default:
		d := v.Get(i)
		dst = k.appendDatum(dst, &d)
	}
	if k.Desc {
		invert(dst[start:])
	}
	return dst
}

// appendDatum appends a value that is not NULL, ascending and without a tag.
func (k *keyCol) appendDatum(dst []byte, d *types.Datum) []byte {
	switch k.form {
	case formBool:
		return append(dst, byte(d.I))
	case formInt2:
		return binary.BigEndian.AppendUint16(dst, uint16(d.I)^1<<15)
	case formInt4:
		return binary.BigEndian.AppendUint32(dst, uint32(d.I)^1<<31)
	case formInt8:
		return appendInt64(dst, d.I)
	case formOid:
		return binary.BigEndian.AppendUint32(dst, uint32(d.I))
	case formFloat4:
		return appendFloat32(dst, float32(d.F))
	case formFloat8:
		return appendFloat64(dst, d.F)
	case formDec64:
		return appendInt64(dst, decToCoef(d.Dec, k.scale))
	case formDecimal:
		return appendDecimalKey(dst, d.Dec)
	case formText:
		return appendEscaped(dst, d.B)
	case formBpchar:
		return appendEscaped(dst, bytes.TrimRight(d.B, " "))
	case formCitext:
		return appendEscaped(dst, types.AppendLower(nil, d.B))
	case formHstore:
		return appendEscaped(appendEscaped(dst, types.HstoreText(d.B)), d.B)
	case formUUID, formMacaddr:
		return appendFixed(dst, d.B, int(widths[k.form]))
	case formInterval:
		days, rest := span(d.Iv)
		return appendInt64(appendInt64(dst, days), rest)
	case formTimetz:
		return appendTimetzKey(dst, d.B)
	case formInet:
		return appendInetKey(dst, d.B)
	case formBit:
		return appendBitKey(dst, d.B)
	case formRange:
		return k.appendRange(dst, d)
	case formMultirange:
		return k.appendMultirange(dst, d)
	case formJSONB:
		return appendEscaped(dst, types.AppendJSONBKey(nil, d.B, appendDecimalKey))
	default:
		return k.appendArray(dst, *d)
	}
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func appendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63)
}

func appendInt32(dst []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(v)^1<<31)
}

// appendFixed appends exactly n bytes: b, cut or filled with zeros.
func appendFixed(dst, b []byte, n int) []byte {
	if len(b) >= n {
		return append(dst, b[:n]...)
	}
	dst = append(dst, b...)
	return append(dst, make([]byte, n-len(b))...)
}

func appendFloat32(dst []byte, f float32) []byte {
	b := math.Float32bits(f)
	switch {
	case f != f:
		b = 0x7fc00000 | 1<<31
	case f == 0:
		b = 1 << 31
	case b>>31 != 0:
		b = ^b
	default:
		b |= 1 << 31
	}
	return binary.BigEndian.AppendUint32(dst, b)
}

func appendFloat64(dst []byte, f float64) []byte {
	b := math.Float64bits(f)
	switch {
	case f != f:
		b = 0x7ff8000000000000 | 1<<63
	case f == 0:
		b = 1 << 63
	case b>>63 != 0:
		b = ^b
	default:
		b |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, b)
}

func appendEscaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, escape)
		if i < 0 {
			dst = append(dst, b...)
			return append(dst, escape, terminator)
		}
		dst = append(dst, b[:i]...)
		dst = append(dst, escape, escapedNul)
		b = b[i+1:]
	}
}

// KeyBuf holds many keys in one piece of memory that is used again.
type KeyBuf struct {
	buf  []byte
	ends []int
}

// Reset forgets the keys.
func (b *KeyBuf) Reset() { b.buf, b.ends = b.buf[:0], b.ends[:0] }

// Grow makes room for n bytes of keys.
func (b *KeyBuf) Grow(n int) { b.buf = slices.Grow(b.buf, n) }

// Cap is the memory that the keys have.
func (b *KeyBuf) Cap() int { return cap(b.buf) }

// Leave forgets the keys but leaves them their memory: they stay valid.
func (b *KeyBuf) Leave() { b.buf, b.ends = b.buf[len(b.buf):], b.ends[:0] }

// Len is the number of keys.
func (b *KeyBuf) Len() int { return len(b.ends) }

// Key returns the i-th key, valid until Reset; keys that were returned while the
// buffer was still growing stay valid too.
func (b *KeyBuf) Key(i int) []byte {
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.buf[start:b.ends[i]:b.ends[i]]
}

// Add appends what f appends as one more key.
func (b *KeyBuf) Add(f func(dst []byte) []byte) {
	b.buf = f(b.buf)
	b.ends = append(b.ends, len(b.buf))
}

// Keys appends slices of all keys to dst.
func (b *KeyBuf) Keys(dst [][]byte) [][]byte {
	start := 0
	for _, end := range b.ends {
		dst = append(dst, b.buf[start:end:end])
		start = end
	}
	return dst
}

// Words appends the keys to dst as numbers that sort as they do, if all of them are as
// long as width says; of a width of 0, which is set, as the first one. false: they are
// not, or longer than a number.
func (b *KeyBuf) Words(dst []uint64, width *int) ([]uint64, bool) {
	if len(b.ends) > 0 && *width == 0 {
		*width = b.ends[0]
	}
	w := *width
	if w == 0 || w > 8 {
		return dst, false
	}
	n, at := len(dst), 0
	for _, end := range b.ends {
		if end-at != w {
			return dst[:n], false
		}
		var v uint64
		for _, c := range b.buf[at:end] {
			v = v<<8 | uint64(c)
		}
		dst = append(dst, v)
		at = end
	}
	return dst, true
}

// AppendRows adds one key per row of cols (nil rows: 0 … n-1).
func (c *KeyCodec) AppendRows(b *KeyBuf, cols []*vec.Vec, n int, rows []uint32) {
	if rows != nil {
		for _, r := range rows {
			b.buf = c.Append(b.buf, cols, int(r))
			b.ends = append(b.ends, len(b.buf))
		}
		return
	}
	for r := range n {
		b.buf = c.Append(b.buf, cols, r)
		b.ends = append(b.ends, len(b.buf))
	}
}

// PrefixEnd returns the smallest key after all keys that begin with p, or nil if
// there is none. The result does not share memory with p.
func PrefixEnd(p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			end := append([]byte(nil), p[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// NullTag returns the tag of NULL in a nullable column.
func (c *KeyCodec) NullTag(i int) byte {
	if c.cols[i].NullsFirst {
		return tagNullFirst
	}
	return tagNullLast
}

// IsNull reports whether a key's rest, which begins with column i, has NULL there.
func (c *KeyCodec) IsNull(i int, rest []byte) bool {
	return c.cols[i].Nullable && len(rest) > 0 && rest[0] == c.NullTag(i)
}

// ValueTag is the tag before a value in a nullable column.
const ValueTag byte = tagValue

// AppendPrefix appends the first len(cols) columns of a key made of a row.
func (c *KeyCodec) AppendPrefix(dst []byte, cols []*vec.Vec, row int) []byte {
	for i, v := range cols {
		dst = c.cols[i].appendVec(dst, v, row)
	}
	return dst
}
