package session

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// currentTid is currtid2(relation, tid), by which ODBC drivers find a row again that was
// changed. Here a row keeps its tid for as long as it keeps its key: it is the answer.
func (c *catalogCall) currentTid() (types.Datum, error) {
	none := types.Datum{}
	oid, err := c.relation()
	if err != nil {
		return none, err
	}
	if _, ix := c.snapshot().IndexByOID(c.db, oid); ix != nil {
		return none, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
	}
	r := c.snapshot().RelationByOID(c.db, oid)
	if r == nil {
		return none, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	if err := c.snapshot().CheckPriv(c.user, r, catalog.PrivSelect); err != nil {
		return none, err
	}
	switch x := r.(type) {
	case *catalog.Table:
		if x.Key != nil {
			return none, sqlerr.New(sqlerr.InternalError, "cannot look at latest visible tid for relation \"%s.%s\"", x.Schema, x.Name)
		}
	case *catalog.View:
		at := slices.IndexFunc(x.Columns, func(col catalog.Column) bool { return col.Name == "ctid" })
		switch {
		case x.Materialized != nil:
		case at < 0:
			return none, sqlerr.New(sqlerr.InternalError, "currtid cannot handle views with no CTID")
		case x.Columns[at].Type.OID != types.OTid:
			return none, sqlerr.New(sqlerr.InternalError, "ctid isn't of type TID")
		}
	}
	return c.a[1], nil
}
