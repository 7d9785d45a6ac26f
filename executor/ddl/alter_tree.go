package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// ALTER TABLE on tables with parents or children. What a child has from its parent
// changes with the parent's, in the whole tree below the named table, and cannot be
// changed in the child alone. ONLY leaves the tables below alone where that leaves
// them well-formed.

// alterAction runs an action on a table and, as far as it goes there, on those below.
func (x *exec) alterAction(r catalog.Relation, a *ast.AlterAction) error {
	t, ok := r.(*catalog.Table)
	if v, ok := r.(*catalog.View); ok && lacks(v, a.Kind) {
		return notFor(a, r)
	}
	if !ok {
		return x.alterOne(r.ObjectOID(), a)
	}
	one := func(t *catalog.Table) error { return x.alterOne(t.OID, a) }
	switch a.Kind {
	case "RENAME COLUMN":
		return x.renameColumn(t, a)
	case "RENAME CONSTRAINT":
		return x.renameConstraint(t, a)
	case "ALTER COLUMN TYPE":
		return x.alterTypes(t, a)
	case "SET DEFAULT", "DROP DEFAULT", "SET STATISTICS", "SET STORAGE":
		return x.eachBelow(t, one)
	case "SET NOT NULL":
		if t.Key != nil && x.only {
			if err := x.notNullBelow(t, []string{a.Name}); err != nil {
				return err
			}
		}
		return x.eachBelow(t, one)
	case "DROP NOT NULL":
		return x.dropNotNull(t, a)
	case "DROP EXPRESSION":
		return x.dropExpression(t, a)
	case "VALIDATE CONSTRAINT":
		return x.validateConstraint(t, a)
	case "ALTER CONSTRAINT":
		return x.alterConstraint(t, a)
	case "INHERIT", "NO INHERIT":
		return x.setParent(t, a)
	}
	return one(t)
}

// lacks reports whether a view has no action of a kind because it has no place for what
// that changes: a materialized one has rows, and neither has parents.
func lacks(v *catalog.View, kind string) bool {
	switch kind {
	case "INHERIT", "NO INHERIT", "OF", "NOT OF", "LOGGED", "UNLOGGED":
		return true
	case "SET STATISTICS", "CLUSTER", "SET WITHOUT CLUSTER", "REPLICA IDENTITY DEFAULT", "REPLICA IDENTITY FULL", "REPLICA IDENTITY NOTHING", "REPLICA IDENTITY USING INDEX":
		return v.Materialized == nil
	}
	return false
}

// reach prepares a table that a statement does not name for a change.
func (x *exec) reach(t *catalog.Table) error {
	if err := x.owns(t); err != nil {
		return err
	}
	if catalog.IsTempSchema(t.Schema) && x.Temp != "" && t.Schema != x.Temp {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter temporary tables of other sessions")
	}
	if x.level == 0 {
		return x.lock(t, kv.AccessExclusive)
	}
	return x.lock(t, x.level)
}

// below lists the tables below t, prepared for a change; none with ONLY.
func (x *exec) below(t *catalog.Table) ([]*catalog.Table, error) {
	if x.only {
		return nil, nil
	}
	list := x.snap().Tree(t)[1:]
	for _, m := range list {
		if err := x.reach(m); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// eachBelow calls f for a table and those below it.
func (x *exec) eachBelow(t *catalog.Table, f func(t *catalog.Table) error) error {
	list, err := x.below(t)
	if err != nil {
		return err
	}
	for _, m := range append([]*catalog.Table{t}, list...) {
		if err := f(x.snap().Table(m.OID)); err != nil {
			return err
		}
	}
	return nil
}

// within counts the parents of a table in a tree.
func within(t *catalog.Table, tree []*catalog.Table) int {
	n := 0
	for _, p := range t.Parents {
		if slices.ContainsFunc(tree, func(o *catalog.Table) bool { return o.OID == p }) {
			n++
		}
	}
	return n
}

func badTable(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidTableDefinition, format, args...)
}

// notNullBelow checks that columns of the tables directly below t are NOT NULL
// already.
func (x *exec) notNullBelow(t *catalog.Table, cols []string) error {
	for _, c := range x.snap().Children(t.OID) {
		for _, name := range cols {
			if i := c.Col(name); i >= 0 && !c.Columns[i].NotNull {
				return badTable("constraint must be added to child tables too").
					WithDetail("Column \"%s\" of relation \"%s\" is not already NOT NULL.", name, c.Name).
					WithHint("Do not specify the ONLY keyword.")
			}
		}
	}
	return nil
}

func (x *exec) dropNotNull(t *catalog.Table, a *ast.AlterAction) error {
	if t.Key != nil && x.only && x.snap().HasChildren(t.OID) {
		return badTable("cannot remove constraint from only the partitioned table when partitions exist").
			WithHint("Do not specify the ONLY keyword.")
	}
	return x.eachBelow(t, func(t *catalog.Table) error {
		if err := x.alterOne(t.OID, a); err != nil {
			return err
		}
		if p := x.snap().Parent(t); p != nil && p.Columns[p.Col(a.Name)].NotNull {
			return badTable("column \"%s\" is marked NOT NULL in parent table", a.Name)
		}
		return nil
	})
}

func (x *exec) dropExpression(t *catalog.Table, a *ast.AlterAction) error {
	if x.only && x.snap().HasChildren(t.OID) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE / DROP EXPRESSION must be applied to child tables too")
	}
	i := t.Col(a.Name)
	if i >= 0 && t.Columns[i].Parents > 0 {
		return badTable("cannot drop generation expression from inherited column")
	}
	return x.eachBelow(t, func(t *catalog.Table) error { return x.alterOne(t.OID, a) })
}

func (x *exec) renameColumn(t *catalog.Table, a *ast.AlterAction) error {
	if err := x.keepsType(t, "cannot rename column of"); err != nil {
		return err
	}
	tree := x.snap().Tree(t)
	if x.only && len(tree) > 1 {
		return badTable("inherited column \"%s\" must be renamed in child tables too", a.Name)
	}
	list, err := x.below(t)
	if err != nil {
		return err
	}
	for _, m := range list {
		i := m.Col(a.Name)
		if i >= 0 && m.Columns[i].Parents > within(m, tree) {
			return badTable("cannot rename inherited column \"%s\"", a.Name)
		}
		if i >= 0 && m.Col(a.NewName) >= 0 {
			return catalog.ColumnExists(a.NewName, m.Name)
		}
	}
	if i := t.Col(a.Name); i >= 0 && t.Columns[i].Parents > 0 {
		return badTable("cannot rename inherited column \"%s\"", a.Name)
	}
	return x.eachBelow(t, func(t *catalog.Table) error { return x.Change.RenameColumn(t.OID, a.Name, a.NewName) })
}

func (x *exec) renameConstraint(t *catalog.Table, a *ast.AlterAction) error {
	k := checkNamed(t, a.Name)
	if k == nil || k.NoInherit {
		return x.Change.RenameConstraint(t.OID, a.Name, a.NewName)
	}
	tree := x.snap().Tree(t)
	if x.only && len(tree) > 1 {
		return badTable("inherited constraint \"%s\" must be renamed in child tables too", a.Name)
	}
	list, err := x.below(t)
	if err != nil {
		return err
	}
	for _, m := range list {
		if k := checkNamed(m, a.Name); k != nil && k.Parents > within(m, tree) {
			return badTable("cannot rename inherited constraint \"%s\"", a.Name)
		}
	}
	if k.Parents > 0 {
		return badTable("cannot rename inherited constraint \"%s\"", a.Name)
	}
	return x.eachBelow(t, func(t *catalog.Table) error { return x.Change.RenameConstraint(t.OID, a.Name, a.NewName) })
}

// checkNamed returns a table's CHECK constraint, or nil.
func checkNamed(t *catalog.Table, name string) *catalog.Check {
	for _, k := range t.Checks {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// alterTypes changes the type of a column in a table and those below it.
func (x *exec) alterTypes(t *catalog.Table, a *ast.AlterAction) error {
	if err := x.keepsType(t, "cannot alter column type of"); err != nil {
		return err
	}
	i := t.Col(a.Name)
	if i < 0 {
		return x.alterType(t, a)
	}
	if t.Columns[i].Parents > 0 {
		return badTable("cannot alter inherited column \"%s\"", a.Name)
	}
	if t.InKey(i) {
		return badTable("cannot alter column \"%s\" because it is part of the partition key of relation \"%s\"", a.Name, t.Name)
	}
	if was := x.before.Table(t.OID); slices.Contains(x.retyped, retyped{t.OID, a.Name}) && was != nil && i < len(was.Columns) && was.Columns[i].Type != t.Columns[i].Type {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of column \"%s\" twice", a.Name)
	}
	tree := x.snap().Tree(t)
	if x.only && len(tree) > 1 {
		return badTable("type of inherited column \"%s\" must be changed in child tables too", a.Name)
	}
	for _, m := range tree[1:] {
		if err := x.reach(m); err != nil {
			return err
		}
		k := m.Col(a.Name)
		if m.Columns[k].Parents > within(m, tree) {
			return badTable("cannot alter inherited column \"%s\" of relation \"%s\"", a.Name, m.Name)
		}
		if m.InKey(k) {
			return badTable("cannot alter column \"%s\" because it is part of the partition key of relation \"%s\"", a.Name, m.Name)
		}
	}
	if len(tree) > 1 && a.Using != nil && wholeRow(a.Using, t) >= 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert whole-row table reference").
			WithDetail("USING expression contains a whole-row table reference.")
	}
	for _, m := range tree {
		x.retyped = append(x.retyped, retyped{m.OID, a.Name})
		if err := x.alterType(x.snap().Table(m.OID), a); err != nil {
			return err
		}
	}
	for _, m := range tree[1:] {
		for _, k := range m.Checks { // made anew where they are their own, then merged
			if k.Parents > 0 && !k.NotLocal && slices.Contains(k.Cols, m.Col(a.Name)) {
				x.tellMerged(k.Name)
			}
		}
	}
	return nil
}

// tellMerged tells that a check is both a table's own and its parents'.
func (x *exec) tellMerged(check string) {
	x.notice(sqlerr.SuccessfulCompletion, "merging constraint \"%s\" with inherited definition", check)
}

func (x *exec) validateConstraint(t *catalog.Table, a *ast.AlterAction) error {
	k := checkNamed(t, a.Name)
	if k == nil {
		return x.alterOne(t.OID, a)
	}
	if !k.NotValid {
		return nil
	}
	if x.only && !k.NoInherit && x.snap().HasChildren(t.OID) {
		return badTable("constraint must be validated on child tables too")
	}
	if k.NoInherit {
		return x.alterOne(t.OID, a)
	}
	return x.eachBelow(t, func(t *catalog.Table) error {
		if k := checkNamed(t, a.Name); k == nil || !k.NotValid {
			return nil
		}
		return x.alterOne(t.OID, a)
	})
}

// addCheck adds a check to a table and to those below it; below tells that it comes
// from above.
func (x *exec) addCheck(t *catalog.Table, spec catalog.ConstraintSpec, below bool) error {
	if t.Key != nil && spec.NoInherit {
		return badTable("cannot add NO INHERIT constraint to partitioned table \"%s\"", t.Name)
	}
	// What a table has from its parents alone, it may have of its own as well.
	if k := checkNamed(t, spec.Name); k != nil && (below || k.NotLocal && t.Bound == nil) {
		if err := mergeCheck(t.Name, k, &spec); err != nil {
			return err
		}
		x.tellMerged(k.Name)
		return x.Change.EditCheck(t.OID, k.Name, func(k *catalog.Check) {
			if k.NotLocal = k.NotLocal && below || t.Bound != nil; below {
				k.Parents++
			}
		})
	}
	if err := x.addConstraintSpec(t.OID, &spec); err != nil || spec.NoInherit {
		return err
	}
	children := x.snap().Children(t.OID)
	if x.only && len(children) > 0 {
		return badTable("constraint must be added to child tables too")
	}
	if spec.WholeRow && len(children) > 0 { // it would be one of theirs, which have no such name
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", t.Name)
	}
	checks := x.snap().Table(t.OID).Checks
	for _, c := range children {
		if err := x.reach(c); err != nil {
			return err
		}
		// As it is now: it may have the check through another of them.
		if err := x.addCheck(x.snap().Table(c.OID), inheritedCheck(t, checks[len(checks)-1]), true); err != nil {
			return err
		}
	}
	return nil
}

// setParent is INHERIT and NO INHERIT.
func (x *exec) setParent(t *catalog.Table, a *ast.AlterAction) error {
	switch {
	case t.OfType != 0:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change inheritance of typed table")
	case t.Bound != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change inheritance of a partition")
	case t.Key != nil && a.Kind == "INHERIT":
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change inheritance of partitioned table")
	}
	r, err := x.relation(a.Other)
	if err != nil {
		return withoutPosition(err)
	}
	p, ok := r.(*catalog.Table)
	if a.Kind == "NO INHERIT" {
		if !ok {
			_, name := r.RelName()
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" is not a parent of relation \"%s\"", name, t.Name)
		}
		return x.Change.Disinherit(t.OID, p.OID)
	}
	if !ok {
		return notFor(a, r)
	}
	if err := x.owns(p); err != nil {
		return err
	}
	if err := x.lock(p, kv.ShareUpdateExclusive); err != nil {
		return err
	}
	switch {
	case p.Temp && !t.Temp:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from temporary relation \"%s\"", p.Name)
	case p.Temp && p.Schema != x.Temp:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from temporary relation of another session")
	case p.Key != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from partitioned table \"%s\"", p.Name)
	case p.Bound != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from a partition")
	case slices.ContainsFunc(x.snap().Tree(t), func(o *catalog.Table) bool { return o.OID == p.OID }):
		return sqlerr.New(sqlerr.DuplicateTable, "circular inheritance not allowed").
			WithDetail("\"%s\" is already a child of \"%s\".", p.Name, t.Name)
	}
	return x.Change.Inherit(t.OID, p.OID)
}

func (x *exec) dropColumn(t *catalog.Table, a *ast.AlterAction) error {
	if err := x.keepsType(t, "cannot drop column from"); err != nil {
		return err
	}
	if _, err := x.below(t); err != nil {
		return err
	}
	return x.Change.DropColumn(t.OID, a.Name, a.Cascade, x.only)
}

func (x *exec) dropConstraint(t *catalog.Table, a *ast.AlterAction) error {
	if k := checkNamed(t, a.Name); k != nil && !k.NoInherit {
		if _, err := x.below(t); err != nil {
			return err
		}
	}
	for _, fk := range t.ForeignKeys {
		if fk.Name == a.Name {
			if err := x.unwaited(fk); err != nil {
				return err
			}
		}
	}
	return x.Change.DropConstraint(t.OID, a.Name, a.Cascade, x.only)
}

// unwaited fails if rows of the referenced table wait for being checked by a foreign
// key that is to go.
func (x *exec) unwaited(fk *catalog.ForeignKey) error {
	p := x.snap().Table(fk.RefTable)
	if p == nil {
		return nil
	}
	for _, m := range x.snap().Tree(p) {
		if err := x.unused(m, "ALTER TABLE"); err != nil {
			return err
		}
	}
	return nil
}

// alterConstraint changes when a foreign key is checked, in the partitions of a
// table, too.
func (x *exec) alterConstraint(t *catalog.Table, a *ast.AlterAction) error {
	underived := func() *sqlerr.Error {
		return sqlerr.New(sqlerr.InternalError, "cannot alter constraint \"%s\" on relation \"%s\"", a.Name, t.Name).
			WithHint("You may alter the constraint it derives from, instead.")
	}
	const derived = "Constraint \"%s\" is derived from constraint \"%s\" of relation \"%s\"."
	for _, k := range t.ForeignKeys {
		if slices.ContainsFunc(k.Targets, func(x catalog.FKTarget) bool { return x.Name == a.Name }) {
			return underived().WithDetail(derived, a.Name, k.Name, t.Name)
		}
	}
	deferrable, deferred := a.Constraint.Deferrable != nil && *a.Constraint.Deferrable, a.Constraint.Initially == "DEFERRED"
	if err := x.Change.AlterConstraint(t.OID, a.Name, deferrable, deferred); err != nil {
		return err
	}
	at := slices.IndexFunc(t.ForeignKeys, func(k *catalog.ForeignKey) bool { return k.Name == a.Name })
	fk := t.ForeignKeys[at]
	if fk.Parent != 0 {
		e := underived()
		for p, of := x.snap().Parent(t), fk.Parent; p != nil && of != 0; p = x.snap().Parent(p) {
			at := slices.IndexFunc(p.ForeignKeys, func(k *catalog.ForeignKey) bool { return k.OID == of })
			if at < 0 {
				break
			}
			k := p.ForeignKeys[at] // the topmost is named
			e = e.WithDetail(derived, a.Name, k.Name, p.Name)
			of = k.Parent
		}
		return e
	}
	parts := []types.OID{fk.OID}
	for _, m := range x.snap().Tree(t)[1:] {
		for _, k := range m.ForeignKeys {
			if !slices.Contains(parts, k.Parent) {
				continue
			}
			parts = append(parts, k.OID)
			if err := x.Change.AlterConstraint(m.OID, k.Name, deferrable, deferred); err != nil {
				return err
			}
		}
	}
	return nil
}
