package codec

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// Format bytes: the first byte of every stored value.
const (
	FormatRow16   = 0x01 // row with 2-byte end offsets
	FormatRow32   = 0x02 // row with 4-byte end offsets
	FormatEntry   = 0x10 // index entry without a value: nothing follows
	FormatMaster  = 0x11 // index entry: master key
	FormatInclude = 0x12 // index entry: length of the master key as uvarint, master key, row
	FormatPosting = 0x13 // chunk of a posting list: row keys
	FormatGone    = 0x14 // a row key that is in a chunk no longer counts
	FormatHeader  = 0x15 // header of a value that is stored by elements
	FormatXML     = 0x20 // catalog fragment
	FormatCounter = 0x21 // counters and sequences
	FormatScratch = 0x22 // database and file of rows that are being copied
)

const (
	checksumLen = 4
	rowHeader   = 3 // format, number of attributes
)

// checksum covers the key and the value without its checksum.
func checksum(key, val []byte) uint32 { return uint32(xxh3.HashSeed(val, xxh3.Hash(key))) }

// seal appends the checksum to the value that starts at dst[start].
func seal(dst []byte, start int, key []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, checksum(key, dst[start:]))
}

// Open verifies a stored value and returns it without its checksum: the format
// byte and what follows. The error is an ErrCorrupt.
func Open(key, val []byte) ([]byte, error) {
	b, err := opened(val)
	if err != nil {
		return nil, err
	}
	if sum := binary.LittleEndian.Uint32(val[len(b):]); sum != checksum(key, b) {
		return nil, corrupt("checksum does not match")
	}
	return b, nil
}

// Check verifies a stored value.
func Check(key, val []byte) error {
	_, err := Open(key, val)
	return err
}

// Checksum returns the checksum of a stored value that was verified before.
func Checksum(val []byte) uint32 { return binary.LittleEndian.Uint32(val[len(val)-checksumLen:]) }

// opened is Open for a value that was verified before.
func opened(val []byte) ([]byte, error) {
	n := len(val) - checksumLen
	if n < 1 {
		return nil, corrupt("value of %d bytes", len(val))
	}
	return val[:n:n], nil
}

// RowCodec encodes and decodes rows of a fixed list of attributes. It is
// immutable.
//
// A row is: format byte, number of attributes (2 bytes), NULL bitmap, a slot per
// attribute of fixed width, an end offset per attribute of variable width, their
// bytes, checksum. Numbers are little-endian; NULL attributes keep their slot and
// an empty piece of bytes, so that every attribute's place follows from the number
// of attributes alone. A row written before attributes were added has fewer.
type RowCodec struct {
	attrs []attr
	// Prefix sums over the attributes, one longer than attrs: width of the fixed
	// section and number of variable attributes of a row with i attributes.
	fixed []int
	vars  []int
}

type attr struct {
	t     types.T
	form  form
	width int   // in the fixed section; 0 is variable
	scale int32 // of formDec64
}

// NewRowCodec returns the codec for a list of attribute types.
func NewRowCodec(ts []types.T) *RowCodec {
	c := &RowCodec{attrs: make([]attr, len(ts)), fixed: make([]int, len(ts)+1), vars: make([]int, len(ts)+1)}
	for i, t := range ts {
		a := attr{t: t, form: formOf(t)}
		a.width = int(widths[min(a.form, formBytes)])
		a.scale, _ = types.NarrowScale(t)
		c.attrs[i] = a
		c.fixed[i+1], c.vars[i+1] = c.fixed[i]+a.width, c.vars[i]
		if a.width == 0 {
			c.vars[i+1]++
		}
	}
	return c
}

// Len is the number of attributes.
func (c *RowCodec) Len() int { return len(c.attrs) }

// Append appends the stored value of a row: cols has one vector per attribute
// (nil: NULL in every row), key is the row's key.
func (c *RowCodec) Append(dst []byte, cols []*vec.Vec, row int, key []byte) []byte {
	start := len(dst)
	return seal(c.appendBody(dst, cols, row), start, key)
}

// appendBody appends a row without a checksum.
func (c *RowCodec) appendBody(dst []byte, cols []*vec.Vec, row int) []byte {
	if narrow, ok := c.appendEnds(dst, cols, row, 2); ok {
		return narrow
	}
	dst = slices.Grow(dst, c.varBytes(cols, row)+8*(len(c.attrs)+rowHeader))
	wide, _ := c.appendEnds(dst, cols, row, 4)
	return wide
}

// varBytes is how many bytes a row's values of variable width have, without numerics.
func (c *RowCodec) varBytes(cols []*vec.Vec, row int) int {
	n := 0
	for i := range c.attrs {
		a, v := &c.attrs[i], cols[i]
		if a.width == 0 && a.form != formDecimal && v != nil && !v.IsNull(row) {
			n += len(v.B[v.Idx(row)])
		}
	}
	return n
}

// appendEnds appends a row with end offsets of size bytes, 2 or 4; false when
// they are too small for it.
func (c *RowCodec) appendEnds(dst []byte, cols []*vec.Vec, row, size int) ([]byte, bool) {
	start := len(dst)
	n := len(c.attrs)
	bitmap := start + rowHeader
	fixed := bitmap + (n+7)/8
	ends := fixed + c.fixed[n]
	data := ends + size*c.vars[n]
	dst = extend(dst, data-start)
	dst[start] = FormatRow16
	if size == 4 {
		dst[start] = FormatRow32
	}
	binary.LittleEndian.PutUint16(dst[start+1:], uint16(n))
	for i := range c.attrs {
		a, v := &c.attrs[i], cols[i]
		if v == nil || v.IsNull(row) {
			dst[bitmap+i>>3] |= 1 << (i & 7)
		} else if r := v.Idx(row); a.width > 0 {
			a.putFixed(dst[fixed:], v, r)
		} else if size == 2 && a.form != formDecimal && len(v.B[r]) > math.MaxUint16 {
			return dst[:start], false // before a long value is copied in vain
		} else {
			dst = a.appendVar(dst, v, r)
		}
		fixed += a.width
		if a.width == 0 {
			end := len(dst) - data
			if size == 4 {
				binary.LittleEndian.PutUint32(dst[ends:], uint32(end))
			} else if end > math.MaxUint16 {
				return dst[:start], false
			} else {
				binary.LittleEndian.PutUint16(dst[ends:], uint16(end))
			}
			ends += size
		}
	}
	return dst, true
}

// extend appends n zero bytes.
func extend(dst []byte, n int) []byte {
	l := len(dst)
	if cap(dst)-l >= n {
		dst = dst[:l+n]
		clear(dst[l:])
		return dst
	}
	return append(dst, make([]byte, n)...)
}

// putFixed writes row r of v, which is not NULL, to the start of b.
func (a *attr) putFixed(b []byte, v *vec.Vec, r int) {
	switch a.form {
	case formBool:
		if v.Bool[r] {
			b[0] = 1
		}
	case formInt2:
		binary.LittleEndian.PutUint16(b, uint16(v.I64[r]))
	case formInt4, formOid:
		binary.LittleEndian.PutUint32(b, uint32(v.I64[r]))
	case formInt8:
		binary.LittleEndian.PutUint64(b, uint64(v.I64[r]))
	case formFloat4:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v.F64[r])))
	case formFloat8:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v.F64[r]))
	case formDec64:
		var c int64
		if v.Dec == nil && v.Scale == a.scale {
			c = v.I64[r]
		} else {
			c = decToCoef(v.Get(r).Dec, a.scale)
		}
		binary.LittleEndian.PutUint64(b, uint64(c))
	case formInterval:
		iv := v.Iv[r]
		binary.LittleEndian.PutUint64(b, uint64(iv.Micros))
		binary.LittleEndian.PutUint32(b[8:], uint32(iv.Days))
		binary.LittleEndian.PutUint32(b[12:], uint32(iv.Months))
	default: // uuid, timetz, macaddr: bytes of known length
		copy(b[:a.width], v.B[r])
	}
}

// First bytes of a numeric of variable width.
const (
	numNaN    = 0
	numPosInf = 1
	numNegInf = 2
	numSmall  = 3 // scale as uvarint, coefficient as varint
	numText   = 4 // the text form
)

// appendVar appends row r of v, which is not NULL.
func (a *attr) appendVar(dst []byte, v *vec.Vec, r int) []byte {
	if a.form != formDecimal {
		return append(dst, v.B[r]...)
	}
	d := v.Get(r).Dec
	switch {
	case d.IsNaN():
		return append(dst, numNaN)
	case d.IsInf(1):
		return append(dst, numPosInf)
	case d.IsInf(-1):
		return append(dst, numNegInf)
	}
	if c, s, ok := d.Small(); ok {
		dst = binary.AppendUvarint(append(dst, numSmall), uint64(s))
		return binary.AppendVarint(dst, c)
	}
	return d.AppendText(append(dst, numText))
}

// decodeVarDec is the inverse of appendVar for numerics.
func decodeVarDec(b []byte) (types.Decimal, error) {
	if len(b) == 0 {
		return types.Decimal{}, corrupt("empty number")
	}
	switch b[0] {
	case numNaN:
		return types.DecimalNaN, nil
	case numPosInf:
		return types.DecimalPosInf, nil
	case numNegInf:
		return types.DecimalNegInf, nil
	case numSmall:
		s, n := binary.Uvarint(b[1:])
		if n <= 0 || s > 1<<14 {
			return types.Decimal{}, corrupt("scale of a number")
		}
		c, m := binary.Varint(b[1+n:])
		if m <= 0 {
			return types.Decimal{}, corrupt("coefficient of a number")
		}
		return types.NewDecimal(c, int32(s)), nil
	case numText:
		for _, c := range b[1:] {
			if (c < '0' || c > '9') && c != '-' && c != '.' {
				return types.Decimal{}, corrupt("digit %q of a number", c)
			}
		}
		d, err := types.ParseDecimal(string(b[1:]))
		if err != nil {
			return d, corrupt("number: %v", err)
		}
		return d, nil
	}
	return types.Decimal{}, corrupt("unknown form %d of a number", b[0])
}
