package ddl

import (
	"math"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
	"kvsqld/parser/ast"
)

// databaseOptions are the options of CREATE or ALTER DATABASE by their names, each
// given once, without those that are to be DEFAULT.
type databaseOptions map[string]*ast.Option

func readDatabaseOptions(list []ast.Option, known ...string) (databaseOptions, error) {
	given := databaseOptions{}
	for i := range list {
		o := &list[i]
		if !slices.Contains(known, o.Name) {
			return nil, sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", o.Name).At(o.Pos())
		}
		if slices.ContainsFunc(list[:i], func(b ast.Option) bool { return b.Name == o.Name }) {
			return nil, redundant(o)
		}
		if o.X != nil {
			given[o.Name] = o
		}
	}
	return given, nil
}

// redundant refuses an option that is there already.
func redundant(o *ast.Option) error {
	return sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(o.Pos())
}

// text is the value of an option, def where it is not given.
func (g databaseOptions) text(name, def string) string {
	if o := g[name]; o != nil {
		return optionText(o)
	}
	return def
}

// creatable refuses what a new database cannot be: all have UTF-8, the collation C and
// the one tablespace.
func (g databaseOptions) creatable(x *exec) error {
	if o := g["oid"]; o != nil {
		return sqlerr.Unsupported(o.Pos(), "OID of CREATE DATABASE")
	}
	if err := g.utf8(); err != nil {
		return err
	}
	for _, name := range []string{"locale", "lc_collate", "lc_ctype"} {
		if v := strings.ToUpper(g.text(name, "C")); v != "C" && v != "POSIX" && !strings.HasPrefix(v, "C.") {
			return sqlerr.Unsupported(g[name].Pos(), "locale \"%s\"", optionText(g[name]))
		}
	}
	icu := g["icu_locale"]
	switch provider := g.text("locale_provider", "libc"); {
	case provider == "icu" && icu == nil:
		return sqlerr.New(sqlerr.InvalidParameterValue, "ICU locale must be specified")
	case provider == "icu":
		return sqlerr.Unsupported(icu.Pos(), "locale provider \"icu\"")
	case provider != "libc":
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "unrecognized locale provider: %s", provider)
	case icu != nil:
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "ICU locale cannot be specified unless locale provider is ICU")
	}
	if o := g["strategy"]; o != nil && !strings.EqualFold(optionText(o), "wal_log") && !strings.EqualFold(optionText(o), "file_copy") {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid create database strategy \"%s\"", optionText(o)).
			WithHint("Valid strategies are \"wal_log\" and \"file_copy\".")
	}
	return placeable(x, g.text("tablespace", "pg_default"))
}

// utf8 refuses other encodings than UTF-8, by name or by number.
func (g databaseOptions) utf8() error {
	o := g["encoding"]
	if o == nil {
		return nil
	}
	e, what := charset.Find(optionText(o)), "name"
	if c, ok := o.X.(*ast.Const); ok && c.Kind == ast.ConstInt {
		n, err := optionInt(o)
		if err != nil {
			return err
		}
		if n == -1 {
			return nil
		}
		e, what = charset.ByID(n), "code"
	}
	switch {
	case e == nil:
		return sqlerr.New(sqlerr.UndefinedObject, "%s is not a valid encoding %s", optionText(o), what).At(o.Pos())
	case e.ID != charset.UTF8:
		return sqlerr.Unsupported(o.Pos(), "encoding \"%s\"", optionText(o))
	}
	return nil
}

// placeable refuses tablespaces in which no database may be.
func placeable(x *exec, tablespace string) error {
	switch {
	case x.snap().Tablespace(tablespace) == nil:
		return noTablespace(tablespace)
	case tablespace == "pg_global":
		return sqlerr.New(sqlerr.InvalidParameterValue, "pg_global cannot be used as default tablespace")
	}
	return nil
}

// apply changes who may connect to a database, and copy it.
func (g databaseOptions) apply(x *exec, name string) error {
	return x.Change.EditDatabase(name, func(d *catalog.Database) error {
		if o := g["is_template"]; o != nil {
			template, err := optionBool(o)
			if err != nil {
				return err
			}
			if (d.OID == catalog.OIDTemplate0 || d.OID == catalog.OIDTemplate1) && !template {
				return sqlerr.Unsupported(o.Pos(), "IS_TEMPLATE false for database \"%s\"", d.Name)
			}
			d.Template = template
		}
		if o := g["allow_connections"]; o != nil {
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
		}
		if o := g["connection_limit"]; o != nil {
			n, err := optionInt(o)
			if err != nil {
				return err
			}
			if n < -1 || n > math.MaxInt32 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %d", n)
			}
			d.ConnLimit = int(n)
		}
		return nil
	})
}

// moveDatabase is SET TABLESPACE of a database, which is where it is to be already.
func (x *exec) moveDatabase(name, tablespace string) error {
	if d := x.snap().Database(name); d == nil {
		return noDatabase(name)
	} else if d.OID == x.db() {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot change the tablespace of the currently open database")
	}
	return placeable(x, tablespace)
}

func noDatabase(name string) error {
	return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
}
