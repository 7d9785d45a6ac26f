package ddl

import (
	"maps"
	"math"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

func (x *exec) createDatabase(s *ast.CreateDatabase) error {
	owner, template := x.User, "template1"
	var options []*ast.Option
	for i := range s.Options {
		o := &s.Options[i]
		switch o.Name {
		case "owner":
			owner = x.roleName(optionText(o))
		case "template":
			template = optionText(o)
		case "encoding":
			if v := strings.ToUpper(strings.ReplaceAll(optionText(o), "-", "")); v != "UTF8" && v != "UNICODE" && v != "DEFAULT" && v != "6" {
				return sqlerr.Unsupported(o.Pos(), "encoding \"%s\"", optionText(o))
			}
		case "lc_collate", "lc_ctype", "locale":
			if v := strings.ToUpper(optionText(o)); v != "C" && v != "POSIX" && v != "DEFAULT" && !strings.HasPrefix(v, "C.") {
				return sqlerr.Unsupported(o.Pos(), "locale \"%s\"", optionText(o))
			}
		case "allow_connections", "connection_limit", "is_template":
			options = append(options, o)
		case "tablespace", "locale_provider", "strategy", "oid":
		default:
			return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", o.Name).At(o.Pos())
		}
	}
	if x.snap().Role(owner) == nil {
		return noRole(owner)
	}
	if !x.snap().IsSuper(x.User) {
		if err := x.memberOf(owner); err != nil {
			return err
		}
	}
	if err := x.copyDatabase(s.Name, owner, template); err != nil {
		return err
	}
	return x.databaseOptions(s.Name, options)
}

func (x *exec) dropDatabase(s *ast.DropDatabase) error {
	d := x.snap().Database(s.Name)
	if d == nil {
		if s.IfExists {
			x.notice(sqlerr.SuccessfulCompletion, "database \"%s\" does not exist, skipping", s.Name)
			return nil
		}
		return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", s.Name)
	}
	if d.OID == x.db() {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
	}
	if err := x.vacate(d, "database", s.Force); err != nil {
		return err
	}
	files := slices.Collect(maps.Values(stored(x.snap(), d.OID)))
	if metadata, pages := x.snap().LargeObjects(d.OID); metadata != nil {
		files = append(files, metadata, pages)
	}
	for _, t := range files {
		td, err := x.Tables.For(t)
		if err != nil {
			return err
		}
		if err := td.LockTable(x.Ctx, x.Txn, kv.AccessExclusive, x.lockOpt()); err != nil {
			return err
		}
		if err := td.Drop(x.Txn); err != nil {
			return err
		}
	}
	_, err := x.Change.DropDatabase(s.Name)
	return err
}

// vacate reports 55006 when other sessions stay in a database, which is called what.
func (x *exec) vacate(d *catalog.Database, what string, force bool) error {
	if x.Vacate == nil {
		return nil
	}
	n, err := x.Vacate(d.OID, force)
	if err != nil || n == 0 {
		return err
	}
	detail := "There are %d other sessions using the database."
	if n == 1 {
		detail = "There is %d other session using the database."
	}
	return sqlerr.New(sqlerr.ObjectInUse, "%s \"%s\" is being accessed by other users", what, d.Name).WithDetail(detail, n)
}

// optionBool is the value of an option that is true or false.
func optionBool(o *ast.Option) (bool, error) {
	v, ok := catalog.ParseBool(optionText(o))
	if !ok {
		return false, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", o.Name).At(o.Pos())
	}
	return v, nil
}

func (x *exec) alterDatabase(s *ast.AlterObject) error {
	name := s.Name.Last()
	switch s.Action {
	case "RENAME":
		if d := x.snap().Database(name); d != nil && d.OID != x.db() && x.snap().Database(s.NewName) == nil {
			if err := x.vacate(d, "database", false); err != nil {
				return err
			}
		}
		return x.Change.RenameDatabase(name, s.NewName)
	case "OWNER":
		d := x.snap().Database(name)
		if d == nil {
			return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
		}
		return x.Change.SetOwner(d.OID, x.roleName(s.NewName))
	case "SET", "RESET":
		o := &s.Options[0]
		return x.alterDatabaseSetting(name, &ast.SetVar{Off: o.Off, Name: o.Name, Reset: s.Action == "RESET", All: s.Action == "RESET" && o.Name == "all",
			Values: o.List, FromCurrent: o.X != nil, Default: o.List == nil && o.X == nil})
	case "OPTIONS":
		var options []*ast.Option
		for i := range s.Options {
			options = append(options, &s.Options[i])
		}
		return x.databaseOptions(name, options)
	}
	return sqlerr.Unsupported(s.Off.Pos(), "ALTER DATABASE %s", s.Action)
}

// databaseOptions changes who may connect to a database, and copy it.
func (x *exec) databaseOptions(name string, options []*ast.Option) error {
	return x.Change.EditDatabase(name, func(d *catalog.Database) error {
		for _, o := range options {
			switch o.Name {
			case "connection_limit":
				n, err := optionInt(o)
				if err != nil {
					return err
				}
				if n < -1 || n > math.MaxInt32 {
					return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %d", n)
				}
				d.ConnLimit = int(n)
			case "allow_connections":
				allow, err := optionBool(o)
				if err != nil {
					return err
				}
				if !allow && d.OID == x.db() {
					return sqlerr.New(sqlerr.InvalidParameterValue, "cannot disallow connections for current database")
				}
				if d.OID == catalog.OIDTemplate0 && allow {
					return sqlerr.Unsupported(o.Pos(), "connecting to template0")
				}
				d.Closed = !allow
			case "is_template":
				template, err := optionBool(o)
				if err != nil {
					return err
				}
				if (d.OID == catalog.OIDTemplate0 || d.OID == catalog.OIDTemplate1) && !template {
					return sqlerr.Unsupported(o.Pos(), "IS_TEMPLATE false for database \"%s\"", d.Name)
				}
				d.Template = template
			case "tablespace":
				return sqlerr.Unsupported(o.Pos(), "ALTER DATABASE SET TABLESPACE")
			default:
				return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", o.Name).At(o.Pos())
			}
		}
		return nil
	})
}

// alterDatabaseSetting sets or resets a parameter for all sessions of a database.
func (x *exec) alterDatabaseSetting(db string, s *ast.SetVar) error {
	return x.Change.EditDatabase(db, func(d *catalog.Database) (err error) {
		d.Settings, err = x.withSetting(d.Settings, s)
		return err
	})
}
