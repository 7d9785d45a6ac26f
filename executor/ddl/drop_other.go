package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// nounOf is what messages call a kind of object, where that is not the kind's own
// name in lower case.
var nounOf = map[string]string{
	"FOREIGN DATA WRAPPER": "foreign-data wrapper", "STATISTICS": "statistics object",
}

// builtinNames are the objects of kinds that cannot be created and that are there
// all the same.
var builtinNames = map[string][]string{
	"LANGUAGE":      {"sql", "c", "internal"},
	"ACCESS METHOD": {"heap", "btree", "hash", "gist", "gin", "spgist", "brin"},
}

// dropOther is DROP of what cannot exist here, or exists and must stay: an error,
// or a notice with IF EXISTS.
func (x *exec) dropOther(s *ast.Drop) error {
	switch s.Kind {
	case "OPERATOR":
		return x.dropOperators(s)
	case "STATISTICS":
		return x.dropStatistics(s)
	case "POLICY":
		if done, err := x.dropPolicy(s); done {
			return err
		}
	}
	for i := range s.Names {
		if err := x.dropAbsent(s, i); err != nil {
			return err
		}
	}
	return nil
}

func (x *exec) dropAbsent(s *ast.Drop, i int) error {
	n := &s.Names[i]
	if sc := n.Schema(); sc != "" && x.snap().Schema(x.db(), sc) == nil {
		if s.IfExists {
			x.notice(sqlerr.SuccessfulCompletion, "schema \"%s\" does not exist, skipping", sc)
			return nil
		}
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", sc)
	}
	what := nounOf[s.Kind]
	if what == "" {
		what = strings.ToLower(s.Kind)
	}
	code, name := sqlerr.UndefinedObject, "\""+n.Last()+"\""
	missing, notice := what+" "+name, ""
	switch s.Kind {
	case "COLLATION":
		if slices.ContainsFunc(catalog.Collations(), func(c catalog.Collation) bool { return c.Name == n.Last() }) {
			return requiredBySystem("collation " + ast.QuoteIdent(n.Last()))
		}
		missing, notice = "collation "+name+" for encoding \"UTF8\"", "collation "+name
	case "TABLESPACE":
		if n.Last() == "pg_default" || n.Last() == "pg_global" {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for tablespace %s", n.Last())
		}
	case "CAST":
		return x.dropCast(s, i)
	case "LANGUAGE", "ACCESS METHOD":
		if slices.Contains(builtinNames[s.Kind], n.Last()) {
			return requiredBySystem(what + " " + n.Last())
		}
	case "OPERATOR CLASS", "OPERATOR FAMILY":
		if m := s.On.Last(); !slices.Contains(builtinNames["ACCESS METHOD"], m) {
			return sqlerr.New(code, "access method \"%s\" does not exist", m)
		}
		missing = what + " " + name + " does not exist for access method \"" + s.On.Last() + "\""
		if s.IfExists {
			x.notice(sqlerr.SuccessfulCompletion, "%s, skipping", missing)
			return nil
		}
		return sqlerr.New(code, "%s", missing)
	case "TRIGGER", "POLICY", "RULE":
		if sc := s.On.Schema(); sc != "" && x.snap().Schema(x.db(), x.schemaNamed(sc)) == nil {
			code, missing = sqlerr.InvalidSchemaName, "schema \""+sc+"\""
			break
		}
		r := x.lookup(s.On)
		if r == nil {
			code, missing = sqlerr.UndefinedTable, "relation \""+fullName(s.On)+"\""
			break
		}
		if v, ok := r.(*catalog.View); ok && s.Kind == "RULE" && n.Last() == catalog.ReturnRule {
			if err := x.owns(v); err != nil {
				return err
			}
			return x.Change.DropReturnRule(v.OID)
		}
		notice = what + " " + name + " for relation \"" + s.On.Last() + "\""
		missing = what + " " + name + " for table \"" + s.On.Last() + "\""
		if s.Kind == "RULE" {
			missing = notice
		}
	case "TRANSFORM":
		t, err := x.functionType(&s.Args[0][0])
		if err != nil {
			return err
		}
		missing = "transform for type " + x.typeName(t) + " language " + name
		notice = "transform for type " + writtenType(&s.Args[0][0]) + " language " + name
	case "USER MAPPING":
		missing = "server \"" + s.On.Last() + "\""
	}
	if !s.IfExists {
		return sqlerr.New(code, "%s does not exist", missing)
	}
	if notice == "" {
		notice = missing
	}
	x.notice(sqlerr.SuccessfulCompletion, "%s does not exist, skipping", notice)
	return nil
}

// builtinRoutine finds a built-in function of the name and the types, or nil.
func (x *exec) builtinRoutine(kind string, n *ast.Name, args []ast.TypeName) *catalog.Proc {
	if kind == "PROCEDURE" || n.Schema() != "" && n.Schema() != catalog.SchemaPgCatalog {
		return nil
	}
	var want []types.OID
	for i := range args {
		t, err := x.functionType(&args[i])
		if err != nil {
			return nil
		}
		want = append(want, t.OID)
	}
	for _, pr := range catalog.ProcsByName(n.Last()) {
		if pr.Schema == "" && (args == nil || slices.Equal(pr.Args, want)) {
			return pr
		}
	}
	return nil
}

// builtinType finds a built-in type, or nil.
func (x *exec) builtinType(n *ast.Name) *types.Info {
	if sc := n.Schema(); sc != "" && sc != catalog.SchemaPgCatalog {
		return nil
	}
	return types.ByName(n.Last())
}

// typeNames lists the names of types as a signature does.
func (x *exec) typeNames(list []types.OID) string {
	var out []string
	for _, o := range list {
		out = append(out, x.typeName(types.Of(o)))
	}
	return strings.Join(out, ", ")
}

func requiredBySystem(what string) error {
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because it is required by the database system", what)
}

// writtenType is a type's name as messages about objects that are not there give
// it: as written, what the grammar spells in words by its internal name.
func writtenType(t *ast.TypeName) string {
	name := strings.Join(t.Name.Parts, ".")
	if t.Dims > 0 {
		name += "[]"
	}
	return name
}

// absentType returns the first of the types that does not exist, or nil.
func (x *exec) absentType(args []ast.TypeName) *ast.TypeName {
	for i := range args {
		_, err := x.functionType(&args[i])
		if code := sqlerr.CodeOf(err); code == sqlerr.UndefinedObject || code == sqlerr.InvalidSchemaName {
			return &args[i]
		}
	}
	return nil
}

// skipRoutine sends the notice of DROP … IF EXISTS for a routine that is not there.
func (x *exec) skipRoutine(s *ast.Drop, i int) {
	n := &s.Names[i]
	say := func(format string, args ...any) { x.notice(sqlerr.SuccessfulCompletion, format, args...) }
	if sc := n.Schema(); sc != "" && x.snap().Schema(x.db(), sc) == nil {
		say("schema \"%s\" does not exist, skipping", sc)
		return
	}
	if t := x.absentType(argsOf(s, i)); t != nil {
		if sc := t.Name.Schema(); sc != "" && x.snap().Schema(x.db(), sc) == nil {
			say("schema \"%s\" does not exist, skipping", sc)
			return
		}
		say("type \"%s\" does not exist, skipping", fullName(&t.Name))
		return
	}
	var args []string
	for _, a := range argsOf(s, i) {
		args = append(args, writtenType(&a))
	}
	what := strings.ToLower(s.Kind)
	say("%s %s(%s) does not exist, skipping", what, fullName(n), strings.Join(args, ","))
}
