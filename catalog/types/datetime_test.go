package types

import "testing"

var (
	styleNames    = map[string]DateStyle{"ISO": DateISO, "Postgres": DatePostgres, "SQL": DateSQL, "German": DateGerman}
	orderNames    = map[string]DateOrder{"MDY": OrderMDY, "DMY": OrderDMY, "YMD": OrderYMD}
	intervalStyle = map[string]IntervalStyle{"postgres": IntervalPostgres, "postgres_verbose": IntervalPostgresVerbose, "sql_standard": IntervalSQL, "iso_8601": IntervalISO}
)

// Columns: zone, DateStyle, order, IntervalStyle, type, input, answer.
func TestDateTimeInputLikeServer(t *testing.T) {
	failed := 0
	for _, c := range tsvCases(t, "datetime.tsv") {
		loc, err := LoadZone(c[0])
		if err != nil {
			t.Fatal(err)
		}
		o := &FmtOpts{DateStyle: styleNames[c[1]], DateOrder: orderNames[c[2]], IntervalStyle: intervalStyle[c[3]], Loc: loc, ExtraFloatDigits: 1}
		typ := Of(ByName(c[4]).OID)
		d, err := Parse(typ, c[5], o)
		got := answer("", err)
		if err == nil {
			got = string(AppendText(nil, d, o))
		}
		if got != c[6] {
			if failed++; failed < 60 {
				t.Errorf("%v %q::%s = %s, want %s", c[:4], c[5], c[4], got, c[6])
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}
