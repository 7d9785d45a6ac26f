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
