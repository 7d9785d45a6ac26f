package planner

import (
	"bytes"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A plan keeps what is long because its text was, and not what a call made so.
func TestGrown(t *testing.T) {
	text := func(n int) types.Datum { return types.Bytes(types.TText, bytes.Repeat([]byte("x"), n)) }
	call := func(args ...types.Datum) *plan.Call {
		c := &plan.Call{}
		for _, a := range args {
			c.Args = append(c.Args, &plan.Const{Val: a})
		}
		return c
	}
	for _, c := range []struct {
		name   string
		call   *plan.Call
		result types.Datum
		want   bool
	}{
		{"repeat of a letter", call(text(1), types.Int(types.TInt4, 900_000)), text(900_000), true},
		{"repeat of a letter, short", call(text(1), types.Int(types.TInt4, 1000)), text(1000), false},
		{"upper of a long text", call(text(900_000)), text(900_000), false},
		{"two long texts together", call(text(500_000), text(500_000)), text(1_000_000), false},
	} {
		if got := grown(c.call, &c.result); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
