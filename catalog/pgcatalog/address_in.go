package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// addressForm says how names and arguments of a kind of object are counted.
type addressForm struct {
	names, least int // exactly so many names, or at least so many; 0 is any number
	args         int // exactly so many arguments; -1 is any number
	find         func(*Env, string, []string, []string) (Address, error)
}

// addressForms are the kinds of objects that pg_get_object_address knows.
var addressForms = map[string]addressForm{
	"table": relationForm, "index": relationForm, "sequence": relationForm, "view": relationForm, "materialized view": relationForm,
	"foreign table": relationForm,
	"table column":  {least: 1, args: -1, find: (*Env).columnAddress}, "foreign table column": {least: 1, args: -1, find: (*Env).columnAddress},
	"default value": {least: 1, args: -1, find: (*Env).defaultAddress},
	"function":      routineForm, "procedure": routineForm, "aggregate": routineForm,
	"type":                      {names: 1, args: -1, find: (*Env).typeAddress},
	"cast":                      {names: 1, args: 1, find: (*Env).castAddress},
	"collation":                 {least: 1, args: -1, find: (*Env).collationAddress},
	"conversion":                {least: 1, args: -1, find: (*Env).conversionAddress},
	"table constraint":          partForm,
	"rule":                      partForm,
	"trigger":                   partForm,
	"policy":                    partForm,
	"domain constraint":         {names: 1, args: 1, find: (*Env).domainConstraintAddress},
	"operator":                  {least: 1, args: 2, find: (*Env).operatorAddress},
	"operator class":            {least: 2, args: -1, find: (*Env).methodAddress},
	"operator family":           {least: 2, args: -1, find: (*Env).methodAddress},
	"operator of access method": {least: 3, args: 2, find: (*Env).memberAddress},
	"function of access method": {least: 3, args: 2, find: (*Env).memberAddress},
	"large object":              {names: 1, args: -1, find: (*Env).largeObjectAddress},
	"language":                  plainForm, "access method": plainForm, "schema": plainForm, "role": plainForm, "database": plainForm,
	"tablespace": plainForm, "foreign-data wrapper": plainForm, "server": plainForm, "extension": plainForm, "event trigger": plainForm,
	"publication": plainForm, "subscription": plainForm, "parameter ACL": plainForm,
	"text search parser": searchForm, "text search dictionary": searchForm, "text search template": searchForm,
	"text search configuration": searchForm, "statistics object": {least: 1, args: -1, find: (*Env).statisticsAddress},
	"user mapping":          {names: 1, args: 1, find: (*Env).absentPair},
	"publication relation":  {least: 1, args: 1, find: (*Env).publicationAddress},
	"publication namespace": {names: 1, args: 1, find: (*Env).publicationAddress},
	"transform":             {names: 1, args: 1, find: (*Env).transformAddress},
	"default acl":           {least: 1, args: 1, find: (*Env).defaultACLAddress},
}

var (
	relationForm = addressForm{least: 1, args: -1, find: (*Env).relationAddress}
	routineForm  = addressForm{least: 1, args: -1, find: (*Env).routineAddress}
	partForm     = addressForm{least: 1, args: -1, find: (*Env).partAddress}
	plainForm    = addressForm{names: 1, args: -1, find: (*Env).plainAddress}
	searchForm   = addressForm{least: 1, args: -1, find: (*Env).searchAddress}
)

// unsupportedKinds are those that pg_identify_object_as_address names and
// pg_get_object_address does not take.
var unsupportedKinds = []string{"toast table", "composite type", "index column", "sequence column", "toast table column", "view column",
	"materialized view column", "composite type column"}

func badParameter(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

// ObjectAddress is pg_get_object_address.
func (env *Env) ObjectAddress(kind string, names, args []string) (Address, error) {
	if slices.Contains(unsupportedKinds, kind) {
		return Address{}, badParameter("unsupported object type \"%s\"", kind)
	}
	form, ok := addressForms[kind]
	switch {
	case !ok:
		return Address{}, badParameter("unrecognized object type \"%s\"", kind)
	case form.names > 0 && len(names) != form.names:
		return Address{}, badParameter("name list length must be exactly %d", form.names)
	case form.least > 0 && len(names) < form.least:
		return Address{}, badParameter("name list length must be at least %d", form.least)
	case form.args >= 0 && len(args) != form.args:
		return Address{}, badParameter("argument list length must be exactly %d", form.args)
	}
	return form.find(env, kind, names, args)
}

// nameText spells a name in parts as SQL does.
func nameText(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = catalog.QuoteIdent(n)
	}
	return strings.Join(out, ".")
}

var kindArticles = map[string]string{"table": "a table", "index": "an index", "sequence": "a sequence", "view": "a view",
	"materialized view": "a materialized view", "foreign table": "a foreign table"}

func (env *Env) relationAddress(kind string, names, _ []string) (Address, error) {
	o, err := env.classIn(nameText(names))
	if err != nil {
		return Address{}, err
	}
	if c, ok := env.class(o); !ok || relationKinds[c.kind] != kind {
		return Address{}, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s", names[len(names)-1], kindArticles[kind])
	}
	return Address{Class: oidPgClass, OID: o}, nil
}

// attributeNumber finds a column by its name; 0 when there is none.
func (env *Env) attributeNumber(rel types.OID, name string) int {
	c, _ := env.class(rel)
	for i := 1; i <= c.natts; i++ {
		if n, ok := env.attributeName(Address{OID: rel, Sub: i}); ok && n == name {
			return i
		}
	}
	for _, s := range systemAttributes {
		if s.name == name && (c.kind == 'r' || c.kind == 'p' || c.kind == 'm') {
			return s.num
		}
	}
	return 0
}

// column splits a column's name into relation and column.
func (env *Env) column(names []string) (rel types.OID, table, col string, err error) {
	if len(names) < 2 {
		return 0, "", "", sqlerr.New(sqlerr.SyntaxError, "column name must be qualified")
	}
	n := len(names) - 1
	rel, err = env.classIn(nameText(names[:n]))
	return rel, strings.Join(names[:n], "."), names[n], err
}

func (env *Env) columnAddress(_ string, names, _ []string) (Address, error) {
	rel, table, col, err := env.column(names)
	if err != nil {
		return Address{}, err
	}
	if n := env.attributeNumber(rel, col); n != 0 {
		return Address{oidPgClass, rel, n}, nil
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", col, table)
}

func (env *Env) defaultAddress(_ string, names, _ []string) (Address, error) {
	rel, table, col, err := env.column(names)
	if err != nil {
		return Address{}, err
	}
	out := Address{Class: oidPgAttrdef}
	n := env.attributeNumber(rel, col)
	env.withDefaults(func(oid types.OID, cols []catalog.Column) {
		if oid == rel && n > 0 && cols[n-1].Default != "" {
			out.OID = synthOID("attrdef", rel, n)
		}
	})
	if out.OID == 0 {
		return out, sqlerr.New(sqlerr.UndefinedColumn, "default value for column \"%s\" of relation \"%s\" does not exist", col, table)
	}
	return out, nil
}

// typeOIDsOf reads names of types.
func (env *Env) typeOIDsOf(list []string) ([]types.OID, error) {
	var out []types.OID
	for _, s := range list {
		o, err := env.TypeName(s)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (env *Env) typeNames(list []types.OID, sep string) string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = env.FormatTypeNoMod(o)
	}
	return strings.Join(out, sep)
}

func (env *Env) routineAddress(kind string, names, args []string) (Address, error) {
	want, err := env.typeOIDsOf(args)
	if err != nil {
		return Address{}, err
	}
	oids, lists, err := env.functions(nameText(names))
	if err != nil {
		return Address{}, err
	}
	text := strings.Join(names, ".") + "(" + env.typeNames(want, ", ") + ")"
	i := slices.IndexFunc(lists, func(l []types.OID) bool { return slices.Equal(l, want) })
	if i < 0 {
		return Address{}, sqlerr.New(sqlerr.UndefinedFunction, "%s %s does not exist", kind, text)
	}
	id := env.identifyProc(oids[i])
	switch {
	case kind == "aggregate" && id.Type != kind:
		return Address{}, sqlerr.New(sqlerr.WrongObjectType, "function %s is not an aggregate", text)
	case kind == "procedure" && id.Type != kind:
		return Address{}, sqlerr.New(sqlerr.WrongObjectType, "%s is not a procedure", text)
	case kind == "function" && id.Type == "procedure":
		return Address{}, sqlerr.New(sqlerr.WrongObjectType, "%s is not a function", text)
	}
	return Address{Class: oidPgProc, OID: oids[i]}, nil
}

func (env *Env) typeAddress(_ string, names, _ []string) (Address, error) {
	o, err := env.TypeName(names[0])
	return Address{Class: oidPgType, OID: o}, err
}

func (env *Env) castAddress(_ string, names, args []string) (Address, error) {
	t, err := env.typeOIDsOf([]string{names[0], args[0]})
	if err != nil {
		return Address{}, err
	}
	for _, c := range env.allCasts() {
		if c.Source == t[0] && c.Target == t[1] {
			return Address{Class: classCast, OID: c.OID}, nil
		}
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "cast from type %s to type %s does not exist", env.FormatTypeNoMod(t[0]), env.FormatTypeNoMod(t[1]))
}

func (env *Env) collationAddress(_ string, names, _ []string) (Address, error) {
	o, err := env.collationIn(nameText(names))
	return Address{Class: oidPgCollation, OID: o}, err
}

// builtinName takes the schema off the name of something that only the system's
// schema has; false when it names another one.
func (env *Env) builtinName(names []string) (name string, ok bool, err error) {
	schema, name, err := env.objectName(nameText(names))
	if err == nil {
		err = env.usable(schema)
	}
	return name, schema == "" || schema == catalog.SchemaPgCatalog, err
}

func noObject(kind string, names []string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" does not exist", kind, strings.Join(names, "."))
}

func (env *Env) conversionAddress(kind string, names, _ []string) (Address, error) {
	name, ok, err := env.builtinName(names)
	if err != nil {
		return Address{}, err
	}
	for _, c := range catalog.Conversions() {
		if ok && c.Name == name {
			return Address{Class: oidPgConversion, OID: c.OID}, nil
		}
	}
	return Address{}, noObject(kind, names)
}

// partAddress finds what a relation has: a constraint, rule, trigger or policy.
func (env *Env) partAddress(kind string, names, _ []string) (Address, error) {
	if len(names) < 2 {
		return Address{}, sqlerr.New(sqlerr.SyntaxError, "must specify relation and object name")
	}
	n := len(names) - 1
	rel, err := env.classIn(nameText(names[:n]))
	if err != nil {
		return Address{}, err
	}
	_, table, _ := env.RelationName(rel)
	out := Address{}
	switch kind {
	case "table constraint":
		env.tables(func(oid types.OID, t *catalog.Table) {
			for _, o := range env.constraintOIDs(t, names[n]) {
				if oid == rel {
					out = Address{Class: oidPgConstraint, OID: o}
				}
			}
		})
	case "policy":
		if p := env.Snap.Policy(rel, names[n]); p != nil {
			out = Address{Class: oidPgPolicy, OID: p.OID}
		}
	case "rule":
		if _, ok := env.Snap.RelationByOID(env.DB, rel).(*catalog.View); ok && names[n] == ruleName {
			out = Address{Class: oidPgRewrite, OID: synthOID("rewrite", rel, 0)}
		}
		for _, r := range catalog.Rules() {
			if r.Relation == rel && r.Name == names[n] {
				out = Address{Class: oidPgRewrite, OID: r.OID}
			}
		}
	case "trigger":
		env.triggers(func(t *trigger) {
			if t.table == rel && t.name() == names[n] {
				out = Address{Class: oidPgTrigger, OID: t.oid}
			}
		})
	}
	if out.OID != 0 {
		return out, nil
	}
	of := "table"
	if kind == "rule" {
		of = "relation"
	}
	return out, sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" for %s \"%s\" does not exist", strings.TrimPrefix(kind, "table "), names[n], of, table)
}

// constraintOIDs are the constraints of a name that a table has.
func (env *Env) constraintOIDs(t *catalog.Table, name string) (out []types.OID) {
	for _, u := range t.Uniques {
		if u.Name == name {
			out = append(out, u.OID)
		}
	}
	for _, k := range t.Checks {
		if k.Name == name {
			out = append(out, k.OID)
		}
	}
	for _, k := range t.ForeignKeys {
		if k.Name == name {
			out = append(out, k.OID)
		}
	}
	return out
}

func (env *Env) domainConstraintAddress(_ string, names, args []string) (Address, error) {
	o, err := env.TypeName(names[0])
	if err != nil {
		return Address{}, err
	}
	u := env.Snap.TypeByOID(o)
	if u == nil || u.Kind != 'd' {
		return Address{}, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", names[0])
	}
	for _, k := range u.Checks {
		if k.Name == args[0] {
			return Address{Class: oidPgConstraint, OID: k.OID}, nil
		}
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist", args[0], env.FormatTypeNoMod(o))
}

func (env *Env) operatorAddress(_ string, names, args []string) (Address, error) {
	t, err := env.typeOIDsOf(args)
	if err != nil {
		return Address{}, err
	}
	found, err := env.operators(nameText(names), true)
	if err != nil {
		return Address{}, err
	}
	for _, op := range found {
		if op.Left == t[0] && op.Right == t[1] {
			return Address{Class: classOperator, OID: op.OID}, nil
		}
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", env.FormatTypeNoMod(t[0]), strings.Join(names, "."), env.FormatTypeNoMod(t[1]))
}

// method finds an access method.
func method(name string) (types.OID, error) {
	for _, m := range catalog.Ams() {
		if m.Name == name {
			return m.OID, nil
		}
	}
	return 0, noObject("access method", []string{name})
}

// methodAddress finds an operator class or family.
func (env *Env) methodAddress(kind string, names, _ []string) (Address, error) {
	am, err := method(names[0])
	if err != nil {
		return Address{}, err
	}
	name, ok, err := env.builtinName(names[1:])
	if err != nil {
		return Address{}, err
	}
	if kind == "operator class" {
		for _, c := range catalog.Opclasses() {
			if ok && c.Method == am && c.Name == name {
				return Address{Class: oidPgOpclass, OID: c.OID}, nil
			}
		}
	} else {
		for _, f := range catalog.Opfamilies() {
			if ok && f.Method == am && f.Name == name {
				return Address{Class: oidPgOpfamily, OID: f.OID}, nil
			}
		}
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" does not exist for access method \"%s\"", kind, strings.Join(names[1:], "."), names[0])
}

// memberAddress finds an operator or function of an operator family.
func (env *Env) memberAddress(kind string, names, args []string) (Address, error) {
	last := len(names) - 1
	f, err := env.methodAddress("operator family", names[:last], nil)
	if err != nil {
		return Address{}, err
	}
	n, err := strconv.ParseInt(names[last], 10, 32)
	if err != nil {
		return Address{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type integer: \"%s\"", names[last])
	}
	t, err := env.typeOIDsOf(args)
	if err != nil {
		return Address{}, err
	}
	what, _, _ := strings.Cut(kind, " ")
	if what == "operator" {
		for _, m := range catalog.Amops() {
			if m.Family == f.OID && m.Left == t[0] && m.Right == t[1] && m.Strategy == int(n) {
				return Address{Class: oidPgAmop, OID: m.OID}, nil
			}
		}
	} else {
		for _, m := range catalog.Amprocs() {
			if m.Family == f.OID && m.Left == t[0] && m.Right == t[1] && m.Num == int(n) {
				return Address{Class: oidPgAmproc, OID: m.OID}, nil
			}
		}
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "%s %d (%s, %s) of %s does not exist", what, n, args[0], args[1], identifyOpfamily(f.OID).Description)
}

func (env *Env) largeObjectAddress(_ string, names, _ []string) (Address, error) {
	o, err := strconv.ParseUint(names[0], 10, 32)
	if err != nil {
		return Address{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type oid: \"%s\"", names[0])
	}
	if env.hasLargeObject(types.OID(o)) {
		return Address{Class: oidPgLargeobject, OID: types.OID(o)}, nil
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "large object %d does not exist", o)
}

func (env *Env) hasLargeObject(oid types.OID) (found bool) {
	if env.LargeObjects != nil {
		// What cannot be read is not found.
		_ = env.LargeObjects(oid, func(*catalog.LargeObject) { found = true })
	}
	return found
}

// plainAddress finds what has a name without a schema.
func (env *Env) plainAddress(kind string, names, _ []string) (Address, error) {
	code := sqlerr.UndefinedObject
	out := Address{}
	switch kind {
	case "language":
		for _, l := range catalog.Languages() {
			if l.Name == names[0] {
				out = Address{Class: oidPgLanguage, OID: l.OID}
			}
		}
	case "access method":
		o, err := method(names[0])
		return Address{Class: oidPgAm, OID: o}, err
	case "schema":
		code, out = sqlerr.InvalidSchemaName, Address{Class: oidPgNamespace, OID: env.namespace(names[0])}
	case "role":
		out = Address{Class: oidPgAuthid, OID: env.Snap.RoleOID(names[0])}
	case "database":
		code = sqlerr.InvalidCatalogName
		if d := env.Snap.Database(names[0]); d != nil {
			out = Address{Class: oidPgDatabase, OID: d.OID}
		}
	case "extension":
		out.Class = oidPgExtension
		if e := env.Snap.Extension(env.DB, names[0]); e != nil {
			out.OID = e.OID
		} else if names[0] == catalog.PlpgsqlName {
			out.OID = catalog.OIDPlpgsql
		}
	case "parameter ACL":
		out.Class = oidPgParameter
		for _, p := range env.Snap.Parameters() {
			if strings.EqualFold(p.Name, names[0]) {
				out.OID = parameterOID(p)
			}
		}
	case "tablespace":
		out.Class = oidPgTablespace
		switch names[0] {
		case "pg_default":
			out.OID = oidDefaultTablespace
		case "pg_global":
			out.OID = oidGlobalTablespace
		}
	}
	if out.OID != 0 {
		return out, nil
	}
	return Address{}, sqlerr.New(code, "%s \"%s\" does not exist", kind, names[0])
}

func (env *Env) absentPair(_ string, names, args []string) (Address, error) {
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "user mapping for user \"%s\" on server \"%s\" does not exist", names[0], args[0])
}

func (env *Env) publicationAddress(kind string, names, args []string) (Address, error) {
	var err error
	if kind == "publication relation" {
		_, err = env.classIn(nameText(names))
	} else {
		err = env.existing(names[0])
	}
	if err == nil {
		err = noObject("publication", args)
	}
	return Address{}, err
}

func (env *Env) transformAddress(_ string, names, args []string) (Address, error) {
	o, err := env.TypeName(names[0])
	if err == nil {
		_, err = env.plainAddress("language", args, nil)
	}
	if err == nil {
		err = sqlerr.New(sqlerr.UndefinedObject, "transform for type %s language \"%s\" does not exist", env.FormatTypeNoMod(o), args[0])
	}
	return Address{}, err
}

func (env *Env) defaultACLAddress(_ string, names, args []string) (Address, error) {
	if len(args[0]) != 1 || defaultACLWords[args[0][0]] == "" {
		return Address{}, badParameter("unrecognized default ACL object type \"%s\"", args[0]).(*sqlerr.Error).
			WithHint("Valid object types are \"r\", \"S\", \"f\", \"T\", \"n\".")
	}
	schema := ""
	if len(names) > 1 {
		schema = names[1]
	}
	for i, p := range env.defaultPrivileges() {
		kind := byte(p.Kind)
		if p.Kind == catalog.ACLSequence {
			kind = 'S'
		}
		if p.Role == names[0] && p.Schema == schema && kind == args[0][0] {
			return Address{Class: oidPgDefaultACL, OID: synthOID("defaultacl", env.DB, i)}, nil
		}
	}
	word := defaultACLWords[args[0][0]]
	if args[0] == "r" {
		word = "tables"
	}
	if schema != "" {
		return Address{}, sqlerr.New(sqlerr.UndefinedObject, "default ACL for user \"%s\" in schema \"%s\" on %s does not exist", names[0], schema, word)
	}
	return Address{}, sqlerr.New(sqlerr.UndefinedObject, "default ACL for user \"%s\" on %s does not exist", names[0], word)
}
