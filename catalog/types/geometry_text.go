package types

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/plane"
)

// geometryText reads the text of a value of a geometric type from left to right. The
// first fault stays.
type geometryText struct {
	typ  string
	src  string
	rest string
	err  error
}

func (g *geometryText) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *geometryText) syntax() { g.fail(errSyntax(g.typ, g.src)) }

func (g *geometryText) space() {
	for g.rest != "" && isSpace(g.rest[0]) {
		g.rest = g.rest[1:]
	}
}

// next reports what comes next; 0 at the end.
func (g *geometryText) next() byte {
	if g.rest == "" {
		return 0
	}
	return g.rest[0]
}

// take skips a byte if it comes next.
func (g *geometryText) take(c byte) bool {
	if g.next() != c || g.rest == "" {
		return false
	}
	g.rest = g.rest[1:]
	return true
}

// need skips a byte that must come next.
func (g *geometryText) need(c byte) {
	if !g.take(c) {
		g.syntax()
	}
}

func (g *geometryText) end() {
	if g.rest != "" {
		g.syntax()
	}
}

// number reads a number and the white space around it: as much as is one.
func (g *geometryText) number() float64 {
	if g.err != nil {
		return 0
	}
	g.space()
	n := floatPrefix(g.rest)
	if n == 0 {
		g.syntax()
		return 0
	}
	f, err := parseFloat(g.rest[:n], "double precision", 64)
	if err != nil {
		g.fail(err)
	}
	g.rest = g.rest[n:]
	g.space()
	return f
}

// floatPrefix is the length of the longest number that s begins with, as strtod
// finds it.
func floatPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for _, word := range []string{"infinity", "inf", "nan"} {
		if len(s)-i >= len(word) && equalFold(s[i:i+len(word)], word) {
			return i + len(word)
		}
	}
	digit, exponent := isDigit, byte('e')
	start := i
	if i+2 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' {
		if _, hex := HexDigit(s[i+2]); hex || s[i+2] == '.' {
			digit, exponent = func(c byte) bool { _, ok := HexDigit(c); return ok }, 'p'
			i += 2
		}
	}
	n := 0
	for ; i < len(s) && digit(s[i]); i++ {
		n++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && digit(s[i]); i++ {
			n++
		}
	}
	if n == 0 {
		if exponent == 'p' {
			return start + 1 // the zero before the x
		}
		return 0
	}
	if i < len(s) && s[i]|0x20 == exponent {
		k := i + 1
		if k < len(s) && (s[k] == '-' || s[k] == '+') {
			k++
		}
		if k < len(s) && isDigit(s[k]) {
			for i = k; i < len(s) && isDigit(s[i]); i++ {
			}
		}
	}
	return i
}

// point reads (x,y) or x,y.
func (g *geometryText) point() plane.Point {
	g.space()
	wrapped := g.take('(')
	x := g.number()
	g.need(',')
	y := g.number()
	if wrapped {
		g.need(')')
		g.space()
	}
	return plane.Point{X: x, Y: y}
}

// points reads n points, wrapped as a whole in brackets (if they may be) or in
// parentheses or not at all.
func (g *geometryText) points(n int, brackets bool) (ps []plane.Point, open bool) {
	g.space()
	depth := 0
	switch {
	case g.next() == '[':
		if !brackets {
			g.syntax()
			return nil, false
		}
		g.take('[')
		depth, open = 1, true
	case g.next() == '(':
		inner := strings.TrimLeft(g.rest[1:], " \t\n\v\f\r")
		// A parenthesis that stands alone is around all numbers, not around a point.
		if strings.HasPrefix(inner, "(") || strings.LastIndexByte(g.rest, '(') == 0 {
			depth, g.rest = 1, inner
		}
	}
	for i := 0; i < n && g.err == nil; i++ {
		ps = append(ps, g.point())
		g.take(',')
	}
	for ; depth > 0 && g.err == nil; depth-- {
		if !g.take(')') && !(open && depth == 1 && g.take(']')) {
			g.syntax()
		}
		g.space()
	}
	return ps, open
}

// corners is how many points a text has whose commas part coordinates; 0 if they are
// no pairs.
func corners(s string) int {
	n := strings.Count(s, ",")
	if n%2 == 0 {
		return 0
	}
	return (n + 1) / 2
}

// parseGeometry reads a value of a geometric type.
func parseGeometry(o OID, s string) ([]byte, error) {
	g := &geometryText{typ: Lookup(o).Name, src: s, rest: s}
	var d Datum
	switch o {
	case OPoint:
		p := g.point()
		g.end()
		d = PointDatum(p)
	case OLseg:
		if ps, _ := g.points(2, true); g.err == nil {
			g.end()
			d = LsegDatum(plane.Lseg{ps[0], ps[1]})
		}
	case OBox:
		if ps, _ := g.points(2, false); g.err == nil {
			g.end()
			d = BoxDatum(plane.NewBox(ps[1], ps[0]))
		}
	case OLine:
		d = LineDatum(g.line())
	case OCircle:
		d = CircleDatum(g.circle())
	case OPath:
		d = PathDatum(g.path())
	case OPolygon:
		n := corners(s)
		if n == 0 {
			g.syntax()
			break
		}
		if ps, _ := g.points(n, false); g.err == nil {
			g.end()
			d = PolygonDatum(ps)
		}
	}
	return d.B, g.err
}

// line reads {A,B,C} or two points.
func (g *geometryText) line() (l plane.Line) {
	g.space()
	if g.take('{') {
		l.A = g.number()
		g.need(',')
		l.B = g.number()
		g.need(',')
		l.C = g.number()
		g.need('}')
		g.space()
		g.end()
		if plane.Zero(l.A) && plane.Zero(l.B) {
			g.fail(sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid line specification: A and B cannot both be zero"))
		}
		return l
	}
	ps, _ := g.points(2, true)
	if g.err != nil {
		return l
	}
	g.end()
	if ps[0].Equal(ps[1]) {
		g.fail(sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid line specification: must be two distinct points"))
	}
	var c plane.Calc
	l = c.LineAt(ps[0], c.Slope(ps[0], ps[1]))
	if err := c.Err(); err != nil {
		g.fail(err)
	}
	return l
}

// circle reads <(x,y),r>, ((x,y),r), (x,y),r or x,y,r.
func (g *geometryText) circle() (k plane.Circle) {
	g.space()
	wrapped, angle := false, g.take('<')
	if !angle && g.next() == '(' {
		if inner := strings.TrimLeft(g.rest[1:], " \t\n\v\f\r"); strings.HasPrefix(inner, "(") {
			wrapped, g.rest = true, inner
		}
	}
	k.Center = g.point()
	g.take(',')
	k.Radius = g.number()
	if k.Radius < 0 {
		g.syntax()
	}
	if wrapped || angle {
		if !g.take(')') && !g.take('>') {
			g.syntax()
		}
		g.space()
	}
	g.end()
	return k
}

// path reads [(x,y),…], ((x,y),…), (x,y),…, (x,y,…) or x,y,…
func (g *geometryText) path() (p plane.Path) {
	n := corners(g.src)
	if n == 0 {
		g.syntax()
		return p
	}
	g.space()
	wrapped := g.next() == '(' && strings.LastIndexByte(g.rest, '(') == 0 && g.take('(')
	ps, open := g.points(n, true)
	if wrapped {
		g.need(')')
		g.space()
	}
	g.end()
	return plane.Path{Closed: !open, Points: ps}
}

// appendGeometry appends the text form.
func appendGeometry(buf []byte, d Datum, o *FmtOpts) []byte {
	number := func(f float64) { buf = appendFloat(buf, f, 64, o.ExtraFloatDigits) }
	points := func(ps ...plane.Point) {
		for i, p := range ps {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = append(buf, '(')
			number(p.X)
			buf = append(buf, ',')
			number(p.Y)
			buf = append(buf, ')')
		}
	}
	around := func(left, right byte, ps []plane.Point) {
		buf = append(buf, left)
		points(ps...)
		buf = append(buf, right)
	}
	switch d.T.base() {
	case OPoint:
		points(PointOf(d))
	case OLseg:
		s := LsegOf(d)
		around('[', ']', s[:])
	case OBox:
		b := BoxOf(d)
		points(b.High, b.Low)
	case OLine:
		l := LineOf(d)
		buf = append(buf, '{')
		number(l.A)
		buf = append(buf, ',')
		number(l.B)
		buf = append(buf, ',')
		number(l.C)
		buf = append(buf, '}')
	case OCircle:
		k := CircleOf(d)
		buf = append(buf, '<')
		points(k.Center)
		buf = append(buf, ',')
		number(k.Radius)
		buf = append(buf, '>')
	case OPath:
		if p := PathOf(d); p.Closed {
			around('(', ')', p.Points)
		} else {
			around('[', ']', p.Points)
		}
	case OPolygon:
		around('(', ')', PolygonOf(d))
	}
	return buf
}
