package types

import "testing"

func TestRenumber(t *testing.T) {
	const enum, row, array = 20001, 20002, 20003
	to := func(o OID) OID {
		if o >= 20001 && o <= 20003 {
			return o + 100
		}
		return o
	}
	mood := Datum{T: T{OID: enum, Mod: -1, User: KEnum}, B: []byte("\x80ok")}
	moods := NewArray(mood.T, []int{2}, nil, []Datum{mood, Null(mood.T)})
	pair := Datum{T: T{OID: row, Mod: -1, User: KRecord}, B: AppendRecord(nil, []Datum{mood, Int(TInt4, 20001), moods, Null(mood.T), Int(TRegclass, 20002)})}
	pairs := NewArray(pair.T, []int{1}, nil, []Datum{pair})
	for name, d := range map[string]Datum{"array": moods, "row": pair, "array of rows": pairs, "regclass": Int(TRegclass, 20001)} {
		if !HoldsOIDs(d.T) {
			t.Errorf("%s: holds no OIDs", name)
		}
		before := string(d.B)
		got := Renumber(d, to)
		if string(d.B) != before {
			t.Errorf("%s: the value itself was changed", name)
		}
		if len(got.B) != len(d.B) || string(got.B) == before && got.I == d.I {
			t.Errorf("%s: not renumbered", name)
		}
		if back := Renumber(got, func(o OID) OID {
			if o > 20100 {
				return o - 100
			}
			return o
		}); string(back.B) != before || back.I != d.I {
			t.Errorf("%s: not the same when numbered back", name)
		}
	}
	fields, err := RecordFields(Renumber(pair, to))
	if err != nil || fields[0].T.OID != enum+100 || fields[1].I != 20001 || fields[4].I != row+100 {
		t.Errorf("fields %v, %v", fields, err)
	}
	for _, d := range []Datum{Int(TInt4, enum), Int(TOid, enum), Text("x"), NewArray(TInt4, []int{1}, nil, []Datum{Int(TInt4, enum)})} {
		if HoldsOIDs(d.T) {
			t.Errorf("%s holds OIDs", AppendText(nil, d, nil))
		}
	}
	// Damaged bytes are not read beyond their end.
	for _, d := range []Datum{moods, pair, pairs} {
		for n := range d.B {
			Renumber(Datum{T: d.T, B: d.B[:n]}, to)
		}
	}
}
