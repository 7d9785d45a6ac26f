package plan

import "strings"

// Ahead says how far beyond a row a window function looks for the row's value.
type Ahead uint8

// What a function has seen of the partition when it knows a row's value.
const (
	AheadNone  Ahead = iota // the rows up to it
	AheadPeers              // its peers as well
	AheadRows               // so many rows behind it
	AheadAll                // the whole partition
)

// Kind is the built-in window function that computes it, "" of an aggregate.
func (f *WindowFunc) Kind() string {
	if f.Proc.Kind == 'a' {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(f.Proc.Src, "window_"), "_with_offset")
	return name
}

// Distance is the constant distance of lag and lead.
func (f *WindowFunc) Distance() (n int64, ok bool) {
	if len(f.Args) < 2 {
		return 1, true
	}
	c, ok := f.Args[1].(*Const)
	if !ok || c.Val.Null {
		return 0, false
	}
	return c.Val.I, true
}

// Ahead says how far the function looks ahead, and with AheadRows how many rows that
// is, unless the frame's end says it (see Follows).
func (f *WindowFunc) Ahead() (Ahead, int) {
	switch f.Kind() {
	case "row_number", "rank", "dense_rank":
		return AheadNone, 0
	case "percent_rank", "cume_dist", "ntile":
		return AheadAll, 0
	case "lag", "lead":
		n, ok := f.Distance()
		if f.Kind() == "lag" {
			n = -n
		}
		switch {
		case !ok || n > 1<<20:
			return AheadAll, 0
		case n <= 0:
			return AheadNone, 0
		}
		return AheadRows, int(n)
	}
	fr := &f.Frame
	switch {
	case fr.EndKind == "UNBOUNDED FOLLOWING" || fr.EndKind == "FOLLOWING" && fr.Mode != "ROWS" || fr.StartKind == "FOLLOWING" && fr.Mode != "ROWS":
		return AheadAll, 0
	case fr.Mode != "ROWS" || fr.Exclude != "":
		if fr.Follows() {
			return AheadAll, 0
		}
		return AheadPeers, 0
	case fr.Follows():
		return AheadRows, 0
	}
	return AheadNone, 0
}

// Follows reports whether the frame's end lies a number of rows behind the row.
func (f *Frame) Follows() bool { return f.EndKind == "FOLLOWING" }

// Follows reports whether it is the frame's end that says how far the function looks
// ahead.
func (f *WindowFunc) Follows() bool {
	switch f.Kind() {
	case "", "first_value", "last_value", "nth_value":
		return f.Frame.Follows()
	}
	return false
}

// Peers reports whether the function asks which rows the order does not tell apart.
func (f *WindowFunc) Peers() bool {
	switch f.Kind() {
	case "row_number", "ntile", "lag", "lead":
		return false
	case "rank", "dense_rank", "percent_rank", "cume_dist":
		return true
	}
	return f.Frame.Mode != "ROWS" || f.Frame.Exclude != ""
}

// Rising reports whether the function's values do not fall from one row of a
// partition to the next.
func (f *WindowFunc) Rising() bool {
	switch f.Kind() {
	case "row_number", "rank", "dense_rank":
		return true
	case "":
		return f.Proc.Name == "count" && f.Proc.Schema == "" && !f.Distinct && f.Frame.StartKind == "UNBOUNDED PRECEDING" && f.Frame.Exclude == ""
	}
	return false
}
