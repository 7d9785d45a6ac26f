package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// CREATE TABLE … INHERITS: the columns of the parents come first, in the order of
// the list, then those of the definition that no parent has. Checks of the
// parents are the child's, too; indexes and foreign keys are not.

// inherit puts the parents' columns before those of the definition, and returns the
// checks that the table has from them.
func (b *tableBuilder) inherit(s *ast.CreateTable) ([]catalog.ConstraintSpec, error) {
	if s.PartitionBy != nil {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot create partitioned table as inheritance child")
	}
	var parents []*catalog.Table
	for i := range s.Inherits {
		p, err := b.parentTable(&s.Inherits[i])
		if err != nil {
			return nil, err
		}
		if slices.Contains(b.spec.Parents, p.OID) {
			return nil, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" would be inherited from more than once", p.Name)
		}
		b.spec.Parents = append(b.spec.Parents, p.OID)
		parents = append(parents, p)
	}
	if err := catalog.DistinctColumns(len(b.spec.Columns), func(i int) string { return b.spec.Columns[i].Name }); err != nil {
		return nil, err
	}
	for _, p := range parents {
		if err := b.parentFits(p); err != nil {
			return nil, err
		}
	}
	m := &mergedColumns{exec: b.exec}
	var checks []catalog.ConstraintSpec
	for _, p := range parents {
		if err := m.parent(p); err != nil {
			return nil, err
		}
		for _, k := range p.Checks {
			if k.NoInherit {
				continue
			}
			if err := b.noWholeRow(p, k); err != nil {
				return nil, err
			}
			spec := newInheritedCheck(p, k)
			i := slices.IndexFunc(checks, func(o catalog.ConstraintSpec) bool { return o.Name == k.Name })
			switch {
			case i < 0:
				checks = append(checks, spec)
			case checks[i].Expr == k.Expr:
				checks[i].Inherited.Parents++
			default:
				return nil, sqlerr.New(sqlerr.DuplicateObject, "check constraint name \"%s\" appears multiple times but with different expressions", k.Name)
			}
		}
	}
	return checks, b.mergeColumns(m)
}

// parentTable finds a table that another one is to inherit from, and locks it.
func (x *exec) parentTable(n *ast.Name) (*catalog.Table, error) {
	r, err := x.relation(n)
	if err != nil {
		return nil, withoutPosition(err)
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "inherited relation \"%s\" is not a table or foreign table", n.Last())
	}
	return t, x.lock(t, kv.ShareUpdateExclusive)
}

// parentFits checks that the new table may inherit from p.
func (b *tableBuilder) parentFits(p *catalog.Table) error {
	switch {
	case p.Key != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from partitioned table \"%s\"", p.Name)
	case p.Bound != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from partition \"%s\"", p.Name)
	case p.Temp && !b.spec.Temp:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from temporary relation \"%s\"", p.Name)
	case p.Temp && p.Schema != b.Temp:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot inherit from temporary relation of another session")
	}
	return b.owns(p)
}

// mergedColumns are the columns that several parents have.
type mergedColumns struct {
	*exec
	cols     []catalog.Column
	reads    [][]string // per generated column the names that its expression reads
	conflict []bool     // the parents have different defaults
}

// parent merges the columns of one more parent.
func (m *mergedColumns) parent(p *catalog.Table) error {
	for i := range p.Columns {
		c := &p.Columns[i]
		if c.Dropped {
			continue
		}
		own := inheritedColumn(c)
		var reads []string
		for _, at := range c.DefaultCols {
			reads = append(reads, p.Columns[at].Name)
		}
		k := slices.IndexFunc(m.cols, func(o catalog.Column) bool { return o.Name == c.Name })
		if k < 0 {
			m.cols, m.reads, m.conflict = append(m.cols, own), append(m.reads, reads), append(m.conflict, false)
			continue
		}
		was := &m.cols[k]
		m.notice(sqlerr.SuccessfulCompletion, "merging multiple inherited definitions of column \"%s\"", c.Name)
		if err := m.compatible("inherited column", was, c); err != nil {
			return err
		}
		if err := m.sameStorage("inherited column", was, c); err != nil {
			return err
		}
		if was.Generated != c.Generated {
			return sqlerr.New(sqlerr.DatatypeMismatch, "inherited column \"%s\" has a generation conflict", c.Name)
		}
		was.NotNull = was.NotNull || c.NotNull
		was.Inherited.Parents++
		if c.Default == "" {
			continue
		}
		if was.Default == "" {
			was.Default, was.DefaultDeps, m.reads[k] = own.Default, own.DefaultDeps, reads
		} else if was.Default != own.Default {
			m.conflict[k] = true
		}
	}
	return nil
}

// compatible checks that two definitions of a column can be one.
func (x *exec) compatible(what string, was, c *catalog.Column) error {
	if was.Type != c.Type {
		return sqlerr.New(sqlerr.DatatypeMismatch, "%s \"%s\" has a type conflict", what, c.Name).
			WithDetail("%s versus %s", x.typeName(was.Type), x.typeName(c.Type))
	}
	if was.Collation != c.Collation {
		return sqlerr.New(sqlerr.CollationMismatch, "%s \"%s\" has a collation conflict", what, c.Name).
			WithDetail("\"%s\" versus \"%s\"", collationText(was.Collation), collationText(c.Collation))
	}
	return nil
}

// sameStorage checks that two definitions of a column keep its values alike.
func (x *exec) sameStorage(what string, a, b *catalog.Column) error {
	if s, t := x.storageOf(a), x.storageOf(b); s != t {
		return sqlerr.New(sqlerr.DatatypeMismatch, "%s \"%s\" has a storage parameter conflict", what, b.Name).
			WithDetail("%s versus %s", strings.ToUpper(s), strings.ToUpper(t))
	}
	if a.Compression != "" && b.Compression != "" && a.Compression != b.Compression {
		return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" has a compression method conflict", b.Name).
			WithDetail("%s versus %s", a.Compression, b.Compression)
	}
	return nil
}

// storageOf is the strategy by which a column's values are kept: its own or its type's.
func (x *exec) storageOf(c *catalog.Column) string {
	if c.Storage != "" {
		return c.Storage
	}
	if in := x.snap().TypeInfo(c.Type.OID); in != nil {
		for name, code := range storageStrategies {
			if code != 0 && code == in.Storage {
				return name
			}
		}
	}
	return "plain"
}

// collationText names a collation in messages.
func collationText(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

// mergeColumns puts the merged columns of the parents first, and merges those of
// the definition into them.
func (b *tableBuilder) mergeColumns(m *mergedColumns) error {
	own := b.spec.Columns
	defaults, genCols := b.defaults, b.genCols
	b.spec.Columns, b.defaults, b.genCols = nil, map[int]ast.Expr{}, map[int]ast.Expr{}
	for i := range m.cols {
		b.spec.Columns = append(b.spec.Columns, catalog.ColumnSpec{Column: m.cols[i]})
	}
	for i := range own {
		c := &own[i]
		k := slices.IndexFunc(m.cols, func(o catalog.Column) bool { return o.Name == c.Name })
		if k < 0 {
			k = len(b.spec.Columns)
			b.spec.Columns = append(b.spec.Columns, *c)
		} else {
			if err := b.mergeColumn(i, k, c, defaults[i] != nil); err != nil {
				return err
			}
			m.conflict[k] = m.conflict[k] && defaults[i] == nil && genCols[i] == nil && c.OwnSequence == nil
			if genCols[i] != nil || defaults[i] != nil {
				m.reads[k] = nil
			}
		}
		if e := defaults[i]; e != nil {
			b.defaults[k] = e
		}
		if e := genCols[i]; e != nil {
			b.genCols[k] = e
		}
	}
	for k, bad := range m.conflict {
		if !bad {
			continue
		}
		if m.cols[k].Generated {
			return sqlerr.New(sqlerr.InvalidColumnDefinition, "column \"%s\" inherits conflicting generation expressions", m.cols[k].Name)
		}
		return sqlerr.New(sqlerr.InvalidColumnDefinition, "column \"%s\" inherits conflicting default values", m.cols[k].Name).
			WithHint("To resolve the conflict, specify a default explicitly.")
	}
	t := b.probe()
	for k := range m.cols {
		c := &b.spec.Columns[k]
		c.DefaultCols = nil
		for _, name := range m.reads[k] {
			c.DefaultCols = append(c.DefaultCols, t.Col(name))
		}
	}
	return nil
}

// mergeColumn merges column i of the definition into the inherited column k.
func (b *tableBuilder) mergeColumn(i, k int, c *catalog.ColumnSpec, hasDefault bool) error {
	was := &b.spec.Columns[k]
	if i == k {
		b.notice(sqlerr.SuccessfulCompletion, "merging column \"%s\" with inherited definition", c.Name)
	} else {
		e := sqlerr.New(sqlerr.SuccessfulCompletion, "moving and merging column \"%s\" with inherited definition", c.Name).
			WithDetail("User-specified column moved to the position of the inherited column.")
		e.Severity = "NOTICE"
		if b.Notice != nil {
			b.Notice(e)
		}
	}
	if err := b.compatible("column", &was.Column, &c.Column); err != nil {
		return err
	}
	bad := func(format string) error {
		return sqlerr.New(sqlerr.InvalidColumnDefinition, format, c.Name)
	}
	switch {
	case was.Generated && c.Generated:
		return sqlerr.New(sqlerr.InvalidColumnDefinition, "child column \"%s\" specifies generation expression", c.Name).
			WithHint("Omit the generation expression in the definition of the child table column to inherit the generation expression from the parent table.")
	case was.Generated && hasDefault:
		return bad("column \"%s\" inherits from generated column but specifies default")
	case was.Generated && c.Identity != 0:
		return bad("column \"%s\" inherits from generated column but specifies identity")
	}
	was.NotNull = was.NotNull || c.NotNull
	was.Inherited.NotLocal = false
	if c.Generated || hasDefault || c.OwnSequence != nil {
		was.Default, was.DefaultDeps = c.Default, c.DefaultDeps
	}
	was.Generated = was.Generated || c.Generated
	was.Identity, was.OwnSequence = c.Identity, c.OwnSequence
	own := c.Column
	if own.Storage == "" && !b.stored[c.Name] { // says nothing
		own.Storage = was.Storage
	}
	if err := b.sameStorage("column", &was.Column, &own); err != nil {
		return err
	}
	if c.Compression != "" {
		was.Compression = c.Compression
	}
	was.Comment = c.Comment
	return nil
}

// inheritChecks puts the inherited checks before the table's own. One of its own
// with the same name and expression becomes one with it.
func (b *tableBuilder) inheritChecks(inherited []catalog.ConstraintSpec) error {
	own := b.spec.Constraints
	b.spec.Constraints = inherited
	for _, k := range own {
		i := -1
		if k.Kind == 'c' && k.Name != "" {
			i = slices.IndexFunc(inherited, func(o catalog.ConstraintSpec) bool { return o.Name == k.Name })
		}
		if i < 0 {
			b.spec.Constraints = append(b.spec.Constraints, k)
			continue
		}
		was := &b.spec.Constraints[i]
		was.Comment = k.Comment
		first := &catalog.Check{Name: was.Name, Expr: was.Expr, NotValid: was.NotValid, NoInherit: was.NoInherit, Inherited: was.Inherited}
		if err := mergeCheck(b.spec.Name, first, &k); err != nil {
			return err
		}
		b.tellMerged(k.Name)
		was.Inherited.NotLocal = b.spec.Bound != nil // a partition has nothing of its own that its parent has
	}
	return nil
}

// mergeCheck checks that a check that is to be added can be one with a check of the
// same name that the table has.
func mergeCheck(table string, was *catalog.Check, k *catalog.ConstraintSpec) error {
	conflict := func(format string) error {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, format, was.Name, table)
	}
	switch {
	case was.Expr != k.Expr:
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", was.Name, table)
	case was.NoInherit:
		return conflict("constraint \"%s\" conflicts with non-inherited constraint on relation \"%s\"")
	case k.NoInherit && was.Parents > 0:
		return conflict("constraint \"%s\" conflicts with inherited constraint on relation \"%s\"")
	case was.NotValid && !k.NotValid:
		return conflict("constraint \"%s\" conflicts with NOT VALID constraint on relation \"%s\"")
	}
	return nil
}

// inheritedColumn is a column as a child has it from its parent.
func inheritedColumn(c *catalog.Column) catalog.Column {
	out := catalog.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Default: c.Default, Generated: c.Generated,
		DefaultCols: c.DefaultCols, DefaultDeps: c.DefaultDeps, Storage: c.Storage,
		Compression: c.Compression, Collation: c.Collation}
	if c.Sequence != 0 && c.Identity == 0 && c.Default != "" {
		// the sequence stays the parent's
		out.DefaultDeps = append(slices.Clone(c.DefaultDeps), c.Sequence)
	}
	out.Inherited = catalog.Inherited{Parents: 1, NotLocal: true}
	return out
}

// inheritedCheck is a check as a child has it from its parent.
func inheritedCheck(p *catalog.Table, k *catalog.Check) catalog.ConstraintSpec {
	spec := catalog.ConstraintSpec{Kind: 'c', Name: k.Name, Expr: k.Expr, NotValid: k.NotValid, ExprCols: namesOf(p, k.Cols)}
	spec.Inherited = catalog.Inherited{Parents: 1, NotLocal: true}
	return spec
}

// newInheritedCheck is a check as a new child has it from its parent: valid, as there
// are no rows.
func newInheritedCheck(p *catalog.Table, k *catalog.Check) catalog.ConstraintSpec {
	spec := inheritedCheck(p, k)
	spec.NotValid = false
	return spec
}

// namesOf are the names of columns by number.
func namesOf(t *catalog.Table, cols []int) []string {
	var out []string
	for _, c := range cols {
		out = append(out, t.Columns[c].Name)
	}
	return out
}
