package types

// Range is a range of index keys in datum space: what the planner asks of a
// table or index and storage turns into a key span.
//
// The index's first len(Eq) columns equal Eq. The next column, if Lo or Hi is
// set or WithNull says so, is restricted further; columns after it are free.
// Datums have the types of the index's columns. The order is the column's
// ascending order whatever the index's direction is: storage swaps the bounds
// of a descending column.
type Range struct {
	// Eq holds the values of the leading columns. A NULL datum means IS NULL.
	Eq []Datum
	// Lo and Hi bound the column after Eq; nil is unbounded. Neither is NULL.
	Lo, Hi       *Datum
	LoInc, HiInc bool // whether the bound itself belongs to the range
	// LoRest and HiRest are values of the columns behind the one that Lo and Hi bound:
	// together they are bounds of rows. None is NULL.
	LoRest, HiRest []Datum
	// NotNull says that the column after Eq must not be NULL; it is implied by
	// Lo and Hi. WithNull adds the NULLs of that column to the bounded range.
	NotNull, WithNull bool
	// Test is what the column after Eq, of ranges kept by length, has to fulfil. Rows that
	// do not may be in the range as well.
	Test *RangeTest
}

// Bounded reports whether the column after Eq is restricted.
func (r *Range) Bounded() bool { return r.Lo != nil || r.Hi != nil || r.NotNull || r.Test != nil }

// Empty reports whether no key can lie in the range: its bounds are inverted.
func (r *Range) Empty() bool {
	if r.Lo == nil || r.Hi == nil || r.WithNull {
		return false
	}
	c := Compare(*r.Lo, *r.Hi)
	if c == 0 && (len(r.LoRest) > 0 || len(r.HiRest) > 0) {
		return false
	}
	return c > 0 || c == 0 && !(r.LoInc && r.HiInc)
}
