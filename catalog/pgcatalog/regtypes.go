package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// splitName reads a possibly qualified name as SQL would: quoted parts as they
// are, others in lower case. It returns nil when the text is no name.
func splitName(s string) []string {
	var parts []string
	for i := 0; ; {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		part := ""
		if i < len(s) && s[i] == '"' {
			for i++; ; i++ {
				if i >= len(s) {
					return nil
				}
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				part += string(s[i])
			}
			i++
		} else {
			start := i
			for i < len(s) && s[i] != '.' && s[i] != ' ' && s[i] != '"' {
				i++
			}
			part = strings.ToLower(s[start:i])
		}
		if part == "" {
			return nil
		}
		parts = append(parts, part)
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i >= len(s) {
			return parts
		}
		if s[i] != '.' {
			return nil
		}
		i++
	}
}

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
	return 0
}

// ToRegclass is to_regclass: the OID of the relation or index, or 0.
func (env *Env) ToRegclass(name string) types.OID {
	parts := splitName(name)
	switch len(parts) {
	case 1:
		for _, p := range env.path() {
			if o := env.relationOID(p, parts[0]); o != 0 {
				return o
			}
		}
	case 2:
		return env.relationOID(parts[0], parts[1])
	case 3:
		if parts[0] == env.dbName() {
			return env.relationOID(parts[1], parts[2])
		}
	}
	return 0
}

// ToRegtype is to_regtype: the type of a name in SQL or pg_type spelling, or 0.
// Modifiers in parentheses are not looked at.
func (env *Env) ToRegtype(name string) types.OID {
	name = strings.TrimSpace(withoutModifiers(name))
	if base, array := strings.CutSuffix(name, "[]"); array {
		if in := env.Snap.TypeInfo(env.ToRegtype(base)); in != nil {
			if in.Array == 0 && in.Category == 'A' {
				return in.OID
			}
			return in.Array
		}
		return 0
	}
	parts := splitName(name)
	switch len(parts) {
	case 1:
		if in := env.typeOnPath(parts[0], strings.HasPrefix(name, `"`)); in != nil {
			return in.OID
		}
	case 2:
		if in := env.Snap.Type(env.DB, parts[0], parts[1]); in != nil {
			return in.OID
		}
		return 0
	}
	// Spellings of several words, such as double precision.
	if in := types.ByName(strings.Join(strings.Fields(strings.ToLower(name)), " ")); in != nil {
		return in.OID
	}
	return 0
}

// withoutModifiers cuts (10) out of varchar(10).
func withoutModifiers(name string) string {
	open := strings.IndexByte(name, '(')
	if open < 0 || strings.IndexByte(name[:open], '"') >= 0 {
		return name
	}
	end := strings.IndexByte(name[open:], ')')
	if end < 0 {
		return name
	}
	return name[:open] + name[open+end+1:]
}

func (env *Env) typeOnPath(name string, quoted bool) *types.Info {
	if !quoted {
		// char, int and the like are keywords and not names.
		switch name {
		case "char":
			return types.Lookup(types.OBpchar)
		case "int", "integer", "decimal", "float", "real", "smallint", "bigint", "boolean":
			return types.ByName(name)
		}
	}
	for _, p := range env.path() {
		if in := env.Snap.Type(env.DB, p, name); in != nil {
			return in
		}
	}
	return nil
}

// RegclassOut is regclass's output: the name, qualified when the name alone
// would not be found; the number for OIDs of nothing.
func (env *Env) RegclassOut(o types.OID) string {
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
	return "", "", false
}

// FormatTypeNoMod is format_type with a NULL modifier, which calls bpchar
// character.
func (env *Env) FormatTypeNoMod(o types.OID) string {
	if types.Lookup(o) != nil {
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

// RegtypeOut is regtype's output.
func (env *Env) RegtypeOut(o types.OID) string {
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
	return env.Snap.TypeVisible(env.DB, env.SearchPath, env.Snap.TypeSchema(o), in.Name), true
}

// FunctionIsVisible is pg_function_is_visible: no schema before its own in the
// path has the same name with the same arguments.
func (env *Env) FunctionIsVisible(o types.OID) (visible, ok bool) {
	if catalog.ProcByOID(o) != nil {
		return true, true
	}
	f, ok := env.Snap.Object(o).(*catalog.Function)
	if !ok || f.DB != env.DB {
		return false, false
	}
	same := func(list []types.T) bool {
		return slices.Equal(typeOIDs(list), typeOIDs(f.Inputs()))
	}
	for _, p := range env.path() {
		if p == f.Schema {
			return true, true
		}
		if p == catalog.SchemaPgCatalog {
			for _, other := range catalog.ProcsByName(f.Name) {
				if slices.Equal(other.Args, typeOIDs(f.Inputs())) {
					return false, true
				}
			}
		}
		for _, other := range env.Snap.Functions(env.DB, p, f.Name) {
			if same(other.Inputs()) {
				return false, true
			}
		}
	}
	return false, true
}

// RegOut is the output of the reg* types: the name of an OID. It satisfies the
// interface that text output of types asks for.
func (env *Env) RegOut(typ, o types.OID) (string, bool) {
	switch typ {
	case types.ORegclass:
		if _, _, ok := env.RelationName(o); ok {
			return env.RegclassOut(o), true
		}
	case types.ORegtype:
		if env.Snap.TypeInfo(o) != nil {
			return env.RegtypeOut(o), true
		}
	case types.ORegproc, types.ORegprocedure:
		return env.procOut(o, typ == types.ORegprocedure)
	case types.ORegoper, types.ORegoperator:
		if o == 0 {
			return "0", true
		}
		if op := catalog.OperatorByOID(o); op != nil {
			if typ == types.ORegoper {
				if len(catalog.OperatorsByName(op.Name)) > 1 {
					return catalog.SchemaPgCatalog + "." + op.Name, true // the name alone would not find it
				}
				return op.Name, true
			}
			return op.Name + "(" + env.operand(op.Left) + "," + env.operand(op.Right) + ")", true
		}
	case types.ORegrole:
		if r, ok := env.Snap.Object(o).(*catalog.Role); ok {
			return catalog.QuoteIdent(r.Name), true
		}
	case types.ORegnamespace:
		if n := env.Snap.SchemaByOID(o); n != nil {
			return catalog.QuoteIdent(n.Name), true
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
		if !args && len(catalog.ProcsByName(name)) > 1 {
			return schema + "." + catalog.QuoteIdent(name), true
		}
	} else if f, ok := env.Snap.Object(o).(*catalog.Function); ok {
		name, in, schema = f.Name, typeOIDs(f.Inputs()), f.Schema
	} else {
		return "", false
	}
	out := catalog.QuoteIdent(name)
	if visible, _ := env.FunctionIsVisible(o); !visible {
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

// RegIn is the input of the reg* types for texts that are not numbers.
func (env *Env) RegIn(typ types.OID, s string) (types.OID, error) {
	var o types.OID
	code, what := sqlerr.UndefinedObject, "object"
	if typ == types.ORegclass {
		if err := env.checkName(s); err != nil {
			return 0, err
		}
	}
	switch typ {
	case types.ORegclass:
		o, code, what = env.ToRegclass(s), sqlerr.UndefinedTable, "relation"
	case types.ORegtype:
		o, what = env.ToRegtype(s), "type"
	case types.ORegproc, types.ORegprocedure:
		return env.procIn(s, typ == types.ORegprocedure)
	case types.ORegrole:
		if p := splitName(s); len(p) == 1 {
			o = env.Snap.RoleOID(p[0])
		}
		what = "role"
	case types.ORegnamespace:
		if p := splitName(s); len(p) == 1 {
			o = env.namespace(p[0])
		}
		code, what = sqlerr.InvalidSchemaName, "schema"
	case types.ORegoper, types.ORegoperator:
		return env.operIn(s, typ == types.ORegoperator)
	case types.ORegconfig, types.ORegdictionary:
		return 0, sqlerr.Unsupported(-1, "type %s", types.FormatTypeNoMod(typ))
	case types.ORegcollation:
		for _, c := range catalog.Collations() {
			if p := splitName(s); len(p) > 0 && c.Name == p[len(p)-1] {
				return c.OID, nil
			}
		}
		what = "collation"
	}
	if o == 0 && typ == types.ORegtype {
		if p := splitName(s); len(p) > 1 && env.namespace(p[len(p)-2]) == 0 {
			return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", p[len(p)-2])
		}
	}
	if o == 0 {
		return 0, sqlerr.New(code, "%s \"%s\" does not exist", what, strings.Join(displayName(s), "."))
	}
	return o, nil
}

// checkName refuses texts that are no relation names, names in other databases,
// and names in schemas that do not exist.
func (env *Env) checkName(s string) error {
	p := splitName(s)
	switch {
	case p == nil || len(p) > 3:
		return sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	case len(p) == 3 && p[0] != env.dbName():
		return sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", strings.Join(p, "."))
	case len(p) > 1 && env.namespace(p[len(p)-2]) == 0:
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", p[len(p)-2])
	}
	return nil
}

// displayName is a name as messages show it.
func displayName(s string) []string {
	if p := splitName(s); p != nil {
		return p
	}
	return []string{s}
}

// procIn reads the name of a function, with argument types for regprocedure.
func (env *Env) procIn(s string, args bool) (types.OID, error) {
	name, list, hasArgs := strings.Cut(s, "(")
	parts := splitName(strings.TrimSpace(name))
	none := sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", s)
	if len(parts) == 0 || len(parts) > 2 || args != hasArgs {
		return 0, none
	}
	var want []types.OID
	if args {
		for _, a := range strings.Split(strings.TrimSuffix(list, ")"), ",") {
			if a = strings.TrimSpace(a); a != "" {
				want = append(want, env.ToRegtype(a))
			}
		}
	}
	schemas := env.path()
	if len(parts) == 2 {
		schemas = parts[:1]
	}
	var found []types.OID
	for _, p := range schemas {
		if p == catalog.SchemaPgCatalog {
			for _, f := range catalog.ProcsByName(parts[len(parts)-1]) {
				if !args || slices.Equal(f.Args, want) {
					found = append(found, f.OID)
				}
			}
		}
		for _, f := range env.Snap.Functions(env.DB, p, parts[len(parts)-1]) {
			if !args || slices.Equal(typeOIDs(f.Inputs()), want) {
				found = append(found, f.OID)
			}
		}
	}
	switch {
	case len(found) == 0:
		return 0, none
	case len(found) > 1 && !args:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one function named \"%s\"", s)
	}
	return found[0], nil
}

// operIn reads the name of an operator, with operand types for regoperator.
func (env *Env) operIn(s string, args bool) (types.OID, error) {
	name, list, _ := strings.Cut(s, "(")
	name = strings.TrimPrefix(strings.TrimSpace(name), "pg_catalog.")
	var found []types.OID
	for _, op := range catalog.OperatorsByName(name) {
		if args {
			l, r, _ := strings.Cut(strings.TrimSuffix(list, ")"), ",")
			if env.operandIn(l) != op.Left || env.operandIn(r) != op.Right {
				continue
			}
		}
		found = append(found, op.OID)
	}
	switch {
	case len(found) == 0:
		return 0, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", s)
	case len(found) > 1:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one operator named %s", s)
	}
	return found[0], nil
}

func (env *Env) operandIn(s string) types.OID {
	if strings.EqualFold(strings.TrimSpace(s), "none") {
		return 0
	}
	return env.ToRegtype(s)
}
