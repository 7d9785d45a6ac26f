package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// createRange is CREATE TYPE … AS RANGE.
func (x *exec) createRange(s *ast.CreateType, schema, name string) error {
	given := map[string]*ast.Option{}
	for i := range s.Options {
		o := &s.Options[i]
		switch o.Name {
		case "subtype", "subtype_opclass", "collation", "canonical", "subtype_diff", "multirange_type_name":
		default:
			return sqlerr.New(sqlerr.SyntaxError, "type attribute \"%s\" not recognized", o.Name)
		}
		if given[o.Name] != nil {
			return redundant(o)
		}
		given[o.Name] = o
	}
	if given["subtype"] == nil {
		return sqlerr.New(sqlerr.SyntaxError, "type attribute \"subtype\" is required")
	}
	spec := &catalog.RangeSpec{Schema: schema, Name: name}
	if o := given["multirange_type_name"]; o != nil {
		n := &typeOf(o).Name
		if s := n.Schema(); s == catalog.SchemaPgCatalog && types.ByName(n.Last()) != nil {
			return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists", n.Last())
		}
		if err := x.mayCreate(n, false); err != nil {
			return err
		}
		var err error
		if spec.MultirangeSchema, spec.MultirangeName, err = x.target(&typeOf(o).Name, false); err != nil {
			return err
		}
	}
	sub, err := x.functionType(typeOf(given["subtype"]))
	if err != nil {
		return withoutPosition(err)
	}
	in := x.snap().TypeInfo(sub.OID)
	switch {
	case in.Type == 'p':
		return sqlerr.New(sqlerr.DatatypeMismatch, "range subtype cannot be %s", x.typeName(sub))
	case in.Subtype != 0:
		return sqlerr.Unsupported(s.Pos(), "a range type over a range type")
	}
	spec.Subtype = sub
	if spec.Opclass, err = x.subtypeOpclass(sub, given["subtype_opclass"]); err != nil {
		return err
	}
	if o := given["collation"]; o != nil {
		if !collatable(x, sub) {
			return sqlerr.New(sqlerr.WrongObjectType, "range collation specified but subtype does not support collation")
		}
		n := typeOf(o).Name
		if err := planner.KnownCollation(&n); err != nil {
			return withoutPosition(err)
		}
		spec.Collation = collationName(&n)
	}
	if given["canonical"] != nil {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot specify a canonical function without a pre-created shell type").
			WithHint("Create the type as a shell type, then create its canonicalization function, then do a full CREATE TYPE.")
	}
	if o := given["subtype_diff"]; o != nil {
		if spec.Diff, err = x.subtypeDiff(sub, typeOf(o).Name); err != nil {
			return err
		}
	}
	return x.Change.CreateRange(spec)
}

// collatable reports whether values of a type are text.
func collatable(x *exec, t types.T) bool {
	t = x.snap().BaseType(t)
	if in := x.snap().TypeInfo(t.OID); in.Kind == types.KArray && in.Elem != 0 {
		t = x.snap().BaseType(types.Of(in.Elem))
	}
	switch t.OID {
	case types.OText, types.OVarchar, types.OBpchar, types.OName:
		return true
	}
	return false
}

// subtypeOpclass finds the order of a range type's bounds: the named operator class
// of btree, or the default one of the subtype.
func (x *exec) subtypeOpclass(sub types.T, o *ast.Option) (types.OID, error) {
	accepts := func(c *catalog.Opclass) bool { return x.snap().OpclassAccepts(c, sub) }
	found := false
	for _, c := range catalog.Opclasses() {
		switch {
		case c.Method != catalog.OIDBtreeAm:
		case o == nil:
			if c.Default && accepts(&c) && planner.Ordered(x.Planner(), sub) {
				return c.OID, nil
			}
		case c.Name == typeOf(o).Name.Last():
			found = true
			if accepts(&c) {
				return c.OID, nil
			}
		}
	}
	switch {
	case found:
		return 0, sqlerr.New(sqlerr.DatatypeMismatch, "operator class \"%s\" does not accept data type %s", typeOf(o).Name.Last(), x.typeName(sub))
	case o != nil:
		return 0, sqlerr.New(sqlerr.UndefinedObject, "operator class \"%s\" does not exist for access method \"btree\"", fullName(&typeOf(o).Name))
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"", x.typeName(sub)).
		WithHint("You must specify an operator class for the range type or define a default operator class for the subtype.")
}

// subtypeDiff finds the function that tells how far two bounds are apart.
func (x *exec) subtypeDiff(sub types.T, n ast.Name) (types.OID, error) {
	pr := planner.ExactRoutine(x.Planner(), n.Schema(), n.Last(), []types.OID{sub.OID, sub.OID})
	if pr == nil {
		return 0, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s, %s) does not exist", fullName(&n), x.typeName(sub), x.typeName(sub))
	}
	switch {
	case pr.Ret != types.OFloat8:
		return 0, invalidFunction("range subtype diff function %s must return type double precision", fullName(&n)+"("+x.typeNames(pr.Args)+")")
	case pr.Volatile != 'i':
		return 0, invalidFunction("range subtype diff function %s must be immutable", fullName(&n)+"("+x.typeNames(pr.Args)+")")
	}
	return pr.OID, nil
}

// rangeSubtype reports whether a type is a range or multirange over another one.
func (x *exec) rangeSubtype(t types.T, sub types.OID) bool {
	u := x.snap().TypeByOID(t.OID)
	return u != nil && u.Range != nil && x.madeOf(u.Range.Subtype, sub)
}
