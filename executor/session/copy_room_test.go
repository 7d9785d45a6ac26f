package session

import (
	"bytes"
	"errors"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// TestCopyOutRoom: a long row asks for all that its line will take before it is written,
// and is not written without it.
func TestCopyOutRoom(t *testing.T) {
	val := bytes.Repeat([]byte("a\t\"\n"), longText/4)
	v := &vec.Vec{T: types.TText, B: [][]byte{val}}
	for _, format := range []copyFormat{copyText, copyCSV} {
		var asked int64
		full := errors.New("full")
		k := &copyOut{
			opts: &copyOptions{format: format, delim: '\t', quote: '"', escape: '"'}, forms: []textForm{formBytes},
			force: []bool{false}, fmt: types.DefaultFmt, text: newTextWriter('\t'),
			room: func(n int64) error { asked = n; return full },
		}
		if format == copyCSV {
			k.csv = newCSVWriter(k.opts)
		}
		b := &vec.Batch{Cols: []*vec.Vec{v}, N: 1}
		if err := k.batch(b); !errors.Is(err, full) || len(k.buf) > 0 {
			t.Fatalf("format %v: %v, %d bytes in the buffer", format, err, len(k.buf))
		}
		if k.csv != nil {
			k.csvRow(b, 0)
		} else {
			k.textRow(b, 0)
		}
		if n := int64(len(k.buf)); asked < n || asked > n+n/8 {
			t.Errorf("format %v: asked for %d bytes, wrote %d", format, asked, n)
		}
	}
}
