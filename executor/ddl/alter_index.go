package ddl

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// alterIndex is ALTER INDEX: renaming, and parameters that mean nothing here.
func (x *exec) alterIndex(s *ast.AlterTable) error {
	done, err := x.alterIndexByName(s)
	if done {
		return err
	}
	if r := x.lookup(&s.Name); r != nil {
		if len(s.Actions) == 1 && s.Actions[0].Kind == "RENAME" { // which takes any relation
			table := *s
			table.Kind = "TABLE"
			_, err := x.run(&table)
			return err
		}
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", s.Name.Last())
	}
	return x.noAltered(s)
}

// noAltered is what ALTER says of a name that no relation has.
func (x *exec) noAltered(s *ast.AlterTable) error {
	e := x.noRelation(&s.Name)
	switch index := x.findIndex(&s.Name) != nil; {
	case index && (s.Kind == "VIEW" || s.Kind == "MATERIALIZED VIEW" || s.Kind == "SEQUENCE"):
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", s.Name.Last(), strings.ToLower(s.Kind))
	case index:
		return e
	case e.Code == sqlerr.WrongObjectType && (s.Kind == "TABLE" || s.Kind == "INDEX"):
		return e.WithHint("Use ALTER TYPE instead.")
	case s.IfExists && e.Code != sqlerr.WrongObjectType:
		x.notice(sqlerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", s.Name.Last())
		return nil
	}
	return e
}

func (x *exec) alterIndexByName(s *ast.AlterTable) (bool, error) {
	ix := x.findIndex(&s.Name)
	if ix == nil {
		return false, nil
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		switch a.Kind {
		case "RENAME":
			if err := x.Change.RenameIndex(ix.OID, a.NewName); err != nil {
				return true, err
			}
		case "ATTACH PARTITION":
			if a.Bound != nil { // ALTER TABLE
				return true, sqlerr.New(sqlerr.InvalidObjectDefinition, "\"%s\" is not a partitioned table", ix.Name)
			}
			if err := x.attachIndex(ix, a); err != nil {
				return true, err
			}
		case "SET OPTIONS", "RESET OPTIONS":
			if a.Name != "" {
				return true, x.noColumnOptions(ix, a)
			}
			if t, _ := x.snap().IndexByOID(x.db(), ix.OID); t.Partitioned() {
				return true, actionFails(a, ix.Name, x.indexKind(ix))
			}
			if err := x.alterIndexOptions(ix, a); err != nil {
				return true, err
			}
		case "SET STATISTICS":
			if err := x.indexStatistics(ix, a); err != nil {
				return true, err
			}
		case "SET TABLESPACE":
			if err := knownTablespace(a.NewName); err != nil {
				return true, err
			}
		case "RENAME COLUMN":
			return true, sqlerr.Unsupported(a.Pos(), "ALTER INDEX %s", a.Kind)
		default:
			return true, actionFails(a, ix.Name, x.indexKind(ix))
		}
	}
	return true, nil
}

// noColumnOptions is the error of ALTER COLUMN … SET (…) of an index.
func (x *exec) noColumnOptions(ix *catalog.Index, a *ast.AlterAction) error {
	column := *a
	column.Kind = "ALTER COLUMN ... " + strings.TrimSuffix(a.Kind, " OPTIONS")
	return actionFails(&column, ix.Name, x.indexKind(ix))
}

// indexKind is what messages call such indexes.
func (x *exec) indexKind(ix *catalog.Index) string {
	if t, _ := x.snap().IndexByOID(x.db(), ix.OID); t.Partitioned() {
		return "partitioned indexes"
	}
	return "indexes"
}

// indexStatistics is ALTER INDEX … ALTER COLUMN number SET STATISTICS, which is for
// expressions; it is kept and shown.
func (x *exec) indexStatistics(ix *catalog.Index, a *ast.AlterAction) error {
	t, _ := x.snap().IndexByOID(x.db(), ix.OID)
	n, err := strconv.Atoi(a.Name)
	switch {
	case err != nil:
		if n = slices.Index(t.IndexColumnNames(ix), a.Name) + 1; n == 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", a.Name, ix.Name)
		}
	}
	switch {
	case n > len(ix.Keys)+len(ix.Include):
		return sqlerr.New(sqlerr.UndefinedColumn, "column number %s of relation \"%s\" does not exist", a.Name, ix.Name)
	case n > len(ix.Keys):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on included column \"%s\" of index \"%s\"",
			t.Columns[ix.Include[n-len(ix.Keys)-1]].Name, ix.Name)
	case ix.Keys[n-1].Col >= 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on non-expression column \"%s\" of index \"%s\"", t.KeyName(&ix.Keys[n-1]), ix.Name).
			WithHint("Alter statistics on table column instead.")
	}
	target, err := x.statTarget(a.Expr)
	if err != nil {
		return err
	}
	return x.Change.EditIndex(ix.OID, func(ix *catalog.Index) {
		ix.Keys = slices.Clone(ix.Keys)
		ix.Keys[n-1].StatTarget = target
	})
}

func (x *exec) findIndex(n *ast.Name) *catalog.Index {
	if s := n.Schema(); s != "" {
		_, ix := x.snap().IndexByName(x.db(), x.schemaNamed(s), n.Last())
		return ix
	}
	for _, s := range x.Planner().SearchPath {
		if _, ix := x.snap().IndexByName(x.db(), s, n.Last()); ix != nil {
			return ix
		}
	}
	return nil
}
