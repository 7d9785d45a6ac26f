package catalog

import (
	"fmt"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// The rules that every snapshot obeys:
//
//	C1  Names are unique: databases and roles in the server, schemas in a
//	    database, relations together with indexes, types, and functions with
//	    their argument types in a schema. (Enforced while linking, apply.go.)
//	C2  Every object's database and schema exist.
//	C3  A relation has at most 1,600 columns, live column names are unique and
//	    none is a system column's, and every column's type exists.
//	C4  A primary key's columns exist, are live and NOT NULL, and exactly one
//	    index is marked primary, with the same columns.
//	C5  An index's columns exist and are live; a key column is a column or an
//	    expression; a UNIQUE constraint's index is unique and has its columns.
//	C6  A foreign key's table is in the same database, its columns exist on both
//	    sides, and its referenced columns are those of a unique index there.
//	C7  A sequence's owner exists and a column's sequence exists; a sequence's
//	    bounds contain its start and its increment is not zero.
//	C8  Files are unique in a database and spaces in the server.
//	C9  Nothing refers to a dropped object.
//	C10 A table's parents exist and it has their columns; a partition has one
//	    parent, which is partitioned by a key of live columns and has no files.

// Limits of PostgreSQL.
const (
	MaxColumns      = 1600
	MaxIndexColumns = 32
)

// systemColumns may not be names of columns.
var systemColumns = []string{"tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"}

// IsSystemColumn reports whether every table has a column of the name without
// declaring it.
func IsSystemColumn(name string) bool { return slices.Contains(systemColumns, name) }

// SystemColumn is the place of a system column among a table's columns: one less
// than its attribute number, as those of the table's own columns are, so it is
// below -1.
func SystemColumn(name string) int {
	return slices.Index(systemColumns, name) - len(systemColumns) - 1
}

// systemColumnAt is the system column at a place that SystemColumn gives; "" for
// places of others.
func systemColumnAt(col int) string {
	if i := col + len(systemColumns) + 1; col < -1 && i >= 0 {
		return systemColumns[i]
	}
	return ""
}

// IsSystemColumnAt reports whether a place among a table's columns is that of a
// system column.
func IsSystemColumnAt(col int) bool { return systemColumnAt(col) != "" }

// validateChange checks the rules for what a delta touched of the snapshot before.
func (s *Snapshot) validateChange(before *Snapshot, put []Object, del []types.OID) error {
	for _, o := range put {
		if err := s.validateObject(o); err != nil {
			return err
		}
	}
	return s.validateDropped(before, del)
}

// Validate checks the rules for the whole snapshot, but for those of names and files:
// it could not have been made otherwise (see apply).
func (s *Snapshot) Validate() error {
	for _, o := range s.Objects() {
		if err := s.validateObject(o); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) validateObject(o Object) error {
	if err := s.validatePlace(o); err != nil {
		return err
	}
	switch x := o.(type) {
	case *Table:
		return s.validateTable(x)
	case *View:
		if err := s.validateColumns(x.Name, x.Columns); err != nil {
			return err
		}
		for _, dep := range x.Deps {
			if s.objs.get(dep) == nil && dep >= types.FirstUserOID {
				return sqlerr.New(sqlerr.UndefinedTable, "view \"%s\" refers to relation with OID %d, which does not exist", x.Name, dep)
			}
		}
	case *Sequence:
		return s.validateSequence(x)
	case *UserType:
		return s.validateType(x)
	case *OwnOperator:
		return s.validateOperator(x)
	case *Policy:
		return s.validatePolicy(x)
	case *ExtStats:
		return s.validateExtStats(x)
	case *Extension:
		return s.validateExtension(x)
	case *Function:
		if x.RangeType != 0 {
			return s.validateConstructor(x)
		}
		if x.Language == LanguageInternal && x.Agg == nil && x.Internal() == nil {
			return sqlerr.New(sqlerr.UndefinedFunction, "there is no built-in function named \"%s\"", x.Body)
		}
	}
	return nil
}

// validatePlace checks C2.
func (s *Snapshot) validatePlace(o Object) error {
	co := CommonOf(o)
	if co == nil {
		return fmt.Errorf("catalog: object of type %T has no common part", o)
	}
	if co.OID == 0 {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "object \"%s\" has no OID", co.Name)
	}
	switch o.(type) {
	case *Stats:
		return nil
	}
	if co.Name == "" {
		return sqlerr.New(sqlerr.InvalidName, "zero-length delimited identifier")
	}
	if len(co.Name) > maxNameLen {
		return sqlerr.New(sqlerr.NameTooLong, "identifier \"%s\" is longer than %d bytes", co.Name, maxNameLen)
	}
	switch o.(type) {
	case *Database, *Role:
		return nil
	}
	if _, ok := s.objs.get(co.DB).(*Database); !ok {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database with OID %d does not exist", co.DB)
	}
	switch o.(type) {
	case *Schema, *OwnCast, *Policy:
		return nil
	}
	if IsTempSchema(co.Schema) {
		return nil
	}
	if s.Schema(co.DB, co.Schema) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", co.Schema)
	}
	return nil
}

// validateColumns checks C3.
func (s *Snapshot) validateColumns(rel string, cols []Column) error {
	if len(cols) > MaxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", MaxColumns)
	}
	live := slices.DeleteFunc(slices.Clone(cols), func(c Column) bool { return c.Dropped })
	if err := DistinctColumns(len(live), func(i int) string { return live[i].Name }); err != nil {
		return err
	}
	for i := range live {
		c := &live[i]
		if c.Name == "" {
			return sqlerr.New(sqlerr.InvalidName, "relation \"%s\" has a column without a name", rel)
		}
		if s.TypeInfo(c.Type.OID) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", c.Type.OID)
		}
	}
	return nil
}

func liveColumn(t *Table, i int) bool {
	return i >= 0 && i < len(t.Columns) && !t.Columns[i].Dropped
}

// validateTable checks C3 to C7 for one table.
func (s *Snapshot) validateTable(t *Table) error {
	if err := s.validateColumns(t.Name, t.Columns); err != nil {
		return err
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if slices.Contains(systemColumns, c.Name) && !c.Dropped {
			return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", c.Name)
		}
		if c.Storage == StorageElements && !c.Dropped {
			if _, ok := types.ElementKeyType(c.Type); !ok {
				return sqlerr.New(sqlerr.InvalidParameterValue, "column \"%s\" of type %s cannot be stored by elements", c.Name, s.FormatType(c.Type, t.DB, nil)).
					WithDetail("Arrays, jsonb and hstore have elements.")
			}
			if slices.Contains(t.PK, i) {
				return sqlerr.New(sqlerr.InvalidParameterValue, "column \"%s\" is in the primary key and cannot be stored by elements", c.Name)
			}
		}
		if c.Sequence != 0 {
			if _, ok := s.objs.get(c.Sequence).(*Sequence); !ok {
				return sqlerr.New(sqlerr.InvalidObjectDefinition, "column \"%s\" of table \"%s\" refers to a sequence that does not exist", c.Name, t.Name)
			}
		}
	}
	if err := validatePrimary(t); err != nil {
		return err
	}
	for _, ix := range t.Indexes {
		if err := validateIndex(t, ix); err != nil {
			return err
		}
	}
	if err := s.validateCluster(t); err != nil {
		return err
	}
	if err := s.validateParents(t); err != nil {
		return err
	}
	for _, u := range t.Uniques {
		ix := t.IndexByOID(u.Index)
		if u.Exclude != nil {
			if ix == nil || len(ix.Keys) != len(u.Exclude) {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "constraint \"%s\" of table \"%s\" has no index with a key for each operator", u.Name, t.Name)
			}
			continue
		}
		if ix == nil || !ix.Unique || !slices.Equal(ix.KeyCols(), u.Cols) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "constraint \"%s\" of table \"%s\" has no unique index on its columns", u.Name, t.Name)
		}
	}
	if err := constraintNamesUnique(t); err != nil {
		return err
	}
	for _, fk := range t.ForeignKeys {
		if err := s.validateForeignKey(t, fk); err != nil {
			return err
		}
	}
	return nil
}

// validatePrimary checks C4.
func validatePrimary(t *Table) error {
	primary := 0
	for _, ix := range t.Indexes {
		if ix.Primary {
			primary++
			if !slices.Equal(ix.KeyCols(), t.PK) {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "primary key index \"%s\" does not have the columns of the primary key of table \"%s\"", ix.Name, t.Name)
			}
		}
	}
	if primary > 1 || primary == 1 && len(t.PK) == 0 || primary == 0 && len(t.PK) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name)
	}
	for _, c := range t.PK {
		if !liveColumn(t, c) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "primary key of table \"%s\" names column %d, which does not exist", t.Name, c+1)
		}
		if !t.Columns[c].NotNull {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" is in a primary key", t.Columns[c].Name)
		}
	}
	return nil
}

// validateIndex checks C5.
func validateIndex(t *Table, ix *Index) error {
	if len(ix.Keys) == 0 || len(ix.Keys)+len(ix.Include) > MaxIndexColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "cannot use more than %d columns in an index", MaxIndexColumns)
	}
	if !slices.Contains([]string{KindBtree, KindHash, KindInverted, KindGin, KindGist, KindSpgist, KindBrin}, ix.Kind) {
		return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", ix.Kind)
	}
	for _, k := range ix.Keys {
		if k.Col < 0 && k.Expr == "" || k.Col >= 0 && !liveColumn(t, k.Col) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "index \"%s\" names a column of table \"%s\" that does not exist", ix.Name, t.Name)
		}
	}
	for _, c := range ix.Include {
		if !liveColumn(t, c) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "index \"%s\" includes a column of table \"%s\" that does not exist", ix.Name, t.Name)
		}
	}
	return nil
}

// constraintNamesUnique is the rest of C1: a table's constraints.
func constraintNamesUnique(t *Table) error {
	seen := make(map[string]bool)
	for _, n := range t.constraintNames() {
		if seen[n] {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", n, t.Name)
		}
		seen[n] = true
	}
	return nil
}

// constraintNames returns the names of the table's constraints.
func (t *Table) constraintNames() []string {
	var out []string
	for _, u := range t.Uniques {
		out = append(out, u.Name)
	}
	for _, c := range t.Checks {
		out = append(out, c.Name)
	}
	for _, f := range t.ForeignKeys {
		out = append(out, f.Name)
		for _, x := range f.Targets {
			out = append(out, x.Name)
		}
	}
	return out
}

// validateForeignKey checks C6.
func (s *Snapshot) validateForeignKey(t *Table, fk *ForeignKey) error {
	ref := s.Table(fk.RefTable)
	if ref == nil || ref.DB != t.DB {
		return sqlerr.New(sqlerr.UndefinedTable, "foreign key \"%s\" of table \"%s\" refers to a table that does not exist", fk.Name, t.Name)
	}
	if len(fk.Cols) == 0 || len(fk.Cols) != len(fk.RefCols) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	// A column may stand in it several times.
	if slices.ContainsFunc(fk.Cols, func(c int) bool { return !liveColumn(t, c) }) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "foreign key \"%s\" of table \"%s\" names a column that does not exist", fk.Name, t.Name)
	}
	if ix := ref.IndexByOID(fk.RefIndex); ix == nil || !indexServesKey(ix, fk.RefCols) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table \"%s\"", ref.Name)
	}
	return nil
}

// indexServesKey reports whether the index makes the set of columns unique: no
// predicate, no expressions, the same columns in any order.
func indexServesKey(ix *Index, cols []int) bool {
	if !ix.Unique || ix.Invalid || ix.Where != "" || len(ix.Keys) != len(cols) {
		return false
	}
	for _, k := range ix.Keys {
		if k.Col < 0 || !slices.Contains(cols, k.Col) {
			return false
		}
	}
	return true
}

// validateSequence checks C7.
func (s *Snapshot) validateSequence(q *Sequence) error {
	switch {
	case q.Inc == 0:
		return sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
	case q.Min >= q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	case q.Start < q.Min:
		return sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	case q.Cache < 1:
		return sqlerr.New(sqlerr.InvalidParameterValue, "CACHE (%d) must be greater than zero", q.Cache)
	}
	if q.OwnerTable == 0 {
		return nil
	}
	t := s.Table(q.OwnerTable)
	if t == nil || t.DB != q.DB || !liveColumn(t, q.OwnerCol) {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "owner of sequence \"%s\" does not exist", q.Name)
	}
	return nil
}

func (s *Snapshot) validateType(u *UserType) error {
	switch u.Kind {
	case 'e':
		for i, l := range u.Labels {
			if len(l.Label) > maxNameLen {
				return sqlerr.New(sqlerr.InvalidName, "invalid enum label \"%s\"", l.Label).
					WithDetail("Labels must be %d bytes or less.", maxNameLen)
			}
			for _, m := range u.Labels[:i] {
				if m.Label == l.Label {
					return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"").
						WithDetail("Key (enumtypid, enumlabel)=(%d, %s) already exists.", u.OID, l.Label)
				}
			}
		}
	case 'd':
		if s.TypeInfo(u.Base.OID) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", u.Base.OID)
		}
	case 'c':
		return s.validateColumns(u.Name, u.Columns)
	case 'r', 'm':
		if u.Range == nil || s.TypeInfo(u.Range.Subtype.OID) == nil {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "type \"%s\" has no subtype", u.Name)
		}
		pair := s.TypeByOID(u.Range.Pair)
		if pair == nil || pair.Range == nil || pair.Range.Pair != u.OID || pair.Kind == u.Kind {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "type \"%s\" is not paired with a range or multirange type", u.Name)
		}
	default:
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "type \"%s\" is of unknown kind", u.Name)
	}
	return nil
}

// validateDropped checks C9 for what was there before.
func (s *Snapshot) validateDropped(before *Snapshot, del []types.OID) error {
	for _, oid := range del {
		switch x := before.objs.get(oid).(type) {
		case *Database:
			if o := s.anyObject(func(c *Common) bool { return c.DB == oid }); o != nil {
				return stillNeeded("database", oid, CommonOf(o).Name)
			}
		case *Schema:
			again := s.Schema(x.DB, x.Name) != nil // made anew
			if !again && s.anyObject(func(c *Common) bool { return c.DB == x.DB && c.Schema == x.Name }) != nil {
				return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", x.Name)
			}
		}
		if refs := s.refs.get(oid); len(refs) > 0 {
			return stillNeeded("table", oid, s.relationName(refs[0]))
		}
		if st := s.Stats(oid); st != nil {
			return stillNeeded("table", oid, st.Name)
		}
		for _, user := range s.users.get(oid) {
			if o := s.objs.get(user); cannotDoWithout(o, oid) {
				return stillNeeded("object", oid, CommonOf(o).Name)
			}
		}
	}
	return nil
}

// anyObject returns an object for which keep holds, or nil.
func (s *Snapshot) anyObject(keep func(*Common) bool) Object {
	for _, o := range s.objs.all() {
		if keep(CommonOf(o)) {
			return o
		}
	}
	return nil
}

// cannotDoWithout reports whether a reference of o is one that must not be left without
// the object.
func cannotDoWithout(o Object, oid types.OID) bool {
	is := func(t types.T) bool { return t.OID == oid || t.User == types.KArray && t.Elem == oid }
	switch x := o.(type) {
	case *Table:
		return slices.ContainsFunc(x.Columns, func(c Column) bool { return !c.Dropped && (c.Sequence == oid || is(c.Type)) })
	case *View:
		return slices.Contains(x.Deps, oid)
	case *Sequence:
		return x.OwnerTable == oid
	case *UserType:
		return x.Kind == 'd' && is(x.Base)
	}
	return false
}

func stillNeeded(kind string, oid types.OID, by string) error {
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s with OID %d because \"%s\" depends on it", kind, oid, by)
}

// IndexColumnNames are the names that the columns of an index have: those of the
// table's columns when it was made, or of the functions of expressions, numbered where
// one is taken.
func (t *Table) IndexColumnNames(ix *Index) []string {
	var names []string
	for i := range ix.Keys {
		names = addName(names, t.KeyName(&ix.Keys[i]))
	}
	for _, c := range ix.Include {
		names = addName(names, t.Columns[c].Name)
	}
	return names
}

// KeyCols returns the columns of the index's key, -1 for expressions.
func (ix *Index) KeyCols() []int {
	out := make([]int, len(ix.Keys))
	for i, k := range ix.Keys {
		out[i] = k.Col
	}
	return out
}
