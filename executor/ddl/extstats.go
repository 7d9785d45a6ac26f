package ddl

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/storage/kv"
)

// maxStatsColumns is how many columns and expressions a statistics object may have.
const maxStatsColumns = 8

// statisticsKinds are the kinds of CREATE STATISTICS by their names.
var statisticsKinds = map[string]string{"ndistinct": "d", "dependencies": "f", "mcv": "m"}

// createStatistics is CREATE STATISTICS.
func (x *exec) createStatistics(s *ast.CreateStatistics) error {
	ref, ok := s.From[0].(*ast.TableRef)
	if !ok || ref.Tablesample != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CREATE STATISTICS only supports relation names in the FROM clause")
	}
	if len(s.From) != 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "only a single relation is allowed in CREATE STATISTICS")
	}
	if x.lookup(&ref.Name) == nil {
		if x.findIndex(&ref.Name) != nil {
			return noStatistics(ref.Name.Last(), "indexes")
		}
		if x.composite(&ref.Name) != nil {
			return noStatistics(ref.Name.Last(), "composite types")
		}
	}
	r, err := x.relation(&ref.Name)
	if err != nil {
		return withoutPosition(err)
	}
	t, err := x.statisticsTable(r)
	if err != nil {
		return err
	}
	if !x.snap().Owns(x.User, r) {
		return x.snap().NotOwner(r)
	}
	if err := x.hold(t, kv.ShareUpdateExclusive); err != nil {
		return err
	}
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return withoutPosition(err)
	}
	if err := x.mayCreate(&s.Name, false); err != nil && !x.snap().IsSuper(x.User) {
		return err
	}
	if x.snap().ExtStats(x.db(), schema, name) != nil {
		if s.IfNotExists {
			x.notice(sqlerr.DuplicateObject, "statistics object \"%s\" already exists, skipping", name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "statistics object \"%s\" already exists", name)
	}
	e := &catalog.ExtStats{Common: catalog.Common{Schema: schema, Name: name}, Table: r.ObjectOID(), Target: -1}
	if err := x.statisticsParts(e, t, s); err != nil {
		return err
	}
	return x.Change.PutExtStats(e)
}

// statisticsTable is what the expressions of statistics on a relation are over.
func (x *exec) statisticsTable(r catalog.Relation) (*catalog.Table, error) {
	switch r := r.(type) {
	case *catalog.Table:
		return r, nil
	case *catalog.View:
		if r.Materialized != nil {
			return r.Materialized, nil
		}
	}
	_, name := r.RelName()
	return nil, noStatistics(name, catalog.RelationKind(r)+"s")
}

func noStatistics(name, kinds string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "cannot define statistics for relation \"%s\"", name).
		WithDetail("This operation is not supported for %s.", kinds)
}

// statisticsParts reads the columns, expressions and kinds.
func (x *exec) statisticsParts(e *catalog.ExtStats, t *catalog.Table, s *ast.CreateStatistics) error {
	if len(s.Exprs) > maxStatsColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "cannot have more than %d columns in statistics", maxStatsColumns)
	}
	for _, item := range s.Exprs {
		ref, column := item.(*ast.ColumnRef)
		if column && len(ref.Parts) == 1 {
			name := ref.Parts[0]
			i := t.Col(name)
			switch {
			case i < 0 && catalog.IsSystemColumn(name):
				return sqlerr.New(sqlerr.FeatureNotSupported, "statistics creation on system columns is not supported")
			case i < 0:
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", name)
			case x.snap().DefaultOpclass(catalog.OIDBtreeAm, t.Columns[i].Type) == nil:
				return sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" cannot be used in statistics because its type %s has no default btree operator class",
					name, x.typeName(t.Columns[i].Type))
			case slices.Contains(e.Cols, i):
				return sqlerr.New(sqlerr.DuplicateColumn, "duplicate column name in statistics definition")
			}
			e.Cols = append(e.Cols, i)
			continue
		}
		st, err := planner.StoredExpr(x.Planner(), item, t, types.T{}, "statistics expressions")
		if err != nil {
			return err
		}
		if st.Whole {
			return sqlerr.New(sqlerr.FeatureNotSupported, "statistics creation on system columns is not supported")
		}
		if len(s.Exprs) > 1 && x.snap().DefaultOpclass(catalog.OIDBtreeAm, st.Expr.Type()) == nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "expression cannot be used in multivariate statistics because its type %s has no default btree operator class",
				x.typeName(st.Expr.Type()))
		}
		if slices.Contains(e.Exprs, st.Text) {
			return sqlerr.New(sqlerr.DuplicateColumn, "duplicate expression in statistics definition")
		}
		e.Exprs = append(e.Exprs, st.Text)
		for _, c := range st.Cols {
			if !slices.Contains(e.ExprCols, c) {
				e.ExprCols = append(e.ExprCols, c)
			}
		}
	}
	slices.Sort(e.Cols)
	slices.Sort(e.ExprCols)
	return statisticsKindsOf(e, s)
}

func statisticsKindsOf(e *catalog.ExtStats, s *ast.CreateStatistics) error {
	asked := ""
	for _, k := range s.Kinds {
		code := statisticsKinds[k]
		if code == "" {
			return sqlerr.New(sqlerr.SyntaxError, "unrecognized statistics kind \"%s\"", k)
		}
		asked += code
	}
	single := len(e.Exprs) == 1 && len(e.Cols) == 0
	switch {
	case single && asked != "":
		return sqlerr.New(sqlerr.FeatureNotSupported, "when building statistics on a single expression, statistics kinds may not be specified")
	case !single && len(e.Cols)+len(e.Exprs) < 2:
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "extended statistics require at least 2 columns")
	case single:
	case asked == "":
		e.Kinds = "dfm"
	default:
		for _, k := range "dfm" {
			if strings.ContainsRune(asked, k) {
				e.Kinds += string(k)
			}
		}
	}
	if len(e.Exprs) > 0 {
		e.Kinds += "e"
	}
	return nil
}

// statistics finds a statistics object along the search path, or nil.
func (x *exec) statistics(n *ast.Name) *catalog.ExtStats {
	if s := n.Schema(); s != "" {
		if s == "pg_temp" {
			s = x.Temp
		}
		return x.snap().ExtStats(x.db(), s, n.Last())
	}
	return x.snap().FindExtStats(x.db(), x.Planner().SearchPath, n.Last())
}

// ownStatistics finds a statistics object that the current role must own.
func (x *exec) ownStatistics(n *ast.Name) (*catalog.ExtStats, error) {
	e := x.statistics(n)
	if e == nil {
		if s := n.Schema(); s != "" && s != "pg_temp" && x.snap().Schema(x.db(), s) == nil {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "statistics object \"%s\" does not exist", fullName(n))
	}
	if !x.snap().Owns(x.User, e) {
		return nil, denied("must be owner of statistics object %s", e.Name)
	}
	return e, nil
}

// alterStatistics is ALTER STATISTICS.
func (x *exec) alterStatistics(s *ast.AlterObject) error {
	if s.IfExists && x.statistics(&s.Name) == nil {
		x.notice(sqlerr.SuccessfulCompletion, "statistics object \"%s\" does not exist, skipping", s.Name.Last())
		return nil
	}
	e, err := x.ownStatistics(&s.Name)
	if err == nil {
		err = x.mayMove(s, e.Schema)
	}
	if err != nil {
		return err
	}
	n := *e
	switch s.Action {
	case "RENAME":
		if x.snap().ExtStats(x.db(), e.Schema, s.NewName) != nil {
			return sqlerr.New(sqlerr.DuplicateObject, "statistics object \"%s\" already exists in schema \"%s\"", s.NewName, e.Schema)
		}
		n.Name = s.NewName
	case "OWNER":
		return x.Change.SetOwner(e.OID, x.roleName(s.NewName))
	case "SET SCHEMA":
		if x.snap().Schema(x.db(), s.NewName) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.NewName)
		}
		if s.NewName != e.Schema && x.snap().ExtStats(x.db(), s.NewName, e.Name) != nil {
			return sqlerr.New(sqlerr.DuplicateObject, "statistics object \"%s\" already exists in schema \"%s\"", e.Name, s.NewName)
		}
		n.Schema = s.NewName
	case "SET STATISTICS":
		target, err := x.statisticsTarget(s.Options[0].X)
		if err != nil {
			return err
		}
		n.Target = target
	}
	return x.Change.PutExtStats(&n)
}

// statisticsTarget is the number of SET STATISTICS.
func (x *exec) statisticsTarget(e ast.Expr) (int, error) {
	n := maxStatTarget + 1
	if k, ok := e.(*ast.Const); ok {
		if v, err := strconv.Atoi(k.Val); err == nil {
			n = v
		}
	}
	if n < -1 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "statistics target %d is too low", n)
	}
	if n > maxStatTarget {
		x.tell("WARNING", sqlerr.InvalidParameterValue, "lowering statistics target to %d", maxStatTarget)
		n = maxStatTarget
	}
	return n, nil
}

// dropStatistics is DROP STATISTICS.
func (x *exec) dropStatistics(s *ast.Drop) error {
	var oids []types.OID
	for i := range s.Names {
		n := &s.Names[i]
		if x.statistics(n) == nil && s.IfExists {
			if err := x.dropAbsent(s, i); err != nil {
				return err
			}
			continue
		}
		e, err := x.ownStatistics(n)
		if err != nil {
			return err
		}
		if t := x.snap().Table(e.Table); t != nil {
			if err := x.hold(t, kv.ShareUpdateExclusive); err != nil {
				return err
			}
		}
		oids = append(oids, e.OID)
	}
	if len(oids) == 0 {
		return nil
	}
	return x.Change.DropExtStats(s.Cascade, oids...)
}
