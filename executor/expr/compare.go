package expr

import (
	"bytes"
	"strings"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// cmpOp is a comparison operator.
type cmpOp uint8

const (
	opEQ cmpOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

// accepts[op][c+1] tells whether a three-way comparison's result c satisfies op.
var accepts = [...][3]bool{
	opEQ: {false, true, false}, opNE: {true, false, true},
	opLT: {true, false, false}, opLE: {true, true, false},
	opGT: {false, false, true}, opGE: {false, true, true},
}

// mirrored is the operator with its sides exchanged.
var mirrored = [...]cmpOp{opEQ: opEQ, opNE: opNE, opLT: opGT, opLE: opGE, opGT: opLT, opGE: opLE}

// cmpKind says how two values of a comparison's types are compared.
type cmpKind uint8

const (
	cmpInt cmpKind = iota
	cmpFloat
	cmpBytes
	cmpDec
	cmpBool
	cmpDatum // by the types' order
)

// comparisons lists prosrc names as prefix + eq, ne, … + suffix.
var comparisons = []struct {
	kind  cmpKind
	names string
	// left and right turn an argument into the form that is compared; "" keeps it
	left, right string
}{
	{cmpInt, "int2* int4* int8* int24* int28* int42* int48* int82* int84* oid* xid* cid* date_* time_* timestamp_* cash_*", "", ""},
	{cmpFloat, "float4* float8* float48* float84*", "", ""},
	{cmpBytes, "text_* text* bpchar* name* char* bytea* uuid_* name*text text*name xid8* pg_lsn_* tid*", "", ""},
	{cmpBytes, "text_pattern_* bpchar_pattern_*", "", ""},
	{cmpDec, "numeric_*", "", ""},
	{cmpBool, "bool*", "", ""},
	{cmpInt, "date_*_timestamp", "date_timestamp", ""},
	{cmpInt, "timestamp_*_date", "", "date_timestamp"},
	{cmpInt, "date_*_timestamptz", "date_timestamptz", ""},
	{cmpInt, "timestamptz_*_date", "", "date_timestamptz"},
	{cmpInt, "timestamp_*_timestamptz", "timestamp_timestamptz", ""},
	{cmpInt, "timestamptz_*_timestamp", "", "timestamp_timestamptz"},
	{cmpDatum, "interval_* timetz_* jsonb_* enum_* array_* record_* record_image_* oidvector* range_* network_* macaddr_* macaddr8_* multirange_* bit* citext.citext_* citext.citext_pattern_* hstore.hstore_*", "", ""},
}

// signCompared lists the support functions that return -1, 0 or 1.
var signCompared = []string{
	"btint4cmp", "btint8cmp", "btint24cmp", "btint28cmp", "btint42cmp", "btint48cmp", "btint82cmp", "btint84cmp",
	"btfloat4cmp", "btfloat8cmp", "btfloat48cmp", "btfloat84cmp", "numeric_cmp", "btboolcmp", "date_cmp", "time_cmp", "timetz_cmp",
	"timestamp_cmp", "interval_cmp", "jsonb_cmp", "enum_cmp", "btarraycmp", "btoidcmp", "btoidvectorcmp",
	"macaddr_cmp", "macaddr8_cmp", "hstore.hstore_cmp", "range_cmp", "multirange_cmp", "pg_lsn_cmp", "xid8cmp", "cash_cmp",
}

func compareFuncs(r *registry) {
	ops := [...]string{opEQ: "eq", opNE: "ne", opLT: "lt", opLE: "le", opGT: "gt", opGE: "ge"}
	for _, fam := range comparisons {
		for _, pattern := range strings.Fields(fam.names) {
			for op, name := range ops {
				src := strings.Replace(pattern, "*", name, 1)
				switch src {
				case "text_eq", "text_ne", "textlt", "textle", "textgt", "textge",
					"text_pattern_eq", "text_pattern_ne", "bpchar_pattern_eq", "bpchar_pattern_ne", "citext.citext_pattern_eq", "citext.citext_pattern_ne",
					"cidne", "cidlt", "cidle", "cidgt", "cidge", "xidlt", "xidle", "xidgt", "xidge":
					continue // not in pg_proc
				case "xidne":
					src = "xidneq"
				}
				r.add(comparison(cmpOp(op), fam.kind, fam.left, fam.right), src)
				if fam.left+fam.right == "" {
					kind := fam.kind
					if pattern == "bpchar*" {
						kind = cmpDatum // lists may hold values of any length
					}
					switch cmpOp(op) {
					case opEQ:
						r.equality[src] = kind
					case opNE:
						r.inequality[src] = kind
					}
				}
			}
		}
	}
	r.add(comparison(opEQ, cmpDatum, "", ""), "aclitem_eq")
}

// comparison returns the builder of a comparison operator.
func comparison(op cmpOp, kind cmpKind, left, right string) builder {
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		if call.Args[0].Type().OID == types.OXid && call.Args[1].Type().OID == types.OInt4 {
			number := *call
			number.T = call.Args[0].Type()
			unsigned := fn1(func(_ *callCtx, v int64) (int64, error) { return int64(uint32(v)), nil })
			var err error
			if args[1], err = unsigned(c, &number, []Eval{args[1]}); err != nil {
				return nil, err
			}
		}
		if kind == cmpBytes && (carriesBlanks(call.Args[0]) || carriesBlanks(call.Args[1])) {
			return &cmpEval{frame: newFrame(call, args), op: op, kind: cmpDatum}, nil
		}
		var err error
		if args[0], err = convertDate(c, call, args[0], left, call.Args[1].Type()); err != nil {
			return nil, err
		}
		if args[1], err = convertDate(c, call, args[1], right, call.Args[0].Type()); err != nil {
			return nil, err
		}
		return &cmpEval{frame: newFrame(call, args), op: op, kind: kind}, nil
	}
}

// lateDates converts dates for comparisons: those after all timestamps are not
// out of range but lie between the last one and infinity.
func lateDates(zoned bool) func(*callCtx, int64) (int64, error) {
	return func(c *callCtx, d int64) (int64, error) {
		ts, err := types.DateToTimestamp(d)
		switch {
		case err != nil:
			return types.NoEnd - 1, nil
		case zoned:
			return lateLocal(c, ts), nil
		}
		return ts, nil
	}
}

// lateLocal is the instant of a local time, beside the infinite ones where timestamps
// do not reach.
func lateLocal(c *callCtx, ts int64) int64 {
	tz, err := types.TimestampToTimestamptz(ts, c.zone())
	switch {
	case err == nil:
		return tz
	case ts > 0:
		return types.NoEnd - 1
	}
	return types.NoBegin + 1
}

// carriesBlanks reports whether values of e may end in blanks that do not count
// in comparisons: character without a length. Those with a length are kept
// unpadded.
func carriesBlanks(e plan.Expr) bool {
	if t := e.Type(); t.OID != types.OBpchar || t.Mod >= 4 {
		return false
	}
	c, ok := e.(*plan.Const)
	return !ok || bytes.HasSuffix(c.Val.B, []byte(" "))
}

// cmpEval compares two vectors. As a predicate it writes the selection directly.
type cmpEval struct {
	frame
	op    cmpOp
	kind  cmpKind
	found []uint32
	one   [2][1]int64
}

func (e *cmpEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	out := e.out.Bool
	if e.out.Const {
		if len(rows) == 1 {
			k, err := e.compare(nil, rows)
			if err != nil {
				return nil, err
			}
			out[0] = len(k) == 1
		}
		return &e.out, nil
	}
	// A selected subset is turned back into values: clear, then mark.
	for _, i := range rows {
		out[i] = false
	}
	if e.found, err = e.compare(e.found, rows); err != nil {
		return nil, err
	}
	for _, i := range e.found {
		out[i] = true
	}
	return &e.out, nil
}

func (e *cmpEval) Select(env *Env, b *vec.Batch) error {
	for i, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return err
		}
		e.vecs[i] = v
	}
	e.env = env
	rows := rowsOf(b)
	for _, v := range e.vecs {
		if v.Nulls.Any() {
			e.sel = nonNull(room(e.sel, b), v, rows)
			// The second pass filters in place: its output is never ahead of its input.
			rows = e.sel
		}
	}
	keep, err := e.compare(e.found, rows)
	if err != nil {
		return err
	}
	if keep == nil {
		keep = room(nil, b)
	}
	e.found, b.Sel = keep, keep
	return nil
}

// compare returns the rows, none NULL, that satisfy the operator.
func (e *cmpEval) compare(dst []uint32, rows []uint32) ([]uint32, error) {
	dst = resize(dst, len(rows))
	x, y, op := e.vecs[0], e.vecs[1], e.op
	rec := x.T.Kind() == types.KRecord
	if x.Const && !y.Const && !rec { // an error names a row's columns in order
		x, y, op = y, x, mirrored[op]
	}
	switch e.kind {
	case cmpInt:
		return selectInts(dst, x.I64, y.I64, mask(x), mask(y), rows, op), nil
	case cmpFloat:
		if y.Const && !x.Const && y.F64[0] == y.F64[0] {
			return selectConst(dst, x.F64, y.F64[0], rows, op), nil
		}
		return selectBy(dst, x.F64, y.F64, mask(x), mask(y), rows, op, cmpFloats), nil
	case cmpBytes:
		return selectBytes(dst, x.B, y.B, mask(x), mask(y), rows, op), nil
	case cmpDec:
		return e.selectDec(dst, x, y, rows, op), nil
	case cmpBool:
		return selectBy(dst, x.Bool, y.Bool, mask(x), mask(y), rows, op, cmpBools), nil
	}
	k := 0
	need := needOrder
	if e.op == opEQ || e.op == opNE {
		need = needEqual
	}
	if x.T.Kind() == types.KArray && len(rows) > 0 {
		if err := need(x.T); err != nil {
			return nil, err
		}
	}
	by := rowOrder
	if strings.HasPrefix(e.call.Proc.Src, "record_image_") {
		by, need = rowImage, anyImage
	}
	for _, i := range rows {
		var c int
		if rec {
			var err error
			if c, err = compareRows(x.Get(int(i)), y.Get(int(i)), by, need); err != nil {
				return nil, err
			}
		} else {
			c = compareDatums(x.Get(int(i)), y.Get(int(i)))
		}
		dst[k] = i
		if accepts[op][c+1] {
			k++
		}
	}
	return dst[:k], nil
}

func (e *cmpEval) selectDec(dst []uint32, x, y *vec.Vec, rows []uint32, op cmpOp) []uint32 {
	a, as, aok := narrowForm(x, &e.one[0])
	b, bs, bok := narrowForm(y, &e.one[1])
	if aok && bok {
		if as != bs && y.Const {
			// Bring the constant to the column's scale where that is exact.
			if v, ok := rescaleExact(b[0], bs, as); ok {
				e.one[1][0] = v
				b, bs = e.one[1][:], as
			}
		}
		if as == bs {
			return selectInts(dst, a, b, mask(x), mask(y), rows, op)
		}
	}
	p := column[types.Decimal](x, rows, &e.scratch[0])
	q := column[types.Decimal](y, rows, &e.scratch[1])
	return selectBy(dst, p, q, mask(x), mask(y), rows, op, types.Decimal.Cmp)
}

func selectInts(dst []uint32, x, y []int64, mx, my int, rows []uint32, op cmpOp) []uint32 {
	if my == 0 && mx != 0 {
		return selectConst(dst, x, y[0], rows, op)
	}
	k := 0
	switch op {
	case opEQ:
		for _, i := range rows {
			dst[k] = i
			if x[int(i)&mx] == y[int(i)&my] {
				k++
			}
		}
	case opNE:
		for _, i := range rows {
			dst[k] = i
			if x[int(i)&mx] != y[int(i)&my] {
				k++
			}
		}
	case opLT:
		for _, i := range rows {
			dst[k] = i
			if x[int(i)&mx] < y[int(i)&my] {
				k++
			}
		}
	case opLE:
		for _, i := range rows {
			dst[k] = i
			if x[int(i)&mx] <= y[int(i)&my] {
				k++
			}
		}
	case opGT:
		return selectInts(dst, y, x, my, mx, rows, opLT)
	case opGE:
		return selectInts(dst, y, x, my, mx, rows, opLE)
	}
	return dst[:k]
}

// selectConst compares with a constant that is not NaN. NaN, which is greater
// than every number, fails < and <= as in Go; > and >= are their complements.
func selectConst[T int64 | float64](dst []uint32, x []T, c T, rows []uint32, op cmpOp) []uint32 {
	k := 0
	switch op {
	case opEQ:
		for _, i := range rows {
			dst[k] = i
			if x[i] == c {
				k++
			}
		}
	case opNE:
		for _, i := range rows {
			dst[k] = i
			if x[i] != c {
				k++
			}
		}
	case opLT:
		for _, i := range rows {
			dst[k] = i
			if x[i] < c {
				k++
			}
		}
	case opLE:
		for _, i := range rows {
			dst[k] = i
			if x[i] <= c {
				k++
			}
		}
	case opGT:
		for _, i := range rows {
			dst[k] = i
			if !(x[i] <= c) {
				k++
			}
		}
	case opGE:
		for _, i := range rows {
			dst[k] = i
			if !(x[i] < c) {
				k++
			}
		}
	}
	return dst[:k]
}

func selectBytes(dst []uint32, x, y [][]byte, mx, my int, rows []uint32, op cmpOp) []uint32 {
	if op != opEQ && op != opNE {
		return selectBy(dst, x, y, mx, my, rows, op, bytes.Compare)
	}
	k, want := 0, op == opEQ
	for _, i := range rows {
		dst[k] = i
		if bytes.Equal(x[int(i)&mx], y[int(i)&my]) == want {
			k++
		}
	}
	return dst[:k]
}

func selectBy[T any](dst []uint32, x, y []T, mx, my int, rows []uint32, op cmpOp, cmp func(a, b T) int) []uint32 {
	k, ok := 0, &accepts[op]
	for _, i := range rows {
		dst[k] = i
		if ok[cmp(x[int(i)&mx], y[int(i)&my])+1] {
			k++
		}
	}
	return dst[:k]
}

// cmpFloats orders floats as PostgreSQL does: NaN equals NaN and is greatest.
func cmpFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}

func cmpBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareDatums orders two non-null values of the same type.
func compareDatums(a, b types.Datum) int { return sign(types.Compare(a, b)) }

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// rescaleExact returns v/10^from as an integer of scale to, if it is one and fits.
func rescaleExact(v int64, from, to int32) (int64, bool) {
	for from > to {
		if v%10 != 0 {
			return 0, false
		}
		v, from = v/10, from-1
	}
	return mulPow10(v, to-from)
}

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// mulPow10 returns v*10^n, false when it does not fit.
func mulPow10(v int64, n int32) (int64, bool) {
	if v == 0 || n == 0 {
		return v, true
	}
	if n < 0 || int(n) >= len(pow10) {
		return 0, false
	}
	p := v * pow10[n]
	return p, p/pow10[n] == v
}
