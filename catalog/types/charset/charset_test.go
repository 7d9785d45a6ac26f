package charset

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestEveryCharacterComesBack(t *testing.T) {
	for i := range list {
		e := &list[i]
		if e.table == nil {
			continue
		}
		n := 0
		for r := rune(1); r < 0x10000; r++ {
			if r >= 0xD800 && r < 0xE000 || r == utf8.RuneError {
				continue
			}
			b, err := e.Encode([]byte(string(r)))
			if err != nil {
				continue
			}
			n++
			if k := e.Whole(b); k != len(b) {
				t.Fatalf("%s: %U is % x, of which %d bytes are whole", e.Name, r, b, k)
			}
			if e.length != nil && len(b) > 1 && e.Whole(b[:len(b)-1]) != 0 {
				t.Fatalf("%s: a part of %U counts as whole", e.Name, r)
			}
			// several characters of Unicode may share one code
			back, err := e.Decode(b)
			if err != nil || utf8.RuneCount(back) != 1 {
				t.Fatalf("%s: %U is % x, which decodes to %q, %v", e.Name, r, b, back, err)
			}
		}
		if n < 170 {
			t.Errorf("%s has %d characters", e.Name, n)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, enc string
		encode    bool
		in, want  string
	}{
		{"no such character", "LATIN1", true, "a\u65e5", `22P05 character with byte sequence 0xe6 0x97 0xa5 in encoding "UTF8" has no equivalent in encoding "LATIN1"`},
		{"beyond the strict part", "EUC_KR", true, "똠", `22P05 character with byte sequence 0xeb 0x98 0xa0 in encoding "UTF8" has no equivalent in encoding "EUC_KR"`},
		{"a zero byte", "LATIN1", false, "é\x00", `22021 invalid byte sequence for encoding "LATIN1": 0x00`},
		{"half a character", "SJIS", false, "ab\x8a", `22021 invalid byte sequence for encoding "SJIS": 0x8a`},
		{"no UTF-8", "UTF8", false, "a\xe9b", `22021 invalid byte sequence for encoding "UTF8": 0xe9 0x62`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, f := Find(tt.enc), (*Encoding).Decode
			if tt.encode {
				f = (*Encoding).Encode
			}
			_, err := f(e, []byte(tt.in))
			if s, ok := err.(interface{ SQLState() string }); !ok || s.SQLState()+" "+err.Error() != tt.want {
				t.Errorf("%q: %v, want %s", tt.in, err, tt.want)
			}
		})
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	in := []byte("plain")
	out, err := Find("iso-8859-1").Encode(in)
	if err != nil || &out[0] != &in[0] {
		t.Errorf("ASCII was copied, %v", err)
	}
	if got := Find("LATIN1").EncodeLossy("é\u65e5!"); !bytes.Equal([]byte(got), []byte("\xe9?!")) {
		t.Errorf("lossy: % x", got)
	}
}
