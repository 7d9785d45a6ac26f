package table

import (
	"math"

	"github.com/zeebo/xxh3"

	"kvsqld/catalog/types"
)

// A tid is made of the row's key. Of a row number, and of an integer that is the whole
// primary key, it is the number:
//
//	1 … 65535                (0,1) … (0,65535)
//	65536                    (1,1)
//
// as far as the pages below hashedPages reach. A key of another kind, or an integer
// outside, is only hashed there, into the pages above if the key is an integer.

// rowsPerPage are the row numbers of one page of tids.
const rowsPerPage = 1<<16 - 1

// hashedPages is the first page of tids of the integers that no number stands for, which
// are those below 1 and above lastNumber.
const (
	hashedPages = 1 << 31
	lastNumber  = hashedPages * rowsPerPage
)

// Tid makes the page and the line of a tid of a row key.
func (d *Desc) Tid(key []byte) (page, line int64) {
	var n uint64
	switch {
	case d.columns() == nil:
		n = rowNumber(key) - 1 // the first is (0,1)
	case d.integer:
		if n = integerKey(key) - 1; n >= lastNumber {
			n = lastNumber + xxh3.Hash(key)%lastNumber
		}
	default:
		n = xxh3.Hash(key) >> 16
	}
	return int64(n / rowsPerPage & (1<<32 - 1)), int64(n%rowsPerPage + 1)
}

// integerKey is the integer that a key of two, four or eight bytes is; one below zero is
// a great number.
func integerKey(key []byte) uint64 {
	var n uint64
	for _, b := range key {
		n = n<<8 | uint64(b)
	}
	return n - 1<<(8*len(key)-1)
}

// ctid is the row's tid as a value.
func (d *Desc) ctid(key []byte) []byte {
	page, line := d.Tid(key)
	return types.Tid(uint32(page), uint16(line))
}

// TidRanges turns ranges of tids into ranges of the master file's key, in which all rows
// with such tids are, and of a table with a primary key maybe others. The table is one of
// those whose ctids tell keys.
func (d *Desc) TidRanges(tids []types.Range) []types.Range {
	out := make([]types.Range, 0, len(tids))
	hashed := false
	for _, r := range tids {
		if len(r.Eq) > 0 {
			n, line := numberOfTid(r.Eq[0])
			switch {
			case !line:
			case d.integer && n > lastNumber:
				hashed = true
			default:
				out = append(out, types.Range{Eq: []types.Datum{types.Int(types.TInt8, n)}})
			}
			continue
		}
		lo, hi := int64(1), int64(math.MaxInt64)
		if r.Lo != nil {
			n, line := numberOfTid(*r.Lo)
			if lo = n; !r.LoInc || !line {
				lo++
			}
		}
		if r.Hi != nil {
			n, line := numberOfTid(*r.Hi)
			if hi = n; !r.HiInc && line {
				hi--
			}
		}
		if d.integer {
			hashed = hashed || hi > lastNumber
			hi = min(hi, lastNumber)
		}
		if lo <= hi {
			a, b := types.Int(types.TInt8, lo), types.Int(types.TInt8, hi)
			out = append(out, types.Range{Lo: &a, LoInc: true, Hi: &b, HiInc: true})
		}
	}
	if hashed {
		a, b := types.Int(types.TInt8, 0), types.Int(types.TInt8, lastNumber)
		out = append(out, types.Range{Hi: &a, HiInc: true}, types.Range{Lo: &b})
	}
	return out
}

// numberOfTid is the number that stands for a tid, and whether there is such a line on
// its page: of line 0, which none has, it is the number before those of the page.
func numberOfTid(tid types.Datum) (n int64, line bool) {
	page, at := types.TidParts(tid.B)
	return int64(page)*rowsPerPage + int64(at), 0 < at && at <= rowsPerPage
}
