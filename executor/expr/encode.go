package expr

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func encodeFuncs(r *registry) {
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		sum := md5.Sum(a)
		return c.keep(hex.AppendEncode(c.buf[:0], sum[:])), nil
	}), "md5_text", "md5_bytea")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		h := sha256.Sum224(a)
		return c.keep(append(c.buf[:0], h[:]...)), nil
	}), "sha224_bytea")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		h := sha256.Sum256(a)
		return c.keep(append(c.buf[:0], h[:]...)), nil
	}), "sha256_bytea")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		h := sha512.Sum384(a)
		return c.keep(append(c.buf[:0], h[:]...)), nil
	}), "sha384_bytea")
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		h := sha512.Sum512(a)
		return c.keep(append(c.buf[:0], h[:]...)), nil
	}), "sha512_bytea")
	r.add(fn2(encode), "binary_encode")
	r.add(fn2(decode), "binary_decode")
	r.add(fn1(func(c *callCtx, a int64) ([]byte, error) {
		return c.keep(strconv.AppendUint(c.buf[:0], uint64(uint32(a)), 16)), nil
	}), "to_hex32")
	r.add(fn1(func(c *callCtx, a int64) ([]byte, error) {
		return c.keep(strconv.AppendUint(c.buf[:0], uint64(a), 16)), nil
	}), "to_hex64")
	r.add(fn2(getByte), "byteaGetByte")
	r.add(fn3(setByte), "byteaSetByte")
	r.add(fn2(getBit), "byteaGetBit")
	r.add(fn3(setBit), "byteaSetBit")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		n := 0
		for _, b := range a {
			for ; b != 0; b &= b - 1 {
				n++
			}
		}
		return int64(n), nil
	}), "bytea_bit_count")
	r.add(fn1(unistr), "unistr")
	r.add(fn2(func(c *callCtx, a, form []byte) ([]byte, error) {
		f, err := normalForm(form)
		if err != nil {
			return nil, err
		}
		return c.keep(f.Append(c.buf[:0], a...)), nil
	}), "unicode_normalize_func")
	r.add(fn2(func(_ *callCtx, a, form []byte) (bool, error) {
		f, err := normalForm(form)
		return err == nil && f.IsNormal(a), err
	}), "unicode_is_normalized")
}

// errEncoding lists the known names as PostgreSQL's hint does.
func errEncoding(name []byte) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, `unrecognized encoding: "%s"`, name)
}

func encode(c *callCtx, data, format []byte) ([]byte, error) {
	switch string(types.AppendLower(nil, format)) {
	case "hex":
		out, err := c.text(2 * int64(len(data)))
		if err != nil {
			return nil, err
		}
		return c.keep(hex.AppendEncode(out, data)), nil
	case "base64":
		n := int64(base64.StdEncoding.EncodedLen(len(data)))
		out, err := c.text(n + n/76)
		if err != nil {
			return nil, err
		}
		const line = 76 / 4 * 3
		for ; len(data) >= line; data = data[line:] {
			out = append(base64.StdEncoding.AppendEncode(out, data[:line]), '\n')
		}
		return c.keep(base64.StdEncoding.AppendEncode(out, data)), nil
	case "escape":
		n := int64(len(data))
		for _, b := range data {
			switch {
			case b == 0 || b >= 0x80:
				n += 3
			case b == '\\':
				n++
			}
		}
		out, err := c.text(n)
		if err != nil {
			return nil, err
		}
		for _, b := range data {
			switch {
			case b == 0 || b >= 0x80:
				out = append(out, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
			case b == '\\':
				out = append(out, '\\', '\\')
			default:
				out = append(out, b)
			}
		}
		return c.keep(out), nil
	}
	return nil, errEncoding(format)
}

func decode(c *callCtx, text, format []byte) ([]byte, error) {
	switch string(types.AppendLower(nil, format)) {
	case "hex":
		return decodeHex(c, text)
	case "base64":
		return decodeBase64(c, text)
	case "escape":
		return decodeEscape(c, text)
	}
	return nil, errEncoding(format)
}

func decodeHex(c *callCtx, s []byte) ([]byte, error) {
	out, err := c.text(int64(len(s)) / 2)
	if err != nil {
		return nil, err
	}
	high, odd := byte(0), false
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r' {
			if !odd {
				continue
			}
		}
		v, ok := types.HexDigit(ch)
		if !ok {
			_, w := utf8.DecodeRune(s[i:])
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid hexadecimal digit: "%s"`, s[i:i+w])
		}
		if odd {
			out = append(out, high<<4|v)
		}
		high, odd = v, !odd
	}
	if odd {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
	}
	return c.keep(out), nil
}

func decodeBase64(c *callCtx, s []byte) ([]byte, error) {
	if err := c.room(2 * int64(len(s))); err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	out := c.buf[:0]
	group, n, padded := uint32(0), 0, 0 // padded is how many bytes a group with "=" has
	for i, ch := range s {
		v := uint32(0)
		switch {
		case ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r':
			continue
		case ch == '=':
			if padded == 0 {
				if n < 2 {
					return nil, bad(`unexpected "=" while decoding base64 sequence`)
				}
				padded = n - 1
			}
		case ch >= 'A' && ch <= 'Z':
			v = uint32(ch - 'A')
		case ch >= 'a' && ch <= 'z':
			v = uint32(ch-'a') + 26
		case ch >= '0' && ch <= '9':
			v = uint32(ch-'0') + 52
		case ch == '+':
			v = 62
		case ch == '/':
			v = 63
		default:
			_, w := utf8.DecodeRune(s[i:])
			return nil, bad(`invalid symbol "%s" found while decoding base64 sequence`, s[i:i+w])
		}
		group = group<<6 | v
		if n++; n < 4 {
			continue
		}
		out = append(out, byte(group>>16))
		if padded == 0 || padded > 1 {
			out = append(out, byte(group>>8))
		}
		if padded == 0 {
			out = append(out, byte(group))
		}
		group, n = 0, 0
	}
	if n != 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return c.keep(out), nil
}

func decodeEscape(c *callCtx, s []byte) ([]byte, error) {
	out, err := c.text(int64(len(s)))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		octal := func(k int, top byte) bool { return i+k < len(s) && s[i+k] >= '0' && s[i+k] <= top }
		switch {
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		case octal(1, '3') && octal(2, '7') && octal(3, '7'):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return c.keep(out), nil
}

func errIndexRange(n int64, limit int) error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "index %d out of valid range, 0..%d", n, limit-1)
}

func getByte(_ *callCtx, b []byte, n int64) (int64, error) {
	if n < 0 || n >= int64(len(b)) {
		return 0, errIndexRange(n, len(b))
	}
	return int64(b[n]), nil
}

func setByte(c *callCtx, b []byte, n, v int64) ([]byte, error) {
	if n < 0 || n >= int64(len(b)) {
		return nil, errIndexRange(n, len(b))
	}
	out := append(c.buf[:0], b...)
	out[n] = byte(v)
	return c.keep(out), nil
}

func getBit(_ *callCtx, b []byte, n int64) (int64, error) {
	if n < 0 || n >= int64(len(b))*8 {
		return 0, errIndexRange(n, len(b)*8)
	}
	return int64(b[n/8]>>(n%8)) & 1, nil
}

func setBit(c *callCtx, b []byte, n, v int64) ([]byte, error) {
	if n < 0 || n >= int64(len(b))*8 {
		return nil, errIndexRange(n, len(b)*8)
	}
	if v != 0 && v != 1 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "new bit must be 0 or 1")
	}
	out := append(c.buf[:0], b...)
	out[n/8] = out[n/8]&^(1<<(n%8)) | byte(v)<<(n%8)
	return c.keep(out), nil
}

// unistr replaces \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX.
func unistr(c *callCtx, s []byte) ([]byte, error) {
	out, high := c.buf[:0], rune(0)
	bad := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
			WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
	}
	pair := func() error { return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair") }
	for len(s) > 0 {
		if s[0] != '\\' || bytes.HasPrefix(s, []byte(`\\`)) {
			if high != 0 {
				return nil, pair()
			}
			out = append(out, s[0])
			s = s[1+min(1, btoi(s[0] == '\\')):]
			continue
		}
		skip, digits := 1, 4
		if len(s) > 1 {
			switch s[1] {
			case '+':
				skip, digits = 2, 6
			case 'u':
				skip = 2
			case 'U':
				skip, digits = 2, 8
			}
		}
		if len(s) < skip+digits {
			return nil, bad()
		}
		v, err := strconv.ParseUint(string(s[skip:skip+digits]), 16, 32)
		if err != nil {
			return nil, bad()
		}
		s = s[skip+digits:]
		switch r := rune(v); {
		case v == 0 || v > utf8.MaxRune:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid Unicode code point: %04X", v)
		case r >= 0xd800 && r < 0xdc00:
			if high != 0 {
				return nil, pair()
			}
			high = r
		case r >= 0xdc00 && r < 0xe000:
			if high == 0 {
				return nil, pair()
			}
			out = utf8.AppendRune(out, (high-0xd800)<<10+(r-0xdc00)+0x10000)
			high = 0
		default:
			if high != 0 {
				return nil, pair()
			}
			out = utf8.AppendRune(out, r)
		}
	}
	if high != 0 {
		return nil, pair()
	}
	return c.keep(out), nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func normalForm(name []byte) (norm.Form, error) {
	switch string(appendUpper(nil, name)) {
	case "NFC":
		return norm.NFC, nil
	case "NFD":
		return norm.NFD, nil
	case "NFKC":
		return norm.NFKC, nil
	case "NFKD":
		return norm.NFKD, nil
	}
	return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid normalization form: %s", name)
}
