package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
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
	case d.a.typeText(was) != d.b.typeText(u):
		d.refuse("changing type %s", n)
	}
	d.owner(typeKind(u), n, was.Owner, u.Owner)
	d.comment(typeKind(u), n, was.Comment, u.Comment)
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
		cols := make([]string, len(u.Columns))
		for i := range u.Columns {
			cols[i] = catalog.QuoteIdent(u.Columns[i].Name) + " " + d.typ(u.Columns[i].Type) + collate(u.Columns[i].Collation)
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
		s += " CONSTRAINT " + catalog.QuoteIdent(k.Name) + " CHECK (" + k.Expr + ")"
	}
	return s
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
