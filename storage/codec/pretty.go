package codec

import (
	"encoding/hex"
	"strconv"
	"strings"

	"kvsqld/catalog/types"
)

// AppendPretty appends a value as people read it: numbers as they are, strings
// in quotes, NULL.
func AppendPretty(dst []byte, d types.Datum) []byte {
	if d.Null {
		return append(dst, "NULL"...)
	}
	switch d.T.Kind() {
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KFloat4, types.KFloat8, types.KNumeric:
		return types.AppendText(dst, d, types.DefaultFmt)
	case types.KText, types.KCitext:
		return strconv.AppendQuote(dst, string(d.B))
	case types.KEnum:
		return strconv.AppendQuote(dst, string(types.EnumLabel(d.B)))
	}
	dst = append(dst, '\'')
	dst = types.AppendText(dst, d, types.DefaultFmt)
	return append(dst, '\'')
}

// Pretty returns a key as /value/value…; what follows the codec's columns, or
// cannot be decoded, is shown in hexadecimal digits.
func (c *KeyCodec) Pretty(key []byte) string {
	var out []byte
	out, rest := c.AppendPretty(out, key)
	if len(rest) > 0 {
		out = append(append(out, "/0x"...), hex.EncodeToString(rest)...)
	}
	return string(out)
}

// AppendPretty appends the columns that can be decoded and returns the rest.
func (c *KeyCodec) AppendPretty(dst, key []byte) (out, rest []byte) {
	for i := range c.cols {
		d, after, err := c.cols[i].decode(key)
		if err != nil {
			return dst, key
		}
		dst = AppendPretty(append(dst, '/'), d)
		key = after
	}
	return dst, key
}

// Pretty returns a stored row as (name=value, …) with the given names ("" leaves
// the attribute out), or a note of what is wrong with it.
func (c *RowCodec) Pretty(key, val []byte, names []string) string {
	row, err := Open(key, val)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return c.pretty(row, names)
}

func (c *RowCodec) pretty(row []byte, names []string) string {
	var b strings.Builder
	b.WriteByte('(')
	for a := range c.attrs {
		if names[a] == "" {
			continue
		}
		d, ok, err := c.attrOf(row, a)
		if err != nil {
			return "<" + err.Error() + ">"
		}
		if !ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(names[a])
		b.WriteByte('=')
		b.Write(AppendPretty(nil, d))
	}
	b.WriteByte(')')
	return b.String()
}

// PrettyInclude returns the included columns of an index entry as Pretty does.
func (c *RowCodec) PrettyInclude(e Entry, names []string) string { return c.pretty(e.Include, names) }
