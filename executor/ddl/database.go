package ddl

import (
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

func (x *exec) createDatabase(s *ast.CreateDatabase) error {
	given, err := readDatabaseOptions(s.Options, "owner", "template", "encoding", "locale", "lc_collate", "lc_ctype", "icu_locale",
		"locale_provider", "collation_version", "strategy", "tablespace", "oid", "is_template", "allow_connections", "connection_limit")
	if err != nil {
		return err
	}
	if err := given.creatable(x); err != nil {
		return err
	}
	owner := x.roleName(given.text("owner", x.User))
	if x.snap().Role(owner) == nil {
		return noRole(owner)
	}
	if !x.snap().IsSuper(x.User) {
		if err := x.memberOf(owner); err != nil {
			return err
		}
	}
	if err := x.copyDatabase(s.Name, owner, given.text("template", "template1")); err != nil {
		return err
	}
	return given.apply(x, s.Name)
}

func (x *exec) dropDatabase(s *ast.DropDatabase) error {
	d := x.snap().Database(s.Name)
	if d == nil {
		if s.IfExists {
			x.notice(sqlerr.SuccessfulCompletion, "database \"%s\" does not exist, skipping", s.Name)
			return nil
		}
		return noDatabase(s.Name)
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
		// A session that has ended has taken its temporary tables with it.
		if err := x.hold(t, kv.AccessExclusive); err != nil {
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
		return false, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", o.Name)
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
			return noDatabase(name)
		}
		return x.Change.SetOwner(d.OID, x.roleName(s.NewName))
	case "SET", "RESET":
		o := &s.Options[0]
		return x.alterDatabaseSetting(name, &ast.SetVar{Off: o.Off, Name: o.Name, Reset: s.Action == "RESET", All: s.Action == "RESET" && o.Name == "all",
			Values: o.List, FromCurrent: o.X != nil, Default: o.List == nil && o.X == nil})
	case "SET TABLESPACE":
		return x.moveDatabase(name, s.NewName)
	case "REFRESH COLLATION VERSION":
		if x.snap().Database(name) == nil {
			return noDatabase(name)
		}
		x.notice(sqlerr.SuccessfulCompletion, "version has not changed")
		return nil
	case "OPTIONS":
		given, err := readDatabaseOptions(s.Options, "is_template", "allow_connections", "connection_limit", "tablespace")
		if err != nil {
			return err
		}
		if o := given["tablespace"]; o != nil {
			if len(s.Options) > 1 {
				return sqlerr.New(sqlerr.FeatureNotSupported, "option \"%s\" cannot be specified with other options", o.Name).At(o.Pos())
			}
			return x.moveDatabase(name, optionText(o))
		}
		return given.apply(x, name)
	}
	return sqlerr.Unsupported(s.Off.Pos(), "ALTER DATABASE %s", s.Action)
}

// alterDatabaseSetting sets or resets a parameter for all sessions of a database.
func (x *exec) alterDatabaseSetting(db string, s *ast.SetVar) error {
	return x.Change.EditDatabase(db, func(d *catalog.Database) (err error) {
		d.Settings, err = x.withSetting(d.Settings, s)
		return err
	})
}
