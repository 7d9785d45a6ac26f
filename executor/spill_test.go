package executor

import (
	"bytes"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// TestSpillInBlocks writes rows of large values: they come back in order, a block's
// worth at a time, whichever rows are selected.
func TestSpillInBlocks(t *testing.T) {
	const n = 40
	text, number := vec.New(types.TText, n), vec.New(types.TInt8, n)
	for i := range n {
		number.I64[i] = int64(i)
		if i%7 == 3 {
			text.Nulls.Set(i)
			continue
		}
		text.B[i] = bytes.Repeat([]byte{byte('a' + i)}, 1<<20)
	}
	odd := make([]uint32, 0, n)
	for i := 1; i < n; i += 2 {
		odd = append(odd, uint32(i))
	}
	for _, sel := range [][]uint32{nil, odd} {
		rows := n
		if sel != nil {
			rows = len(sel)
		}
		env := &Env{Tally: new(Tally), Mem: &Memory{}, TempDir: t.TempDir()}
		f := newSpillFile([]types.T{types.TText, types.TInt8})
		if err := f.write(env, []*vec.Vec{text, number}, sel, rows); err != nil {
			t.Fatal(err)
		}
		if err := f.finish(); err != nil {
			t.Fatal(err)
		}
		at, blocks := 0, 0
		for r := f.reader(); ; blocks++ {
			b, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			size := 0
			for i := range b.N {
				want := at
				if sel != nil {
					want = int(sel[at])
				}
				if got := b.Cols[1].I64[i]; got != int64(want) {
					t.Fatalf("row %d is row %d of the input, want %d", at, got, want)
				}
				if b.Cols[0].Nulls.Get(i) != text.Nulls.Get(want) || !text.Nulls.Get(want) && !bytes.Equal(b.Cols[0].B[i], text.B[want]) {
					t.Fatalf("row %d has another text", at)
				}
				size += len(b.Cols[0].B[i])
				at++
			}
			if size > spillBlock {
				t.Errorf("a block of %d bytes, want at most %d", size, spillBlock)
			}
		}
		f.close()
		if at != rows || blocks < 2 {
			t.Errorf("%d rows in %d blocks, want %d in several", at, blocks, rows)
		}
	}
}
