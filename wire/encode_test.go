package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// The encodings of the wire's own, against PostgreSQL's output for the value.
func TestFieldEncodings(t *testing.T) {
	b, i, f := types.Bytes, types.Int, types.Float
	tests := []struct {
		d            types.Datum
		text, binary string
	}{
		{i(types.Of(types.OInt2), -2), "-2", "\xff\xfe"},
		{i(types.Of(types.OInt4), 100000), "100000", "\x00\x01\x86\xa0"},
		{i(types.Of(types.OInt4), -1<<31), "-2147483648", "\x80\x00\x00\x00"},
		{i(types.Of(types.OInt8), -1), "-1", "\xff\xff\xff\xff\xff\xff\xff\xff"},
		{i(types.Of(types.OOid), 4294967295), "4294967295", "\xff\xff\xff\xff"},
		{types.Bool(true), "t", "\x01"},
		{types.Bool(false), "f", "\x00"},
		{b(types.Of(types.OText), []byte("žluť")), "žluť", "žluť"},
		{b(types.Of(types.OText), nil), "", ""},
		{b(types.Of(types.OVarchar), []byte("v")), "v", "v"},
		{b(types.Of(types.OName), []byte("n")), "n", "n"},
		{b(types.Of(types.OJSON), []byte(`{"a" :1}`)), `{"a" :1}`, `{"a" :1}`},
		{b(types.Of(types.OBytea), []byte{0, 255}), `\x00ff`, "\x00\xff"},
		{f(types.Of(types.OFloat4), 0.5), "0.5", "\x3f\x00\x00\x00"},
		{f(types.Of(types.OFloat8), -0.1), "-0.1", "\xbf\xb9\x99\x99\x99\x99\x99\x9a"},
		{i(types.Of(types.ODate), -1), "1999-12-31", "\xff\xff\xff\xff"},
		{i(types.Of(types.OTimestamp), 1), "2000-01-01 00:00:00.000001", "\x00\x00\x00\x00\x00\x00\x00\x01"},
		{i(types.Of(types.OTimestamptz), 0), "2000-01-01 00:00:00+00", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		{i(types.Of(types.OTime), 1000000), "00:00:01", "\x00\x00\x00\x00\x00\x0f\x42\x40"},
		{b(types.Of(types.OUUID), []byte("0123456789abcdef")), "30313233-3435-3637-3839-616263646566", "0123456789abcdef"},
	}
	for _, tt := range tests {
		v := vec.New(tt.d.T, 1)
		v.Set(0, tt.d)
		for format, want := range []string{tt.text, tt.binary} {
			row := dataRows(t, &vec.Batch{Cols: []*vec.Vec{v}, N: 1}, int16(format))[0]
			if len(row) != 1 || row[0] == nil || string(row[0]) != want {
				t.Errorf("type %d format %d: got %q, want %q", tt.d.T.OID, format, row, want)
			}
		}
	}
}

// dataRows sends a batch and decodes what was sent.
func dataRows(t *testing.T, b *vec.Batch, format int16) [][][]byte {
	t.Helper()
	o := &output{dst: io.Discard}
	w := &results{output: o}
	w.Rows(nil, []int16{format}, types.DefaultFmt)
	if err := w.Batch(b); err != nil {
		t.Fatal(err)
	}
	var rows [][][]byte
	for buf := o.buf; len(buf) > 0; {
		n := int(binary.BigEndian.Uint32(buf[1:]))
		var m pgproto3.DataRow
		if buf[0] != 'D' || m.Decode(buf[5:1+n]) != nil {
			t.Fatalf("not a DataRow: %q", buf)
		}
		rows = append(rows, m.Values)
		buf = buf[1+n:]
	}
	return rows
}

func TestNullsSelectionsAndConstants(t *testing.T) {
	ints := vec.New(types.Of(types.OInt4), 5)
	texts := vec.New(types.Of(types.OText), 5)
	for i := range 5 {
		ints.I64[i], texts.B[i] = int64(i), []byte{byte('a' + i)}
	}
	ints.Nulls.Set(3)
	constant := vec.New(types.Of(types.OInt8), 1)
	constant.I64[0], constant.Const = 7, true
	null := vec.New(types.Of(types.OInt8), 1)
	null.Const = true
	null.Nulls.Set(0)

	rows := dataRows(t, &vec.Batch{Cols: []*vec.Vec{ints, texts, constant, null}, N: 5, Sel: []uint32{1, 3}}, formatText)
	want := [][][]byte{
		{[]byte("1"), []byte("b"), []byte("7"), nil},
		{nil, []byte("d"), []byte("7"), nil},
	}
	if len(rows) != 2 {
		t.Fatalf("got %d rows", len(rows))
	}
	for i, row := range rows {
		for j, v := range row {
			if !bytes.Equal(v, want[i][j]) || (v == nil) != (want[i][j] == nil) {
				t.Errorf("row %d column %d: got %q, want %q", i, j, v, want[i][j])
			}
		}
	}
}

// Rows leave while the statement runs, in pieces of about flushSize.
func TestFullBufferIsWritten(t *testing.T) {
	nc := &memoryConn{}
	w := &results{output: &output{dst: nc}}
	w.Rows(nil, nil, types.DefaultFmt)
	v := vec.New(types.Of(types.OText), vec.BatchSize)
	for i := range v.B {
		v.B[i] = make([]byte, 1000)
	}
	if err := w.Batch(&vec.Batch{Cols: []*vec.Vec{v}, N: vec.BatchSize}); err != nil {
		t.Fatal(err)
	}
	const rowSize = 1 + 4 + 2 + 4 + 1000
	if all := nc.out.Len() + len(w.buf); all != vec.BatchSize*rowSize || len(w.buf) >= flushSize {
		t.Errorf("%d bytes in all, %d of them not written", all, len(w.buf))
	}
	if most := vec.BatchSize*rowSize/flushSize + 1; nc.writes == 0 || nc.writes > most {
		t.Errorf("%d writes, want at most %d", nc.writes, most)
	}
}

// A client that is gone stops its statement.
func TestBatchReportsALostClient(t *testing.T) {
	w := &results{output: &output{dst: brokenPipe{}}}
	v := vec.New(types.Of(types.OText), 1)
	v.B[0] = make([]byte, flushSize)
	b := &vec.Batch{Cols: []*vec.Vec{v}, N: 1}
	for range 2 {
		e, internal := asSQL(t.Context(), w.Batch(b))
		if internal || e.Code != "08006" || !isFatal(e) {
			t.Errorf("got %v", e)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
