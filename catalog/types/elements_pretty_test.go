package types

import (
	"slices"
	"strings"
	"testing"
)

func TestPrettyToken(t *testing.T) {
	keys, _, err := ElementKeys(Bytes(Of(OJSONB), []byte(`{"a": "x", "q\"/": [true, null, "s", 1.50], "`+strings.Repeat("l", 300)+`": {}}`)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range keys {
		got = append(got, PrettyToken(k.B))
	}
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "key of hash ") })
	want := []string{"true", `key "a"`, `key "q\"/"`, `key "s"`, "1.5", `string "x"`, "null"}
	if !slices.Equal(got, want) || len(keys) != len(want)+1 {
		t.Errorf("tokens %q of %d, want %q and a hash", got, len(keys), want)
	}
}
