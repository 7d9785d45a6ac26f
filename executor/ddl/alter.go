package ddl

import (
	"slices"
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
	// Columns are renamed in relations of any kind.
	if err := x.kindIs(r, s.Kind); err != nil && s.Actions[0].Kind != "RENAME COLUMN" {
		return err
	}
	if q, ok := x.snap().RelationByOID(x.db(), oid).(*catalog.Sequence); ok {
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
		unused := x.unused
		if renames(s.Actions[0].Kind) {
			unused = x.checked
		}
		for _, t := range x.snap().Tree(t) {
			if err := unused(t, "ALTER TABLE"); err != nil {
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

// renames reports whether an action, which is one of a kind that stand alone, leaves all
// but names as it is: an open cursor goes on.
func renames(kind string) bool {
	return kind == "RENAME" || kind == "RENAME COLUMN" || kind == "RENAME CONSTRAINT" || kind == "SET SCHEMA"
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
		if q, ok := x.snap().RelationByOID(x.db(), oid).(*catalog.Sequence); ok {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot rename columns of relation \"%s\"", q.Name).WithDetail("This operation is not supported for sequences.")
		}
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
		if q, ok := x.snap().Object(oid).(*catalog.Sequence); ok && q.OwnerTable != 0 && q.Owner != x.roleName(a.NewName) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change owner of sequence \"%s\"", q.Name).
				WithDetail("Sequence \"%s\" is linked to table \"%s\".", q.Name, x.snap().Table(q.OwnerTable).Name)
		}
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
				return redundant(&o)
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

// base is the table as its stored rows are: what expressions of a rewrite see.
func (x *exec) base(t *catalog.Table) *catalog.Table {
	if b := x.before.Table(t.OID); b != nil {
		return b
	}
	return t
}
