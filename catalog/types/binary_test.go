package types

import (
	"encoding/hex"
	"errors"
	"testing"

	"kvsqld/catalog/sqlerr"
)

// TestBinaryForms reads binary values as a client may send them: damaged ones with
// PostgreSQL's errors, and those that have another form than its own.
func TestBinaryForms(t *testing.T) {
	for _, c := range []struct {
		typ       OID
		hex, want string // the value's own form in hexadecimal digits, or an error
	}{
		{OBool, "02", "01"},
		{OBool, "", "08P01 no data left in message"},
		{OBool, "0101", "22P03 incorrect binary data format"},
		{OInt4, "0001", "08P01 insufficient data left in message"},
		{OChar, "", "08P01 no data left in message"},
		{OMacaddr, "08002b0102", "08P01 no data left in message"},
		{OMacaddr8, "08002b010203", "08002bfffe010203"},
		{OMacaddr8, "08002b01020304", "08P01 no data left in message"},
		{OBox, "00000000000000000000000000000000" + "3ff00000000000004000000000000000", "3ff0000000000000400000000000000000000000000000000000000000000000"},
		{OBox, "0000000000000000", "08P01 insufficient data left in message"},
		{OLine, "000000000000000000000000000000003ff0000000000000", "22P03 invalid line specification: A and B cannot both be zero"},
		{OCircle, "00000000000000000000000000000000bff0000000000000", `22P03 invalid radius in external "circle" value`},
		{OPath, "", "08P01 no data left in message"},
		{OPath, "0200000001" + "00000000000000003ff0000000000000", "0100000001" + "00000000000000003ff0000000000000"},
		{OPath, "0000000000", `22P03 invalid number of points in external "path" value`},
		{OPath, "0000000002" + "00000000000000003ff0000000000000", "08P01 insufficient data left in message"},
		{OPolygon, "ffffffff", `22P03 invalid number of points in external "polygon" value`},
		{OPolygon, "00000001" + "00000000000000003ff000000000000000", "22P03 incorrect binary data format"},
		{OMoney, "00000000000000", "08P01 insufficient data left in message"},
		{OInet, "", "08P01 no data left in message"},
		{OInet, "05", `22P03 invalid address family in external "inet" value`},
		{OInet, "0221", `22P03 invalid bits in external "inet" value`},
		{OInet, "02200005", `22P03 invalid length in external "inet" value`},
		{OInet, "0220000401", "08P01 no data left in message"},
		{OVarbit, "0000000281", "0000000280"},
		{OBit, "000000010000", "22P03 incorrect binary data format"},
		{ONumeric, "00000000c0000003", "00000000c0000000"},
		{ONumeric, "00000000c000ff00", `22P03 invalid scale in external "numeric" value`},
		{ONumeric, "000100008000000027ff", `22P03 invalid sign in external "numeric" value`},
		{ONumeric, "ff00000000000000", "08P01 insufficient data left in message"},
		{OJSONB, "022020", "XX000 unsupported jsonb version number 2"},
		{OJSONB, "", "08P01 insufficient data left in message"},
		{OJSONPath, "", "08P01 insufficient data left in message"},
		{OJSONPath, "0224", "XX000 unsupported jsonpath version number: 2"},
		{OID(3904), "", "08P01 no data left in message"},
		{OID(3904), "0100", "08P01 invalid message format"},
		{OPgSnapshot, "000000010000000000000001" + "0000000000000002", "08P01 insufficient data left in message"},
		{OBoolArr, "0000000100000000000000100000000100000001" + "00000001fe", "0000000100000000000000100000000100000001" + "0000000101"},
		{OInt4Arr, "0000000100000000000000170000000200000001" + "0000000400000001", "08P01 insufficient data left in message"},
		{OInt4Arr, "0000000100000000000000170000000100000001" + "00000004000001", "22P03 insufficient data left in message"},
		{OInt4Arr, "0000000100000000000000170000000100000001" + "000000050000000100", "22P03 improper binary format in array element 1"},
		{OInt4Arr, "0000000100000000000000170000000100000001" + "000000040000000100", "22P03 incorrect binary data format"},
		{OInt2Vector, "0000000100000001000000150000000100000000" + "ffffffff", "22P03 invalid int2vector data"},
	} {
		raw, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		d, err := ParseBinary(Of(c.typ), raw)
		got := hex.EncodeToString(AppendBinary(nil, d))
		if err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			got = string(e.Code) + " " + e.Message
		}
		if got != c.want {
			t.Errorf("%s of %s: %s, not %s", FormatType(Of(c.typ)), c.hex, got, c.want)
		}
	}
}
