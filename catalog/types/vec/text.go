package vec

import (
	"encoding/binary"
	"math"
	"strconv"

	"kvsqld/catalog/types"
)

// AppendText appends the text form of a row that is not NULL.
func AppendText(buf []byte, v *Vec, row int, o *types.FmtOpts) []byte {
	i := v.Idx(row)
	switch v.T.Kind() {
	case types.KInt2, types.KInt4, types.KInt8:
		return strconv.AppendInt(buf, v.I64[i], 10)
	case types.KBool:
		if v.Bool[i] {
			return append(buf, 't')
		}
		return append(buf, 'f')
	case types.KText:
		switch v.T.OID {
		case types.OText, types.OVarchar, types.OName, types.OUnknown:
			return append(buf, v.B[i]...)
		}
	case types.KEnum:
		return append(buf, types.EnumLabel(v.B[i])...)
	case types.KJSON, types.KJSONB:
		return append(buf, v.B[i]...)
	case types.KNumeric:
		if v.Dec == nil {
			return types.AppendDecimal(buf, v.I64[i], v.Scale)
		}
		return v.Dec[i].AppendText(buf)
	case types.KDate:
		return types.AppendDate(buf, v.I64[i], opts(o))
	case types.KTimestamp:
		return types.AppendTimestamp(buf, v.I64[i], opts(o))
	case types.KTimestamptz:
		return types.AppendTimestamptz(buf, v.I64[i], opts(o))
	}
	return types.AppendText(buf, v.Get(row), o)
}

func opts(o *types.FmtOpts) *types.FmtOpts {
	if o == nil {
		return types.DefaultFmt
	}
	return o
}

// AppendBinary appends the binary form, as clients read it, of a row that is not NULL.
func AppendBinary(buf []byte, v *Vec, row int, o *types.FmtOpts) []byte {
	i := v.Idx(row)
	switch v.T.Kind() {
	case types.KInt2:
		return binary.BigEndian.AppendUint16(buf, uint16(v.I64[i]))
	case types.KInt4, types.KOid, types.KDate:
		return binary.BigEndian.AppendUint32(buf, uint32(v.I64[i]))
	case types.KInt8, types.KTime, types.KTimestamp, types.KTimestamptz, types.KMoney:
		return binary.BigEndian.AppendUint64(buf, uint64(v.I64[i]))
	case types.KFloat8:
		return binary.BigEndian.AppendUint64(buf, types.FloatBits(v.F64[i]))
	case types.KFloat4:
		return binary.BigEndian.AppendUint32(buf, math.Float32bits(float32(v.F64[i])))
	case types.KBool:
		if v.Bool[i] {
			return append(buf, 1)
		}
		return append(buf, 0)
	case types.KBytea, types.KUUID, types.KJSON:
		return append(buf, v.B[i]...)
	}
	return types.AppendClient(buf, v.Get(row), o)
}
