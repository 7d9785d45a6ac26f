package expr

import (
	"bytes"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func stringFuncs(r *registry) {
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) { return int64(utf8.RuneCount(a)), nil }), "textlen")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		return int64(utf8.RuneCount(bytes.TrimRight(a, " "))), nil
	}), "bpcharlen")
	r.add(fn1(func(c *callCtx, a []byte) (int64, error) { return int64(len(a)), nil }), "textoctetlen", "byteaoctetlen")
	r.add(fn1(func(c *callCtx, a []byte) (int64, error) { return int64(len(padded(c, 0, a))), nil }), "bpcharoctetlen")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) { return int64(len(a)) * 8, nil }), "sql_bit_length_1810", "sql_bit_length_1811")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) { return c.keep(types.AppendLower(c.buf[:0], a)), nil }), "lower")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) { return c.keep(appendUpper(c.buf[:0], a)), nil }), "upper")
	r.add(fn1(initcap), "initcap")
	r.add(fn2(func(c *callCtx, a, b []byte) ([]byte, error) {
		if len(a)+len(b) > maxText {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "invalid memory alloc request size %d", len(a)+len(b)+4)
		}
		out, err := c.text(int64(len(a) + len(b)))
		if err != nil {
			return nil, err
		}
		return c.keep(append(append(out, a...), b...)), nil
	}),
		"textcat", "byteacat")
	r.add(fn3(func(_ *callCtx, s []byte, from, n int64) ([]byte, error) { return substring(s, from, n, true) }), "text_substr")
	r.add(fn2(func(_ *callCtx, s []byte, from int64) ([]byte, error) { return substring(s, from, maxInt64, true) }), "text_substr_no_len")
	r.add(fn3(func(_ *callCtx, s []byte, from, n int64) ([]byte, error) { return substring(s, from, n, false) }), "bytea_substr")
	r.add(fn2(func(_ *callCtx, s []byte, from int64) ([]byte, error) { return substring(s, from, maxInt64, false) }), "bytea_substr_no_len")
	r.add(fn2(func(_ *callCtx, s []byte, n int64) ([]byte, error) { return s[:leftBytes(s, n)], nil }), "text_left")
	r.add(fn2(textRight), "text_right")
	r.add(fn3(func(c *callCtx, s []byte, n int64, fill []byte) ([]byte, error) { return pad(c, s, n, fill, true) }), "lpad")
	r.add(fn3(func(c *callCtx, s []byte, n int64, fill []byte) ([]byte, error) { return pad(c, s, n, fill, false) }), "rpad")
	r.add(fn2(func(c *callCtx, s []byte, n int64) ([]byte, error) { return pad(c, s, n, []byte(" "), true) }), "sql_lpad_879")
	r.add(fn2(func(c *callCtx, s []byte, n int64) ([]byte, error) { return pad(c, s, n, []byte(" "), false) }), "sql_rpad_880")
	trims := []struct {
		src         string
		left, right bool
	}{{"ltrim", true, false}, {"rtrim", false, true}, {"btrim", true, true}}
	for _, t := range trims {
		r.add(fn2(func(_ *callCtx, s, set []byte) ([]byte, error) { return trimChars(s, set, t.left, t.right), nil }), t.src)
		r.add(fn1(func(_ *callCtx, s []byte) ([]byte, error) { return trimChars(s, []byte(" "), t.left, t.right), nil }), t.src+"1")
	}
	r.add(fn2(func(_ *callCtx, s, set []byte) ([]byte, error) { return trimBytes(s, set, true, true), nil }), "byteatrim")
	r.add(fn2(func(_ *callCtx, s, set []byte) ([]byte, error) { return trimBytes(s, set, true, false), nil }), "bytealtrim")
	r.add(fn2(func(_ *callCtx, s, set []byte) ([]byte, error) { return trimBytes(s, set, false, true), nil }), "byteartrim")
	r.add(fn2(func(_ *callCtx, s, sub []byte) (int64, error) {
		at := bytes.Index(s, sub)
		if at < 0 {
			return 0, nil
		}
		return int64(utf8.RuneCount(s[:at])) + 1, nil
	}), "textpos")
	r.add(fn2(func(_ *callCtx, s, sub []byte) (int64, error) { return int64(bytes.Index(s, sub)) + 1, nil }), "byteapos")
	r.add(fn3(replaceText), "replace_text")
	r.add(fn3(translate), "translate")
	r.add(fn2(repeatText), "repeat")
	r.add(fn1(reverseText), "text_reverse")
	r.add(fn3(splitPart), "split_part")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		if len(a) == 0 {
			return 0, nil
		}
		c, _ := utf8.DecodeRune(a)
		return int64(c), nil
	}), "ascii")
	r.add(fn1(chr), "chr")
	r.add(fn2(func(_ *callCtx, s, prefix []byte) (bool, error) { return bytes.HasPrefix(s, prefix), nil }), "text_starts_with")
	r.add(fnD(overlay(true)), "textoverlay", "textoverlay_no_len")
	r.add(fnD(overlay(false)), "byteaoverlay", "byteaoverlay_no_len")
	r.add(fn2(func(_ *callCtx, a, b []byte) ([]byte, error) {
		if bytes.Compare(a, b) > 0 {
			return a, nil
		}
		return b, nil
	}), "text_larger")
	r.add(fn2(func(_ *callCtx, a, b []byte) ([]byte, error) {
		if bytes.Compare(a, b) < 0 {
			return a, nil
		}
		return b, nil
	}), "text_smaller")
}

// padded gives a character(n) argument with its blanks, which are not stored.
func padded(c *callCtx, arg int, b []byte) []byte {
	t := c.call.Args[arg].Type()
	if t.OID != types.OBpchar || t.Mod < 4 {
		return b
	}
	missing := int(t.Mod) - 4 - utf8.RuneCount(b)
	if missing <= 0 {
		return b
	}
	out := append(c.buf[:0], b...)
	for range missing {
		out = append(out, ' ')
	}
	return c.keep(out)
}

// Case mapping follows collation C: ASCII letters alone.
func appendUpper(dst, s []byte) []byte {
	for _, c := range s {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func initcap(c *callCtx, s []byte) ([]byte, error) {
	out := types.AppendLower(c.buf[:0], s)
	inWord := false
	for i, ch := range out {
		letter := ch >= 'a' && ch <= 'z'
		if letter && !inWord {
			out[i] = ch - ('a' - 'A')
		}
		inWord = letter || ch >= '0' && ch <= '9'
	}
	return c.keep(out), nil
}

// charOffset returns the byte offset of the n-th character, or len(s).
func charOffset(s []byte, n int64) int {
	if n <= 0 {
		return 0
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
		} else {
			_, w := utf8.DecodeRune(s[at:])
			at += w
		}
	}
	return at
}

// substring takes n units (characters or bytes) from position from, which
// counts from 1 and may lie before the start.
func substring(s []byte, from, n int64, chars bool) ([]byte, error) {
	end := int64(maxInt64)
	if n != maxInt64 {
		if n < 0 {
			return nil, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		end = from + n
	}
	start := max(from, 1)
	if end <= start {
		return nil, nil
	}
	offset := func(s []byte, n int64) int { return int(min(n, int64(len(s)))) }
	if chars {
		offset = charOffset
	}
	s = s[offset(s, start-1):]
	if end == maxInt64 {
		return s, nil
	}
	return s[:offset(s, end-start)], nil
}

// leftBytes is the length of the first n characters; with negative n, of all
// but the last -n.
func leftBytes(s []byte, n int64) int {
	if n < 0 {
		n = max(int64(utf8.RuneCount(s))+n, 0)
	}
	return charOffset(s, n)
}

func textRight(_ *callCtx, s []byte, n int64) ([]byte, error) {
	if n < 0 {
		return s[charOffset(s, -n):], nil
	}
	return s[charOffset(s, int64(utf8.RuneCount(s))-n):], nil
}

const maxText = 1<<30 - 1

func errTooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
}

func pad(c *callCtx, s []byte, n int64, fill []byte, left bool) ([]byte, error) {
	n = max(n, 0)
	if len(fill) == 0 {
		n = min(n, int64(utf8.RuneCount(s)))
	}
	if n*utf8.UTFMax > maxText {
		return nil, errTooLong()
	}
	have := int64(utf8.RuneCount(s))
	if have >= n {
		return s[:charOffset(s, n)], nil
	}
	missing := n - have
	out, err := c.text(int64(len(s)) + (missing+1)*utf8.UTFMax)
	if len(fill) > 0 && len(fill) == utf8.RuneCount(fill) {
		out, err = c.text(int64(len(s)) + missing)
	}
	if err != nil {
		return nil, err
	}
	if !left {
		out = append(out, s...)
	}
	width := int64(utf8.RuneCount(fill))
	for ; missing >= width; missing -= width {
		out = append(out, fill...)
	}
	out = append(out, fill[:charOffset(fill, missing)]...)
	if left {
		out = append(out, s...)
	}
	return c.keep(out), nil
}

// trimChars removes characters of the set from the ends.
func trimChars(s, set []byte, left, right bool) []byte {
	in := func(r []byte) bool { return len(r) > 0 && bytes.Contains(set, r) }
	for left && len(s) > 0 {
		_, w := utf8.DecodeRune(s)
		if !in(s[:w]) {
			break
		}
		s = s[w:]
	}
	for right && len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		if !in(s[len(s)-w:]) {
			break
		}
		s = s[:len(s)-w]
	}
	return s
}

func trimBytes(s, set []byte, left, right bool) []byte {
	for left && len(s) > 0 && bytes.IndexByte(set, s[0]) >= 0 {
		s = s[1:]
	}
	for right && len(s) > 0 && bytes.IndexByte(set, s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s
}

func replaceText(c *callCtx, s, from, to []byte) ([]byte, error) {
	if len(from) == 0 || !bytes.Contains(s, from) {
		return s, nil
	}
	out, err := c.text(int64(len(s)) + int64(bytes.Count(s, from))*int64(len(to)-len(from)))
	if err != nil {
		return nil, err
	}
	for {
		at := bytes.Index(s, from)
		if at < 0 {
			return c.keep(append(out, s...)), nil
		}
		out = append(append(out, s[:at]...), to...)
		s = s[at+len(from):]
	}
}

// translate replaces characters of from by those of to at the same place;
// those without a counterpart are dropped.
func translate(c *callCtx, s, from, to []byte) ([]byte, error) {
	out := c.buf[:0]
	f, t := []rune(string(from)), []rune(string(to))
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		at := -1
		for i, x := range f {
			if x == r {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			out = append(out, s[:w]...)
		case at < len(t):
			out = utf8.AppendRune(out, t[at])
		}
		s = s[w:]
	}
	return c.keep(out), nil
}

func repeatText(c *callCtx, s []byte, n int64) ([]byte, error) {
	n = max(n, 0)
	if int64(len(s))*n > maxText {
		return nil, errTooLong()
	}
	out, err := c.text(int64(len(s)) * n)
	if err != nil {
		return nil, err
	}
	if len(s) > 0 && n > 0 {
		out = append(out, s...)
		for all := len(s) * int(n); len(out) < all; {
			out = append(out, out[:min(len(out), all-len(out))]...)
		}
	}
	return c.keep(out), nil
}

func reverseText(c *callCtx, s []byte) ([]byte, error) {
	out := c.buf[:0]
	for len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		out = append(out, s[len(s)-w:]...)
		s = s[:len(s)-w]
	}
	return c.keep(out), nil
}

func splitPart(_ *callCtx, s, sep []byte, n int64) ([]byte, error) {
	if n == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "field position must not be zero")
	}
	if len(s) == 0 {
		return nil, nil
	}
	if len(sep) == 0 {
		if n == 1 || n == -1 {
			return s, nil
		}
		return nil, nil
	}
	if n < 0 {
		n += int64(bytes.Count(s, sep)) + 2
		if n <= 0 {
			return nil, nil
		}
	}
	for {
		at := bytes.Index(s, sep)
		switch {
		case n == 1 && at < 0:
			return s, nil
		case n == 1:
			return s[:at], nil
		case at < 0:
			return nil, nil
		}
		s = s[at+len(sep):]
		n--
	}
}

func chr(c *callCtx, n int64) ([]byte, error) {
	switch {
	case n < 0:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "character number must be positive")
	case n == 0:
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case n > utf8.MaxRune:
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character too large for encoding: %d", n)
	case n >= 0xd800 && n <= 0xdfff:
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", n)
	}
	return c.keep(utf8.AppendRune(c.buf[:0], rune(n))), nil
}

// overlay replaces n units of the first argument from a position on; n defaults
// to the replacement's length.
func overlay(chars bool) datumBody {
	return func(c *callCtx, a []types.Datum) (types.Datum, error) {
		s, repl, from := a[0].B, a[1].B, a[2].I
		n := int64(len(repl))
		if chars {
			n = int64(utf8.RuneCount(repl))
		}
		if len(a) > 3 {
			n = a[3].I
		}
		if from <= 0 {
			return null, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		if from+n > 1<<31-1 {
			return null, intRange(types.TInt4)
		}
		head, err := substring(s, 1, from-1, chars)
		if err != nil {
			return null, err
		}
		tail, err := substring(s, from+n, maxInt64, chars)
		if err != nil {
			return null, err
		}
		out := append(append(append(c.buf[:0], head...), repl...), tail...)
		return types.Datum{B: c.keep(out)}, nil
	}
}
