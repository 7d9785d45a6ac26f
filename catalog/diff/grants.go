package diff

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kvsqld/catalog"
)

// grantNouns are the kinds of objects as GRANT names them.
var grantNouns = map[catalog.ACLKind]string{catalog.ACLTable: "TABLE", catalog.ACLColumn: "TABLE", catalog.ACLSequence: "SEQUENCE",
	catalog.ACLDatabase: "DATABASE", catalog.ACLSchema: "SCHEMA", catalog.ACLFunction: "FUNCTION", catalog.ACLType: "TYPE"}

// defaultNouns are the kinds as ALTER DEFAULT PRIVILEGES names them.
var defaultNouns = map[catalog.ACLKind]string{catalog.ACLTable: "TABLES", catalog.ACLSequence: "SEQUENCES", catalog.ACLFunction: "FUNCTIONS",
	catalog.ACLType: "TYPES", catalog.ACLSchema: "SCHEMAS"}

// privileges makes the grants on all objects of the new schema what they are
// there. The script is run by a superuser, whose grants are the owner's.
func (d *differ) privileges() {
	old, to := d.a.database(), d.b.database()
	d.owner("DATABASE", catalog.QuoteIdent(old.Name), old.Owner, to.Owner)
	d.object(catalog.ACLDatabase, catalog.QuoteIdent(old.Name), old, to)
	oldSchemas, schemas := d.a.userSchemas(), d.b.userSchemas()
	for _, n := range sortedKeys(schemas) {
		d.object(catalog.ACLSchema, catalog.QuoteIdent(n), objectOrNil(oldSchemas[n]), schemas[n])
	}
	oldTypes, types := d.a.userTypes(), d.b.userTypes()
	for _, n := range sortedKeys(types) {
		d.object(catalog.ACLType, n, objectOrNil(oldTypes[n]), types[n])
	}
	for _, n := range sortedKeys(d.b.rels) {
		d.relationPrivileges(n)
	}
	d.routinePrivileges()
	d.defaults()
}

// objectOrNil keeps a nil pointer from becoming an interface that is not nil.
func objectOrNil[T any, P interface {
	*T
	catalog.Object
}](p P) catalog.Object {
	if p == nil {
		return nil
	}
	return p
}

func (d *side) database() *catalog.Database {
	for _, x := range d.snap.Databases() {
		if x.OID == d.db {
			return x
		}
	}
	return nil
}

// relationPrivileges are those of a table, view or sequence and of its columns.
func (d *differ) relationPrivileges(n string) {
	to := d.b.rels[n]
	kept := map[string]*catalog.Column{} // columns whose grants are still there
	var old catalog.Object
	switch r := to.(type) {
	case *catalog.Table:
		if r.Temp {
			return
		}
		if c := d.change(n); c != nil {
			old = c.old
			for _, x := range live(c.old) {
				if !c.moved[x.Name] && !c.remade[x.Name] {
					kept[x.Name] = x
				}
			}
		}
	case *catalog.View:
		if r.Temp {
			return
		}
		if v := d.a.view(n); v != nil && d.again[n] == nil {
			old = v
			for i := range v.Columns {
				kept[v.Columns[i].Name] = &v.Columns[i]
			}
		}
	case *catalog.Sequence:
		if d.b.identity[r.OID] {
			d.identityPrivileges(n, r)
			return
		}
		if r.Temp {
			return
		}
		old = objectOrNil(d.a.sequence(n))
	default:
		return
	}
	kind, co := d.b.snap.KindOf(to.(catalog.Object))
	d.object(kind, n, old, to.(catalog.Object))
	cols := to.RelColumns()
	for i := range cols {
		x := &cols[i]
		if x.Dropped {
			continue
		}
		var before catalog.ACL
		if was := kept[x.Name]; was != nil {
			before = renamed(was.ACL, catalog.CommonOf(old).Owner, co.Owner)
		}
		d.grants(catalog.ACLColumn, "TABLE "+n, catalog.QuoteIdent(x.Name), before, x.ACL, co.Owner)
	}
}

// identityPrivileges refuses other grants on an identity column's sequence than
// those that are there: whether the sequence is made again is its column's matter.
func (d *differ) identityPrivileges(n string, to *catalog.Sequence) {
	var had catalog.ACL
	if old, ok := d.a.rels[n].(*catalog.Sequence); ok {
		had = old.ACL
	}
	if len(had)+len(to.ACL) > 0 && !had.Equal(to.ACL) {
		d.refuse("GRANT on the sequence %s of an identity column", n)
	}
}

// object makes the grants on a whole object; old is nil when it was made just now.
func (d *differ) object(kind catalog.ACLKind, name string, old, to catalog.Object) {
	d.objectAs(grantNouns[kind], kind, name, old, to)
}

// objectAs is object with another word for the kind.
func (d *differ) objectAs(noun string, kind catalog.ACLKind, name string, old, to catalog.Object) {
	target := noun + " " + name
	after := d.b.snap.EffectiveACL(to)
	owner := catalog.CommonOf(to).Owner
	if old != nil || len(d.oldDefaults()) == 0 {
		d.grants(kind, target, "", d.before(kind, old, to), after, owner)
		return
	}
	// A new object has what default privileges gave it.
	who := map[string]bool{"": true, owner: true}
	for _, p := range d.oldDefaults() {
		who[p.Role] = true
		for _, it := range p.ACL {
			who[it.Grantee] = true
		}
	}
	d.add("REVOKE ALL ON ", target, " FROM ", grantees(sortedKeys(who)), " CASCADE")
	d.grants(kind, target, "", nil, after, owner)
}

// before are the grants on an object when it has its new owner, with what the
// statements so far have made of it.
func (d *differ) before(kind catalog.ACLKind, old, to catalog.Object) catalog.ACL {
	owner := catalog.CommonOf(to).Owner
	if old != nil {
		was := catalog.CommonOf(old)
		if was.ACL == nil && was.Owner != owner && kind != catalog.ACLSchema {
			return catalog.DefaultACL(kind, owner)
		}
		return renamed(d.a.snap.EffectiveACL(old), was.Owner, owner)
	}
	if n, ok := to.(*catalog.Schema); ok {
		plain := *n
		plain.ACL = nil
		return d.b.snap.EffectiveACL(&plain)
	}
	return catalog.DefaultACL(kind, owner)
}

// renamed is what ALTER … OWNER leaves of a list of grants.
func renamed(a catalog.ACL, old, to string) catalog.ACL {
	var out catalog.ACL
	for _, it := range a {
		if it.Grantee == old {
			it.Grantee = to
		}
		if it.Grantor == old {
			it.Grantor = to
		}
		i := slices.IndexFunc(out, func(o catalog.ACLItem) bool { return o.Grantee == it.Grantee && o.Grantor == it.Grantor })
		if i < 0 {
			out = append(out, it)
			continue
		}
		out[i].Privs |= it.Privs
		out[i].Grant |= it.Grant
	}
	return out
}

func grantees(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = "PUBLIC"; n != "" {
			out[i] = catalog.QuoteIdent(n)
		}
	}
	return strings.Join(out, ", ")
}

// grants turns one list into another. Only the owner's grants have DDL: what
// another role granted must be the same in both.
func (d *differ) grants(kind catalog.ACLKind, target, col string, from, to catalog.ACL, owner string) {
	d.grantsAs("", kind, " ON "+target, col, from, to, owner)
}

// grantsAs does it with words before GRANT and REVOKE; target has its ON.
func (d *differ) grantsAs(words string, kind catalog.ACLKind, target, col string, from, to catalog.ACL, owner string) {
	given := func(list catalog.ACL, who string) (it catalog.ACLItem) {
		for _, x := range list {
			if x.Grantee == who && x.Grantor == owner {
				it = x
			}
		}
		return it
	}
	foreign := func(list catalog.ACL) (out catalog.ACL) {
		for _, x := range list {
			if x.Grantor != owner {
				out = append(out, x)
			}
		}
		return out
	}
	if a, b := foreign(from), foreign(to); !a.Equal(b) {
		who := append(a, b...)[0].Grantor
		d.refuse("privileges%s that %s granted, who is not the owner", target, catalog.QuoteIdent(who))
		return
	}
	who := map[string]bool{}
	for _, x := range append(slices.Clone(from), to...) {
		who[x.Grantee] = true
	}
	say := func(verb, option string, p catalog.Priv, link, name, end string) {
		if p == 0 {
			return
		}
		list := p.Names()
		if col != "" {
			for i := range list {
				list[i] += " (" + col + ")"
			}
		} else if p == kind.All() {
			list = []string{"ALL"}
		}
		d.add(words, verb, option, strings.Join(list, ", "), target, link, grantees([]string{name}), end)
	}
	for _, n := range sortedKeys(who) {
		a, b := given(from, n), given(to, n)
		say("REVOKE ", "", a.Privs&^b.Privs, " FROM ", n, "")
		say("REVOKE ", "GRANT OPTION FOR ", a.Grant&b.Privs&^b.Grant, " FROM ", n, "")
	}
	for _, n := range sortedKeys(who) {
		a, b := given(from, n), given(to, n)
		say("GRANT ", "", b.Privs&^a.Privs&^b.Grant, " TO ", n, "")
		say("GRANT ", "", b.Grant&^a.Grant, " TO ", n, " WITH GRANT OPTION")
	}
}

// oldDefaults are the default privileges that objects get which are made now.
func (d *differ) oldDefaults() []catalog.DefaultPrivileges {
	if d.suspended {
		return nil
	}
	return d.a.database().Defaults
}

// suspendDefaults takes the default privileges away before something is made on which no
// later statement can revoke them: the members of extensions and the constructors of range
// types, of which documents do not tell, and the sequences of identity columns.
func (d *differ) suspendDefaults() {
	old := d.a.installed()
	unnamed := slices.ContainsFunc(slices.Collect(maps.Keys(d.b.installed())), func(n string) bool { return old[n] == nil })
	types := d.a.userTypes()
	for n, u := range d.b.userTypes() {
		unnamed = unnamed || u.Kind == 'r' && types[n] == nil
	}
	for n, r := range d.b.rels {
		if q, ok := r.(*catalog.Sequence); ok && d.b.identity[q.OID] {
			unnamed = unnamed || !d.keepsIdentity(n, q)
		}
	}
	if unnamed && len(d.oldDefaults()) > 0 {
		d.changeDefaults(d.oldDefaults(), nil)
		d.suspended = true
	}
}

// keepsIdentity reports whether the sequence of an identity column is not made again.
func (d *differ) keepsIdentity(n string, q *catalog.Sequence) bool {
	table, column := d.b.ownerOf(q)
	c := d.change(table)
	was, ok := d.a.rels[n].(*catalog.Sequence)
	return ok && d.a.identity[was.OID] && c != nil && !c.moved[column] && !c.remade[column]
}

// defaults makes the default privileges what they are in the new schema.
func (d *differ) defaults() { d.changeDefaults(d.oldDefaults(), d.b.database().Defaults) }

// changeDefaults turns some default privileges into others.
func (d *differ) changeDefaults(from, to []catalog.DefaultPrivileges) {
	type key struct {
		role, schema string
		kind         catalog.ACLKind
	}
	lists := func(list []catalog.DefaultPrivileges) map[key]catalog.ACL {
		m := map[key]catalog.ACL{}
		for _, p := range list {
			m[key{p.Role, p.Schema, p.Kind}] = p.ACL
		}
		return m
	}
	was, is := lists(from), lists(to)
	keys := slices.Collect(maps.Keys(was))
	for k := range is {
		if _, both := was[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.schema, b.schema), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		list := func(m map[key]catalog.ACL) catalog.ACL {
			if acl, ok := m[k]; ok {
				return acl
			}
			if k.schema != "" {
				return nil
			}
			return catalog.DefaultACL(k.kind, k.role)
		}
		words := "ALTER DEFAULT PRIVILEGES FOR ROLE " + catalog.QuoteIdent(k.role)
		if k.schema != "" {
			words += " IN SCHEMA " + catalog.QuoteIdent(k.schema)
		}
		d.grantsAs(words+" ", k.kind, " ON "+defaultNouns[k.kind], "", list(was), list(is), k.role)
	}
}

// memberships makes roles members of others as they are in the new schema.
func (d *differ) memberships() {
	admin := func(r *catalog.Role, m string) bool { return r != nil && slices.Contains(r.AdminOf, m) }
	member := func(r *catalog.Role, m string) bool { return r != nil && slices.Contains(r.MemberOf, m) }
	for _, r := range sortByName(d.b.snap.Roles()) {
		old := d.a.snap.Role(r.Name)
		if old == nil {
			continue
		}
		for _, m := range old.MemberOf {
			what := catalog.QuoteIdent(m) + " FROM " + catalog.QuoteIdent(r.Name)
			switch {
			case d.b.snap.Role(m) == nil: // goes with the role
			case !member(r, m):
				d.add("REVOKE ", what)
			case admin(old, m) && !admin(r, m):
				d.add("REVOKE ADMIN OPTION FOR ", what)
			}
		}
	}
	for _, r := range sortByName(d.b.snap.Roles()) {
		old := d.a.snap.Role(r.Name)
		for _, m := range r.MemberOf {
			what := catalog.QuoteIdent(m) + " TO " + catalog.QuoteIdent(r.Name)
			switch {
			case admin(r, m) && !admin(old, m):
				d.add("GRANT ", what, " WITH ADMIN OPTION")
			case !member(old, m):
				d.add("GRANT ", what)
			}
		}
	}
}

// validUntil is the option of a role; a password that is valid for ever, which
// has no other DDL, is 'infinity'.
func validUntil(r *catalog.Role) string {
	if r.ValidUntil == 0 || r.ValidUntil == math.MaxInt64 {
		return " VALID UNTIL 'infinity'"
	}
	day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	at := day.Add(time.Duration(r.ValidUntil%1e6) * time.Microsecond).Add(time.Duration(r.ValidUntil/1e6%86400) * time.Second)
	return at.AddDate(0, 0, int(r.ValidUntil/1e6/86400)).Format(" VALID UNTIL '2006-01-02 15:04:05.999999+00'")
}
