package types

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// typeRef reads oid:typmod.
func typeRef(t *testing.T, s string) T {
	t.Helper()
	r := Of(0)
	if _, err := fmt.Sscanf(s, "%d:%d", &r.OID, &r.Mod); err != nil {
		t.Fatal(err)
	}
	return r
}

// Columns: source type, its text, target type, the explicit cast's text, an
// error, or "none" where there is no cast.
func TestCastLikeServer(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	o := &FmtOpts{Loc: loc, ExtraFloatDigits: 1}
	failed := 0
	for _, c := range tsvCases(t, "cast.tsv") {
		from, to := typeRef(t, c[0]), typeRef(t, c[2])
		d, err := Parse(from, c[1], o)
		got := answer("", err)
		if err == nil {
			var r Datum
			if r, err = Cast(d, to, o, true); err == nil {
				got = "<NULL>"
				if !r.Null {
					got = string(AppendText(nil, r, o))
				}
			} else if got = answer("", err); strings.HasPrefix(got, "ERROR 42846") {
				got = "none"
			}
		}
		if got != c[3] {
			if failed++; failed < 60 {
				t.Errorf("%s %q::%s = %s, want %s", FormatType(from), c[1], FormatType(to), got, c[3])
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}
