package types

import (
	"encoding/binary"
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

// ParseBinary reads a value's binary form as the type's receive function does,
// including the type modifier; b holds exactly the value, without a length
// word. The datum may share b's memory. 22P03 and 08P01 for damaged values.
func ParseBinary(t T, b []byte) (Datum, error) {
	d, err := parseBinary(t, b)
	if err != nil || t.Mod < 0 {
		return d, err
	}
	return ApplyMod(d, t, false)
}

// fixed returns the bytes of a value that must be n long.
func fixed(b []byte, n int) error {
	switch {
	case len(b) < n:
		return errBinaryShort()
	case len(b) > n:
		return errBinaryFormat()
	}
	return nil
}

// oneByte returns the error of a value that must be a byte long.
func oneByte(b []byte) error {
	if len(b) == 0 {
		return errBinaryEmpty()
	}
	return fixed(b, 1)
}

// bytesOf is fixed for a value that is read byte by byte.
func bytesOf(b []byte, n int) error {
	if len(b) < n {
		return errBinaryEmpty()
	}
	return fixed(b, n)
}

func parseBinary(t T, b []byte) (Datum, error) {
	d := Datum{T: t}
	var err error
	switch t.Kind() {
	case KBool:
		if err = oneByte(b); err == nil && b[0] != 0 {
			d.I = 1
		}
	case KInt2:
		if err = fixed(b, 2); err == nil {
			d.I = int64(int16(binary.BigEndian.Uint16(b)))
		}
	case KInt4:
		if err = fixed(b, 4); err == nil {
			d.I = int64(int32(binary.BigEndian.Uint32(b)))
		}
	case KOid:
		if err = fixed(b, 4); err == nil {
			d.I = int64(binary.BigEndian.Uint32(b))
		}
	case KInt8:
		if err = fixed(b, 8); err == nil {
			d.I = int64(binary.BigEndian.Uint64(b))
		}
	case KFloat4:
		if err = fixed(b, 4); err == nil {
			d.F = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
		}
	case KFloat8:
		if err = fixed(b, 8); err == nil {
			d.F = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
	case KNumeric:
		d.Dec, err = ParseDecimalBinary(b)
	case KText:
		d.B, err = parseTextBinary(t, b)
	case KCitext:
		d.B, err = parseTextBinary(TText, b)
	case KHstore:
		d.B, err = parseHstoreBinary(b)
	case KEnum:
		d.B = b
	case KJSON:
		if err = charset.CheckUTF8(b); err == nil {
			err = checkJSON(string(b))
		}
		d.B = b
	case KBytea:
		d.B = b
	case KDate:
		if err = fixed(b, 4); err == nil {
			d.I = int64(int32(binary.BigEndian.Uint32(b)))
			if d.I != DateNoBegin && d.I != DateNoEnd && (d.I < minDate || d.I >= endDate) {
				err = errDateRange()
			}
		}
	case KTime:
		if err = fixed(b, 8); err == nil {
			if d.I = int64(binary.BigEndian.Uint64(b)); d.I < 0 || d.I > usecPerDay {
				err = sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
			}
		}
	case KTimetz:
		d.B, err = b, checkTimetz(b)
	case KTimestamp, KTimestamptz:
		if err = fixed(b, 8); err == nil {
			d.I = int64(binary.BigEndian.Uint64(b))
			if d.I != NoBegin && d.I != NoEnd && !validTimestamp(d.I) {
				err = errTimestampRange()
			}
		}
	case KInterval:
		if err = fixed(b, 16); err == nil {
			d.Iv.Micros = int64(binary.BigEndian.Uint64(b))
			d.Iv.Days = int32(binary.BigEndian.Uint32(b[8:]))
			d.Iv.Months = int32(binary.BigEndian.Uint32(b[12:]))
		}
	case KUUID:
		d.B, err = b, fixed(b, 16)
	case KArray:
		return parseArrayBinary(t, b)
	case KJSONB:
		if len(b) == 0 {
			return d, errBinaryShort()
		}
		if b[0] != 1 {
			return d, sqlerr.New(sqlerr.InternalError, "unsupported jsonb version number %d", b[0])
		}
		if err = charset.CheckUTF8(b[1:]); err == nil {
			d.B, err = CanonicalJSONB(make([]byte, 0, len(b)+8), b[1:])
		}
	case KRecord:
		d.B, err = b, checkRecord(b)
	case KInet:
		d.B, err = inetBinary(b, t.base() == OCidr)
	case KMacaddr:
		d.B, err = b, bytesOf(b, 6)
	case KBit:
		d.B, err = bitsBinary(b)
	case KGeometry:
		d.B, err = geometryBinary(t.base(), b)
	case KMoney:
		if err = fixed(b, 8); err == nil {
			d.I = int64(binary.BigEndian.Uint64(b))
		}
	case KRange:
		return parseRangeBinary(t, b)
	case KMultirange:
		return parseMultirangeBinary(t, b)
	case KWord:
		switch t.base() {
		case OMacaddr8:
			d.B, err = macaddr8Binary(b)
		case OTid:
			d.B, err = b, fixed(b, 6)
		default:
			d.B, err = b, fixed(b, 8)
		}
	case KVoid:
		d.B = []byte{}
	default:
		return d, sqlerr.New(sqlerr.FeatureNotSupported, "no binary input function available for type %s", FormatType(t))
	}
	return d, err
}

func parseTextBinary(t T, b []byte) ([]byte, error) {
	switch t.base() {
	case OChar:
		if err := oneByte(b); err != nil || b[0] != 0 {
			return b, err
		}
		return []byte{}, nil
	case OJSONPath:
		return jsonPathText(b)
	case OTxidSnapshot, OPgSnapshot:
		return snapshotText(b)
	case OPgNodeTree, 3361, 3402, 5017:
		return nil, errNoInput(t)
	}
	if unsupportedText[t.base()] {
		return nil, sqlerr.Unsupported(-1, "type %s", FormatTypeNoMod(t.base()))
	}
	if err := charset.CheckUTF8(b); err != nil {
		return nil, err
	}
	if t.base() == OName && len(b) > NameLen {
		return nil, sqlerr.New(sqlerr.NameTooLong, "identifier too long").WithDetail("Identifier must be less than 64 characters.")
	}
	return b, nil
}

// macaddr8Binary takes an address of six bytes as well.
func macaddr8Binary(b []byte) ([]byte, error) {
	if len(b) == 6 {
		return []byte{b[0], b[1], b[2], 0xff, 0xfe, b[3], b[4], b[5]}, nil
	}
	return b, bytesOf(b, 8)
}

func checkTimetz(b []byte) error {
	if err := fixed(b, 12); err != nil {
		return err
	}
	micros, zone := timetzParts(b)
	if micros < 0 || micros > usecPerDay {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
	}
	if zone <= -16*3600 || zone >= 16*3600 {
		return sqlerr.New(sqlerr.InvalidTimeZoneDisplacement, "time zone displacement out of range")
	}
	return nil
}

// AppendBinary appends a non-null value's binary form, without a length word.
func AppendBinary(buf []byte, d Datum) []byte {
	switch d.T.Kind() {
	case KBool:
		return append(buf, byte(d.I))
	case KInt2:
		return binary.BigEndian.AppendUint16(buf, uint16(d.I))
	case KInt4, KOid, KDate:
		return binary.BigEndian.AppendUint32(buf, uint32(d.I))
	case KInt8, KTime, KTimestamp, KTimestamptz, KMoney:
		return binary.BigEndian.AppendUint64(buf, uint64(d.I))
	case KFloat4:
		return binary.BigEndian.AppendUint32(buf, math.Float32bits(float32(d.F)))
	case KFloat8:
		return binary.BigEndian.AppendUint64(buf, FloatBits(d.F))
	case KNumeric:
		return d.Dec.AppendBinary(buf)
	case KInterval:
		buf = binary.BigEndian.AppendUint64(buf, uint64(d.Iv.Micros))
		buf = binary.BigEndian.AppendUint32(buf, uint32(d.Iv.Days))
		return binary.BigEndian.AppendUint32(buf, uint32(d.Iv.Months))
	case KJSONB:
		return append(append(buf, 1), d.B...)
	case KText:
		return appendTextBinary(buf, d)
	case KInet:
		buf = append(buf, d.B...)
		if len(d.B) > 2 { // a cidr that became an inet keeps its bytes
			buf[len(buf)-len(d.B)+2] = inetFlag(d.T.base() == OCidr)
		}
		return buf
	}
	return append(buf, d.B...)
}

func appendTextBinary(buf []byte, d Datum) []byte {
	switch d.T.base() {
	case OChar:
		if len(d.B) == 0 {
			return append(buf, 0)
		}
	case OTxidSnapshot, OPgSnapshot:
		return appendSnapshot(buf, d.B)
	case OJSONPath:
		return append(append(buf, jsonPathVersion), d.B...)
	case OBpchar:
		buf = append(buf, d.B...)
		if d.T.Mod > 4 {
			return appendPadding(buf, d.B, int(d.T.Mod)-4)
		}
		return buf
	}
	return append(buf, d.B...)
}

// FloatBits is the binary form of a float8. There is one NaN, that of PostgreSQL,
// which is not Go's.
func FloatBits(f float64) uint64 {
	if f != f {
		return 0x7FF8000000000000
	}
	return math.Float64bits(f)
}
