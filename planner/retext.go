package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// QueryWriter lays a query's tree out as text, with the names of a snapshot.
type QueryWriter func(t *catalog.QueryTree, names *catalog.Snapshot) string

// BodyWriter lays a function's body out as text.
type BodyWriter func(t *catalog.BodyTree, names *catalog.Snapshot) string

// StoredQuery is a query that the catalog keeps: its text, which means the same
// whatever the search path and whatever columns its tables get, and what it reads.
type StoredQuery struct {
	Text string
	// MadeAliases are those that nobody wrote
	MadeAliases []string
	Deps        []types.OID      // relations
	ColDeps     []catalog.ColRef // their columns; Col -1: of the relation none
	Temp        bool             // one of them is temporary
}

// StoreQuery binds the query of a view whose first columns are called cols.
func StoreQuery(c *Context, s *ast.Select, cols []string, write QueryWriter) (out *StoredQuery, err error) {
	p := textPlanner(c)
	p.trusted = 0
	defer p.recover(&err)
	q := p.bindForText(s)
	for i := len(cols); i < len(q.cols); i++ {
		cols = append(cols, q.cols[i].Name)
	}
	out = &StoredQuery{}
	w := newTreeWriter(p, c.Snap)
	w.named = true
	if out.Text, err = storedText(p, w.query(q, s, cols, true), c.Snap, write); err != nil {
		return nil, err
	}
	out.MadeAliases = *w.given
	for _, r := range p.rec.rels {
		rel := r.relation()
		if rel == nil {
			out.functionRows(p, r)
			continue
		}
		oid := rel.ObjectOID()
		if schema, _ := rel.RelName(); catalog.IsTempSchema(schema) {
			out.Temp = true
		}
		if oid < types.FirstUserOID {
			continue
		}
		if !slices.Contains(out.Deps, oid) {
			out.Deps = append(out.Deps, oid)
		}
		for i := range rel.RelColumns() {
			if ref := (catalog.ColRef{Rel: oid, Col: i}); p.rec.read[[2]int{r.id, i}] && !slices.Contains(out.ColDeps, ref) {
				out.ColDeps = append(out.ColDeps, ref)
			}
		}
	}
	for _, ref := range p.rec.fields {
		if !slices.Contains(out.Deps, ref.Rel) {
			out.Deps = append(out.Deps, ref.Rel)
		}
		if !slices.Contains(out.ColDeps, ref) {
			out.ColDeps = append(out.ColDeps, ref)
		}
	}
	slices.Sort(out.Deps)
	for _, d := range out.Deps {
		if !slices.ContainsFunc(out.ColDeps, func(r catalog.ColRef) bool { return r.Rel == d }) {
			out.ColDeps = append(out.ColDeps, catalog.ColRef{Rel: d, Col: -1})
		}
	}
	slices.SortFunc(out.ColDeps, func(a, b catalog.ColRef) int {
		if a.Rel != b.Rel {
			return int(int64(a.Rel) - int64(b.Rel))
		}
		return a.Col - b.Col
	})
	return out, nil
}

// functionRows notes the relations whose rows functions in FROM return, and the
// columns that are read of them.
func (out *StoredQuery) functionRows(p *planner, r *rel) {
	at := 0
	for i, f := range r.funcs {
		first := at
		at += r.fcols[i]
		in := p.Snap.TypeInfo(f.Type().OID)
		if in == nil || in.RelID < types.FirstUserOID {
			continue
		}
		of := p.Snap.RelationByOID(p.DB, in.RelID)
		if of == nil {
			continue
		}
		if !slices.Contains(out.Deps, in.RelID) {
			out.Deps = append(out.Deps, in.RelID)
		}
		col := first
		for k, c := range of.RelColumns() {
			if c.Dropped {
				continue
			}
			if col < at && p.rec.read[[2]int{r.id, col}] {
				if ref := (catalog.ColRef{Rel: in.RelID, Col: k}); !slices.Contains(out.ColDeps, ref) {
					out.ColDeps = append(out.ColDeps, ref)
				}
			}
			col++
		}
	}
}

// storedText is a tree's text in the spelling of stored queries: one line.
func storedText(p *planner, t *catalog.QueryTree, names *catalog.Snapshot, write QueryWriter) (string, error) {
	s, err := p.Texts.ParseQuery(write(t, names))
	if err != nil {
		return "", err
	}
	return ast.Format(s), nil
}

// Retext writes a stored text, which is bound over c's snapshot, with the names
// of a later one. A text that does not bind stays: it was broken before.
func Retext(c *Context, t catalog.StoredText, after *catalog.Snapshot, write QueryWriter, body BodyWriter) (string, error) {
	p := textPlanner(c)
	p.stored, p.only = true, t.Calls()
	p.SearchPath = []string{catalog.SchemaPgCatalog}
	if t.Function != nil {
		return p.retextBody(t, after, body)
	}
	if t.View != nil {
		s, err := p.Texts.ParseQuery(t.Text)
		if err != nil {
			return t.Text, nil
		}
		q, err := p.tryBind(s)
		if err != nil {
			return t.Text, nil
		}
		return p.retextView(t, q, s, after, write)
	}
	return p.retextExpr(t, after)
}

func (p *planner) tryBind(s *ast.Select) (q *query, err error) {
	defer p.recover(&err)
	return p.bindForText(s), nil
}

func (p *planner) retextView(t catalog.StoredText, q *query, s *ast.Select, after *catalog.Snapshot, write QueryWriter) (text string, err error) {
	defer p.recover(&err)
	w := newTreeWriter(p, after)
	w.made, w.named = t.View.MadeAliases, true
	text, err = storedText(p, w.query(q, s, columnNamesOf(after, t.View), true), after, write)
	if t.MadeAliases != nil {
		*t.MadeAliases = *w.given
	}
	return text, err
}

// columnNamesOf are the names of a view's columns in a snapshot.
func columnNamesOf(names *catalog.Snapshot, v *catalog.View) []string {
	if now, ok := names.Object(v.OID).(*catalog.View); ok {
		v = now
	}
	var out []string
	for i := range v.Columns {
		out = append(out, v.Columns[i].Name)
	}
	return out
}

// retextExpr is Retext of an expression.
func (p *planner) retextExpr(t catalog.StoredText, after *catalog.Snapshot) (text string, err error) {
	x, err := p.Texts.ParseExpr(t.Text)
	if err != nil {
		return t.Text, nil
	}
	p.rec = newRecorder()
	bind := func() (e plan.Expr, r *rel, err error) {
		defer p.recover(&err)
		b := &binder{planner: p, scope: &scope{}, what: "expressions", noAgg: true, noWin: true}
		table := t.Table
		if t.Value.OID != 0 {
			table = valueTable(t.Value)
		}
		if table != nil {
			r = p.tableRel(table, table.Name)
			r.shown = true // the text has tableoid by name
			b.scope.items = []*nsItem{p.relNames(r, nil)}
		}
		return p.known(b.expr(x)), r, nil
	}
	e, r, err := bind()
	if err != nil {
		return t.Text, nil
	}
	defer p.recover(&err)
	opt := newTreeWriter(p, after).deparseOptions()
	forms := storedNames{column: func(v *plan.Var) string {
		switch {
		case t.Table == nil:
			return "VALUE"
		case v.Col >= 0:
			if now := after.RelationByOID(p.DB, t.Table.OID); now != nil {
				return catalog.QuoteIdent(now.RelColumns()[v.Col].Name)
			}
			return catalog.QuoteIdent(r.cols[v.Col].Name)
		}
		return catalog.QuoteIdent(v.Name)
	}}
	forms.rowOf(t.Table, opt)
	if t.Table != nil {
		if now, ok := after.Object(t.Table.OID).(catalog.Relation); ok {
			_, forms.table = now.RelName()
		}
	}
	opt.Other = forms.forms
	text = plan.Deparse(e, opt)
	if doubled(t.Text) && !strings.HasPrefix(text, "((") {
		text = "(" + text + ")" // a conversion to the column's type, which is hidden, is not bound here
	}
	return text, nil
}

// doubled reports whether a text has the parentheses that plan.Deparse puts
// around an operator below a hidden conversion.
func doubled(text string) bool { return strings.HasPrefix(text, "((") && strings.HasSuffix(text, "))") }
