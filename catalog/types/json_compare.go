package types

import (
	"bytes"
	"cmp"
)

// Stored jsonb is canonical text: values are compared and hashed on it, part by
// part, without being parsed as a whole.

// jsonSpan is the text of a stored jsonb value.
type jsonSpan []byte

func (s jsonSpan) kind() jsonKind {
	if len(s) == 0 {
		return jsonNull
	}
	switch s[0] {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	case '"':
		return jsonString
	case 't', 'f':
		return jsonBool
	case 'n':
		return jsonNull
	}
	return jsonNumber
}

// jsonParts walks the members or elements of a container.
type jsonParts struct {
	s  jsonSpan
	at int
}

func (s jsonSpan) parts() jsonParts { return jsonParts{s, 1} }

// next returns the next element, with its key in an object.
func (p *jsonParts) next() (key, val jsonSpan, ok bool) {
	if p.at >= len(p.s)-1 {
		return nil, nil, false
	}
	if p.s[0] == '{' {
		end := JSONEnd(p.s, p.at)
		key, p.at = p.s[p.at:end], end+2
	}
	end := JSONEnd(p.s, p.at)
	val, p.at = p.s[p.at:end], end+2
	return key, val, true
}

func (s jsonSpan) count() (n int) {
	for p := s.parts(); ; n++ {
		if _, _, ok := p.next(); !ok {
			return n
		}
	}
}

// text is a string without quotes and escapes.
func (s jsonSpan) text() []byte {
	body := s[1 : len(s)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	p := jsonParser{src: string(s), build: true}
	t, _ := p.str()
	return t
}

func (s jsonSpan) number() Decimal {
	d, _ := ParseDecimal(string(s))
	return d
}

func compareJSONB(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, y := jsonSpan(a), jsonSpan(b)
	kx, ky := x.kind(), y.kind()
	// A scalar document counts as an array of one element that is less than
	// a real array of the same length.
	xs, ys := kx < jsonArray, ky < jsonArray
	if xs != ys && kx != jsonObject && ky != jsonObject {
		nx, ny := 1, 1
		if !xs {
			nx = x.count()
		}
		if !ys {
			ny = y.count()
		}
		if nx != ny {
			return cmp.Compare(nx, ny)
		}
		if xs {
			return -1
		}
		return 1
	}
	return x.compare(y)
}

func (s jsonSpan) compare(o jsonSpan) int {
	k := s.kind()
	if c := cmp.Compare(k, o.kind()); c != 0 {
		return c
	}
	switch k {
	case jsonNull:
		return 0
	case jsonString:
		return bytes.Compare(s.text(), o.text())
	case jsonNumber:
		if bytes.Equal(s, o) {
			return 0
		}
		return s.number().Cmp(o.number())
	case jsonBool:
		switch {
		case s[0] == o[0]:
			return 0
		case o[0] == 't':
			return -1
		}
		return 1
	}
	if bytes.Equal(s, o) {
		return 0
	}
	if c := cmp.Compare(s.count(), o.count()); c != 0 {
		return c
	}
	for p, q := s.parts(), o.parts(); ; {
		key, val, ok := p.next()
		if !ok {
			return 0
		}
		okey, oval, _ := q.next()
		if k == jsonObject {
			if c := bytes.Compare(key.text(), okey.text()); c != 0 {
				return c
			}
		}
		if c := val.compare(oval); c != 0 {
			return c
		}
	}
}

func hashJSONB(b []byte) uint64 { return jsonSpan(b).hash() }

func (s jsonSpan) hash() uint64 {
	k := s.kind()
	h := uint64(k)
	switch k {
	case jsonNull:
		return h
	case jsonString:
		return CombineHash(h, HashBytes(s.text()))
	case jsonNumber:
		return CombineHash(h, s.number().Hash())
	case jsonBool:
		if s[0] == 't' {
			h++
		}
		return HashInt(int64(h) << 8)
	}
	for p := s.parts(); ; {
		key, val, ok := p.next()
		if !ok {
			return h
		}
		if k == jsonObject {
			h = CombineHash(h, HashBytes(key.text()))
		}
		h = CombineHash(h, val.hash())
	}
}
