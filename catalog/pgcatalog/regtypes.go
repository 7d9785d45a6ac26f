package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// path returns the schemas that a name is looked for in.
func (env *Env) path() []string {
	if slices.Contains(env.SearchPath, catalog.SchemaPgCatalog) {
		return env.SearchPath
	}
	return append([]string{catalog.SchemaPgCatalog}, env.SearchPath...)
}

// relationOID returns the OID of a relation or index of a schema, or 0.
func (env *Env) relationOID(schema, name string) types.OID {
	if r := env.Snap.Relation(env.DB, schema, name); r != nil {
		return r.ObjectOID()
	}
	if r := Find(schema, name); r != nil {
		return r.OID
	}
	if _, ix := env.Snap.IndexByName(env.DB, schema, name); ix != nil {
		return ix.OID
	}
	if in := env.Snap.Type(env.DB, schema, name); in != nil {
		if u := env.Snap.TypeByOID(in.OID); u != nil && u.Kind == 'c' {
			return u.RelOID
		}
	}
	if schema == catalog.SchemaPgCatalog {
		for _, ix := range catalog.SystemIndexes() {
			if ix.Name == name {
				return ix.OID
			}
		}
	}
	if schema == catalog.SchemaToast {
		return env.toastByName(name)
	}
	return 0
}

// regclassOut is regclass's output: the name, qualified when the name alone
// would not be found; the number for OIDs of nothing.
func (env *Env) regclassOut(o types.OID) string {
	if schema, name, ok := env.RelationName(o); ok {
		return env.Snap.RelationText(env.DB, env.SearchPath, schema, name)
	}
	return strconv.FormatUint(uint64(o), 10)
}

// RelationName returns schema and name of whatever pg_class has under the OID.
func (env *Env) RelationName(o types.OID) (schema, name string, ok bool) {
	if r := ByOID(o); r != nil {
		return r.Schema, r.Name, true
	}
	if r := env.Snap.RelationByOID(env.DB, o); r != nil {
		schema, name = r.RelName()
		return schema, name, true
	}
	if t, ix := env.Snap.IndexByOID(env.DB, o); ix != nil {
		return t.Schema, ix.Name, true
	}
	for _, ix := range catalog.SystemIndexes() {
		if ix.OID == o {
			return catalog.SchemaPgCatalog, ix.Name, true
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.RelOID == o && o != 0 {
			return u.Schema, u.Name, true
		}
	}
	if t, ok := env.toastByOID(o); ok {
		if o == t.index {
			return catalog.SchemaToast, t.name() + "_index", true
		}
		return catalog.SchemaToast, t.name(), true
	}
	return "", "", false
}

// FormatTypeNoMod is format_type with a NULL modifier, which calls bpchar
// character.
func (env *Env) FormatTypeNoMod(o types.OID) string {
	if in := types.Lookup(o); in != nil && in.Extension == "" {
		return types.FormatTypeNoMod(o)
	}
	return env.FormatType(o, -1)
}

// FormatType is format_type for every type; mod is -1 for none.
func (env *Env) FormatType(o types.OID, mod int32) string {
	t, ok := env.Snap.T(o, mod)
	if !ok && o != 0 {
		return "???"
	}
	return env.Snap.FormatType(t, env.DB, env.SearchPath)
}

// regtypeOut is regtype's output.
func (env *Env) regtypeOut(o types.OID) string {
	if env.Snap.TypeInfo(o) == nil {
		return strconv.FormatUint(uint64(o), 10)
	}
	return env.FormatTypeNoMod(o)
}

// TableIsVisible is pg_table_is_visible; ok is false when there is no such
// relation.
func (env *Env) TableIsVisible(o types.OID) (visible, ok bool) {
	schema, name, ok := env.RelationName(o)
	if !ok {
		return false, false
	}
	return env.Snap.RelationVisible(env.DB, env.SearchPath, schema, name), true
}

// TypeIsVisible is pg_type_is_visible; ok is false when there is no such type.
func (env *Env) TypeIsVisible(o types.OID) (visible, ok bool) {
	in := env.Snap.TypeInfo(o)
	if in == nil {
		return false, false
	}
	return env.Snap.TypeVisible(env.DB, env.SearchPath, env.Snap.TypeSchema(env.DB, o), in.Name), true
}

// FunctionIsVisible is pg_function_is_visible: no schema before its own in the
// path has the same name with the same arguments.
func (env *Env) FunctionIsVisible(o types.OID) (visible, ok bool) {
	schema, name := catalog.SchemaPgCatalog, ""
	var in []types.OID
	if p := catalog.ProcByOID(o); p != nil {
		name, in = p.Name, p.Args
		if p.Schema == catalog.SchemaInformation {
			schema = p.Schema
		}
	} else if f, ok := env.Snap.Object(o).(*catalog.Function); ok && f.DB == env.DB {
		schema, name, in = f.Schema, f.Name, typeOIDs(f.Inputs())
	} else {
		return false, false
	}
	for _, p := range env.path() {
		if p == schema {
			return true, true
		}
		if slices.ContainsFunc(env.functionsOf(p, name), func(other []types.OID) bool { return slices.Equal(other, in) }) {
			return false, true
		}
	}
	return false, true
}

// functionsOf returns the arguments of each function of that name in a schema.
func (env *Env) functionsOf(schema, name string) [][]types.OID {
	var list [][]types.OID
	if schema == catalog.SchemaPgCatalog || schema == catalog.SchemaInformation {
		for _, p := range catalog.ProcsByName(name) {
			if (p.Schema == catalog.SchemaInformation) == (schema == catalog.SchemaInformation) {
				list = append(list, p.Args)
			}
		}
	}
	for _, f := range env.Snap.Functions(env.DB, schema, name) {
		list = append(list, typeOIDs(f.Inputs()))
	}
	return list
}

// RegOut is the output of the reg* types: the name of an OID. It satisfies the
// interface that text output of types asks for.
func (env *Env) RegOut(typ, o types.OID) (string, bool) {
	switch typ {
	case types.ORegclass:
		if _, _, ok := env.RelationName(o); ok {
			return env.regclassOut(o), true
		}
	case types.ORegtype:
		if env.Snap.TypeInfo(o) != nil {
			return env.regtypeOut(o), true
		}
	case types.ORegproc, types.ORegprocedure:
		return env.procOut(o, typ == types.ORegprocedure)
	case types.ORegoper, types.ORegoperator:
		if o == 0 {
			return "0", true
		}
		if op := env.operator(o); op != nil {
			schema := catalog.SchemaPgCatalog
			if op.Own != nil {
				schema = catalog.QuoteIdent(op.Own.Schema)
			}
			if typ == types.ORegoper {
				if found := env.named("", op.Name); len(found) != 1 || found[0].OID != o {
					return schema + "." + op.Name, true // the name alone would not find it
				}
				return op.Name, true
			}
			name := op.Name
			if visible, _ := env.OperatorIsVisible(o); !visible {
				name = schema + "." + name
			}
			return name + "(" + env.operand(op.Left) + "," + env.operand(op.Right) + ")", true
		}
	case types.ORegrole:
		if r, ok := env.Snap.Object(o).(*catalog.Role); ok {
			return catalog.QuoteIdent(r.Name), true
		}
	case types.ORegnamespace:
		if n := env.Snap.SchemaByOID(o); n != nil {
			return catalog.QuoteIdent(n.Name), true
		}
		if name := env.TempSchemaByOID(o); name != "" {
			return catalog.QuoteIdent(name), true
		}
	case types.ORegcollation:
		if c := catalog.CollationByOID(o); c != nil {
			return catalog.QuoteIdent(c.Name), true
		}
	}
	return "", false
}

func (env *Env) operand(o types.OID) string {
	if o == 0 {
		return "NONE"
	}
	return env.FormatTypeNoMod(o)
}

// procOut shows a function; with its arguments, or when several have the name
// qualified.
func (env *Env) procOut(o types.OID, args bool) (string, bool) {
	name, schema := "", catalog.SchemaPgCatalog
	var in []types.OID
	if p := catalog.ProcByOID(o); p != nil {
		name, in = p.Name, p.Args
		if p.Schema == catalog.SchemaInformation {
			schema = p.Schema
		}
	} else if f, ok := env.Snap.Object(o).(*catalog.Function); ok {
		name, in, schema = f.Name, typeOIDs(f.Inputs()), f.Schema
	} else {
		return "", false
	}
	out := catalog.QuoteIdent(name)
	if visible, _ := env.FunctionIsVisible(o); !visible || !args && env.visibleFunctions(name) > 1 {
		out = catalog.QualifiedIdent(schema, name)
	}
	if !args {
		return out, true
	}
	parts := make([]string, len(in))
	for i, t := range in {
		parts[i] = env.FormatTypeNoMod(t)
	}
	return out + "(" + strings.Join(parts, ",") + ")", true
}

// visibleFunctions counts the functions that a name without a schema can mean:
// of those with the same arguments only the first of the path.
func (env *Env) visibleFunctions(name string) int {
	var found [][]types.OID
	for _, schema := range env.path() {
		for _, in := range env.functionsOf(schema, name) {
			if !slices.ContainsFunc(found, func(f []types.OID) bool { return slices.Equal(f, in) }) {
				found = append(found, in)
			}
		}
	}
	return len(found)
}
