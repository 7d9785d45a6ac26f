package types

import (
	"strings"

	"kvsqld/catalog/sqlerr"
)

func errRecord(s, detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, `malformed record literal: "%s"`, s).WithDetail("%s", detail)
}

// parseRecord reads (value,value…) as a value of the named composite type t: an
// empty field is NULL, quotes and backslashes protect characters.
func parseRecord(t T, s string, o *FmtOpts) (Datum, error) {
	if o.Reg == nil || t.OID == ORecord {
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	_, attrs, err := o.Reg.Attributes(t.OID)
	if err != nil {
		return Datum{}, err
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\n\r\v\f"), "(")
	if !ok {
		return Datum{}, errRecord(s, "Missing left parenthesis.")
	}
	fields := make([]Datum, len(attrs))
	for i, a := range attrs {
		if i > 0 {
			if rest, ok = strings.CutPrefix(rest, ","); !ok {
				return Datum{}, errRecord(s, "Too few columns.")
			}
		}
		text, null, after, ok := recordField(rest)
		if !ok {
			return Datum{}, errRecord(s, "Unexpected end of input.")
		}
		rest = after
		if null {
			fields[i], err = nullPart(a, o.Reg)
		} else {
			fields[i], err = parsePart(a, text, o)
		}
		if err != nil {
			return Datum{}, err
		}
	}
	if rest, ok = strings.CutPrefix(rest, ")"); !ok {
		return Datum{}, errRecord(s, "Too many columns.")
	}
	if strings.TrimLeft(rest, " \t\n\r\v\f") != "" {
		return Datum{}, errRecord(s, "Junk after right parenthesis.")
	}
	d := NewRecord(fields)
	d.T = t
	return d, nil
}

// recordField reads a field up to the comma or parenthesis that ends it.
func recordField(s string) (text string, null bool, rest string, ok bool) {
	if s != "" && (s[0] == ',' || s[0] == ')') {
		return "", true, s, true
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return "", false, "", false
			}
			b.WriteByte(s[i])
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte('"')
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ')'):
			return b.String(), false, s[i:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", false, "", false
}
