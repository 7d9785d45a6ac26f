package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func (d *side) userTypes() map[string]*catalog.UserType {
	m := map[string]*catalog.UserType{}
	for _, u := range d.snap.UserTypes(d.db) {
		if u.Kind == 'm' {
			continue // comes with its range type
		}
		m[catalog.QualifiedIdent(u.Schema, u.Name)] = u
	}
	return m
}

func typeKind(u *catalog.UserType) string {
	if u.Kind == 'd' {
		return "DOMAIN"
	}
	return "TYPE"
}

// userTypes makes new types, those that others are built on first, and adds to
// enums. Other changes of types have no DDL.
func (d *differ) userTypes() {
	for _, n := range sortedKeys(d.b.userTypes()) {
		d.makeType(n)
	}
}

// makeType makes or changes the type of that name, if it is one that somebody defined,
// behind the types and routines that it needs.
func (d *differ) makeType(n string) {
	u := d.b.userTypes()[n]
	if d.made["TYPE"+n] || u == nil {
		return
	}
	d.made["TYPE"+n] = true
	for _, need := range d.b.typesOf(u) {
		d.makeType(need)
	}
	for _, name := range sortedKeys(d.routines) {
		f := d.routines[name].Function
		used := u.Kind == 'r' && u.Range.Diff == f.OID || mentions(u.Default, f)
		for _, k := range u.Checks {
			used = used || mentions(k.Expr, f)
		}
		if used {
			d.makeRoutine(name)
		}
	}
	was := d.a.userTypes()[n]
	switch {
	case was == nil:
		d.createType(n, u)
		was = &catalog.UserType{}
	case was.Kind == 'e' && u.Kind == 'e':
		d.enumLabels(n, was, u)
	case was.Kind == 'd' && u.Kind == 'd' && d.a.typ(was.Base) == d.b.typ(u.Base) && was.Collation == u.Collation:
		d.alterDomain(n, was, u)
	case was.Kind == 'c' && u.Kind == 'c':
		d.alterComposite(n, was, u)
	case d.a.typeText(was) != d.b.typeText(u):
		d.refuse("changing type %s", n)
	}
	d.owner(typeKind(u), n, was.Owner, u.Owner)
	d.comment(typeKind(u), n, was.Comment, u.Comment)
	for _, k := range u.Checks {
		old := ""
		if x := was.CheckNamed(k.Name); x != nil && sameCheck(x, k) {
			old = x.Comment
		}
		d.comment("CONSTRAINT", catalog.QuoteIdent(k.Name)+" ON DOMAIN "+n, old, k.Comment)
	}
	for i := range u.Columns {
		old := ""
		if x := attribute(was, u.Columns[i].Name); x != nil {
			old = x.Comment
		}
		if x := &u.Columns[i]; !x.Dropped {
			d.comment("COLUMN", n+"."+catalog.QuoteIdent(x.Name), old, x.Comment)
		}
	}
}

// typesOf are the names of the types that a type is built on.
func (d *side) typesOf(u *catalog.UserType) []string {
	var out []string
	if u.Kind == 'r' {
		out = append(out, strings.TrimSuffix(d.typ(u.Range.Subtype), "[]"))
	}
	if u.Kind == 'd' {
		out = append(out, strings.TrimSuffix(d.typ(u.Base), "[]"))
	}
	for i := range u.Columns {
		out = append(out, strings.TrimSuffix(d.typ(u.Columns[i].Type), "[]"))
	}
	return out
}

// typeText is a type's definition after its name.
func (d *side) typeText(u *catalog.UserType) string {
	switch u.Kind {
	case 'e':
		labels := make([]string, len(u.Labels))
		for i, l := range u.Labels {
			labels[i] = catalog.QuoteLiteral(l.Label)
		}
		return " AS ENUM (" + strings.Join(labels, ", ") + ")"
	case 'r':
		m := d.snap.TypeByOID(u.Range.Pair)
		s := " AS RANGE (SUBTYPE = " + d.typ(u.Range.Subtype) + ", MULTIRANGE_TYPE_NAME = " + catalog.QualifiedIdent(m.Schema, m.Name)
		for _, o := range catalog.Opclasses() {
			if o.OID == u.Range.Opclass {
				s += ", SUBTYPE_OPCLASS = " + catalog.QualifiedIdent(catalog.SchemaPgCatalog, o.Name)
			}
		}
		if u.Range.Collation != "" {
			s += ", COLLATION = " + catalog.QualifiedIdent(catalog.SchemaPgCatalog, u.Range.Collation)
		}
		if f, ok := d.snap.Object(u.Range.Diff).(*catalog.Function); ok {
			s += ", SUBTYPE_DIFF = " + catalog.QualifiedIdent(f.Schema, f.Name)
		} else if p := catalog.ProcByOID(u.Range.Diff); p != nil {
			s += ", SUBTYPE_DIFF = " + catalog.QualifiedIdent(catalog.SchemaPgCatalog, p.Name)
		}
		return s + ")"
	case 'c':
		var cols []string
		for i := range u.Columns {
			if x := &u.Columns[i]; !x.Dropped {
				cols = append(cols, d.attributeDef(x))
			}
		}
		return " AS (" + strings.Join(cols, ", ") + ")"
	}
	s := " AS " + d.typ(u.Base) + collate(u.Collation)
	if u.Default != "" {
		s += " DEFAULT " + u.Default
	}
	if u.NotNull {
		s += " NOT NULL"
	}
	checks := slices.Clone(u.Checks)
	slices.SortFunc(checks, func(a, b *catalog.Check) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range checks {
		if !k.NotValid {
			s += domainCheck(k)
		}
	}
	return s
}

func (d *side) attributeDef(x *catalog.Column) string {
	return catalog.QuoteIdent(x.Name) + " " + d.typ(x.Type) + collate(x.Collation)
}

// attribute returns a composite type's attribute of that name, or nil.
func attribute(u *catalog.UserType, name string) *catalog.Column {
	for i := range u.Columns {
		if x := &u.Columns[i]; !x.Dropped && x.Name == name {
			return x
		}
	}
	return nil
}

func domainCheck(k *catalog.Check) string {
	s := " CONSTRAINT " + catalog.QuoteIdent(k.Name) + " CHECK (" + k.Expr + ")"
	if k.NotValid {
		s += " NOT VALID"
	}
	return s
}

// sameCheck reports whether a domain's constraint stays as it is.
func sameCheck(a, b *catalog.Check) bool {
	return a.Expr == b.Expr && (a.NotValid == b.NotValid || !b.NotValid)
}

// alterDomain changes what a domain's values must be and what they are by default.
func (d *differ) alterDomain(name string, was, u *catalog.UserType) {
	alter := "ALTER DOMAIN " + name + " "
	for _, k := range was.Checks {
		if x := u.CheckNamed(k.Name); x == nil || !sameCheck(k, x) {
			d.add(alter, "DROP CONSTRAINT ", catalog.QuoteIdent(k.Name))
		}
	}
	switch {
	case u.Default == was.Default:
	case u.Default == "":
		d.add(alter, "DROP DEFAULT")
	default:
		d.add(alter, "SET DEFAULT ", u.Default)
	}
	switch {
	case u.NotNull && !was.NotNull:
		d.add(alter, "SET NOT NULL")
	case was.NotNull && !u.NotNull:
		d.add(alter, "DROP NOT NULL")
	}
	for _, k := range u.Checks {
		switch x := was.CheckNamed(k.Name); {
		case x == nil || !sameCheck(x, k):
			d.add(alter, "ADD", domainCheck(k))
		case x.NotValid && !k.NotValid:
			d.add(alter, "VALIDATE CONSTRAINT ", catalog.QuoteIdent(k.Name))
		}
	}
}

// alterComposite takes attributes away and adds others behind those that stay, which
// must come first and in their order.
func (d *differ) alterComposite(name string, was, u *catalog.UserType) {
	alter := "ALTER TYPE " + name + " "
	var add, retype []string
	for i := range u.Columns {
		x := &u.Columns[i]
		if x.Dropped {
			continue
		}
		switch old := attribute(was, x.Name); {
		case old == nil:
			add = append(add, "ADD ATTRIBUTE "+d.b.attributeDef(x))
		case len(add) > 0:
			d.refuse("changing the place of attribute \"%s\" of type %s", x.Name, name)
		case d.a.attributeDef(old) != d.b.attributeDef(x):
			if user := d.holder(was); user != "" {
				d.refuse("changing attribute \"%s\" of type %s, which %s has,", x.Name, name, user)
			}
			retype = append(retype, "ALTER ATTRIBUTE "+catalog.QuoteIdent(x.Name)+" TYPE "+strings.TrimPrefix(d.b.attributeDef(x), catalog.QuoteIdent(x.Name)+" "))
		}
	}
	at := 0
	for i := range was.Columns {
		x := &was.Columns[i]
		switch {
		case x.Dropped:
		case attribute(u, x.Name) == nil:
			d.add(alter, "DROP ATTRIBUTE ", catalog.QuoteIdent(x.Name))
		default:
			for ; at < len(u.Columns) && u.Columns[at].Dropped; at++ {
			}
			if at < len(u.Columns) && u.Columns[at].Name != x.Name {
				d.refuse("moving attribute \"%s\" of type %s", x.Name, name)
			}
			at++
		}
	}
	for _, s := range append(retype, add...) {
		d.add(alter, s)
	}
}

// holder names what has values of a composite type, which keeps its attributes from
// getting other types: a table that stays, or another type; "" for nothing.
func (d *differ) holder(u *catalog.UserType) string {
	is := func(t types.T) bool { return t.OID == u.OID || t.OID == u.Array }
	for _, c := range d.tables {
		if c.old.OfType == u.OID || slices.ContainsFunc(live(c.old), func(x *catalog.Column) bool { return is(x.Type) }) {
			return "table " + c.name
		}
	}
	for n, o := range d.a.userTypes() {
		if is(o.Base) || slices.ContainsFunc(o.Columns, func(x catalog.Column) bool { return is(x.Type) }) {
			return "type " + n
		}
	}
	return ""
}

// collate is the COLLATE clause for a kept collation.
func collate(name string) string {
	if name == "" {
		return ""
	}
	return " COLLATE " + catalog.QuoteIdent(name)
}

func (d *differ) createType(name string, u *catalog.UserType) {
	d.add("CREATE ", typeKind(u), " ", name, d.b.typeText(u))
	for _, k := range u.Checks {
		if k.NotValid {
			d.add("ALTER DOMAIN ", name, " ADD", domainCheck(k))
		}
	}
}

// enumLabels adds labels; there is no DDL that takes some away or changes their
// order.
func (d *differ) enumLabels(name string, old, to *catalog.UserType) {
	at := 0
	have := func(label string) bool {
		return slices.ContainsFunc(old.Labels, func(l catalog.EnumLabel) bool { return l.Label == label })
	}
	for i, l := range to.Labels {
		if at < len(old.Labels) && old.Labels[at].Label == l.Label {
			at++
			continue
		}
		if have(l.Label) {
			break // in another place
		}
		s := "ALTER TYPE " + name + " ADD VALUE " + catalog.QuoteLiteral(l.Label)
		switch {
		case at < len(old.Labels):
			s += " BEFORE " + catalog.QuoteLiteral(old.Labels[at].Label)
		case i > 0:
			s += " AFTER " + catalog.QuoteLiteral(to.Labels[i-1].Label)
		}
		d.add(s)
	}
	if at < len(old.Labels) {
		d.refuse("removing or moving value \"%s\" of enum type %s", old.Labels[at].Label, name)
	}
}

// dropTypes drops types, those that are built on others first.
func (d *differ) dropTypes() {
	old, to := d.a.userTypes(), d.b.userTypes()
	dropped := map[string]bool{}
	var drop func(n string)
	drop = func(n string) {
		if dropped[n] || old[n] == nil || to[n] != nil {
			return
		}
		dropped[n] = true
		for _, other := range sortedKeys(old) {
			if slices.Contains(d.a.typesOf(old[other]), n) {
				drop(other)
			}
		}
		d.add("DROP ", typeKind(old[n]), " ", n)
	}
	for _, n := range sortedKeys(old) {
		drop(n)
	}
}
