package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// textEncodings are the encodings that text converts to and from, by their
// PostgreSQL names without case and punctuation.
var textEncodings = map[string]encoding.Encoding{
	"latin1": charmap.ISO8859_1, "latin2": charmap.ISO8859_2, "latin3": charmap.ISO8859_3, "latin4": charmap.ISO8859_4,
	"latin5": charmap.ISO8859_9, "latin6": charmap.ISO8859_10, "latin7": charmap.ISO8859_13, "latin8": charmap.ISO8859_14,
	"latin9": charmap.ISO8859_15, "latin10": charmap.ISO8859_16,
	"iso88595": charmap.ISO8859_5, "iso88596": charmap.ISO8859_6, "iso88597": charmap.ISO8859_7, "iso88598": charmap.ISO8859_8,
	"win866": charmap.CodePage866, "win874": charmap.Windows874, "win1250": charmap.Windows1250, "win1251": charmap.Windows1251,
	"win1252": charmap.Windows1252, "win1253": charmap.Windows1253, "win1254": charmap.Windows1254, "win1255": charmap.Windows1255,
	"win1256": charmap.Windows1256, "win1257": charmap.Windows1257, "win1258": charmap.Windows1258,
	"koi8r": charmap.KOI8R, "koi8u": charmap.KOI8U, "sjis": japanese.ShiftJIS, "eucjp": japanese.EUCJP, "euckr": korean.EUCKR,
	"uhc": korean.EUCKR, "gbk": simplifiedchinese.GBK, "gb18030": simplifiedchinese.GB18030,
	"big5": traditionalchinese.Big5,
}

// encodingAliases are further spellings of encodings.
var encodingAliases = map[string]string{
	"unicode": "utf8", "iso88591": "latin1", "iso88592": "latin2", "iso88593": "latin3", "iso88594": "latin4", "iso88599": "latin5",
	"iso885910": "latin6", "iso885913": "latin7", "iso885914": "latin8", "iso885915": "latin9", "iso885916": "latin10",
	"windows1250": "win1250", "windows1251": "win1251", "windows1252": "win1252", "windows1253": "win1253", "windows1254": "win1254",
	"windows1255": "win1255", "windows1256": "win1256", "windows1257": "win1257", "windows1258": "win1258", "windows866": "win866",
	"windows874": "win874", "windows949": "uhc", "windows950": "big5", "windows936": "gbk", "windows932": "sjis", "shiftjis": "sjis",
	"mskanji": "sjis", "koi8": "koi8r", "alt": "win866", "win": "win1251", "win932": "sjis", "win936": "gbk", "win949": "uhc",
	"win950": "big5", "abc": "win1258", "tcvn": "win1258", "tcvn5712": "win1258", "vscii": "win1258",
}

// findEncoding returns PostgreSQL's name of an encoding and its tables, which
// UTF8 and SQL_ASCII do not need; role is source or destination.
func findEncoding(name []byte, role string) (string, encoding.Encoding, error) {
	key := encodingKey(string(name))
	if k, ok := encodingAliases[key]; ok {
		key = k
	}
	for _, n := range encodingNames {
		if encodingKey(n) != key {
			continue
		}
		e := textEncodings[key]
		if e == nil && key != "utf8" && key != "sqlascii" {
			return "", nil, sqlerr.Unsupported(-1, "encoding %s", n)
		}
		return n, e, nil
	}
	if role == "" {
		return "", nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid encoding name "%s"`, name)
	}
	return "", nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid %s encoding name "%s"`, role, name)
}

func encodingFuncs(r *registry) {
	r.add(fn2(func(_ *callCtx, b, name []byte) ([]byte, error) {
		n, e, err := findEncoding(name, "source")
		if err != nil {
			return nil, err
		}
		return toUTF8(b, n, e)
	}), "pg_convert_from")
	r.add(fn2(func(_ *callCtx, s, name []byte) ([]byte, error) {
		n, e, err := findEncoding(name, "destination")
		if err != nil {
			return nil, err
		}
		return fromUTF8(s, n, e)
	}), "pg_convert_to")
	r.add(fn3(func(_ *callCtx, b, from, to []byte) ([]byte, error) {
		src, se, err := findEncoding(from, "source")
		if err != nil {
			return nil, err
		}
		dst, de, err := findEncoding(to, "destination")
		if err != nil {
			return nil, err
		}
		s, err := toUTF8(b, src, se)
		if err != nil || src == dst {
			return b, err
		}
		return fromUTF8(s, dst, de)
	}), "pg_convert")
	r.add(fn2(func(_ *callCtx, b, name []byte) (int64, error) {
		n, e, err := findEncoding(name, "")
		if err != nil {
			return 0, err
		}
		s, err := toUTF8(b, n, e)
		return int64(utf8.RuneCount(s)), err
	}), "length_in_encoding")
}

func errUntranslatable(b []byte, from, to string) error {
	parts := make([]string, len(b))
	for i, c := range b {
		parts[i] = fmt.Sprintf("0x%02x", c)
	}
	return sqlerr.New(sqlerr.UntranslatableCharacter, `character with byte sequence %s in encoding "%s" has no equivalent in encoding "%s"`,
		strings.Join(parts, " "), from, to)
}

func toUTF8(b []byte, name string, e encoding.Encoding) ([]byte, error) {
	if e == nil {
		return b, types.CheckText(b)
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return nil, err
	}
	if i := strings.IndexRune(string(out), utf8.RuneError); i >= 0 {
		at := min(utf8.RuneCount(out[:i]), max(len(b)-1, 0))
		return nil, errUntranslatable(b[at:min(at+1, len(b))], name, "UTF8")
	}
	return out, types.CheckText(out)
}

func fromUTF8(s []byte, name string, e encoding.Encoding) ([]byte, error) {
	if e == nil {
		return s, nil
	}
	out, err := e.NewEncoder().Bytes(s)
	if err == nil {
		return out, nil
	}
	for i, r := range string(s) {
		if _, err := e.NewEncoder().String(string(r)); err != nil {
			return nil, errUntranslatable(s[i:i+utf8.RuneLen(r)], "UTF8", name)
		}
	}
	return nil, sqlerr.New(sqlerr.UntranslatableCharacter, "text has no equivalent in encoding \"%s\"", name)
}
