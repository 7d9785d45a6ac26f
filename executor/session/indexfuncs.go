package session

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// indexMethod is what an access method says of itself. Files are those of btree, but
// for inverted and gin; a method promises what PostgreSQL's does.
type indexMethod struct {
	order, unique, multi, exclude, include bool // of the method
	cluster, scan, backward                bool // of its indexes
	arrays, nulls, returned                bool // of their columns
}

var indexMethods = map[types.OID]indexMethod{
	catalog.OIDBtreeAm: {order: true, unique: true, multi: true, exclude: true, include: true, cluster: true, scan: true, backward: true,
		arrays: true, nulls: true, returned: true},
	catalog.OIDHashAm:     {exclude: true, scan: true, backward: true},
	catalog.OIDGistAm:     {multi: true, exclude: true, include: true, scan: true, nulls: true},
	catalog.OIDSpgistAm:   {exclude: true, include: true, scan: true, nulls: true},
	catalog.OIDBrinAm:     {multi: true, nulls: true},
	catalog.OIDGinAm:      {multi: true},
	catalog.OIDInvertedAm: {multi: true},
}

// methodOf returns what the access method of an index says of itself.
func methodOf(ix *catalog.Index) indexMethod {
	for _, m := range catalog.Ams() {
		if m.Name == ix.Kind {
			return indexMethods[m.OID]
		}
	}
	return indexMethod{}
}

// indexFuncs tell what indexes can do.
func indexFuncs(m map[string]catalogFunc) {
	m["pg_index_column_has_property"] = func(c *catalogCall) (types.Datum, error) {
		_, ix := c.snapshot().IndexByOID(c.db, c.oid(0))
		at := int(c.num(1)) - 1
		if ix == nil || at < 0 || at >= len(ix.Keys)+len(ix.Include) {
			return c.null()
		}
		is := methodOf(ix)
		switch prop := strings.ToLower(c.str(2)); prop {
		case "orderable":
			return c.boolean(is.order && at < len(ix.Keys), true)
		case "distance_orderable":
			return c.boolean(false, true)
		case "returnable":
			return c.boolean(is.returned || at >= len(ix.Keys), true)
		case "search_array":
			return c.boolean(is.arrays, at < len(ix.Keys))
		case "search_nulls":
			return c.boolean(is.nulls, at < len(ix.Keys))
		case "asc", "desc", "nulls_first", "nulls_last":
			if at >= len(ix.Keys) {
				return c.null()
			}
			k := ix.Keys[at]
			return c.boolean(is.order && map[string]bool{"asc": !k.Desc, "desc": k.Desc, "nulls_first": k.NullsFirst, "nulls_last": !k.NullsFirst}[prop], true)
		}
		return c.null()
	}
	m["pg_index_has_property"] = func(c *catalogCall) (types.Datum, error) {
		_, ix := c.snapshot().IndexByOID(c.db, c.oid(0))
		if ix == nil {
			return c.null()
		}
		is := methodOf(ix)
		switch strings.ToLower(c.str(1)) {
		case "index_scan":
			return c.boolean(is.scan, true)
		case "backward_scan":
			return c.boolean(is.backward, true)
		case "clusterable":
			return c.boolean(is.cluster, true)
		case "bitmap_scan":
			return c.boolean(true, true) // of all methods; rows are fetched as they are found
		}
		return c.null()
	}
	m["pg_indexam_has_property"] = func(c *catalogCall) (types.Datum, error) {
		is, ok := indexMethods[c.oid(0)]
		if !ok {
			return c.null()
		}
		switch strings.ToLower(c.str(1)) {
		case "can_order":
			return c.boolean(is.order, true)
		case "can_unique":
			return c.boolean(is.unique, true)
		case "can_multi_col":
			return c.boolean(is.multi, true)
		case "can_exclude":
			return c.boolean(is.exclude, true)
		case "can_include":
			return c.boolean(is.include, true)
		}
		return c.null()
	}
	// Every row has its entry at once: there is never a range to be summarized.
	nothing := func(c *catalogCall) (types.Datum, error) {
		if len(c.a) > 1 && (c.num(1) < 0 || c.num(1) > maxBlock) {
			return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "block number out of range: %d", c.num(1))
		}
		if err := c.brinIndex(c.oid(0)); err != nil {
			return types.Datum{}, err
		}
		if c.ret.OID == types.OVoid {
			return types.Bytes(c.ret, nil), nil
		}
		return c.integer(0)
	}
	for _, n := range []string{"brin_summarize_new_values", "brin_summarize_range", "brin_desummarize_range"} {
		m[n] = nothing
	}
}

// maxBlock is the highest number of a page in PostgreSQL's files, and with
// brin_summarize_range all of them.
const maxBlock = 1<<32 - 1

// brinIndex checks that an index is one of brin, and the user's.
func (c *catalogCall) brinIndex(oid types.OID) error {
	t, ix := c.snapshot().IndexByOID(c.db, oid)
	if ix == nil {
		if _, name, ok := c.RelationName(oid); ok {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", name)
		}
		return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	if ix.Kind != catalog.KindBrin {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a BRIN index", ix.Name)
	}
	if !c.snapshot().Owns(c.user, t) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of index %s", ix.Name)
	}
	return nil
}
