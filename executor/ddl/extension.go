package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// createExtension is CREATE EXTENSION.
func (x *exec) createExtension(s *ast.CreateExtension) error {
	if s.Name == catalog.PlpgsqlName || x.snap().Extension(x.db(), s.Name) != nil {
		if s.IfNotExists {
			x.notice(sqlerr.DuplicateObject, "extension \"%s\" already exists, skipping", s.Name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "extension \"%s\" already exists", s.Name)
	}
	var schema string
	var version *ast.Const
	for _, o := range s.Options {
		word, _ := o.X.(*ast.Const)
		switch o.Name {
		case "schema":
			schema = word.Val
		case "version":
			version = word
		}
	}
	def := catalog.AvailableExtension(s.Name)
	if def == nil {
		return sqlerr.Unsupported(s.Pos(), "extension \"%s\"", s.Name)
	}
	if version != nil && version.Val != def.Version {
		return sqlerr.New(sqlerr.InvalidParameterValue, "extension \"%s\" has no installation script nor update path for version \"%s\"", s.Name, version.Val)
	}
	name := ast.Name{Off: s.Off, Parts: []string{s.Name}}
	if schema != "" {
		name.Parts = []string{schema, s.Name}
	}
	schema, _, err := x.target(&name, false)
	if err != nil {
		return withoutPosition(err)
	}
	if err := x.mayCreate(&name, false); err != nil {
		return err
	}
	return x.Change.CreateExtension(def, schema)
}

// extension finds an extension, or reports that there is none.
func (x *exec) extension(n *ast.Name) (*catalog.Extension, error) {
	if e := x.snap().Extension(x.db(), n.Last()); e != nil {
		return e, nil
	}
	if n.Last() == catalog.PlpgsqlName { // is no part of a snapshot
		owner := x.snap().Language(x.db(), catalog.PlpgsqlName).Owner
		return &catalog.Extension{Common: catalog.Common{OID: catalog.OIDPlpgsql, DB: x.db(), Schema: catalog.SchemaPgCatalog, Name: n.Last(), Owner: owner},
			Version: catalog.PlpgsqlVersion}, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "extension \"%s\" does not exist", n.Last())
}

// ownExtension is an extension that the current role owns.
func (x *exec) ownExtension(n *ast.Name) (*catalog.Extension, error) {
	e, err := x.extension(n)
	if err == nil && !x.snap().Owns(x.User, e) {
		return nil, denied("must be owner of extension %s", e.Name)
	}
	return e, err
}

// alterExtension is ALTER EXTENSION … UPDATE and SET SCHEMA.
func (x *exec) alterExtension(s *ast.AlterObject) error {
	e, err := x.ownExtension(&s.Name)
	if err != nil {
		return err
	}
	switch s.Action {
	case "UPDATE":
		to := e.Version
		for _, o := range s.Options {
			if word, ok := o.X.(*ast.Const); ok {
				to = word.Val
			}
		}
		if to != e.Version {
			return sqlerr.New(sqlerr.InvalidParameterValue, "extension \"%s\" has no update path from version \"%s\" to version \"%s\"", e.Name, e.Version, to)
		}
		x.notice(sqlerr.SuccessfulCompletion, "version \"%s\" of extension \"%s\" is already installed", to, e.Name)
		return nil
	case "SET SCHEMA":
		if e.OID == catalog.OIDPlpgsql {
			return sqlerr.New(sqlerr.FeatureNotSupported, "extension \"%s\" does not support SET SCHEMA", e.Name)
		}
		if x.snap().Schema(x.db(), s.NewName) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.NewName)
		}
		if s.NewName == e.Schema {
			return nil
		}
		return x.Change.MoveExtension(e, s.NewName)
	}
	return sqlerr.Unsupported(s.Pos(), "ALTER EXTENSION %s", s.Action)
}

// dropExtensions is DROP EXTENSION.
func (x *exec) dropExtensions(s *ast.Drop) error {
	var names []string
	for i := range s.Names {
		n := &s.Names[i]
		if x.snap().Extension(x.db(), n.Last()) == nil && n.Last() != catalog.PlpgsqlName {
			if err := x.missing(s, sqlerr.UndefinedObject, "extension", n); err != nil {
				return err
			}
			continue
		}
		e, err := x.ownExtension(n)
		if err != nil {
			return err
		}
		if e.OID == catalog.OIDPlpgsql {
			return sqlerr.Unsupported(int(n.Off), "DROP EXTENSION %s", e.Name)
		}
		names = append(names, n.Last())
	}
	return x.Change.DropExtensions(s.Cascade, names...)
}
