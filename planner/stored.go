package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// Stored is an expression that the catalog keeps: what runs, and its text.
type Stored struct {
	Expr plan.Expr // as ColumnExpr binds it
	Cols []int     // the columns that it reads, in the order in which it does
	// Whole tells that it reads the row as a whole, too, with the columns that the table
	// will have.
	Whole bool
	// Text means the same whatever the search path: names of types and relations
	// carry their schemas.
	Text string
	Null bool // nothing but NULL
	// Collation is that of the values, "" for the type's. Conflict: those of the
	// columns that it reads differ.
	Collation string
	Conflict  bool
	Deps      []types.OID // relations whose names are literals of it: sequences of nextval
}

// StoredExpr binds an expression as ColumnExpr does and deparses it.
func StoredExpr(c *Context, x ast.Expr, t *catalog.Table, want types.T, what string) (*Stored, error) {
	return storedExpr(c, x, t, want, what, nil)
}

func storedExpr(c *Context, x ast.Expr, t *catalog.Table, want types.T, what string, column func(string) string) (*Stored, error) {
	e, err := ColumnExpr(c, x, t, want, what)
	if err != nil {
		return nil, err
	}
	written, err := textExpr(c, x, t, want, what)
	if err != nil {
		return nil, err
	}
	s := &Stored{Expr: e.X}
	s.reads(written)
	if k, ok := written.(*plan.Const); ok {
		s.Null = k.Val.Null
	}
	if t != nil {
		s.Collation, s.Conflict = collation(written, func(v *plan.Var) string {
			if i := t.Col(v.Name); i >= 0 {
				return t.Columns[i].Collation
			}
			return ""
		})
	}
	opt := deparseOptions(c)
	names := storedNames{column: func(v *plan.Var) string {
		if column != nil {
			return column(v.Name)
		}
		return catalog.QuoteIdent(v.Name)
	}}
	names.rowOf(t, opt)
	opt.Other = names.forms
	opt.Literal = func(t types.T, text string) string {
		if t.OID == types.ORegclass {
			if oid := c.objectNamed(t, text); oid != 0 {
				s.Deps = append(s.Deps, oid)
			}
		}
		return c.qualifyLiteral(t, text, c.Snap)
	}
	s.Text = plan.Deparse(written, opt)
	return s, nil
}

// reads notes what an expression that is bound for its text reads.
func (s *Stored) reads(x plan.Expr) {
	plan.Visit(x, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.RowCtor:
			s.Whole = s.Whole || y.Of != 0
			return y.Of == 0
		case *plan.Var:
			if !slices.Contains(s.Cols, y.Col) {
				s.Cols = append(s.Cols, y.Col)
			}
		}
		return true
	})
}

// storedNames spell what a stored expression reads.
type storedNames struct {
	column func(*plan.Var) string
	// table is that whose row it may read as a whole, rowType the type of that
	table, rowType string
	typeName       func(types.T) string
}

// rowOf tells of which table a row is. The type of one that is being made has no number yet.
func (n *storedNames) rowOf(t *catalog.Table, opt plan.DeparseOptions) {
	n.typeName = opt.TypeName
	switch {
	case t == nil:
		return
	case t.RowType != 0:
		n.rowType = opt.TypeName(types.T{OID: t.RowType, Mod: -1, User: types.KRecord})
	default:
		n.rowType = catalog.QualifiedIdent(t.Schema, t.Name)
	}
	n.table = t.Name
}

// forms write what plan.Deparse does not know.
func (n *storedNames) forms(e plan.Expr, sub func(plan.Expr, bool) string) (string, bool) {
	switch e := e.(type) {
	case *plan.Relabel:
		if isRecord(e) {
			return sub(e.X, true), true
		}
	case *plan.Var:
		return n.column(e), true
	case *plan.RowCtor:
		return n.row(e, sub)
	case *shown:
		return e.text(sub), true
	}
	return "", false
}

// row writes the whole row of the table, and ROW(…) with such a row in it: without a cast
// that would be taken for its columns.
func (n *storedNames) row(r *plan.RowCtor, sub func(plan.Expr, bool) string) (string, bool) {
	cast := ""
	if r.Cast == plan.CastExplicit && r.T.OID != types.ORecord {
		cast = "::" + n.typeName(r.T)
	}
	if r.Of != 0 {
		return catalog.QuoteIdent(n.table) + ".*" + cast, true
	}
	var parts []string
	for _, x := range r.Elems {
		if row, ok := x.(*plan.RowCtor); ok && row.Of != 0 {
			parts = append(parts, catalog.QuoteIdent(n.table)+".*::"+n.rowType)
			continue
		}
		parts = append(parts, sub(x, true))
	}
	return "ROW(" + strings.Join(parts, ", ") + ")" + cast, true
}

// isRecord reports whether an expression makes a row a record, for which no conversion is
// written.
func isRecord(r *plan.Relabel) bool {
	return r.T.OID == types.ORecord && r.X.Type().OID != types.ORecord
}

// deparseOptions spell what is stored: values in ISO style, names with schemas.
func deparseOptions(c *Context) plan.DeparseOptions {
	f := *types.DefaultFmt
	if c.Fmt != nil {
		f.Loc, f.Now, f.Reg = c.Fmt.Loc, c.Fmt.Now, c.Fmt.Reg
	}
	return plan.DeparseOptions{
		Fmt:      &f,
		TypeName: func(t types.T) string { return c.Snap.FormatType(t, c.DB, []string{catalog.SchemaPgCatalog}) },
	}
}
