package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// maxReportedDependents is how many dependents a message lists.
const maxReportedDependents = 100

// target is an object that a DROP reaches.
type target struct {
	node
	via      node // what it depends on
	original bool // named by the statement
	auto     bool // goes without CASCADE
}

// whole is the table or type that a column is one of; of anything else, no node.
func (t *target) whole() node {
	if t.sub == 0 || t.kind != nodeRelation && t.kind != nodeType {
		return node{}
	}
	return node{kind: t.kind, oid: t.oid}
}

// dropPlan collects targets in the order in which they can be deleted.
type dropPlan struct {
	c     *Change
	seen  map[node]*target
	order []*target
}

// visit adds n after everything that depends on it.
func (p *dropPlan) visit(n, via node, original, auto bool) {
	if t := p.seen[n]; t != nil {
		t.original = t.original || original
		t.auto = t.auto || auto
		return
	}
	if (n.kind == nodeRelation || n.kind == nodeType) && n.sub != 0 {
		// A column of a table that goes anyway needs no mention of its own.
		if whole := p.seen[node{kind: n.kind, oid: n.oid}]; whole != nil {
			return
		}
	}
	t := &target{node: n, via: via, original: original, auto: auto}
	p.seen[n] = t
	for _, d := range p.c.dependents(n) {
		p.visit(d.node, n, false, d.auto)
	}
	p.order = append(p.order, t)
}

// drop removes the named objects and what depends on them, or fails with 2BP01.
func (c *Change) drop(cascade bool, names ...node) error {
	p := &dropPlan{c: c, seen: make(map[node]*target)}
	for _, n := range names {
		p.visit(n, node{}, true, false)
	}
	if err := p.report(cascade, names); err != nil {
		return err
	}
	put, del := p.effects()
	return c.record(put, del)
}

// report fails when something other than the named objects would go without
// CASCADE, and tells about it with CASCADE.
func (p *dropPlan) report(cascade bool, names []node) error {
	var needs, goes []string
	total := 0
	for i := len(p.order) - 1; i >= 0; i-- {
		t := p.order[i]
		if t.original || t.auto || p.seen[t.whole()] != nil {
			continue
		}
		total++
		if total <= maxReportedDependents {
			needs = append(needs, p.c.describe(t.node)+" depends on "+p.c.describe(t.via))
			goes = append(goes, "drop cascades to "+p.c.describe(t.node))
		}
	}
	if total == 0 {
		return nil
	}
	if more := total - maxReportedDependents; more > 0 {
		line := fmt.Sprintf("and %d other objects (see server log for list)", more)
		if more == 1 {
			line = "and 1 other object (see server log for list)"
		}
		needs, goes = append(needs, line), append(goes, line)
	}
	if !cascade {
		e := sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop desired object(s) because other objects depend on them")
		if len(names) == 1 {
			e = sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", p.c.describe(names[0]))
		}
		return e.WithDetail("%s", strings.Join(needs, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	if total == 1 {
		p.c.tell(p.c.notice("%s", goes[0]))
	} else {
		p.c.tell(p.c.notice("drop cascades to %d other objects", total).WithDetail("%s", strings.Join(goes, "\n")))
	}
	return nil
}

// effects turns the targets into changed and deleted objects.
func (p *dropPlan) effects() (put []Object, del []types.OID) {
	s := p.c.snap
	gone := make(map[types.OID]bool)
	for _, t := range p.order {
		switch {
		case t.kind == nodeRelation && t.sub == 0, t.kind == nodeFunction, t.kind == nodeSchema, t.kind == nodeOperator, t.kind == nodeCast, t.kind == nodePart,
			t.kind == nodeType && t.sub == 0 && s.objs.get(t.oid) != nil:
			if !gone[t.oid] {
				gone[t.oid] = true
				del = append(del, t.oid)
				if st := s.Stats(t.oid); st != nil {
					del = append(del, st.OID)
				}
			}
		}
	}
	edited := make(map[types.OID]*Table)
	edit := func(oid types.OID) *Table {
		if gone[oid] {
			return nil
		}
		if t := edited[oid]; t != nil {
			return t
		}
		switch x := s.objs.get(oid).(type) {
		case *Table:
			edited[oid] = copyTable(x)
		case *View:
			edited[oid] = copyTable(x.Materialized)
		default:
			return nil
		}
		return edited[oid]
	}
	for _, t := range p.order {
		switch {
		case t.kind == nodeRelation && t.sub != 0:
			if tab := edit(t.oid); tab != nil {
				removeColumn(tab, t.sub-1)
			}
		case t.kind == nodeIndex:
			if tab := edit(t.table); tab != nil {
				removeIndex(tab, t.oid)
			}
		case t.kind == nodeConstraint:
			if tab := edit(t.table); tab != nil {
				removeConstraint(tab, t.oid)
			}
		case t.kind == nodeDefault && s.Table(t.oid) != nil:
			if tab := edit(t.oid); tab != nil {
				removeDefault(&tab.Columns[t.sub-1])
			}
		case t.kind == nodeRelation:
			p.disown(t.oid, edit)
		}
	}
	put = append(p.attributesGone(gone), p.viewDefaultsGone(gone)...)
	schemas := map[string]string{}
	for _, t := range p.order {
		if t.kind == nodeSchema {
			schemas[CommonOf(s.objs.get(t.oid)).Name] = ""
		}
	}
	put = append(put, p.c.moveDefaults(schemas)...)
	for oid, t := range edited {
		if v, ok := s.objs.get(oid).(*View); ok {
			n := *v
			n.Materialized = t
			put = append(put, &n)
		} else {
			put = append(put, t)
		}
	}
	slices.SortFunc(put, func(a, b Object) int { return int(int64(a.ObjectOID()) - int64(b.ObjectOID())) })
	return put, del
}

// viewDefaultsGone returns the views that stay without defaults of some of their columns.
func (p *dropPlan) viewDefaultsGone(gone map[types.OID]bool) (put []Object) {
	views := map[types.OID]*View{}
	for _, t := range p.order {
		was, ok := p.c.snap.objs.get(t.oid).(*View)
		if !ok || t.kind != nodeDefault || gone[t.oid] {
			continue
		}
		if views[t.oid] == nil {
			n := *was
			n.Columns = slices.Clone(was.Columns)
			views[t.oid] = &n
			put = append(put, &n)
		}
		removeDefault(&views[t.oid].Columns[t.sub-1])
	}
	return put
}

// attributesGone returns the composite types that stay without some of their
// attributes.
func (p *dropPlan) attributesGone(gone map[types.OID]bool) (put []Object) {
	without := map[types.OID]map[int]bool{}
	for _, t := range p.order {
		if t.kind == nodeType && t.sub != 0 && !gone[t.oid] {
			if without[t.oid] == nil {
				without[t.oid] = map[int]bool{}
			}
			without[t.oid][t.sub-1] = true
		}
	}
	for oid, cols := range without {
		u := *p.c.snap.TypeByOID(oid)
		old := u.Columns
		u.Columns = nil
		for i, col := range old {
			if !cols[i] {
				u.Columns = append(u.Columns, col)
			}
		}
		put = append(put, &u)
	}
	return put
}

// disown makes the column of a dropped sequence forget it.
func (p *dropPlan) disown(oid types.OID, edit func(types.OID) *Table) {
	q, ok := p.c.snap.objs.get(oid).(*Sequence)
	if !ok || q.OwnerTable == 0 {
		return
	}
	if t := edit(q.OwnerTable); t != nil && t.Columns[q.OwnerCol].Sequence == oid {
		t.Columns[q.OwnerCol].Sequence = 0
	}
}

// removeColumn marks a column dropped; its type stays, since stored rows still
// have its values.
func removeColumn(t *Table, i int) {
	old := t.Columns[i]
	t.Columns[i] = Column{Name: DroppedColumnName(i + 1), Type: old.Type, Dropped: true, Missing: old.Missing, Storage: old.Storage}
}

func removeDefault(col *Column) {
	col.Default, col.Generated, col.DefaultCols, col.DefaultDeps = "", false, nil, nil
	if col.Identity == 0 {
		col.Sequence = 0
	}
}

func removeIndex(t *Table, oid types.OID) {
	for _, ix := range t.Indexes {
		if ix.OID == oid && ix.Primary {
			t.PK = nil
		}
	}
	t.Indexes = slices.DeleteFunc(t.Indexes, func(ix *Index) bool { return ix.OID == oid })
}

func removeConstraint(t *Table, oid types.OID) {
	for _, u := range t.Uniques {
		if u.OID == oid {
			removeIndex(t, u.Index)
		}
	}
	t.Uniques = slices.DeleteFunc(t.Uniques, func(u *Unique) bool { return u.OID == oid })
	t.Checks = slices.DeleteFunc(t.Checks, func(k *Check) bool { return k.OID == oid })
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k *ForeignKey) bool { return k.OID == oid })
}

// DropRelations drops tables, views, materialized views and sequences.
func (c *Change) DropRelations(cascade bool, oids ...types.OID) error {
	var names []node
	for _, oid := range oids {
		if q, ok := c.snap.objs.get(oid).(*Sequence); ok && q.Identity {
			return c.requiredBy(node{kind: nodeRelation, oid: oid}, node{kind: nodeRelation, oid: q.OwnerTable, sub: q.OwnerCol + 1})
		}
		names = append(names, node{kind: nodeRelation, oid: oid})
	}
	return c.drop(cascade, names...)
}

func (c *Change) requiredBy(what, by node) error {
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because %s requires it", c.describe(what), c.describe(by)).
		WithHint("You can drop %s instead.", c.describe(by))
}

// DropReturnRule is the error of dropping the rule that a view's query is in PostgreSQL.
func (c *Change) DropReturnRule(view types.OID) error {
	v := c.describeRelation(view)
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop rule %s on %s because %s requires it", ReturnRule, v, v).
		WithHint("You can drop %s instead.", v)
}

// ReturnRule is the name of that rule.
const ReturnRule = "_RETURN"

// DropIndexes drops indexes that do not belong to constraints.
func (c *Change) DropIndexes(cascade bool, oids ...types.OID) error {
	var names []node
	for _, oid := range oids {
		owner := c.snap.indexTable.get(oid)
		t, ix := c.snap.IndexByOID(c.DB, oid)
		if ix == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "index with OID %d does not exist", oid)
		}
		n := node{kind: nodeIndex, oid: oid, table: owner}
		if c.partOfAny(ix, oids) {
			continue // it goes with that
		}
		if ix.Parent != 0 {
			return c.requiredBy(n, node{kind: nodeIndex, oid: ix.Parent, table: c.snap.indexTable.get(ix.Parent)})
		}
		if ix.Constraint != 0 {
			return c.requiredBy(n, node{kind: nodeConstraint, oid: ix.Constraint, table: t.OID})
		}
		names = append(names, n)
	}
	return c.drop(cascade, names...)
}

// partOfAny reports whether an index is a part of one of others, or of a part of it.
func (c *Change) partOfAny(ix *Index, others []types.OID) bool {
	for ix != nil && ix.Parent != 0 {
		if slices.Contains(others, ix.Parent) {
			return true
		}
		_, ix = c.snap.IndexByOID(c.DB, ix.Parent)
	}
	return false
}

// DropTypes drops user-defined types.
func (c *Change) DropTypes(cascade bool, oids ...types.OID) error {
	var names []node
	for _, oid := range oids {
		n := node{kind: nodeType, oid: oid}
		if u := c.snap.TypeByOID(oid); u != nil && u.Kind == 'm' {
			return c.requiredBy(n, node{kind: nodeType, oid: u.Range.Pair})
		}
		if in := types.Lookup(oid); in != nil && in.Extension != "" {
			return c.requiredBy(n, node{kind: nodePart, oid: c.snap.Extension(c.DB, in.Extension).OID})
		}
		if in := c.snap.typeInfos.get(oid); c.snap.isArrayType(oid) {
			return c.requiredBy(n, node{kind: nodeType, oid: in.Elem})
		} else if in != nil && c.snap.TypeByOID(oid) == nil {
			return c.requiredBy(n, node{kind: nodeRelation, oid: in.RelID})
		}
		names = append(names, n)
	}
	return c.drop(cascade, names...)
}

// DropFunctions drops functions and procedures.
func (c *Change) DropFunctions(cascade bool, oids ...types.OID) error {
	var names []node
	for _, oid := range oids {
		n := node{kind: nodeFunction, oid: oid}
		if f, ok := c.snap.objs.get(oid).(*Function); ok && f.RangeType != 0 {
			return c.requiredBy(n, node{kind: nodeType, oid: f.RangeType})
		} else if ok && f.Extension != "" {
			return c.requiredBy(n, node{kind: nodePart, oid: c.snap.Extension(f.DB, f.Extension).OID})
		}
		names = append(names, n)
	}
	return c.drop(cascade, names...)
}

// DropSchemas drops schemas.
func (c *Change) DropSchemas(cascade bool, schemas ...string) error {
	var names []node
	for _, name := range schemas {
		if builtinSchemas[name] != nil {
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because it is required by the database system", name)
		}
		n := c.snap.Schema(c.DB, name)
		if n == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
		}
		names = append(names, node{kind: nodeSchema, oid: n.OID})
	}
	return c.drop(cascade, names...)
}

// DropContents drops everything in a schema, and what depends on it.
func (c *Change) DropContents(schema string) error {
	var names []node
	c.contentsOf(c.DB, schema, func(_ bool, n node) { names = append(names, n) })
	slices.SortFunc(names, func(a, b node) int { return cmp.Compare(a.oid, b.oid) })
	return c.drop(true, names...)
}

// DropRole drops a role that owns nothing; memberships in it end. also says what it has
// to do with objects that are no part of the catalog.
func (c *Change) DropRole(name string, also ...string) error {
	role := c.snap.Role(name)
	if role == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	if name == c.Owner {
		return sqlerr.New(sqlerr.ObjectInUse, "current user cannot be dropped")
	}
	if role.OID < types.FirstUserOID {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop role %s because it is required by the database system", QuoteIdent(name))
	}
	var owned []string
	var put []Object
	for _, o := range c.snap.Objects() {
		if f, ok := o.(*Function); CommonOf(o).Owner == name && !(ok && f.RangeType != 0) { // that goes with its type
			owned = append(owned, c.ownerLine(o))
		}
		if other, ok := o.(*Role); ok && slices.Contains(other.MemberOf, name) {
			n := *other
			n.MemberOf = slices.DeleteFunc(slices.Clone(n.MemberOf), func(m string) bool { return m == name })
			n.AdminOf = slices.DeleteFunc(slices.Clone(n.AdminOf), func(m string) bool { return m == name })
			put = append(put, &n)
		} else {
			owned = append(owned, c.privilegeLines(o, name)...)
		}
	}
	if owned = append(owned, also...); len(owned) > 0 {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "role \"%s\" cannot be dropped because some objects depend on it", name).
			WithDetail("%s", strings.Join(owned, "\n"))
	}
	return c.record(put, []types.OID{role.OID})
}

// ownerLine says what a role owns.
func (c *Change) ownerLine(o Object) string {
	co := CommonOf(o)
	switch x := o.(type) {
	case *Database:
		return "owner of database " + co.Name
	case *Schema:
		return "owner of schema " + co.Name
	case *UserType:
		return "owner of type " + c.snap.FormatType(types.Of(co.OID), c.DB, c.Path)
	case *OwnOperator:
		return "owner of operator " + c.operatorText(x)
	case *ExtStats, *Extension:
		return "owner of " + c.partText(co.OID)
	case *Function:
		return "owner of function " + c.functionText(x)
	}
	if co.DB != c.DB {
		return "1 object in another database"
	}
	return "owner of " + c.describeRelation(co.OID)
}
