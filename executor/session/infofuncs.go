package session

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/types"
)

// informationFuncs are the functions that information_schema's views are made of
// in PostgreSQL.
func informationFuncs(m map[string]catalogFunc) {
	number := func(name string, of func(f pgcatalog.TypeNumbers) int64) {
		m["_pg_"+name] = func(c *catalogCall) (types.Datum, error) {
			n := of(pgcatalog.NumbersOf(types.T{OID: c.oid(0), Mod: int32(c.num(1))}))
			if n < 0 {
				return c.null()
			}
			return c.integer(n)
		}
	}
	number("char_max_length", func(f pgcatalog.TypeNumbers) int64 { return f.CharMax })
	number("char_octet_length", func(f pgcatalog.TypeNumbers) int64 { return f.Octets })
	number("numeric_precision", func(f pgcatalog.TypeNumbers) int64 { return f.Precision })
	number("numeric_precision_radix", func(f pgcatalog.TypeNumbers) int64 { return f.Radix })
	number("numeric_scale", func(f pgcatalog.TypeNumbers) int64 { return f.Scale })
	number("datetime_precision", func(f pgcatalog.TypeNumbers) int64 { return f.Datetime })
	m["_pg_interval_type"] = func(c *catalogCall) (types.Datum, error) {
		f := pgcatalog.NumbersOf(types.T{OID: c.oid(0), Mod: int32(c.num(1))})
		return c.text(f.Interval, f.Interval != "")
	}
	m["_pg_truetypid"] = func(c *catalogCall) (types.Datum, error) { return c.trueType("typbasetype", "atttypid") }
	m["_pg_truetypmod"] = func(c *catalogCall) (types.Datum, error) { return c.trueType("typtypmod", "atttypmod") }
	// The place of a column, by its attnum, in the key of an index.
	m["_pg_index_position"] = func(c *catalogCall) (types.Datum, error) {
		for i, attnum := range c.IndexColumns(c.oid(0)) {
			if int64(attnum) == c.num(1) {
				return c.integer(int64(i + 1))
			}
		}
		return c.null()
	}
}

// trueType looks through a domain: it returns a column of the type's row when the
// type is one, else a column of the attribute's row. The arguments are both rows.
func (c *catalogCall) trueType(ofType, ofAttribute string) (types.Datum, error) {
	field := func(arg int, relation, column string) (types.Datum, error) {
		fields, err := types.RecordFields(c.a[arg])
		at := slices.IndexFunc(pgcatalog.Find(catalog.SchemaPgCatalog, relation).Columns, func(col catalog.Column) bool { return col.Name == column })
		if err != nil || at >= len(fields) {
			return types.Null(c.ret), err
		}
		return fields[at], nil
	}
	kind, err := field(1, "pg_type", "typtype")
	if err != nil {
		return kind, err
	}
	if !kind.Null && string(kind.B) == "d" {
		return field(1, "pg_type", ofType)
	}
	return field(0, "pg_attribute", ofAttribute)
}
