package pgcatalog

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Dependencies are computed where DROP needs them. This relation shows them to
// clients: pg_dump writes objects in an order that follows them, psql finds the
// sequences of columns here.
func rowsPgDepend(w *writer) {
	d := newDependWriter(w)
	catalog.Dependencies(func(x catalog.Dependency) {
		d.dep(object{class: x.Class, oid: x.OID, sub: x.Sub}, object{class: x.RefClass, oid: x.RefOID, sub: x.RefSub}, x.Kind)
	})
	d.triggers()
	for i, p := range w.env.defaultPrivileges() {
		if p.Schema != "" {
			d.dep(object{class: oidPgDefaultACL, oid: synthOID("defaultacl", w.env.DB, i)},
				object{class: oidPgNamespace, oid: w.env.namespace(p.Schema)}, 'a')
		}
	}
	rels := w.env.Snap.Relations(w.env.DB)
	if d.one {
		if r, ok := w.env.Snap.Object(d.want).(catalog.Relation); ok && r.DatabaseOID() == w.env.DB {
			rels = []catalog.Relation{r}
		}
	}
	for _, r := range rels {
		d.relation(r)
		d.toast(r)
	}
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		d.userType(u)
	}
	for _, f := range w.env.Snap.AllFunctions(w.env.DB) {
		d.function(f)
	}
	for _, o := range w.env.Snap.AllOperators(w.env.DB) {
		self := object{class: oidPgOperator, oid: o.OID}
		d.inSchema(self, o.Schema)
		for _, t := range []types.T{o.Left, o.Right, o.Result} {
			d.needsType(self, t)
		}
		d.needsFunction(self, o.Function)
	}
	for _, k := range w.env.Snap.AllCasts(w.env.DB) {
		self := object{class: oidPgCast, oid: k.OID}
		d.needsType(self, k.Source)
		d.needsType(self, k.Target)
		d.needsFunction(self, k.Function)
	}
	for _, p := range w.env.Snap.AllPolicies(w.env.DB) {
		self := object{class: oidPgPolicy, oid: p.OID}
		d.dep(self, relationObject(p.Table), 'a')
		for _, q := range []*catalog.BoundQuery{&p.Using, &p.Check} {
			d.reads(self, q.View(&p.Common), p.Table)
		}
	}
	for _, e := range w.env.Snap.Extensions(w.env.DB) {
		d.inSchema(object{class: oidPgExtension, oid: e.OID}, e.Schema)
		d.members(e)
	}
	for _, e := range w.env.Snap.AllExtStats(w.env.DB) {
		self := object{class: oidPgStatisticExt, oid: e.OID}
		for _, c := range e.Cols {
			d.dep(self, columnObject(e.Table, c), 'a')
		}
		for _, c := range e.ExprCols {
			d.dep(self, columnObject(e.Table, c), 'a')
		}
		d.inSchema(self, e.Schema)
	}
}

// needsFunction tells that an object needs a function, unless it is a built-in one.
func (d *dependWriter) needsFunction(of object, f types.OID) {
	if f >= types.FirstUserOID {
		d.dep(of, object{class: oidPgProc, oid: f}, 'n')
	}
}

// dependWriter writes rows of pg_depend.
type dependWriter struct {
	*writer
	functions []string // the names of user-defined functions and operators
	casts     bool     // there are user-defined casts, which have no names

	want types.OID // with one: the object whose rows are asked for
	one  bool
}

func newDependWriter(w *writer) *dependWriter {
	d := &dependWriter{writer: w, casts: len(w.env.Snap.AllCasts(w.env.DB)) > 0}
	d.want, d.one = w.wantOID("objid")
	for _, f := range w.env.Snap.AllFunctions(w.env.DB) {
		d.functions = append(d.functions, f.Name)
	}
	for _, o := range w.env.Snap.AllOperators(w.env.DB) {
		d.functions = append(d.functions, o.Name)
	}
	return d
}

// object is what a row names: an object or, by its number, a part of one.
type object struct {
	class, oid types.OID
	sub        int
}

func (d *dependWriter) dep(of, on object, kind byte) {
	if d.one && of.oid != d.want {
		return
	}
	d.oid(of.class).oid(of.oid).int(int64(of.sub)).oid(on.class).oid(on.oid).int(int64(on.sub)).chr(kind).end()
}

func relationObject(oid types.OID) object { return object{class: oidPgClass, oid: oid} }

func columnObject(table types.OID, c int) object {
	return object{class: oidPgClass, oid: table, sub: c + 1}
}

func constraintObject(oid types.OID) object { return object{class: oidPgConstraint, oid: oid} }

// classOf returns the object of an OID, whatever it is.
func (d *dependWriter) classOf(oid types.OID) object {
	switch d.env.Snap.Object(oid).(type) {
	case *catalog.Function:
		return object{class: oidPgProc, oid: oid}
	case *catalog.UserType:
		return object{class: oidPgType, oid: oid}
	case *catalog.OwnOperator:
		return object{class: oidPgOperator, oid: oid}
	case *catalog.OwnCast:
		return object{class: oidPgCast, oid: oid}
	}
	return relationObject(oid)
}

// inSchema tells that an object needs the schema it is in.
func (d *dependWriter) inSchema(of object, schema string) {
	d.dep(of, object{class: oidPgNamespace, oid: d.env.namespace(schema)}, 'n')
}

// needsType tells that an object needs a type, unless it is a built-in one.
func (d *dependWriter) needsType(of object, t types.T) {
	if t.OID >= types.FirstUserOID {
		d.dep(of, object{class: oidPgType, oid: t.OID}, 'n')
	}
}

// uses tells which functions a text calls, and which relations its literals name but for
// those that are told already. Only texts with a name in them are looked into.
func (d *dependWriter) uses(of object, t catalog.StoredText, told ...types.OID) {
	literals := strings.Contains(t.Text, "::regclass")
	if !literals && !d.casts && !slices.ContainsFunc(d.functions, func(n string) bool { return strings.Contains(t.Text, n) }) {
		return
	}
	d.usesAny(of, t, literals, told...)
}

// usesAny tells which functions a text calls, and with relations which of these its
// literals name but for those that are told already.
func (d *dependWriter) usesAny(of object, t catalog.StoredText, relations bool, told ...types.OID) {
	if t.Text == "" || d.env.Uses == nil {
		return
	}
	done := slices.Clone(told)
	for _, o := range d.env.Uses(t) {
		if slices.Contains(done, o) {
			continue
		}
		switch d.env.Snap.Object(o).(type) {
		case *catalog.Function, *catalog.OwnOperator, *catalog.OwnCast:
			done = append(done, o)
			d.dep(of, d.classOf(o), 'n')
		case *catalog.Sequence, *catalog.Table, *catalog.View:
			if done = append(done, o); relations {
				d.dep(of, relationObject(o), 'n')
			}
		}
	}
}

func (d *dependWriter) relation(r catalog.Relation) {
	co := commonOf(r)
	self := relationObject(co.OID)
	d.inSchema(self, co.Schema)
	switch x := r.(type) {
	case *catalog.Sequence:
		if x.OwnerTable != 0 {
			kind := byte('a')
			if x.Identity {
				kind = 'i'
			}
			d.dep(self, columnObject(x.OwnerTable, x.OwnerCol), kind)
		}
	case *catalog.View:
		d.view(x)
	case *catalog.Table:
		d.dep(object{class: oidPgType, oid: x.RowType}, self, 'i')
		d.arrayOf(x.RowType)
		if x.OfType != 0 {
			d.dep(self, object{class: oidPgType, oid: x.OfType}, 'n')
		}
	}
	if t := catalog.StorageOf(r); t != nil {
		d.table(co.OID, t)
	}
}

func (d *dependWriter) view(v *catalog.View) {
	self := relationObject(v.OID)
	rule := object{class: oidPgRewrite, oid: synthOID("rewrite", v.OID, 0)}
	d.dep(rule, self, 'i')
	if !slices.ContainsFunc(v.ColDeps, func(c catalog.ColRef) bool { return c.Rel == v.OID && c.Col >= 0 }) { // else it needs columns of its own
		d.dep(rule, self, 'n')
	}
	d.reads(rule, v, 0)
	d.dep(object{class: oidPgType, oid: v.RowType}, self, 'i')
	d.arrayOf(v.RowType)
	d.columns(v.OID, nil, v.Columns)
}

// reads tells what a query needs; that its object needs own as a whole is told already.
func (d *dependWriter) reads(of object, v *catalog.View, own types.OID) {
	for _, o := range v.Deps {
		named := false
		for _, c := range v.ColDeps {
			if c.Rel == o {
				named = true
				if c.Col >= 0 || o != own {
					d.dep(of, columnObject(o, c.Col), 'n')
				}
			}
		}
		if !named {
			d.dep(of, relationObject(o), 'n')
		}
	}
	d.groups(of, v)
	d.uses(of, catalog.StoredText{Text: v.Query, View: v}, v.Deps...)
}

// groups tells which primary keys a query needs, as they determine the other columns of
// what it groups by. Only one with GROUP BY that reads a table with such a key is
// looked into.
func (d *dependWriter) groups(of object, v *catalog.View) {
	if d.env.Uses == nil || !strings.Contains(v.Query, "GROUP BY") {
		return
	}
	var used []types.OID
	for _, o := range v.Deps {
		t := d.env.Snap.Table(o)
		if t == nil {
			continue
		}
		for _, u := range t.Uniques {
			if !u.Primary {
				continue
			}
			if used == nil {
				used = d.env.Uses(catalog.StoredText{Text: v.Query, View: v})
			}
			if slices.Contains(used, u.OID) {
				d.dep(of, constraintObject(u.OID), 'n')
			}
		}
	}
}

// isKey reports whether a number is that of the primary key of one of the tables among
// what a body uses: a query of it is grouped by the key.
func (d *dependWriter) isKey(oid types.OID, used []types.OID) bool {
	return slices.ContainsFunc(used, func(o types.OID) bool {
		t := d.env.Snap.Table(o)
		return t != nil && slices.ContainsFunc(t.Uniques, func(u *catalog.Unique) bool { return u.Primary && u.OID == oid })
	})
}

// columns tells what the columns of a relation need: their types, and what their
// defaults need. t is nil for a view.
func (d *dependWriter) columns(oid types.OID, t *catalog.Table, cols []catalog.Column) {
	for i := range cols {
		c := &cols[i]
		if c.Dropped {
			continue
		}
		self := columnObject(oid, i)
		d.needsType(self, c.Type)
		if c.Default == "" {
			continue
		}
		dflt := object{class: oidPgAttrdef, oid: synthOID("attrdef", oid, i+1)}
		kind := byte('a')
		if c.Generated {
			kind = 'i'
		}
		d.dep(dflt, self, kind)
		if c.Generated {
			for _, k := range c.DefaultCols {
				d.dep(dflt, columnObject(oid, k), 'n')
			}
		}
		if c.Sequence != 0 && c.Identity == 0 {
			d.dep(dflt, relationObject(c.Sequence), 'n')
		}
		for _, o := range c.DefaultDeps {
			d.dep(dflt, d.classOf(o), 'n')
		}
		text := catalog.StoredText{Text: c.Default, Table: t}
		if t == nil {
			text.Of = catalog.CommonOf(d.env.Snap.Object(oid))
		}
		d.uses(dflt, text, append(slices.Clone(c.DefaultDeps), c.Sequence)...)
	}
}

func (d *dependWriter) table(oid types.OID, t *catalog.Table) {
	self := relationObject(oid)
	if _, isView := d.env.Snap.Object(oid).(*catalog.View); !isView {
		d.columns(oid, t, t.Columns)
	}
	for _, p := range t.Parents {
		kind := byte('n')
		if t.Bound != nil {
			kind = 'a'
		}
		d.dep(self, relationObject(p), kind)
	}
	if t.Key != nil {
		d.partitionKey(oid, t)
	}
	for _, u := range t.Uniques {
		c := constraintObject(u.OID)
		cols := u.Cols
		if ix := t.IndexByOID(u.Index); ix != nil {
			cols = slices.Concat(cols, ix.Include)
		}
		for _, i := range cols {
			d.dep(c, columnObject(oid, i), 'a')
		}
		d.dep(relationObject(u.Index), c, 'i')
		d.part(c, constraintObject(u.Parent), oid)
	}
	for _, k := range t.Checks {
		c := constraintObject(k.OID)
		for _, i := range k.Cols {
			d.dep(c, columnObject(oid, i), 'a')
			d.dep(c, columnObject(oid, i), 'n')
		}
		if len(k.Cols) == 0 {
			d.dep(c, self, 'a')
		}
		d.uses(c, catalog.StoredText{Text: k.Expr, Table: t})
	}
	for _, k := range t.ForeignKeys {
		d.foreignKey(oid, k)
	}
	for _, ix := range t.Indexes {
		d.index(oid, t, ix)
	}
}

// partitionKey tells that a partitioned table's key columns go with the table.
func (d *dependWriter) partitionKey(oid types.OID, t *catalog.Table) {
	for i := range t.Key.Keys {
		k := &t.Key.Keys[i]
		cols := k.ExprCols
		if k.Col >= 0 {
			cols = []int{k.Col}
		}
		for _, c := range cols {
			d.dep(columnObject(oid, c), relationObject(oid), 'i')
		}
		d.uses(relationObject(oid), catalog.StoredText{Text: k.Expr, Table: t})
	}
}

// part tells that an index or constraint of a partition belongs to that of its
// parent, and to the partition.
func (d *dependWriter) part(of, parent object, table types.OID) {
	if parent.oid != 0 {
		d.dep(of, parent, 'P')
		d.dep(of, relationObject(table), 'S')
	}
}

func (d *dependWriter) foreignKey(oid types.OID, k *catalog.ForeignKey) {
	c := constraintObject(k.OID)
	for _, i := range k.Cols {
		d.dep(c, columnObject(oid, i), 'a')
	}
	for _, i := range k.RefCols {
		d.dep(c, columnObject(k.RefTable, i), 'n')
	}
	d.dep(c, relationObject(k.RefIndex), 'n')
	d.part(c, constraintObject(k.Parent), oid)
	for i := range k.Targets {
		x := &k.Targets[i]
		parent := k.OID
		if ref := d.env.Snap.Table(x.Table); ref != nil {
			parent = d.env.targetParent(k, ref)
		}
		d.dep(constraintObject(x.OID), constraintObject(parent), 'P')
		d.dep(constraintObject(x.OID), relationObject(x.Table), 'S')
	}
}

func (d *dependWriter) index(oid types.OID, t *catalog.Table, ix *catalog.Index) {
	self := relationObject(ix.OID)
	d.part(self, relationObject(ix.Parent), oid)
	cols := ix.ExprCols
	if ix.Constraint == 0 { // which needs the plain columns otherwise
		cols = slices.Concat(ix.KeyCols(), ix.Include, ix.ExprCols)
	}
	for i, c := range cols {
		if c >= 0 && slices.Index(cols, c) == i {
			d.dep(self, columnObject(oid, c), 'a')
		}
	}
	if ix.Constraint == 0 && len(ix.Include) == 0 && !slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col >= 0 }) {
		d.dep(self, relationObject(oid), 'a')
	}
	for _, k := range ix.Keys {
		d.uses(self, catalog.StoredText{Text: k.Expr, Table: t})
	}
	d.uses(self, catalog.StoredText{Text: ix.Where, Table: t})
}

func (d *dependWriter) userType(u *catalog.UserType) {
	self := object{class: oidPgType, oid: u.OID}
	if u.Kind == 'c' {
		d.dep(relationObject(u.RelOID), self, 'i')
		for i := range u.Columns {
			if !u.Columns[i].Dropped {
				d.needsType(columnObject(u.RelOID, i), u.Columns[i].Type)
			}
		}
	}
	d.inSchema(self, u.Schema)
	d.arrayOf(u.OID)
	switch u.Kind {
	case 'r':
		d.needsType(self, u.Range.Subtype)
		d.needsFunction(self, u.Range.Diff)
	case 'm':
		d.dep(self, object{class: oidPgType, oid: u.Range.Pair}, 'i')
	}
	if u.Kind == 'd' {
		d.needsType(self, u.Base)
		d.usesAny(self, catalog.StoredText{Text: u.Default, Of: &u.Common}, true)
		for _, k := range u.Checks {
			d.dep(constraintObject(k.OID), self, 'a')
			d.uses(constraintObject(k.OID), catalog.StoredText{Text: k.Expr, Value: u.Base, Of: &u.Common})
		}
	}
}

// members tells that the types, operators, casts and operator classes of an extension
// go with it; its functions tell it themselves.
func (d *dependWriter) members(e *catalog.Extension) {
	def := catalog.AvailableExtension(e.Name)
	if def == nil {
		return
	}
	member := func(class, oid types.OID) {
		d.dep(object{class: class, oid: oid}, object{class: oidPgExtension, oid: e.OID}, 'e')
	}
	for _, in := range types.ExtensionTypes(e.Name) {
		if in.Array != 0 {
			member(oidPgType, in.OID)
			d.arrayOf(in.OID)
		}
	}
	for _, o := range def.Operators() {
		member(oidPgOperator, o.OID)
	}
	for _, c := range def.Casts() {
		member(oidPgCast, c.OID)
	}
	for _, c := range d.env.Snap.ExtensionOpclasses(e.DB) {
		if catalog.OpclassExtension(&c) == e.Name {
			member(oidPgOpclass, c.OID)
			member(oidPgOpfamily, c.Family)
		}
	}
}

// arrayOf tells that the array type of a type goes with it.
func (d *dependWriter) arrayOf(t types.OID) {
	if in := d.env.Snap.TypeInfo(t); in != nil && in.Array != 0 {
		d.dep(object{class: oidPgType, oid: in.Array}, object{class: oidPgType, oid: t}, 'i')
	}
}

func (d *dependWriter) function(f *catalog.Function) {
	self := object{class: oidPgProc, oid: f.OID}
	d.inSchema(self, f.Schema)
	if f.RangeType != 0 {
		d.dep(self, object{class: oidPgType, oid: f.RangeType}, 'i')
		return
	}
	if f.Extension != "" {
		d.dep(self, object{class: oidPgExtension, oid: d.env.Snap.Extension(f.DB, f.Extension).OID}, 'e')
		return
	}
	d.needsType(self, f.Ret)
	for _, t := range f.Args {
		d.needsType(self, t)
	}
	if d.env.Uses == nil {
		return
	}
	var used, done []types.OID
	if f.Standard {
		used = d.env.Uses(catalog.StoredText{Text: f.Body, Function: f})
	}
	for _, x := range f.Defaults {
		used = append(used, d.env.Uses(catalog.StoredText{Text: x, Of: &f.Common})...)
	}
	for _, o := range used {
		if slices.Contains(done, o) || o < types.FirstUserOID {
			continue
		}
		done = append(done, o)
		if d.isKey(o, used) {
			d.dep(self, constraintObject(o), 'n')
			continue
		}
		var cols []int
		if f.Standard && d.env.BodyReads != nil && d.env.Snap.RelationByOID(d.env.DB, o) != nil {
			cols = d.env.BodyReads(f, o)
			slices.Sort(cols)
			cols = slices.DeleteFunc(slices.Compact(cols), func(c int) bool { return c < 0 })
		}
		for _, c := range cols {
			d.dep(self, columnObject(o, c), 'n')
		}
		if len(cols) == 0 {
			d.dep(self, d.classOf(o), 'n')
		}
	}
}
