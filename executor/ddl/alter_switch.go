package ddl

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// actionNames are the actions of ALTER TABLE as PostgreSQL's messages call them,
// where that is not the kind.
var actionNames = map[string]string{
	"SET DEFAULT": "ALTER COLUMN ... SET DEFAULT", "DROP DEFAULT": "ALTER COLUMN ... SET DEFAULT", "SET NOT NULL": "ALTER COLUMN ... SET NOT NULL",
	"DROP NOT NULL": "ALTER COLUMN ... DROP NOT NULL", "DROP EXPRESSION": "ALTER COLUMN ... DROP EXPRESSION", "SET STATISTICS": "ALTER COLUMN ... SET STATISTICS",
	"SET STORAGE": "ALTER COLUMN ... SET STORAGE", "SET COMPRESSION": "ALTER COLUMN ... SET COMPRESSION", "ALTER COLUMN TYPE": "ALTER COLUMN ... SET DATA TYPE",
	"ADD IDENTITY": "ALTER COLUMN ... ADD IDENTITY", "SET IDENTITY": "ALTER COLUMN ... SET", "DROP IDENTITY": "ALTER COLUMN ... DROP IDENTITY",
	"SET OPTIONS": "SET", "RESET OPTIONS": "RESET", "LOGGED": "SET LOGGED", "UNLOGGED": "SET UNLOGGED", "CLUSTER": "CLUSTER ON",
	"REPLICA IDENTITY USING INDEX": "REPLICA IDENTITY", "REPLICA IDENTITY DEFAULT": "REPLICA IDENTITY",
	"REPLICA IDENTITY FULL": "REPLICA IDENTITY", "REPLICA IDENTITY NOTHING": "REPLICA IDENTITY",
	"ENABLE ROW LEVEL SECURITY": "ENABLE ROW SECURITY", "DISABLE ROW LEVEL SECURITY": "DISABLE ROW SECURITY",
	"FORCE ROW LEVEL SECURITY": "FORCE ROW SECURITY", "NO FORCE ROW LEVEL SECURITY": "NO FORCE ROW SECURITY",
}

// passes are the turns of actions that are not the last ones: a column is there
// before a constraint of the same statement reads it, wherever it is written.
var passes = map[string]int{
	"DROP COLUMN": -6, "DROP CONSTRAINT": -6, "DROP NOT NULL": -6, "DROP EXPRESSION": -6, "DROP DEFAULT": -6, "DROP IDENTITY": -6,
	"ALTER COLUMN TYPE": -5, "ADD COLUMN": -4, "SET NOT NULL": -3, "ADD CONSTRAINT": -1, "SET DEFAULT": -1, "ADD IDENTITY": -1,
}

// inPasses returns the actions of a statement in the order in which they are run.
func inPasses(list []ast.AlterAction) []*ast.AlterAction {
	out := make([]*ast.AlterAction, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	pass := func(a *ast.AlterAction) int {
		if a.Kind == "ADD CONSTRAINT" && (a.Constraint.Kind == "UNIQUE" || a.Constraint.Kind == "PRIMARY KEY") {
			return -2
		}
		return passes[a.Kind]
	}
	slices.SortStableFunc(out, func(a, b *ast.AlterAction) int { return cmp.Compare(pass(a), pass(b)) })
	return out
}

func actionName(kind string) string {
	if n := actionNames[kind]; n != "" {
		return n
	}
	return kind
}

// noSwitch is the error of actions on triggers and rules, of which no table has any.
func noSwitch(t *catalog.Table, a *ast.AlterAction) error {
	switch {
	case strings.HasSuffix(a.Kind, " TRIGGER"):
		return sqlerr.New(sqlerr.UndefinedObject, "trigger \"%s\" for table \"%s\" does not exist", a.Name, t.Name)
	case strings.HasSuffix(a.Kind, " RULE"):
		return sqlerr.New(sqlerr.UndefinedObject, "rule \"%s\" for relation \"%s\" does not exist", a.Name, t.Name)
	}
	return nil
}

// switchTriggers is ENABLE and DISABLE TRIGGER ALL, which have an effect on the triggers of
// foreign keys alone: a table has no others.
func (x *exec) switchTriggers(oid types.OID, a *ast.AlterAction) error {
	t, ok := x.snap().RelationByOID(x.db(), oid).(*catalog.Table)
	if !ok {
		return notFor(a, x.snap().RelationByOID(x.db(), oid))
	}
	refs := x.snap().Referencing(x.db(), oid)
	if len(t.ForeignKeys) == 0 && len(refs) == 0 {
		return nil
	}
	if !x.snap().IsSuper(x.User) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system trigger", x.FirstTrigger(oid))
	}
	off := a.Kind == "DISABLE TRIGGER ALL"
	if off && (t.Cluster != nil || slices.ContainsFunc(refs, func(r catalog.FKRef) bool { return r.Table.Cluster != nil && r.Table.Cluster.FK == r.FK.OID })) {
		// The key of a stored row begins with that of its parent's row.
		return sqlerr.Unsupported(int(a.Off), "DISABLE TRIGGER ALL on a table that is stored with the rows of another one")
	}
	for _, k := range x.snap().SwitchedKeys(t, x.only, off) {
		if err := x.defining(k); err != nil {
			return err
		}
	}
	return x.Change.SwitchKeys(oid, x.only, off)
}

// knownTablespace refuses tablespaces for relations other than the one that there is.
func knownTablespace(name string) error {
	switch name {
	case "", "pg_default":
		return nil
	case "pg_global":
		return sqlerr.New(sqlerr.InvalidParameterValue, "only shared relations can be placed in pg_global tablespace")
	}
	return noTablespace(name)
}

// moveAll is ALTER TABLE ALL IN TABLESPACE and the like. As everything is in the one
// tablespace there is, nothing moves.
func (x *exec) moveAll(s *ast.AlterObject) error {
	for i := range s.Options {
		if r := x.roleName(s.Options[i].Name); x.snap().Role(r) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", r)
		}
	}
	global := false
	for _, name := range []string{s.Name.Last(), s.NewName} {
		if name == "pg_global" {
			global = true
		} else if err := knownTablespace(name); err != nil {
			return err
		}
	}
	if global {
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot move relations in to or out of pg_global tablespace")
	}
	return nil
}

// knownAccessMethod refuses access methods other than the one that there is.
func knownAccessMethod(name string) error {
	if name == "" || name == "heap" {
		return nil
	}
	if catalog.IsIndexMethod(name) {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "access method \"%s\" is not of type TABLE", name)
	}
	return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", name)
}
