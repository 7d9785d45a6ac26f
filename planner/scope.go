package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// scope is what names can refer to inside one query block, and the blocks
// around it.
type scope struct {
	parent *scope
	items  []*nsItem
	ctes   map[string]*cteDef
	later  map[string]bool // queries of the same WITH that are not bound yet
	block  *block
	// user binds the expression that the subquery being bound stands in.
	user *binder
	// joins are sides of the JOIN that the scope is of, which are not in the block yet.
	joins []*joinItem
	// beside is the FROM list that a subquery stands in without seeing it.
	beside *scope
}

// nsItem is a relation's or join's entry in the namespace.
type nsItem struct {
	name        string // "" when it cannot be qualified (a join without alias)
	schema      string
	cols        []nsCol
	relVisible  bool
	colsVisible bool
	hidden      bool // and no other part of FROM: it is the table of MERGE
	lateralBad  bool // LATERAL may not refer to it: left of a RIGHT or FULL join, or the table that the statement changes
	joined      bool // part of a JOIN: its system columns need its name
	rel         *rel
}

type nsCol struct {
	name   string
	x      plan.Expr
	hidden bool // no part of *
}

// cteDef is a WITH query.
type cteDef struct {
	name         string
	q            *query
	refs         int // that are bound
	named        int // times that the statement has its name, where that is counted before it is bound
	recursive    bool
	materialized *bool
	dml          bool
	planned      *plan.CTE
	keys         map[int]*keptKey // what it passes on beside its ctids, once it is planned
	stepQ        *query           // recursive term
	unionAll     bool
	binding      bool // its own body is being bound
	extra        int  // columns of SEARCH and CYCLE: the last ones
}

func (s *scope) findCTE(name string) *cteDef {
	for ; s != nil; s = s.parent {
		if c, ok := s.ctes[name]; ok {
			return c
		}
	}
	return nil
}

// column resolves an unqualified column name: the innermost scope that knows it.
func (b *binder) column(name string, off int) plan.Expr {
	for s := b.scope; s != nil; s = s.parent {
		var hit plan.Expr
		for _, it := range s.items {
			if !it.colsVisible {
				continue
			}
			for _, c := range it.cols {
				if c.name == name {
					if hit != nil {
						failf(sqlerr.AmbiguousColumn, off, "column reference \"%s\" is ambiguous", name)
					}
					if it.lateralBad {
						fail(badLateral(it, off))
					}
					hit = c.x
				}
			}
		}
		if hit != nil {
			return moved(hit, off)
		}
		for _, it := range s.items {
			if !it.colsVisible || it.joined {
				continue
			}
			if x := b.system(it, name, off); x != nil {
				if hit != nil {
					failf(sqlerr.AmbiguousColumn, off, "column reference \"%s\" is ambiguous", name)
				}
				hit = x
			}
		}
		if hit != nil {
			return moved(hit, off)
		}
	}
	return nil
}

// item finds a relation's entry by its name.
func (s *scope) item(schema, name string, off int) *nsItem {
	for ; s != nil; s = s.parent {
		var hit *nsItem
		for _, it := range s.items {
			if it.relVisible && it.name == name && (schema == "" || it.schema == schema) {
				if hit != nil {
					failf(sqlerr.AmbiguousAlias, off, "table reference \"%s\" is ambiguous", name)
				}
				hit = it
			}
		}
		if hit != nil {
			if hit.lateralBad {
				fail(badLateral(hit, off))
			}
			return hit
		}
	}
	return nil
}

func (b *binder) columnOf(it *nsItem, name string, off int) plan.Expr {
	var hit plan.Expr
	for _, c := range it.cols {
		if c.name == name {
			if hit != nil {
				failf(sqlerr.AmbiguousColumn, off, "column reference \"%s\" is ambiguous", name)
			}
			hit = c.x
		}
	}
	if hit == nil {
		hit = b.system(it, name, off)
	}
	if hit == nil {
		return nil
	}
	return moved(hit, off)
}

// systemCols are the system columns; where a query is bound for its text, each
// has a number of its own from systemCol downwards.
var systemCols = []string{"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"}

const systemCol = -100

// system resolves the system columns of a table. Those that are the same in each
// row are NULL where an outer join has no row.
func (b *binder) system(it *nsItem, name string, off int) plan.Expr {
	x := it.system(name)
	if x != nil && it.rel != nil {
		if right := b.watched[it.rel.id]; right != nil {
			right.Read(catalog.SystemColumn(name))
		}
	}
	if x != nil && b.what == whenAnd && name != "tableoid" {
		failf(sqlerr.InvalidColumnReference, off, "cannot use system column \"%s\" in MERGE WHEN condition", name)
	}
	if y, ok := x.(*plan.Var); ok && y.Col == plan.ColXmin {
		it.rel.oneValue(off)
	}
	if name == "ctid" && it.rel != nil && it.rel.virt != nil && !it.rel.virt.View {
		unsupported(-1, "ctid of a system relation")
	}
	if _, same := x.(*plan.Const); same {
		if row := b.present(it); row != nil {
			has := &plan.Is{At: plan.At{T: types.TBool, Off: -1}, X: row, Test: plan.IsNull, Not: true}
			return &plan.Case{At: plan.At{T: x.Type(), Off: -1}, Whens: []plan.When{{Cond: has, Result: x}}}
		}
	}
	return x
}

// oneValue refuses xmin of tables whose rows are in several values: none tells of
// changes to the others.
func (r *rel) oneValue(off int) {
	tables := []*catalog.Table{r.table}
	if r.tree != nil {
		tables = r.tree.members
	}
	for _, t := range tables {
		if len(t.Groups) > 0 {
			unsupported(off, "xmin of table \"%s\" (stored by columns or elements)", t.Name)
		}
	}
}

func (it *nsItem) system(name string) plan.Expr {
	if it.rel == nil || it.rel.proposed {
		return nil
	}
	v := func(col int, t types.T) plan.Expr {
		return &plan.Var{At: plan.At{T: t, Off: -1}, Rel: it.rel.id, Col: col, Name: name}
	}
	if it.rel.shown && it.rel.relation() != nil && slices.Contains(systemCols, name) && name != "ctid" {
		return v(systemCol-slices.Index(systemCols, name), types.TOid)
	}
	switch name {
	case "tableoid":
		var oid types.OID
		switch {
		case it.rel.tree != nil:
			return v(plan.ColTableOID, types.TOid)
		case it.rel.table != nil:
			oid = it.rel.table.OID
		case it.rel.virt != nil && !it.rel.virt.View:
			oid = it.rel.virt.OID
		case it.rel.seq != nil:
			oid = it.rel.seq.OID
		default:
			return nil
		}
		return &plan.Const{At: plan.At{T: types.TOid, Off: -1}, Val: types.Int(types.TOid, int64(oid))}
	case "ctid":
		if it.rel.table != nil {
			return v(plan.ColCtid, types.Of(types.OTid))
		}
	case "xmin", "xmax", "cmin", "cmax":
		if it.rel.table != nil || it.rel.virt != nil && !it.rel.virt.View {
			t, is := types.Of(types.OXid), int64(0)
			switch {
			case name == "xmin" && it.rel.table != nil:
				return v(plan.ColXmin, t)
			case name == "xmin":
				is = 1
			case name[0] == 'c':
				t = types.Of(types.OCid)
			case it.rel.upserted:
				return v(plan.ColXmax, t)
			}
			return &plan.Const{At: plan.At{T: t, Off: -1}, Val: types.Int(t, is)}
		}
	}
	return nil
}

// moved returns x with the offset of its use.
func moved(x plan.Expr, off int) plan.Expr {
	switch x := x.(type) {
	case *plan.Var:
		c := *x
		c.Off = off
		return &c
	}
	return x
}

// columnRef binds a, t.a, s.t.a, or a whole-row reference.
func (b *binder) columnRef(r *ast.ColumnRef) plan.Expr {
	x := b.resolveColumn(r)
	b.read(x)
	if b.seen != nil {
		b.seen.addAll(relsOf(x))
	}
	return x
}

func (b *binder) resolveColumn(r *ast.ColumnRef) plan.Expr {
	off := r.Pos()
	if r.Star {
		if n := len(r.Parts); n > 0 { // t.* inside an expression is the row itself
			schema := ""
			if n > 1 {
				schema = r.Parts[n-2]
			}
			if it := b.scope.item(schema, r.Parts[n-1], off); it != nil {
				return b.wholeRow(it, off)
			}
			fail(b.noRelation(r.Parts[n-1], off))
		}
		failf(sqlerr.SyntaxError, off, "row expansion via \"*\" is not supported here")
	}
	switch len(r.Parts) {
	case 1:
		name := r.Parts[0]
		if b.colHook != nil {
			if x := b.colHook(name); x != nil {
				return moved(x, off)
			}
		}
		if x := b.column(name, off); x != nil {
			return x
		}
		if it := b.scope.item("", name, off); it != nil {
			return b.wholeRow(it, off)
		}
		if x := b.argument(r.Parts, off); x != nil {
			return x
		}
		fail(b.noColumn("", name, off))
	case 2, 3, 4:
		n := len(r.Parts)
		schema := ""
		if n > 2 {
			schema = r.Parts[n-3]
		}
		if n == 4 {
			if d := b.Snap.Database(r.Parts[0]); d == nil || d.OID != b.DB {
				failf(sqlerr.FeatureNotSupported, off, "cross-database references are not implemented: %s", strings.Join(r.Parts, "."))
			}
		}
		it := b.scope.item(schema, r.Parts[n-2], off)
		if it == nil {
			if x := b.argument(r.Parts, off); x != nil {
				return x
			}
			fail(b.noRelation(r.Parts[n-2], off))
		}
		if x := b.columnOf(it, r.Parts[n-1], off); x != nil {
			return x
		}
		if x := b.functionOf(&ast.ColumnRef{Off: r.Off, Parts: r.Parts[:n-1]}, b.wholeRow(it, off), r.Parts[n-1], off); x != nil {
			return x
		}
		fail(b.noColumn(r.Parts[n-2], r.Parts[n-1], off))
	}
	failf(sqlerr.SyntaxError, off, "improper qualified name (too many dotted names): %s", strings.Join(r.Parts, "."))
	return nil
}

// wholeRow is a table's name used as a value. A function returning one scalar
// column stands for that column.
func (b *binder) wholeRow(it *nsItem, off int) plan.Expr {
	if it.rel != nil && len(it.rel.funcs) == 1 && len(it.cols) == 1 && it.rel.funcs[0].Type().Kind() != types.KRecord {
		return moved(it.cols[0].x, off)
	}
	r := &plan.RowCtor{At: plan.At{T: types.TRecord, Off: off}, Present: b.present(it)}
	switch {
	case it.rel == nil:
	case it.rel.rowType() != 0:
		r.T = types.T{OID: it.rel.rowType(), Mod: -1, User: types.KRecord}
	case len(it.rel.funcs) == 1 && !it.rel.ordinality && it.rel.funcs[0].Type().Kind() == types.KRecord:
		r.T = it.rel.funcs[0].Type() // what the function returns
	}
	for _, c := range it.cols {
		if c.hidden {
			continue
		}
		r.Elems = append(r.Elems, c.x)
		r.Names = append(r.Names, c.name)
	}
	if it.rel != nil {
		r.Of = it.rel.id
	}
	return r
}
