package expr

import (
	"strconv"
	"testing"
)

func TestDigitsReadWhatTheyWrite(t *testing.T) {
	for _, s := range []string{"0", "7", "-7", "007", "999999999999999999", "-999999999999999999"} {
		want, _ := strconv.ParseInt(s, 10, 64)
		if v, ok := digits([]byte(s)); !ok || v != want {
			t.Errorf("digits(%q) = %d, %v, want %d", s, v, ok, want)
		}
	}
	for _, s := range []string{"", "-", "+7", " 7", "7 ", "1e3", "1.0", "1_000", "0x1f", "--7", "1000000000000000000", "٣"} {
		if v, ok := digits([]byte(s)); ok {
			t.Errorf("digits(%q) = %d: it is to be left to the reader of all forms", s, v)
		}
	}
}
