package planner

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// BodyTree takes the body of a function apart that is bound when it is made: RETURN, or
// BEGIN ATOMIC with queries and changes of tables. It is nil for other bodies.
func BodyTree(c *Context, f *catalog.Function) (*catalog.BodyTree, error) {
	return bodyTree(c, f, c.Snap, f.Name, true)
}

// BodyText is the text of a body as it is stored: it means the same whatever the search
// path and whatever columns its tables get. "" for a body that has no tree.
func BodyText(c *Context, f *catalog.Function, write BodyWriter) string {
	tree, err := bodyTree(c, f, c.Snap, "", false)
	if err != nil || tree == nil {
		return ""
	}
	text := write(tree, c.Snap)
	if _, err := c.Texts.ParseBody(text, true); err != nil {
		return ""
	}
	return text
}

// bodyTree is BodyTree with the names of a snapshot. Parameters have their names, which
// qualifier goes before where columns could have them; without one they have numbers.
// stored tells that the body is as it was stored, not as it was written.
func bodyTree(c *Context, f *catalog.Function, names *catalog.Snapshot, qualifier string, stored bool) (out *catalog.BodyTree, err error) {
	body, err := c.Texts.ParseBody(f.Body, true)
	if err != nil || !f.Standard || slices.ContainsFunc(body, func(s ast.Stmt) bool { return !hasTree(s) }) {
		return nil, err
	}
	in := *c
	in.Routine, in.ParamTypes = RoutineOf(f, false, f.Ret, nil), f.Inputs()
	out = &catalog.BodyTree{}
	for _, s := range body {
		p := textPlanner(&in)
		p.stored = stored
		t, err := p.bodyStmt(s, names, qualifier)
		if err != nil {
			return nil, err
		}
		out.Stmts = append(out.Stmts, t)
	}
	if len(f.Body) >= 6 && strings.EqualFold(f.Body[:6], "return") {
		out.Return, out.Stmts = out.Stmts[0].Return, nil
	}
	return out, nil
}

func hasTree(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return true
	}
	return false
}

func (p *planner) bodyStmt(s ast.Stmt, names *catalog.Snapshot, qualifier string) (out catalog.StmtTree, err error) {
	defer p.recover(&err)
	writer := func() *treeWriter {
		w := newTreeWriter(p, names)
		w.function, w.named = qualifier, qualifier == ""
		return w
	}
	sel, ok := s.(*ast.Select)
	if !ok {
		p.rec = newRecorder()
		p.noteChange(s, nil)
		out.Change = writer().change(s, false)
		return out, nil
	}
	q := p.bindForText(sel)
	w := writer()
	if t := w.query(q, sel, nil, false); sel.Return {
		out.Return = &t.Targets[0].X
	} else {
		out.Query = t
	}
	return out, nil
}

// param writes a parameter of the function: by its name, which is qualified where columns
// could have it, or by its number.
func (w *treeWriter) param(x *plan.Param) string {
	if r := w.Routine; w.function != "" && r != nil && x.Idx < len(r.Names) && r.Names[x.Idx] != "" {
		name := catalog.QuoteIdent(r.Names[x.Idx])
		if len(w.taken) > len(reservedRefs) {
			name = catalog.QuoteIdent(w.function) + "." + name
		}
		return name
	}
	return "$" + strconv.Itoa(x.Idx+1)
}

// retextBody is Retext of a function's body. One without a tree cannot be written anew:
// it is refused to rename what it names.
func (p *planner) retextBody(t catalog.StoredText, after *catalog.Snapshot, write BodyWriter) (string, error) {
	tree, err := bodyTree(p.Context, t.Function, after, "", true)
	if err != nil {
		return t.Text, nil
	}
	if tree != nil {
		return write(tree, after), nil
	}
	for _, oid := range TextUses(p.Context, t) {
		if what := p.renamed(oid, after); what != "" {
			return "", sqlerr.Unsupported(-1, "renaming %s, which function %s uses,", what, catalog.QuoteIdent(t.Function.Name))
		}
	}
	return t.Text, nil
}

// renamed says what an object was called that is called otherwise, or has other
// names of columns, in a later snapshot; "" for others.
func (p *planner) renamed(oid types.OID, after *catalog.Snapshot) string {
	old, now := p.Snap.Object(oid), after.Object(oid)
	if old == nil || now == nil || old == now {
		return ""
	}
	was, is := catalog.CommonOf(old), catalog.CommonOf(now)
	if was.Name != is.Name || was.Schema != is.Schema {
		return catalog.QualifiedIdent(was.Schema, was.Name)
	}
	a, b := p.Snap.RelationByOID(p.DB, oid), after.RelationByOID(p.DB, oid)
	if a == nil || b == nil {
		return ""
	}
	for i, c := range a.RelColumns() {
		if d := b.RelColumns(); i < len(d) && !d[i].Dropped && d[i].Name != c.Name {
			return "column " + catalog.QuoteIdent(c.Name) + " of " + catalog.QualifiedIdent(was.Schema, was.Name)
		}
	}
	return ""
}

// BodyReads tells which columns of a relation a function's body names.
func BodyReads(c *Context, f *catalog.Function, rel types.OID) []int {
	in := *c
	body, err := c.Texts.ParseBody(f.Body, true)
	if err != nil {
		return nil
	}
	in.Routine, in.ParamTypes = RoutineOf(f, false, f.Ret, nil), f.Inputs()
	var out []int
	for _, s := range body {
		p := textPlanner(&in)
		var fields []catalog.ColRef
		p.fields = &fields
		if p.bindStatement(s) != nil {
			return nil
		}
		for _, ref := range fields {
			if ref.Rel == rel {
				out = append(out, ref.Col)
			}
		}
		for _, r := range p.rights {
			if r.Rel.ObjectOID() == rel && r.As == "" {
				out = append(append(append(out, r.Select...), r.Insert...), r.Update...)
			}
		}
	}
	return out
}
