package ddl

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// createView makes a view or a materialized view.
func (x *exec) createView(s *ast.CreateView) (string, error) {
	tag := "CREATE VIEW"
	if s.Materialized {
		tag = "CREATE MATERIALIZED VIEW"
	}
	if err := cmp.Or(viewForm(s), knownAccessMethod(s.Using), knownTablespace(s.Tablespace)); err != nil {
		return "", err
	}
	if s.Recursive {
		c := *s
		c.Query, c.Recursive = recursiveView(s), false
		s = &c
	}
	pc := x.Planner()
	pc.Stored = !s.Materialized || s.WithNoData
	q, err := planner.Plan(pc, s.Query)
	if err != nil {
		return "", err
	}
	schema, name, err := x.target(&s.Name, s.Temp)
	if err != nil {
		return "", err
	}
	if x.exists(schema, name, s.IfNotExists) {
		return tag, nil
	}
	if slices.ContainsFunc(q.CTEs, func(c *plan.CTE) bool { return c.Modifying }) {
		what := "views"
		if s.Materialized {
			what = "materialized views"
		}
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "%s must not %s data-modifying statements in WITH", what,
			map[bool]string{true: "use", false: "contain"}[s.Materialized])
	}
	if len(q.Params) > 0 {
		return "", sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	cols := q.Root.Base().Cols
	if len(s.Cols) > len(cols) {
		if s.Materialized {
			return "", sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
		}
		return "", sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies more column names than columns")
	}
	stored, err := planner.StoreQuery(x.Planner(), s.Query, slices.Clone(s.Cols), x.QueryText)
	if err != nil {
		return "", err
	}
	for _, oid := range stored.Deps {
		if t := x.snap().Table(oid); t != nil {
			if err := x.hold(t, kv.AccessShare); err != nil {
				return "", err
			}
		}
	}
	temp := catalog.IsTempSchema(schema)
	if stored.Temp && !s.Temp {
		if s.Materialized {
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
		}
		x.notice(sqlerr.SuccessfulCompletion, "view \"%s\" will be a temporary view", name)
		if s.Name.Schema() != "" && !temp {
			return "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
		}
		temp = true
		if schema, _, err = x.target(&s.Name, true); err != nil {
			return "", err
		}
	}
	spec := &catalog.ViewSpec{Schema: schema, Name: name, Replace: s.OrReplace, Materialized: s.Materialized, Temp: temp,
		Query: stored.Text, MadeAliases: stored.MadeAliases, Deps: stored.Deps, ColDeps: stored.ColDeps}
	if err := x.viewOptions(spec, s, s.Query); err != nil {
		return "", err
	}
	called := func(i int) string {
		if i < len(s.Cols) {
			return s.Cols[i]
		}
		return cols[i].Name
	}
	if err := catalog.DistinctColumns(len(cols), called); err != nil {
		return "", err
	}
	for i, c := range cols {
		n := called(i)
		if err := storable(n, c.T); err != nil {
			return "", err
		}
		if err := x.mayUseType(c.T); err != nil {
			return "", err
		}
		col, ok := outCollation(q, i)
		if !ok && s.Materialized {
			return "", noCollation("no collation was derived for column \"%s\" with collatable type %s", n, x.typeName(c.T))
		} else if !ok {
			return "", noCollation("could not determine which collation to use for view column \"%s\"", n)
		}
		spec.Columns = append(spec.Columns, catalog.Column{Name: n, Type: c.T, Collation: col})
	}
	spec.Populated = s.Materialized && !s.WithNoData
	v, err := x.Change.CreateView(spec)
	if err != nil || !spec.Populated {
		return tag, err
	}
	return x.filled(q, func() *catalog.Table { return x.snap().RelationByOID(x.db(), v.OID).(*catalog.View).Materialized })
}

// viewForm refuses what no view can have.
func viewForm(s *ast.CreateView) error {
	what := "views"
	if s.Materialized {
		what = "materialized views"
	}
	switch {
	case s.Unlogged && s.Materialized:
		return sqlerr.New(sqlerr.FeatureNotSupported, "materialized views cannot be unlogged")
	case s.Unlogged:
		return sqlerr.New(sqlerr.SyntaxError, "views cannot be unlogged because they do not have storage")
	case s.Recursive && s.CheckOption != "":
		return sqlerr.New(sqlerr.FeatureNotSupported, "WITH CHECK OPTION not supported on recursive views").At(int(s.CheckOff))
	case s.Query.Into != nil && !s.Materialized:
		return sqlerr.New(sqlerr.FeatureNotSupported, "views must not contain SELECT INTO")
	}
	if s.Query.With == nil {
		return nil
	}
	for i := range s.Query.With.CTEs {
		switch _, query := s.Query.With.CTEs[i].Stmt.(*ast.Select); {
		case query:
		case s.Materialized:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s must not use data-modifying statements in WITH", what)
		default:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s must not contain data-modifying statements in WITH", what)
		}
	}
	return nil
}

// viewOptions reads WITH (…) and WITH CHECK OPTION of a view.
func (x *exec) viewOptions(spec *catalog.ViewSpec, s *ast.CreateView, q *ast.Select) error {
	if s.Materialized {
		t := &catalog.TableSpec{}
		if err := x.tableOptions(t, s.With); err != nil {
			return err
		}
		if t.Layout != "" || t.Groups != nil || t.Cluster != nil {
			return sqlerr.Unsupported(s.Pos(), "a layout of materialized views")
		}
		spec.Options = t.Options
		return nil
	}
	var v catalog.View
	opts := s.With
	if s.CheckOption != "" {
		opts = append(opts[:len(opts):len(opts)], ast.Option{Name: catalog.OptCheckOption, X: &ast.Const{Val: strings.ToLower(s.CheckOption)}})
	}
	seen := map[string]bool{}
	for i := range opts {
		if seen[opts[i].Name] {
			return sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" specified more than once", opts[i].Name)
		}
		seen[opts[i].Name] = true
		if err := v.SetViewOption(opts[i].Name, optionText(&opts[i]), true); err != nil {
			return err
		}
	}
	spec.Options, spec.CheckOption = v.Options, v.CheckOption
	return x.checkable(&v, q)
}

// checkable refuses a check option of a view that takes no rows.
func (x *exec) checkable(v *catalog.View, q *ast.Select) error {
	if v.CheckOption == "" {
		return nil
	}
	why, err := planner.NotUpdatable(x.Planner(), q)
	if err != nil || why == "" {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "WITH CHECK OPTION is supported only on automatically updatable views").WithHint("%s", why)
}

// alterView is an action of ALTER VIEW, or ALTER TABLE of a view, that is not
// the same for all relations.
func (x *exec) alterView(v *catalog.View, a *ast.AlterAction) error {
	switch a.Kind {
	case "SET OPTIONS", "RESET OPTIONS":
		if a.Name != "" {
			return notForViews(v, "ALTER COLUMN ... "+strings.TrimSuffix(a.Kind, " OPTIONS"))
		}
		return x.Change.EditView(v.OID, func(v *catalog.View) error {
			for i := range a.Options {
				if err := v.SetViewOption(a.Options[i].Name, optionText(&a.Options[i]), a.Kind == "SET OPTIONS"); err != nil {
					return err
				}
			}
			q, err := x.Planner().Texts.ParseQuery(v.Query)
			if err != nil {
				return err
			}
			return x.checkable(v, q)
		})
	case "SET DEFAULT", "DROP DEFAULT":
		i := slices.IndexFunc(v.Columns, func(c catalog.Column) bool { return c.Name == a.Name })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", a.Name, v.Name)
		}
		text, deps := "", []types.OID(nil)
		if a.Kind == "SET DEFAULT" {
			var err error
			if text, deps, err = x.defaultText(a.Expr, v.Columns[i].Type, a.Name); err != nil {
				return withoutPosition(err)
			}
		}
		return x.Change.EditView(v.OID, func(v *catalog.View) error {
			v.Columns[i].Default, v.Columns[i].DefaultDeps = text, deps
			return nil
		})
	}
	if what := viewActions[a.Kind]; what != "" {
		return notForViews(v, what)
	}
	return sqlerr.Unsupported(a.Pos(), "ALTER VIEW %s", a.Kind)
}

// alterMaterialized is an action of ALTER MATERIALIZED VIEW, or ALTER TABLE of
// one, that is not the same for all relations.
func (x *exec) alterMaterialized(v *catalog.View, a *ast.AlterAction) error {
	switch a.Kind {
	case "SET OPTIONS", "RESET OPTIONS":
		if a.Name != "" {
			return x.columnOptions(v.OID, a)
		}
		t := &catalog.TableSpec{Options: v.Materialized.Options}
		if a.Kind == "RESET OPTIONS" {
			for i := range a.Options {
				t.Options = t.Options.Without(a.Options[i].Name)
			}
		} else if err := x.tableOptions(t, a.Options); err != nil {
			return err
		}
		if t.Layout != "" || t.Groups != nil || t.Cluster != nil || t.Elements != nil {
			return sqlerr.Unsupported(a.Pos(), "a layout of materialized views")
		}
		return x.Change.EditMaterialized(v.OID, func(m *catalog.Table) { m.Options = t.Options })
	}
	what := viewActions[a.Kind]
	switch a.Kind {
	case "SET DEFAULT", "DROP DEFAULT":
		what = "ALTER COLUMN ... " + a.Kind
	}
	if what != "" {
		return sqlerr.New(sqlerr.WrongObjectType, "ALTER action %s cannot be performed on relation \"%s\"", what, v.Name).
			WithDetail("This operation is not supported for materialized views.")
	}
	return sqlerr.Unsupported(a.Pos(), "ALTER MATERIALIZED VIEW %s", a.Kind)
}

// viewActions are the actions of ALTER TABLE that a view does not have, as
// messages call them.
var viewActions = map[string]string{
	"ADD COLUMN": "ADD COLUMN", "DROP COLUMN": "DROP COLUMN", "ALTER COLUMN TYPE": "ALTER COLUMN ... SET DATA TYPE",
	"SET NOT NULL": "ALTER COLUMN ... SET NOT NULL", "DROP NOT NULL": "ALTER COLUMN ... DROP NOT NULL",
	"ADD IDENTITY": "ALTER COLUMN ... ADD IDENTITY", "SET IDENTITY": "ALTER COLUMN ... SET", "DROP IDENTITY": "ALTER COLUMN ... DROP IDENTITY",
	"DROP EXPRESSION": "ALTER COLUMN ... DROP EXPRESSION", "ADD CONSTRAINT": "ADD CONSTRAINT", "DROP CONSTRAINT": "DROP CONSTRAINT",
	"VALIDATE CONSTRAINT": "VALIDATE CONSTRAINT", "ALTER CONSTRAINT": "ALTER CONSTRAINT", "SET STORAGE": "ALTER COLUMN ... SET STORAGE",
	"SET STATISTICS": "ALTER COLUMN ... SET STATISTICS",
}

func notForViews(v *catalog.View, what string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "ALTER action %s cannot be performed on relation \"%s\"", what, v.Name).
		WithDetail("This operation is not supported for views.")
}

// recursiveView is the query of CREATE RECURSIVE VIEW v (columns) AS q: WITH
// RECURSIVE v (columns) AS (q) SELECT columns FROM v.
func recursiveView(s *ast.CreateView) *ast.Select {
	off, name := s.Off, s.Name.Last()
	out := &ast.Select{Off: off, With: &ast.With{Off: off, Recursive: true, CTEs: []ast.CTE{{Off: off, Name: name, Cols: s.Cols, Stmt: s.Query}}},
		From: []ast.FromItem{&ast.TableRef{Off: off, Name: ast.Name{Off: off, Parts: []string{name}}}}}
	for _, c := range s.Cols {
		out.Targets = append(out.Targets, ast.Target{Off: off, X: &ast.ColumnRef{Off: off, Parts: []string{c}}})
	}
	return out
}

// refreshable checks what REFRESH … CONCURRENTLY asks for: a filled view with a
// unique index over columns.
func refreshable(v *catalog.View, noData bool) error {
	if !v.Populated {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CONCURRENTLY cannot be used when the materialized view is not populated")
	}
	if noData {
		return sqlerr.New(sqlerr.SyntaxError, "CONCURRENTLY and WITH NO DATA options cannot be used together")
	}
	for _, ix := range v.Materialized.Indexes {
		plain := ix.Unique && !ix.Invalid && ix.Where == ""
		for _, k := range ix.Keys {
			plain = plain && k.Col >= 0
		}
		if plain {
			return nil
		}
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot refresh materialized view \"%s\" concurrently", qualified(&catalog.Table{Common: v.Common})).
		WithHint("Create a unique index with no WHERE clause on one or more columns of the materialized view.")
}

// refresh computes a materialized view anew.
func (x *exec) refresh(s *ast.Refresh) error {
	r, err := x.relation(&s.Name)
	if err != nil {
		return withoutPosition(err)
	}
	v, ok := r.(*catalog.View)
	if _, isTable := r.(*catalog.Table); !ok && !isTable {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", s.Name.Last())
	}
	if ok && v.Materialized == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", s.Name.Last())
	}
	if !ok {
		return sqlerr.New(sqlerr.FeatureNotSupported, "\"%s\" is not a materialized view", s.Name.Last())
	}
	if s.Concurrently {
		if err := refreshable(v, s.WithNoData); err != nil {
			return err
		}
	}
	if err := x.lock(v.Materialized, kv.AccessExclusive); err != nil {
		return err
	}
	d, err := x.Tables.For(v.Materialized)
	if err != nil {
		return err
	}
	var q *plan.Query
	if !s.WithNoData {
		sel, err := x.Planner().Texts.ParseQuery(v.Query)
		if err != nil {
			return err
		}
		if err := x.As(v.Owner, func() (err error) {
			c := *x.Planner()
			c.Calls = v.CallsOf(v.Query)
			if q, err = planner.Plan(&c, sel); err == nil {
				err = x.MayRun(q)
			}
			return err
		}); err != nil {
			return err
		}
	}
	if err := x.Change.SetPopulated(v.OID, !s.WithNoData); err != nil {
		return err
	}
	if err := d.Truncate(x.Txn); err != nil {
		return err
	}
	if q != nil {
		x.after = append(x.after, func() error {
			x.merging = s.Concurrently
			err := x.As(v.Owner, func() error {
				_, err := x.fill(x.snap().RelationByOID(x.db(), v.OID).(*catalog.View).Materialized, q)
				return err
			})
			if e, ok := err.(*sqlerr.Error); ok && s.Concurrently && e.Code == sqlerr.UniqueViolation {
				return x.duplicateRows(v, err)
			}
			return err
		})
	}
	return nil
}

// duplicateRows is the error of REFRESH … CONCURRENTLY, which would compare the new rows
// with the old ones: rows that are equal and without NULL cannot be told apart. Others
// have err.
func (x *exec) duplicateRows(v *catalog.View, err error) error {
	row, failed := x.firstTexts("SELECT n::text FROM ("+v.Query+") AS n WHERE n IS NOT NULL GROUP BY n HAVING count(*) > 1 LIMIT 1", 1)
	if failed != nil || row == nil {
		return err
	}
	return sqlerr.New(sqlerr.CardinalityViolation, "new data for materialized view \"%s\" contains duplicate rows without any null columns", v.Name).
		WithDetail("Row: %s", row[0])
}
