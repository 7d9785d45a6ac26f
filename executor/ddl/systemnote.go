package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// The classes of objects that every database has.
const (
	classOperator  types.OID = 2617
	classProc      types.OID = 1255
	classType      types.OID = 1247
	classRelation  types.OID = 1259
	classNamespace types.OID = 2615
	classExtension types.OID = 3079
)

// commentSystem is COMMENT ON an object that every database has: done is false when the
// statement is about another one, or about none.
func (x *exec) commentSystem(s *ast.Comment, text string) (done bool, err error) {
	class, oid, sub := types.OID(0), types.OID(0), 0
	n := &s.Name
	switch s.Kind {
	case "TABLE", "VIEW":
		v, ok := x.lookup(n).(*catalog.Virtual)
		switch {
		case !ok:
			return false, nil
		case v.View != (s.Kind == "VIEW"):
			return true, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", v.Name, strings.ToLower(s.Kind))
		}
		class, oid = classRelation, v.OID
	case "COLUMN":
		last := len(n.Parts) - 1
		v, ok := x.lookup(&ast.Name{Off: n.Off, Parts: n.Parts[:last]}).(*catalog.Virtual)
		if !ok {
			return false, nil
		}
		for i, c := range v.Columns {
			if c.Name == n.Parts[last] {
				class, oid, sub = classRelation, v.OID, i+1
			}
		}
		if oid == 0 {
			return true, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n.Parts[last], v.Name)
		}
	case "SCHEMA":
		if !catalog.IsBuiltinSchema(n.Last()) {
			return false, nil
		}
		class, oid = classNamespace, x.snap().Schema(x.db(), n.Last()).OID
	case "TYPE":
		if x.userType(n) != nil {
			return false, nil
		}
		t := x.builtinType(n)
		if t == nil {
			return false, nil
		}
		class, oid = classType, t.OID
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		if _, err := x.function(s.Kind, n, s.Args); err == nil {
			return false, nil
		}
		p := x.builtinRoutine(s.Kind, n, s.Args)
		switch {
		case p == nil:
			return false, nil
		case p.Kind != 'a' && s.Kind == "AGGREGATE":
			return true, sqlerr.New(sqlerr.WrongObjectType, "function %s(%s) is not an aggregate", p.Name, x.typeList(p.Args))
		}
		class, oid = classProc, p.OID
	case "OPERATOR":
		if class, oid = classOperator, x.builtinOperator(n, s.Args); oid == 0 {
			return false, nil
		}
	case "CAST":
		texts := typeTexts(s.Args)
		class, oid, sub, err = x.Address("cast", texts[:1], texts[1:])
		if err != nil || oid >= types.FirstUserOID {
			return false, nil
		}
	case "TABLESPACE":
		t := x.snap().Tablespace(n.Last())
		switch {
		case t == nil:
			return true, noTablespace(n.Last())
		case !x.snap().IsSuper(x.User):
			return true, denied("must be owner of tablespace %s", t.Name)
		}
		return true, x.Change.CommentTablespace(t, text)
	case "EXTENSION":
		if n.Last() != catalog.PlpgsqlName {
			return false, nil
		}
		class, oid = classExtension, catalog.OIDPlpgsql
	case "LANGUAGE", "ACCESS METHOD", "COLLATION", "CONVERSION":
		if class, oid, sub, err = x.Address(strings.ToLower(s.Kind), n.Parts, nil); err != nil {
			return true, err
		}
	case "OPERATOR CLASS", "OPERATOR FAMILY":
		if class, oid, sub, err = x.Address(strings.ToLower(s.Kind), append([]string{s.On.Last()}, n.Parts...), nil); err != nil {
			return true, err
		}
	default:
		return false, nil
	}
	if !x.snap().IsSuper(x.User) {
		return true, denied("must be owner of %s %s", strings.ToLower(s.Kind), n.Last())
	}
	return true, x.Change.SetSystemComment(class, oid, sub, text)
}

// builtinOperator finds a built-in operator by the types of its sides; 0 for none.
func (x *exec) builtinOperator(n *ast.Name, sides []ast.TypeName) types.OID {
	if n.Schema() != "" && n.Schema() != catalog.SchemaPgCatalog {
		return 0
	}
	var want []types.OID
	for i := range sides {
		var t types.T // of no side
		if sides[i].Name.Parts != nil {
			var err error
			if t, err = x.functionType(&sides[i]); err != nil {
				return 0
			}
		}
		want = append(want, t.OID)
	}
	for _, o := range catalog.OperatorsByName(n.Last()) {
		if len(want) == 2 && o.Left == want[0] && o.Right == want[1] {
			return o.OID
		}
	}
	return 0
}

// typeTexts spells types.
func typeTexts(list []ast.TypeName) (out []string) {
	for _, t := range list {
		out = append(out, ast.FormatType(t))
	}
	return out
}

// typeList names types as messages do.
func (x *exec) typeList(list []types.OID) string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = x.typeName(types.Of(o))
	}
	return strings.Join(out, ", ")
}

func noTablespace(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", name)
}

// grantShared is GRANT and REVOKE ON TABLESPACE and PARAMETER.
func (x *exec) grantShared(s *ast.Grant, grantees []string) error {
	for i := range s.Objects {
		spec := &catalog.GrantSpec{Revoke: s.Revoke, Grantees: grantees, Option: s.GrantOpt, Cascade: s.Cascade}
		if s.ObjKind == "TABLESPACE" {
			t := x.snap().Tablespace(s.Objects[i].Last())
			if t == nil {
				return noTablespace(s.Objects[i].Last())
			}
			if err := x.grantPrivileges(s, t, spec); err != nil {
				return err
			}
			if err := x.Change.GrantTablespace(t, spec); err != nil {
				return err
			}
			continue
		}
		name := strings.ToLower(strings.Join(s.Objects[i].Parts, "."))
		known := slices.ContainsFunc(catalog.Settings(), func(d catalog.Setting) bool { return strings.ToLower(d.Name) == name })
		if !known && !strings.Contains(name, ".") {
			return sqlerr.New(sqlerr.InvalidName, "invalid parameter name \"%s\"", name)
		}
		p := x.snap().Parameter(name)
		if err := x.grantPrivileges(s, p, spec); err != nil {
			return err
		}
		if err := x.Change.GrantParameter(p, spec); err != nil {
			return err
		}
	}
	return nil
}

// grantLanguages is GRANT and REVOKE ON LANGUAGE.
func (x *exec) grantLanguages(s *ast.Grant, grantees []string) error {
	for i := range s.Objects {
		l := x.snap().Language(x.db(), s.Objects[i].Last())
		if l == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", s.Objects[i].Last())
		}
		spec := &catalog.GrantSpec{Revoke: s.Revoke, Grantees: grantees, Option: s.GrantOpt, Cascade: s.Cascade}
		if err := x.grantPrivileges(s, l, spec); err != nil {
			return err
		}
		if !l.Trusted {
			return sqlerr.New(sqlerr.WrongObjectType, "language \"%s\" is not trusted", l.Name).
				WithDetail("GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages.")
		}
		if err := x.Change.GrantLanguage(l, spec); err != nil {
			return err
		}
	}
	return nil
}
