package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// castText is a value cast to text, which differs from its output for booleans and
// character(n).
func castText(env *Env, d types.Datum) []byte {
	switch {
	case d.T.Kind() == types.KBool && d.I != 0:
		return []byte("true")
	case d.T.Kind() == types.KBool:
		return []byte("false")
	case d.T.OID == types.OBpchar:
		return bytes.TrimRight(d.B, " ")
	}
	return appendText(env, nil, d)
}

func concatFuncs(r *registry) {
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		args, err := spread(c, a, 0)
		if err != nil || args == nil {
			return null, err
		}
		out := c.buf[:0]
		for _, d := range args {
			if !d.Null {
				out = appendText(c.env, out, d)
			}
		}
		return textDatum(c.keep(out)), nil
	}), "text_concat")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return null, nil
		}
		args, err := spread(c, a, 1)
		if err != nil || args == nil {
			return null, err
		}
		out, first := c.buf[:0], true
		for _, d := range args {
			if d.Null {
				continue
			}
			if !first {
				out = append(out, a[0].B...)
			}
			first = false
			out = appendText(c.env, out, d)
		}
		return textDatum(c.keep(out)), nil
	}), "text_concat_ws")
	r.add(fnD(format), "text_format", "text_format_nv")
	join := fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		out := appendText(c.env, c.buf[:0], a[0])
		return textDatum(c.keep(appendText(c.env, out, a[1]))), nil
	})
	r.add(join, "select $1 operator(pg_catalog.||) $2::pg_catalog.text", "select $1::pg_catalog.text operator(pg_catalog.||) $2")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) { return c.keep(appendIdent(c.buf[:0], a)), nil }), "quote_ident")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) { return c.keep(appendLiteral(c.buf[:0], a)), nil }), "quote_literal")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			if c.call.Proc.Strict {
				return null, nil
			}
			return types.Text("NULL"), nil
		}
		return textDatum(c.keep(appendLiteral(c.buf[:0], a[0].B))), nil
	}), "quote_nullable")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return textDatum(c.keep(appendLiteral(c.buf[:0], castText(c.env, a[0])))), nil
	}), "select pg_catalog.quote_literal($1::pg_catalog.text)")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.Text("NULL"), nil
		}
		return textDatum(c.keep(appendLiteral(c.buf[:0], castText(c.env, a[0])))), nil
	}), "select pg_catalog.quote_nullable($1::pg_catalog.text)")
	r.add(fnD(textToArray), "text_to_array", "text_to_array_null")
	r.addSet(rowsSet(func(c *callCtx, a []types.Datum) ([][]types.Datum, error) {
		parts, err := splitText(c, a)
		return column1(parts), err
	}), "text_to_table", "text_to_table_null")
	r.add(fnD(arrayToText), "array_to_text", "array_to_text_null")
	r.add(fnD(parseIdent), "parse_ident")
	r.add(fn2(func(c *callCtx, name []byte, oid int64) ([]byte, error) {
		suffix := "_" + string(types.AppendText(nil, types.Int(types.TOid, oid), c.env.Fmt))
		head := name
		for len(head)+len(suffix) > nameLen {
			_, w := utf8.DecodeLastRune(head)
			head = head[:len(head)-w]
		}
		return c.keep(append(append(c.buf[:0], head...), suffix...)), nil
	}), "nameconcatoid")
}

// spread gives the variadic arguments from position k on; those of a NULL array
// given with VARIADIC are nil.
func spread(c *callCtx, a []types.Datum, k int) ([]types.Datum, error) {
	if !c.call.VariadicArr || len(a) <= k { // format(VARIADIC 'x') has nothing to spread
		return a[k:], nil
	}
	last := a[len(a)-1]
	if last.Null {
		return nil, nil
	}
	p, err := partsOf(last)
	out := append(make([]types.Datum, 0, len(a)-1-k+len(p.elems)), a[k:len(a)-1]...)
	return append(out, p.elems...), err
}

// appendIdent quotes a name where SQL needs it.
func appendIdent(out, name []byte) []byte {
	plain := len(name) > 0 && (name[0] == '_' || name[0] >= 'a' && name[0] <= 'z')
	for _, c := range name {
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}
	if plain && !quotedKeywords[string(name)] {
		return append(out, name...)
	}
	out = append(out, '"')
	for _, c := range name {
		if c == '"' {
			out = append(out, '"')
		}
		out = append(out, c)
	}
	return append(out, '"')
}

func appendLiteral(out, s []byte) []byte {
	if strings.IndexByte(string(s), '\\') >= 0 {
		out = append(out, 'E')
	}
	out = append(out, '\'')
	for _, c := range s {
		if c == '\'' || c == '\\' {
			out = append(out, c)
		}
		out = append(out, c)
	}
	return append(out, '\'')
}

// format is format(): %[position$][flags][width]type.
func format(c *callCtx, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return null, nil
	}
	args, err := spread(c, a, 1)
	if err != nil {
		return null, err
	}
	f, out, next := a[0].B, c.buf[:0], 0
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			out = append(out, f[i])
			continue
		}
		i++
		if i < len(f) && f[i] == '%' {
			out = append(out, '%')
			continue
		}
		spec, n, err := parseFormatSpec(f[i:])
		if err != nil {
			return null, err
		}
		i += n
		if spec.widthArg >= 0 {
			d, err := formatArg(args, spec.widthArg, &next)
			if err != nil {
				return null, err
			}
			if !d.Null {
				w := d.I
				if d.T.Rep() != types.RepInt {
					p, err := types.Parse(types.TInt4, string(appendText(c.env, nil, d)), c.env.Fmt)
					if err != nil {
						return null, err
					}
					w = p.I
				}
				if spec.width = int(w); spec.width < 0 {
					spec.left, spec.width = true, -spec.width
				}
			}
		}
		d, err := formatArg(args, spec.arg, &next)
		if err != nil {
			return null, err
		}
		text, err := formatValue(c, spec.verb, d)
		if err != nil {
			return null, err
		}
		blanks := max(spec.width-utf8.RuneCount(text), 0)
		if need := int64(len(out) + len(text) + blanks); need >= largeValue && need > int64(cap(out)) {
			more, err := c.text(need)
			if err != nil {
				return null, err
			}
			out = append(more, out...)
		}
		if spec.left {
			out = append(out, text...)
		}
		for range blanks {
			out = append(out, ' ')
		}
		if !spec.left {
			out = append(out, text...)
		}
	}
	return textDatum(c.keep(out)), nil
}

// formatSpec is one conversion; arguments count from 1, 0 is the next one, and
// widthArg -1 means that the width is not an argument.
type formatSpec struct {
	arg, width, widthArg int
	left                 bool
	verb                 byte
}

// parseFormatSpec reads what follows a % and returns the offset of its last byte.
func parseFormatSpec(f []byte) (s formatSpec, n int, err error) {
	s.widthArg = -1
	at := 0
	number := func() (int, bool, error) {
		v, from := 0, at
		for at < len(f) && f[at] >= '0' && f[at] <= '9' {
			if v = v*10 + int(f[at]-'0'); v > 1<<31-1 {
				return 0, false, sqlerr.New(sqlerr.NumericValueOutOfRange, "number is out of range")
			}
			at++
		}
		return v, at > from, nil
	}
	short := func() error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unterminated format() type specifier").
			WithHint(`For a single "%%" use "%%%%".`)
	}
	zero := func() error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
	}
	v, ok, err := number()
	if err != nil {
		return s, 0, err
	}
	if ok && at < len(f) && f[at] == '$' {
		if v == 0 {
			return s, 0, zero()
		}
		s.arg, at = v, at+1
		v, ok = 0, false
	} else if ok {
		s.width = v
	}
	if !ok {
		for at < len(f) && f[at] == '-' {
			s.left = true
			at++
		}
		if at < len(f) && f[at] == '*' {
			at++
			s.widthArg = 0
			if v, ok, err = number(); err != nil {
				return s, 0, err
			}
			if ok {
				if at >= len(f) || f[at] != '$' {
					return s, 0, sqlerr.New(sqlerr.InvalidParameterValue, "width argument position must be ended by \"$\"")
				}
				if v == 0 {
					return s, 0, zero()
				}
				s.widthArg, at = v, at+1
			}
		} else if v, ok, err = number(); err != nil {
			return s, 0, err
		} else if ok {
			s.width = v
		}
	}
	if at >= len(f) {
		return s, 0, short()
	}
	s.verb = f[at]
	if s.verb != 's' && s.verb != 'I' && s.verb != 'L' {
		_, w := utf8.DecodeRune(f[at:])
		return s, 0, sqlerr.New(sqlerr.InvalidParameterValue, `unrecognized format() type specifier "%s"`, f[at:at+w]).
			WithHint(`For a single "%%" use "%%%%".`)
	}
	return s, at, nil
}

func formatArg(args []types.Datum, k int, next *int) (types.Datum, error) {
	if k == 0 {
		*next++
		k = *next
	} else {
		*next = k
	}
	if k > len(args) {
		return null, sqlerr.New(sqlerr.InvalidParameterValue, "too few arguments for format()")
	}
	return args[k-1], nil
}

func formatValue(c *callCtx, verb byte, d types.Datum) ([]byte, error) {
	if d.Null {
		switch verb {
		case 'I':
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
		case 'L':
			return []byte("NULL"), nil
		}
		return nil, nil
	}
	text := appendText(c.env, nil, d)
	switch verb {
	case 'I':
		return appendIdent(nil, text), nil
	case 'L':
		return appendLiteral(nil, text), nil
	}
	return text, nil
}

// splitText is string_to_array and string_to_table: a NULL separator splits
// into characters, an empty one does not split.
func splitText(c *callCtx, a []types.Datum) ([]types.Datum, error) {
	s := string(a[0].B)
	var parts []string
	switch {
	case a[0].Null || s == "":
		return nil, nil
	case a[1].Null:
		if err := c.room(int64(len(s)) * 2 * datumBytes); err != nil {
			return nil, err
		}
		for _, r := range s {
			parts = append(parts, string(r))
		}
	case len(a[1].B) == 0:
		parts = []string{s}
	default:
		if err := c.room(int64(strings.Count(s, string(a[1].B))+1) * 2 * datumBytes); err != nil {
			return nil, err
		}
		parts = strings.Split(s, string(a[1].B))
	}
	out := make([]types.Datum, len(parts))
	for i, p := range parts {
		if len(a) > 2 && !a[2].Null && p == string(a[2].B) {
			out[i] = types.Null(types.TText)
		} else {
			out[i] = types.Text(p)
		}
	}
	return out, nil
}

func textToArray(c *callCtx, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return null, nil
	}
	parts, err := splitText(c, a)
	return vector(types.TText, parts), err
}

func arrayToText(c *callCtx, a []types.Datum) (types.Datum, error) {
	if a[0].Null || a[1].Null {
		return null, nil
	}
	it, _, err := c.iter(a[0])
	if err != nil {
		return null, err
	}
	out, first := c.buf[:0], true
	for {
		d, ok, err := it.Next()
		if err != nil {
			return null, err
		}
		if !ok {
			break
		}
		if d.Null && (len(a) < 3 || a[2].Null) {
			continue
		}
		if !first {
			out = append(out, a[1].B...)
		}
		first = false
		if d.Null {
			out = append(out, a[2].B...)
		} else {
			out = appendText(c.env, out, d)
		}
	}
	return textDatum(c.keep(out)), nil
}

// parseIdent splits a qualified name into its parts.
func parseIdent(_ *callCtx, a []types.Datum) (types.Datum, error) {
	s, strict := string(a[0].B), len(a) < 2 || a[1].I != 0
	whole := s
	bad := func(detail string) error {
		e := sqlerr.New(sqlerr.InvalidParameterValue, `string is not a valid identifier: "%s"`, whole)
		e.Detail = detail
		return e
	}
	var parts []types.Datum
	for s = strings.TrimLeft(s, " \t\n\r\f\v"); ; {
		switch {
		case strings.HasPrefix(s, `"`):
			var b strings.Builder
			rest, closed := s[1:], false
			for rest != "" {
				if rest[0] == '"' {
					if !strings.HasPrefix(rest, `""`) {
						rest, closed = rest[1:], true
						break
					}
					rest = rest[1:]
				}
				b.WriteByte(rest[0])
				rest = rest[1:]
			}
			if !closed {
				return null, bad("String has unclosed double quotes.")
			}
			if b.Len() == 0 {
				return null, bad("Quoted identifier must not be empty.")
			}
			parts, s = append(parts, types.Text(b.String())), rest
		default:
			n := 0
			for n < len(s) && (s[n] == '_' || s[n] >= 0x80 || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' ||
				n > 0 && (s[n] == '$' || s[n] >= '0' && s[n] <= '9')) {
				n++
			}
			if n == 0 {
				switch {
				case strings.HasPrefix(s, "."):
					return null, bad(`No valid identifier before ".".`)
				case len(parts) > 0:
					return null, bad(`No valid identifier after ".".`)
				}
				return null, bad("")
			}
			parts, s = append(parts, textDatum(types.AppendLower(nil, []byte(s[:n])))), s[n:]
		}
		s = strings.TrimLeft(s, " \t\n\r\f\v")
		if !strings.HasPrefix(s, ".") {
			break
		}
		s = strings.TrimLeft(s[1:], " \t\n\r\f\v")
	}
	if s != "" && strict {
		return null, bad("")
	}
	return textArray(parts), nil
}
