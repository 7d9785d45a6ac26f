package catalog

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog/types"
)

// Dependencies, as PostgreSQL's pg_depend has them, computed from the objects
// themselves: nothing is stored twice that could disagree.

// nodeKind is what a node of the dependency graph stands for.
type nodeKind uint8

const (
	nodeRelation   nodeKind = iota // table, view, sequence; sub is an attnum for a column
	nodeIndex                      // oid is the index's
	nodeConstraint                 // of a table; oid is the constraint's
	nodeDefault                    // oid is the table's, sub the attnum
	nodeType
	nodeFunction
	nodeSchema
	nodeOperator
	nodeCast
	nodePart // a policy or statistics object, an object of its own that belongs to a relation
)

// node is an object or a part of one.
type node struct {
	kind nodeKind
	oid  types.OID
	sub  int // attnum, 0 for the whole
	// table is the table that an index or constraint is part of.
	table types.OID
}

// dependent is an object that needs another one. auto: it goes with the other
// without CASCADE.
type dependent struct {
	node
	auto bool
}

// dependents returns what directly needs n, in PostgreSQL's order: newest
// first, so that the report, which is turned round, begins with the oldest.
func (c *Change) dependents(n node) []dependent {
	var out []dependent
	add := func(auto bool, d node) { out = append(out, dependent{d, auto}) }
	switch n.kind {
	case nodeRelation:
		switch x := c.snap.objs.get(n.oid).(type) {
		case *Table:
			c.tableDependents(x, n.sub, add)
		case *View:
			add(true, node{kind: nodeType, oid: x.RowType})
			for i := range x.Columns {
				if n.sub == 0 && x.Columns[i].Default != "" {
					add(true, node{kind: nodeDefault, oid: x.OID, sub: i + 1})
				}
			}
			if x.Materialized != nil {
				for _, ix := range x.Materialized.Indexes {
					add(true, node{kind: nodeIndex, oid: ix.OID, table: x.OID})
				}
			}
		case *Sequence:
			c.defaultsNeeding(x.OID, add)
		}
		c.viewsReading(n, add)
		c.policiesNeeding(n, add)
		c.statisticsOf(n, add)
		if n.sub == 0 {
			c.textsUsing(n.oid, c.nameOf(n.oid), add)
		} else {
			c.bodiesReading(n, add)
		}
	case nodeIndex:
		for _, ref := range c.snap.Referencing(c.DB, n.table) {
			if ref.FK.RefIndex == n.oid && ref.FK.Parent == 0 {
				add(false, node{kind: nodeConstraint, oid: ref.FK.OID, table: ref.Table.OID})
			}
		}
		for _, child := range c.snap.Children(n.table) {
			for _, ix := range child.Indexes {
				if ix.Parent == n.oid && ix.Constraint == 0 {
					add(true, node{kind: nodeIndex, oid: ix.OID, table: child.OID})
				}
			}
		}
	case nodeConstraint:
		for _, child := range c.snap.Children(n.table) {
			for _, u := range child.Uniques {
				if u.Parent == n.oid {
					add(true, node{kind: nodeConstraint, oid: u.OID, table: child.OID})
				}
			}
			for _, fk := range child.ForeignKeys {
				if fk.Parent == n.oid {
					add(true, node{kind: nodeConstraint, oid: fk.OID, table: child.OID})
				}
			}
		}
		if t := c.snap.Table(n.table); t != nil {
			for _, u := range t.Uniques {
				if u.OID == n.oid {
					add(true, node{kind: nodeIndex, oid: u.Index, table: t.OID})
					c.textsGrouping(t, u, add)
				}
			}
		}
	case nodeType:
		if n.sub == 0 {
			c.typeDependents(n.oid, add)
		}
	case nodeOperator:
		c.textsUsing(n.oid, c.nameOf(n.oid), add)
		c.aggregatesSortedBy(n.oid, add)
	case nodeCast:
		// A stored text spells the conversion and not the function that does it, so
		// that it needs the cast; PostgreSQL lets the cast go.
		c.textsUsing(n.oid, "", add)
	case nodeFunction:
		c.operatorsOver(n.oid, add)
		c.defaultsNeeding(n.oid, add)
		c.textsUsing(n.oid, c.nameOf(n.oid), add)
	case nodePart:
		c.membersOf(n.oid, add)
	case nodeSchema:
		c.schemaContents(n.oid, add)
	}
	slices.SortStableFunc(out, func(a, b dependent) int {
		if a.oid == b.oid && n.kind != nodeRelation && n.kind != nodeType {
			return cmp.Compare(b.sub, a.sub) // expressions of columns, by their own age
		}
		return cmp.Or(cmp.Compare(b.oid, a.oid), cmp.Compare(a.sub, b.sub))
	})
	return out
}

// tableDependents adds what needs the table, or its column attnum sub.
func (c *Change) tableDependents(t *Table, sub int, add func(bool, node)) {
	touches := func(cols []int) bool { return sub == 0 || slices.Contains(cols, sub-1) }
	for _, u := range t.Uniques {
		ix := t.IndexByOID(u.Index)
		switch {
		case touches(u.Cols) || ix != nil && touches(ix.Include):
			add(true, node{kind: nodeConstraint, oid: u.OID, table: t.OID})
		case ix != nil && touches(ix.ExprCols):
			add(false, node{kind: nodeConstraint, oid: u.OID, table: t.OID})
		}
	}
	for _, ix := range t.Indexes {
		if ix.Constraint == 0 && (touches(ix.KeyCols()) || touches(ix.Include) || touches(ix.ExprCols)) {
			add(true, node{kind: nodeIndex, oid: ix.OID, table: t.OID})
		}
	}
	for _, k := range t.Checks {
		if touches(k.Cols) {
			add(true, node{kind: nodeConstraint, oid: k.OID, table: t.OID})
		}
	}
	for _, fk := range t.ForeignKeys {
		if touches(fk.Cols) {
			add(true, node{kind: nodeConstraint, oid: fk.OID, table: t.OID})
		}
	}
	for _, ref := range c.snap.Referencing(c.DB, t.OID) {
		if ref.FK.Parent != 0 {
			continue // it goes with what it is a part of
		}
		if ref.Table.OID != t.OID && touches(ref.FK.RefCols) {
			add(false, node{kind: nodeConstraint, oid: ref.FK.OID, table: ref.Table.OID})
		} else if ref.Table.OID == t.OID && sub != 0 && touches(ref.FK.RefCols) && !touches(ref.FK.Cols) {
			add(false, node{kind: nodeConstraint, oid: ref.FK.OID, table: t.OID})
		}
	}
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.Dropped {
			continue
		}
		if (sub == 0 || sub == i+1) && col.Default != "" {
			add(true, node{kind: nodeDefault, oid: t.OID, sub: i + 1})
		}
		if sub != 0 && sub != i+1 && col.Generated && slices.Contains(col.DefaultCols, sub-1) {
			add(false, node{kind: nodeRelation, oid: t.OID, sub: i + 1})
		}
	}
	if sub == 0 {
		for _, child := range c.snap.Children(t.OID) {
			add(child.Bound != nil, node{kind: nodeRelation, oid: child.OID})
		}
	}
	for _, q := range c.ownedSequences(t.OID) {
		if sub == 0 || q.OwnerCol == sub-1 {
			add(true, node{kind: nodeRelation, oid: q.OID})
		}
	}
	if sub == 0 && t.RowType != 0 {
		add(true, node{kind: nodeType, oid: t.RowType})
	}
}

// ownedSequences returns the sequences that belong to columns of the table.
func (c *Change) ownedSequences(table types.OID) []*Sequence {
	return usersOf[*Sequence](c.snap, c.DB, table)
}

// viewsReading adds the views that read a relation or one of its columns.
func (c *Change) viewsReading(n node, add func(bool, node)) {
	for _, v := range c.viewsOf(n.oid) {
		if n.sub != 0 && !v.reads(n.oid, n.sub-1) {
			continue
		}
		add(false, node{kind: nodeRelation, oid: v.OID})
	}
}

// viewsOf returns the views that read a relation.
func (c *Change) viewsOf(rel types.OID) []*View {
	views := usersOf[*View](c.snap, c.DB, rel)
	return slices.DeleteFunc(views, func(v *View) bool { return !slices.Contains(v.Deps, rel) })
}

// textsGrouping adds the views, policies and functions with queries that are only right as
// a primary key determines the other columns: they are grouped by it and show these.
func (c *Change) textsGrouping(t *Table, u *Unique, add func(bool, node)) {
	if !u.Primary || c.Uses == nil {
		return
	}
	groups := func(text StoredText) bool {
		return strings.Contains(text.Text, "GROUP BY") && slices.Contains(c.Uses(text), u.OID)
	}
	for _, v := range c.viewsOf(t.OID) {
		if groups(StoredText{Text: v.Query, View: v}) {
			add(false, node{kind: nodeRelation, oid: v.OID})
		}
	}
	for _, p := range usersOf[*Policy](c.snap, c.DB, t.OID) {
		if slices.ContainsFunc([]*BoundQuery{&p.Using, &p.Check}, func(q *BoundQuery) bool {
			return groups(StoredText{Text: q.Query, View: q.View(&p.Common)})
		}) {
			add(false, node{kind: nodePart, oid: p.OID})
		}
	}
	for _, f := range c.snap.AllFunctions(c.DB) {
		if f.Standard && groups(StoredText{Text: f.Body, Function: f}) {
			add(false, node{kind: nodeFunction, oid: f.OID})
		}
	}
}

// reads reports whether a view reads a column of a relation that it depends on.
func (v *View) reads(rel types.OID, col int) bool {
	known := false
	for _, c := range v.ColDeps {
		if c.Rel == rel {
			if known = true; c.Col == col {
				return true
			}
		}
	}
	return !known
}

// defaultsNeeding adds the column defaults that need a sequence, function or type.
func (c *Change) defaultsNeeding(oid types.OID, add func(bool, node)) {
	needs := func(col Column) bool {
		return !col.Dropped && col.Default != "" && (col.Sequence == oid && col.Identity == 0 || slices.Contains(col.DefaultDeps, oid))
	}
	for _, t := range usersOf[*Table](c.snap, c.DB, oid) {
		for i, col := range t.Columns {
			if needs(col) {
				add(false, node{kind: nodeDefault, oid: t.OID, sub: i + 1})
			}
		}
	}
}

// typeDependents adds what is made of a type.
func (c *Change) typeDependents(oid types.OID, add func(bool, node)) {
	uses := func(t types.T) bool { return t.OID == oid }
	if in := c.snap.TypeInfo(oid); in != nil && in.Array != 0 {
		add(true, node{kind: nodeType, oid: in.Array})
	}
	for _, r := range usersOf[Relation](c.snap, c.DB, oid) {
		if t, isTable := r.(*Table); isTable && t.OfType == oid {
			add(false, node{kind: nodeRelation, oid: t.OID})
		}
		for i, col := range r.RelColumns() {
			if col.Dropped || !uses(col.Type) {
				continue
			}
			if _, isView := r.(*View); isView {
				break // it goes with the columns and functions that it reads
			}
			if t, isTable := r.(*Table); isTable {
				if of := c.keyedBy(t, i); of == t {
					add(false, node{kind: nodeRelation, oid: t.OID})
					break
				} else if of != nil {
					break // it goes with the table that it is a partition of
				}
			}
			add(false, node{kind: nodeRelation, oid: r.ObjectOID(), sub: i + 1})
		}
	}
	for _, u := range usersOf[*UserType](c.snap, c.DB, oid) {
		if u.Range != nil && u.Range.Pair == oid {
			if u.Kind == 'm' {
				add(true, node{kind: nodeType, oid: u.OID})
			}
		} else if u.Kind == 'r' && uses(u.Range.Subtype) {
			add(false, node{kind: nodeType, oid: u.OID})
		}
		if u.Kind == 'd' && uses(u.Base) {
			add(false, node{kind: nodeType, oid: u.OID})
		}
		for i, col := range u.Columns {
			if uses(col.Type) {
				add(false, node{kind: nodeType, oid: u.OID, sub: i + 1})
			}
		}
	}
	for _, f := range usersOf[*Function](c.snap, c.DB, oid) {
		if f.RangeType != 0 {
			if f.RangeType == oid {
				add(true, node{kind: nodeFunction, oid: f.OID})
			}
			continue
		}
		if uses(f.Ret) || slices.ContainsFunc(f.Args, uses) || f.Agg != nil && uses(f.Agg.State) {
			add(false, node{kind: nodeFunction, oid: f.OID})
		}
	}
	c.operatorsOver(oid, add)
	c.defaultsNeeding(oid, add)
	c.textsUsing(oid, c.nameOf(oid), add)
}

// keyedBy returns the table whose partition key has column i of t: t itself, or one
// that it is a partition of; nil for none.
func (c *Change) keyedBy(t *Table, i int) *Table {
	name := t.Columns[i].Name
	for ; t != nil; t = c.snap.Parent(t) {
		if t.Key != nil && t.Key.reads(t.Col(name)) {
			return t
		}
	}
	return nil
}

// schemaContents adds everything in a schema.
func (c *Change) schemaContents(oid types.OID, add func(bool, node)) {
	if n := c.snap.SchemaByOID(oid); n != nil {
		c.contentsOf(n.DB, n.Name, add)
	}
}

// contentsOf adds everything in a schema, which may be a temporary one: there is no
// object for those.
func (c *Change) contentsOf(db types.OID, schema string, add func(bool, node)) {
	for _, o := range c.snap.objs.all() {
		co := CommonOf(o)
		if co.DB != db || co.Schema != schema {
			continue
		}
		switch x := o.(type) {
		case *Table, *View, *Sequence:
			add(false, node{kind: nodeRelation, oid: co.OID})
		case *UserType:
			add(false, node{kind: nodeType, oid: co.OID})
		case *Function:
			if x.Extension == "" { // it goes with the extension
				add(false, node{kind: nodeFunction, oid: co.OID})
			}
		case *OwnOperator:
			add(false, node{kind: nodeOperator, oid: co.OID})
		case *ExtStats, *Extension:
			add(false, node{kind: nodePart, oid: co.OID})
		}
	}
}

// describe names a node as PostgreSQL's messages do.
func (c *Change) describe(n node) string {
	switch n.kind {
	case nodeRelation:
		text := c.describeRelation(n.oid)
		if n.sub == 0 {
			return text
		}
		if r := asRelation(c.snap.objs.get(n.oid)); r != nil && n.sub <= len(r.RelColumns()) {
			return "column " + r.RelColumns()[n.sub-1].Name + " of " + text
		}
		return text
	case nodeIndex:
		if t := c.snap.storageTable(n.table, c.DB); t != nil {
			if ix := t.IndexByOID(n.oid); ix != nil {
				return "index " + c.snap.RelationText(c.DB, c.Path, t.Schema, ix.Name)
			}
		}
	case nodeConstraint:
		if t := c.snap.Table(n.table); t != nil {
			return "constraint " + t.constraintName(n.oid) + " on " + c.describeRelation(n.table)
		}
	case nodeDefault:
		return "default value for " + c.describe(node{kind: nodeRelation, oid: n.oid, sub: n.sub})
	case nodeType:
		if u := c.snap.TypeByOID(n.oid); n.sub != 0 && u != nil {
			return "column " + u.Columns[n.sub-1].Name + " of composite type " + c.snap.FormatType(types.Of(n.oid), c.DB, c.Path)
		}
		return "type " + c.snap.FormatType(types.Of(n.oid), c.DB, c.Path)
	case nodeFunction:
		if f, ok := c.snap.objs.get(n.oid).(*Function); ok {
			return "function " + c.functionText(f) // a procedure, too
		}
	case nodeOperator:
		if o, ok := c.snap.objs.get(n.oid).(*OwnOperator); ok {
			return "operator " + c.operatorText(o)
		}
	case nodeCast:
		if k, ok := c.snap.objs.get(n.oid).(*OwnCast); ok {
			return "cast from " + c.typeName(k.Source) + " to " + c.typeName(k.Target)
		}
	case nodePart:
		return c.partText(n.oid)
	case nodeSchema:
		if s := c.snap.SchemaByOID(n.oid); s != nil {
			return "schema " + s.Name
		}
	}
	return "object " + oidString(n.oid)
}

func (c *Change) describeRelation(oid types.OID) string {
	r := asRelation(c.snap.objs.get(oid))
	if r == nil {
		return "relation " + oidString(oid)
	}
	schema, name := r.RelName()
	return RelationKind(r) + " " + c.snap.RelationText(c.DB, c.Path, schema, name)
}

// RelationKind returns how messages call the relation: table, view,
// materialized view, or sequence.
func RelationKind(r Relation) string {
	switch x := r.(type) {
	case *View:
		if x.Materialized != nil {
			return "materialized view"
		}
		return "view"
	case *Sequence:
		return "sequence"
	case *Virtual:
		if x.View {
			return "view"
		}
	}
	return "table"
}
