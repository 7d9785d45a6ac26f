package catalog

import (
	"cmp"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Extension is what CREATE EXTENSION made: a set of functions and types that the server
// has the implementations of and that a database can do without. The functions are
// objects that carry its name; they come and go with it. Its types, operators, casts
// and operator classes are those of its definition.
type Extension struct {
	Common  // Schema is where the members are
	Version string
}

// Extensions returns the extensions of the database in the order of their names.
func (s *Snapshot) Extensions(db types.OID) []*Extension {
	out := objectsOf(s, func(e *Extension) bool { return e.DB == db })
	slices.SortFunc(out, func(a, b *Extension) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Extension returns the extension of that name, or nil.
func (s *Snapshot) Extension(db types.OID, name string) *Extension {
	e, _ := s.objs.get(s.names.get(nameKey{space: spaceExtension, db: db, name: name})).(*Extension)
	return e
}

// Members returns the functions of an extension in OID order.
func (s *Snapshot) Members(e *Extension) []*Function {
	return slices.DeleteFunc(slices.Clone(s.AllFunctions(e.DB)), func(f *Function) bool { return f.Extension != e.Name })
}

func (s *Snapshot) linkExtension(e *Extension) error {
	for _, in := range types.ExtensionTypes(e.Name) {
		if err := s.name(nameKey{spaceType, e.DB, e.Schema, in.Name}, in.OID, typeExists(in.Name)); err != nil {
			return err
		}
	}
	return s.name(nameKey{space: spaceExtension, db: e.DB, name: e.Name}, e.OID, func() *sqlerr.Error {
		return sqlerr.New(sqlerr.DuplicateObject, "extension \"%s\" already exists", e.Name)
	})
}

func (s *Snapshot) unlinkExtension(e *Extension) {
	for _, in := range types.ExtensionTypes(e.Name) {
		s.unname(nameKey{spaceType, e.DB, e.Schema, in.Name}, in.OID)
	}
	s.unname(nameKey{space: spaceExtension, db: e.DB, name: e.Name}, e.OID)
}

func (s *Snapshot) validateExtension(e *Extension) error {
	if AvailableExtension(e.Name) == nil {
		return sqlerr.Unsupported(-1, "extension \"%s\"", e.Name)
	}
	if s.Schema(e.DB, e.Schema) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", e.Schema)
	}
	return nil
}

// CreateExtension records an extension and its functions in a schema.
func (c *Change) CreateExtension(def *ExtensionDef, schema string) error {
	if err := c.creatable(schema, def.Name); err != nil {
		return err
	}
	e := &Extension{Common: c.common(schema, def.Name), Version: def.Version}
	e.Comment = def.Comment
	if err := c.put(e); err != nil {
		return err
	}
	for _, p := range def.Procs() {
		f := &Function{Common: Common{Schema: schema, Name: p.Name}, ArgNames: p.ArgNames, Ret: types.Of(p.Ret), Volatile: p.Volatile, Strict: p.Strict,
			Language: LanguageInternal, Body: p.Hidden, Cost: float64(p.Cost), Parallel: p.Parallel, Extension: def.Name}
		if err := c.member(f, p.Args); err != nil {
			return err
		}
	}
	for _, b := range def.bodies {
		f := &Function{Common: Common{Schema: schema, Name: b.name}, Ret: types.Of(b.ret), RetSet: b.rows > 0, Rows: b.rows, Volatile: 'i', Strict: !b.lax,
			Language: LanguageSQL, Body: b.body, Parallel: 's', Extension: def.Name}
		args := b.args
		if b.out != nil {
			f.ArgNames, f.ArgModes = append([]string{b.in}, b.out...), []byte{'i'}
			for range b.out {
				args, f.ArgModes = append(slices.Clip(args), types.OText), append(f.ArgModes, 'o')
			}
		}
		if err := c.member(f, args); err != nil {
			return err
		}
	}
	for _, a := range def.aggregates {
		agg := &AggregateDef{State: types.Of(a.of), Trans: def.function(a.trans, oids(a.of, a.of))}
		for _, o := range def.Operators() {
			if o.Name == a.sortOp && o.Left == a.of && o.Right == a.of {
				agg.SortOp = o.OID
			}
		}
		agg.Combine = agg.Trans
		f := &Function{Common: Common{Schema: schema, Name: a.name}, Ret: types.Of(a.of), Volatile: 'i', Language: LanguageInternal,
			Body: "aggregate_dummy", Cost: 1, Parallel: 's', Agg: agg, Extension: def.Name}
		if err := c.member(f, oids(a.of)); err != nil {
			return err
		}
	}
	return nil
}

// member records a function of an extension.
func (c *Change) member(f *Function, args []types.OID) error {
	for _, a := range args {
		f.Args = append(f.Args, types.Of(a))
	}
	_, err := c.CreateFunction(f, false)
	return err
}

// MoveExtension brings an extension and its functions into another schema.
func (c *Change) MoveExtension(e *Extension, schema string) error {
	// Stored texts name the schema of types and operators.
	inUse := false
	for _, in := range types.ExtensionTypes(e.Name) {
		for _, d := range c.dependents(node{kind: nodeType, oid: in.OID}) {
			f, isFunction := c.snap.objs.get(d.oid).(*Function)
			inUse = inUse || !(isFunction && f.Extension == e.Name) && d.oid != in.Array
		}
	}
	if inUse {
		return sqlerr.Unsupported(-1, "SET SCHEMA of the extension \"%s\", whose types are used,", e.Name)
	}
	n := *e
	n.Schema = schema
	put := []Object{&n}
	for _, f := range c.snap.Members(e) {
		for _, other := range c.snap.Functions(c.DB, schema, f.Name) {
			if sameArgs(other.inputs(), f.inputs()) {
				return sqlerr.New(sqlerr.DuplicateFunction, "function %s already exists in schema \"%s\"", c.functionText(f), schema)
			}
		}
		m := *f
		m.Schema = schema
		put = append(put, &m)
	}
	return c.put(put...)
}

// DropExtensions drops extensions with their functions.
func (c *Change) DropExtensions(cascade bool, names ...string) error {
	var nodes []node
	for _, name := range names {
		e := c.snap.Extension(c.DB, name)
		if e == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "extension \"%s\" does not exist", name)
		}
		nodes = append(nodes, node{kind: nodePart, oid: e.OID})
	}
	return c.drop(cascade, nodes...)
}

// membersOf adds the functions of an extension.
func (c *Change) membersOf(oid types.OID, add func(bool, node)) {
	if e, ok := c.snap.objs.get(oid).(*Extension); ok {
		for _, f := range c.snap.Members(e) {
			add(true, node{kind: nodeFunction, oid: f.OID})
		}
		for _, in := range types.ExtensionTypes(e.Name) {
			if in.Array != 0 {
				add(true, node{kind: nodeType, oid: in.OID})
			}
		}
		c.exclusionsOf(e, add)
	}
}

func (w *xmlWriter) extension(e *Extension) {
	a := w.common(&e.Common, "extensionName")
	a.set("version", e.Version)
	w.ownership(&a, &e.Common)
	w.empty("Extension", a)
}

func (r *xmlReader) extension(e *element, c Common) Object {
	x := &Extension{Common: r.common(e, c, "extensionName")}
	r.schemaOf(&x.Common)
	x.Version = r.need(e, "version")
	r.known(e)
	return x
}
