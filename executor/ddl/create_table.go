package ddl

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// target finds the schema in which a new object goes.
func (x *exec) target(n *ast.Name, temp bool) (schema, name string, err error) {
	name = n.Last()
	if s := n.Schema(); temp && s != "" && s != "pg_temp" {
		if x.snap().Schema(x.db(), s) == nil {
			return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
		}
		return "", "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
	}
	if temp {
		if x.Temp == "" {
			return "", "", sqlerr.Unsupported(n.Pos(), "a temporary relation here")
		}
		if x.UsesTemp != nil {
			x.UsesTemp()
		}
		return x.Temp, name, nil
	}
	if s := n.Schema(); s != "" {
		if s == "pg_temp" || s == x.Temp {
			return x.target(&ast.Name{Off: n.Off, Parts: []string{name}}, true)
		}
		if x.snap().Schema(x.db(), s) == nil {
			return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
		}
		if s == "pg_catalog" || s == "information_schema" {
			return "", "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create \"%s.%s\"", s, name).
				WithDetail("System catalog modifications are currently disallowed.")
		}
		return s, name, nil
	}
	for _, s := range x.Path {
		if s == x.Temp && s != "" {
			return x.target(&ast.Name{Off: n.Off, Parts: []string{name}}, true)
		}
		if x.snap().Schema(x.db(), s) != nil && s != "pg_catalog" && s != "information_schema" && !strings.HasPrefix(s, "pg_temp") {
			return s, name, nil
		}
	}
	return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in")
}

// schemaNamed is the schema that a qualifier names: pg_temp is the session's own.
func (x *exec) schemaNamed(s string) string {
	if s == "pg_temp" && x.Temp != "" {
		return x.Temp
	}
	return s
}

// exists handles IF NOT EXISTS for relations: done tells that nothing is to do.
func (x *exec) exists(schema, name string, ifNot bool) (done bool) {
	if !ifNot || x.snap().Relation(x.db(), schema, name) == nil {
		return false
	}
	x.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", name)
	return true
}

func (x *exec) notice(code sqlerr.Code, format string, args ...any) {
	x.tell("NOTICE", code, format, args...)
}

func (x *exec) tell(severity string, code sqlerr.Code, format string, args ...any) {
	if x.Notice == nil {
		return
	}
	e := sqlerr.New(code, format, args...)
	e.Severity = severity
	x.Notice(e)
}

// warnGlobal is the warning for GLOBAL before TEMPORARY, which changes nothing.
func (x *exec) warnGlobal(at ast.Off) {
	if at == 0 || x.Notice == nil {
		return
	}
	e := sqlerr.New(sqlerr.Warning, "GLOBAL is deprecated in temporary table creation").At(int(at))
	e.Severity = "WARNING"
	x.Notice(e)
}

func (x *exec) createTable(s *ast.CreateTable) (string, error) {
	var q *plan.Query
	if s.As != nil {
		var err error
		if q, err = planner.Plan(x.Planner(), s.As); err != nil {
			return "", err
		}
	}
	if err := cmp.Or(knownAccessMethod(s.Using), knownTablespace(s.Tablespace)); err != nil {
		return "", err
	}
	schema, name, err := x.target(&s.Name, s.Temp)
	if err != nil {
		var e *sqlerr.Error
		if s.As == nil && s.AsExecute == nil && errors.As(err, &e) && e.Code != sqlerr.InsufficientPrivilege {
			e.At(s.Name.Pos())
		}
		return "", err
	}
	tag := "CREATE TABLE"
	if s.As != nil || s.AsExecute != nil {
		tag = "CREATE TABLE AS"
	}
	if s.As == nil && x.exists(schema, name, s.IfNotExists) {
		return tag, nil
	}
	temp := catalog.IsTempSchema(schema)
	switch {
	case s.OnCommit != "" && !temp:
		return "", sqlerr.New(sqlerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	case s.Unlogged && temp:
		return "", sqlerr.New(sqlerr.InvalidTableDefinition, "only temporary relations may be created in temporary schemas").At(s.Name.Pos())
	}
	spec := &catalog.TableSpec{Schema: schema, Name: name, Temp: temp, Unlogged: s.Unlogged}
	if s.As != nil {
		if err := x.tableOptions(spec, s.With); err != nil {
			return "", err
		}
		return x.createTableAs(s, spec, q)
	}
	if s.AsExecute != nil {
		return "", sqlerr.Unsupported(s.Pos(), "CREATE TABLE AS EXECUTE")
	}
	b := &tableBuilder{exec: x, spec: spec}
	var checks []catalog.ConstraintSpec // of the parents
	if s.PartitionOf != nil {
		checks, err = b.partitionOf(s)
	} else if s.OfType != nil {
		err = b.typedColumns(s)
	} else if err = b.columns(s); err == nil && s.Inherits != nil {
		checks, err = b.inherit(s)
	}
	for i := 0; i < len(s.Constraints) && err == nil; i++ {
		if k := &s.Constraints[i]; k.Kind == "EXCLUDE" && s.PartitionBy != nil {
			err = sqlerr.New(sqlerr.FeatureNotSupported, "exclusion constraints are not supported on partitioned tables").At(k.Pos())
		} else {
			err = b.constraint(k, "")
		}
	}
	if err == nil {
		err = b.checkKeys()
	}
	if err == nil && (s.PartitionBy == nil || len(s.With) == 0) {
		err = x.tableOptions(spec, s.With)
	}
	if err == nil {
		err = x.Change.CheckNewTable(spec)
	}
	if err == nil && s.PartitionOf != nil {
		err = b.partitionBound(s)
	}
	if err != nil {
		return "", err
	}
	if err := b.makeSequences(); err != nil {
		return "", err
	}
	if err := b.bindTexts(); sqlerr.CodeOf(err) == sqlerr.UndefinedTable {
		if err := b.bindTextsWithin(); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	b.dropRepeatedKeys()
	if err := b.inheritChecks(checks); err != nil {
		return "", err
	}
	if s.PartitionBy != nil {
		for i := range spec.Constraints {
			if spec.Constraints[i].NoInherit {
				return "", badTable("cannot add NO INHERIT constraint to partitioned table \"%s\"", name)
			}
		}
		if len(s.With) > 0 {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", s.With[0].Name)
		}
		if err := b.partitionKey(s.PartitionBy); err != nil {
			return "", err
		}
	}
	t, err := x.Change.CreateTable(spec)
	if err == nil {
		x.tellWaiting(t)
	}
	for i := 0; i < len(b.indexes) && err == nil; i++ {
		_, err = x.Change.CreateIndex(t.OID, b.indexes[i])
	}
	for i := 0; i < len(b.statistics) && err == nil; i++ {
		err = x.Change.CopyExtStats(b.statistics[i].of, b.statistics[i].comment, t)
	}
	if err == nil && t.Bound != nil {
		err = x.leavesDefault(t.OID)
	}
	return tag, err
}

// bindTextsWithin is bindTexts for expressions that may name the table itself, as
// 'itself'::regclass does: one with its columns is there meanwhile.
func (b *tableBuilder) bindTextsWithin() error {
	mark := b.Change.Mark()
	bare := &catalog.TableSpec{Schema: b.spec.Schema, Name: b.spec.Name, Temp: b.spec.Temp}
	for i := range b.spec.Columns {
		c := &b.spec.Columns[i].Column
		bare.Columns = append(bare.Columns, catalog.ColumnSpec{Column: catalog.Column{Name: c.Name, Type: c.Type}})
	}
	t, err := b.Change.CreateTable(bare)
	if err != nil {
		return err
	}
	err = b.bindTexts()
	b.Change.RollbackTo(mark)
	for i := range b.spec.Columns {
		c := &b.spec.Columns[i]
		c.DefaultDeps = slices.DeleteFunc(c.DefaultDeps, func(o types.OID) bool { return o == t.OID })
	}
	return err
}

// makeSequences makes the sequences of the new table's columns before the table, as its
// expressions may name them.
func (b *tableBuilder) makeSequences() error {
	for i := range b.spec.Columns {
		own := b.spec.Columns[i].OwnSequence
		if own == nil {
			continue
		}
		if own.Schema, own.Temp, own.Unlogged = b.spec.Schema, b.spec.Temp, b.spec.Unlogged; own.Name == "" {
			own.Name = b.Change.SequenceName(b.spec.Schema, b.spec.Name, b.spec.Columns[i].Name)
		}
		q, err := b.Change.CreateSequence(own)
		if err != nil {
			return err
		}
		own.Made = q.OID
	}
	return nil
}

// columns adds the columns of the definition, those of LIKE in their places.
func (b *tableBuilder) columns(s *ast.CreateTable) error {
	likes := s.Likes
	for i := range len(s.Columns) + 1 {
		for ; len(likes) > 0 && likes[0].Place <= i; likes = likes[1:] {
			if err := b.like(&likes[0]); err != nil {
				return err
			}
		}
		if i < len(s.Columns) {
			if err := b.column(&s.Columns[i]); err != nil {
				return err
			}
		}
	}
	return b.warnAgain(s)
}

// warnAgain repeats the warnings of the columns' types, as PostgreSQL does, which
// reads them a second time when the table is made.
func (b *tableBuilder) warnAgain(s *ast.CreateTable) error {
	for i := range s.Columns {
		c := b.Planner()
		if c.Notice == nil || len(s.Columns[i].Type.Mods) == 0 {
			continue
		}
		tell := c.Notice
		c.Notice = func(e *sqlerr.Error) {
			again := *e
			again.Pos = 0
			tell(&again)
		}
		if _, err := planner.ResolveType(c, &s.Columns[i].Type); err != nil {
			return err
		}
	}
	return nil
}

// tableOptions reads WITH (…). Storage parameters of PostgreSQL's heap mean
// nothing here and change nothing, so they are kept for pg_class alone.
func (x *exec) tableOptions(spec *catalog.TableSpec, opts []ast.Option) error {
	if err := oncePerOption(opts); err != nil {
		return err
	}
	if err := x.clusterOptions(spec, opts); err != nil {
		return err
	}
	for _, o := range opts {
		if clusterOption(o.Name) {
			continue // read by clusterOptions
		}
		v := optionText(&o)
		switch o.Name {
		case "layout":
			spec.Layout = v
		case "elements":
			names, err := catalog.ParseElements(v)
			if err != nil {
				return err
			}
			spec.Elements = append([]string{}, names...)
		case "groups":
			groups, err := catalog.ParseColumnGroups(v)
			if err != nil {
				return err
			}
			spec.Groups = groups
		case "oids":
			if v != "false" {
				return sqlerr.New(sqlerr.FeatureNotSupported, "tables declared WITH OIDS are not supported")
			}
		default:
			if err := heapParameter(&o); err != nil {
				return err
			}
			spec.Options = spec.Options.With(o.Name, v)
		}
	}
	return nil
}

// optionText is an option's value as text; "true" for a bare name.
func optionText(o *ast.Option) string {
	switch v := o.X.(type) {
	case nil:
		return "true"
	case *ast.Const:
		return v.Val
	case *ast.ColumnRef:
		return strings.Join(v.Parts, ".")
	case *ast.Unary:
		if c, ok := v.X.(*ast.Const); ok {
			return v.Op + c.Val
		}
	}
	return ast.Format(o.X)
}

func optionInt(o *ast.Option) (int64, error) {
	text := optionText(o)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		x := o.X
		if u, ok := x.(*ast.Unary); ok {
			x = u.X
		}
		if c, ok := x.(*ast.Const); ok && c.Kind == ast.ConstNumeric || c != nil && c.Kind == ast.ConstInt {
			_, err := types.Parse(types.TInt8, text, &types.FmtOpts{})
			return 0, err // says what is wrong with the number
		}
		return 0, sqlerr.New(sqlerr.SyntaxError, "%s requires an integer value", o.Name).At(o.Pos())
	}
	return v, nil
}

// storable refuses types that no column of a table or view has.
func storable(column string, t types.T) error {
	if k := t.Kind(); k == types.KPseudo || k == types.KVoid || t.OID == types.ORecord || t.OID == types.ORecordArr || t.OID == types.OUnknown || t.OID == types.OAnyarray {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", column, types.FormatType(t))
	}
	return nil
}

// createTableAs makes a table of a query's columns and rows.
func (x *exec) createTableAs(s *ast.CreateTable, spec *catalog.TableSpec, q *plan.Query) (string, error) {
	if x.snap().Relation(x.db(), spec.Schema, spec.Name) != nil {
		if x.exists(spec.Schema, spec.Name, s.IfNotExists) {
			return "CREATE TABLE AS", nil
		}
		return "", sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", spec.Name)
	}
	cols := q.Root.Base().Cols
	if len(s.AsCols) > len(cols) {
		return "", sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
	}
	for i, c := range cols {
		n := c.Name
		if i < len(s.AsCols) {
			n = s.AsCols[i]
		}
		if err := storable(n, c.T); err != nil {
			return "", err
		}
		if err := x.mayUseType(c.T); err != nil {
			return "", err
		}
		col, ok := outCollation(q, i)
		if !ok {
			return "", noCollation("no collation was derived for column \"%s\" with collatable type %s", n, x.typeName(c.T))
		}
		spec.Columns = append(spec.Columns, catalog.ColumnSpec{Column: catalog.Column{Name: n, Type: c.T, Collation: col}})
	}
	t, err := x.Change.CreateTable(spec)
	if err != nil {
		return "", err
	}
	if s.WithNoData {
		return "CREATE TABLE AS", nil
	}
	return x.filled(q, func() *catalog.Table { return t })
}

// outCollation is the collation of a query's column; ok is false where its parts
// differ.
func outCollation(q *plan.Query, i int) (name string, ok bool) {
	if i >= len(q.Collations) {
		return "", true
	}
	return q.Collations[i].Name, !q.Collations[i].Conflict
}

func noCollation(format string, args ...any) error {
	return sqlerr.New(sqlerr.IndeterminateCollation, format, args...).WithHint("Use the COLLATE clause to set the collation explicitly.")
}

// filled makes the files of a new relation, fills it with a query's rows and
// returns the tag, which carries their number.
func (x *exec) filled(q *plan.Query, t func() *catalog.Table) (string, error) {
	if err := x.MayRun(q); err != nil {
		return "", err
	}
	if err := x.reconcile(x.before, x.snap()); err != nil {
		return "", err
	}
	x.before = x.snap()
	table := t()
	n, err := x.fill(table, q)
	if err == nil && n > 0 && x.Filled != nil {
		x.Filled(table.OID, n)
	}
	x.done = true
	return "SELECT " + strconv.FormatInt(n, 10), err
}

// fill inserts a plan's rows into a table whose live columns are the plan's, and which
// the plan does not read.
func (x *exec) fill(t *catalog.Table, q *plan.Query) (int64, error) {
	d, err := x.Tables.For(t)
	if err != nil {
		return 0, err
	}
	w, err := x.rowWriter(d)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	var failed error
	err = x.runPlan(q, func(b *vec.Batch) bool {
		failed = w.insert(&vec.Batch{Cols: b.Cols[:len(t.Columns)], N: b.N, Sel: b.Sel})
		n += int64(b.Rows())
		return failed == nil
	})
	return n, cmp.Or(err, failed)
}
