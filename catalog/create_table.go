package catalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// TableSpec is what CREATE TABLE asks for. Expressions are SQL texts that the
// caller has bound already.
type TableSpec struct {
	Schema, Name string
	Columns      []ColumnSpec
	Constraints  []ConstraintSpec
	Temp         bool
	Unlogged     bool
	Options      Options
	Layout       string     // "" is LayoutRow
	Groups       [][]string // of the column layout, by column name
	Elements     []string   // columns that are stored by elements; nil: those whose Storage says so
	File         string     // "" for a name made from the table's
	Cluster      *ClusterSpec
	Parents      []types.OID
	Bound        *PartBound
	Key          *PartKey // its columns are numbers in Columns
	OfType       types.OID
}

// ColumnSpec is a column of a new table, or of ADD COLUMN. Its OwnSequence asks
// for a sequence of its own, as serial and identity columns have.
type ColumnSpec struct {
	Column
	OwnSequence *SequenceSpec
	// DefaultReads are the columns that the default reads, by name, in place of
	// DefaultCols.
	DefaultReads []string
}

// ConstraintSpec is a constraint to be made.
type ConstraintSpec struct {
	Kind byte   // p primary key, u unique, x exclude, c check, f foreign key
	Name string // "" for a generated name
	// Comment is of c, those of LIKE … INCLUDING COMMENTS.
	Comment string

	Cols             []string // of p, u, f
	Include          []string
	UsingIndex       string // p, u: an existing index becomes the constraint's
	NullsNotDistinct bool
	IndexOptions     Options // of WITH
	IndexComment     string  // of LIKE … INCLUDING COMMENTS
	IndexKind        string  // "" is btree
	IndexFile        string  // "" for a name made from the index's

	Copied bool // of p, u, x: it is one of LIKE

	Index   *IndexSpec // of x
	Exclude []string   // of x, see Unique

	Expr     string // of c
	ExprCols []string
	TableOID bool // it reads tableoid, too, which counts where a name is made
	WholeRow bool // it reads the row as a whole, which counts, too
	NoInherit,
	NotValid bool
	Inherited      // of c
	Only      bool // of a partitioned table: its partitions get no part of it

	RefSchema, RefTable string
	RefMissing          error // of f: what is said where no relation has that name; nil: that there is none
	RefCols             []string
	OnDelete, OnUpdate  byte // 0 is NO ACTION
	DelCols             []string
	Match               byte // 0 is SIMPLE

	Deferrable, InitiallyDeferred bool
}

func oidString(o types.OID) string { return strconv.FormatUint(uint64(o), 10) }

// CreateTable makes a table with its sequences, indexes and constraints.
func (c *Change) CreateTable(spec *TableSpec) (*Table, error) {
	mark := c.Mark()
	t, err := c.createTable(spec)
	if err != nil {
		c.RollbackTo(mark)
		return nil, err
	}
	return t, nil
}

// DistinctColumns refuses a list of columns with the first name that comes again in it.
func DistinctColumns(n int, name func(int) string) error {
	last := make(map[string]int, n)
	for i := range n {
		last[name(i)] = i
	}
	for i := range n {
		if last[name(i)] != i {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name(i))
		}
	}
	return nil
}

// CheckNewTable checks what a new table's columns and the table itself are called.
func (c *Change) CheckNewTable(spec *TableSpec) error {
	if len(spec.Columns) > MaxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", MaxColumns)
	}
	if err := DistinctColumns(len(spec.Columns), func(i int) string { return spec.Columns[i].Name }); err != nil {
		return err
	}
	for i := range spec.Columns {
		if name := spec.Columns[i].Name; IsSystemColumn(name) {
			return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", name)
		}
	}
	if err := c.freeRelation(spec.Schema, spec.Name); err != nil {
		return err
	}
	return c.freeRowType(spec.Schema, spec.Name)
}

func (c *Change) createTable(spec *TableSpec) (*Table, error) {
	if err := c.CheckNewTable(spec); err != nil {
		return nil, err
	}
	checks := make(map[string]bool)
	for i := range spec.Constraints {
		k := &spec.Constraints[i]
		if k.Kind != 'c' || k.Name == "" {
			continue
		}
		if checks[k.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateObject, "check constraint \"%s\" already exists", k.Name)
		}
		checks[k.Name] = true
	}
	t := &Table{Common: c.common(spec.Schema, spec.Name), Temp: spec.Temp, Unlogged: spec.Unlogged, Options: spec.Options}
	t.RowType, t.RowArray = c.alloc.AllocOID(), c.alloc.AllocOID()
	t.Space = c.alloc.AllocSpace()
	t.Parents, t.Bound, t.Key, t.OfType = spec.Parents, spec.Bound, spec.Key, spec.OfType
	if !spec.Temp && t.Key == nil {
		t.File = spec.File
		if t.File == "" {
			t.File = c.fileName(fileBase(t.Schema, t.Name), ".kv", t.OID)
		}
	}
	for i := range spec.Columns {
		t.Columns = append(t.Columns, spec.Columns[i].Column)
	}
	for i := range spec.Columns {
		for _, name := range spec.Columns[i].DefaultReads {
			if k := t.Col(name); k >= 0 {
				t.Columns[i].DefaultCols = append(t.Columns[i].DefaultCols, k)
			}
		}
	}
	if k := spec.Cluster; k != nil {
		make := c.rootCluster
		switch {
		case !slices.ContainsFunc(spec.Constraints, func(k ConstraintSpec) bool { return k.Kind == 'p' }):
			make = c.laterCluster
		case k.With != "":
			make = c.childCluster
		}
		if err := make(t, k); err != nil {
			return nil, err
		}
	}
	layout := spec.Layout
	if layout == "" {
		layout = LayoutRow
	}
	// The primary key is not known yet; its columns must not get groups for now.
	t.Layout = LayoutRow
	if err := c.put(t); err != nil {
		return nil, err
	}
	for i := range spec.Columns {
		if s := spec.Columns[i].OwnSequence; s != nil {
			if err := c.ownSequence(t.OID, i, s, spec.Columns[i].Identity != 0); err != nil {
				return nil, err
			}
		}
	}
	if t.Bound != nil {
		if err := c.giveParts(t.Parents[0], t.OID); err != nil {
			return nil, err
		}
	}
	n, err := c.addConstraints(t.OID, spec.Constraints)
	if err != nil {
		return nil, err
	}
	if n.Cluster != nil {
		if err := c.clusterForeignKey(n); err != nil {
			return nil, err
		}
		n, err = c.table(t.OID)
	}
	if err == nil && spec.Elements != nil {
		n, err = c.SetElements(t.OID, spec.Elements)
	}
	if err != nil || layout == LayoutRow && spec.Groups == nil {
		return n, err
	}
	return c.SetLayout(t.OID, layout, spec.Groups)
}

// addConstraints adds constraints in PostgreSQL's order: the primary key first,
// then unique constraints, checks, and foreign keys (which may refer to the
// table itself).
func (c *Change) addConstraints(table types.OID, specs []ConstraintSpec) (*Table, error) {
	for _, kind := range []byte{'c', 'p', 'u', 'x', 'f'} {
		for i := range specs {
			if specs[i].Kind == kind {
				if _, err := c.AddConstraint(table, &specs[i]); err != nil {
					return nil, err
				}
			}
		}
	}
	return c.table(table)
}

// ownSequence makes the sequence of a serial or identity column.
func (c *Change) ownSequence(table types.OID, col int, spec *SequenceSpec, identity bool) error {
	t, err := c.table(table)
	if err != nil {
		return err
	}
	s := *spec
	s.Schema, s.Temp, s.Unlogged = t.Schema, t.Temp, t.Unlogged
	if s.Name == "" {
		s.Name = c.SequenceName(t.Schema, t.Name, t.Columns[col].Name)
	}
	var q *Sequence
	if made, ok := c.snap.Object(s.Made).(*Sequence); ok {
		own := *made
		q = &own
	} else if q, err = c.newSequence(&s); err != nil {
		return err
	}
	q.OwnerTable, q.OwnerCol, q.Identity = t.OID, col, identity
	q.Owner = t.Owner // whoever adds the column
	n := copyTable(t)
	n.Columns[col].Sequence = q.OID
	n.Columns[col].NotNull = true
	if !identity {
		n.Columns[col].Default = nextvalText(q)
	}
	return c.put(q, n)
}

// nextvalText is the default of a serial column.
func nextvalText(q *Sequence) string {
	return "nextval('" + strings.ReplaceAll(QuoteIdent(q.Schema)+"."+QuoteIdent(q.Name), "'", "''") + "'::regclass)"
}

// SequenceName returns the name that a serial column's sequence gets.
func (c *Change) SequenceName(schema, table, col string) string {
	return chooseName(table, col, "seq", func(n string) bool { return c.relationTaken(schema, n) })
}

// keyColumns resolves the columns of a key; what names the constraint in
// messages.
func keyColumns(t *Table, names []string, what string) ([]int, error) {
	out := make([]int, 0, len(names))
	for _, n := range names {
		i := t.Col(n)
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in key does not exist", n)
		}
		if slices.Contains(out, i) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" appears twice in %s constraint", n, what)
		}
		out = append(out, i)
	}
	return out, nil
}

// CheckKey checks the columns of a primary key or unique constraint of a table.
func (s *ConstraintSpec) CheckKey(t *Table) error {
	if s.UsingIndex != "" {
		return nil
	}
	_, err := keyColumns(t, s.Cols, keyKinds[s.Kind])
	if err == nil {
		_, err = keyColumns(t, s.Include, keyKinds[s.Kind])
	}
	return err
}

// keyKinds is what messages call the constraints with an index.
var keyKinds = map[byte]string{'p': "primary key", 'u': "unique"}

// AddConstraint adds a constraint to the table. Whether existing rows satisfy it
// is the caller's business.
func (c *Change) AddConstraint(table types.OID, spec *ConstraintSpec) (*Table, error) {
	mark := c.Mark()
	if spec.UsingIndex != "" && (spec.Kind == 'p' || spec.Deferrable) {
		own, err := c.moveIndex(table, spec)
		if err != nil {
			c.RollbackTo(mark)
			return nil, err
		}
		spec = own
	}
	t, err := c.edit(table, func(t *Table) error {
		if spec.Name != "" && slices.Contains(t.constraintNames(), spec.Name) && spec.Kind != 'p' && spec.Kind != 'u' && spec.Kind != 'x' {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", spec.Name, t.Name)
		}
		switch spec.Kind {
		case 'p', 'u':
			return c.addUnique(t, spec)
		case 'x':
			return c.addExclusion(t, spec)
		case 'c':
			return c.addCheck(t, spec)
		case 'f':
			return c.addForeignKey(t, spec)
		}
		return sqlerr.New(sqlerr.InternalError, "unknown constraint kind %q", spec.Kind)
	})
	if err == nil && t.Key != nil {
		t, err = c.spreadConstraint(t, spec)
	}
	if err != nil {
		c.RollbackTo(mark)
		return nil, err
	}
	return t, nil
}

func (c *Change) addUnique(t *Table, spec *ConstraintSpec) error {
	primary := spec.Kind == 'p'
	what, label := keyKinds[spec.Kind], "key"
	if primary {
		label = "pkey"
	}
	if primary && len(t.PK) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name)
	}
	if spec.UsingIndex != "" {
		return c.adoptIndex(t, spec)
	}
	cols, err := keyColumns(t, spec.Cols, what)
	if err != nil {
		return err
	}
	include, err := keyColumns(t, spec.Include, what)
	if err != nil {
		return err
	}
	name := spec.Name
	if name == "" {
		middle := ""
		if !primary {
			var names []string
			for _, n := range slices.Concat(spec.Cols, spec.Include) {
				names = addName(names, n)
			}
			middle = joinColumnNames(names)
		}
		name = chooseName(t.Name, middle, label, func(n string) bool {
			return c.relationTaken(t.Schema, n) || c.constraintTaken(t.Schema, n)
		})
	} else if c.relationTaken(t.Schema, name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	} else if slices.Contains(t.constraintNames(), name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", name, t.Name)
	}
	u := &Unique{OID: c.alloc.AllocOID(), Name: name, Primary: primary, Cols: cols,
		Deferrable: spec.Deferrable, InitiallyDeferred: spec.InitiallyDeferred}
	ix := &Index{OID: c.alloc.AllocOID(), Name: name, Unique: true, Primary: primary, Kind: "btree", Include: include,
		Constraint: u.OID, NullsNotDistinct: spec.NullsNotDistinct, Options: spec.IndexOptions, Comment: spec.IndexComment}
	if spec.IndexKind != "" {
		ix.Kind = spec.IndexKind
	}
	u.Index = ix.OID
	for _, i := range cols {
		if err := c.hasOpclass(OIDBtreeAm, KindBtree, t.Columns[i].Type); err != nil {
			return err
		}
		ix.Keys = append(ix.Keys, IndexKey{Col: i, Type: t.Columns[i].Type})
	}
	if primary {
		t.PK = cols
		for _, i := range cols {
			t.Columns[i].NotNull = true
		}
	}
	if err := t.keyCovers(ix, keyWord(u)); err != nil {
		return err
	}
	if !primary || t.Cluster != nil || spec.Deferrable {
		c.indexFile(t, ix, spec.IndexFile)
	}
	t.Indexes = append(t.Indexes, ix)
	t.Uniques = append(t.Uniques, u)
	return nil
}

// indexFile gives an index its space and file.
func (c *Change) indexFile(t *Table, ix *Index, file string) {
	if t.Key != nil {
		return // its partitions have the files
	}
	ix.Space = c.alloc.AllocSpace()
	if t.Temp {
		return
	}
	ix.File = file
	if file == "" {
		ix.File = c.fileName(fileBase(t.Schema, ix.Name), ".ind", ix.OID)
	}
}

// Adoptable checks that an index of the table can become that of the constraint.
func (t *Table) Adoptable(spec *ConstraintSpec) error {
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Name == spec.UsingIndex })
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "index \"%s\" does not exist", spec.UsingIndex)
	}
	ix := t.Indexes[i]
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.WrongObjectType, format, args...).
			WithDetail("Cannot create a primary key or unique constraint using such an index.")
	}
	switch {
	case ix.Constraint != 0:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "index \"%s\" is already associated with a constraint", ix.Name)
	case ix.Invalid:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "index \"%s\" is not valid", ix.Name)
	case !ix.Unique:
		return bad("\"%s\" is not a unique index", ix.Name)
	case slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return k.Col < 0 }):
		return bad("index \"%s\" contains expressions", ix.Name)
	case ix.Where != "":
		return bad("\"%s\" is a partial index", ix.Name)
	}
	for i, k := range ix.Keys {
		if k.Desc || k.NullsFirst || k.Opclass != "" || k.Collation != "" {
			return bad("index \"%s\" column number %d does not have default sorting behavior", ix.Name, i+1)
		}
	}
	return nil
}

// moveIndex takes an index away that is to become one of another kind: the rows of
// a primary key are in the master file, and a deferrable constraint's entries have
// another form. It returns the constraint as one with a new index.
func (c *Change) moveIndex(table types.OID, spec *ConstraintSpec) (*ConstraintSpec, error) {
	own := *spec
	_, err := c.edit(table, func(t *Table) error {
		if err := t.Adoptable(spec); err != nil {
			return err
		}
		i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Name == spec.UsingIndex })
		ix := t.Indexes[i]
		own.UsingIndex, own.NullsNotDistinct, own.IndexOptions = "", ix.NullsNotDistinct, ix.Options
		for _, k := range ix.KeyCols() {
			own.Cols = append(own.Cols, t.Columns[k].Name)
		}
		for _, k := range ix.Include {
			own.Include = append(own.Include, t.Columns[k].Name)
		}
		if own.Name == "" {
			own.Name = ix.Name
		}
		if own.Name != ix.Name {
			c.tell(c.notice("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"", ix.Name, own.Name))
		}
		t.Indexes = slices.Delete(slices.Clone(t.Indexes), i, i+1)
		return nil
	})
	return &own, err
}

// adoptIndex is ADD CONSTRAINT … USING INDEX.
func (c *Change) adoptIndex(t *Table, spec *ConstraintSpec) error {
	if err := t.Adoptable(spec); err != nil {
		return err
	}
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Name == spec.UsingIndex })
	ix := *t.Indexes[i]
	name := spec.Name
	if name == "" {
		name = ix.Name
	}
	if name != ix.Name {
		if c.relationTaken(t.Schema, name) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
		}
		c.tell(c.notice("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"", ix.Name, name))
		ix.Name = name
	}
	u := &Unique{OID: c.alloc.AllocOID(), Name: name, Cols: ix.KeyCols(), Index: ix.OID,
		Deferrable: spec.Deferrable, InitiallyDeferred: spec.InitiallyDeferred}
	ix.Constraint = u.OID
	t.Indexes[i] = &ix
	t.Uniques = append(t.Uniques, u)
	return nil
}

func (c *Change) addCheck(t *Table, spec *ConstraintSpec) error {
	var cols []int
	for _, n := range spec.ExprCols {
		i := t.Col(n)
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", n)
		}
		if !slices.Contains(cols, i) {
			cols = append(cols, i)
		}
	}
	name := spec.Name
	if name == "" {
		middle := ""
		switch {
		case len(cols) == 1 && !spec.TableOID && !spec.WholeRow:
			middle = t.Columns[cols[0]].Name
		case len(cols) == 0 && spec.TableOID && !spec.WholeRow:
			middle = "tableoid"
		}
		name = chooseName(t.Name, middle, "check", func(n string) bool { return c.constraintTaken(t.Schema, n) })
	}
	t.Checks = append(t.Checks, &Check{OID: c.alloc.AllocOID(), Name: name, Expr: spec.Expr, Cols: cols,
		NotValid: spec.NotValid, NoInherit: spec.NoInherit, Comment: spec.Comment,
		Inherited: spec.Inherited})
	return nil
}
