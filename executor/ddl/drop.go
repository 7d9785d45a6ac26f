package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// drop is DROP of what the catalog keeps.
func (x *exec) drop(s *ast.Drop) error {
	switch s.Kind {
	case "TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE":
		return x.dropRelations(s)
	case "INDEX":
		return x.dropIndexes(s)
	case "SCHEMA":
		return x.dropSchemas(s)
	case "TYPE", "DOMAIN":
		return x.dropTypes(s)
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		return x.dropRoutines(s)
	case "ROLE", "USER", "GROUP":
		return x.dropRoles(s)
	case "EXTENSION":
		return x.dropExtensions(s)
	}
	return x.dropOther(s)
}

// missing is the error of a name that DROP finds nothing under; with IF EXISTS a notice.
func (x *exec) missing(s *ast.Drop, code sqlerr.Code, what string, n *ast.Name) error {
	name := n.Last()
	if sc := n.Schema(); sc != "" {
		if what == "type" {
			name = fullName(n)
		}
		if x.snap().Schema(x.db(), sc) == nil {
			code, what, name = sqlerr.InvalidSchemaName, "schema", sc
		}
	}
	if s.IfExists {
		x.notice(sqlerr.SuccessfulCompletion, "%s \"%s\" does not exist, skipping", what, name)
		return nil
	}
	return sqlerr.New(code, "%s \"%s\" does not exist", what, name)
}

func (x *exec) dropRelations(s *ast.Drop) error {
	var oids []types.OID
	what := strings.ToLower(s.Kind)
	for i := range s.Names {
		n := &s.Names[i]
		r := x.lookup(n)
		if r == nil {
			if x.findIndex(n) != nil {
				return wrongKind(n.Last(), what, "index")
			}
			if x.composite(n) != nil {
				return wrongKind(n.Last(), what, "type")
			}
			if err := x.missing(s, sqlerr.UndefinedTable, what, n); err != nil {
				return err
			}
			continue
		}
		if _, err := x.relation(n); err != nil {
			return err
		}
		if is := relationKind(r); is != what {
			return wrongKind(n.Last(), what, is)
		}
		oids = append(oids, r.ObjectOID())
	}
	return x.Change.DropRelations(s.Cascade, oids...)
}

func (x *exec) dropIndexes(s *ast.Drop) error {
	var oids []types.OID
	for i := range s.Names {
		n := &s.Names[i]
		ix := x.findIndex(n)
		if ix == nil {
			if r := x.lookup(n); r != nil {
				return wrongKind(n.Last(), "index", relationKind(r))
			}
			if x.composite(n) != nil {
				return wrongKind(n.Last(), "index", "type")
			}
			if err := x.missing(s, sqlerr.UndefinedObject, "index", n); err != nil {
				return err
			}
			continue
		}
		if err := x.lockForDropIndex(s, ix); err != nil {
			return err
		}
		oids = append(oids, ix.OID)
	}
	return x.Change.DropIndexes(s.Cascade, oids...)
}

// lockForDropIndex locks the tables that have an index or parts of it.
func (x *exec) lockForDropIndex(s *ast.Drop, ix *catalog.Index) error {
	t := x.snap().TableOfIndex(x.db(), ix.OID)
	if t == nil {
		return nil
	}
	if s.Concurrently && t.Key != nil && !t.Temp {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop partitioned index \"%s\" concurrently", ix.Name)
	}
	var parts []types.OID // the index, and its parts
	for _, m := range x.snap().Tree(t) {
		if m != t && t.Key == nil {
			break // only indexes of partitions are parts of the index
		}
		if err := x.lock(m, kv.AccessExclusive); err != nil {
			return err
		}
		if err := x.checked(m, "DROP INDEX"); err != nil {
			return err
		}
		for _, p := range m.Indexes {
			if p.OID != ix.OID && !slices.Contains(parts, p.Parent) {
				continue
			}
			parts = append(parts, p.OID)
			if x.Unread != nil {
				if err := x.Unread(p, "DROP INDEX"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (x *exec) dropSchemas(s *ast.Drop) error {
	var names []string
	for _, n := range s.Names {
		if x.snap().Schema(x.db(), n.Last()) == nil {
			if err := x.missing(s, sqlerr.InvalidSchemaName, "schema", &n); err != nil {
				return err
			}
			continue
		}
		names = append(names, n.Last())
	}
	return x.Change.DropSchemas(s.Cascade, names...)
}

func (x *exec) dropTypes(s *ast.Drop) error {
	var oids []types.OID
	for i := range s.Names {
		n := &s.Names[i]
		u := x.userType(n)
		if u == nil {
			if in := x.madeType(n); in != nil && s.Kind == "TYPE" {
				oids = append(oids, in.OID) // an array type or a row type, which cannot go alone
				continue
			}
			if in := x.builtinType(n); in != nil {
				return requiredBySystem("type " + in.SQLName)
			}
			if err := x.missing(s, sqlerr.UndefinedObject, "type", n); err != nil {
				return err
			}
			continue
		}
		if s.Kind == "DOMAIN" && u.Kind != 'd' {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", fullName(n))
		}
		oids = append(oids, u.OID)
	}
	return x.Change.DropTypes(s.Cascade, oids...)
}

func (x *exec) dropRoutines(s *ast.Drop) error {
	var oids []types.OID
	for i := range s.Names {
		n := &s.Names[i]
		f, err := x.function(s.Kind, n, argsOf(s, i))
		if err != nil {
			if pr := x.builtinRoutine(s.Kind, n, argsOf(s, i)); pr != nil {
				return requiredBySystem("function " + pr.Name + "(" + strings.ReplaceAll(x.typeNames(pr.Args), ", ", ",") + ")")
			}
			if code := sqlerr.CodeOf(err); s.IfExists && (code == sqlerr.UndefinedFunction || code == sqlerr.UndefinedObject || code == sqlerr.InvalidSchemaName) {
				x.skipRoutine(s, i)
				continue
			}
			return err
		}
		if f.Agg != nil && s.Kind == "FUNCTION" {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an aggregate function", fullName(n)).
				WithHint("Use DROP AGGREGATE to drop aggregate functions.")
		}
		oids = append(oids, f.OID)
	}
	return x.Change.DropFunctions(s.Cascade, oids...)
}

func (x *exec) dropRoles(s *ast.Drop) error {
	for _, n := range s.Names {
		if noOneRole(n.Last()) {
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot use special role specifier in DROP ROLE")
		}
		if x.snap().Role(n.Last()) == nil {
			if err := x.missing(s, sqlerr.UndefinedObject, "role", &n); err != nil {
				return err
			}
			continue
		}
		large, err := x.largeObjectsOf(n.Last())
		if err != nil {
			return err
		}
		if err := x.Change.DropRole(n.Last(), large...); err != nil {
			return err
		}
	}
	return nil
}

func argsOf(s *ast.Drop, i int) []ast.TypeName {
	if i < len(s.Args) {
		return s.Args[i]
	}
	return nil
}

func relationKind(r catalog.Relation) string {
	switch r := r.(type) {
	case *catalog.Sequence:
		return "sequence"
	case *catalog.View:
		if r.Materialized != nil {
			return "materialized view"
		}
		return "view"
	}
	return "table"
}

func wrongKind(name, want, is string) error {
	article := "a"
	if want == "index" {
		article = "an"
	}
	return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s %s", name, article, want).WithHint("Use DROP %s to remove %s %s.", strings.ToUpper(is), map[bool]string{true: "an", false: "a"}[is == "index"], is)
}

func (x *exec) userType(n *ast.Name) *catalog.UserType {
	if in := x.madeType(n); in != nil {
		return x.snap().TypeByOID(in.OID)
	}
	return nil
}

// composite returns the composite type of a name, which stands among the relations in
// PostgreSQL, or nil.
func (x *exec) composite(n *ast.Name) *catalog.UserType {
	if u := x.userType(n); u != nil && u.Kind == 'c' {
		return u
	}
	return nil
}

// madeType returns a type that came about with another type or with a relation, or
// nil.
func (x *exec) madeType(n *ast.Name) *types.Info {
	paths := x.Planner().SearchPath
	if s := n.Schema(); s != "" {
		paths = []string{x.schemaNamed(s)}
	}
	for _, s := range paths {
		if in := x.snap().Type(x.db(), s, n.Last()); in != nil && (in.OID >= types.FirstUserOID || in.Extension != "") {
			return in
		}
	}
	return nil
}

// truncate empties tables, with CASCADE those that refer to them as well.
func (x *exec) truncate(s *ast.Truncate) error {
	var list []*catalog.Table
	seen := map[types.OID]bool{}
	add := func(t *catalog.Table) error {
		seen[t.OID] = true
		list = append(list, t)
		if err := x.lock(t, kv.AccessExclusive); err != nil {
			return err
		}
		return x.unused(t, "TRUNCATE")
	}
	for i := range s.Tables {
		name := s.Tables[i].Name
		name.Off = -1 // the error has no position
		t, err := x.findTable(&name)
		if err != nil {
			return err
		}
		tree := []*catalog.Table{t}
		if !s.Tables[i].Only {
			tree = x.snap().TreeSeen(t, x.Temp)
		} else if t.Partitioned() {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot truncate only a partitioned table").
				WithHint("Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.")
		}
		for _, t := range tree {
			if seen[t.OID] {
				continue
			}
			if err := add(t); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(list); i++ {
		for _, ref := range x.snap().Referencing(x.db(), list[i].OID) {
			if seen[ref.Table.OID] {
				continue
			}
			if !s.Cascade {
				return sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table \"%s\" references \"%s\".", ref.Table.Name, list[i].Name).
					WithHint("Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.", ref.Table.Name)
			}
			x.notice(sqlerr.SuccessfulCompletion, "truncate cascades to table \"%s\"", ref.Table.Name)
			if err := add(ref.Table); err != nil {
				return err
			}
		}
	}
	for _, t := range list {
		d, err := x.Tables.For(t)
		if err != nil {
			return err
		}
		if err := d.Truncate(x.Txn); err != nil {
			return err
		}
		if x.Emptied != nil {
			x.Emptied(t.OID)
		}
		if s.RestartIdentity {
			for i := range t.Columns {
				if q, ok := x.snap().Object(t.Columns[i].Sequence).(*catalog.Sequence); ok && t.Columns[i].Sequence != 0 {
					if err := x.holdSequence(q, kv.AccessExclusive); err != nil {
						return err
					}
					x.restart(q, q.Start, false)
				}
			}
		}
	}
	return nil
}

// restart sets a sequence.
func (x *exec) restart(q *catalog.Sequence, last int64, called bool) {
	if x.Restart != nil {
		x.Restart(q.OID, last, called)
		x.Unkept(q.OID)
	}
}
