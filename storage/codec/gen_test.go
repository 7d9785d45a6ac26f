package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"

	"kvsqld/catalog/types"
)

func numeric(p, s int32) types.T {
	return types.T{OID: types.ONumeric, Mod: p<<16 | s + 4}
}

// keyTypes are all types that can be part of a key.
var keyTypes = []types.T{
	types.TBool, types.TInt2, types.TInt4, types.TInt8, types.TOid, types.TFloat4, types.TFloat8,
	numeric(10, 2), numeric(18, 0), types.TNumeric, numeric(30, 5), types.TText, types.TVarchar,
	types.TBytea, types.TBpchar, types.TDate, types.TTime, types.TTimetz, types.TTimestamp,
	types.TTimestamptz, types.TInterval, types.TUUID, types.Of(types.OInet), types.Of(types.OCidr),
	types.Of(types.OMacaddr), types.Of(types.OVarbit), types.TInt4Arr, types.TTextArr,
	types.Of(3904), types.Of(3906), types.Of(3908), types.Of(4536), types.Of(4532), // ranges and multiranges
	types.Of(types.OJSONB), types.Of(3807),
	types.Of(types.OCitext), types.Of(types.OCitextArr), types.Of(types.OHstore),
}

// rowTypes are all types that rows hold.
var rowTypes = append([]types.T{types.Of(types.OJSON), types.Of(types.OPoint), types.Of(types.OMoney)}, keyTypes...)

var interestingInts = []int64{0, 1, -1, 2, 127, 128, 255, 256, -128, -256, math.MaxInt16, math.MinInt16,
	math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}

func genInt(r *rand.Rand, lo, hi int64) int64 {
	switch r.IntN(3) {
	case 0:
		return min(max(interestingInts[r.IntN(len(interestingInts))], lo), hi)
	case 1:
		return min(max(int64(r.IntN(7)-3), lo), hi)
	}
	if lo == math.MinInt64 {
		return int64(r.Uint64())
	}
	return lo + int64(r.Uint64N(uint64(hi-lo)+1))
}

func genBytes(r *rand.Rand, maxLen int) []byte {
	b := make([]byte, r.IntN(maxLen+1))
	for i := range b {
		b[i] = []byte{0, 1, 0xff, 0xfe, 'a', 'b', ' ', byte(r.Uint32())}[r.IntN(8)]
	}
	return b
}

func genText(r *rand.Rand, maxLen int) []byte {
	b := make([]byte, r.IntN(maxLen+1))
	for i := range b {
		b[i] = "ab \x01z"[r.IntN(5)]
	}
	return b
}

var floats = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1.5}

func genDecimal(r *rand.Rand) types.Decimal {
	switch r.IntN(10) {
	case 0:
		return []types.Decimal{types.DecimalNaN, types.DecimalPosInf, types.DecimalNegInf, types.NewDecimal(0, 3)}[r.IntN(4)]
	case 1, 2:
		s := ""
		if r.IntN(2) == 0 {
			s = "-"
		}
		for range 1 + r.IntN(60) {
			s += strconv.Itoa(r.IntN(10))
		}
		d, err := types.ParseDecimal(s + "e-" + strconv.Itoa(r.IntN(50)))
		if err != nil {
			panic(err)
		}
		return d
	}
	return types.NewDecimal(genInt(r, math.MinInt64+1, math.MaxInt64), int32(r.IntN(12)))
}

// gen returns a random value that is not NULL.
func gen(r *rand.Rand, t types.T) types.Datum {
	d := types.Datum{T: t}
	switch t.Kind() {
	case types.KBool:
		d.I = int64(r.IntN(2))
	case types.KInt2:
		d.I = genInt(r, math.MinInt16, math.MaxInt16)
	case types.KInt4, types.KDate:
		d.I = genInt(r, math.MinInt32, math.MaxInt32)
	case types.KInt8, types.KMoney, types.KTimestamp, types.KTimestamptz:
		d.I = genInt(r, math.MinInt64, math.MaxInt64)
	case types.KTime:
		d.I = genInt(r, 0, 86_400_000_000)
	case types.KOid:
		d.I = genInt(r, 0, math.MaxUint32)
	case types.KFloat4, types.KFloat8:
		d.F = r.NormFloat64() * 100
		if r.IntN(2) == 0 {
			d.F = floats[r.IntN(len(floats))]
		}
		if t.Kind() == types.KFloat4 {
			d.F = float64(float32(d.F))
		}
	case types.KNumeric:
		if s, ok := types.NarrowScale(t); ok {
			d.Dec = types.NewDecimal(genInt(r, -maxCoef+1, maxCoef-1), s)
			if r.IntN(20) == 0 {
				d.Dec = types.DecimalNaN
			}
			break
		}
		d.Dec = genDecimal(r)
	case types.KText:
		d.B = genText(r, 6)
		for t.OID == types.OBpchar && len(d.B) > 0 && d.B[len(d.B)-1] == ' ' {
			d.B = d.B[:len(d.B)-1]
		}
	case types.KCitext:
		if d.B = genText(r, 6); r.IntN(2) == 0 {
			d.B = bytes.ToUpper(d.B)
		}
	case types.KHstore:
		pairs := make([]types.HstorePair, r.IntN(4))
		for i := range pairs {
			pairs[i] = types.HstorePair{Key: genText(r, 3), Val: genText(r, 3)}
			if pairs[i].Null = r.IntN(4) == 0; pairs[i].Null {
				pairs[i].Val = nil
			}
		}
		d.B = types.NewHstore(pairs).B
	case types.KBytea:
		d.B = genBytes(r, 6)
	case types.KUUID:
		d.B = append(genBytes(r, 0), make([]byte, 16)...)
		copy(d.B, genBytes(r, 16))
	case types.KMacaddr:
		d.B = make([]byte, 6)
		copy(d.B, genBytes(r, 6))
	case types.KTimetz:
		d.B = binary.BigEndian.AppendUint64(nil, uint64(genInt(r, 0, 86_400_000_000)))
		d.B = binary.BigEndian.AppendUint32(d.B, uint32(int32(r.IntN(5)-2)*3600))
	case types.KInterval:
		d.Iv = types.Interval{Months: int32(r.IntN(7) - 3), Days: int32(r.IntN(200) - 100), Micros: genInt(r, -1<<40, 1<<40)}
		if r.IntN(4) == 0 {
			d.Iv = types.Interval{Months: int32(genInt(r, math.MinInt32, math.MaxInt32)), Days: int32(genInt(r, math.MinInt32, math.MaxInt32)), Micros: genInt(r, math.MinInt64, math.MaxInt64)}
		}
	case types.KInet:
		d.B = genInet(r, t.OID == types.OCidr)
	case types.KBit:
		n := r.IntN(20)
		bits := genBytes(r, 3)
		bits = append(bits, 0, 0, 0)[:(n+7)/8]
		if n%8 != 0 {
			bits[len(bits)-1] &= 0xff << (8 - n%8)
		}
		d.B = append(binary.BigEndian.AppendUint32(nil, uint32(n)), bits...)
	case types.KArray:
		n := r.IntN(4)
		elems := make([]types.Datum, n)
		for i := range elems {
			elems[i] = gen(r, elemOf(t))
			if r.IntN(5) == 0 {
				elems[i] = types.Null(elemOf(t))
			}
		}
		if n == 0 {
			return withType(types.NewArray(elemOf(t), nil, nil, nil), t)
		}
		return withType(types.NewArray(elemOf(t), []int{n}, []int{1 + r.IntN(2)}, elems), t)
	case types.KRange:
		v, err := types.NewRange(t, genRange(r, rangeElem(t)))
		if err == nil {
			_, err = types.DecodeRange(v)
		}
		if err != nil { // a bound has no successor, or is no value of its type
			return gen(r, t)
		}
		return v
	case types.KMultirange:
		var list []types.RangeValue
		for range r.IntN(4) {
			v, _ := types.DecodeRange(gen(r, types.RangeOf(t)))
			list = append(list, v)
		}
		v, err := types.NewMultirange(t, list)
		if err != nil {
			panic(err)
		}
		return v
	case types.KJSONB:
		v, err := types.Parse(t, string(genJSON(r, nil, 3)), types.DefaultFmt)
		if err != nil {
			panic(err)
		}
		return v
	default:
		d.B = []byte(`{"a": 1}`)[:r.IntN(9)]
	}
	return d
}

// genJSON appends a document at most depth deep.
func genJSON(r *rand.Rand, dst []byte, depth int) []byte {
	switch k := r.IntN(9); {
	case k == 0:
		return append(dst, "null"...)
	case k == 1:
		return strconv.AppendBool(dst, r.IntN(2) == 0)
	case k < 4:
		return append(dst, []string{"0", "-0.0", "1", "1.00", "-1.5e20", "1e-7", "10", "99.9", "12345678901234567890123"}[r.IntN(9)]...)
	case k < 6 || depth == 0:
		return types.AppendJSONString(dst, genText(r, 3))
	case k == 6:
		dst = append(dst, '[')
		for i := range r.IntN(4) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = genJSON(r, dst, depth-1)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range r.IntN(4) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(types.AppendJSONString(dst, genText(r, 2)), ':')
		dst = genJSON(r, dst, depth-1)
	}
	return append(dst, '}')
}

func withType(d types.Datum, t types.T) types.Datum {
	d.T = t
	return d
}

func genRange(r *rand.Rand, elem types.T) types.RangeValue {
	v := types.RangeValue{Empty: r.IntN(8) == 0, LoInc: r.IntN(2) == 0, HiInc: r.IntN(2) == 0}
	lo, hi := gen(r, elem), gen(r, elem)
	if types.Compare(lo, hi) > 0 {
		lo, hi = hi, lo
	}
	if r.IntN(5) > 0 {
		v.Lo = &lo
	}
	if r.IntN(5) > 0 {
		v.Hi = &hi
	}
	return v
}

func genInet(r *rand.Rand, cidr bool) []byte {
	family, n := byte(inetV4), 4
	if r.IntN(3) == 0 {
		family, n = inetV6, 16
	}
	bits := r.IntN(8*n + 1)
	addr := make([]byte, n)
	copy(addr, genBytes(r, n))
	c := byte(0)
	if cidr {
		c = 1
		for i := range addr {
			if left := bits - 8*i; left <= 0 {
				addr[i] = 0
			} else if left < 8 {
				addr[i] &= 0xff << (8 - left)
			}
		}
	}
	return append([]byte{family, byte(bits), c, byte(n)}, addr...)
}
