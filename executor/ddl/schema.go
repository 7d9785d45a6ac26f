package ddl

import (
	"cmp"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// createSchema makes a schema and what its statement lists: sequences before the tables
// that draw from them, and so on, as the schema's owner.
func (x *exec) createSchema(s *ast.CreateSchema) error {
	name := s.Name
	if name == "" {
		name = x.roleName(s.Owner)
	}
	if s.Owner != "" && x.snap().Role(x.roleName(s.Owner)) == nil {
		return noRole(s.Owner)
	}
	if s.IfNotExists && x.snap().Schema(x.db(), name) != nil {
		x.notice(sqlerr.DuplicateSchema, "schema \"%s\" already exists, skipping", name)
		return nil
	}
	owner := x.User
	if s.Owner != "" {
		owner = x.roleName(s.Owner)
	}
	if _, err := x.Change.CreateSchema(name, owner); err != nil {
		return err
	}
	list := slices.Clone(s.Elements)
	for _, e := range list {
		if n := elementSchema(e); n != "" && n != name {
			return sqlerr.New(sqlerr.InvalidSchemaDefinition, "CREATE specifies a schema (%s) different from the one being created (%s)", n, name)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b ast.Stmt) int { return cmp.Compare(elementTurn(a), elementTurn(b)) })
	user, path := x.User, x.Path
	defer func() { x.User, x.Path = user, path }()
	return x.Inside(name, owner, func(path []string) error {
		x.User, x.Path = owner, path
		for _, e := range list {
			if temporary(e) {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
			}
			if _, err := x.run(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// elementSchema is the schema that an element of CREATE SCHEMA names.
func elementSchema(e ast.Stmt) string {
	switch e := e.(type) {
	case *ast.CreateSequence:
		return e.Name.Schema()
	case *ast.CreateTable:
		return e.Name.Schema()
	case *ast.CreateView:
		return e.Name.Schema()
	case *ast.CreateIndex:
		return e.Table.Schema()
	}
	return ""
}

func temporary(e ast.Stmt) bool {
	switch e := e.(type) {
	case *ast.CreateSequence:
		return e.Temp
	case *ast.CreateTable:
		return e.Temp
	case *ast.CreateView:
		return e.Temp
	}
	return false
}

// elementTurn is the turn in which an element of CREATE SCHEMA is made.
func elementTurn(e ast.Stmt) int {
	switch e.(type) {
	case *ast.CreateSequence:
		return 0
	case *ast.CreateTable:
		return 1
	case *ast.CreateView:
		return 2
	case *ast.CreateIndex:
		return 3
	}
	return 4 // grants
}
