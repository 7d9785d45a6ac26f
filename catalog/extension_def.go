package catalog

import (
	"slices"
	"sync"

	"kvsqld/catalog/types"
)

// What extensions bring along besides functions. Like the types of extensions these
// have fixed OIDs and are shared by all databases; one sees them that has the
// extension.

// extensionBody is a function of an extension that is written in SQL.
type extensionBody struct {
	name string
	args []types.OID
	ret  types.OID
	rows float64 // of a function that returns a set, 0 for others
	body string
	in   string   // the name of its argument, "" for none
	out  []string // the names of its result's columns, which are texts
	lax  bool     // called with NULLs, too
}

// extensionCast is a conversion by a function, or with "" one that changes no byte.
type extensionCast struct {
	source, target types.OID
	context        byte // i implicit, a assignment, e explicit only
	function       string
}

// extensionAggregate is an aggregate of a type's values whose state is one of them.
type extensionAggregate struct {
	name   string
	of     types.OID
	trans  string
	sortOp string
}

// extensionOperator is an operator of an extension; its commutator and its negator
// are of the same one. Both are "" for none.
type extensionOperator struct {
	name                string
	left, right, result types.OID
	function            string
	commutator, negator string
	rest, join          types.OID
	merges, hashes      bool
}

// The functions that estimate how many rows a comparison selects, or joins.
const (
	selEq, joinEq           types.OID = 101, 105
	selNe, joinNe           types.OID = 102, 106
	selLt, joinLt           types.OID = 103, 107
	selGt, joinGt           types.OID = 104, 108
	selLe, joinLe           types.OID = 336, 386
	selGe, joinGe           types.OID = 337, 398
	selIcLike, joinIcLike   types.OID = 1814, 1816
	selIcNlike, joinIcNlike types.OID = 1815, 1817
	selIcReg, joinIcReg     types.OID = 1820, 1826
	selIcNreg, joinIcNreg   types.OID = 1823, 1829
	selMatching             types.OID = 5040
	joinMatching            types.OID = 5041
)

// comparisonOperators are the six operators of a type that its functions prefix_eq,
// prefix_ne … implement.
func comparisonOperators(t types.OID, prefix string) []extensionOperator {
	b := types.OBool
	return []extensionOperator{
		{"=", t, t, b, prefix + "eq", "=", "<>", selEq, joinEq, true, true},
		{"<>", t, t, b, prefix + "ne", "<>", "=", selNe, joinNe, false, false},
		{"<", t, t, b, prefix + "lt", ">", ">=", selLt, joinLt, false, false},
		{"<=", t, t, b, prefix + "le", ">=", ">", selLe, joinLe, false, false},
		{">", t, t, b, prefix + "gt", "<", "<=", selGt, joinGt, false, false},
		{">=", t, t, b, prefix + "ge", "<=", "<", selGe, joinGe, false, false},
	}
}

// The first OIDs of what extensions have; each has a hundred of them.
const (
	firstExtensionOperator types.OID = 10500
	firstExtensionCast     types.OID = 11500
	firstExtensionOpclass  types.OID = 15100
)

// place is the extension's number, by which its objects have their OIDs.
func (d *ExtensionDef) place() types.OID {
	return types.OID(slices.Index(extensionDefs, d))
}

// Operators are the operators that the extension brings.
func (d *ExtensionDef) Operators() []*Operator {
	first := firstExtensionOperator + 100*d.place()
	at := func(name string, left, right types.OID) types.OID {
		i := slices.IndexFunc(d.operators, func(o extensionOperator) bool { return o.name == name && o.left == left && o.right == right })
		if i < 0 {
			return 0
		}
		return first + types.OID(i)
	}
	var out []*Operator
	for i, o := range d.operators {
		args := oids(o.left, o.right)
		kind := byte('b')
		if o.left == 0 {
			args, kind = args[1:], 'l'
		}
		out = append(out, &Operator{OID: first + types.OID(i), Name: o.name, Kind: kind, Left: o.left, Right: o.right, Result: o.result,
			Com: at(o.commutator, o.right, o.left), Negate: at(o.negator, o.left, o.right), Proc: d.function(o.function, args),
			CanMerge: o.merges, CanHash: o.hashes, Rest: o.rest, Join: o.join, Extension: d.Name})
	}
	return out
}

// function is the OID of the implementation with a name and arguments.
func (d *ExtensionDef) function(name string, args []types.OID) types.OID {
	for _, p := range d.Procs() {
		if p.Name == name && slices.Equal(p.Args, args) {
			return p.OID
		}
	}
	return 0
}

// Casts are the conversions that the extension brings.
func (d *ExtensionDef) Casts() []*Cast {
	var out []*Cast
	for i, c := range d.casts {
		row := &Cast{OID: firstExtensionCast + 100*d.place() + types.OID(i), Source: c.source, Target: c.target, Context: c.context, Method: 'b'}
		if c.function != "" {
			row.Method, row.Func = 'f', d.function(c.function, oids(c.source))
		}
		out = append(out, row)
	}
	return out
}

// typeOpclasses are the operator classes for types of extensions. A database without
// the extension has no values that they could be for.
var typeOpclasses = sync.OnceValue(func() []Opclass {
	var out []Opclass
	for _, d := range extensionDefs {
		for i, c := range d.opclasses {
			if in := types.Lookup(c.InType); in.Extension == d.Name {
				c.OID = firstExtensionOpclass + 100*d.place() + 2*types.OID(i)
				c.Family = c.OID + 1
				out = append(out, c)
			}
		}
	}
	return out
})

// Installed returns the extensions that a database has, as they are defined.
func (s *Snapshot) Installed(db types.OID) []*ExtensionDef {
	var out []*ExtensionDef
	for _, e := range s.Extensions(db) {
		if d := AvailableExtension(e.Name); d != nil {
			out = append(out, d)
		}
	}
	return out
}

// ExtensionSchema is where a database has an extension, "" if it has not.
func (s *Snapshot) ExtensionSchema(db types.OID, name string) string {
	if e := s.Extension(db, name); e != nil {
		return e.Schema
	}
	return ""
}
