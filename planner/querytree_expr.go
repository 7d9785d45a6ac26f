package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// expr writes a bound expression; implicit shows conversions at its top.
func (w *treeWriter) expr(e plan.Expr, implicit bool) catalog.TreeExpr {
	in := *w
	in.pieces = nil
	opt := in.deparseOptions()
	opt.Other = in.other
	out := catalog.TreeExpr{}
	switch x := e.(type) {
	case *plan.Var:
		out.Var = true
		if out.Name = w.cols[[2]int{x.Rel, x.Col}]; out.Name == "" {
			out.Name = x.Name
		}
	case *aggRef:
		out.Call = true
	case *plan.Call:
		out.Call = x.Op == "" && x.Own == nil
	case *plan.Const:
		out.Simple = true
	case *plan.RowCtor:
		out.Simple = x.Of > 0 // the whole row t.* is read as a column is
	}
	if m, ok := w.rec.merged[e]; ok {
		out.Var, out.Name = true, w.using[m.join][m.at]
	}
	out.Simple = out.Simple || out.Var
	out.Text = plan.DeparseTop(e, implicit, opt)
	out.Pieces = in.pieces
	return out
}

// key is what rows are ordered, grouped or told apart by. A constant has its type: a bare
// number would be the position of an output column.
func (w *treeWriter) key(e plan.Expr) catalog.TreeExpr {
	t := w.expr(e, true)
	if c, ok := e.(*plan.Const); ok && !strings.Contains(t.Text, "::") {
		t.Text += "::" + w.typeText(c.T)
	}
	return t
}

// deparseOptions spell an expression with the names of the writer's snapshot.
func (w *treeWriter) deparseOptions() plan.DeparseOptions {
	opt := deparseOptions(w.Context)
	opt.TypeName = w.typeText
	opt.Literal = func(t types.T, text string) string {
		if label, ok := w.labelOf(t, text); ok {
			return label
		}
		return w.qualifyLiteral(t, text, w.names)
	}
	opt.Function = func(f *catalog.Function) (string, string) {
		if now, ok := w.names.Object(f.OID).(*catalog.Function); ok {
			return now.Schema, now.Name
		}
		return f.Schema, f.Name
	}
	opt.Operator = func(o *catalog.OwnOperator) (string, string) {
		if now, ok := w.names.Object(o.OID).(*catalog.OwnOperator); ok {
			return now.Schema, now.Name
		}
		return o.Schema, o.Name
	}
	opt.Constant = func(t types.T, v types.Datum) (string, bool) {
		return w.labelOf(t, string(types.AppendText(nil, v, types.DefaultFmt)))
	}
	opt.Field = func(x plan.Expr, idx int) string {
		b := &binder{planner: w.planner}
		if u := w.names.TypeByOID(x.Type().OID); u != nil {
			if was := w.Snap.TypeByOID(u.OID); was != nil && idx < len(was.Columns) {
				return attributeNow(was.Columns, u.Columns, idx)
			}
		}
		if in := w.names.TypeInfo(x.Type().OID); in != nil && in.RelID != 0 {
			was, now := w.Snap.RelationByOID(w.DB, in.RelID), w.names.RelationByOID(w.DB, in.RelID)
			if was != nil && now != nil {
				if name := columnNow(was.RelColumns(), now.RelColumns(), idx); name != "" {
					return name
				}
			}
		}
		if cols := b.recordCols(x); idx < len(cols) {
			return cols[idx].Name
		}
		return "f" + strconv.Itoa(idx+1)
	}
	return opt
}

// labelOf is what a label of an enum, or an array of such labels, is called in the writer's
// snapshot; false: no other way.
func (w *treeWriter) labelOf(t types.T, text string) (string, bool) {
	if in := w.Snap.TypeInfo(t.OID); in != nil && in.Kind == types.KArray && in.Elem >= types.FirstUserOID {
		return mapElements(text, func(s string) (string, bool) { return w.labelOf(types.Of(in.Elem), s) })
	}
	old, now := w.Snap.TypeByOID(t.OID), w.names.TypeByOID(t.OID)
	if old == now || old == nil || now == nil || old.Kind != 'e' {
		return "", false
	}
	for _, l := range old.Labels {
		if l.Label != text {
			continue
		}
		for _, n := range now.Labels {
			if n.OID == l.OID {
				return n.Label, true
			}
		}
	}
	return "", false
}

// other writes what plan.Deparse does not know, or not under the names here.
func (w *treeWriter) other(e plan.Expr, sub func(plan.Expr, bool) string) (string, bool) {
	if m, ok := w.rec.merged[e]; ok {
		return catalog.QuoteIdent(w.using[m.join][m.at]), true
	}
	if r, ok := e.(*plan.Relabel); ok && isRecord(r) {
		return sub(r.X, true), true
	}
	switch x := e.(type) {
	case *plan.Var:
		ref, known := w.refs[x.Rel]
		if !known {
			giveUp("this column")
		}
		name := w.cols[[2]int{x.Rel, x.Col}]
		if name == "" {
			name = x.Name
		}
		if w.bare {
			return catalog.QuoteIdent(name), true
		}
		return catalog.QuoteIdent(ref) + "." + catalog.QuoteIdent(name), true
	case *plan.RowCtor:
		if x.Of != 0 {
			return w.piece(w.wholeRow(x)), true
		}
		return w.rowText(x), true
	case *plan.AnyArray:
		if q, ok := x.Array.(*subquery); ok && q.kind == plan.SubScalar { // its array, not its rows
			word := " ANY ("
			if x.All {
				word = " ALL ("
			}
			return "(" + sub(x.X, true) + " " + x.Op + word + sub(q, true) + "::" + w.typeText(q.Type()) + "))", true
		}
		return "", false
	case *plan.Param:
		return w.param(x), true
	case *aggRef:
		return w.aggregate(x), true
	case *subquery:
		return w.subquery(x), true
	case *shown:
		if x.form == formRowQuery {
			n := len(x.args) - 1
			return w.compared(x.args[:n], x.word, x.args[n].(*subquery).q), true
		}
		return x.text(sub), true
	case *plan.Call, *plan.Const, *plan.And, *plan.Or, *plan.Not, *plan.Is, *plan.Case, *plan.CaseVal, *plan.Coalesce, *plan.NullIf,
		*plan.MinMax, *plan.IsDistinct, *plan.InList, *plan.ArrayCtor, *plan.Subscript, *plan.CoerceIO, *plan.Relabel,
		*plan.CoerceMod, *plan.CoerceDomain, *plan.CoerceArray, *plan.FieldOf:
		return "", false
	}
	if g, ok := e.(*groupingRef); ok {
		var l []string
		for _, a := range g.args {
			l = append(l, sub(a, true))
		}
		return "GROUPING(" + strings.Join(l, ", ") + ")", true
	}
	giveUp(fmt.Sprintf("a %T", e))
	return "", false
}

// wholeRow is the row of an entry of FROM.
func (w *treeWriter) wholeRow(r *plan.RowCtor) catalog.TreePart {
	return lit(catalog.QuoteIdent(w.refs[r.Of]) + ".*")
}

// alone writes an expression where a row of an entry, written as such, would be taken
// for its columns: a cast says that it is one value.
func (w *treeWriter) alone(e plan.Expr, implicit bool) catalog.TreeExpr {
	t := w.expr(e, implicit)
	if r, ok := e.(*plan.RowCtor); ok && r.Of != 0 {
		t.Pieces[len(t.Pieces)-1][0].Cast = w.typeText(r.T)
	}
	return t
}

// rowText writes ROW(…).
func (w *treeWriter) rowText(r *plan.RowCtor) string {
	parts := []catalog.TreePart{lit("ROW(")}
	for i, x := range r.Elems {
		if i > 0 {
			parts = append(parts, lit(", "))
		}
		t := w.alone(x, true)
		parts = append(parts, catalog.TreePart{Expr: &t})
	}
	end := lit(")")
	if r.Cast == plan.CastExplicit && r.T.OID != types.ORecord {
		end.Cast = w.typeText(r.T)
	}
	return w.piece(append(parts, end)...)
}

// text writes the forms that need no query.
func (x *shown) text(sub func(plan.Expr, bool) string) string {
	list := func(l []plan.Expr) string {
		var out []string
		for _, a := range l {
			out = append(out, sub(a, true))
		}
		return strings.Join(out, ", ")
	}
	if x.form == formRows {
		n := len(x.args) / 2
		return "(ROW(" + list(x.args[:n]) + ") " + x.word + " ROW(" + list(x.args[n:]) + "))"
	}
	return "(" + sub(x.args[0], true) + x.word + ")"
}

// piece keeps parts and returns what stands for them in the text.
func (w *treeWriter) piece(parts ...catalog.TreePart) string {
	w.pieces = append(w.pieces, parts)
	return catalog.PieceMark + strconv.Itoa(len(w.pieces)-1) + catalog.PieceMark
}

func lit(s string) catalog.TreePart { return catalog.TreePart{Lit: s} }

func (w *treeWriter) exprPart(e plan.Expr, implicit bool) catalog.TreePart {
	t := w.expr(e, implicit)
	return catalog.TreePart{Expr: &t}
}

func (w *treeWriter) aggregate(a *aggRef) string {
	ag := &a.agg
	parts := []catalog.TreePart{lit(catalog.QuoteIdent(ag.Proc.Name)), lit("(")}
	if f := ag.Proc.SQL; f != nil {
		if now, ok := w.names.Object(f.OID).(*catalog.Function); ok {
			f = now
		}
		parts[0] = catalog.TreePart{Schema: f.Schema, Function: f.Name}
	}
	add := func(p ...catalog.TreePart) { parts = append(parts, p...) }
	call := a.call
	args := ag.Args
	order := func() {
		seen := map[string]bool{}
		for i, k := range ag.OrderBy {
			key := exprKey(k.X)
			if i < len(call.OrderBy) {
				key += sortOrder(call.OrderBy[i])
			}
			if seen[key] && !call.WithinGrp { // whose keys are as many as the direct arguments
				continue
			}
			seen[key] = true
			if i > 0 {
				add(lit(", "))
			}
			t := catalog.SortTree{X: w.key(k.X), Desc: k.Desc, NullsFirst: k.NullsFirst}
			if i < len(call.OrderBy) {
				t.Using = usingOther(call.OrderBy[i])
			}
			add(catalog.TreePart{Sort: &t})
		}
	}
	if ag.Distinct {
		add(lit("DISTINCT "))
	}
	if ag.Direct > 0 || call.WithinGrp {
		args = args[:ag.Direct]
	}
	if ag.Star {
		add(lit("*"))
	}
	for i, x := range args {
		if i > 0 {
			add(lit(", "))
		}
		if i == len(args)-1 && (call.Variadic || ag.Proc.Variadic != 0 && ag.Proc.Variadic != types.OAny) {
			add(lit("VARIADIC "))
		}
		add(w.exprPart(x, true))
	}
	switch {
	case call.WithinGrp:
		add(lit(") WITHIN GROUP (ORDER BY "))
		order()
	case len(ag.OrderBy) > 0:
		add(lit(" ORDER BY "))
		order()
	}
	add(lit(")"))
	if ag.Filter != nil {
		add(lit(" FILTER (WHERE "), w.exprPart(ag.Filter, false), lit(")"))
	}
	if call.Over != nil {
		over := w.window(call.Over)
		add(lit(" OVER "), catalog.TreePart{Window: &over})
	}
	return w.piece(parts...)
}

func (w *treeWriter) subquery(x *subquery) string {
	negated := func(s string) string {
		if x.not {
			return "(NOT " + s + ")"
		}
		return s
	}
	switch x.kind {
	case plan.SubExists:
		return negated(w.piece(lit("(EXISTS ("), w.queryPart(x.q), lit("))")))
	case plan.SubScalar, plan.SubRow:
		return w.piece(lit("("), w.queryPart(x.q), lit(")"))
	case plan.SubArray:
		return w.piece(lit("ARRAY("), w.queryPart(x.q), lit(")"))
	case plan.SubAny:
		op := x.op + " ANY"
		if x.op == "=" {
			op = "IN"
		}
		return negated(w.compared(x.x, op, x.q))
	case plan.SubAll:
		return negated(w.compared(x.x, x.op+" ALL", x.q))
	}
	giveUp("this kind of subquery")
	return ""
}

// compared writes (x op (query)), with x a list when it has several expressions.
func (w *treeWriter) compared(xs []plan.Expr, op string, q *query) string {
	parts := []catalog.TreePart{lit("(")}
	if len(xs) > 1 {
		parts = append(parts, lit("("))
	}
	for i, x := range xs {
		if i > 0 {
			parts = append(parts, lit(", "))
		}
		part := w.exprPart(x, true)
		part.Left = len(xs) == 1
		parts = append(parts, part)
	}
	if len(xs) > 1 {
		parts = append(parts, lit(")"))
	}
	return w.piece(append(parts, lit(" "+op+" ("), w.queryPart(q), lit("))"))...)
}

func (w *treeWriter) queryPart(q *query) catalog.TreePart {
	s := w.rec.queries[q]
	if s == nil {
		giveUp("this subquery")
	}
	return catalog.TreePart{Query: w.query(q, s, nil, false)}
}

// attributeNow is the name that an attribute of a composite type has got: its own, if
// there still is one of that name, or that of the one in its place after a renaming.
func attributeNow(was, now []catalog.Column, idx int) string {
	name := was[idx].Name
	if len(was) != len(now) || slices.ContainsFunc(now, func(c catalog.Column) bool { return c.Name == name }) {
		return name
	}
	return now[idx].Name
}

// columnNow is the name that the idx-th column of a relation has got, "" if it is gone.
func columnNow(was, now []catalog.Column, idx int) string {
	for i, c := range was {
		if c.Dropped {
			continue
		}
		if idx--; idx < 0 {
			if i < len(now) && !now[i].Dropped {
				return now[i].Name
			}
			break
		}
	}
	return ""
}
