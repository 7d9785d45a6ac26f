package vec

// Nulls is a bitmap of NULL rows that costs nothing while there are none. The
// zero value has no NULLs.
type Nulls struct {
	any  bool
	bits []uint64
}

// Any reports whether a row may be NULL (false is exact, true is not).
func (n *Nulls) Any() bool { return n.any }

// Clear makes all rows non-null.
func (n *Nulls) Clear() {
	if n.any {
		clear(n.bits)
		n.any = false
	}
}

// Get reports whether the row is NULL.
func (n *Nulls) Get(row int) bool {
	w := row >> 6
	return n.any && w < len(n.bits) && n.bits[w]&(1<<(row&63)) != 0
}

// Set makes the row NULL.
func (n *Nulls) Set(row int) {
	w := row >> 6
	for w >= len(n.bits) {
		n.bits = append(n.bits, 0)
	}
	n.bits[w] |= 1 << (row & 63)
	n.any = true
}

// Unset makes the row non-null.
func (n *Nulls) Unset(row int) {
	if w := row >> 6; n.any && w < len(n.bits) {
		n.bits[w] &^= 1 << (row & 63)
	}
}

// Or makes every row NULL that is NULL in o.
func (n *Nulls) Or(o *Nulls) {
	if !o.any {
		return
	}
	for len(n.bits) < len(o.bits) {
		n.bits = append(n.bits, 0)
	}
	for i, w := range o.bits {
		n.bits[i] |= w
	}
	n.any = true
}

// Copy makes n equal to o.
func (n *Nulls) Copy(o *Nulls) {
	n.Clear()
	n.Or(o)
}
