package types

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

func errArray(s, detail string, args ...any) error {
	e := sqlerr.New(sqlerr.InvalidTextRepresentation, `malformed array literal: "%s"`, s)
	if detail != "" {
		e.WithDetail(detail, args...)
	}
	return e
}

// parseArray reads {…} with optional bounds in front, or the blank-separated
// form of int2vector and oidvector.
func parseArray(t T, s string, o *FmtOpts) (Datum, error) {
	elem := t.ElemType()
	if t.OID == OInt2Vector || t.OID == OOidVector {
		return parseVector(t, elem, s, o)
	}
	p := arrayParser{src: s, rest: s, elem: elem, delim: ',', o: o}
	if in := Lookup(elem.OID); in != nil && in.Delim != 0 {
		p.delim = in.Delim
	}
	if err := p.parse(); err != nil {
		return Datum{}, err
	}
	return Datum{T: t, B: encodeArray(elem.OID, p.dims, p.lbs, p.elems)}, nil
}

// parseVector reads numbers with blanks between them. The numbers of an oidvector
// end where their digits do, so that a sign begins the next one.
func parseVector(t, elem T, s string, o *FmtOpts) (Datum, error) {
	vals := []int64{}
	for s = strings.TrimLeftFunc(s, isBlank); s != ""; s = strings.TrimLeftFunc(s, isBlank) {
		n := strings.IndexFunc(s, isBlank)
		if n < 0 {
			n = len(s)
		}
		if t.OID == OOidVector {
			signed := 0
			if s[0] == '-' || s[0] == '+' {
				signed = 1
			}
			if end := skipDigits(s, signed); end > signed {
				n = end
			}
		}
		e, err := parseText(elem, s[:n], o)
		switch sqlerr.CodeOf(err) {
		case sqlerr.InvalidTextRepresentation:
			return Datum{}, errSyntax(FormatTypeNoMod(elem.OID), s)
		case sqlerr.NumericValueOutOfRange:
			return Datum{}, errIntRange(s, FormatTypeNoMod(elem.OID))
		}
		if err != nil {
			return Datum{}, err
		}
		vals = append(vals, e.I)
		s = s[n:]
	}
	return NewIntVector(t, vals), nil
}

func isBlank(r rune) bool { return r < 0x80 && isSpace(byte(r)) }

type arrayParser struct {
	src, rest  string
	elem       T
	delim      byte
	o          *FmtOpts
	dims, lbs  []int
	elems      []Datum
	seenLeaf   bool
	leafLevel  int
	boundsDims []int
	elemErr    error // of the first element that its type does not read: a malformed array comes first
}

func (p *arrayParser) skipBlanks() {
	for p.rest != "" && isSpace(p.rest[0]) {
		p.rest = p.rest[1:]
	}
}

func (p *arrayParser) parse() error {
	p.skipBlanks()
	if err := p.bounds(); err != nil {
		return err
	}
	if !strings.HasPrefix(p.rest, "{") {
		if p.boundsDims != nil {
			return errArray(p.src, "Array contents must start with \"{\".")
		}
		return errArray(p.src, "Array value must start with \"{\" or dimension information.")
	}
	if err := p.level(0); err != nil {
		return err
	}
	p.skipBlanks()
	if p.rest != "" {
		return errArray(p.src, "Junk after closing right brace.")
	}
	if p.boundsDims != nil {
		if len(p.boundsDims) != len(p.dims) {
			return errArray(p.src, "Specified array dimensions do not match array contents.")
		}
		for i, n := range p.boundsDims {
			if n != p.dims[i] {
				return errArray(p.src, "Specified array dimensions do not match array contents.")
			}
		}
	}
	if p.elemErr != nil {
		return p.elemErr
	}
	if len(p.elems) == 0 {
		p.dims, p.lbs = nil, nil
		return nil
	}
	for len(p.lbs) < len(p.dims) {
		p.lbs = append(p.lbs, 1)
	}
	return CheckBounds(p.dims, p.lbs)
}

// CheckBounds refuses bounds whose end is not a number of type integer.
func CheckBounds(dims, lbs []int) error {
	for i, lb := range lbs {
		if lb+dims[i] > math.MaxInt32 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "array lower bound is too large: %d", lb)
		}
	}
	return nil
}

// bounds reads [lo:hi]… = in front of the contents.
func (p *arrayParser) bounds() error {
	for strings.HasPrefix(p.rest, "[") {
		if len(p.boundsDims) == maxArrayDims {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", maxArrayDims+1, maxArrayDims)
		}
		p.rest = p.rest[1:]
		l, h := int64(1), int64(0)
		bound, err := p.bound()
		if err != nil {
			return err
		}
		h = bound
		if strings.HasPrefix(p.rest, ":") {
			p.rest = p.rest[1:]
			l = bound
			if h, err = p.bound(); err != nil {
				return err
			}
		}
		if !strings.HasPrefix(p.rest, "]") {
			return errArray(p.src, "Missing \"%s\" after array dimensions.", "]")
		}
		if h < l {
			return sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		p.boundsDims = append(p.boundsDims, int(h-l+1))
		p.lbs = append(p.lbs, int(l))
		p.rest = p.rest[1:]
		p.skipBlanks()
	}
	if p.boundsDims == nil {
		return nil
	}
	if !strings.HasPrefix(p.rest, "=") {
		return errArray(p.src, "Missing \"%s\" after array dimensions.", "=")
	}
	p.rest = p.rest[1:]
	p.skipBlanks()
	return nil
}

// bound reads a signed number.
func (p *arrayParser) bound() (int64, error) {
	n := 0
	if p.rest != "" && (p.rest[0] == '-' || p.rest[0] == '+') {
		n++
	}
	n = skipDigits(p.rest, n)
	v, err := strconv.ParseInt(p.rest[:n], 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return 0, errArray(p.src, "\"[\" must introduce explicitly-specified array dimensions.")
	}
	p.rest = p.rest[n:]
	return int64(int32(v)), nil // as C's atoi wraps
}

// level reads one braced list at the given depth.
func (p *arrayParser) level(depth int) error {
	if depth >= maxArrayDims {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", depth+1, maxArrayDims)
	}
	p.rest = p.rest[1:]
	n := 0
	first := true
	for {
		p.skipBlanks()
		if p.rest == "" {
			return errArray(p.src, "Unexpected end of input.")
		}
		if p.rest[0] == '}' {
			if !first || depth > 0 {
				return errArray(p.src, "Unexpected \"%c\" character.", '}')
			}
			p.rest = p.rest[1:]
			break
		}
		if p.rest[0] == '{' {
			if p.seenLeaf && depth >= p.leafLevel {
				return errArray(p.src, "Unexpected \"%c\" character.", '{')
			}
			if err := p.level(depth + 1); err != nil {
				return err
			}
		} else if err := p.element(depth); err != nil {
			return err
		}
		n++
		first = false
		p.skipBlanks()
		if p.rest == "" {
			return errArray(p.src, "Unexpected end of input.")
		}
		c := p.rest[0]
		if c != p.delim && c != '}' {
			return errArray(p.src, "%s", p.unexpected())
		}
		p.rest = p.rest[1:]
		if c == '}' {
			break
		}
	}
	return p.closeLevel(depth, n)
}

// closeLevel records or checks the length of a dimension.
func (p *arrayParser) closeLevel(depth, n int) error {
	for len(p.dims) <= depth {
		p.dims = append(p.dims, -1)
	}
	if p.dims[depth] >= 0 && p.dims[depth] != n {
		return errMultiDim(p.src)
	}
	p.dims[depth] = n
	return nil
}

func errMultiDim(s string) error {
	return errArray(s, "Multidimensional arrays must have sub-arrays with matching dimensions.")
}

// unexpected says what stands where no value may begin.
func (p *arrayParser) unexpected() string {
	if p.rest[0] == '\\' {
		return "Unexpected \"\\\" character."
	}
	return "Unexpected array element."
}

// element reads one value.
func (p *arrayParser) element(depth int) error {
	if p.seenLeaf && depth < p.leafLevel {
		return errArray(p.src, "%s", p.unexpected())
	}
	p.seenLeaf, p.leafLevel = true, depth
	text, quoted, err := p.token()
	if err != nil {
		return err
	}
	if !quoted && equalFold(text, "null") && (p.o == nil || !p.o.NullText) {
		p.elems = append(p.elems, Null(p.elem))
		return nil
	}
	e, err := Parse(p.elem, text, p.o)
	if err != nil && p.elemErr == nil {
		p.elemErr = err
	}
	p.elems = append(p.elems, e)
	return nil
}

// token reads the text of an element up to its delimiter.
func (p *arrayParser) token() (text string, quoted bool, err error) {
	s := p.rest
	if s[0] == '"' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '"':
				p.rest = s[i+1:]
				return b.String(), true, nil
			case '\\':
				if i++; i == len(s) {
					return "", false, errArray(p.src, "Unexpected end of input.")
				}
			}
			b.WriteByte(s[i])
		}
		return "", false, errArray(p.src, "Unexpected end of input.")
	}
	var b []byte
	keep := 0 // length up to which blanks are kept
	i := 0
scan:
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == p.delim || c == '}':
			break scan
		case c == '{':
			return "", false, errArray(p.src, "Unexpected \"%c\" character.", c)
		case c == '"':
			return "", false, errArray(p.src, "Unexpected array element.")
		case c == '\\':
			if i++; i == len(s) {
				return "", false, errArray(p.src, "Unexpected end of input.")
			}
			b = append(b, s[i])
			keep = len(b)
			quoted = true
			continue
		}
		b = append(b, c)
		if !isSpace(c) {
			keep = len(b)
		}
	}
	if keep == 0 {
		if i == len(s) {
			return "", false, errArray(p.src, "Unexpected end of input.")
		}
		return "", false, errArray(p.src, "Unexpected \"%c\" character.", s[i])
	}
	p.rest = s[i:]
	return string(b[:keep]), quoted, nil
}

// appendArray appends the text form of an array.
func appendArray(buf []byte, d Datum, o *FmtOpts) []byte {
	var it ArrayIter
	if it.Init(d) != nil {
		return buf
	}
	if d.T.OID == OInt2Vector || d.T.OID == OOidVector {
		for i := 0; it.left > 0; i++ {
			e, ok, err := it.Next()
			if !ok || err != nil {
				break
			}
			if i > 0 {
				buf = append(buf, ' ')
			}
			buf = AppendText(buf, e, o)
		}
		return buf
	}
	if it.left == 0 {
		return append(buf, "{}"...)
	}
	delim := byte(',')
	if in := Lookup(it.Elem.OID); in != nil && in.Delim != 0 {
		delim = in.Delim
	}
	for _, lb := range it.Lbs {
		if lb != 1 {
			for i := range it.Dims {
				buf = strconv.AppendInt(append(buf, '['), int64(it.Lbs[i]), 10)
				buf = strconv.AppendInt(append(buf, ':'), int64(it.Lbs[i]+it.Dims[i]-1), 10)
				buf = append(buf, ']')
			}
			buf = append(buf, '=')
			break
		}
	}
	return appendArrayLevel(buf, &it, 0, delim, o)
}

func appendArrayLevel(buf []byte, it *ArrayIter, depth int, delim byte, o *FmtOpts) []byte {
	buf = append(buf, '{')
	for i := range it.Dims[depth] {
		if i > 0 {
			buf = append(buf, delim)
		}
		if depth+1 < len(it.Dims) {
			buf = appendArrayLevel(buf, it, depth+1, delim, o)
			continue
		}
		e, ok, err := it.Next()
		if !ok || err != nil {
			return buf
		}
		if e.Null {
			buf = append(buf, "NULL"...)
			continue
		}
		start := len(buf)
		buf = AppendText(buf, e, o)
		if needsArrayQuotes(buf[start:], delim) {
			buf = quoteElement(buf, start)
		}
	}
	return append(buf, '}')
}

func needsArrayQuotes(b []byte, delim byte) bool {
	if len(b) == 0 || len(b) == 4 && equalFold(string(b), "null") {
		return true
	}
	for _, c := range b {
		if c == '"' || c == '\\' || c == '{' || c == '}' || c == delim || isSpace(c) {
			return true
		}
	}
	return false
}

// quoteElement puts quotes around buf[start:] and escapes what is inside.
func quoteElement(buf []byte, start int) []byte {
	raw := string(buf[start:])
	buf = append(buf[:start], '"')
	for i := 0; i < len(raw); i++ {
		if raw[i] == '"' || raw[i] == '\\' {
			buf = append(buf, '\\')
		}
		buf = append(buf, raw[i])
	}
	return append(buf, '"')
}
