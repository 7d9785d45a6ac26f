package charset

import (
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// list has the encodings in the order of their numbers.
var list = []Encoding{
	{Name: "SQL_ASCII"},
	{Name: "EUC_JP", table: japanese.EUCJP, length: eucJPLen},
	{Name: "EUC_CN", table: simplifiedchinese.GBK, length: twoBytes, strict: true},
	{Name: "EUC_KR", table: korean.EUCKR, length: twoBytes, strict: true},
	{Name: "EUC_TW"},
	{Name: "EUC_JIS_2004"},
	{Name: "UTF8"},
	{Name: "MULE_INTERNAL"},
	{Name: "LATIN1", table: charmap.ISO8859_1},
	{Name: "LATIN2", table: charmap.ISO8859_2},
	{Name: "LATIN3", table: charmap.ISO8859_3},
	{Name: "LATIN4", table: charmap.ISO8859_4},
	{Name: "LATIN5", table: charmap.ISO8859_9},
	{Name: "LATIN6", table: charmap.ISO8859_10},
	{Name: "LATIN7", table: charmap.ISO8859_13},
	{Name: "LATIN8", table: charmap.ISO8859_14},
	{Name: "LATIN9", table: charmap.ISO8859_15},
	{Name: "LATIN10", table: charmap.ISO8859_16},
	{Name: "WIN1256", table: charmap.Windows1256},
	{Name: "WIN1258", table: charmap.Windows1258},
	{Name: "WIN866", table: charmap.CodePage866},
	{Name: "WIN874", table: charmap.Windows874},
	{Name: "KOI8R", table: charmap.KOI8R},
	{Name: "WIN1251", table: charmap.Windows1251},
	{Name: "WIN1252", table: charmap.Windows1252},
	{Name: "ISO_8859_5", table: charmap.ISO8859_5},
	{Name: "ISO_8859_6", table: charmap.ISO8859_6},
	{Name: "ISO_8859_7", table: charmap.ISO8859_7},
	{Name: "ISO_8859_8", table: charmap.ISO8859_8},
	{Name: "WIN1250", table: charmap.Windows1250},
	{Name: "WIN1253", table: charmap.Windows1253},
	{Name: "WIN1254", table: charmap.Windows1254},
	{Name: "WIN1255", table: charmap.Windows1255},
	{Name: "WIN1257", table: charmap.Windows1257},
	{Name: "KOI8U", table: charmap.KOI8U},
	{Name: "SJIS", table: japanese.ShiftJIS, length: sjisLen, ClientOnly: true},
	{Name: "BIG5", table: traditionalchinese.Big5, length: twoBytes, ClientOnly: true},
	{Name: "GBK", table: simplifiedchinese.GBK, length: gbkLen, ClientOnly: true},
	{Name: "UHC", table: korean.EUCKR, length: twoBytes, ClientOnly: true},
	{Name: "GB18030", table: simplifiedchinese.GB18030, length: gb18030Len, ClientOnly: true},
	{Name: "JOHAB", ClientOnly: true},
	{Name: "SHIFT_JIS_2004", ClientOnly: true},
}

// aliases are further spellings of names, without case and punctuation.
var aliases = map[string]string{
	"unicode": "utf8", "iso88591": "latin1", "iso88592": "latin2", "iso88593": "latin3", "iso88594": "latin4", "iso88599": "latin5",
	"iso885910": "latin6", "iso885913": "latin7", "iso885914": "latin8", "iso885915": "latin9", "iso885916": "latin10",
	"windows1250": "win1250", "windows1251": "win1251", "windows1252": "win1252", "windows1253": "win1253", "windows1254": "win1254",
	"windows1255": "win1255", "windows1256": "win1256", "windows1257": "win1257", "windows1258": "win1258", "windows866": "win866",
	"windows874": "win874", "windows949": "uhc", "windows950": "big5", "windows936": "gbk", "windows932": "sjis", "shiftjis": "sjis",
	"mskanji": "sjis", "koi8": "koi8r", "alt": "win866", "win": "win1251", "win932": "sjis", "win936": "gbk", "win949": "uhc",
	"win950": "big5", "abc": "win1258", "tcvn": "win1258", "tcvn5712": "win1258", "vscii": "win1258",
}

var (
	byName    = map[string]*Encoding{}
	utf8Names *Encoding
)

func init() {
	for i := range list {
		list[i].ID = i
		byName[key(list[i].Name)] = &list[i]
	}
	for a, n := range aliases {
		byName[a] = byName[n]
	}
	utf8Names = &list[UTF8]
}

// Find returns the encoding of a name, whatever its case and punctuation, or nil.
func Find(name string) *Encoding { return byName[key(name)] }

// ByID returns the encoding of a number, or nil.
func ByID(n int64) *Encoding {
	if n < 0 || n >= int64(len(list)) {
		return nil
	}
	return &list[n]
}

func key(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			out = append(out, c)
		}
	}
	return string(out)
}

func twoBytes(b []byte) int {
	if b[0] < 0x80 {
		return 1
	}
	return 2
}

func gbkLen(b []byte) int {
	if b[0] == 0x80 { // the euro sign
		return 1
	}
	return twoBytes(b)
}

func eucJPLen(b []byte) int {
	if b[0] == 0x8f {
		return 3
	}
	return twoBytes(b)
}

func sjisLen(b []byte) int {
	if b[0] >= 0xa1 && b[0] <= 0xdf {
		return 1
	}
	return twoBytes(b)
}

func gb18030Len(b []byte) int {
	if b[0] >= 0x80 && len(b) > 1 && b[1] >= '0' && b[1] <= '9' {
		return 4
	}
	return twoBytes(b)
}
