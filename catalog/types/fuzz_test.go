package types

import (
	"testing"
	"time"

	"kvsqld/catalog/types/charset"
)

// ioTypes are the types whose text and binary forms both read back.
var ioTypes = []T{
	TBool, TInt2, TInt4, TInt8, TOid, TFloat4, TFloat8, TNumeric, TText, TVarchar, TBpchar, TName, TBytea,
	TDate, TTime, TTimetz, TTimestamp, TTimestamptz, TInterval, TUUID, TTextArr, TInt4Arr, TInt2Vector, TOidVector,
	Of(OJSON), Of(OJSONB), Of(OInet), Of(OCidr), Of(OMacaddr), Of(OBit), Of(OVarbit), Of(OPoint), Of(OLseg), Of(OPath), Of(OBox), Of(OPolygon), Of(OLine), Of(OCircle), Of(OMoney), Of(ONumericArr),
	Of(oInt4Range), Of(oNumRange), Of(oDateRange), Of(oTSRange), Of(OXid), Of(OChar), {OID: ONumeric, Mod: 5<<16 | 2 + 4},
	{OID: OVarchar, Mod: 7}, {OID: OBpchar, Mod: 7}, {OID: OBit, Mod: 5}, {OID: OTimestamp, Mod: 2}, {OID: OInterval, Mod: 8 << 16},
}

func fuzzOpts(style uint8) *FmtOpts {
	loc, err := time.LoadLocation([...]string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"}[style&3])
	if err != nil {
		loc = time.UTC
	}
	return &FmtOpts{Loc: loc, ExtraFloatDigits: 1, DateStyle: DateStyle(style >> 2 & 3), DateOrder: DateOrder(style >> 4 % 3),
		IntervalStyle: IntervalStyle(style >> 6), ByteaEscape: style&8 != 0, Now: 1}
}

// checkValue writes a value in both forms and reads it back.
func checkValue(t *testing.T, d Datum, o *FmtOpts) {
	t.Helper()
	if d.T.OID == OTimetz {
		if _, zone := TimetzParts(d); zone <= -16*3600 || zone >= 16*3600 {
			return // a POSIX zone may lead here, but neither form is read, as in PostgreSQL
		}
	}
	text := string(AppendText(nil, d, o))
	raw := AppendBinary(nil, d)
	back, err := ParseBinary(d.T, raw)
	if err != nil {
		t.Fatalf("%s %q: binary form %x does not read back: %v", FormatType(d.T), text, raw, err)
	}
	if !Equal(back, d) || Hash(back) != Hash(d) {
		t.Fatalf("%s %q: binary form %x reads back as %q", FormatType(d.T), text, raw, AppendText(nil, back, o))
	}
	switch d.T.OID {
	case OName, OChar, OInet, OCidr:
		return // not every byte string of these has a text of its own
	}
	if o.DateStyle != DateISO || o.IntervalStyle != IntervalPostgres {
		return // these forms lose the zone or the order of fields
	}
	again, err := Parse(d.T, text, o)
	if err != nil {
		t.Fatalf("%s: text %q does not read back: %v", FormatType(d.T), text, err)
	}
	if !Equal(again, d) {
		t.Fatalf("%s: text %q reads back as %q", FormatType(d.T), text, AppendText(nil, again, o))
	}
}

func FuzzParse(f *testing.F) {
	for i, s := range []string{"t", "12", "-32768", "1.5e10", "NaN", "2001-02-03 04:05:06.789+02", "1 year -2 mons 3:04", "P1Y2M", "{a,\"b\",NULL}",
		"[0:1]={1,2}", `{"a":[1,2.50,"\u0041"]}`, `\x0102`, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "1.2.3.4/24", "10101", "(1,2)", "[1,5)", "J2451187", "08-Jan-99 BC",
		"[(1,2),(3,4)]", "((1,2),(3,4e-5))", "<(1,2),3>", "{1,-2,0.5}", "1,2,3,0x1p3", "-$1,234.567", "($1)"} {
		f.Add(uint8(i*3), uint8(0), s)
	}
	f.Fuzz(func(t *testing.T, typ, style uint8, s string) {
		if len(s) > 1000 || charset.CheckUTF8([]byte(s)) != nil {
			return
		}
		o := fuzzOpts(style)
		for range 2 {
			d, err := Parse(ioTypes[int(typ)%len(ioTypes)], s, o)
			if err == nil {
				checkValue(t, d, o)
			}
			typ++
		}
	})
}

func FuzzParseBinary(f *testing.F) {
	for i, typ := range ioTypes {
		f.Add(uint8(i), uint8(0), AppendBinary(nil, Int(typ, 1)))
	}
	f.Add(uint8(21), uint8(0), NewVector(TInt4, []Datum{Int(TInt4, 1), Null(TInt4)}).B)
	f.Add(uint8(20), uint8(0), []byte("\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x19\x7f\xff\xff\xff\x00\x00\x00\x01\x7f\xff\xff\xff\x00\x00\x00\x01"))
	f.Add(uint8(7), uint8(0), NewDecimal(-1250, 2).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, typ, style uint8, b []byte) {
		if len(b) > 4096 {
			return
		}
		d, err := ParseBinary(ioTypes[int(typ)%len(ioTypes)], b)
		if err == nil {
			checkValue(t, d, fuzzOpts(style))
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(NewRecord([]Datum{Int(TInt4, 7), Text("a,b"), Null(TText)}).B)
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := ParseBinary(TRecord, b); err == nil {
			AppendText(nil, d, nil)
			if Compare(d, d) != 0 {
				t.Fatal("a record differs from itself")
			}
			Hash(d)
		}
	})
}
