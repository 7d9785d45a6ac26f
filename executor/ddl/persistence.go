package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// keepsLogged refuses to make a table logged, or unlogged, where a logged table would
// then refer to an unlogged one, and where the statement has changed that already.
func (x *exec) keepsLogged(oid types.OID, logged bool) error {
	t := x.snap().Table(oid)
	if t == nil {
		return nil
	}
	if was := x.before.Table(oid); was != nil && was.Unlogged != t.Unlogged {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change persistence setting twice")
	}
	if t.Unlogged != logged {
		return nil // nothing changes
	}
	refuse := func(to string, fk *catalog.ForeignKey, other *catalog.Table, kind string) error {
		e := sqlerr.New(sqlerr.InvalidTableDefinition, "could not change table \"%s\" to %s because it references %s table \"%s\"",
			t.Name, to, kind, other.Name)
		e.Schema, e.Table, e.Constraint = t.Schema, t.Name, fk.Name
		return e
	}
	if logged {
		for _, fk := range t.ForeignKeys {
			if p := x.snap().Table(fk.RefTable); p != nil && p.OID != oid && p.Unlogged {
				return refuse("logged", fk, p, "unlogged")
			}
		}
		return nil
	}
	for _, ref := range x.snap().Referencing(x.db(), oid) {
		if ref.Named == oid && ref.Table.OID != oid && !ref.Table.Unlogged {
			return refuse("unlogged", ref.FK, ref.Table, "logged")
		}
	}
	return nil
}
