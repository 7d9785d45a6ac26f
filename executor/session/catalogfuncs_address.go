package session

import (
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// addressFuncs name objects by their addresses and find them.
func addressFuncs(m map[string]catalogFunc) {
	m["pg_describe_object"] = func(c *catalogCall) (types.Datum, error) {
		a := c.address()
		if a.Class == 0 && a.OID == 0 {
			return c.null() // what pg_depend had for pinned objects
		}
		id, err := c.Identify(a)
		if err != nil {
			return types.Datum{}, err
		}
		return c.text(id.Description, id.Found)
	}
	m["pg_identify_object"] = func(c *catalogCall) (types.Datum, error) {
		id, err := c.Identify(c.address())
		if err != nil {
			return types.Datum{}, err
		}
		return types.NewRecord([]types.Datum{types.Text(id.Type), textOrNull(id.Schema), textOrNull(id.Name), textOrNull(id.Text)}), nil
	}
	m["pg_identify_object_as_address"] = func(c *catalogCall) (types.Datum, error) {
		id, err := c.Identify(c.address())
		if err != nil {
			return types.Datum{}, err
		}
		names, args := types.Null(types.Of(types.OTextArr)), types.Null(types.Of(types.OTextArr))
		if id.Found {
			names, args = textVector(id.Names), textVector(id.Args)
		}
		return types.NewRecord([]types.Datum{types.Text(id.Type), names, args}), nil
	}
	m["pg_get_object_address"] = func(c *catalogCall) (types.Datum, error) {
		names, err := nameList(c.a[1])
		if err != nil {
			return types.Datum{}, err
		}
		args, err := nameList(c.a[2])
		if err != nil {
			return types.Datum{}, err
		}
		a, err := c.ObjectAddress(c.str(0), names, args)
		if err != nil {
			return types.Datum{}, err
		}
		return types.NewRecord([]types.Datum{types.Int(types.TOid, int64(a.Class)), types.Int(types.TOid, int64(a.OID)), types.Int(types.TInt4, int64(a.Sub))}), nil
	}
}

// address is what the first three arguments name.
func (c *catalogCall) address() pgcatalog.Address {
	return pgcatalog.Address{Class: c.oid(0), OID: c.oid(1), Sub: int(c.num(2))}
}

func textOrNull(s string) types.Datum {
	if s == "" {
		return types.Null(types.TText)
	}
	return types.Text(s)
}

func textVector(list []string) types.Datum {
	elems := make([]types.Datum, len(list))
	for i, s := range list {
		elems[i] = types.Text(s)
	}
	return types.NewVector(types.TText, elems)
}

// nameList returns the elements of an array of names.
func nameList(d types.Datum) ([]string, error) {
	_, _, _, elems, err := types.ArrayElems(d)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range elems {
		if e.Null {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "name or argument lists may not contain nulls")
		}
		out = append(out, string(e.B))
	}
	return out, nil
}
