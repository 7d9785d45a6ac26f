package ddl

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// tableBuilder turns column and constraint definitions into a TableSpec.
// Expressions are bound at the end, when all columns are known.
type tableBuilder struct {
	*exec
	spec        *catalog.TableSpec
	ofPartition bool // the columns are those of PARTITION OF
	// texts to bind: per spec column, and per constraint
	defaults   map[int]ast.Expr
	genCols    map[int]ast.Expr
	checks     map[int]ast.Expr
	exclusions map[int]*ast.Constraint
	keys       []*ast.Constraint    // per primary key and unique constraint of the spec its definition, nil for those of LIKE
	indexes    []*catalog.IndexSpec // of LIKE … INCLUDING INDEXES, beside the constraints'
	statistics []likeStatistics
	stored     map[string]bool // the columns of LIKE … INCLUDING STORAGE
}

var serials = map[string]types.T{"serial": types.TInt4, "serial4": types.TInt4, "bigserial": types.TInt8, "serial8": types.TInt8,
	"smallserial": types.TInt2, "serial2": types.TInt2}

// column adds a column with its constraints.
func (b *tableBuilder) column(c *ast.ColumnDef) error {
	spec := catalog.ColumnSpec{Column: catalog.Column{Name: c.Name}}
	serial := false
	if t, ok := serials[c.Type.Name.Last()]; ok && c.Type.Name.Schema() == "" {
		if c.Type.Dims > 0 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "array of serial is not implemented").At(c.Type.Pos())
		}
		spec.Type, serial = t, true
		spec.NotNull = true
		spec.OwnSequence = &catalog.SequenceSpec{Type: t}
	} else {
		t, err := planner.ResolveType(b.Planner(), &c.Type)
		if err != nil {
			return err
		}
		if err := storable(c.Name, t); err != nil {
			return err
		}
		if err := b.mayUseType(t); err != nil {
			return err
		}
		spec.Type, spec.Dims = t, c.Type.Dims
	}
	var err error
	if spec.Collation, err = b.collation(c.Collate, spec.Type); err != nil {
		return err
	}
	if c.Storage != "" {
		if spec.Storage, err = b.storage(spec.Type, c.Storage, c.Pos()); err != nil {
			return err
		}
	}
	if c.Compression != "" {
		if spec.Compression, err = b.compression(spec.Type, c.Compression); err != nil {
			return err
		}
	}
	b.spec.Columns = append(b.spec.Columns, spec)
	return b.columnConstraints(len(b.spec.Columns)-1, c, serial)
}

// columnConstraints adds the constraints of a definition to column i.
func (b *tableBuilder) columnConstraints(i int, c *ast.ColumnDef, serial bool) error {
	col := &b.spec.Columns[i]
	nullSeen := false
	for k := range c.Constraints {
		k := &c.Constraints[k]
		conflict := func() error {
			return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", c.Name, b.spec.Name).At(k.Pos())
		}
		switch k.Kind {
		case "NOT NULL":
			if nullSeen {
				return conflict()
			}
			col.NotNull = true
		case "NULL":
			if col.NotNull {
				return conflict()
			}
			nullSeen = true
		case "DEFAULT":
			if serial {
				return sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"", c.Name, b.spec.Name)
			}
			if b.defaults[i] != nil {
				return sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"", c.Name, b.spec.Name).At(k.Pos())
			}
			if b.defaults == nil {
				b.defaults = map[int]ast.Expr{}
			}
			b.defaults[i] = k.Expr
		case "GENERATED":
			if b.ofPartition {
				return sqlerr.New(sqlerr.FeatureNotSupported, "generated columns are not supported on partitions")
			}
			if col.Generated {
				return sqlerr.New(sqlerr.SyntaxError, "multiple generation clauses specified for column \"%s\" of table \"%s\"", c.Name, b.spec.Name).At(k.Pos())
			}
			if b.genCols == nil {
				b.genCols = map[int]ast.Expr{}
			}
			b.genCols[i] = k.Expr
			col.Generated = true
		case "IDENTITY":
			if b.ofPartition {
				return sqlerr.New(sqlerr.FeatureNotSupported, "identity columns are not supported on partitions")
			}
			kk := col.Type.Kind()
			if kk != types.KInt2 && kk != types.KInt4 && kk != types.KInt8 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
			}
			if col.Identity != 0 {
				return sqlerr.New(sqlerr.SyntaxError, "multiple identity specifications for column \"%s\" of table \"%s\"", c.Name, b.spec.Name).At(k.Pos())
			}
			if nullSeen {
				return conflict()
			}
			col.Identity, col.NotNull = 'd', true
			if k.Always {
				col.Identity = 'a'
			}
			for i := range k.SeqOptions {
				if o := &k.SeqOptions[i]; o.Name == "as" {
					return redundant(o)
				}
			}
			seq := &catalog.SequenceSpec{Type: col.Type}
			if err := b.sequenceOptions(seq, k.SeqOptions); err != nil {
				return err
			}
			col.OwnSequence = seq
		default:
			if err := b.constraint(k, c.Name); err != nil {
				return err
			}
		}
		if err := b.oneSource(i, k.Pos()); err != nil {
			return err
		}
	}
	if serial && col.Generated {
		return sqlerr.New(sqlerr.SyntaxError, "both default and generation expression specified for column \"%s\" of table \"%s\"", c.Name, b.spec.Name)
	}
	if serial && col.Identity != 0 {
		return sqlerr.New(sqlerr.SyntaxError, "both default and identity specified for column \"%s\" of table \"%s\"", c.Name, b.spec.Name)
	}
	return nil
}

// oneSource refuses a column with more than one of a default, an identity and a
// generation expression.
func (b *tableBuilder) oneSource(i, pos int) error {
	col := &b.spec.Columns[i]
	both := ""
	switch {
	case b.defaults[i] != nil && col.Identity != 0:
		both = "default and identity"
	case b.defaults[i] != nil && col.Generated:
		both = "default and generation expression"
	case col.Identity != 0 && col.Generated:
		both = "identity and generation expression"
	default:
		return nil
	}
	return sqlerr.New(sqlerr.SyntaxError, "both %s specified for column \"%s\" of table \"%s\"", both, col.Name, b.spec.Name).At(pos)
}

// collation checks COLLATE for values of a type and returns what is kept of it;
// without COLLATE, what the type brings along.
func (x *exec) collation(n *ast.Name, t types.T) (string, error) {
	if n == nil {
		return x.snap().TypeCollation(t), nil
	}
	if err := planner.KnownCollation(n); err != nil {
		return "", err
	}
	base := x.snap().BaseType(t)
	if base.Kind() == types.KArray {
		base = x.snap().BaseType(base.ElemType())
	}
	if base.Kind() != types.KText {
		return "", sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", x.typeName(t)).At(n.Pos())
	}
	return collationName(n), nil
}

// keyCollation checks COLLATE of a key of an index or partition, whose values have
// collation own otherwise, and returns what is kept of it: "" when it is that one.
func (x *exec) keyCollation(n *ast.Name, t types.T, own string) (string, error) {
	if n == nil {
		return "", nil
	}
	c, err := x.collation(n, t)
	if err != nil {
		return "", withoutPosition(err)
	}
	if c == own {
		return "", nil
	}
	return collationText(c), nil
}

// collationName is a collation as a column keeps it: none for the default.
func collationName(n *ast.Name) string {
	if name := n.Last(); name != "default" {
		return name
	}
	return ""
}

// constraint adds a table constraint, or one written at a column.
func (b *tableBuilder) constraint(k *ast.Constraint, col string) error {
	s, err := b.constraintSpec(k, col)
	if err != nil {
		return err
	}
	if s.Kind == 'f' && s.RefTable == b.spec.Name && (s.RefSchema == "" || k.RefTable.Schema() == "") {
		s.RefSchema = b.spec.Schema // the table itself, which is not there yet
	}
	if s.Kind == 'c' {
		if b.checks == nil {
			b.checks = map[int]ast.Expr{}
		}
		b.checks[len(b.spec.Constraints)] = k.Expr
	}
	if s.Kind == 'x' {
		if b.exclusions == nil {
			b.exclusions = map[int]*ast.Constraint{}
		}
		b.exclusions[len(b.spec.Constraints)] = k
	}
	s.NotValid = false // there are no rows
	if s.Kind == 'p' || s.Kind == 'u' {
		b.keys = append(b.keys, k)
	}
	b.spec.Constraints = append(b.spec.Constraints, *s)
	return nil
}

// checkKeys checks the columns of the definition's primary key and unique
// constraints, and the parameters of their indexes.
func (b *tableBuilder) checkKeys() error {
	t := b.probe()
	primary, next := false, 0
	for i := range b.spec.Constraints {
		s := &b.spec.Constraints[i]
		if s.Kind != 'p' && s.Kind != 'u' {
			continue
		}
		k := b.keys[next]
		if next++; k == nil {
			k = &ast.Constraint{Off: -1}
		}
		if s.Kind == 'p' && k.Off >= 0 { // that of LIKE comes last, wherever it stands
			if primary {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name).At(k.Pos())
			}
			primary = true
		}
		if err := s.CheckKey(t); err != nil {
			return positioned(err, k.Pos())
		}
	}
	next = 0
	for i := range b.spec.Constraints {
		s := &b.spec.Constraints[i]
		if s.Kind != 'p' && s.Kind != 'u' {
			continue
		}
		k := b.keys[next]
		if next++; k == nil {
			continue // of LIKE
		}
		var err error
		if s.IndexOptions, err = keyOptions(catalog.KindBtree, k); err != nil {
			return err
		}
	}
	return nil
}

// dropRepeatedKeys leaves one of several constraints that would have the same index: the
// primary key or else the first, which takes the name of another if it has none. Those
// of LIKE all stay.
func (b *tableBuilder) dropRepeatedKeys() {
	keyed := func(s *catalog.ConstraintSpec) bool { return s.Kind == 'p' || s.Kind == 'u' || s.Kind == 'x' }
	same := func(a, o *catalog.ConstraintSpec) bool {
		return (a.Kind == 'x') == (o.Kind == 'x') && slices.Equal(a.Cols, o.Cols) && slices.Equal(a.Include, o.Include) &&
			slices.Equal(a.Exclude, o.Exclude) && reflect.DeepEqual(a.Index, o.Index) && a.NullsNotDistinct == o.NullsNotDistinct &&
			a.Deferrable == o.Deferrable && a.InitiallyDeferred == o.InitiallyDeferred
	}
	var kept []catalog.ConstraintSpec
	primary := slices.IndexFunc(b.spec.Constraints, func(s catalog.ConstraintSpec) bool { return s.Kind == 'p' && !s.Copied })
	for i := range b.spec.Constraints {
		s := &b.spec.Constraints[i]
		var before *catalog.ConstraintSpec
		if keyed(s) && !s.Copied && i != primary {
			if primary > i && same(&b.spec.Constraints[primary], s) {
				before = &b.spec.Constraints[primary]
			} else if k := slices.IndexFunc(kept, func(o catalog.ConstraintSpec) bool { return keyed(&o) && !o.Copied && same(&o, s) }); k >= 0 {
				before = &kept[k]
			}
		}
		if before == nil {
			kept = append(kept, *s)
		} else if before.Name == "" {
			before.Name = s.Name
		}
	}
	b.spec.Constraints = kept
}

// positioned gives an error a position.
func positioned(err error, pos int) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e.At(pos)
	}
	return err
}

func (x *exec) constraintSpec(k *ast.Constraint, col string) (*catalog.ConstraintSpec, error) {
	s := &catalog.ConstraintSpec{Name: k.Name, Cols: k.Cols, Include: k.Include, UsingIndex: k.UsingIndex,
		NullsNotDistinct: k.NullsNotDist, NoInherit: k.NoInherit, NotValid: k.NotValid}
	if col != "" && len(s.Cols) == 0 {
		s.Cols = []string{col}
	}
	if k.Deferrable != nil {
		s.Deferrable = *k.Deferrable
	}
	if k.Initially == "DEFERRED" {
		s.Deferrable, s.InitiallyDeferred = true, true
	}
	switch k.Kind {
	case "PRIMARY KEY":
		s.Kind = 'p'
	case "UNIQUE":
		s.Kind = 'u'
	case "CHECK":
		s.Kind, s.Cols = 'c', nil // the expression is bound when all columns are known
	case "FOREIGN KEY":
		s.Kind = 'f'
		s.RefSchema, s.RefTable, s.RefCols = k.RefTable.Schema(), k.RefTable.Last(), k.RefCols
		ref := x.lookup(k.RefTable)
		if ref != nil {
			if err := x.usable(k.RefTable); err != nil {
				return s, err
			}
			s.RefSchema, _ = ref.RelName()
		} else {
			s.RefMissing = x.noRelation(k.RefTable)
		}
		if t, ok := ref.(*catalog.Table); ok {
			cols := t.PK
			if len(k.RefCols) > 0 {
				cols = nil
				for _, n := range k.RefCols {
					cols = append(cols, t.Col(n))
				}
			}
			if err := x.references(t, cols); err != nil {
				return nil, err
			}
		}
		s.OnDelete, s.OnUpdate, s.DelCols = action(k.OnDelete), action(k.OnUpdate), k.DelCols
		switch k.Match {
		case "PARTIAL":
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented").At(k.Pos())
		case "FULL":
			s.Match = 'f'
		}
	case "EXCLUDE":
		s.Kind = 'x'
	default:
		return nil, sqlerr.Unsupported(k.Pos(), "constraint %s", k.Kind)
	}
	return s, nil
}

func action(s string) byte {
	switch s {
	case "RESTRICT":
		return 'r'
	case "CASCADE":
		return 'c'
	case "SET NULL":
		return 'n'
	case "SET DEFAULT":
		return 'd'
	}
	return 'a'
}

// probe is the table as far as it is known, to bind expressions against.
func (b *tableBuilder) probe() *catalog.Table {
	t := &catalog.Table{}
	t.Name, t.Schema = b.spec.Name, b.spec.Schema
	for i := range b.spec.Columns {
		t.Columns = append(t.Columns, b.spec.Columns[i].Column)
	}
	return t
}

// bindTexts checks defaults, generation expressions and checks, and keeps
// their texts.
func (b *tableBuilder) bindTexts() error {
	t := b.probe()
	for i, e := range b.defaults {
		c := &b.spec.Columns[i]
		var err error
		if c.Default, c.DefaultDeps, err = b.defaultText(e, c.Type, c.Name); err != nil {
			return err
		}
	}
	for i, e := range b.genCols {
		c := &b.spec.Columns[i]
		if r := systemColumn(e, t); r != nil {
			return sqlerr.New(sqlerr.InvalidColumnReference, "cannot use system column \"%s\" in column generation expression", r.Parts[len(r.Parts)-1]).At(r.Pos())
		}
		x, err := planner.StoredExpr(b.Planner(), e, t, c.Type, "column generation expressions")
		// the whole row is found before the expression's type is looked at
		mistyped, _ := err.(*sqlerr.Error)
		if at := wholeRow(e, t); at >= 0 && (err == nil || mistyped != nil && mistyped.Code == sqlerr.DatatypeMismatch) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use whole-row variable in column generation expression").
				At(at).WithDetail("This would cause the generated column to depend on its own value.")
		}
		if err != nil {
			return ofColumn(err, c.Name)
		}
		for _, k := range x.Cols {
			if k >= 0 && t.Columns[k].Generated {
				return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column \"%s\" in column generation expression", t.Columns[k].Name).
					At(placeOfColumn(e, t.Columns[k].Name)).WithDetail("A generated column cannot reference another generated column.")
			}
		}
		if volatileBelow(x.Expr, 'i') {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "generation expression is not immutable")
		}
		c.Default, c.DefaultCols = x.Text, x.Cols
	}
	for i, e := range b.checks {
		if err := b.bindCheck(&b.spec.Constraints[i], e, t); err != nil {
			return err
		}
	}
	for _, i := range slices.Sorted(maps.Keys(b.exclusions)) {
		if err := b.bindExclusion(&b.spec.Constraints[i], b.exclusions[i], t, b.exclusions[i].Pos()); err != nil {
			return err
		}
	}
	return nil
}

// bindExclusion gives an exclusion constraint its index and its operators; a column that
// is missing is so at pos.
func (x *exec) bindExclusion(spec *catalog.ConstraintSpec, k *ast.Constraint, t *catalog.Table, pos int) error {
	method, err := x.accessMethod(k.Method)
	if err != nil {
		return err
	}
	options, err := keyOptions(method, k)
	if err != nil {
		return err
	}
	spec.Index = &catalog.IndexSpec{Kind: method, Include: k.Include, Options: options}
	elems := make([]ast.IndexElem, len(k.Exclude))
	for i := range k.Exclude {
		e := &k.Exclude[i]
		if e.Schema != "" && e.Schema != "pg_catalog" {
			return sqlerr.Unsupported(e.Pos(), "an exclusion constraint with a user-defined operator")
		}
		elems[i], spec.Exclude = e.IndexElem, append(spec.Exclude, e.Op)
		if e.Col != "" && t.Col(e.Col) < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in key does not exist", e.Col).At(pos)
		}
	}
	return x.bindIndex(t, spec.Index, elems, k.Where)
}

// wholeRow is where an expression names its table's whole row, -1 if nowhere.
func wholeRow(e ast.Expr, t *catalog.Table) int {
	at := -1
	ast.Walk(e, func(n ast.Node) bool {
		if r, ok := n.(*ast.ColumnRef); ok && len(r.Parts) == 1 && r.Parts[0] == t.Name && t.Col(t.Name) < 0 {
			at = r.Pos()
		}
		return true
	})
	return at
}

// placeOfColumn is where an expression names a column.
func placeOfColumn(e ast.Expr, name string) int {
	pos := e.Pos()
	ast.Walk(e, func(n ast.Node) bool {
		if r, ok := n.(*ast.ColumnRef); ok && len(r.Parts) > 0 && r.Parts[len(r.Parts)-1] == name {
			pos = r.Pos()
		}
		return true
	})
	return pos
}

// systemColumn returns a reference of an expression to a system column that a
// stored expression cannot read: any but tableoid.
func systemColumn(e ast.Expr, t *catalog.Table) *ast.ColumnRef {
	return systemColumnBut(e, t, "tableoid")
}

// readsSystemColumn reports whether an expression has a system column, tableoid too.
func readsSystemColumn(e ast.Expr, t *catalog.Table) bool { return systemColumnBut(e, t, "") != nil }

func systemColumnBut(e ast.Expr, t *catalog.Table, but string) (found *ast.ColumnRef) {
	ast.Walk(e, func(n ast.Node) bool {
		if r, ok := n.(*ast.ColumnRef); ok && found == nil && len(r.Parts) > 0 {
			name := r.Parts[len(r.Parts)-1]
			if catalog.IsSystemColumn(name) && name != but && t.Col(name) < 0 {
				found = r
			}
		}
		return true
	})
	return found
}

// bindCheck gives a check constraint its text and the columns that it reads.
func (x *exec) bindCheck(k *catalog.ConstraintSpec, e ast.Expr, t *catalog.Table) error {
	if r := systemColumn(e, t); r != nil {
		return sqlerr.New(sqlerr.InvalidColumnReference, "system column \"%s\" reference in check constraint is invalid", r.Parts[len(r.Parts)-1]).At(r.Pos())
	}
	s, err := planner.StoredExpr(x.Planner(), e, t, types.TBool, "check constraints")
	if err != nil {
		return err
	}
	k.Expr, k.ExprCols, k.TableOID, k.WholeRow = s.Text, nil, readsSystemColumn(e, t), s.Whole
	for _, c := range s.Cols {
		if c >= 0 {
			k.ExprCols = append(k.ExprCols, t.Columns[c].Name)
		}
	}
	return nil
}

// defaultText checks a default and returns its text and the sequences that it
// reads; NULL is no default.
func (x *exec) defaultText(e ast.Expr, want types.T, col string) (string, []types.OID, error) {
	var bad error
	ast.Walk(e, func(n ast.Node) bool {
		if r, ok := n.(*ast.ColumnRef); ok && bad == nil {
			bad = sqlerr.New(sqlerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression").At(r.Pos())
		}
		return true
	})
	if bad != nil {
		return "", nil, bad
	}
	s, err := planner.StoredExpr(x.Planner(), e, nil, want, "DEFAULT expressions")
	if err != nil {
		return "", nil, ofColumn(err, col)
	}
	if s.Null {
		return "", nil, nil
	}
	return s.Text, s.Deps, nil
}

// ofColumn names the column in the error for an expression that its type does not take.
func ofColumn(err error, col string) error {
	se, ok := err.(*sqlerr.Error)
	if !ok || se.Code != sqlerr.DatatypeMismatch || !strings.HasPrefix(se.Message, "column is of type") {
		return err
	}
	c := *se
	c.Message = "column \"" + col + "\"" + strings.TrimPrefix(se.Message, "column")
	return &c
}

// findTable resolves a table's name along the search path.
func (x *exec) findTable(n *ast.Name) (*catalog.Table, error) {
	r, err := x.relation(n)
	if err != nil {
		return nil, err
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", n.Last())
	}
	return t, nil
}

func (x *exec) lookup(n *ast.Name) catalog.Relation {
	if s := n.Schema(); s != "" {
		if s == "pg_temp" {
			s = x.Temp
		}
		return x.snap().Relation(x.db(), s, n.Last())
	}
	if x.Temp != "" {
		if r := x.snap().Relation(x.db(), x.Temp, n.Last()); r != nil {
			return r
		}
	}
	for _, s := range x.Planner().SearchPath {
		if r := x.snap().Relation(x.db(), s, n.Last()); r != nil {
			return r
		}
	}
	return nil
}

func fullName(n *ast.Name) string { return strings.Join(n.Parts, ".") }

func (x *exec) relation(n *ast.Name) (catalog.Relation, error) {
	if r := x.lookup(n); r != nil {
		if err := x.usable(n); err != nil {
			return nil, err
		}
		if _, virt := r.(*catalog.Virtual); virt {
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", n.Last())
		}
		return r, nil
	}
	e := x.noRelation(n)
	if e.Code == sqlerr.UndefinedTable {
		e = e.At(n.Pos())
	}
	return nil, e
}

// noRelation is the error for a name that no relation has: that of its schema, when
// there is none of that name either, or that of the composite type or index that has it.
func (x *exec) noRelation(n *ast.Name) *sqlerr.Error {
	if s := n.Schema(); s != "" && s != "pg_temp" && x.snap().Schema(x.db(), s) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
	}
	if x.composite(n) != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a composite type", n.Last())
	}
	if x.findIndex(n) != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", n.Last())
	}
	return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", fullName(n))
}
