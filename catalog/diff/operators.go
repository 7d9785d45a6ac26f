package diff

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// shownObject is an operator, a cast, a policy or a statistics object: something that is
// made by one statement, and otherwise has a comment and an owner.
type shownObject struct {
	noun    string // OPERATOR, CAST, POLICY or STATISTICS
	name    string // as DROP has it
	def     string
	comment string
	owner   string // "" for those without
	calls   string // the function that an operator or a cast stands for
	// partners are the operator's commutator and negator, by name and arguments.
	partners []string
}

// operatorName is an operator as definitions of other objects name it.
func (d *side) operatorName(o types.OID) string {
	if own, ok := d.snap.Object(o).(*catalog.OwnOperator); ok {
		return "OPERATOR(" + catalog.QuoteIdent(own.Schema) + "." + own.Name + ")"
	}
	if op := catalog.OperatorByOID(o); op != nil {
		return "OPERATOR(" + catalog.SchemaPgCatalog + "." + op.Name + ")"
	}
	return ""
}

// operatorKey is an operator with its arguments, as DROP has it.
func (d *side) operatorKey(o *catalog.OwnOperator) string {
	left := "NONE"
	if o.Left.OID != 0 {
		left = d.typ(o.Left)
	}
	return catalog.QuoteIdent(o.Schema) + "." + o.Name + " (" + left + ", " + d.typ(o.Right) + ")"
}

// operators are the side's operators, by name and arguments.
func (d *side) operators() map[string]*shownObject {
	m := map[string]*shownObject{}
	for _, o := range d.snap.AllOperators(d.db) {
		s := "CREATE OPERATOR " + catalog.QuoteIdent(o.Schema) + "." + o.Name + " (FUNCTION = " + d.functionName(o.Function)
		if o.Left.OID != 0 {
			s += ", LEFTARG = " + d.typ(o.Left)
		}
		s += ", RIGHTARG = " + d.typ(o.Right)
		if o.Commutator != 0 {
			s += ", COMMUTATOR = " + d.operatorName(o.Commutator)
		}
		if o.Negator != 0 {
			s += ", NEGATOR = " + d.operatorName(o.Negator)
		}
		if o.Restrict != 0 {
			s += ", RESTRICT = " + d.functionName(o.Restrict)
		}
		if o.Join != 0 {
			s += ", JOIN = " + d.functionName(o.Join)
		}
		if o.Hashes {
			s += ", HASHES"
		}
		if o.Merges {
			s += ", MERGES"
		}
		s += ")"
		if o.Function == 0 {
			s = "" // a shell, made by the one that it is the partner of
		}
		x := &shownObject{noun: "OPERATOR", name: d.operatorKey(o), def: s, comment: o.Comment, owner: o.Owner, calls: d.functionName(o.Function)}
		for _, oid := range []types.OID{o.Commutator, o.Negator} {
			if own, ok := d.snap.Object(oid).(*catalog.OwnOperator); ok {
				x.partners = append(x.partners, d.operatorKey(own))
			}
		}
		m[x.name] = x
	}
	return m
}

// casts are the side's casts.
func (d *side) casts() map[string]*shownObject {
	m := map[string]*shownObject{}
	for _, k := range d.snap.AllCasts(d.db) {
		x := &shownObject{noun: "CAST", name: "(" + d.typ(k.Source) + " AS " + d.typ(k.Target) + ")", comment: k.Comment}
		x.def = "CREATE CAST " + x.name
		switch k.Method {
		case 'f':
			x.calls = d.functionName(k.Function)
			x.def += " WITH FUNCTION " + d.functionWithArgs(k.Function)
		case 'b':
			x.def += " WITHOUT FUNCTION"
		default:
			x.def += " WITH INOUT"
		}
		switch k.Context {
		case 'a':
			x.def += " AS ASSIGNMENT"
		case 'i':
			x.def += " AS IMPLICIT"
		}
		m[x.name] = x
	}
	return m
}

// functionWithArgs is a function with the types of its arguments.
func (d *side) functionWithArgs(o types.OID) string {
	var args []string
	if f, ok := d.snap.Object(o).(*catalog.Function); ok {
		for _, t := range f.Inputs() {
			args = append(args, d.typ(t))
		}
	} else if p := catalog.ProcByOID(o); p != nil {
		for _, t := range p.Args {
			args = append(args, d.typ(types.Of(t)))
		}
	}
	return d.functionName(o) + "(" + strings.Join(args, ", ") + ")"
}

// dropObjects drops the objects of one side that the other does not have like that.
func (d *differ) dropObjects(old, to map[string]*shownObject) {
	for _, n := range sortedKeys(old) {
		if x := to[n]; x == nil || x.def != old[n].def {
			d.add("DROP ", old[n].noun, " ", old[n].name)
		}
	}
}

// makeObjects makes the new and changed objects and says what else they have.
func (d *differ) makeObjects(old, to map[string]*shownObject) {
	for _, n := range sortedKeys(to) {
		x, was := to[n], old[n]
		if was == nil || was.def != x.def {
			if x.def == "" {
				continue
			}
			d.add(x.def)
			was = &shownObject{}
		}
		d.owner(x.noun, x.name, was.owner, x.owner)
		d.comment(x.noun, x.name, was.comment, x.comment)
	}
}

// ofRemade marks the old operators and casts of routines that are made again: they have
// no equal in the new schema.
func (d *differ) ofRemade(list map[string]*shownObject) map[string]*shownObject {
	for n := range d.remade {
		f := d.oldRoutines[n]
		for _, x := range list {
			if x.calls == catalog.QualifiedIdent(f.Schema, f.Name) {
				x.def += " "
			}
		}
	}
	return list
}

// oldOperators are the old operators, marked where they are made again: those of such
// routines, and the partners of what is dropped, which DROP takes the link from.
func (d *differ) oldOperators() map[string]*shownObject {
	old, to := d.ofRemade(d.a.operators()), d.b.operators()
	stays := func(n string) bool { return to[n] != nil && to[n].def == old[n].def }
	for again := true; again; {
		again = false
		for n, x := range old {
			if stays(n) {
				continue
			}
			for _, p := range x.partners {
				if stays(p) {
					old[p].def += " "
					again = true
				}
			}
		}
	}
	return old
}

// dropOperators drops the operators and casts that go or are made again.
func (d *differ) dropOperators() {
	d.dropObjects(d.ofRemade(d.a.casts()), d.b.casts())
	d.dropObjects(d.oldOperators(), d.b.operators())
}

// makeOperators makes operators and casts: at last all of them, before that those of
// routines that are there.
func (d *differ) makeOperators(all bool) {
	there := map[string]bool{}
	for _, r := range d.routines {
		there[catalog.QualifiedIdent(r.Schema, r.Name)] = all || d.made[r.kind+r.name]
	}
	ready := func(list map[string]*shownObject) map[string]*shownObject {
		out := map[string]*shownObject{}
		for n, x := range list {
			if made, own := there[x.calls]; (made || !own) && !d.made[x.noun+n] {
				out[n] = x
				d.made[x.noun+n] = true
			}
		}
		return out
	}
	d.makeObjects(d.oldOperators(), ready(d.b.operators()))
	d.makeObjects(d.ofRemade(d.a.casts()), ready(d.b.casts()))
}
