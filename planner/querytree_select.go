package planner

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// valuesName is what the rows of VALUES are called inside their query.
const valuesName = "*VALUES*"

// values takes VALUES apart. Where its columns have got other names, it stands in
// FROM of a SELECT that names them.
func (w *treeWriter) values(q *query, out *catalog.QueryTree, cols []string) {
	var rows [][]catalog.TreeExpr
	for _, row := range q.block.values {
		var l []catalog.TreeExpr
		for _, x := range row {
			l = append(l, w.alone(x, false))
		}
		rows = append(rows, l)
	}
	for _, k := range q.sort {
		out.OrderBy = append(out.OrderBy, catalog.SortTree{X: w.valuesSort(q, k.target), Desc: k.desc, NullsFirst: k.nullsFirst, Using: k.using})
	}
	renamed := false
	for i, c := range cols {
		renamed = renamed || i < len(q.cols) && c != valuesColumn(i)
	}
	if !renamed {
		out.Values = rows
		return
	}
	from := catalog.FromTree{Values: rows, Alias: valuesName}
	for i := range rows[0] {
		t := catalog.TreeTarget{X: valuesVar(i), Name: cols[i]}
		if t.Name == t.X.Name {
			t.Name = ""
		}
		out.Targets = append(out.Targets, t)
	}
	out.From = []catalog.FromTree{from}
	*w.given = append(*w.given, valuesName)
}

func valuesColumn(i int) string { return "column" + strconv.Itoa(i+1) }

// valuesVar is a column of VALUES.
func valuesVar(i int) catalog.TreeExpr {
	name := valuesColumn(i)
	return catalog.TreeExpr{Text: catalog.QuoteIdent(valuesName) + "." + name, Var: true, Simple: true, Name: name}
}

func (w *treeWriter) valuesSort(q *query, target int) catalog.TreeExpr {
	if target < q.block.ncols {
		return valuesVar(target)
	}
	rel := q.block.from[0].rel
	w.refs[rel.id], w.rec.rels[rel.id] = valuesName, rel
	return w.expr(q.block.targets[target].x, true)
}

// core takes a SELECT core apart.
func (w *treeWriter) core(s *ast.Select, q *query, out *catalog.QueryTree, cols []string, visible bool) {
	n := w.rec.selects[s]
	if n == nil {
		giveUp("this subquery")
	}
	for _, f := range s.From {
		out.From = append(out.From, w.from(f))
	}
	final := func(i int) plan.Expr {
		x := n.targets[i].x
		if x.Type().OID == types.OUnknown && q.block != nil && i < len(q.block.targets) {
			return q.block.targets[i].x // a literal that has got its type
		}
		return x
	}
	for i := range n.block.ncols {
		name := n.targets[i].name
		if i < len(cols) {
			name = cols[i]
		}
		out.Targets = append(out.Targets, w.targetTree(final(i), name, visible))
	}
	out.Distinct = s.Distinct && len(s.DistinctOn) == 0
	for _, i := range once(n.distinctOn, strconv.Itoa) {
		out.On = append(out.On, w.key(final(i)))
	}
	out.Where, out.Having = w.cond(n.where), w.cond(n.having)
	out.GroupDis = s.GroupDist
	out.Group = w.groups(s.GroupBy)
	for i := range s.Windows {
		d := w.window(&s.Windows[i])
		d.Def = true
		out.Windows = append(out.Windows, d)
	}
	written := map[string]bool{} // two columns that are alike may both be there
	for i, k := range n.sort {
		if i < len(s.OrderBy) {
			key := strconv.Itoa(k.target) + " " + ast.Format(s.OrderBy[i].X) + sortOrder(s.OrderBy[i])
			if written[key] {
				continue
			}
			written[key] = true
		}
		out.OrderBy = append(out.OrderBy, catalog.SortTree{X: w.key(final(k.target)), Desc: k.desc, NullsFirst: k.nullsFirst, Using: k.using})
	}
}

// targetTree is an output column with its name, where that is not to be seen already.
func (w *treeWriter) targetTree(x plan.Expr, name string, visible bool) catalog.TreeTarget {
	t := catalog.TreeTarget{X: w.alone(x, true), Name: name}
	if !visible && !w.named && !t.X.Var && name == noName || t.X.Var && t.X.Name == name {
		t.Name = ""
	}
	return t
}

func (w *treeWriter) cond(list []plan.Expr) *catalog.TreeExpr {
	x := conjunction(list)
	if x == nil {
		return nil
	}
	t := w.expr(x, false)
	return &t
}

func (w *treeWriter) noted(x ast.Expr) plan.Expr {
	e := w.rec.exprs[x]
	if e == nil {
		giveUp("this clause")
	}
	return e
}

// groups are the elements of GROUP BY; where they are but expressions, each is there once.
func (w *treeWriter) groups(list []ast.GroupItem) []catalog.GroupTree {
	var out []catalog.GroupTree
	var elems []ast.Expr
	sets := false
	for i := range list {
		out = append(out, w.group(&list[i]))
		switch g := &list[i]; {
		case g.Kind != "":
			sets = sets || g.Kind != "EMPTY" // which adds nothing to others
		default:
			if r, ok := g.Exprs[0].(*ast.Row); ok {
				elems = append(elems, r.Elems...)
			} else {
				elems = append(elems, g.Exprs[0])
			}
		}
	}
	if sets || len(elems) == 0 {
		return out
	}
	out = out[:0]
	for _, x := range once(elems, func(x ast.Expr) string { return exprKey(w.noted(x)) }) {
		out = append(out, catalog.GroupTree{X: w.key(w.noted(x))})
	}
	return out
}

// sortOrder is the order of the values that a key asks for, either way round.
func sortOrder(o ast.SortItem) string { return strings.ReplaceAll(usingOther(o), ">", "<") }

// once is a list without those whose key an earlier one has.
func once[T any](list []T, key func(T) string) []T {
	seen := map[string]bool{}
	var out []T
	for _, x := range list {
		if k := key(x); !seen[k] {
			seen[k] = true
			out = append(out, x)
		}
	}
	return out
}

func (w *treeWriter) group(g *ast.GroupItem) catalog.GroupTree {
	element := func(x ast.Expr) catalog.GroupTree {
		if r, ok := x.(*ast.Row); ok {
			l := catalog.GroupTree{Kind: "LIST"}
			for _, e := range once(r.Elems, func(x ast.Expr) string { return exprKey(w.noted(x)) }) {
				l.Sets = append(l.Sets, catalog.GroupTree{X: w.key(w.noted(e))})
			}
			return l
		}
		return catalog.GroupTree{X: w.key(w.noted(x))}
	}
	if g.Kind == "" {
		return element(g.Exprs[0])
	}
	out := catalog.GroupTree{Kind: g.Kind}
	for _, x := range g.Exprs {
		out.Sets = append(out.Sets, element(x))
	}
	for i := range g.Sets {
		out.Sets = append(out.Sets, w.group(&g.Sets[i]))
	}
	return out
}

func (w *treeWriter) window(x *ast.Window) catalog.WindowTree {
	out := catalog.WindowTree{Name: x.Name, Base: x.Base}
	for _, e := range once(x.PartitionBy, func(e ast.Expr) string { return exprKey(w.noted(e)) }) {
		out.Partition = append(out.Partition, w.key(w.noted(e)))
	}
	for _, o := range once(x.OrderBy, func(o ast.SortItem) string { return exprKey(w.noted(o.X)) + sortOrder(o) }) {
		k := catalog.SortTree{X: w.key(w.noted(o.X)), Desc: descends(o), Using: usingOther(o)}
		if k.NullsFirst = k.Desc; o.NullsFirst != nil {
			k.NullsFirst = *o.NullsFirst
		}
		out.Order = append(out.Order, k)
	}
	if f := x.Frame; f != nil {
		bound := func(b ast.Bound) catalog.WindowBound {
			out := catalog.WindowBound{Kind: b.Kind}
			if b.X != nil {
				t := w.expr(w.noted(b.X), false)
				out.X = &t
			}
			return out
		}
		out.Frame, out.Between, out.Exclude = f.Mode, f.Between, f.Exclude
		out.Start, out.End = bound(f.Start), bound(f.End)
	}
	return out
}
