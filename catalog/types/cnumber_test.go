package types

import (
	"math"
	"testing"
)

func TestCNumber(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		text  string
		whole bool
		want  float64
		rest  string
	}{
		{"50", true, 50, ""},
		{" +50 kB", true, 50, " kB"},
		{"-7", true, -7, ""},
		{"0x20", true, 32, ""},
		{"0X40kB", true, 64, "kB"},
		{"0x1p5", true, 1, "p5"},
		{"010", true, 8, ""},
		{"09", true, 0, "9"},
		{"0b1", true, 0, "b1"},
		{"0x", true, 0, "x"},
		{"5_0", true, 5, "_0"},
		{"50.5", true, 50.5, ""},
		{"5e1", true, 50, ""},
		{"1.5e", true, 1.5, "e"},
		{"99999999999999999999", true, math.MaxInt64, ""},
		{"0x20", false, 32, ""},
		{"0x1p5", false, 32, ""},
		{"0x.8", false, 0.5, ""},
		{"010", false, 10, ""},
		{".5", false, 0.5, ""},
		{"5.", false, 5, ""},
		{"-Infinity", false, -inf, ""},
		{"infx", false, inf, "x"},
		{"5_0", false, 5, "_0"},
	} {
		got, rest, ok := CNumber(tt.text, tt.whole)
		if got != tt.want || rest != tt.rest || !ok {
			t.Errorf("CNumber(%q, %v) = %v, %q, %v", tt.text, tt.whole, got, rest, ok)
		}
	}
	for _, text := range []string{"", "-", ".", "x1", "_1", "nan", "e5"} {
		if got, _, ok := CNumber(text, true); ok {
			t.Errorf("CNumber(%q, whole) = %v", text, got)
		}
	}
	if got, _, ok := CNumber("-nan", false); !ok || got == got {
		t.Errorf("-nan is %v, %v", got, ok)
	}
}
