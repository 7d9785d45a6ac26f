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

// BodyTree takes the body of a function apart that is bound when it is made:
// RETURN, or BEGIN ATOMIC with queries. It is nil for other bodies, those that
// change tables among them.
func BodyTree(c *Context, f *catalog.Function) (*catalog.BodyTree, error) {
	return bodyTree(c, f, c.Snap)
}

func bodyTree(c *Context, f *catalog.Function, names *catalog.Snapshot) (out *catalog.BodyTree, err error) {
	body, err := c.Texts.ParseBody(f.Body, true)
	if err != nil || !f.Standard || slices.ContainsFunc(body, func(s ast.Stmt) bool { _, query := s.(*ast.Select); return !query }) {
		return nil, err
	}
	in := *c
	in.Routine, in.ParamTypes = RoutineOf(f, false, f.Ret, nil), f.Inputs()
	out = &catalog.BodyTree{}
	for _, s := range body {
		p := textPlanner(&in)
		p.stored = true
		if err := p.bodyQuery(s.(*ast.Select), f, names, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *planner) bodyQuery(s *ast.Select, f *catalog.Function, names *catalog.Snapshot, out *catalog.BodyTree) (err error) {
	defer p.recover(&err)
	q := p.bindForText(s)
	w := newTreeWriter(p, names)
	w.function = f.Name
	if now, ok := names.Object(f.OID).(*catalog.Function); ok {
		w.function = now.Name
	}
	t := w.query(q, s, nil, false)
	if len(f.Body) >= 6 && strings.EqualFold(f.Body[:6], "return") {
		out.Return = &t.Targets[0].X
		return nil
	}
	out.Queries = append(out.Queries, t)
	return nil
}

// param writes a parameter of the function by its name, which is qualified where
// columns could have it.
func (w *treeWriter) param(x *plan.Param) string {
	if r := w.Routine; r != nil && x.Idx < len(r.Names) && r.Names[x.Idx] != "" {
		name := catalog.QuoteIdent(r.Names[x.Idx])
		if len(w.rec.rels) > 0 {
			name = catalog.QuoteIdent(w.function) + "." + name
		}
		return name
	}
	return "$" + strconv.Itoa(x.Idx+1)
}

// retextBody is Retext of a function's body. A body that changes tables cannot be
// written anew: it is refused to rename what it names.
func (p *planner) retextBody(t catalog.StoredText, after *catalog.Snapshot, write BodyWriter) (string, error) {
	tree, err := bodyTree(p.Context, t.Function, after)
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
	in.Consts = nil
	body, err := c.Texts.ParseBody(f.Body, true)
	if err != nil {
		return nil
	}
	in.Routine, in.ParamTypes = RoutineOf(f, false, f.Ret, nil), f.Inputs()
	var out []int
	for _, s := range body {
		p := newPlanner(&in)
		if p.bindStatement(s) != nil {
			return nil
		}
		for _, r := range p.rights {
			if r.Rel.ObjectOID() == rel && r.As == "" {
				out = append(append(append(out, r.Select...), r.Insert...), r.Update...)
			}
		}
	}
	return out
}
