package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

const codeInvalidFrameOffset sqlerr.Code = "22013"

// frameBounds computes the frame of each row of a partition.
type frameBounds struct {
	node    *plan.Frame
	peers   bool // all rows of a partition are peers, as there is no ORDER BY
	key     int  // order column of RANGE with offsets
	desc    bool
	keyType types.T
	starts  expr.Eval // in_range for the frame's start and end
	ends    expr.Eval

	env        *Env
	start, end types.Datum
	args       vec.Batch // one row: value, base, offset
	head, tail int       // positions of the row before, which only grow
}

// span is a range of rows, hi excluded.
type span struct{ lo, hi int }

func newFrameBounds(f *plan.Frame, order []plan.SortKey, keys []keyOrder) (*frameBounds, error) {
	b := &frameBounds{node: f, peers: len(order) == 0}
	if f.Mode != "RANGE" || f.Start == nil && f.End == nil || len(order) != 1 {
		return b, nil
	}
	b.key, b.desc, b.keyType = keys[0].col, keys[0].desc, order[0].X.Type()
	var err error
	if f.Start != nil {
		if b.starts, err = b.inRange(f.Start, f.StartKind, false); err != nil {
			return nil, err
		}
	}
	if f.End != nil {
		b.ends, err = b.inRange(f.End, f.EndKind, true)
	}
	return b, err
}

// inRange compiles the test whether a value lies before the frame's end (less)
// or not before its start, seen from a base value.
func (b *frameBounds) inRange(off plan.Expr, kind string, less bool) (expr.Eval, error) {
	proc := b.node.InRange
	if proc == nil {
		proc = &catalog.Proc{Name: "in_range", Src: "in_range_int8_int8", Kind: 'f', Strict: true, Volatile: 'i', Ret: types.OBool,
			Args: []types.OID{b.keyType.OID, b.keyType.OID, off.Type().OID, types.OBool, types.OBool}}
	}
	sub := kind == "PRECEDING"
	if b.desc {
		sub, less = !sub, !less
	}
	col := func(i int, t types.T) plan.Expr { return &plan.Col{At: plan.At{T: t, Off: -1}, Idx: i} }
	flag := func(v bool) plan.Expr {
		return &plan.Const{At: plan.At{T: types.TBool, Off: -1}, Val: types.Bool(v)}
	}
	return expr.Compile(&plan.Call{At: plan.At{T: types.TBool, Off: off.Pos()}, Proc: proc,
		Args: []plan.Expr{col(0, b.keyType), col(1, b.keyType), col(2, off.Type()), flag(sub), flag(less)}})
}

// open evaluates the offsets, once per run.
func (b *frameBounds) open(env *Env) error {
	b.env = env
	offset := func(x plan.Expr, which string) (types.Datum, error) {
		if x == nil {
			return types.Datum{}, nil
		}
		d, err := expr.EvalConst(env.Expr, x)
		if err != nil {
			return d, err
		}
		if d.Null {
			return d, sqlerr.New(sqlerr.NullValueNotAllowed, "frame %s offset must not be null", which)
		}
		if b.node.Mode != "RANGE" && d.I < 0 {
			return d, sqlerr.New(codeInvalidFrameOffset, "frame %s offset must not be negative", which)
		}
		return d, nil
	}
	var err error
	if b.start, err = offset(b.node.Start, "starting"); err != nil {
		return err
	}
	b.end, err = offset(b.node.End, "ending")
	return err
}

// begin prepares for the rows of a new partition, in ascending order from lo on.
func (b *frameBounds) begin(lo int) { b.head, b.tail = lo, lo }

// whole reports whether every row's frame is the whole partition.
func (b *frameBounds) whole() bool {
	f := b.node
	to := func(kind, far string) bool {
		return kind == far || kind == "CURRENT ROW" && b.peers && f.Mode != "ROWS"
	}
	return to(f.StartKind, "UNBOUNDED PRECEDING") && to(f.EndKind, "UNBOUNDED FOLLOWING") && f.Exclude == ""
}

// bounds returns the first row of row i's frame and the row after its last,
// without regard to EXCLUDE.
func (b *frameBounds) bounds(p *windowPart, i int) (lo, hi int, err error) {
	f := b.node
	switch f.StartKind {
	case "UNBOUNDED PRECEDING":
		lo = p.lo
	case "CURRENT ROW":
		lo = i
		if f.Mode != "ROWS" {
			lo = int(p.start[i])
		}
	default:
		if lo, err = b.offsetStart(p, i); err != nil {
			return 0, 0, err
		}
	}
	switch f.EndKind {
	case "UNBOUNDED FOLLOWING":
		hi = p.hi
	case "CURRENT ROW":
		hi = i + 1
		if f.Mode != "ROWS" {
			hi = int(p.end[i])
		}
	default:
		if hi, err = b.offsetEnd(p, i); err != nil {
			return 0, 0, err
		}
	}
	lo, hi = max(lo, p.lo), min(hi, p.hi)
	if lo > hi {
		lo = hi
	}
	return lo, hi, nil
}

// head is the first row of a peer group of the partition, the partition's end behind
// the last one.
func (p *windowPart) head(g int) int {
	if g >= len(p.heads) {
		return p.hi
	}
	return int(p.heads[max(g, p.first)])
}

// signed returns an offset as a distance forward, within ±n.
func signed(kind string, d types.Datum, n int) int {
	k := int(min(d.I, int64(n)+1))
	if kind == "PRECEDING" {
		return -k
	}
	return k
}

func (b *frameBounds) offsetStart(p *windowPart, i int) (int, error) {
	f := b.node
	n := p.hi - p.lo
	switch f.Mode {
	case "ROWS":
		return i + signed(f.StartKind, b.start, n), nil
	case "GROUPS":
		return p.head(int(p.group[i]) + signed(f.StartKind, b.start, n)), nil
	}
	key := p.rows.cols[b.key]
	if key.IsNull(i) {
		return int(p.start[i]), nil
	}
	// Rows with NULL keys at the start are before every frame of a value.
	for b.head < p.hi {
		if !key.IsNull(b.head) {
			in, err := b.test(b.starts, key, b.head, i, b.start)
			if err != nil || in {
				return b.head, err
			}
		} else if b.head > i {
			break // NULLs last
		}
		b.head++
	}
	return b.head, nil
}

func (b *frameBounds) offsetEnd(p *windowPart, i int) (int, error) {
	f := b.node
	n := p.hi - p.lo
	switch f.Mode {
	case "ROWS":
		return i + signed(f.EndKind, b.end, n) + 1, nil
	case "GROUPS":
		return p.head(int(p.group[i]) + signed(f.EndKind, b.end, n) + 1), nil
	}
	key := p.rows.cols[b.key]
	if key.IsNull(i) {
		return int(p.end[i]), nil
	}
	for b.tail < p.hi {
		if !key.IsNull(b.tail) {
			in, err := b.test(b.ends, key, b.tail, i, b.end)
			if err != nil || !in {
				return b.tail, err
			}
		} else if b.tail > i {
			break
		}
		b.tail++
	}
	return b.tail, nil
}

// test evaluates in_range for the value of row v seen from row base.
func (b *frameBounds) test(e expr.Eval, key *vec.Vec, v, base int, off types.Datum) (bool, error) {
	if b.args.Cols == nil {
		b.args.Cols = newVecs([]types.T{key.T, key.T, off.T})
	}
	b.args.N, b.args.Sel = 1, nil
	gather(b.args.Cols[0], key, []uint32{uint32(v)}, false)
	gather(b.args.Cols[1], key, []uint32{uint32(base)}, false)
	constVec(b.args.Cols[2], off)
	out, err := e.Eval(b.env.Expr, &b.args)
	if err != nil {
		return false, err
	}
	return out.Bool[0] && !out.IsNull(0), nil
}

// spans returns row i's frame as ranges, in order, after EXCLUDE.
func (b *frameBounds) spans(p *windowPart, i int, buf []span) ([]span, error) {
	lo, hi, err := b.bounds(p, i)
	if err != nil {
		return nil, err
	}
	out := append(buf[:0], span{lo, hi})
	switch b.node.Exclude {
	case "CURRENT ROW":
		out = without(out, i, i+1)
	case "GROUP":
		out = without(out, int(p.start[i]), int(p.end[i]))
	case "TIES":
		out = without(out, int(p.start[i]), i)
		out = without(out, i+1, int(p.end[i]))
	}
	return out, nil
}

// without removes the rows lo … hi-1.
func without(in []span, lo, hi int) []span {
	if lo >= hi {
		return in
	}
	out := make([]span, 0, len(in)+1)
	for _, s := range in {
		if a := (span{s.lo, min(s.hi, lo)}); a.lo < a.hi {
			out = append(out, a)
		}
		if c := (span{max(s.lo, hi), s.hi}); c.lo < c.hi {
			out = append(out, c)
		}
	}
	return out
}

// nth returns the k-th row (from 0) of a frame, -1 when there is none.
func nth(frame []span, k int) int {
	for _, s := range frame {
		if k < s.hi-s.lo {
			return s.lo + k
		}
		k -= s.hi - s.lo
	}
	return -1
}

// count returns the number of rows of a frame.
func count(frame []span) int {
	n := 0
	for _, s := range frame {
		n += s.hi - s.lo
	}
	return n
}
