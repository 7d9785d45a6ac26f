package ddl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// alterTable runs the actions of ALTER TABLE, INDEX, VIEW and SEQUENCE in order.
func (x *exec) alterTable(s *ast.AlterTable) error {
	switch s.Kind {
	case "INDEX":
		return x.alterIndex(s)
	case "DOMAIN":
		return x.alterDomain(s)
	case "TYPE":
		return x.alterComposite(s)
	}
	r := x.lookup(&s.Name)
	if r == nil {
		if s.Kind == "TABLE" || s.Kind == "INDEX" {
			if done, err := x.alterIndexByName(s); done {
				return err
			}
		}
		return x.noAltered(s)
	}
	if _, err := x.relation(&s.Name); err != nil {
		return err
	}
	oid := r.ObjectOID()
	if err := x.kindIs(r, s.Kind); err != nil {
		return err
	}
	if q, ok := r.(*catalog.Sequence); ok {
		if err := x.holdSequence(q, kv.AccessExclusive); err != nil {
			return err
		}
	}
	if t, ok := r.(*catalog.Table); ok {
		// What is below the table may change with it.
		if x.level = alterLock(s.Actions); x.level == kv.Exclusive {
			x.level = x.layoutLock(t, s.Actions)
		}
		for _, t := range x.snap().Tree(t) {
			if t.OID != oid && (s.Only || s.Actions[0].Kind == "ATTACH PARTITION") {
				break
			}
			if err := x.lock(t, x.level); err != nil {
				return err
			}
		}
		for _, t := range x.snap().Tree(t) {
			if err := x.unused(t, "ALTER TABLE"); err != nil {
				return err
			}
		}
	}
	switch s.Actions[0].Kind {
	case "ATTACH PARTITION", "DETACH PARTITION":
		return x.partitionAction(r, &s.Actions[0])
	}
	x.only = s.Only
	keys := false
	for _, a := range inPasses(s.Actions) {
		if err := x.alterAction(x.snap().RelationByOID(x.db(), oid), a); err != nil {
			return err
		}
		keys = keys || a.Kind == "ADD CONSTRAINT" || a.Kind == "SET OPTIONS" && slices.ContainsFunc(a.Options, func(o ast.Option) bool { return clusterOption(o.Name) })
	}
	if keys {
		if err := x.placeWaiting(); err != nil {
			return err
		}
	}
	return x.retypeAll()
}

func (x *exec) kindIs(r catalog.Relation, kind string) error {
	_, name := r.RelName()
	ok := true
	switch r := r.(type) {
	case *catalog.Table:
		ok = kind == "TABLE"
	case *catalog.Sequence:
		ok = kind == "SEQUENCE" || kind == "TABLE"
	case *catalog.View:
		if r.Materialized != nil {
			ok = kind == "MATERIALIZED VIEW" || kind == "TABLE"
		} else {
			ok = kind == "VIEW" || kind == "TABLE"
		}
	}
	if !ok {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", name, strings.ToLower(kind))
	}
	return nil
}

// table returns the working version of the table, as earlier actions left it.
func (x *exec) table(oid types.OID) (*catalog.Table, error) {
	if t := x.snap().Table(oid); t != nil {
		return t, nil
	}
	return nil, sqlerr.New(sqlerr.WrongObjectType, "ALTER action cannot be performed on this relation")
}

// alterOne runs an action on one relation, and those actions on what is below it
// that add or drop.
func (x *exec) alterOne(oid types.OID, a *ast.AlterAction) error {
	c := x.Change
	if strings.HasPrefix(a.Kind, "OPTIONS ") { // of foreign tables, which cannot be made
		if r := x.snap().RelationByOID(x.db(), oid); r != nil {
			return notFor(&ast.AlterAction{Off: a.Off, Kind: "OPTIONS"}, r)
		}
	}
	switch a.Kind {
	case "RENAME":
		return c.RenameRelation(oid, a.NewName)
	case "RENAME COLUMN":
		return c.RenameColumn(oid, a.Name, a.NewName)
	case "RENAME CONSTRAINT":
		return c.RenameConstraint(oid, a.Name, a.NewName)
	case "SET SCHEMA":
		if q, ok := x.snap().Object(oid).(*catalog.Sequence); ok && q.OwnerTable != 0 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move an owned sequence into another schema").
				WithDetail("Sequence \"%s\" is linked to table \"%s\".", q.Name, x.snap().Table(q.OwnerTable).Name)
		}
		return c.SetSchema(oid, a.NewName)
	case "OWNER":
		return c.SetOwner(oid, x.roleName(a.NewName))
	case "SET STORAGE":
		return x.setStorage(oid, a)
	case "SET COMPRESSION":
		return x.setCompression(oid, a)
	case "SET TABLESPACE":
		return knownTablespace(a.NewName)
	case "SET ACCESS METHOD":
		return knownAccessMethod(a.NewName)
	case "SET STATISTICS":
		return x.setStatistics(oid, a)
	case "LOGGED", "UNLOGGED":
		if _, ok := x.snap().Object(oid).(*catalog.Sequence); ok {
			_, err := c.AlterSequence(oid, func(q *catalog.Sequence) error {
				q.Unlogged = a.Kind == "UNLOGGED"
				return nil
			})
			return err
		}
		if err := x.keepsLogged(oid, a.Kind == "LOGGED"); err != nil {
			return err
		}
		return c.SetLogged(oid, a.Kind == "LOGGED")
	case "CLUSTER", "SET WITHOUT CLUSTER":
		return x.clusterOn(oid, a)
	case "DISABLE TRIGGER ALL", "ENABLE TRIGGER ALL":
		return x.switchTriggers(oid, a)
	case "SET WITHOUT OIDS", "ENABLE TRIGGER USER", "DISABLE TRIGGER USER":
		return nil // how things are here
	case "REPLICA IDENTITY FULL", "REPLICA IDENTITY DEFAULT", "REPLICA IDENTITY NOTHING", "REPLICA IDENTITY USING INDEX":
		return x.replicaIdentity(oid, a)
	}
	if v, ok := x.snap().RelationByOID(x.db(), oid).(*catalog.View); ok {
		if strings.HasSuffix(a.Kind, " ROW LEVEL SECURITY") {
			return notFor(a, v)
		}
		if v.Materialized != nil {
			return x.alterMaterialized(v, a)
		}
		return x.alterView(v, a)
	}
	t, err := x.table(oid)
	if err != nil {
		if r := x.snap().RelationByOID(x.db(), oid); r != nil {
			return notFor(a, r)
		}
		return err
	}
	if err := noSwitch(t, a); err != nil {
		return err
	}
	switch a.Kind {
	case "ENABLE ROW LEVEL SECURITY", "DISABLE ROW LEVEL SECURITY", "FORCE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY":
		return x.rowSecurity(t, a.Kind)
	case "SET OPTIONS", "RESET OPTIONS":
		if a.Name != "" {
			return x.columnOptions(oid, a)
		}
		if t.Key != nil && len(a.Options) > 0 && a.Kind == "SET OPTIONS" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", a.Options[0].Name)
		}
		return x.tableParameters(t, a)
	case "ADD COLUMN":
		return x.addColumn(t, a)
	case "DROP COLUMN":
		if a.IfExists && t.Col(a.Name) < 0 {
			x.notice(sqlerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" does not exist, skipping", a.Name, t.Name)
			return nil
		}
		return x.dropColumn(t, a)
	case "ALTER COLUMN TYPE":
		return x.alterType(t, a)
	case "NOT OF":
		return x.setNotOf(t)
	case "OF":
		return x.setOf(t, a)
	case "SET DEFAULT":
		i := t.Col(a.Name)
		if i < 0 {
			return noColumn(t, a.Name)
		}
		text, deps, err := x.defaultText(a.Expr, t.Columns[i].Type, a.Name)
		if err != nil {
			return withoutPosition(err)
		}
		_, err = c.SetDefault(oid, a.Name, text, deps)
		return err
	case "DROP DEFAULT":
		_, err := c.SetDefault(oid, a.Name, "", nil)
		return err
	case "SET NOT NULL":
		if _, err := c.SetNotNull(oid, a.Name, true); err != nil {
			return err
		}
		x.after = append(x.after, func() error { return x.checkNotNull(oid, a.Name) })
		return nil
	case "DROP NOT NULL":
		if _, err := c.SetNotNull(oid, a.Name, false); err != nil {
			return err
		}
		for _, ix := range t.Indexes {
			if ix.Identity && slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col == t.Col(a.Name) }) {
				return badTable("column \"%s\" is in index used as replica identity", a.Name)
			}
		}
		return nil
	case "ADD IDENTITY":
		i := t.Col(a.Name)
		if i < 0 {
			return noColumn(t, a.Name)
		}
		spec := &catalog.SequenceSpec{Type: t.Columns[i].Type}
		kind := byte('d')
		if k := a.Constraint; k != nil {
			if err := x.sequenceOptions(spec, k.SeqOptions); err != nil {
				return err
			}
			if k.Always {
				kind = 'a'
			}
		}
		_, err := c.AddIdentity(oid, a.Name, kind, spec)
		return err
	case "SET IDENTITY":
		return x.setIdentity(t, a)
	case "DROP IDENTITY":
		return c.DropIdentity(oid, a.Name, a.IfExists)
	case "DROP EXPRESSION":
		return c.DropExpression(oid, a.Name, a.IfExists)
	case "ADD CONSTRAINT":
		return x.addConstraint(t, a)
	case "DROP CONSTRAINT":
		if a.IfExists && !hasConstraint(t, a.Name) {
			x.notice(sqlerr.SuccessfulCompletion, "constraint \"%s\" of relation \"%s\" does not exist, skipping", a.Name, t.Name)
			return nil
		}
		return x.dropConstraint(t, a)
	case "VALIDATE CONSTRAINT":
		if err := c.ValidateConstraint(oid, a.Name); err != nil {
			return err
		}
		x.after = append(x.after, func() error { return x.validate(oid, a.Name) })
		return nil
	}
	return sqlerr.Unsupported(a.Pos(), "ALTER TABLE %s", a.Kind)
}

// setIdentity changes when an identity column takes values of its sequence, and
// the sequence.
func (x *exec) setIdentity(t *catalog.Table, a *ast.AlterAction) error {
	i := t.Col(a.Name)
	if i < 0 {
		return noColumn(t, a.Name)
	}
	if t.Columns[i].Identity == 0 {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" is not an identity column", a.Name, t.Name)
	}
	var rest []ast.Option
	kind := t.Columns[i].Identity
	set := false
	for _, o := range a.Options {
		switch o.Name {
		case "generated always", "generated by default":
			if set {
				return sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(o.Pos())
			}
			if kind, set = 'a', true; o.Name == "generated by default" {
				kind = 'd'
			}
		default:
			rest = append(rest, o)
		}
	}
	if _, err := x.Change.EditColumn(t.OID, a.Name, func(_ *catalog.Table, col *catalog.Column) error {
		col.Identity = kind
		return nil
	}); err != nil || rest == nil {
		return err
	}
	return x.changeSequence(t.Columns[i].Sequence, rest)
}

func noColumn(t *catalog.Table, name string) error {
	if catalog.IsSystemColumn(name) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter system column \"%s\"", name)
	}
	return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.Name)
}

func hasConstraint(t *catalog.Table, name string) bool {
	return slices.ContainsFunc(t.Uniques, func(u *catalog.Unique) bool { return u.Name == name }) ||
		slices.ContainsFunc(t.Checks, func(k *catalog.Check) bool { return k.Name == name }) ||
		slices.ContainsFunc(t.ForeignKeys, func(k *catalog.ForeignKey) bool { return k.Name == name })
}

// base is the table as its stored rows are: what expressions of a rewrite see.
func (x *exec) base(t *catalog.Table) *catalog.Table {
	if b := x.before.Table(t.OID); b != nil {
		return b
	}
	return t
}

func (x *exec) addConstraint(t *catalog.Table, a *ast.AlterAction) error {
	spec, err := x.constraintSpec(a.Constraint, "")
	if err != nil {
		return err
	}
	if spec.Kind == 'c' {
		if err := x.bindCheck(spec, a.Constraint.Expr, t); err != nil {
			return withoutPosition(err)
		}
	}
	if spec.Kind == 'x' {
		if t.Key != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "exclusion constraints are not supported on partitioned tables").At(a.Constraint.Pos())
		}
		if err := x.bindExclusion(spec, a.Constraint, t, -1); err != nil {
			return err
		}
	}
	if spec.Kind == 'p' || spec.Kind == 'u' {
		if err := x.newKey(t, spec, a.Constraint.Pos()); err != nil {
			return err
		}
		if spec.IndexOptions, err = indexOptions(catalog.KindBtree, a.Constraint.With); err != nil {
			return err
		}
		if spec.UsingIndex != "" {
			if t.Key != nil {
				return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables")
			}
			if err := t.Adoptable(spec); err != nil {
				return positioned(err, a.Constraint.Pos())
			}
		}
	}
	return x.addTableConstraint(t.OID, spec)
}

// newKey checks the columns of a primary key or unique constraint that a table gets. Those
// that the table does not have are missed without a position, as the columns of the table
// as it is then are looked up, by a primary key for their NOT NULL first.
func (x *exec) newKey(t *catalog.Table, spec *catalog.ConstraintSpec, pos int) error {
	if spec.UsingIndex == "" {
		for _, name := range spec.Cols {
			switch system := catalog.IsSystemColumn(name); {
			case t.Col(name) >= 0:
			case spec.Kind == 'p' && system:
				return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter system column \"%s\"", name)
			case system:
				return sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
			case spec.Kind == 'p':
				return noColumn(t, name)
			}
		}
	}
	err := spec.CheckKey(t)
	if e, ok := err.(*sqlerr.Error); ok && e.Code == sqlerr.UndefinedColumn {
		return err
	}
	return positioned(err, pos)
}

// addTableConstraint adds a constraint to a table and to what is below it.
func (x *exec) addTableConstraint(oid types.OID, spec *catalog.ConstraintSpec) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	if spec.Kind == 'c' {
		return x.addCheck(t, *spec, false)
	}
	if t.Key != nil {
		if err := x.partitionedConstraint(t, spec); err != nil {
			return err
		}
	}
	if err := x.addConstraintSpec(oid, spec); err != nil || spec.Kind != 'p' || t.Key != nil {
		return err
	}
	list, err := x.below(t)
	if err != nil {
		return err
	}
	for _, m := range list {
		for _, name := range spec.Cols {
			if err := x.alterOne(m.OID, &ast.AlterAction{Kind: "SET NOT NULL", Name: name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// partitionedConstraint prepares a constraint of a partitioned table.
func (x *exec) partitionedConstraint(t *catalog.Table, spec *catalog.ConstraintSpec) error {
	spec.Only = x.only
	if spec.Kind == 'f' && x.only {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot use ONLY for foreign key on partitioned table \"%s\" referencing relation \"%s\"", t.Name, spec.RefTable)
	}
	if spec.Kind == 'f' && spec.NotValid {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot add NOT VALID foreign key on partitioned table \"%s\" referencing relation \"%s\"", t.Name, spec.RefTable).
			WithDetail("This feature is not yet supported on partitioned tables.")
	}
	if spec.Kind != 'p' || !x.only {
		return nil
	}
	return x.notNullBelow(t, spec.Cols)
}

// addConstraintSpec adds a constraint and has the rows checked.
func (x *exec) addConstraintSpec(oid types.OID, spec *catalog.ConstraintSpec) error {
	was, err := x.table(oid)
	if err != nil {
		return err
	}
	t, err := x.Change.AddConstraint(oid, spec)
	if err != nil {
		return err
	}
	switch spec.Kind {
	case 'c':
		if !spec.NotValid {
			name := t.Checks[len(t.Checks)-1].Name
			x.after = append(x.after, func() error { return x.validate(oid, name) })
		}
	case 'f':
		if t.Key != nil {
			x.checkNewKeys(t)
		} else if !spec.NotValid {
			name := t.ForeignKeys[len(t.ForeignKeys)-1].Name
			x.after = append(x.after, func() error { return x.validate(oid, name) })
		}
	case 'p':
		for _, c := range t.PK {
			if c < len(was.Columns) && !was.Columns[c].NotNull {
				name := t.Columns[c].Name
				x.after = append(x.after, func() error { return x.checkNotNull(oid, name) })
			}
		}
	}
	return nil
}

func qualified(t *catalog.Table) string {
	return ast.QuoteIdent(t.Schema) + "." + ast.QuoteIdent(t.Name)
}

// ownRows is the table for FROM, without those below it.
func ownRows(t *catalog.Table) string { return "ONLY " + qualified(t) }

// referenced is a table that a foreign key refers to for FROM: the key is one of a
// partitioned table's partitions, but not of the tables that inherit from it.
func referenced(t *catalog.Table) string {
	if t.Key != nil {
		return qualified(t)
	}
	return ownRows(t)
}

// checkNotNull fails with 23502 when the column has NULLs.
func (x *exec) checkNotNull(oid types.OID, col string) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	bad, err := x.any("SELECT 1 FROM " + ownRows(t) + " WHERE " + ast.QuoteIdent(col) + " IS NULL LIMIT 1")
	if err != nil {
		return err
	}
	if bad {
		return containsNulls(t, t.Col(col))
	}
	return nil
}

// validate checks all rows against a CHECK or FOREIGN KEY constraint.
func (x *exec) validate(oid types.OID, name string) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	for _, k := range t.Checks {
		if k.Name != name {
			continue
		}
		bad, err := x.any("SELECT 1 FROM " + ownRows(t) + " WHERE NOT (" + k.Expr + ") LIMIT 1")
		if err != nil {
			return err
		}
		if bad {
			e := sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", name, t.Name)
			e.Schema, e.Table, e.Constraint = t.Schema, t.Name, name
			return e
		}
	}
	for _, k := range t.ForeignKeys {
		if k.Name == name {
			return x.validateFK(t, k)
		}
	}
	return nil
}

func (x *exec) validateFK(t *catalog.Table, k *catalog.ForeignKey) error {
	p, err := x.table(k.RefTable)
	if err != nil {
		return err
	}
	if err := x.hold(p, kv.RowShare); err != nil {
		return err
	}
	var sel, on, notNull []string
	for i, c := range k.Cols {
		child, parent := "c."+ast.QuoteIdent(t.Columns[c].Name), "p."+ast.QuoteIdent(p.Columns[k.RefCols[i]].Name)
		sel = append(sel, child)
		if own, other := t.Columns[c].Collation, p.Columns[k.RefCols[i]].Collation; own != other {
			child += " COLLATE " + ast.QuoteIdent(cmp.Or(other, "default")) // what the referenced values are compared by
		}
		on = append(on, child+" = "+parent)
		notNull = append(notNull, "c."+ast.QuoteIdent(t.Columns[c].Name)+" IS NOT NULL")
	}
	violated := sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", t.Name, k.Name)
	violated.Schema, violated.Table, violated.Constraint = t.Schema, t.Name, k.Name
	if k.Match == 'f' {
		mixed, err := x.any("SELECT 1 FROM " + ownRows(t) + " c WHERE (" + strings.Join(notNull, " OR ") + ") AND NOT (" +
			strings.Join(notNull, " AND ") + ") LIMIT 1")
		if err != nil {
			return err
		}
		if mixed {
			return violated.WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
		}
	}
	sql := "SELECT " + strings.Join(sel, ", ") + " FROM " + ownRows(t) + " c WHERE " + strings.Join(notNull, " AND ") +
		" AND NOT EXISTS (SELECT 1 FROM " + referenced(p) + " p WHERE " + strings.Join(on, " AND ") + ") LIMIT 1"
	vals, err := x.firstTexts(sql, len(sel))
	if err != nil || vals == nil {
		return err
	}
	var cols []string
	for _, c := range k.Cols {
		cols = append(cols, t.Columns[c].Name)
	}
	return violated.WithDetail("Key (%s)=(%s) is not present in table \"%s\".", strings.Join(cols, ", "), strings.Join(vals, ", "), p.Name)
}

// alterIndex is ALTER INDEX: renaming, and parameters that mean nothing here.
func (x *exec) alterIndex(s *ast.AlterTable) error {
	done, err := x.alterIndexByName(s)
	if done {
		return err
	}
	if r := x.lookup(&s.Name); r != nil {
		if len(s.Actions) == 1 && s.Actions[0].Kind == "RENAME" { // which takes any relation
			table := *s
			table.Kind = "TABLE"
			_, err := x.run(&table)
			return err
		}
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", s.Name.Last())
	}
	return x.noAltered(s)
}

// noAltered is what ALTER says of a name that no relation has.
func (x *exec) noAltered(s *ast.AlterTable) error {
	e := x.noRelation(&s.Name)
	switch {
	case e.Code == sqlerr.WrongObjectType && (s.Kind == "TABLE" || s.Kind == "INDEX"):
		return e.WithHint("Use ALTER TYPE instead.")
	case s.IfExists && e.Code != sqlerr.WrongObjectType:
		x.notice(sqlerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", s.Name.Last())
		return nil
	}
	return e
}

func (x *exec) alterIndexByName(s *ast.AlterTable) (bool, error) {
	ix := x.findIndex(&s.Name)
	if ix == nil {
		return false, nil
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		switch a.Kind {
		case "RENAME":
			if err := x.Change.RenameIndex(ix.OID, a.NewName); err != nil {
				return true, err
			}
		case "ATTACH PARTITION":
			if a.Bound != nil { // ALTER TABLE
				return true, sqlerr.New(sqlerr.InvalidObjectDefinition, "\"%s\" is not a partitioned table", ix.Name)
			}
			if err := x.attachIndex(ix, a); err != nil {
				return true, err
			}
		case "SET OPTIONS", "RESET OPTIONS":
			if a.Name != "" {
				return true, x.noColumnOptions(ix, a)
			}
			if err := x.alterIndexOptions(ix, a); err != nil {
				return true, err
			}
		case "SET STATISTICS":
			if err := x.indexStatistics(ix, a); err != nil {
				return true, err
			}
		case "SET TABLESPACE":
			if err := knownTablespace(a.NewName); err != nil {
				return true, err
			}
		default:
			return true, sqlerr.Unsupported(a.Pos(), "ALTER INDEX %s", a.Kind)
		}
	}
	return true, nil
}

// noColumnOptions is the error of ALTER COLUMN … SET (…) of an index.
func (x *exec) noColumnOptions(ix *catalog.Index, a *ast.AlterAction) error {
	kind := "indexes"
	if t, _ := x.snap().IndexByOID(x.db(), ix.OID); t.Partitioned() {
		kind = "partitioned indexes"
	}
	column := *a
	column.Kind = "ALTER COLUMN ... " + strings.TrimSuffix(a.Kind, " OPTIONS")
	return actionFails(&column, ix.Name, kind)
}

// indexStatistics is ALTER INDEX … ALTER COLUMN number SET STATISTICS, which is for
// expressions; it is kept and shown.
func (x *exec) indexStatistics(ix *catalog.Index, a *ast.AlterAction) error {
	t, _ := x.snap().IndexByOID(x.db(), ix.OID)
	n, err := strconv.Atoi(a.Name)
	switch {
	case err != nil:
		if n = slices.Index(t.IndexColumnNames(ix), a.Name) + 1; n == 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", a.Name, ix.Name)
		}
	}
	switch {
	case n > len(ix.Keys)+len(ix.Include):
		return sqlerr.New(sqlerr.UndefinedColumn, "column number %s of relation \"%s\" does not exist", a.Name, ix.Name)
	case n > len(ix.Keys):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on included column \"%s\" of index \"%s\"",
			t.Columns[ix.Include[n-len(ix.Keys)-1]].Name, ix.Name)
	case ix.Keys[n-1].Col >= 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on non-expression column \"%s\" of index \"%s\"", t.Columns[ix.Keys[n-1].Col].Name, ix.Name).
			WithHint("Alter statistics on table column instead.")
	}
	target, err := x.statTarget(a.Expr)
	if err != nil {
		return err
	}
	return x.Change.EditIndex(ix.OID, func(ix *catalog.Index) {
		ix.Keys = slices.Clone(ix.Keys)
		ix.Keys[n-1].StatTarget = target
	})
}

func (x *exec) findIndex(n *ast.Name) *catalog.Index {
	if s := n.Schema(); s != "" {
		_, ix := x.snap().IndexByName(x.db(), x.schemaNamed(s), n.Last())
		return ix
	}
	for _, s := range x.Planner().SearchPath {
		if _, ix := x.snap().IndexByName(x.db(), s, n.Last()); ix != nil {
			return ix
		}
	}
	return nil
}
