package catalog

import (
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// NewName is a name that a change gives to an object, and that another transaction may
// be giving to another one. Who holds the lock of its Key until the end of the
// transaction is the only one.
type NewName struct {
	key  nameKey
	args []types.T // of a function
	oid  types.OID
	base *Snapshot
	rule func(s *Snapshot) (constraint, cols, vals string)
}

// NewNames lists the names of what was recorded since the mark which the catalog did
// not have before, but for those of temporary objects.
func (c *Change) NewNames(since ChangeMark) (out []NewName) {
	listed := map[string]bool{}
	for _, o := range c.delta.Put[since.delta.put:] {
		for _, n := range namesOf(o) {
			if IsTempSchema(n.key.schema) || n.in(since.snap) || listed[n.Key()] {
				continue
			}
			listed[n.Key()] = true
			n.base = c.base
			out = append(out, n)
		}
	}
	return out
}

// in reports whether the snapshot has the name.
func (n *NewName) in(s *Snapshot) bool {
	if n.key.space != spaceFunction {
		_, ok := s.names.lookup(n.key)
		return ok
	}
	return slices.ContainsFunc(s.Functions(n.key.db, n.key.schema, n.key.name), func(f *Function) bool { return sameArgs(f.inputs(), n.args) })
}

// Key identifies the name.
func (n *NewName) Key() string {
	k := fmt.Sprintf("%c%d.%s\x00%s", n.key.space, n.key.db, n.key.schema, n.key.name)
	for _, a := range n.args {
		k += fmt.Sprintf("\x00%d", a.OID)
	}
	return k
}

// Taken is the error if others have published the name since the state of the catalog
// that the change stands on; newest is what they have published.
func (n *NewName) Taken(newest *Snapshot) error {
	if n.in(n.base) || !n.in(newest) {
		return nil
	}
	constraint, cols, vals := n.rule(newest)
	e := sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", constraint).
		WithDetail("Key (%s)=(%s) already exists.", cols, vals)
	e.Schema, e.Constraint = SchemaPgCatalog, constraint
	return e
}

// namesOf lists the names of an object in the spaces in which names are unique.
func namesOf(o Object) []NewName {
	in := func(space byte, c *Common, table, col string) NewName {
		return NewName{key: nameKey{space, c.DB, c.Schema, c.Name}, oid: c.OID, rule: func(s *Snapshot) (string, string, string) {
			return table + "_" + col + "_nsp_index", col + ", " + strings.TrimSuffix(col, "name") + "namespace",
				fmt.Sprintf("%s, %d", c.Name, s.schemaOID(c.DB, c.Schema))
		}}
	}
	relation := func(c *Common) NewName { return in(spaceRelation, c, "pg_class", "relname") }
	ofType := func(c *Common) NewName { return in(spaceType, c, "pg_type", "typname") }
	indexes := func(t *Table) (out []NewName) {
		for _, ix := range t.Indexes {
			out = append(out, relation(&Common{OID: ix.OID, DB: t.DB, Schema: t.Schema, Name: ix.Name}))
		}
		return out
	}
	switch x := o.(type) {
	case *Schema:
		return []NewName{{key: nameKey{spaceSchema, x.DB, "", x.Name}, oid: x.OID, rule: func(*Snapshot) (string, string, string) {
			return "pg_namespace_nspname_index", "nspname", x.Name
		}}}
	case *Role:
		return []NewName{{key: nameKey{space: spaceRole, name: x.Name}, oid: x.OID, rule: func(*Snapshot) (string, string, string) {
			return "pg_authid_rolname_index", "rolname", x.Name
		}}}
	case *Table: // PostgreSQL makes the type first
		return append([]NewName{ofType(&x.Common), relation(&x.Common)}, indexes(x)...)
	case *View:
		names := []NewName{ofType(&x.Common), relation(&x.Common)}
		if x.Materialized != nil {
			names = append(names, indexes(x.Materialized)...)
		}
		return names
	case *Sequence:
		return []NewName{relation(&x.Common)}
	case *UserType:
		return []NewName{ofType(&x.Common)}
	case *Function:
		n := NewName{key: nameKey{spaceFunction, x.DB, x.Schema, x.Name}, args: x.inputs(), oid: x.OID}
		n.rule = func(s *Snapshot) (string, string, string) {
			args := make([]string, len(n.args))
			for i, a := range n.args {
				args[i] = fmt.Sprint(a.OID)
			}
			return "pg_proc_proname_args_nsp_index", "proname, proargtypes, pronamespace",
				fmt.Sprintf("%s, %s, %d", x.Name, strings.Join(args, " "), s.schemaOID(x.DB, x.Schema))
		}
		return []NewName{n}
	}
	return nil
}

func (s *Snapshot) schemaOID(db types.OID, name string) types.OID {
	if n := s.Schema(db, name); n != nil {
		return n.OID
	}
	return 0
}
