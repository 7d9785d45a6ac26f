package pgcatalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
)

// The amounts by which the lines of a query are indented.
const (
	indentStep  = 8
	indentJoin  = 4
	indentVar   = 4
	indentLimit = 40
)

// queryWriter lays a query out as pg_get_viewdef does: a line for each clause,
// each join and each output column.
type queryWriter struct {
	env    *Env
	buf    []byte
	pretty bool
	flat   bool // everything is on one line
	wrap   int  // columns are put on one line up to this length; 0: one each, -1: all
	indent int
	hiding []string // names of WITH queries here and around: a table of such a name has its schema
}

// inner is a writer of a part that begins on a line of its own, with an empty text.
func (w *queryWriter) inner() *queryWriter {
	in := *w
	in.buf = nil
	return &in
}

// hide adds the names of WITH queries and returns the ones from before.
func (w *queryWriter) hide(list []catalog.WithTree) []string {
	was := w.hiding
	w.hiding = slices.Clip(was)
	for i := range list {
		w.hiding = append(w.hiding, list[i].Name)
	}
	return was
}

// QueryText writes a query with the names of the environment's search path.
func (env *Env) QueryText(t *catalog.QueryTree) string { return env.queryText(t, false, -1) }

// queryText writes a query as pg_get_viewdef does.
func (env *Env) queryText(t *catalog.QueryTree, pretty bool, wrap int) string {
	w := &queryWriter{env: env, pretty: pretty, wrap: wrap}
	w.query(t)
	return string(w.buf) + ";"
}

func (w *queryWriter) str(s string) { w.buf = append(w.buf, s...) }

// keyword begins a line with a word; the depth changes before and after it.
func (w *queryWriter) keyword(s string, before, after, plus int) {
	if w.flat {
		w.str(s)
		return
	}
	w.indent += before
	w.buf = append(bytes.TrimRight(w.buf, " "), '\n')
	w.str(strings.Repeat(" ", lineIndent(w.indent)+plus) + s)
	w.indent = max(w.indent+after, 0)
}

// lineIndent is how far a line of a depth is indented: the deepest begin at the left again.
func lineIndent(depth int) int {
	n := max(depth, 0)
	if n >= indentLimit {
		n = (indentLimit + (n-indentLimit)/(indentStep/2)) % indentLimit
	}
	return n
}

// open goes down to the clauses of a statement.
func (w *queryWriter) open() {
	if !w.flat {
		w.indent += indentStep
		w.str(" ")
	}
}

// clause begins the line of a clause of SELECT.
func (w *queryWriter) clause(s string, plus int) { w.keyword(s, -indentStep, indentStep, plus) }

// query writes a query at the depth of the writer, which stays.
func (w *queryWriter) query(t *catalog.QueryTree) {
	depth, hiding := w.indent, w.hide(t.With)
	w.with(t.Recursive, t.With)
	if t.SetOp != "" {
		w.setOp(t)
	} else {
		w.open()
		w.core(t)
	}
	for i := range t.OrderBy {
		if i == 0 {
			w.clause(" ORDER BY ", 1)
		} else {
			w.str(", ")
		}
		w.sort(&t.OrderBy[i])
	}
	if t.Offset != nil {
		w.clause(" OFFSET ", 0)
		w.expr(t.Offset)
	}
	switch {
	case t.Limit != nil && t.WithTies:
		w.clause(" FETCH FIRST (", 0)
		w.expr(t.Limit)
		w.str(") ROWS WITH TIES")
	case t.Limit != nil:
		w.clause(" LIMIT ", 0)
		w.expr(t.Limit)
	}
	for _, l := range t.Locking {
		w.clause(" FOR "+l.Strength, 0)
		for i, of := range l.Of {
			w.str([]string{" OF ", ", "}[min(i, 1)] + catalog.QuoteIdent(of))
		}
		if l.Wait != "" {
			w.str(" " + l.Wait)
		}
	}
	w.indent, w.hiding = depth, hiding
}

func (w *queryWriter) with(recursive bool, list []catalog.WithTree) {
	if len(list) == 0 {
		return
	}
	depth := w.indent
	w.open()
	sep := "WITH "
	if recursive {
		sep = "WITH RECURSIVE "
	}
	for i := range list {
		c := &list[i]
		w.str(sep + catalog.QuoteIdent(c.Name))
		w.names(c.Cols)
		w.str(" AS ")
		if m := c.Materialized; m != nil {
			if !*m {
				w.str("NOT ")
			}
			w.str("MATERIALIZED ")
		}
		w.str("(")
		w.keyword("", 0, 0, 0)
		if c.Change != nil {
			w.change(c.Change)
		} else {
			w.query(c.Query)
		}
		w.keyword("", 0, 0, 0)
		w.str(")")
		w.walk(c)
		sep = ", "
	}
	w.indent = depth
	w.line()
}

// line ends a line where they have ends, and a word elsewhere.
func (w *queryWriter) line() {
	if w.flat {
		w.str(" ")
	} else {
		w.keyword("", 0, 0, 0)
	}
}

// walk writes SEARCH and CYCLE of a recursive query.
func (w *queryWriter) walk(c *catalog.WithTree) {
	idents := func(list []string) {
		for i, n := range list {
			w.str([]string{"", ", "}[min(i, 1)] + catalog.QuoteIdent(n))
		}
	}
	if s := c.Search; s != nil {
		w.str([]string{" SEARCH DEPTH FIRST BY ", " SEARCH BREADTH FIRST BY "}[index(s.Breadth)])
		idents(s.By)
		w.str(" SET " + catalog.QuoteIdent(s.Set))
	}
	if y := c.Cycle; y != nil {
		w.str(" CYCLE ")
		idents(y.Cols)
		w.str(" SET " + catalog.QuoteIdent(y.Mark))
		if y.Value.Text != "true" || y.Default.Text != "false" {
			w.str(" TO ")
			w.expr(&y.Value)
			w.str(" DEFAULT ")
			w.expr(&y.Default)
		}
		w.str(" USING " + catalog.QuoteIdent(y.Path))
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// names writes (a, b), or nothing for no names.
func (w *queryWriter) names(list []string) {
	for i, n := range list {
		w.str([]string{"(", ", "}[min(i, 1)] + catalog.QuoteIdent(n))
	}
	if len(list) > 0 {
		w.str(")")
	}
}

func (w *queryWriter) setOp(t *catalog.QueryTree) {
	nested := func(x *catalog.QueryTree) bool {
		return x.SetOp != "" && len(x.OrderBy) == 0 && x.Limit == nil && x.Offset == nil && len(x.With) == 0
	}
	if nested(t.L) {
		same := t.L.SetOp == t.SetOp && t.L.All == t.All
		sub := 0
		if !same {
			sub = indentStep
			w.str("(")
			w.keyword("", sub, 0, 0)
		}
		w.setOp(t.L)
		if same {
			w.line()
		} else {
			w.keyword(") ", -sub, 0, 0)
		}
	} else {
		w.operand(t.L)
		w.line()
	}
	w.str(t.SetOp + " ")
	if t.All {
		w.str("ALL ")
	}
	if nested(t.R) {
		w.str("(")
		w.keyword("", indentStep, 0, 0)
		w.setOp(t.R)
		w.indent -= indentStep
		w.keyword(")", 0, 0, 0)
		return
	}
	w.keyword("", 0, 0, 0)
	w.operand(t.R)
}

// operand writes a query of a set operation, in parentheses when it has clauses
// that would be taken for those of the whole.
func (w *queryWriter) operand(t *catalog.QueryTree) {
	paren := len(t.With) > 0 || len(t.OrderBy) > 0 || len(t.Locking) > 0 || t.Limit != nil || t.Offset != nil
	if paren {
		w.str("(")
	}
	w.query(t)
	if paren {
		w.str(")")
	}
}

// core writes SELECT to WINDOW, or VALUES.
func (w *queryWriter) core(t *catalog.QueryTree) {
	if t.Values != nil {
		w.rows(t.Values)
		return
	}
	w.str("SELECT")
	if t.Distinct {
		w.str(" DISTINCT")
	}
	for i := range t.On {
		w.str([]string{" DISTINCT ON (", ", "}[min(i, 1)])
		w.sortExpr(&t.On[i])
	}
	if len(t.On) > 0 {
		w.str(")")
	}
	w.targets(t.Targets)
	w.from(" FROM ", t.From)
	w.where(t.Where)
	if len(t.Group) > 0 {
		w.clause(" GROUP BY ", 1)
		if t.GroupDis {
			w.str("DISTINCT ")
		}
		special := slices.ContainsFunc(t.Group, func(g catalog.GroupTree) bool { return g.Kind != "" && g.Kind != "LIST" })
		for i := range t.Group {
			if i > 0 {
				w.str(", ")
			}
			w.group(&t.Group[i], !special)
		}
	}
	if t.Having != nil {
		w.clause(" HAVING ", 0)
		w.expr(t.Having)
	}
	for i := range t.Windows {
		if i == 0 {
			w.clause(" WINDOW ", 1)
		} else {
			w.str(", ")
		}
		w.str(catalog.QuoteIdent(t.Windows[i].Name) + " AS ")
		w.windowSpec(&t.Windows[i])
	}
}

func (w *queryWriter) targets(list []catalog.TreeTarget) {
	multi := false
	for i := range list {
		w.str([]string{" ", ", "}[min(i, 1)])
		t := &list[i]
		in := w.inner()
		in.expr(&t.X)
		if t.Name != "" {
			in.str(" AS " + catalog.QuoteIdent(t.Name))
		}
		lines := bytes.HasPrefix(in.buf, []byte("\n"))
		if w.wrap >= 0 {
			if lines {
				w.buf = bytes.TrimRight(w.buf, " ")
			} else if i > 0 && (w.lineLen()+len(in.buf) > w.wrap || multi) {
				w.keyword("", -indentStep, indentStep, indentVar)
			}
			body := in.buf
			if lines {
				body = body[1:]
			}
			multi = bytes.IndexByte(body, '\n') >= 0
		}
		w.buf = append(w.buf, in.buf...)
	}
}

// lineLen is the length of the line that is being written.
func (w *queryWriter) lineLen() int { return len(w.buf) - 1 - bytes.LastIndexByte(w.buf, '\n') }

func (w *queryWriter) from(word string, list []catalog.FromTree) {
	for i := range list {
		if i == 0 {
			w.keyword(word, -indentStep, indentStep, 2)
			w.fromItem(&list[i])
			continue
		}
		w.str(", ")
		in := w.inner()
		in.fromItem(&list[i])
		if w.wrap >= 0 {
			if bytes.HasPrefix(in.buf, []byte("\n")) {
				w.buf = bytes.TrimRight(w.buf, " ")
			} else if w.lineLen()+len(in.buf) > w.wrap {
				w.keyword("", -indentStep, indentStep, indentVar)
			}
		}
		w.buf = append(w.buf, in.buf...)
	}
}

func (w *queryWriter) fromItem(f *catalog.FromTree) {
	if f.L != nil {
		w.join(f)
		return
	}
	if f.Lateral {
		w.str("LATERAL ")
	}
	switch {
	case f.Query != nil:
		w.str("(")
		w.query(f.Query)
		w.str(")")
	case f.Values != nil:
		w.str("(")
		w.rows(f.Values)
		w.str(")")
	case f.Funcs != nil:
		w.functions(f)
		if f.Ordinality {
			w.str(" WITH ORDINALITY")
		}
	default:
		if f.Only {
			w.str("ONLY ")
		}
		switch {
		case f.Schema == "":
			w.str(catalog.QuoteIdent(f.Table))
		case slices.Contains(w.hiding, f.Table):
			w.str(catalog.QualifiedIdent(f.Schema, f.Table))
		default:
			w.str(w.env.Snap.RelationText(w.env.DB, w.env.SearchPath, f.Schema, f.Table))
		}
	}
	if f.Alias != "" {
		w.str(" " + catalog.QuoteIdent(f.Alias))
	}
	if len(f.Funcs) == 1 && !f.RowsFrom && f.Funcs[0].Defs != nil {
		w.str("(" + strings.Join(f.Funcs[0].Defs, ", ") + ")")
	}
	w.names(f.Cols)
	if s := f.Sample; s != nil {
		w.str(" TABLESAMPLE " + catalog.QuoteIdent(s.Method) + " (")
		w.expr(&s.Percent)
		w.str(")")
		if s.Seed != nil {
			w.str(" REPEATABLE (")
			w.expr(s.Seed)
			w.str(")")
		}
	}
}

// functions writes the calls of a table function.
func (w *queryWriter) functions(f *catalog.FromTree) {
	switch {
	case f.Unnest:
		w.str("UNNEST(")
	case f.RowsFrom:
		w.str("ROWS FROM(")
	}
	for i := range f.Funcs {
		if i > 0 {
			w.str(", ")
		}
		c := &f.Funcs[i]
		if f.Unnest {
			w.expr(&c.Arg)
			continue
		}
		if c.Cast != "" {
			w.str("CAST(")
		}
		w.expr(&c.Call)
		if c.Cast != "" {
			w.str(" AS " + c.Cast + ")")
		}
		if f.RowsFrom && c.Defs != nil {
			w.str(" AS (" + strings.Join(c.Defs, ", ") + ")")
		}
	}
	if f.Unnest || f.RowsFrom {
		w.str(")")
	}
}

func (w *queryWriter) join(f *catalog.FromTree) {
	paren := !w.pretty || f.Alias != ""
	if paren {
		w.str("(")
	}
	w.fromItem(f.L)
	w.keyword(" "+f.Kind+" ", -indentStep, indentStep, indentJoin)
	right := w.pretty && f.R.L != nil && f.R.Alias == ""
	if right {
		w.str("(")
	}
	w.fromItem(f.R)
	if right {
		w.str(")")
	}
	switch {
	case len(f.Using) > 0:
		w.str(" USING ")
		w.names(f.Using)
		if f.UseAs != "" {
			w.str(" AS " + catalog.QuoteIdent(f.UseAs))
		}
	case f.On != nil:
		w.str(" ON ")
		if !w.pretty {
			w.str("(")
		}
		w.expr(f.On)
		if !w.pretty {
			w.str(")")
		}
	case f.Kind != "CROSS JOIN":
		w.str(" ON TRUE")
	}
	if paren {
		w.str(")")
	}
	if f.Alias != "" {
		w.str(" " + catalog.QuoteIdent(f.Alias))
		w.names(f.Cols)
	}
}

// group writes an element of GROUP BY; bare lists lose their parentheses.
func (w *queryWriter) group(g *catalog.GroupTree, bare bool) {
	list := func(open, end string) {
		w.str(open)
		for i := range g.Sets {
			if i > 0 {
				w.str(", ")
			}
			w.group(&g.Sets[i], g.Kind == "LIST")
		}
		w.str(end)
	}
	switch g.Kind {
	case "":
		if w.sortExpr(&g.X); !bare {
			return
		}
	case "EMPTY":
		w.str("()")
	case "LIST":
		if bare {
			list("", "")
		} else {
			list("(", ")")
		}
	case "SETS":
		w.str("GROUPING SETS (")
		for i := range g.Sets {
			if i > 0 {
				w.str(", ")
			}
			if s := &g.Sets[i]; s.Kind == "" {
				w.str("(")
				w.sortExpr(&s.X)
				w.str(")")
			} else {
				w.group(s, false)
			}
		}
		w.str(")")
	default:
		list(g.Kind+"(", ")")
	}
}

func (w *queryWriter) sort(s *catalog.SortTree) {
	if s.Num > 0 {
		w.str(strconv.Itoa(s.Num))
	} else {
		w.sortExpr(&s.X)
	}
	switch {
	case s.Using != "" && s.NullsFirst:
		w.str(" USING " + s.Using + " NULLS FIRST")
	case s.Using != "":
		w.str(" USING " + s.Using + " NULLS LAST")
	case s.Desc && s.NullsFirst:
		w.str(" DESC")
	case s.Desc:
		w.str(" DESC NULLS LAST")
	case s.NullsFirst:
		w.str(" NULLS FIRST")
	}
}

// sortExpr writes an expression to sort or group by: a call in parentheses, for
// a name before a parenthesis would be read as something else.
func (w *queryWriter) sortExpr(x *catalog.TreeExpr) {
	if n, t, ok := strings.Cut(x.Text, "::"); ok && x.Simple && (t == "integer" || t == "numeric" || t == "boolean") && !strings.HasPrefix(n, "'") {
		w.str(x.Text) // a constant, whose type stands behind it without parentheses here
		return
	}
	paren := !x.Simple && (w.pretty || x.Call)
	if paren {
		w.str("(")
	}
	w.expr(x)
	if paren {
		w.str(")")
	}
}

// window writes what follows OVER.
func (w *queryWriter) window(x *catalog.WindowTree) {
	if x.Name != "" {
		w.str(catalog.QuoteIdent(x.Name))
		return
	}
	w.windowSpec(x)
}

func (w *queryWriter) windowSpec(x *catalog.WindowTree) {
	sep := ""
	part := func(s string) { w.str(sep + s); sep = " " }
	w.str("(")
	if x.Base != "" {
		part(catalog.QuoteIdent(x.Base))
	}
	for i := range x.Partition {
		if i == 0 {
			part("PARTITION BY ")
		} else {
			w.str(", ")
		}
		w.sortExpr(&x.Partition[i])
	}
	for i := range x.Order {
		if i == 0 {
			part("ORDER BY ")
		} else {
			w.str(", ")
		}
		w.sort(&x.Order[i])
	}
	if x.Frame != "" {
		part(x.Frame + " ")
		bound := func(b *catalog.WindowBound) {
			if b.X != nil {
				w.expr(b.X)
				w.str(" ")
			}
			w.str(b.Kind)
		}
		if x.Between {
			w.str("BETWEEN ")
		}
		if bound(&x.Start); x.Between {
			w.str(" AND ")
			bound(&x.End)
		}
		if x.Exclude != "" {
			w.str(" EXCLUDE " + x.Exclude)
		}
	}
	w.str(")")
}

// expr writes an expression.
func (w *queryWriter) expr(x *catalog.TreeExpr) {
	e := &exprWriter{buf: w.buf, pretty: w.pretty, indent: w.indent, query: w}
	e.tree(x)
	w.buf = e.buf
}

// tree writes an expression with the pieces that are in it.
func (w *exprWriter) tree(x *catalog.TreeExpr) { w.treeIn(x, false) }

// treeIn is tree; left tells that an operator stands behind the expression.
func (w *exprWriter) treeIn(x *catalog.TreeExpr, left bool) {
	r := &exprReader{env: w.query.env, toks: exprTokens(x.Text), pieces: x.Pieces}
	n := r.expr()
	if r.bad || r.pos != len(r.toks) {
		w.buf = append(w.buf, x.Text...) // not expected; the text is right all the same
		return
	}
	if left {
		w.paren(n, &exprNode{kind: nodeOp})
		return
	}
	w.node(n)
}

// piece writes the parts of a piece.
func (w *exprWriter) piece(parts []catalog.TreePart) {
	for i := range parts {
		p := &parts[i]
		w.buf = append(w.buf, p.Lit...)
		switch {
		case p.Function == "":
		case w.query.env.functionVisible(p.Schema, p.Function):
			w.buf = append(w.buf, catalog.QuoteIdent(p.Function)...)
		default:
			w.buf = append(w.buf, catalog.QualifiedIdent(p.Schema, p.Function)...)
		}
		if p.Cast != "" {
			r := &exprReader{env: w.query.env, toks: exprTokens(p.Cast)}
			w.buf = append(w.buf, "::"+r.typeName()...)
		}
		if p.Expr != nil {
			w.treeIn(p.Expr, p.Left)
			continue
		}
		q := *w.query
		q.buf, q.indent = w.buf, w.indent
		switch {
		case p.Query != nil:
			q.query(p.Query)
		case p.Sort != nil:
			q.sort(p.Sort)
		case p.Window != nil:
			q.window(p.Window)
		}
		w.buf = q.buf
	}
}
