package types

import "testing"

// TestCitextComparesInLowerCase holds order, equality and hash of citext together.
func TestCitextComparesInLowerCase(t *testing.T) {
	c := Of(OCitext)
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"Foo", "fOO", 0}, {"foo", "FOOD", -1}, {"B", "a", 1}, {"_", "A", -1}, {"É", "é", -1}, {"", "a", -1},
	} {
		a, b := Bytes(c, []byte(tt.a)), Bytes(c, []byte(tt.b))
		if got := Compare(a, b); got != tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if Equal(a, b) != (tt.want == 0) {
			t.Errorf("Equal(%q, %q) = %v", tt.a, tt.b, Equal(a, b))
		}
		if tt.want == 0 && Hash(a) != Hash(b) {
			t.Errorf("%q and %q are equal and have other hashes", tt.a, tt.b)
		}
	}
}

// TestHstoreForms reads the text form, and both forms again.
func TestHstoreForms(t *testing.T) {
	h := Of(OHstore)
	for _, tt := range []struct{ in, out string }{
		{``, ``},
		{`b=>1, a=>2`, `"a"=>"2", "b"=>"1"`},
		{`aa=>1,b=>NULL , "a b"=>"x\"y"`, `"b"=>NULL, "aa"=>"1", "a b"=>"x\"y"`},
		{`a=>1,a=>2`, `"a"=>"1"`},
		{`a=>"null",b=>nuLL`, `"a"=>"null", "b"=>NULL`},
	} {
		d, err := Parse(h, tt.in, nil)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		if got := string(AppendText(nil, d, nil)); got != tt.out {
			t.Errorf("%q is shown as %q, want %q", tt.in, got, tt.out)
		}
		for _, again := range []func() (Datum, error){
			func() (Datum, error) { return Parse(h, tt.out, nil) },
			func() (Datum, error) { return ParseBinary(h, AppendBinary(nil, d)) },
		} {
			if e, err := again(); err != nil || !Equal(d, e) || Hash(d) != Hash(e) {
				t.Errorf("%q comes back as %q, %v", tt.out, e.B, err)
			}
		}
	}
	for _, in := range []string{`a`, `a=>`, `=>b`, `a=>"b`, `a=>b c`, `a=b`} {
		if d, err := Parse(h, in, nil); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", in, d.B)
		}
	}
	for _, b := range []string{"", "\x00\x00\x00\x01", "\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff", "\x7f\xff\xff\xff"} {
		if d, err := ParseBinary(h, []byte(b)); err == nil {
			t.Errorf("ParseBinary(%q) = %q, want an error", b, d.B)
		}
	}
}
