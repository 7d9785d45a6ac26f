package session

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// elsewhere refuses definitions that name an object of another database, which they
// would find in this one otherwise.
func (s *Session) elsewhere(stmt ast.Stmt) error {
	var err error
	refuse := func(form string, parts []string) *sqlerr.Error {
		if len(parts) != 3 || parts[0] == s.dbName || err != nil {
			return nil
		}
		e := sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: "+form, strings.Join(parts, "."))
		err = e
		return e
	}
	relation := func(n *ast.Name) {
		if n != nil {
			refuse("\"%s\"", n.Parts)
		}
	}
	placed := func(n *ast.Name) {
		if e := refuse("\"%s\"", n.Parts); e != nil {
			err = e.At(n.Pos())
		}
	}
	other := func(n *ast.Name) {
		if n != nil {
			refuse("%s", n.Parts)
		}
	}
	constraints := func(list []ast.Constraint) {
		for i := range list {
			relation(list[i].RefTable)
		}
	}
	named := func(kind string, n *ast.Name) {
		switch kind {
		case "TABLE", "INDEX", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "FOREIGN TABLE":
			relation(n)
		case "COLUMN":
			if len(n.Parts) > 3 {
				refuse("\"%s\"", n.Parts[:3])
			}
		default:
			other(n)
		}
	}
	switch x := stmt.(type) {
	case *ast.CreateTable:
		placed(&x.Name)
		other(x.OfType)
		relation(x.PartitionOf)
		for i := range x.Inherits {
			relation(&x.Inherits[i])
		}
		for i := range x.Likes {
			placed(&x.Likes[i].Table)
		}
		for i := range x.Columns {
			constraints(x.Columns[i].Constraints)
		}
		constraints(x.Constraints)
	case *ast.CreateIndex:
		relation(&x.Table)
	case *ast.CreateView:
		relation(&x.Name)
	case *ast.CreateSequence:
		relation(&x.Name)
	case *ast.AlterSequence:
		relation(&x.Name)
	case *ast.CreateSchema:
		for _, e := range x.Elements {
			if err == nil {
				err = s.elsewhere(e)
			}
		}
	case *ast.CreateType:
		other(&x.Name)
	case *ast.CreateDomain:
		other(&x.Name)
	case *ast.CreateFunction:
		other(&x.Name)
	case *ast.CreateAggregate:
		other(&x.Name)
	case *ast.CreateOperator:
		other(&x.Name)
	case *ast.CreateStatistics:
		other(&x.Name)
	case *ast.CreatePolicy:
		relation(&x.Table)
	case *ast.CreateCast:
		other(&x.Func)
	case *ast.Drop:
		relation(x.On)
		for i := range x.Names {
			named(x.Kind, &x.Names[i])
		}
	case *ast.AlterTable:
		relation(&x.Name)
		for _, a := range x.Actions {
			relation(a.Other)
			if a.Constraint != nil {
				relation(a.Constraint.RefTable)
			}
			if a.Column != nil {
				constraints(a.Column.Constraints)
			}
		}
	case *ast.AlterObject:
		other(&x.Name)
	case *ast.Truncate:
		for i := range x.Tables {
			relation(&x.Tables[i].Name)
		}
	case *ast.Comment:
		named(x.Kind, &x.Name)
		relation(x.On)
	case *ast.Grant:
		for i := range x.Objects {
			named(x.ObjKind, &x.Objects[i])
		}
	case *ast.Refresh:
		relation(&x.Name)
	}
	return err
}
