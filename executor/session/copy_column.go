package session

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/vec"
)

// copyColumn reads the fields of one column into a vector. The usual forms of
// the common types are read here without a datum; everything else, and every
// fault, is left to the types' input functions.
type copyColumn struct {
	name      string
	t         types.T // of the column
	kind      types.Kind
	utc       bool  // timestamps without a zone are UTC
	scale     int32 // of numeric(p,s), read into the narrow form
	limit     int64 // first coefficient with too many digits; 0: no narrow form
	maxChars  int   // of varchar(n); 0 is unlimited
	notNull   bool  // force_not_null
	forceNull bool
	v         *vec.Vec
	arena     vec.Arena // bytes that are no slice of the data
	read      func(t types.T, text string) (types.Datum, error)
	readBin   func(t types.T, raw []byte) (types.Datum, error)
}

// narrowDigits is the greatest precision of a numeric in the narrow form.
const narrowDigits = 18

// newCopyColumn returns the reader of a table's column.
func (s *Session) newCopyColumn(col *catalog.Column) *copyColumn {
	t := col.Type
	c := &copyColumn{name: col.Name, t: t, v: vec.New(t, 0), read: s.readText, readBin: s.readBinary}
	if t.OID < types.FirstUserOID {
		c.plainForms(s.tx.fmt)
	}
	return c
}

// plainForms decides which values of the column's built-in type are read without
// the type's input function.
func (c *copyColumn) plainForms(f *types.FmtOpts) {
	t := c.t
	c.utc = f.Loc == nil || f.Loc.String() == "UTC"
	switch k := t.Kind(); k {
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KFloat8, types.KUUID, types.KDate:
		c.kind = k
	case types.KTimestamp, types.KTimestamptz:
		if t.Mod < 0 || t.Mod >= 6 {
			c.kind = k
		}
	case types.KText:
		switch {
		case t.OID == types.OText, t.OID == types.OVarchar && t.Mod < 0:
			c.kind = k
		case t.OID == types.OVarchar:
			c.kind, c.maxChars = k, int(t.Mod)-4
		}
	case types.KNumeric:
		if t.Mod < 0 {
			c.kind = k
		} else if p, s := types.NumericMod(t.Mod); p <= narrowDigits && s >= 0 && s <= p {
			c.kind, c.scale, c.limit = k, s, int64(math.Pow10(int(p)))
		}
	}
}

// reset makes room for a batch of n rows.
func (c *copyColumn) reset(n int) {
	c.v.Reset(c.t, n)
	c.arena.Reset()
	if c.limit > 0 {
		c.v.SetNarrow(n, c.scale)
	}
}

// text reads a field in text form into a row. The value may share the field's
// bytes.
func (c *copyColumn) text(row int, f []byte) error {
	v := c.v
	switch c.kind {
	case types.KInt4, types.KInt8, types.KInt2:
		if n, ok := plainInt(f); ok && c.fits(n) {
			v.I64[row] = n
			return nil
		}
	case types.KText:
		if c.maxChars == 0 || len(f) <= c.maxChars || utf8.RuneCount(f) <= c.maxChars {
			v.B[row] = f
			return nil
		}
	case types.KFloat8:
		if plainFloat(f) {
			if x, err := strconv.ParseFloat(string(f), 64); err == nil {
				v.F64[row] = x
				return nil
			}
		}
	case types.KBool:
		if len(f) == 1 && (f[0] == 't' || f[0] == 'f') {
			v.Bool[row] = f[0] == 't'
			return nil
		}
	case types.KNumeric:
		if coef, scale, ok := plainDecimal(f); ok && c.decimal(row, coef, scale) {
			return nil
		}
	case types.KDate:
		if d, ok := plainDate(f); ok {
			v.I64[row] = d
			return nil
		}
	case types.KTimestamp:
		if ts, n, ok := plainTimestamp(f); ok && n == len(f) {
			v.I64[row] = ts
			return nil
		}
	case types.KTimestamptz:
		if ts, n, ok := plainTimestamp(f); ok {
			if z := string(f[n:]); z == "+00" || z == "" && c.utc {
				v.I64[row] = ts
				return nil
			}
		}
	case types.KUUID:
		if plainUUID(f) {
			u := readUUID(f)
			v.B[row] = c.arena.Copy(u[:])
			return nil
		}
	}
	d, err := c.read(c.t, string(f))
	if err != nil {
		return err
	}
	v.Set(row, d)
	return nil
}

// fits reports whether an integer is in the column type's range.
func (c *copyColumn) fits(n int64) bool {
	switch c.kind {
	case types.KInt2:
		return n == int64(int16(n))
	case types.KInt4:
		return n == int64(int32(n))
	}
	return true
}

// decimal stores a numeric if it needs no rounding and no check of its range.
func (c *copyColumn) decimal(row int, coef int64, scale int32) bool {
	if c.limit == 0 {
		if c.v.Narrow() {
			return false
		}
		c.v.Dec[row] = types.NewDecimal(coef, scale)
		return true
	}
	for ; scale < c.scale; scale++ {
		if coef >= c.limit || coef <= -c.limit {
			return false
		}
		coef *= 10
	}
	if scale != c.scale || coef >= c.limit || coef <= -c.limit || !c.v.Narrow() {
		return false
	}
	c.v.I64[row] = coef
	return true
}

// binary reads a field in binary form into a row. The value may share the
// field's bytes.
func (c *copyColumn) binary(row int, f []byte) error {
	v := c.v
	switch c.kind {
	case types.KInt2:
		if len(f) == 2 {
			v.I64[row] = int64(int16(binary.BigEndian.Uint16(f)))
			return nil
		}
	case types.KInt4:
		if len(f) == 4 {
			v.I64[row] = int64(int32(binary.BigEndian.Uint32(f)))
			return nil
		}
	case types.KInt8:
		if len(f) == 8 {
			v.I64[row] = int64(binary.BigEndian.Uint64(f))
			return nil
		}
	case types.KFloat8:
		if len(f) == 8 {
			v.F64[row] = math.Float64frombits(binary.BigEndian.Uint64(f))
			return nil
		}
	case types.KBool:
		if len(f) == 1 {
			v.Bool[row] = f[0] != 0
			return nil
		}
	case types.KUUID:
		if len(f) == 16 {
			v.B[row] = f
			return nil
		}
	case types.KText:
		if c.maxChars == 0 || len(f) <= c.maxChars {
			if err := charset.CheckUTF8(f); err != nil {
				return err
			}
			v.B[row] = f
			return nil
		}
	}
	d, err := c.readBin(c.t, f)
	if err != nil {
		return err
	}
	v.Set(row, d)
	return nil
}

// readBinary reads a value's binary form, of user-defined types too. The value
// may share its bytes.
func (s *Session) readBinary(t types.T, raw []byte) (types.Datum, error) {
	switch t.OID { // often, and of no user's making
	case types.OInt4, types.OInt8, types.OFloat8, types.OTimestamp, types.OTimestamptz:
		return types.ParseBinary(t, raw)
	}
	base, _ := s.snapshot().BelowDomains(t)
	if base.Kind() == types.KEnum { // whose binary form is the text form
		return s.readText(t, string(raw))
	}
	if base.User == types.KRange || base.User == types.KMultirange {
		d, err := types.ParseRangeBinary(base, raw, func(bound types.T, raw []byte) (types.Datum, error) {
			d, err := s.readBound(bound, raw)
			if err != nil {
				return d, err
			}
			return s.settings.fmt.Reg.InBounds(base, d)
		})
		d.T = t
		return d, err
	}
	if base.User == types.KArray || base.Kind() == types.KArray && base.ElemType().Kind() == types.KRecord {
		d, err := types.ParseArrayBinary(base, raw, s.readBound)
		d.T = t
		return d, err
	}
	if base.Kind() == types.KRecord {
		d, err := types.ParseRecordBinary(base, raw, s.settings.fmt.Reg, s.readBinary)
		d.T = t
		return d, err
	}
	d, err := types.ParseBinary(base, raw)
	d.T = t
	return d, err
}

// readBound reads the binary form of a range's bound or an array's element, whose type may be known by its
// OID alone.
func (s *Session) readBound(t types.T, raw []byte) (types.Datum, error) {
	if full, ok := s.snapshot().T(t.OID, t.Mod); ok {
		t = full
	}
	return s.readBinary(t, raw)
}
