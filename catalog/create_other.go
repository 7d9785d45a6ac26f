package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// SequenceSpec is what CREATE SEQUENCE asks for; nil fields take PostgreSQL's
// defaults for the type and the direction.
type SequenceSpec struct {
	Restart              *int64 // of ALTER SEQUENCE alone
	Schema, Name         string
	Type                 types.T // zero is bigint
	Start, Inc, Min, Max *int64
	Cache                *int64
	Cycle                bool
	Temp, Unlogged       bool
	Owner                string // for whom a table of another owner is refused
	OwnerTable           types.OID
	OwnerCol             int
	Made                 types.OID // of a column: the sequence is there already, and becomes the column's
}

// CreateSequence makes a sequence.
func (c *Change) CreateSequence(spec *SequenceSpec) (*Sequence, error) {
	q, err := c.newSequence(spec)
	if err != nil {
		return nil, err
	}
	q.OwnerTable, q.OwnerCol = spec.OwnerTable, spec.OwnerCol
	if err := c.put(q); err != nil {
		return nil, err
	}
	return q, nil
}

// newSequence checks a specification without recording the sequence.
func (c *Change) newSequence(spec *SequenceSpec) (*Sequence, error) {
	if err := c.freeRelation(spec.Schema, spec.Name); err != nil {
		return nil, err
	}
	q := &Sequence{Common: c.common(spec.Schema, spec.Name), Type: spec.Type, Inc: 1, Cache: 1, Cycle: spec.Cycle, Temp: spec.Temp, Unlogged: spec.Unlogged}
	if q.Type.OID == 0 {
		q.Type = types.TInt8
	}
	if spec.Inc != nil {
		q.Inc = *spec.Inc
	}
	if spec.Cache != nil {
		q.Cache = *spec.Cache
	}
	lo, hi, err := SequenceRange(q.Type)
	if err != nil {
		return nil, err
	}
	q.Min, q.Max = 1, hi
	if q.Inc < 0 {
		q.Min, q.Max = lo, -1
	}
	if spec.Min != nil {
		q.Min = *spec.Min
	}
	if spec.Max != nil {
		q.Max = *spec.Max
	}
	q.Start = q.Min
	if q.Inc < 0 {
		q.Start = q.Max
	}
	if spec.Start != nil {
		q.Start = *spec.Start
	}
	return q, checkSequence(c.snap, q)
}

// SequenceRange returns the values that a sequence of the type can have.
func SequenceRange(t types.T) (lo, hi int64, err error) {
	switch t.OID {
	case types.OInt2:
		return math.MinInt16, math.MaxInt16, nil
	case types.OInt4:
		return math.MinInt32, math.MaxInt32, nil
	case types.OInt8:
		return math.MinInt64, math.MaxInt64, nil
	}
	return 0, 0, sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
}

// checkSequence checks a sequence's options: bounds within its type and C7.
func checkSequence(s *Snapshot, q *Sequence) error {
	lo, hi, err := SequenceRange(q.Type)
	if err != nil {
		return err
	}
	name := types.FormatType(q.Type)
	if q.Max > hi || q.Max < lo {
		return sqlerr.New(sqlerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, name)
	}
	if q.Min < lo || q.Min > hi {
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, name)
	}
	return s.validateSequence(q)
}

// AlterSequence records a changed sequence: change edits a copy.
func (c *Change) AlterSequence(oid types.OID, change func(q *Sequence) error) (*Sequence, error) {
	old, ok := c.snap.objs.get(oid).(*Sequence)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "sequence with OID %d does not exist", oid)
	}
	q := *old
	if err := change(&q); err != nil {
		return nil, err
	}
	if err := checkSequence(c.snap, &q); err != nil {
		return nil, err
	}
	if err := c.put(&q); err != nil {
		return nil, err
	}
	if q.OwnerTable == old.OwnerTable && q.OwnerCol == old.OwnerCol {
		return &q, nil
	}
	for _, o := range []*Sequence{old, &q} {
		if c.snap.Table(o.OwnerTable) == nil {
			continue
		}
		if _, err := c.edit(o.OwnerTable, func(t *Table) error {
			c.serialColumn(t, o.OwnerCol)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return &q, nil
}

// serialColumn makes a column whose default draws from a sequence of its own a
// serial column, whatever the order in which default and ownership came; and one
// that has lost the sequence a column with a default that needs it.
func (c *Change) serialColumn(t *Table, i int) {
	col := &t.Columns[i]
	if col.Identity != 0 {
		return
	}
	if q, ok := c.snap.objs.get(col.Sequence).(*Sequence); ok && (q.OwnerTable != t.OID || q.OwnerCol != i) {
		col.Sequence = 0
		if col.Default != "" {
			col.DefaultDeps = append(slices.Clip(col.DefaultDeps), q.OID)
		}
	}
	for k, dep := range col.DefaultDeps {
		q, ok := c.snap.objs.get(dep).(*Sequence)
		if ok && q.OwnerTable == t.OID && q.OwnerCol == i && col.Default == nextvalText(q) {
			col.Sequence = dep
			col.DefaultDeps = slices.Delete(slices.Clone(col.DefaultDeps), k, k+1)
			if len(col.DefaultDeps) == 0 {
				col.DefaultDeps = nil
			}
			return
		}
	}
}

// ViewSpec is what CREATE VIEW asks for; the query is bound already.
type ViewSpec struct {
	Schema, Name string
	Query        string
	Columns      []Column
	MadeAliases  []string
	Deps         []types.OID
	ColDeps      []ColRef
	CheckOption  string
	Options      Options
	Temp         bool
	Replace      bool
	Materialized bool
	Populated    bool
}

// CreateView makes a view or a materialized view, or replaces a view's query.
func (c *Change) CreateView(spec *ViewSpec) (*View, error) {
	if err := c.creatable(spec.Schema, spec.Name); err != nil {
		return nil, err
	}
	v := &View{Query: spec.Query, Columns: spec.Columns, MadeAliases: spec.MadeAliases, Deps: spec.Deps, ColDeps: spec.ColDeps, CheckOption: spec.CheckOption,
		Options: spec.Options, Temp: spec.Temp, Populated: spec.Populated || !spec.Materialized}
	if old := c.snap.Relation(c.DB, spec.Schema, spec.Name); old != nil && spec.Replace && !spec.Materialized {
		was, ok := old.(*View)
		if !ok || was.Materialized != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", spec.Name)
		}
		if err := c.replaceable(was, spec.Columns); err != nil {
			return nil, err
		}
		v.Common, v.RowType, v.RowArray = was.Common, was.RowType, was.RowArray
		v.Unbind(v.Query)
		for i := range was.Columns {
			old := was.Columns[i] // comments, privileges and defaults stay
			v.Columns[i] = old
		}
		return v, c.put(v)
	}
	if err := c.freeRelation(spec.Schema, spec.Name); err != nil {
		return nil, err
	}
	if err := c.freeRowType(spec.Schema, spec.Name); err != nil {
		return nil, err
	}
	v.Common = c.common(spec.Schema, spec.Name)
	v.RowType, v.RowArray = c.alloc.AllocOID(), c.alloc.AllocOID()
	if spec.Materialized {
		v.Materialized = &Table{Common: v.Common, RowType: v.RowType, RowArray: v.RowArray, Space: c.alloc.AllocSpace(), Layout: LayoutRow, Columns: slices.Clone(spec.Columns),
			File: c.fileName(fileBase(spec.Schema, spec.Name), ".kv", v.OID), Options: v.Options}
		v.Options = nil
	}
	return v, c.put(v)
}

// replaceable checks CREATE OR REPLACE VIEW: the old columns stay as they are.
func (c *Change) replaceable(old *View, cols []Column) error {
	if len(cols) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		o, n := &old.Columns[i], &cols[i]
		if o.Name != n.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column \"%s\" to \"%s\"", o.Name, n.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if o.Type.OID != n.Type.OID || o.Type.Mod != n.Type.Mod {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column \"%s\" from %s to %s",
				o.Name, c.snap.FormatType(o.Type, c.DB, c.Path), c.snap.FormatType(n.Type, c.DB, c.Path))
		}
		if o.Collation != n.Collation {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change collation of view column \"%s\" from \"%s\" to \"%s\"",
				o.Name, cmp.Or(o.Collation, "default"), cmp.Or(n.Collation, "default"))
		}
	}
	return nil
}

// SetPopulated records whether a materialized view has rows.
func (c *Change) SetPopulated(view types.OID, populated bool) error {
	old, ok := c.snap.objs.get(view).(*View)
	if !ok || old.Materialized == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "relation with OID %d is not a materialized view", view)
	}
	v := *old
	v.Populated = populated
	return c.put(&v)
}

// CreateSchema makes a schema.
func (c *Change) CreateSchema(name, owner string) (*Schema, error) {
	if len(name) >= 3 && name[:3] == "pg_" {
		return nil, sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	n := &Schema{c.common("", name)}
	if owner != "" {
		n.Owner = owner
	}
	return n, c.put(n)
}

// DropDatabase removes a database with everything in it.
func (c *Change) DropDatabase(name string) (*Database, error) {
	d := c.snap.Database(name)
	if d == nil {
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
	}
	if d.OID == c.DB {
		return nil, sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
	}
	if d.Template {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot drop a template database")
	}
	if err := c.moveDatabaseSettings(name, ""); err != nil {
		return nil, err
	}
	del := []types.OID{d.OID}
	for _, o := range c.snap.Objects() {
		if o.DatabaseOID() == d.OID {
			del = append(del, o.ObjectOID())
		}
	}
	return d, c.record(nil, del)
}

// CreateEnum makes an enum type.
func (c *Change) CreateEnum(schema, name string, labels []string) (*UserType, error) {
	u := &UserType{Kind: 'e'}
	for i, l := range labels {
		u.Labels = append(u.Labels, EnumLabel{OID: c.alloc.AllocOID(), Label: l, Order: float64(i + 1)})
	}
	return u, c.createType(schema, name, u)
}

// CreateComposite makes a composite type.
func (c *Change) CreateComposite(schema, name string, cols []Column) (*UserType, error) {
	if err := c.freeType(schema, name); err != nil {
		return nil, err
	}
	if err := c.freeRelation(schema, name); err != nil {
		return nil, err
	}
	u := &UserType{Kind: 'c', Columns: cols, RelOID: c.alloc.AllocOID()}
	return u, c.createType(schema, name, u)
}

// DomainSpec is what CREATE DOMAIN asks for. The names of checks may be "".
type DomainSpec struct {
	Schema, Name string
	Base         types.T
	Collation    string // see UserType
	NotNull      bool
	Default      string
	Checks       []Check
}

// CreateDomain makes a domain.
func (c *Change) CreateDomain(spec *DomainSpec) (*UserType, error) {
	u := &UserType{Kind: 'd', Base: spec.Base, Collation: spec.Collation, NotNull: spec.NotNull, Default: spec.Default}
	u.Schema, u.Name = spec.Schema, spec.Name
	for _, k := range spec.Checks {
		if err := c.addDomainCheck(u, k); err != nil {
			return nil, err
		}
	}
	return u, c.createType(spec.Schema, spec.Name, u)
}

func (c *Change) addDomainCheck(u *UserType, k Check) error {
	taken := func(n string) bool {
		return slices.ContainsFunc(u.Checks, func(x *Check) bool { return x.Name == n })
	}
	if k.Name == "" {
		k.Name = chooseName(u.Name, "", "check", func(n string) bool { return taken(n) || c.constraintTaken(u.Schema, n) })
	} else if taken(k.Name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for domain \"%s\" already exists", k.Name, u.Name)
	}
	k.OID = c.alloc.AllocOID()
	u.Checks = append(u.Checks, &k)
	return nil
}

// createType fills in what all types have and records the type.
func (c *Change) createType(schema, name string, u *UserType) error {
	if err := c.freeType(schema, name); err != nil {
		return err
	}
	u.Common = c.common(schema, name)
	u.Array = c.alloc.AllocOID()
	return c.put(u)
}

// CreateFunction makes a function, or replaces one with the same arguments.
func (c *Change) CreateFunction(f *Function, replace bool) (*Function, error) {
	if err := c.creatable(f.Schema, f.Name); err != nil {
		return nil, err
	}
	n := *f
	n.Common = c.common(f.Schema, f.Name)
	if n.Cost == 0 {
		n.Cost = defaultCost
	}
	if n.Rows == 0 {
		n.Rows = n.defaultRows()
	}
	if n.Parallel == 0 {
		n.Parallel = 'u'
	}
	for _, old := range c.snap.Functions(c.DB, f.Schema, f.Name) {
		if !sameArgs(old.inputs(), f.inputs()) {
			continue
		}
		switch {
		case !replace:
			return nil, sqlerr.New(sqlerr.DuplicateFunction, "function \"%s\" already exists with same argument types", f.Name)
		case !c.snap.Owns(c.Owner, old):
			return nil, c.snap.NotOwner(old)
		case old.Procedure != f.Procedure || old.Window != f.Window || (old.Agg == nil) != (f.Agg == nil):
			kind := routineKind(old)
			kind = "a " + kind
			if old.Agg != nil {
				kind = "an aggregate function"
			} else if old.Window {
				kind = "a window function"
			}
			return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot change routine kind").WithDetail("\"%s\" is %s.", f.Name, kind)
		case f.Procedure && old.Ret.OID != f.Ret.OID:
			return nil, c.replaceError(old, "cannot change whether a procedure has output parameters")
		case old.Ret.OID != f.Ret.OID || old.RetSet != f.RetSet:
			return nil, c.replaceError(old, "cannot change return type of existing function")
		case f.Ret.OID == types.ORecord && (!sameArgs(old.outputs(), f.outputs()) || !slices.Equal(old.outputNames(), f.outputNames())):
			return nil, c.replaceError(old, "cannot change return type of existing function").WithDetail("Row type defined by OUT parameters is different.")
		}
		for i, name := range old.inputNames() {
			if new := f.inputNames(); name != "" && (i >= len(new) || new[i] != name) {
				return nil, c.replaceError(old, "cannot change name of input parameter \"%s\"", name)
			}
		}
		if len(f.Defaults) < len(old.Defaults) {
			return nil, c.replaceError(old, "cannot remove parameter defaults from existing function")
		}
		n.Common = old.Common
		n.Bindings = nil // all its texts are written anew
	}
	return &n, c.put(&n)
}

// AlterFunction changes a copy of a function.
func (c *Change) AlterFunction(oid types.OID, change func(f *Function)) error {
	old, ok := c.snap.objs.get(oid).(*Function)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", oid)
	}
	n := *old
	change(&n)
	return c.put(&n)
}

// replaceError refuses a replacement that callers of the old function would notice.
func (c *Change) replaceError(old *Function, format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidFunctionDefinition, format, args...).
		WithHint("Use DROP %s %s first.", strings.ToUpper(routineKind(old)), c.functionText(old))
}

// outputs are the types of the arguments that a function gives back.
func (f *Function) outputs() []types.T {
	var out []types.T
	for i, t := range f.Args {
		if m := f.Mode(i); m == 'o' || m == 'b' || m == 't' {
			out = append(out, t)
		}
	}
	return out
}

func (f *Function) outputNames() []string {
	return f.names(func(m byte) bool { return m == 'o' || m == 'b' || m == 't' })
}

func (f *Function) inputNames() []string {
	return f.names(func(m byte) bool { return m != 'o' && m != 't' })
}

// names lists the names of the arguments of some modes, "" for one without.
func (f *Function) names(of func(mode byte) bool) []string {
	var out []string
	for i := range f.Args {
		if !of(f.Mode(i)) {
			continue
		}
		name := ""
		if i < len(f.ArgNames) {
			name = f.ArgNames[i]
		}
		out = append(out, name)
	}
	return out
}

func routineKind(f *Function) string {
	switch {
	case f.Procedure:
		return "procedure"
	case f.Agg != nil:
		return "aggregate"
	}
	return "function"
}

// functionText is name(argument types), as messages show functions.
func (c *Change) functionText(f *Function) string {
	out := QuoteIdent(f.Name)
	if !slices.Contains(c.Path, f.Schema) {
		out = QualifiedIdent(f.Schema, f.Name)
	}
	out += "("
	for i, t := range f.inputs() {
		if i > 0 {
			out += ","
		}
		out += c.typeName(t)
	}
	return out + ")"
}

// CreateRole makes a role; r's OID is set here.
func (c *Change) CreateRole(r *Role) (*Role, error) {
	if c.snap.Role(r.Name) != nil {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", r.Name)
	}
	if err := reservedRole(r.Name); err != nil {
		return nil, err
	}
	n := *r
	n.Common = Common{OID: c.alloc.AllocOID(), Name: r.Name, Comment: r.Comment}
	return &n, c.put(&n)
}

// reservedRole refuses the names that no role of a user has.
func reservedRole(name string) error {
	if name == "public" || name == "none" {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name)
	}
	if strings.HasPrefix(name, "pg_") {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name).
			WithDetail("Role names starting with \"pg_\" are reserved.")
	}
	return nil
}

// PutStats records a table's statistics in place of older ones.
func (c *Change) PutStats(st *Stats) error {
	n := *st
	n.DB = c.DB
	if old := c.snap.Stats(st.Table); old != nil {
		n.OID = old.OID
	} else {
		n.OID = c.alloc.AllocOID()
	}
	return c.put(&n)
}
