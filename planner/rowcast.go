package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// rowFits reports whether rows of type src are rows of type dst without a cast: src is
// the row type of a table that inherits from dst's, or of a typed table of dst.
func (p *planner) rowFits(src, dst types.OID) bool {
	if src < types.FirstUserOID || dst < types.FirstUserOID {
		return false
	}
	from := p.Snap.Table(p.info(src).RelID)
	if from == nil || from.RowType != src {
		return false
	}
	if from.OfType == dst {
		return true
	}
	to := p.Snap.Table(p.info(dst).RelID)
	return to != nil && to.RowType == dst && slices.ContainsFunc(p.Snap.Tree(to)[1:], func(t *catalog.Table) bool { return t.OID == from.OID })
}

// rowAs is a row of a table as one of its parent or of its type: the fields of the same
// names.
func (p *planner) rowAs(e plan.Expr, to types.T) plan.Expr {
	from := p.rowColumns(e.Type())
	row := &plan.RowCtor{At: plan.At{T: to, Off: e.Pos()}, Present: e}
	for _, c := range p.rowColumns(to) {
		row.Names = append(row.Names, c.Name)
		i := slices.IndexFunc(from, func(o plan.OutCol) bool { return o.Name == c.Name })
		row.Elems = append(row.Elems, &plan.FieldOf{At: plan.At{T: c.T, Off: e.Pos()}, X: e, Idx: i, Name: c.Name})
	}
	return row
}
