package pgcatalog

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Address names an object as pg_depend does: its catalog, its OID, and the number
// of a column or 0.
type Address struct {
	Class, OID types.OID
	Sub        int
}

// Identity is what pg_describe_object, pg_identify_object and
// pg_identify_object_as_address say about an object. Found is false when there is
// no such object; Type is known all the same.
type Identity struct {
	Type         string
	Schema, Name string // "" for none; a name is given where it is unique in its schema
	Text         string // the identity
	Description  string // "" when the object lacks
	Names, Args  []string
	Found        bool
}

// OIDs of the system relations whose objects have addresses.
const (
	oidPgAm          types.OID = 2601
	oidPgAmop        types.OID = 2602
	oidPgAmproc      types.OID = 2603
	classCast        types.OID = 2605
	oidPgCollation   types.OID = 3456
	oidPgConversion  types.OID = 2607
	oidPgDefaultACL  types.OID = 826
	oidPgLanguage    types.OID = 2612
	oidPgOpclass     types.OID = 2616
	classOperator    types.OID = 2617
	oidPgOpfamily    types.OID = 2753
	oidPgTablespace  types.OID = 1213
	oidPgTrigger     types.OID = 2620
	oidPgLargeobject types.OID = 2613
	oidPgParameter   types.OID = 6243
)

// absentClasses are catalogs without objects here, with what their objects are
// called.
var absentClasses = map[types.OID]string{
	oidPgLargeobject: "large object", 2328: "foreign-data wrapper", 1417: "server", 1418: "user mapping", 3466: "event trigger", 6104: "publication",
	6237: "publication namespace", 6106: "publication relation", 6100: "subscription", 3576: "transform",
}

// Identify finds an object by its address. The error tells of a catalog whose rows
// are no objects.
func (env *Env) Identify(a Address) (Identity, error) {
	if a.Sub != 0 && a.Class != oidPgClass {
		return Identity{}, sqlerr.New(sqlerr.InternalError, "invalid non-zero objectSubId for object class %d", a.Class)
	}
	switch a.Class {
	case oidPgClass:
		return env.identifyClass(a), nil
	case oidPgProc:
		return env.identifyProc(a.OID), nil
	case oidPgType:
		return env.identifyType(a.OID), nil
	case oidPgConstraint:
		return env.identifyConstraint(a.OID), nil
	case oidPgAttrdef:
		return env.identifyDefault(a.OID), nil
	case oidPgRewrite:
		return env.identifyRule(a.OID), nil
	case oidPgDefaultACL:
		return env.identifyDefaultACL(a.OID), nil
	case oidPgTrigger:
		return env.identifyTrigger(a.OID), nil
	case oidPgExtension:
		return env.identifyExtension(a.OID), nil
	case oidPgTSConfig, oidPgTSDict, oidPgTSParser, oidPgTSTemplate:
		return identifySearch(a), nil
	case oidPgPolicy:
		return env.identifyPolicy(a.OID), nil
	case oidPgStatisticExt:
		return env.identifyStatistics(a.OID), nil
	case oidPgLargeobject:
		if env.hasLargeObject(a.OID) {
			text := strconv.FormatUint(uint64(a.OID), 10)
			return Identity{Type: "large object", Text: text, Description: "large object " + text, Names: []string{text}, Found: true}, nil
		}
		return Identity{Type: "large object"}, nil
	case oidPgParameter:
		for _, p := range env.Snap.Parameters() {
			if parameterOID(p) == a.OID { // its name is one of no list of words
				return Identity{Type: "parameter ACL", Text: p.Name, Description: "parameter " + p.Name, Names: []string{p.Name}, Found: true}, nil
			}
		}
		return Identity{Type: "parameter ACL"}, nil
	case oidPgNamespace:
		if n := env.Snap.SchemaByOID(a.OID); n != nil {
			return plainIdentity("schema", n.Name), nil
		}
		return Identity{Type: "schema"}, nil
	case oidPgAuthid:
		if r, ok := env.Snap.Object(a.OID).(*catalog.Role); ok {
			return plainIdentity("role", r.Name), nil
		}
		return Identity{Type: "role"}, nil
	case oidPgDatabase:
		if d, ok := env.Snap.Object(a.OID).(*catalog.Database); ok {
			return plainIdentity("database", d.Name), nil
		}
		return Identity{Type: "database"}, nil
	}
	if id, ok := env.identifyBuiltin(a); ok {
		return id, nil
	}
	if kind := absentClasses[a.Class]; kind != "" {
		return Identity{Type: kind}, nil
	}
	return Identity{}, sqlerr.New(sqlerr.InternalError, "unrecognized object class: %d", a.Class)
}

// plainIdentity is the identity of an object that is in no schema.
func plainIdentity(kind, name string) Identity {
	return Identity{Type: kind, Name: catalog.QuoteIdent(name), Text: catalog.QuoteIdent(name), Description: kind + " " + name,
		Names: []string{name}, Found: true}
}

// schemaIdentity is the identity of an object of a schema whose name is unique there.
func schemaIdentity(kind, schema, name, shown string) Identity {
	return Identity{Type: kind, Schema: catalog.QuoteIdent(schema), Name: catalog.QuoteIdent(name), Text: catalog.QualifiedIdent(schema, name),
		Description: kind + " " + shown, Names: []string{schema, name}, Found: true}
}

// relationKinds are what the kinds of pg_class are called.
var relationKinds = map[byte]string{'r': "table", 'p': "table", 'i': "index", 'I': "index", 'S': "sequence", 'v': "view",
	'm': "materialized view", 'c': "composite type", 't': "toast table"}

func (env *Env) identifyClass(a Address) Identity {
	schema, name, ok := env.RelationName(a.OID)
	if !ok {
		return Identity{Type: "relation"}
	}
	kind := "table"
	if c, ok := env.class(a.OID); ok {
		kind = relationKinds[c.kind]
	}
	id := schemaIdentity(kind, schema, name, env.Snap.RelationText(env.DB, env.SearchPath, schema, name))
	if a.Sub == 0 {
		return id
	}
	col, ok := env.attributeName(a)
	if !ok {
		return Identity{Type: kind + " column"}
	}
	id.Type += " column"
	id.Text += "." + catalog.QuoteIdent(col)
	id.Description = "column " + col + " of " + id.Description
	id.Names = append(id.Names, col)
	return id
}

// attributeName returns the name of a column of whatever pg_class has.
func (env *Env) attributeName(a Address) (string, bool) {
	for _, s := range systemAttributes {
		if s.num == a.Sub {
			return s.name, true
		}
	}
	var cols []catalog.Column
	if r := ByOID(a.OID); r != nil {
		cols = r.Columns
	} else if r := env.Snap.RelationByOID(env.DB, a.OID); r != nil {
		cols = r.RelColumns()
	} else if t, ix := env.Snap.IndexByOID(env.DB, a.OID); ix != nil {
		names := t.IndexColumnNames(ix)
		if a.Sub < 1 || a.Sub > len(names) {
			return "", false
		}
		return names[a.Sub-1], true
	} else {
		for _, u := range env.Snap.UserTypes(env.DB) {
			if u.Kind == 'c' && u.RelOID == a.OID {
				cols = u.Columns
			}
		}
		if _, ok := env.toastByOID(a.OID); ok {
			cols = toastColumns
		}
	}
	if a.Sub < 1 || a.Sub > len(cols) || cols[a.Sub-1].Dropped {
		return "", false
	}
	return cols[a.Sub-1].Name, true
}

// sqlSpelled are the types whose names are words of SQL, which stand without schema.
var sqlSpelled = map[types.OID]bool{
	types.OBit: true, types.OBool: true, types.OBpchar: true, types.OFloat4: true, types.OFloat8: true, types.OInt2: true, types.OInt4: true,
	types.OInt8: true, types.ONumeric: true, types.OInterval: true, types.OTime: true, types.OTimetz: true, types.OTimestamp: true,
	types.OTimestamptz: true, types.OVarbit: true, types.OVarchar: true,
}

// qualifiedType is a type's name with its schema, unless it is a word of SQL.
func (env *Env) qualifiedType(o types.OID) string {
	in := env.Snap.TypeInfo(o)
	switch {
	case in == nil:
		return "-"
	case in.Category == 'A' && in.Elem != 0:
		return env.qualifiedType(in.Elem) + "[]"
	case sqlSpelled[o]:
		return types.FormatTypeNoMod(o)
	}
	return catalog.QualifiedIdent(env.Snap.TypeSchema(env.DB, o), in.Name)
}

func (env *Env) qualifiedTypes(list []types.OID) []string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = env.qualifiedType(o)
	}
	return out
}

func (env *Env) identifyProc(o types.OID) Identity {
	schema, name, kind := catalog.SchemaPgCatalog, "", byte('f')
	var in []types.OID
	if p := catalog.ProcByOID(o); p != nil {
		name, in, kind = p.Name, p.Args, p.Kind
	} else if f, ok := env.Snap.Object(o).(*catalog.Function); ok && f.DB == env.DB {
		schema, name, in = f.Schema, f.Name, typeOIDs(f.Inputs())
		switch {
		case f.Agg != nil:
			kind = 'a'
		case f.Procedure:
			kind = 'p'
		}
	} else {
		return Identity{Type: "routine"}
	}
	id := Identity{Type: "function", Schema: catalog.QuoteIdent(schema), Names: []string{schema, name}, Args: env.qualifiedTypes(in), Found: true}
	switch kind {
	case 'a':
		id.Type = "aggregate"
	case 'p':
		id.Type = "procedure"
	}
	id.Text = catalog.QualifiedIdent(schema, name) + "(" + strings.Join(id.Args, ",") + ")"
	shown, _ := env.procOut(o, true)
	id.Description = "function " + shown
	return id
}

func (env *Env) identifyType(o types.OID) Identity {
	in := env.Snap.TypeInfo(o)
	if in == nil {
		return Identity{Type: "type"}
	}
	text := env.qualifiedType(o)
	return Identity{Type: "type", Schema: catalog.QuoteIdent(env.Snap.TypeSchema(env.DB, o)), Name: catalog.QuoteIdent(in.Name), Text: text,
		Description: "type " + env.FormatTypeNoMod(o), Names: []string{text}, Found: true}
}

// constraintOf finds a constraint: its name and the table or the domain that has it.
func (env *Env) constraintOf(o types.OID) (name string, rel types.OID, dom *catalog.UserType) {
	env.tables(func(oid types.OID, t *catalog.Table) {
		for c, n := range t.Constraints() {
			if c == o {
				name, rel = n, oid
			}
		}
		for _, k := range t.ForeignKeys {
			for i := range k.Targets {
				if k.Targets[i].OID == o {
					name, rel = k.Targets[i].Name, oid
				}
			}
		}
	})
	if rel != 0 {
		return name, rel, nil
	}
	for _, u := range env.checkedTypes() {
		for _, k := range u.Checks {
			if k.OID == o {
				return k.Name, 0, u
			}
		}
	}
	return "", 0, nil
}

func (env *Env) identifyConstraint(o types.OID) Identity {
	name, rel, dom := env.constraintOf(o)
	switch {
	case rel != 0:
		r := env.identifyClass(Address{Class: oidPgClass, OID: rel})
		return Identity{Type: "table constraint", Schema: r.Schema, Text: catalog.QuoteIdent(name) + " on " + r.Text,
			Description: "constraint " + name + " on " + r.Description, Names: append(r.Names, name), Found: true}
	case dom != nil:
		t := env.identifyType(dom.OID)
		return Identity{Type: "domain constraint", Schema: t.Schema, Text: catalog.QuoteIdent(name) + " on " + t.Text,
			Description: "constraint " + name, Names: t.Names, Args: []string{name}, Found: true}
	}
	return Identity{Type: "constraint"}
}

func (env *Env) identifyDefault(o types.OID) Identity {
	id := Identity{Type: "default value"}
	env.withDefaults(func(rel types.OID, cols []catalog.Column) {
		for i := range cols {
			if cols[i].Default == "" || cols[i].Dropped || synthOID("attrdef", rel, i+1) != o {
				continue
			}
			c := env.identifyClass(Address{Class: oidPgClass, OID: rel, Sub: i + 1})
			id.Text, id.Description, id.Names, id.Found = "for "+c.Text, "default value for "+c.Description, c.Names, true
		}
	})
	return id
}

func (env *Env) identifyRule(o types.OID) Identity {
	id := Identity{Type: "rule"}
	for _, r := range catalog.Rules() {
		if r.OID == o {
			id.on(r.Name, env.identifyClass(Address{Class: oidPgClass, OID: r.Relation}))
			return id
		}
	}
	for _, r := range env.Snap.Relations(env.DB) {
		v, ok := r.(*catalog.View)
		if !ok || synthOID("rewrite", v.OID, 0) != o {
			continue
		}
		id.on(ruleName, env.identifyClass(Address{Class: oidPgClass, OID: v.OID}))
	}
	return id
}

// ruleName is the name of a view's rule.
const ruleName = "_RETURN"

// defaultACLWords are what default privileges are for.
var defaultACLWords = map[byte]string{'r': "relations", 'S': "sequences", 'f': "functions", 'T': "types", 'n': "schemas"}

func (env *Env) identifyDefaultACL(o types.OID) Identity {
	id := Identity{Type: "default acl"}
	for i, p := range env.defaultPrivileges() {
		if synthOID("defaultacl", env.DB, i) != o {
			continue
		}
		kind := byte(p.Kind)
		if p.Kind == catalog.ACLSequence {
			kind = 'S'
		}
		id.Found, id.Names, id.Args = true, []string{p.Role}, []string{string(kind)}
		id.Text = "for role " + catalog.QuoteIdent(p.Role)
		id.Description = "default privileges on new " + defaultACLWords[kind] + " belonging to role " + p.Role
		if p.Schema != "" {
			id.Text += " in schema " + catalog.QuoteIdent(p.Schema)
			id.Description += " in schema " + p.Schema
			id.Names = append(id.Names, p.Schema)
		}
		word := defaultACLWords[kind]
		if kind == 'r' {
			word = "tables"
		}
		id.Text += " on " + word
	}
	return id
}

// identifyBuiltin finds objects of the catalogs that only the system fills.
func (env *Env) identifyBuiltin(a Address) (Identity, bool) {
	switch a.Class {
	case classCast:
		for _, c := range env.allCasts() {
			if c.OID == a.OID {
				s, t := env.qualifiedType(c.Source), env.qualifiedType(c.Target)
				return Identity{Type: "cast", Text: "(" + s + " AS " + t + ")", Names: []string{s}, Args: []string{t}, Found: true,
					Description: "cast from " + env.FormatTypeNoMod(c.Source) + " to " + env.FormatTypeNoMod(c.Target)}, true
			}
		}
		return Identity{Type: "cast"}, true
	case oidPgCollation:
		if c := catalog.CollationByOID(a.OID); c != nil {
			return schemaIdentity("collation", catalog.SchemaPgCatalog, c.Name, catalog.QuoteIdent(c.Name)), true
		}
		return Identity{Type: "collation"}, true
	case oidPgConversion:
		for _, c := range catalog.Conversions() {
			if c.OID == a.OID {
				return schemaIdentity("conversion", catalog.SchemaPgCatalog, c.Name, catalog.QuoteIdent(c.Name)), true
			}
		}
		return Identity{Type: "conversion"}, true
	case oidPgLanguage:
		for _, l := range catalog.Languages() {
			if l.OID == a.OID {
				return plainIdentity("language", l.Name), true
			}
		}
		return Identity{Type: "language"}, true
	case oidPgAm:
		if name := amName(a.OID); name != "" {
			return plainIdentity("access method", name), true
		}
		return Identity{Type: "access method"}, true
	case oidPgTablespace:
		switch a.OID {
		case oidDefaultTablespace:
			return plainIdentity("tablespace", "pg_default"), true
		case oidGlobalTablespace:
			return plainIdentity("tablespace", "pg_global"), true
		}
		return Identity{Type: "tablespace"}, true
	case classOperator:
		return env.identifyOperator(a.OID), true
	case oidPgOpclass:
		for _, c := range catalog.Opclasses() {
			if c.OID == a.OID {
				return methodIdentity("operator class", c.Name, c.Method), true
			}
		}
		return Identity{Type: "operator class"}, true
	case oidPgOpfamily:
		return identifyOpfamily(a.OID), true
	case oidPgAmop:
		for _, m := range catalog.Amops() {
			if m.OID == a.OID {
				shown, _ := env.RegOut(types.ORegoperator, m.Operator)
				return env.memberIdentity("operator", m.Strategy, m.Family, m.Left, m.Right, shown), true
			}
		}
		return Identity{Type: "operator of access method"}, true
	case oidPgAmproc:
		for _, m := range catalog.Amprocs() {
			if m.OID == a.OID {
				shown, _ := env.RegOut(types.ORegprocedure, m.Proc)
				return env.memberIdentity("function", m.Num, m.Family, m.Left, m.Right, shown), true
			}
		}
		return Identity{Type: "function of access method"}, true
	}
	return Identity{}, false
}

func amName(o types.OID) string {
	for _, m := range catalog.Ams() {
		if m.OID == o {
			return m.Name
		}
	}
	return ""
}

func (env *Env) identifyOperator(o types.OID) Identity {
	id := Identity{Type: "operator"}
	op, schema := env.anyOperator(o)
	if op == nil {
		return id
	}
	id.Found, id.Schema, id.Names = true, catalog.QuoteIdent(schema), []string{schema, op.Name}
	left := "NONE"
	if op.Left != 0 {
		left = env.qualifiedType(op.Left)
		id.Args = append(id.Args, left)
	}
	id.Args = append(id.Args, env.qualifiedType(op.Right))
	id.Text = catalog.QuoteIdent(schema) + "." + op.Name + "(" + left + "," + env.qualifiedType(op.Right) + ")"
	shown, _ := env.RegOut(types.ORegoperator, o)
	id.Description = "operator " + shown
	return id
}

// methodIdentity is the identity of an operator class or family of an access method.
func methodIdentity(kind, name string, method types.OID) Identity {
	am := amName(method)
	id := schemaIdentity(kind, catalog.SchemaPgCatalog, name, catalog.QuoteIdent(name))
	id.Text += " USING " + catalog.QuoteIdent(am)
	id.Description += " for access method " + am
	id.Names = []string{am, catalog.SchemaPgCatalog, name}
	return id
}

func identifyOpfamily(o types.OID) Identity {
	for _, f := range catalog.Opfamilies() {
		if f.OID == o {
			return methodIdentity("operator family", f.Name, f.Method)
		}
	}
	return Identity{Type: "operator family"}
}

// memberIdentity is the identity of an operator or function of a family.
func (env *Env) memberIdentity(what string, n int, family, left, right types.OID, shown string) Identity {
	f := identifyOpfamily(family)
	number := what + " " + strconv.Itoa(n)
	return Identity{Type: what + " of access method", Found: true, Names: append(f.Names, strconv.Itoa(n)),
		Args:        env.qualifiedTypes([]types.OID{left, right}),
		Text:        number + " (" + env.qualifiedType(left) + ", " + env.qualifiedType(right) + ") of " + f.Text,
		Description: number + " (" + env.FormatTypeNoMod(left) + ", " + env.FormatTypeNoMod(right) + ") of " + f.Description + ": " + shown}
}
