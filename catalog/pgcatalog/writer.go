package pgcatalog

import (
	"bytes"

	"kvsqld/catalog/types"
)

// def declares a relation: its name (information_schema's with the schema), the
// column sets it can look up, and its rows.
type def struct {
	name string
	keys [][]string
	rows func(w *writer)
}

// writer builds rows column by column, in attnum order, and passes on those
// that the lookup asks for. The methods for columns return the writer, so that
// a row reads as one chain that ends with end.
type writer struct {
	env  *Env
	rel  *Relation
	key  *Lookup
	row  []types.Datum
	n    int
	emit func([]types.Datum) bool
	done bool
	err  error

	unread []bool // columns that nobody reads: bytes are not made for them
}

func (w *writer) next() *types.Datum {
	d := &w.row[w.n]
	*d = types.Datum{T: w.rel.Columns[w.n].Type}
	w.n++
	return d
}

// skip passes over a column that nobody reads.
func (w *writer) skip() bool {
	if w.unread == nil || !w.unread[w.n] {
		return false
	}
	w.null()
	return true
}

func (w *writer) oid(o types.OID) *writer { w.next().I = int64(o); return w }

func (w *writer) int(v int64) *writer { w.next().I = v; return w }

func (w *writer) float(v float64) *writer { w.next().F = v; return w }

func (w *writer) str(s string) *writer {
	if !w.skip() {
		w.next().B = []byte(s)
	}
	return w
}

// opt writes a string, NULL when it is empty.
func (w *writer) opt(s string) *writer {
	if s == "" {
		return w.null()
	}
	return w.str(s)
}

// chr writes a "char"; zero is the empty one.
func (w *writer) chr(c byte) *writer {
	if w.skip() {
		return w
	}
	d := w.next()
	if c == 0 {
		d.B = []byte{}
	} else {
		d.B = []byte{c}
	}
	return w
}

func (w *writer) bool(b bool) *writer {
	d := w.next()
	if b {
		d.I = 1
	}
	return w
}

// yes writes information_schema's yes_or_no.
func (w *writer) yes(b bool) *writer {
	if b {
		return w.str("YES")
	}
	return w.str("NO")
}

func (w *writer) null() *writer { w.next().Null = true; return w }

func (w *writer) nulls(n int) *writer {
	for range n {
		w.null()
	}
	return w
}

// time writes a timestamp, NULL when zero.
func (w *writer) time(v int64) *writer {
	if v == 0 {
		return w.null()
	}
	return w.int(v)
}

// array writes a one-dimensional array.
func (w *writer) array(elems []types.Datum) *writer {
	if w.skip() {
		return w
	}
	d := w.next()
	d.B = types.NewVector(types.Of(types.Lookup(d.T.OID).Elem), elems).B
	return w
}

func (w *writer) strArray(list []string) *writer {
	if w.skip() {
		return w
	}
	elem := types.Of(types.Lookup(w.rel.Columns[w.n].Type.OID).Elem)
	out := make([]types.Datum, len(list))
	for i, s := range list {
		out[i] = types.Bytes(elem, []byte(s))
	}
	return w.array(out)
}

func intArray[T ~int | ~uint32 | ~int64](w *writer, list []T) *writer {
	if w.skip() {
		return w
	}
	elem := types.Of(types.Lookup(w.rel.Columns[w.n].Type.OID).Elem)
	out := make([]types.Datum, len(list))
	for i, v := range list {
		out[i] = types.Int(elem, int64(v))
	}
	return w.array(out)
}

// attnums writes column positions as an array of attnums, NULL when there are
// none.
func (w *writer) attnums(cols []int) *writer {
	if len(cols) == 0 {
		return w.null()
	}
	nums := make([]int, len(cols))
	for i, c := range cols {
		nums[i] = c + 1
	}
	return intArray(w, nums)
}

// vector writes an int2vector or oidvector.
func vector[T ~int | ~uint32 | ~int64](w *writer, list []T) *writer {
	if w.skip() {
		return w
	}
	d := w.next()
	vals := make([]int64, len(list))
	for i, v := range list {
		vals[i] = int64(v)
	}
	d.B = types.NewIntVector(types.Of(d.T.OID), vals).B
	return w
}

// end passes the row on if the lookup asks for it.
func (w *writer) end() {
	if w.n != len(w.row) {
		panic("pgcatalog: " + w.rel.Name + ": a row has the wrong number of columns")
	}
	w.n = 0
	if w.done {
		return
	}
	if w.key != nil {
		for i, c := range w.key.Cols {
			if !sameValue(&w.row[c], &w.key.Vals[i]) {
				return
			}
		}
	}
	w.done = !w.emit(w.row)
}

// sameValue compares a column with a lookup's value of a like type.
func sameValue(a, b *types.Datum) bool {
	if a.Null || b.Null {
		return false
	}
	switch a.T.Rep() {
	case types.RepBytes:
		return bytes.Equal(a.B, b.B)
	case types.RepFloat:
		return a.F == b.F
	}
	return a.I == b.I
}

// wantOID returns the OID that the lookup gives for a column.
func (w *writer) wantOID(column string) (types.OID, bool) {
	if w.key == nil {
		return 0, false
	}
	for i, c := range w.key.Cols {
		if w.rel.Columns[c].Name == column && w.key.Vals[i].T.Rep() == types.RepInt {
			return types.OID(w.key.Vals[i].I), true
		}
	}
	return 0, false
}

// wantName returns the text that the lookup gives for a column.
func (w *writer) wantName(column string) (string, bool) {
	if w.key == nil {
		return "", false
	}
	for i, c := range w.key.Cols {
		if w.rel.Columns[c].Name == column && w.key.Vals[i].T.Rep() == types.RepBytes {
			return string(w.key.Vals[i].B), true
		}
	}
	return "", false
}
