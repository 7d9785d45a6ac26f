package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// routine is a function, procedure or aggregate.
type routine struct {
	*catalog.Function
	kind string // FUNCTION, PROCEDURE or AGGREGATE
	name string // with its schema and the types of its input arguments
	def  string // without comment, owner and grants
}

// routines are the side's, by name and input arguments. Constructors of range types
// come with their types.
func (d *side) routines() map[string]*routine {
	m := map[string]*routine{}
	for _, f := range d.snap.AllFunctions(d.db) {
		if f.RangeType != 0 || f.Extension != "" {
			continue
		}
		r := &routine{Function: f, kind: "FUNCTION"}
		var args []string
		for _, t := range f.Inputs() {
			args = append(args, d.typ(t))
		}
		list := strings.Join(args, ", ")
		switch {
		case f.Agg != nil:
			if r.kind = "AGGREGATE"; list == "" {
				list = "*"
			}
		case f.Procedure:
			r.kind = "PROCEDURE"
		}
		r.name = catalog.QualifiedIdent(f.Schema, f.Name) + "(" + list + ")"
		if r.def, _ = d.env.GetFunctionDef(f.OID); f.Agg != nil {
			r.def = d.aggregateDef(f)
		}
		m[r.name] = r
	}
	return m
}

// functionName is a function as definitions of other objects name it, without its
// arguments.
func (d *side) functionName(o types.OID) string {
	if f, ok := d.snap.Object(o).(*catalog.Function); ok {
		return catalog.QualifiedIdent(f.Schema, f.Name)
	}
	if p := catalog.ProcByOID(o); p != nil {
		return catalog.QualifiedIdent(catalog.SchemaPgCatalog, p.Name)
	}
	return ""
}

// aggregateDef is the statement that makes an aggregate.
func (d *side) aggregateDef(f *catalog.Function) string {
	args, _ := d.env.GetFunctionIdentityArguments(f.OID)
	if args == "" {
		args = "*"
	}
	s := "CREATE OR REPLACE AGGREGATE " + catalog.QualifiedIdent(f.Schema, f.Name) + "(" + args + ") (SFUNC = " + d.functionName(f.Agg.Trans) +
		", STYPE = " + d.typ(f.Agg.State)
	if f.Agg.Final != 0 {
		s += ", FINALFUNC = " + d.functionName(f.Agg.Final)
	}
	if f.Agg.Combine != 0 {
		s += ", COMBINEFUNC = " + d.functionName(f.Agg.Combine)
	}
	if f.Agg.Init != nil {
		s += ", INITCOND = " + catalog.QuoteLiteral(*f.Agg.Init)
	}
	if f.Agg.SortOp != 0 {
		s += ", SORTOP = " + d.operatorName(f.Agg.SortOp)
	}
	return s + ")"
}

// replaces reports whether CREATE OR REPLACE makes a routine out of another one of its
// name: the result and the names of the arguments stay, and no default goes.
func (d *differ) replaces(was, r *routine) bool {
	if was.kind != r.kind || was.RetSet != r.RetSet || d.a.typ(was.Ret) != d.b.typ(r.Ret) || len(was.Defaults) > len(r.Defaults) ||
		len(was.Args) != len(r.Args) {
		return false
	}
	for i := range r.Args {
		if d.a.typ(was.Args[i]) != d.b.typ(r.Args[i]) || was.Mode(i) != r.Mode(i) {
			return false
		}
		if len(was.ArgNames) > i && was.ArgNames[i] != "" && (len(r.ArgNames) <= i || was.ArgNames[i] != r.ArgNames[i]) {
			return false
		}
	}
	return true
}

// mentions reports whether a text of the catalog, which names objects with their
// schemas, has a function's name.
func mentions(text string, f *catalog.Function) bool {
	return strings.Contains(text, catalog.QualifiedIdent(f.Schema, f.Name)+"(")
}

// compareRoutines decides what becomes of the routines: some are made again.
func (d *differ) compareRoutines() {
	d.oldRoutines, d.routines = d.a.routines(), d.b.routines()
	d.remade = map[string]bool{}
	for _, n := range sortedKeys(d.routines) {
		r, was := d.routines[n], d.oldRoutines[n]
		if was == nil || was.def == r.def || d.replaces(was, r) {
			continue
		}
		d.remake(n)
	}
}

// viewCalls reports whether a view calls a function that is made again.
func (d *differ) viewCalls(v *catalog.View) bool {
	for n := range d.remade {
		if mentions(v.Query, d.oldRoutines[n].Function) {
			return true
		}
	}
	return false
}

// readsRelation reports whether a routine needs a relation: it has rows of it among its
// arguments, or its body was bound to it.
func (d *side) readsRelation(f *catalog.Function, is func(name string, r catalog.Relation) bool) bool {
	for n, r := range d.rels {
		if !is(n, r) {
			continue
		}
		if f.Standard && strings.Contains(f.Body, n) {
			return true
		}
		for _, t := range append(slices.Clone(f.Args), f.Ret) {
			if strings.TrimSuffix(d.typ(t), "[]") == n {
				return true
			}
		}
	}
	return false
}

// readsTouched reports whether a routine's body was bound to a relation of the old
// schema that goes or does not keep its columns.
func (d *differ) readsTouched(r *routine) bool {
	return d.a.readsRelation(r.Function, func(n string, rel catalog.Relation) bool {
		if d.b.rels[n] == nil || d.again[n] != nil {
			return true
		}
		c := d.change(n)
		return c != nil && r.Standard && strings.Contains(r.Body, n) && len(c.moved)+len(c.remade)+len(c.retyped)+len(c.gone) > 0
	})
}

// remakeReaders has routines made again that read what does not stay; it reports
// whether there are further ones.
func (d *differ) remakeReaders() (more bool) {
	for _, n := range sortedKeys(d.oldRoutines) {
		r := d.oldRoutines[n]
		if d.remade[n] || d.routines[n] == nil {
			continue
		}
		uses := r.Standard &&
			slices.ContainsFunc(sortedKeys(d.remade), func(o string) bool { return mentions(r.Body, d.oldRoutines[o].Function) }) ||
			r.Agg != nil && slices.ContainsFunc(sortedKeys(d.remade), func(o string) bool { return slices.Contains(r.Agg.Uses(), d.oldRoutines[o].OID) })
		if uses || d.readsTouched(r) {
			d.remake(n)
			more = true
		}
	}
	return more
}

// remake has a routine dropped and made again, unless something that stays needs it.
func (d *differ) remake(n string) {
	d.remade[n] = true
	was := d.oldRoutines[n]
	for _, t := range d.a.snap.Texts(d.a.db) {
		if t.View == nil && t.Function == nil && mentions(t.Text, was.Function) {
			d.refuse("making %s %s again, which %s uses,", was.kind, n, t.Owner)
		}
	}
}

// goesEarly reports whether a routine is dropped before the relations.
func (d *differ) goesEarly(r *routine) bool {
	return d.remade[r.name] || d.routines[r.name] == nil && d.readsTouched(r)
}

// dropRoutines drops the routines that go or are made again: first those that need
// relations, before these go, at last the others.
func (d *differ) dropRoutines(first bool) {
	for _, n := range sortedKeys(d.oldRoutines) {
		if r := d.oldRoutines[n]; first && d.goesEarly(r) || !first && d.routines[n] == nil {
			d.dropRoutine(r)
		}
	}
}

// dropRoutine drops a routine, behind the routines and views that need it.
func (d *differ) dropRoutine(r *routine) {
	if d.dropped[r.name] {
		return
	}
	d.dropped[r.name] = true
	for _, n := range sortedKeys(d.oldRoutines) {
		user := d.oldRoutines[n]
		if (d.routines[n] == nil || d.remade[n]) && (user.Agg != nil && slices.Contains(user.Agg.Uses(), r.OID) || user.Standard && mentions(user.Body, r.Function)) {
			d.dropRoutine(user)
		}
	}
	for _, n := range sortedKeys(d.again) {
		if mentions(d.again[n].Query, r.Function) {
			d.dropView(n)
		}
	}
	d.add("DROP ", r.kind, " ", r.name)
}

// The relations that must be there before a routine is made.
const (
	beforeTables = iota
	behindTables
	behindViews
)

// makeRoutines makes the routines that need no more than what is there.
func (d *differ) makeRoutines(stage int) {
	for _, n := range sortedKeys(d.routines) {
		r := d.routines[n]
		if d.stageOf(r) <= stage {
			d.makeRoutine(n)
		}
	}
	d.checkBodies()
	d.makeOperators(stage == behindViews)
}

func (d *differ) stageOf(r *routine) int {
	stage := beforeTables
	d.b.readsRelation(r.Function, func(n string, rel catalog.Relation) bool {
		at := behindTables
		if _, view := rel.(*catalog.View); view {
			at = behindViews
		}
		if at > stage && d.b.readsRelation(r.Function, func(o string, _ catalog.Relation) bool { return o == n }) {
			stage = at
		}
		return false
	})
	for _, other := range d.uses(r) {
		stage = max(stage, d.stageOf(other))
	}
	return stage
}

// uses lists the routines that must be there before another one.
func (d *differ) uses(r *routine) []*routine {
	var out []*routine
	for _, n := range sortedKeys(d.routines) {
		o := d.routines[n]
		used := r.Agg != nil && slices.Contains(r.Agg.Uses(), o.OID) || r.Standard && mentions(r.Body, o.Function) ||
			slices.ContainsFunc(r.Defaults, func(text string) bool { return mentions(text, o.Function) })
		if o != r && used {
			out = append(out, o)
		}
	}
	return out
}

// makeRoutine makes or replaces a routine, behind those that it uses and its types.
func (d *differ) makeRoutine(name string) {
	r, was := d.routines[name], d.oldRoutines[name]
	if r == nil || d.made[r.kind+name] {
		return
	}
	d.made[r.kind+name] = true
	for _, o := range d.uses(r) {
		d.makeRoutine(o.name)
	}
	for _, t := range append(slices.Clone(r.Args), r.Ret) {
		d.makeType(strings.TrimSuffix(d.b.typ(t), "[]"))
	}
	if was != nil && !d.remade[name] && was.def == r.def {
		return
	}
	if r.Agg == nil && !d.unchecked {
		// The text of a body may name what is made later.
		d.unchecked = true
		d.add("SET check_function_bodies = off")
	}
	d.add(strings.TrimSuffix(r.def, "\n"))
}

// checkBodies ends what makeRoutine began.
func (d *differ) checkBodies() {
	if d.unchecked {
		d.unchecked = false
		d.add("RESET check_function_bodies")
	}
}

// routinePrivileges are owners, comments and grants of routines.
func (d *differ) routinePrivileges() {
	for _, n := range sortedKeys(d.routines) {
		r, was := d.routines[n], d.oldRoutines[n]
		old := &catalog.Function{}
		if was != nil && !d.remade[n] {
			old = was.Function
		}
		d.owner(r.kind, n, old.Owner, r.Owner)
		d.comment(r.kind, n, old.Comment, r.Comment)
		noun := r.kind
		if r.Agg != nil {
			noun = "FUNCTION"
			n = strings.Replace(n, "(*)", "()", 1)
		}
		if old.OID == 0 {
			d.objectAs(noun, catalog.ACLFunction, n, nil, r.Function)
		} else {
			d.objectAs(noun, catalog.ACLFunction, n, old, r.Function)
		}
	}
}
