package pgcatalog

import (
	"errors"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// splitName reads a possibly qualified name as SQL would: quoted parts as they
// are, others in lower case. It returns nil when the text is no name.
func splitName(s string) []string {
	var parts []string
	s = strings.TrimLeft(s, nameSpace)
	if s == "" {
		return nil
	}
	for {
		part := ""
		if rest, quoted := strings.CutPrefix(s, `"`); quoted {
			for s = rest; ; {
				end := strings.IndexByte(s, '"')
				if end < 0 {
					return nil
				}
				part += s[:end]
				if s = s[end+1:]; !strings.HasPrefix(s, `"`) {
					break
				}
				part, s = part+`"`, s[1:]
			}
		} else {
			end := strings.IndexAny(s, "."+nameSpace)
			if end < 0 {
				end = len(s)
			}
			if end == 0 {
				return nil
			}
			part, s = asciiLower(s[:end]), s[end:]
		}
		parts = append(parts, types.TruncateName(part))
		if s = strings.TrimLeft(s, nameSpace); s == "" {
			return parts
		}
		if s[0] != '.' {
			return nil
		}
		s = strings.TrimLeft(s[1:], nameSpace)
	}
}

// asciiLower folds an unquoted name.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

const nameSpace = " \t\n\r\f\v"

// errMissing is the cause of errors that say that nothing has a name.
var errMissing = errors.New("no such object")

func missing(code sqlerr.Code, format string, args ...any) error {
	e := sqlerr.New(code, format, args...)
	e.Cause = errMissing
	return e
}

// errNameSyntax makes an error for each use: whoever knows the place sets it in there.
func errNameSyntax() error { return sqlerr.New(sqlerr.InvalidName, "invalid name syntax") }

// objectName splits the name of an object other than a relation into the schema,
// which is "" if the name is not qualified, and the name.
func (env *Env) objectName(s string) (schema, name string, err error) {
	p := splitName(s)
	switch {
	case p == nil:
		return "", "", errNameSyntax()
	case len(p) > 3:
		return "", "", sqlerr.New(sqlerr.SyntaxError, "improper qualified name (too many dotted names): %s", strings.Join(p, "."))
	case len(p) == 3 && p[0] != env.dbName():
		return "", "", sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %s", strings.Join(p, "."))
	case len(p) > 1:
		schema = env.meant(p[len(p)-2])
	}
	return schema, p[len(p)-1], nil
}

// meant is the schema that a qualifier names.
func (env *Env) meant(schema string) string {
	if schema == "pg_temp" && env.TempSchema != "" {
		return env.TempSchema
	}
	return schema
}

// existing checks that a schema is there.
func (env *Env) existing(schema string) error {
	if schema != "" && env.namespace(schema) == 0 {
		return missing(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
	}
	return nil
}

// usable checks that the schema in a name of an object, if it has one, is there and may
// be used.
func (env *Env) usable(schema string) error {
	if err := env.existing(schema); err != nil || schema == "" || env.AnySchema || schema == env.TempSchema {
		return err
	}
	return env.Snap.MayUseSchema(env.DB, env.User, schema)
}

// RegIn is the input of the reg* types for texts that are not numbers or "-".
func (env *Env) RegIn(typ types.OID, s string) (types.OID, error) {
	switch typ {
	case types.ORegclass:
		return env.classIn(s)
	case types.ORegtype:
		return env.TypeName(s)
	case types.ORegproc:
		return env.procIn(s)
	case types.ORegprocedure:
		return env.procedureIn(s)
	case types.ORegoper:
		return env.operIn(s)
	case types.ORegoperator:
		return env.operatorIn(s)
	case types.ORegrole, types.ORegnamespace:
		p := splitName(s)
		if len(p) != 1 {
			return 0, errNameSyntax()
		}
		if typ == types.ORegnamespace {
			return env.namespace(p[0]), env.existing(p[0])
		}
		if o := env.Snap.RoleOID(p[0]); o != 0 {
			return o, nil
		}
		return 0, missing(sqlerr.UndefinedObject, "role \"%s\" does not exist", p[0])
	case types.ORegcollation:
		return env.collationIn(s)
	}
	return 0, sqlerr.Unsupported(-1, "type %s", types.FormatTypeNoMod(typ))
}

// RegFind is RegIn for a name that nothing may have: it returns 0 then, and for
// a name that several have. Numbers are names here.
func (env *Env) RegFind(typ types.OID, s string) (types.OID, error) {
	o, err := env.RegIn(typ, s)
	code := sqlerr.CodeOf(err)
	if errors.Is(err, errMissing) || typ == types.ORegtype && (code == sqlerr.UndefinedObject || code == sqlerr.InvalidSchemaName) {
		return 0, nil
	}
	return o, err
}

// toRegclass is the OID of the relation or index of a name, or 0.
func (env *Env) toRegclass(name string) types.OID {
	o, _ := env.classIn(name)
	return o
}

func (env *Env) classIn(s string) (types.OID, error) {
	p := splitName(s)
	switch {
	case p == nil:
		return 0, errNameSyntax()
	case len(p) > 3:
		return 0, sqlerr.New(sqlerr.SyntaxError, "improper relation name (too many dotted names): %s", strings.Join(p, "."))
	case len(p) == 3 && p[0] != env.dbName():
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", strings.Join(p, "."))
	}
	schemas := env.path()
	if len(p) > 1 {
		schemas = []string{env.meant(p[len(p)-2])}
		if err := env.usable(schemas[0]); err != nil {
			return 0, err
		}
	}
	for _, schema := range schemas {
		if o := env.relationOID(schema, p[len(p)-1]); o != 0 {
			return o, nil
		}
	}
	return 0, missing(sqlerr.UndefinedTable, "relation \"%s\" does not exist", strings.Join(p, "."))
}

func (env *Env) collationIn(s string) (types.OID, error) {
	schema, name, err := env.objectName(s)
	if err == nil {
		err = env.usable(schema)
	}
	if err != nil {
		return 0, err
	}
	if schema == "" || schema == catalog.SchemaPgCatalog {
		for _, c := range catalog.Collations() {
			if c.Name == name {
				return c.OID, nil
			}
		}
	}
	return 0, missing(sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", strings.Join(splitName(s), "."))
}

// functions lists the functions of a name, those of earlier schemas first, with
// their argument types.
func (env *Env) functions(s string) (oids []types.OID, args [][]types.OID, err error) {
	schema, name, err := env.objectName(s)
	if err == nil {
		err = env.usable(schema)
	}
	if err != nil {
		return nil, nil, err
	}
	schemas := env.path()
	if schema != "" {
		schemas = []string{schema}
	}
	add := func(o types.OID, in []types.OID) {
		// The same arguments in a later schema are hidden.
		if !slices.ContainsFunc(args, func(a []types.OID) bool { return slices.Equal(a, in) }) {
			oids, args = append(oids, o), append(args, in)
		}
	}
	for _, p := range schemas {
		for _, f := range catalog.ProcsByName(name) {
			if f.In() == p {
				add(f.OID, f.Args)
			}
		}
		for _, f := range env.Snap.Functions(env.DB, p, name) {
			add(f.OID, typeOIDs(f.Inputs()))
		}
	}
	return oids, args, nil
}

func (env *Env) procIn(s string) (types.OID, error) {
	oids, _, err := env.functions(s)
	switch {
	case err != nil:
		return 0, err
	case len(oids) == 0:
		return 0, missing(sqlerr.UndefinedFunction, "function \"%s\" does not exist", s)
	case len(oids) > 1:
		return 0, missing(sqlerr.AmbiguousFunction, "more than one function named \"%s\"", s)
	}
	return oids[0], nil
}

func (env *Env) procedureIn(s string) (types.OID, error) {
	name, want, err := env.nameAndTypes(s, false)
	if err != nil {
		return 0, err
	}
	oids, args, err := env.functions(name)
	if err != nil {
		return 0, err
	}
	for i, a := range args {
		if slices.Equal(a, want) {
			return oids[i], nil
		}
	}
	return 0, missing(sqlerr.UndefinedFunction, "function \"%s\" does not exist", s)
}

// operators lists the operators of a name.
func (env *Env) operators(s string, missingSchema bool) ([]*catalog.Operator, error) {
	schema, name, err := env.objectName(s)
	if err == nil && !missingSchema {
		err = env.usable(schema)
	}
	if err != nil {
		return nil, err
	}
	return env.named(schema, name), nil
}

func (env *Env) operIn(s string) (types.OID, error) {
	found, err := env.operators(s, false)
	switch {
	case err != nil:
		return 0, err
	case len(found) == 0:
		return 0, missing(sqlerr.UndefinedFunction, "operator does not exist: %s", s)
	case len(found) > 1:
		return 0, missing(sqlerr.AmbiguousFunction, "more than one operator named %s", s)
	}
	return found[0].OID, nil
}

func (env *Env) operatorIn(s string) (types.OID, error) {
	name, operands, err := env.nameAndTypes(s, true)
	switch {
	case err != nil:
		return 0, err
	case len(operands) == 1:
		return 0, sqlerr.New(sqlerr.UndefinedParameter, "missing argument").
			WithHint("Use NONE to denote the missing argument of a unary operator.")
	case len(operands) != 2:
		return 0, sqlerr.New(sqlerr.TooManyArguments, "too many arguments").WithHint("Provide two argument types for operator.")
	}
	found, err := env.operators(name, true)
	if err != nil {
		return 0, err
	}
	for _, op := range found {
		if op.Left == operands[0] && op.Right == operands[1] {
			return op.OID, nil
		}
	}
	return 0, missing(sqlerr.UndefinedFunction, "operator does not exist: %s", s)
}

// nameAndTypes reads name(type, type …); with none, NONE stands for no type.
func (env *Env) nameAndTypes(s string, none bool) (name string, list []types.OID, err error) {
	bad := func(what string) (string, []types.OID, error) {
		return "", nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "expected a %s", what)
	}
	open, quoted := -1, false
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		} else if s[i] == '(' && !quoted {
			open = i
			break
		}
	}
	if open < 0 {
		return bad("left parenthesis")
	}
	if splitName(s[:open]) == nil {
		return "", nil, errNameSyntax()
	}
	rest, ok := strings.CutSuffix(strings.TrimRight(s[open+1:], nameSpace), ")")
	if !ok {
		return bad("right parenthesis")
	}
	rest = strings.TrimLeft(rest, nameSpace)
	for more := rest != ""; more; {
		if rest == "" {
			return bad("type name")
		}
		end, depth := 0, 0
		for quoted = false; end < len(rest); end++ {
			switch c := rest[end]; {
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '(' || c == '[':
				depth++
			case c == ')' || c == ']':
				depth--
			}
			if rest[end] == ',' && !quoted && depth == 0 {
				break
			}
		}
		typ := strings.TrimRight(rest[:end], nameSpace)
		if more = end < len(rest); more {
			rest = strings.TrimLeft(rest[end+1:], nameSpace)
		}
		if none && strings.EqualFold(typ, "none") {
			list = append(list, 0)
			continue
		}
		o, err := env.TypeName(typ)
		if err != nil {
			return "", nil, err
		}
		list = append(list, o)
	}
	return s[:open], list, nil
}
