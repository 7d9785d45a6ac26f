package executor

import (
	"bytes"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// oneBatch is an input of one batch.
type oneBatch struct{ b *vec.Batch }

func (o *oneBatch) Open(*Env) error { return nil }
func (o *oneBatch) Close()          {}
func (o *oneBatch) Next() (*vec.Batch, error) {
	b := o.b
	o.b = nil
	return b, nil
}

// TestPieces cuts batches of large values so that no piece refers to more than
// pieceBytes, and passes every selected row once, in order.
func TestPieces(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 3<<20)
	wide := func(n int, value func(i int) []byte) *vec.Batch {
		num, txt := vec.New(types.TInt4, n), vec.New(types.TText, n)
		for i := range n {
			num.I64[i] = int64(i)
			txt.B[i] = value(i)
		}
		return &vec.Batch{N: n, Cols: []*vec.Vec{num, txt}}
	}
	alike := func(int) []byte { return large }
	nulls := wide(20, alike)
	for i := range 20 {
		nulls.Cols[1].Nulls.Set(i)
	}
	some := wide(20, alike)
	some.Sel = []uint32{1, 3, 5, 7, 9}
	constant := wide(20, alike)
	constant.Cols[1] = vec.NewConst(types.Bytes(types.TText, large))
	for _, tt := range []struct {
		name   string
		b      *vec.Batch
		rows   []int // the first of the selected ones, and the one behind the last
		pieces int   // at least
	}{
		{"small values", wide(20, func(int) []byte { return large[:10] }), []int{0, 20}, 1},
		{"large values", wide(20, alike), []int{0, 20}, 10},
		{"a value beyond the limit", wide(3, func(int) []byte { return bytes.Repeat(large, 3) }), []int{0, 3}, 3},
		{"NULLs refer to nothing", nulls, []int{0, 20}, 1},
		{"a selection", some, []int{1, 11}, 3},
		{"a constant is copied for every row", constant, []int{0, 20}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p pieces
			var got []int64
			n := 0
			in := &oneBatch{tt.b}
			sel := tt.b.Sel
			for {
				b, err := p.next(in)
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				if size := bytesOf(b, 0, b.Rows()); size > pieceBytes && b.Rows() > 1 {
					t.Errorf("a piece of %d rows refers to %d bytes", b.Rows(), size)
				}
				for i := range b.Rows() {
					got = append(got, b.Cols[0].I64[b.Row(i)])
				}
				n++
			}
			if n < tt.pieces || tt.pieces == 1 && n > 1 {
				t.Errorf("%d pieces, want %d", n, tt.pieces)
			}
			want := len(sel)
			if sel == nil {
				want = tt.rows[1] - tt.rows[0]
			}
			if len(got) != want || got[0] != int64(tt.rows[0]) {
				t.Fatalf("got rows %v", got)
			}
			for i := 1; i < len(got); i++ {
				if got[i] <= got[i-1] {
					t.Fatalf("not in order: %v", got)
				}
			}
		})
	}
}

// TestPace makes fewer rows at a time when they take much memory.
func TestPace(t *testing.T) {
	var p expr.Pace
	first := p.Begin(vec.BatchSize)
	if first >= vec.BatchSize {
		t.Fatalf("the first piece has %d rows", first)
	}
	kept := make([][]byte, 0, first)
	for range first {
		kept = append(kept, make([]byte, 4<<20))
	}
	p.End()
	if n := p.Begin(vec.BatchSize); n > 2 || n < 1 {
		t.Errorf("%d rows after %d values of 4 MB", n, len(kept))
	}
	p.End()
}

// TestRoomIsGrantedOnce does not give the same room to two who ask before either
// has made its value.
func TestRoomIsGrantedOnce(t *testing.T) {
	p := &Pool{Limit: heapInUse() + 900<<20}
	one, other := p.Grants(0), p.Grants(0)
	if err := one.Room(600 << 20); err != nil {
		t.Fatal(err)
	}
	if err := one.Room(500 << 20); err != nil {
		t.Errorf("the first value is not there, a second cannot be: %v", err)
	}
	if err := other.Room(600 << 20); err == nil {
		t.Error("the room was given twice")
	}
	one.Release()
	if err := other.Room(600 << 20); err != nil {
		t.Error(err)
	}
	other.Release()
	if n := p.granted.Load(); n != 0 {
		t.Errorf("%d bytes stay granted", n)
	}
}
