package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// OwnOperator is an operator that CREATE OPERATOR made. Without a function it is a
// shell: the commutator or negator of one that exists.
type OwnOperator struct {
	Common
	Left, Right, Result types.T // Left is zero for a prefix operator
	Function            types.OID
	Commutator, Negator types.OID
	Restrict, Join      types.OID // functions that estimate; kept and shown
	Merges, Hashes      bool      // kept and shown
}

// Row is the operator as a row of pg_operator.
func (o *OwnOperator) Row() *Operator {
	kind := byte('b')
	if o.Left.OID == 0 {
		kind = 'l'
	}
	return &Operator{OID: o.OID, Name: o.Name, Kind: kind, Left: o.Left.OID, Right: o.Right.OID, Result: o.Result.OID, Com: o.Commutator,
		Negate: o.Negator, Proc: o.Function, CanMerge: o.Merges, CanHash: o.Hashes, Rest: o.Restrict, Join: o.Join, Own: o}
}

// OwnCast is a conversion that CREATE CAST made.
type OwnCast struct {
	Common
	Source, Target types.T
	Function       types.OID
	Context        byte // i implicit, a assignment, e explicit only
	Method         byte // f function, b binary-coercible, i through text
}

// Row is the cast as a row of pg_cast.
func (k *OwnCast) Row() *Cast {
	return &Cast{OID: k.OID, Source: k.Source.OID, Target: k.Target.OID, Func: k.Function, Context: k.Context, Method: k.Method}
}

// ownCastKey finds a cast by its database and its types.
type ownCastKey struct{ db, source, target types.OID }

func (k *OwnCast) key() ownCastKey { return ownCastKey{k.DB, k.Source.OID, k.Target.OID} }

// castName is what a cast is called, which has no name of its own.
func castName(source, target types.OID) string { return oidString(source) + ":" + oidString(target) }

// OwnOperators returns the user-defined operators of a schema and name.
func (s *Snapshot) OwnOperators(db types.OID, schema, name string) []*OwnOperator {
	var out []*OwnOperator
	for _, oid := range s.funcs.get(nameKey{spaceOperator, db, schema, name}) {
		if o, ok := s.objs.get(oid).(*OwnOperator); ok {
			out = append(out, o)
		}
	}
	return out
}

// OwnOperator returns the user-defined operator of a schema, a name and the types
// of its sides, or nil.
func (s *Snapshot) OwnOperator(db types.OID, schema, name string, left, right types.OID) *OwnOperator {
	for _, o := range s.OwnOperators(db, schema, name) {
		if o.Left.OID == left && o.Right.OID == right {
			return o
		}
	}
	return nil
}

// AllOperators returns the user-defined operators of the database in OID order.
func (s *Snapshot) AllOperators(db types.OID) []*OwnOperator {
	return objectsOf(s, func(o *OwnOperator) bool { return o.DB == db })
}

// AllCasts returns the user-defined casts of the database in OID order.
func (s *Snapshot) AllCasts(db types.OID) []*OwnCast {
	return objectsOf(s, func(k *OwnCast) bool { return k.DB == db })
}

// OwnCast returns the user-defined cast between two types, or nil.
func (s *Snapshot) OwnCast(db, source, target types.OID) *OwnCast {
	k, _ := s.objs.get(s.casts.get(ownCastKey{db, source, target})).(*OwnCast)
	return k
}

// linkOperator and linkCast enter objects into the lookup maps.
func (s *Snapshot) linkOperator(o *OwnOperator) error {
	if other := s.OwnOperator(o.DB, o.Schema, o.Name, o.Left.OID, o.Right.OID); other != nil && other.OID != o.OID {
		return sqlerr.New(sqlerr.DuplicateFunction, "operator %s already exists", o.Name)
	}
	k := nameKey{spaceOperator, o.DB, o.Schema, o.Name}
	if !slices.Contains(s.funcs.get(k), o.OID) {
		s.funcs.set(k, append(slices.Clone(s.funcs.get(k)), o.OID))
	}
	return nil
}

func (s *Snapshot) unlinkOperator(o *OwnOperator) {
	k := nameKey{spaceOperator, o.DB, o.Schema, o.Name}
	s.funcs.set(k, slices.DeleteFunc(slices.Clone(s.funcs.get(k)), func(oid types.OID) bool { return oid == o.OID }))
	if len(s.funcs.get(k)) == 0 {
		s.funcs.delete(k)
	}
}

func (s *Snapshot) linkCast(k *OwnCast) error {
	key := k.key()
	if other, taken := s.casts.lookup(key); taken && other != k.OID {
		return sqlerr.New(sqlerr.DuplicateObject, "cast from type %s to type %s already exists",
			s.FormatTypeNoMod(k.Source.OID, k.DB, nil), s.FormatTypeNoMod(k.Target.OID, k.DB, nil))
	}
	s.casts.set(key, k.OID)
	return nil
}

func (s *Snapshot) unlinkCast(k *OwnCast) {
	if key := k.key(); s.casts.get(key) == k.OID {
		s.casts.delete(key)
	}
}

// PutOperator records a new or changed operator and returns it; a new one has no
// OID yet.
func (c *Change) PutOperator(o *OwnOperator) (*OwnOperator, error) {
	n := *o
	if n.OID == 0 {
		if err := c.creatable(o.Schema, o.Name); err != nil {
			return nil, err
		}
		n.Common = c.common(o.Schema, o.Name)
	}
	return &n, c.put(&n)
}

// DropOperators drops operators; others forget them as commutators and negators.
func (c *Change) DropOperators(cascade bool, oids ...types.OID) error {
	for _, o := range c.snap.AllOperators(c.DB) {
		n := *o
		if slices.Contains(oids, n.Commutator) {
			n.Commutator = 0
		}
		if slices.Contains(oids, n.Negator) {
			n.Negator = 0
		}
		if (n.Commutator != o.Commutator || n.Negator != o.Negator) && !slices.Contains(oids, o.OID) {
			if err := c.put(&n); err != nil {
				return err
			}
		}
	}
	var names []node
	for _, oid := range oids {
		names = append(names, node{kind: nodeOperator, oid: oid})
	}
	return c.drop(cascade, names...)
}

// CreateCast makes a cast.
func (c *Change) CreateCast(k *OwnCast) error {
	n := *k
	n.Common = c.common("", castName(k.Source.OID, k.Target.OID))
	return c.put(&n)
}

// DropCast drops a cast.
func (c *Change) DropCast(oid types.OID, cascade bool) error {
	return c.drop(cascade, node{kind: nodeCast, oid: oid})
}

// operatorText is an operator as messages show it: name(left,right).
func (c *Change) operatorText(o *OwnOperator) string {
	out := o.Name
	if !slices.Contains(c.Path, o.Schema) {
		out = QuoteIdent(o.Schema) + "." + o.Name
	}
	side := func(t types.T) string {
		if t.OID == 0 {
			return "NONE"
		}
		return c.typeName(t)
	}
	return out + "(" + side(o.Left) + "," + side(o.Right) + ")"
}

// operatorsOver adds the operators and casts that need a type or a function.
func (c *Change) operatorsOver(oid types.OID, add func(bool, node)) {
	for _, o := range usersOf[*OwnOperator](c.snap, c.DB, oid) {
		if o.Left.OID == oid || o.Right.OID == oid || o.Result.OID == oid || o.Function == oid {
			add(false, node{kind: nodeOperator, oid: o.OID})
		}
	}
	for _, k := range usersOf[*OwnCast](c.snap, c.DB, oid) {
		if k.Source.OID == oid || k.Target.OID == oid || k.Function == oid {
			add(false, node{kind: nodeCast, oid: k.OID})
		}
	}
}

// aggregatesSortedBy adds the aggregates that name an operator as their order.
func (c *Change) aggregatesSortedBy(oid types.OID, add func(bool, node)) {
	for _, f := range usersOf[*Function](c.snap, c.DB, oid) {
		if f.Agg != nil && f.Agg.SortOp == oid {
			add(false, node{kind: nodeFunction, oid: f.OID})
		}
	}
}

func (s *Snapshot) validateOperator(o *OwnOperator) error {
	if o.Right.OID == 0 {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "operator \"%s\" has no right argument", o.Name)
	}
	for _, t := range []types.T{o.Left, o.Right, o.Result} {
		if t.OID != 0 && s.TypeInfo(t.OID) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", t.OID)
		}
	}
	return nil
}

func (w *xmlWriter) operator(o *OwnOperator) {
	a := w.common(&o.Common, "operatorName")
	if o.Left.OID != 0 {
		w.typeAttrs(&a, "left", o.Left)
	}
	w.typeAttrs(&a, "right", o.Right)
	if o.Result.OID != 0 {
		w.typeAttrs(&a, "result", o.Result)
	}
	w.functionRef(&a, "function", o.Function)
	w.functionRef(&a, "restrict", o.Restrict)
	w.functionRef(&a, "join", o.Join)
	w.operatorRef(&a, "commutator", o.Commutator)
	w.operatorRef(&a, "negator", o.Negator)
	a.flag("merges", o.Merges)
	a.flag("hashes", o.Hashes)
	w.ownership(&a, &o.Common)
	w.empty("Operator", a)
}

// operatorRef names an operator; the types of its sides follow from what it is for.
func (w *xmlWriter) operatorRef(a *attrList, attr string, oid types.OID) {
	switch {
	case oid == 0:
	case w.ids:
		a.num(attr+"OID", int64(oid))
	default:
		if o, ok := w.snap.objs.get(oid).(*OwnOperator); ok {
			a.set(attr, o.Name)
			a.set(attr+"Schema", o.Schema)
		} else if o := OperatorByOID(oid); o != nil {
			a.set(attr, o.Name)
			a.set(attr+"Schema", SchemaPgCatalog)
		}
	}
}

func (r *xmlReader) operator(e *element, c Common) Object {
	o := &OwnOperator{Common: r.common(e, c, "operatorName")}
	r.schemaOf(&o.Common)
	if _, ok := e.attr("left"); ok || r.ids && r.oid(e, "leftOID") != 0 {
		o.Left = r.typ(e, "left")
	}
	o.Right = r.typ(e, "right")
	if _, ok := e.attr("result"); ok || r.ids && r.oid(e, "resultOID") != 0 {
		o.Result = r.typ(e, "result")
	}
	o.Function, o.Restrict, o.Join = r.functionRef(e, "function"), r.functionRef(e, "restrict"), r.functionRef(e, "join")
	o.Commutator = r.operatorRef(e, "commutator", o.Right.OID, o.Left.OID)
	o.Negator = r.operatorRef(e, "negator", o.Left.OID, o.Right.OID)
	o.Merges, o.Hashes = r.flag(e, "merges"), r.flag(e, "hashes")
	r.known(e)
	return o
}

func (r *xmlReader) operatorRef(e *element, attr string, left, right types.OID) types.OID {
	if r.ids {
		return r.oid(e, attr+"OID")
	}
	name, ok := e.attr(attr)
	if !ok {
		return 0
	}
	schema := r.str(e, attr+"Schema")
	if schema == SchemaPgCatalog {
		for _, o := range OperatorsByName(name) {
			if o.Left == left && o.Right == right {
				return o.OID
			}
		}
	}
	for _, d := range r.doc.opers[docName{schema, name}] {
		var l types.OID
		if _, ok := d.element.attr("left"); ok {
			l = r.typ(d.element, "left").OID
		}
		if l == left && r.typ(d.element, "right").OID == right {
			return d.oid
		}
	}
	r.fail(e, sqlerr.UndefinedFunction, "attribute \"%s\": operator \"%s\" does not exist", attr, name)
	return 0
}

func (w *xmlWriter) cast(k *OwnCast) {
	a := w.common(&k.Common, "")
	w.typeAttrs(&a, "source", k.Source)
	w.typeAttrs(&a, "target", k.Target)
	a.set("context", string(k.Context))
	a.set("method", string(k.Method))
	w.functionRef(&a, "function", k.Function)
	w.ownership(&a, &k.Common)
	w.empty("Cast", a)
}

func (r *xmlReader) cast(e *element, c Common) Object {
	k := &OwnCast{Common: r.common(e, c, ""), Source: r.typ(e, "source"), Target: r.typ(e, "target"),
		Context: r.char(e, "context", "iae", 'e'), Method: r.char(e, "method", "fbi", 'f'), Function: r.functionRef(e, "function")}
	k.Name = castName(k.Source.OID, k.Target.OID)
	r.known(e)
	return k
}
