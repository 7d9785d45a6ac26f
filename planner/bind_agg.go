package planner

import (
	"fmt"
	"math"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (p *planner) isAggName(schema, name string) bool {
	for _, pr := range p.procs(schema, name) {
		if pr.Kind == 'a' {
			return true
		}
	}
	return false
}

// aggregate makes an aggregate or window function reference.
func (b *binder) aggregate(e *ast.Call, pr *catalog.Proc, args []plan.Expr, ret types.T, inner *binder) plan.Expr {
	off := e.Pos()
	name := pr.Name
	if e.Over == nil && pr.Kind == 'w' {
		failf(sqlerr.WrongObjectType, off, "window function %s requires an OVER clause", name)
	}
	if e.Over != nil {
		switch {
		case b.inAgg && b.what != "FILTER":
			failf(sqlerr.GroupingError, off, "aggregate function calls cannot contain window function calls")
		case b.inWin:
			failf(sqlerr.WindowingError, off, "window function calls cannot be nested")
		case b.noWin || b.noAgg && b.what != "":
			failf(sqlerr.WindowingError, off, "window functions are not allowed in %s", b.clause())
		}
	}
	a := plan.Agg{Proc: pr, Args: args, Star: e.Star, Distinct: e.Distinct, T: ret, Off: off}
	ag := catalog.AggregateByOID(pr.OID)
	if ag != nil && ag.Kind != 'n' {
		if !e.WithinGrp {
			failf(sqlerr.WrongObjectType, off, "WITHIN GROUP is required for ordered-set aggregate %s", name)
		}
		if e.Over != nil {
			failf(sqlerr.FeatureNotSupported, off, "OVER is not supported for ordered-set aggregate %s", name)
		}
		a.Direct = len(e.Args)
		for _, x := range args[:a.Direct] {
			a.PerGroup = a.PerGroup || !relsOf(x).empty() // in subqueries, too
		}
		for i, s := range e.OrderBy {
			a.OrderBy = append(a.OrderBy, sortSpec(b.planner, args[len(e.Args)+i], s))
		}
	} else {
		if e.WithinGrp {
			failf(sqlerr.WrongObjectType, off, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name)
		}
		for _, s := range e.OrderBy {
			raw := inner.expr(s.X)
			x := b.known(raw)
			a.OrderBy = append(a.OrderBy, sortSpec(b.planner, x, s))
			found := false
			for i, arg := range args {
				if raw.Type().OID == types.OUnknown && i < len(pr.Args) && pr.Args[i] != types.OAny {
					continue // a literal is not the argument that became a text
				}
				if key := exprKey(x); exprKey(stripImplicit(arg)) == key || arg.Type().OID == types.OBpchar && exprKey(arg) == key {
					// of the argument's type, which is what is sorted
					found, a.OrderBy[len(a.OrderBy)-1] = true, sortSpec(b.planner, arg, s)
					break
				}
			}
			if e.Distinct && !found {
				failf(sqlerr.InvalidColumnReference, startOf(s.X), "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
			}
		}
	}
	if e.Distinct && pr.Kind == 'a' {
		for _, x := range args[a.Direct:] {
			b.needSortedInput(x)
		}
	}
	if pr.Kind == 'a' && pr.SQL != nil {
		b.called, b.calls = append(b.called, pr.OID), append(b.calls, pr.SQL)
		a.User = b.userAggregate(pr.SQL, args, off)
	}
	if pr.Kind == 'w' && pr.SQL != nil {
		b.called, b.calls = append(b.called, pr.OID), append(b.calls, pr.SQL)
	}
	if len(args) == 0 && !e.Star && pr.Kind == 'a' && (a.User != nil || ag != nil && ag.Kind == 'n') {
		failf(sqlerr.WrongObjectType, off, "%s(*) must be used to call a parameterless aggregate function", name)
	}
	if e.Filter != nil {
		if pr.Kind == 'w' {
			failf(sqlerr.FeatureNotSupported, off, "FILTER is not implemented for non-aggregate window functions")
		}
		f := *inner
		f.what = "FILTER"
		f.noAgg, f.noWin, f.srf = true, true, false
		a.Filter = f.mustBool(f.expr(e.Filter), "FILTER")
		inner.sawAgg = inner.sawAgg || f.sawAgg
	}
	ref := &aggRef{At: plan.At{T: ret, Off: off}, agg: a, call: e}
	if e.Over == nil {
		b.own(ref, inner.seen)
		return ref
	}
	if e.Distinct {
		failf(sqlerr.FeatureNotSupported, off, "DISTINCT is not implemented for window functions")
	}
	if len(e.OrderBy) > 0 {
		failf(sqlerr.FeatureNotSupported, off, "aggregate ORDER BY is not implemented for window functions")
	}
	b.sawWin = true
	ref.win = b.window(e.Over)
	if inner.sawAgg {
		b.sawAgg = true
	}
	return ref
}

// own finds the query that an aggregate belongs to and enters it there: the
// innermost one whose columns it reads, so that
//
//	SELECT a, (SELECT max(t.x) FROM u) FROM t GROUP BY a
//
// computes max per group of t. An aggregate without columns is the innermost
// query's.
func (b *binder) own(a *aggRef, seen *relSet) {
	var in relSet
	if a.agg.Direct == 0 && seen != nil {
		in = *seen // constants may have been folded over columns
	}
	for _, x := range a.agg.Args[a.agg.Direct:] {
		in.addAll(relsOf(x))
	}
	if a.agg.Filter != nil {
		in.addAll(relsOf(a.agg.Filter))
	}
	for _, k := range a.agg.OrderBy {
		in.addAll(relsOf(k.X))
	}
	owner := b.ownerOf(in)
	if owner.noAgg && owner.what == "FILTER" {
		failf(sqlerr.GroupingError, a.Off, "aggregate functions are not allowed in FILTER")
	}
	if owner.inAgg {
		failf(sqlerr.GroupingError, a.Off, "aggregate function calls cannot be nested")
	}
	if owner != b {
		if off := aggOf(a, owner.scope.block); off >= 0 {
			failf(sqlerr.GroupingError, off, "aggregate function calls cannot be nested")
		}
		b.noLower(a.agg.Args[:a.agg.Direct], owner)
		b.noLowerCTE(a, owner)
	}
	if owner.noAgg {
		failf(sqlerr.GroupingError, a.Off, "aggregate functions are not allowed in %s", owner.clause())
	}
	owner.sawAgg = true
	a.owner = owner.scope.block
}

// ownerOf is the binder at work at the level of an aggregate that reads these
// entries: the innermost that has one of them.
func (b *binder) ownerOf(in relSet) *binder {
	if !in.empty() && !b.scope.owns(in) {
		for s := b.scope.parent; s != nil; s = s.parent {
			if s.owns(in) {
				return s.user
			}
		}
	}
	return b
}

// owns reports whether the block of the scope has one of the entries.
func (s *scope) owns(ids relSet) bool {
	if s.block != nil && !s.block.own(ids).empty() {
		return true
	}
	for _, it := range s.items {
		if it.rel != nil && ids.has(it.rel.id) {
			return true
		}
	}
	return false
}

// noLower refuses columns of queries below owner, which an aggregate of owner's is
// computed without, in its direct arguments.
func (b *binder) noLower(direct []plan.Expr, owner *binder) {
	for _, e := range direct {
		plan.Visit(e, func(x plan.Expr) bool {
			if v, ok := x.(*plan.Var); ok {
				for s := b.scope; s != owner.scope; s = s.parent {
					if s.owns(relSetOf(v.Rel)) {
						failf(sqlerr.GroupingError, v.Pos(), "outer-level aggregate cannot contain a lower-level variable in its direct arguments")
					}
				}
			}
			return true
		})
	}
}

// noLowerCTE refuses WITH queries of queries below owner in an aggregate of owner's.
func (b *binder) noLowerCTE(a *aggRef, owner *binder) {
	a.MapChildren(func(e plan.Expr) plan.Expr {
		plan.Visit(e, func(x plan.Expr) bool {
			if sub, ok := x.(*subquery); ok {
				withUses(sub.q, func(def *cteDef) {
					for s := b.scope; s != owner.scope; s = s.parent {
						if s.ctes[def.name] == def {
							fail(sqlerr.New(sqlerr.FeatureNotSupported, "outer-level aggregate cannot use a nested CTE").At(a.Off).
								WithDetail("CTE \"%s\" is below the aggregate's semantic level.", def.name))
						}
					}
				})
			}
			return true
		})
		return e
	})
}

// withUses calls f with the WITH queries that a query reads, in its subqueries as well.
func withUses(q *query, f func(*cteDef)) {
	var from func(q *query)
	from = func(q *query) {
		switch {
		case q == nil:
			return
		case q.ref != nil:
			f(q.ref)
			return
		case q.setop != nil:
			from(q.setop.l)
			from(q.setop.r)
		}
		for _, c := range q.ctes {
			from(c.q)
			from(c.stepQ)
		}
		if q.block != nil {
			q.block.eachItem(func(j *joinItem) {
				if j.rel != nil {
					from(j.rel.query)
				}
			})
		}
	}
	from(q)
	mapQuery(q, func(x plan.Expr) plan.Expr {
		if s, ok := x.(*subquery); ok {
			from(s.q)
		}
		return x
	})
}

// aggOf is the offset of an aggregate of the block in the arguments of another, or -1.
func aggOf(a *aggRef, bl *block) int {
	off := -1
	a.MapChildren(func(e plan.Expr) plan.Expr {
		plan.Visit(e, func(x plan.Expr) bool {
			if o, ok := x.(*aggRef); ok && o.win == nil && o.owner == bl {
				off = o.Off
			}
			return off < 0
		})
		return e
	})
	return off
}

func sortSpec(p *planner, x plan.Expr, s ast.SortItem) plan.SortKey {
	k := plan.SortKey{X: p.known(x)}
	k.Desc, k.NullsFirst = p.direction(s, k.X)
	return k
}

// noVars refuses columns of the query in a clause that is evaluated once.
func (b *binder) noVars(x plan.Expr, clause string) {
	plan.Visit(x, func(e plan.Expr) bool {
		if v, ok := e.(*plan.Var); ok && b.scope.owns(relSetOf(v.Rel)) {
			failf(sqlerr.InvalidColumnReference, v.Off, "argument of %s must not contain variables", clause)
		}
		return true
	})
}

// window resolves an OVER clause.
func (b *binder) window(w *ast.Window) *winRef {
	in := *b
	in.noWin, in.inAgg, in.inWin = true, false, false
	in.what = "window definitions"
	r := &winRef{named: math.MaxInt}
	def := w
	if w.Name != "" {
		if def = b.windows[w.Name]; def == nil {
			failf(sqlerr.UndefinedObject, w.Pos(), "window \"%s\" does not exist", w.Name)
		}
		r.named = def.Pos()
	}
	in.windowKeys(def, def != w, r)
	frame := def.Frame
	r.frame = plan.Frame{Mode: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	if frame != nil {
		r.frame = plan.Frame{Mode: frame.Mode, StartKind: frame.Start.Kind, EndKind: frame.End.Kind, Exclude: frame.Exclude}
		off := func(bd ast.Bound) plan.Expr {
			if bd.X == nil {
				return nil
			}
			fb := in
			fb.what, fb.noAgg = "window "+frame.Mode, true
			x := fb.expr(bd.X)
			b.noVars(x, frame.Mode)
			if frame.Mode != "RANGE" {
				return in.must(x, types.TInt8, assignment)
			}
			if len(r.order) != 1 {
				failf(sqlerr.WindowingError, w.Pos(), "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
			}
			return in.rangeOffset(x, r.order[0].X.Type())
		}
		r.frame.Start, r.frame.End = off(frame.Start), off(frame.End)
		b.record(frame.Start.X, r.frame.Start)
		b.record(frame.End.X, r.frame.End)
		if frame.Mode == "GROUPS" && len(r.order) == 0 {
			failf(sqlerr.WindowingError, w.Pos(), "GROUPS mode requires an ORDER BY clause")
		}
	}
	b.sawAgg = b.sawAgg || in.sawAgg
	var k strings.Builder
	for _, x := range r.partition {
		k.WriteString(exprKey(x) + ",")
	}
	k.WriteByte('|')
	for _, s := range r.order {
		fmt.Fprintf(&k, "%s %v %v,", exprKey(s.X), s.Desc, s.NullsFirst)
	}
	r.key = k.String()
	return r
}

// windowKeys binds what a window divides and orders by into r, first that of the
// window which it is made of. A named one may be made only of those before it.
func (in *binder) windowKeys(w *ast.Window, named bool, r *winRef) {
	var base *ast.Window
	if w.Base != "" {
		base = in.windows[w.Base]
		if base == nil || named && base.Pos() >= w.Pos() {
			failf(sqlerr.UndefinedObject, w.Pos(), "window \"%s\" does not exist", w.Base)
		}
		in.windowKeys(base, true, r)
	}
	partition, order := r.partition, r.order
	for _, s := range w.OrderBy {
		k := sortSpec(in.planner, in.expr(s.X), s)
		in.record(s.X, k.X)
		r.order = append(r.order, k)
	}
	for _, x := range w.PartitionBy {
		key := in.record(x, in.known(in.expr(x)))
		in.needEquality(key, startOf(x))
		r.partition = append(r.partition, key)
	}
	switch {
	case base == nil:
	case len(w.PartitionBy) > 0:
		failf(sqlerr.WindowingError, w.Pos(), "cannot override PARTITION BY clause of window \"%s\"", w.Base)
	case len(order) > 0 && len(w.OrderBy) > 0:
		failf(sqlerr.WindowingError, w.Pos(), "cannot override ORDER BY clause of window \"%s\"", w.Base)
	case base.Frame != nil:
		err := sqlerr.New(sqlerr.WindowingError, "cannot copy window \"%s\" because it has a frame clause", w.Base).At(w.Pos())
		if !named && len(r.partition) == len(partition) && len(w.OrderBy) == 0 && w.Frame == nil {
			err.WithHint("Omit the parentheses in this OVER clause.")
		}
		fail(err)
	}
}

// sortedAs is the type whose operators sort t.
func sortedAs(t types.T) types.OID {
	if t.OID == types.OVarchar {
		return types.OText
	}
	return t.OID
}

// rangeOffset gives the offset of a RANGE frame the type that the order column
// is compared with.
func (b *binder) rangeOffset(x plan.Expr, t types.T) plan.Expr {
	var want []types.T
	switch b.Snap.BaseType(t).OID {
	case types.OInt2, types.OInt4:
		want = []types.T{types.TInt8, types.TInt4, types.TInt2}
	case types.OInt8, types.ONumeric:
		want = []types.T{b.noMod(t)}
	case types.OFloat4, types.OFloat8:
		want = []types.T{types.TFloat8}
	case types.ODate, types.OTimestamp, types.OTimestamptz, types.OTime, types.OTimetz, types.OInterval:
		want = []types.T{types.TInterval}
	default:
		failf(sqlerr.FeatureNotSupported, leftmost(x), "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", b.bareName(sortedAs(t)))
	}
	if isUnknown(x) && len(want) > 1 {
		want = []types.T{b.noMod(t)}
	}
	for _, w := range want {
		if x.Type().OID == w.OID {
			return x
		}
	}
	if y := b.coerce(x, want[0], implicit); y != nil {
		return y
	}
	fail(sqlerr.New(sqlerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
		b.bareName(t.OID), b.bareName(x.Type().OID)).At(leftmost(x)).WithHint("Cast the offset value to an appropriate type."))
	return nil
}

// hypothetical makes the direct arguments of a hypothetical-set aggregate have
// the types of the columns that it orders by: they are a row among the others.
func (b *binder) hypothetical(fc *funcCall, direct int) {
	sorted := len(fc.args) - direct
	for _, pr := range b.procs(fc.schema, fc.name) {
		if ag := catalog.AggregateByOID(pr.OID); ag == nil || ag.Kind != 'h' {
			continue
		}
		if direct != sorted {
			fail(sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", b.signature(fc)).At(fc.off).
				WithHint("To use the hypothetical-set aggregate %s, the number of hypothetical direct arguments (here %d) must match the number of ordering columns (here %d).",
					fc.name, direct, sorted))
		}
		for i := range direct {
			both, _ := b.toCommon("WITHIN GROUP", []plan.Expr{fc.args[direct+i], fc.args[i]})
			fc.args[direct+i], fc.args[i] = both[0], both[1]
		}
		return
	}
}
