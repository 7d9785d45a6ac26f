package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// RangeSpec is what CREATE TYPE … AS RANGE asks for. The multirange type's name may
// be "": then it is made of the range type's.
type RangeSpec struct {
	Schema, Name                     string
	MultirangeSchema, MultirangeName string
	RangeDef
}

// constructorCost is the cost of the functions that make ranges.
const constructorCost = 1

// CreateRange makes a range type, its multirange type and the functions that make
// their values.
func (c *Change) CreateRange(spec *RangeSpec) error {
	if err := c.creatable(spec.Schema, spec.Name); err != nil {
		return err
	}
	if c.typeTaken(spec.Schema, spec.Name) {
		return typeExists(spec.Name)()
	}
	def := spec.RangeDef
	rng := &UserType{Kind: 'r', Common: c.common(spec.Schema, spec.Name), Array: c.alloc.AllocOID(), Range: &def}
	multi := &UserType{Kind: 'm', Range: &RangeDef{Subtype: def.Subtype, Pair: rng.OID}}
	schema, name := spec.MultirangeSchema, spec.MultirangeName
	if name == "" {
		schema, name = spec.Schema, multirangeName(spec.Name)
	}
	if err := c.creatable(schema, name); err != nil {
		return err
	}
	if c.typeTaken(schema, name) || schema == spec.Schema && name == spec.Name {
		err := typeExists(name)()
		if spec.MultirangeName == "" {
			return err.WithDetail("Failed while creating a multirange type for type \"%s\".", spec.Name).
				WithHint("You can manually specify a multirange type name using the \"multirange_type_name\" attribute.")
		}
		return err
	}
	multi.Common = c.common(schema, name)
	multi.Array = c.alloc.AllocOID()
	def.Pair = multi.OID
	if err := c.put(rng, multi); err != nil {
		return err
	}
	r, _ := c.snap.T(rng.OID, -1)
	m, _ := c.snap.T(multi.OID, -1)
	list, _ := c.snap.T(rng.Array, -1)
	make := func(of *UserType, ret types.T, src string, strict bool, args ...types.T) error {
		f := &Function{Common: Common{Schema: of.Schema, Name: of.Name}, Args: args, Ret: ret, Volatile: 'i', Strict: strict, Parallel: 's',
			Language: "internal", Body: src, Cost: constructorCost, RangeType: of.OID}
		if src == multirangeOfList {
			f.ArgModes = []byte{'v'}
		}
		_, err := c.CreateFunction(f, false)
		return err
	}
	for _, err := range []error{
		make(rng, r, "range_constructor2", false, def.Subtype, def.Subtype),
		make(rng, r, "range_constructor3", false, def.Subtype, def.Subtype, types.TText),
		make(multi, m, "multirange_constructor0", true),
		make(multi, m, "multirange_constructor1", true, r),
		make(multi, m, multirangeOfList, true, list),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// multirangeOfList is the constructor that takes any number of ranges.
const multirangeOfList = "multirange_constructor2"

// rangeConstructors are the implementations of the functions that make ranges.
var rangeConstructors = []string{"range_constructor2", "range_constructor3", "multirange_constructor0", "multirange_constructor1", multirangeOfList}

// multirangeName makes a multirange type's name of the range type's.
func multirangeName(name string) string {
	if i := strings.Index(name, "range"); i >= 0 {
		return clipName(name[:i]+"multi"+name[i:], maxNameLen)
	}
	return clipName(name, maxNameLen-len("_multirange")) + "_multirange"
}

// MultirangeCast returns the conversion of a user-defined range type to its
// multirange type, or nil.
func (s *Snapshot) MultirangeCast(from, to types.OID) *Cast {
	u := s.TypeByOID(from)
	if u == nil || u.Kind != 'r' || u.Range.Pair != to {
		return nil
	}
	m := s.TypeByOID(to)
	for _, f := range s.objs.all() {
		if f, ok := f.(*Function); ok && f.RangeType == m.OID && f.Body == "multirange_constructor1" {
			return &Cast{Source: from, Target: to, Func: f.OID, Context: 'e', Method: 'f'}
		}
	}
	return nil
}

// rangeType writes what a range or multirange type is made of and returns the name
// of its element.
func (w *xmlWriter) rangeType(a *attrList, u *UserType) string {
	name, pair := "RangeType", "multirange"
	if u.Kind == 'm' {
		name, pair = "MultirangeType", "range"
	}
	w.typeAttrs(a, "type", u.Range.Subtype)
	if w.ids {
		a.num("pair", int64(u.Range.Pair))
	} else {
		p := w.snap.TypeByOID(u.Range.Pair)
		a.set(pair, p.Name)
		a.set(pair+"Schema", p.Schema)
	}
	if u.Range.Opclass != 0 {
		a.num("operatorClass", int64(u.Range.Opclass))
	}
	a.opt("collation", u.Range.Collation)
	w.functionRef(a, "subtypeDiff", u.Range.Diff)
	return name
}

func (r *xmlReader) rangeType(e *element, u *UserType) {
	pair := "multirange"
	if u.Kind = 'r'; e.name == "MultirangeType" {
		u.Kind, pair = 'm', "range"
	}
	def := &RangeDef{Subtype: r.typ(e, "type"), Opclass: r.oid(e, "operatorClass"), Collation: r.str(e, "collation"), Diff: r.functionRef(e, "subtypeDiff")}
	if r.ids {
		def.Pair = r.oid(e, "pair")
	} else if d := r.doc.types[docName{r.str(e, pair+"Schema"), r.need(e, pair)}]; d != nil {
		def.Pair = d.oid
	}
	u.Range = def
	r.known(e)
}

// rangeRef writes the type that a constructor makes values of.
func (w *xmlWriter) rangeRef(a *attrList, oid types.OID) {
	switch {
	case oid == 0:
	case w.ids:
		a.num("rangeOID", int64(oid))
	default:
		if u := w.snap.TypeByOID(oid); u != nil {
			a.set("range", u.Name)
			a.set("rangeSchema", u.Schema)
		}
	}
}

func (r *xmlReader) rangeRef(e *element) types.OID {
	if r.ids {
		return r.oid(e, "rangeOID")
	}
	name, ok := e.attr("range")
	if !ok {
		return 0
	}
	d := r.doc.types[docName{r.str(e, "rangeSchema"), name}]
	if d == nil {
		r.fail(e, sqlerr.UndefinedObject, "attribute \"range\": type \"%s\" does not exist", name)
		return 0
	}
	return d.oid
}

// rangeT is the type that a RangeType or MultirangeType element makes.
func (d *docScope) rangeT(r *xmlReader, t *docType) types.T {
	out := types.T{OID: t.oid, Mod: -1, User: types.KRange}
	if t.element.name == "MultirangeType" {
		out.User = types.KMultirange
	}
	sub := r.typ(t.element, "type")
	out.Elem = sub.OID
	for n, of := range d.types {
		if of.oid == sub.OID && of.element.name == "DomainType" {
			if base := d.userType(r, t.element, "type", n.schema, n.name); base.Elem != 0 {
				out.Elem = base.Elem
			}
		}
	}
	return out
}

// validateConstructor checks a function that makes ranges: it has one of the known
// implementations and the arguments that this one reads.
func (s *Snapshot) validateConstructor(f *Function) error {
	u := s.TypeByOID(f.RangeType)
	bad := u == nil || u.Range == nil || f.Ret.OID != u.OID || f.Language != "internal" || !slices.Contains(rangeConstructors, f.Body)
	if !bad {
		sub, want := u.Range.Subtype.OID, []types.OID(nil)
		switch f.Body {
		case "range_constructor2":
			want = []types.OID{sub, sub}
		case "range_constructor3":
			want = []types.OID{sub, sub, types.OText}
		case "multirange_constructor1":
			want = []types.OID{u.Range.Pair}
		case multirangeOfList:
			if p := s.TypeByOID(u.Range.Pair); p != nil {
				want = []types.OID{p.Array}
			}
		}
		bad = strings.HasPrefix(f.Body, "multi") != (u.Kind == 'm') || len(f.Args) != len(want)
		for i := range want {
			bad = bad || f.Args[i].OID != want[i]
		}
	}
	if bad {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "function \"%s\" is not a constructor of a range type", f.Name)
	}
	return nil
}
