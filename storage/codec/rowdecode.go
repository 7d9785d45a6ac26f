package codec

import (
	"encoding/binary"
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// place says where the parts of a row with n attributes are.
type place struct {
	n     int // attributes in the row
	fixed int // start of the fixed section
	ends  int // start of the end offsets
	data  int // start of the variable bytes
	wide  bool
}

// place returns where a row's parts are, verifying that it is long enough. The
// row is without its checksum.
func (c *RowCodec) place(row []byte) (place, error) {
	if len(row) < rowHeader {
		return place{}, corrupt("row of %d bytes", len(row))
	}
	p := place{n: int(binary.LittleEndian.Uint16(row[1:]))}
	if p.n > len(c.attrs) {
		return place{}, corrupt("row of %d attributes where %d are known", p.n, len(c.attrs))
	}
	p.fixed = rowHeader + (p.n+7)/8
	p.ends = p.fixed + c.fixed[p.n]
	switch row[0] {
	case FormatRow16:
		p.data = p.ends + 2*c.vars[p.n]
	case FormatRow32:
		p.data, p.wide = p.ends+4*c.vars[p.n], true
	default:
		return place{}, corrupt("unknown row format %#x", row[0])
	}
	if p.data > len(row) {
		return place{}, corrupt("row of %d bytes is too short for %d attributes", len(row), p.n)
	}
	return p, nil
}

// variable returns the bytes of the i-th variable attribute.
func (p *place) variable(row []byte, i int) ([]byte, error) {
	start, end := 0, 0
	if p.wide {
		end = int(binary.LittleEndian.Uint32(row[p.ends+4*i:]))
		if i > 0 {
			start = int(binary.LittleEndian.Uint32(row[p.ends+4*i-4:]))
		}
	} else {
		end = int(binary.LittleEndian.Uint16(row[p.ends+2*i:]))
		if i > 0 {
			start = int(binary.LittleEndian.Uint16(row[p.ends+2*i-2:]))
		}
	}
	data := row[p.data:]
	if start > end || end > len(data) {
		return nil, corrupt("attribute from %d to %d of %d bytes", start, end, len(data))
	}
	return data[start:end:end], nil
}

func isNull(row []byte, a int) bool { return row[rowHeader+a>>3]&(1<<(a&7)) != 0 }

// Rows is a set of verified rows of one codec, ready to be decoded column by
// column. It is reused for set after set.
type Rows struct {
	vals    [][]byte // without checksums
	most    int      // the most rows since Reset
	uniform bool     // all rows have all attributes and 2-byte offsets
}

// Reset forgets the rows and keeps the memory for the next ones.
func (r *Rows) Reset() {
	clear(r.vals[:min(r.most, cap(r.vals))])
	r.vals, r.most = r.vals[:0], 0
}

// Load verifies checksums and shapes of vals, which are stored under keys. On an
// error the number of the faulty row is returned with it.
func (c *RowCodec) Load(r *Rows, keys, vals [][]byte) (bad int, err error) {
	for i, val := range vals {
		if err := Check(keys[i], val); err != nil {
			return i, err
		}
	}
	return c.LoadChecked(r, vals)
}

// LoadChecked is Load for values whose checksums were verified before.
func (c *RowCodec) LoadChecked(r *Rows, vals [][]byte) (bad int, err error) {
	r.vals, r.most = slices.Grow(r.vals[:0], len(vals))[:len(vals)], max(r.most, len(vals))
	r.uniform = true
	all := len(c.attrs)
	least := rowHeader + (all+7)/8 + c.fixed[all] + 2*c.vars[all]
	head := uint32(FormatRow16) | uint32(all)<<8
	for i, val := range vals {
		if n := len(val) - checksumLen; n >= least && n > rowHeader && binary.LittleEndian.Uint32(val)&0xffffff == head {
			r.vals[i] = val[:n:n]
			continue
		}
		row, err := opened(val)
		if err != nil {
			return i, err
		}
		r.vals[i] = row
		if len(row) >= least && row[0] == FormatRow16 && int(binary.LittleEndian.Uint16(row[1:])) == all {
			continue
		}
		r.uniform = false
		if _, err := c.place(row); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// Column decodes attribute a of all rows into rows base … of v, which is of the
// attribute's type, has room and no NULLs there. A narrow numeric is decoded into
// a narrow vector (see ResetVec). Rows that are older than the attribute get
// missing. Byte values alias the rows.
func (c *RowCodec) Column(r *Rows, a int, missing types.Datum, v *vec.Vec, base int) error {
	if !r.uniform {
		return c.columnMixed(r, a, missing, v, base)
	}
	at := &c.attrs[a]
	off := rowHeader + (len(c.attrs)+7)/8 + c.fixed[a]
	byteOff, bit := rowHeader+a>>3, byte(1)<<(a&7)
	vals := r.vals
	for i, row := range vals {
		if row[byteOff]&bit != 0 {
			v.Nulls.Set(base + i)
		}
	}
	switch at.form {
	case formBool:
		out := v.Bool[base:][:len(vals)]
		for i, row := range vals {
			out[i] = row[off] != 0
		}
	case formInt2:
		out := v.I64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = int64(int16(binary.LittleEndian.Uint16(row[off:])))
		}
	case formInt4:
		out := v.I64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = int64(int32(binary.LittleEndian.Uint32(row[off:])))
		}
	case formOid:
		out := v.I64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = int64(binary.LittleEndian.Uint32(row[off:]))
		}
	case formInt8:
		out := v.I64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = int64(binary.LittleEndian.Uint64(row[off:]))
		}
	case formFloat4:
		out := v.F64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(row[off:])))
		}
	case formFloat8:
		out := v.F64[base:][:len(vals)]
		for i, row := range vals {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(row[off:]))
		}
	case formDec64:
		if !v.Narrow() {
			return c.columnMixed(r, a, missing, v, base)
		}
		out := v.I64[base:][:len(vals)]
		var special bool
		for i, row := range vals {
			out[i] = int64(binary.LittleEndian.Uint64(row[off:]))
			special = special || out[i] == decNaN64
		}
		if special {
			return c.columnMixed(r, a, missing, v, base)
		}
	case formText, formBpchar, formCitext, formHstore, formBytes, formInet, formBit, formArray, formRange, formMultirange, formJSONB:
		return c.columnBytes(r, a, v, base)
	default:
		return c.columnMixed(r, a, missing, v, base)
	}
	return nil
}

// columnBytes decodes a variable attribute of uniform rows.
func (c *RowCodec) columnBytes(r *Rows, a int, v *vec.Vec, base int) error {
	n := len(c.attrs)
	nth := c.vars[a]
	ends := rowHeader + (n+7)/8 + c.fixed[n]
	data := ends + 2*c.vars[n]
	off := ends + 2*nth
	out := v.B[base:][:len(r.vals)]
	for i, row := range r.vals {
		start, end := 0, data+int(binary.LittleEndian.Uint16(row[off:]))
		if nth > 0 {
			start = int(binary.LittleEndian.Uint16(row[off-2:]))
		}
		start += data
		if start > end || end > len(row) {
			return corrupt("attribute from %d to %d of a row of %d bytes", start, end, len(row))
		}
		out[i] = row[start:end:end]
	}
	return nil
}

// columnMixed decodes an attribute of any rows.
func (c *RowCodec) columnMixed(r *Rows, a int, missing types.Datum, v *vec.Vec, base int) error {
	for i, row := range r.vals {
		d, ok, err := c.attrOf(row, a)
		if err != nil {
			return err
		}
		if !ok {
			d = missing
			d.T = c.attrs[a].t
		}
		v.Set(base+i, d)
	}
	return nil
}

// Attr returns one attribute of a stored row (with its checksum, which is not
// verified); false when the row is older than the attribute.
func (c *RowCodec) Attr(val []byte, a int) (types.Datum, bool, error) {
	if len(val) < checksumLen {
		return types.Datum{}, false, corrupt("value of %d bytes", len(val))
	}
	return c.attrOf(val[:len(val)-checksumLen], a)
}

func (c *RowCodec) attrOf(row []byte, a int) (types.Datum, bool, error) {
	at := &c.attrs[a]
	d := types.Datum{T: at.t}
	p, err := c.place(row)
	if err != nil || a >= p.n {
		return d, false, err
	}
	if isNull(row, a) {
		d.Null = true
		return d, true, nil
	}
	if at.width == 0 {
		b, err := p.variable(row, c.vars[a])
		if err != nil {
			return d, false, err
		}
		if at.form == formDecimal {
			d.Dec, err = decodeVarDec(b)
		} else {
			d.B = b
		}
		return d, true, err
	}
	at.getFixed(&d, row[p.fixed+c.fixed[a]:])
	return d, true, nil
}

func (a *attr) getFixed(d *types.Datum, b []byte) {
	switch a.form {
	case formBool:
		if b[0] != 0 {
			d.I = 1
		}
	case formInt2:
		d.I = int64(int16(binary.LittleEndian.Uint16(b)))
	case formInt4:
		d.I = int64(int32(binary.LittleEndian.Uint32(b)))
	case formOid:
		d.I = int64(binary.LittleEndian.Uint32(b))
	case formInt8:
		d.I = int64(binary.LittleEndian.Uint64(b))
	case formFloat4:
		d.F = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case formFloat8:
		d.F = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case formDec64:
		d.Dec = coefToDec(int64(binary.LittleEndian.Uint64(b)), a.scale)
	case formInterval:
		d.Iv = types.Interval{
			Micros: int64(binary.LittleEndian.Uint64(b)),
			Days:   int32(binary.LittleEndian.Uint32(b[8:])),
			Months: int32(binary.LittleEndian.Uint32(b[12:])),
		}
	default:
		d.B = b[:a.width:a.width]
	}
}

// ResetVec prepares v for n rows of type t as decoders fill it: numerics that
// are stored as an int64 in the narrow form, everything else as vec.Vec.Reset.
func ResetVec(v *vec.Vec, t types.T, n int) {
	if s, ok := types.NarrowScale(t); ok {
		v.T, v.Const = t, false
		v.Nulls.Clear()
		v.SetNarrow(n, s)
		return
	}
	v.Reset(t, n)
}

// NewVec returns a vector prepared by ResetVec.
func NewVec(t types.T, n int) *vec.Vec {
	v := new(vec.Vec)
	ResetVec(v, t, n)
	return v
}
