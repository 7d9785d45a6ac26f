package catalog

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// GrantSpec is a GRANT or REVOKE of privileges on one object.
type GrantSpec struct {
	Revoke   bool
	Privs    Priv // of the whole object
	All      bool // ALL PRIVILEGES: no warning about those that cannot be granted
	Cols     map[int]Priv
	Grantees []string // "" for PUBLIC
	Option   bool     // WITH GRANT OPTION, or GRANT OPTION FOR
	Cascade  bool
}

// Grant changes the privileges on objects in the name of the current role: as the specs
// say, one for each.
func (c *Change) Grant(oids []types.OID, specs []*GrantSpec) error {
	put := make([]Object, 0, len(oids))
	seen := make(map[types.OID]bool, len(oids))
	for i, oid := range oids {
		if seen[oid] {
			continue
		}
		seen[oid] = true
		g, o := specs[i], c.snap.objs.get(oid)
		if _, co := c.snap.KindOf(o); co == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "object with OID %d does not exist", oid)
		}
		if !g.Revoke && g.Option && slices.Contains(g.Grantees, "") {
			return sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
		}
		o, err := c.granted(o, g)
		if err != nil {
			return err
		}
		put = append(put, o)
	}
	if len(put) == 0 {
		return nil
	}
	return c.record(put, nil)
}

// granted returns an object with the privileges that a GRANT or REVOKE leaves.
func (c *Change) granted(o Object, g *GrantSpec) (Object, error) {
	kind, co := c.snap.KindOf(o)
	if g.Privs != 0 {
		acl, err := c.changedACL(o, kind, co.Name, -1, g.Privs, c.snap.EffectiveACL(o), g)
		if err != nil {
			return nil, err
		}
		o = withCommon(o, func(co *Common) { co.ACL = acl })
	}
	cols := g.Cols
	if g.Revoke && kind == ACLTable && g.Privs&ACLColumn.All() != 0 {
		// what was granted on single columns goes, too
		cols = map[int]Priv{}
		for i := range c.snap.aclColumns(o.(Relation)) {
			cols[i] = g.Privs&ACLColumn.All() | g.Cols[i]
		}
		for _, name := range systemColumns {
			i := SystemColumn(name)
			cols[i] = g.Privs&ACLColumn.All() | g.Cols[i]
		}
	}
	if len(cols) > 0 {
		return c.grantColumns(o, cols, g)
	}
	return o, nil
}

func (c *Change) grantColumns(o Object, cols map[int]Priv, g *GrantSpec) (Object, error) {
	quiet := c.snap.Owns(c.Owner, o) // nobody else is told of columns without privileges
	o = withColumns(o)
	if t, ok := o.(*Table); ok {
		if err := c.grantSystem(t, cols, g, quiet); err != nil {
			return nil, err
		}
	}
	list := columnsIn(o)
	for i := range list {
		p := cols[i]
		if p == 0 || g.Cols[i] == 0 && list[i].ACL == nil && (quiet || list[i].Dropped) {
			continue
		}
		acl, err := c.changedACL(o, ACLColumn, list[i].Name, i, p, list[i].ACL, g)
		if err != nil {
			return nil, err
		}
		if len(acl) == 0 {
			acl = nil
		}
		list[i].ACL = acl
	}
	return o, nil
}

// grantSystem changes the privileges on a table's system columns.
func (c *Change) grantSystem(t *Table, cols map[int]Priv, g *GrantSpec, quiet bool) error {
	var out []SystemGrant
	for _, name := range systemColumns {
		col := SystemColumn(name)
		acl := t.systemACL(col)
		if p := cols[col]; p != 0 && (g.Cols[col] != 0 || acl != nil || !quiet) {
			var err error
			if acl, err = c.changedACL(t, ACLColumn, name, col, p, acl, g); err != nil {
				return err
			}
		}
		if len(acl) > 0 {
			out = append(out, SystemGrant{Column: name, ACL: acl})
		}
	}
	t.SystemGrants = out
	return nil
}

// systemACL is the ACL of the system column at a place.
func (t *Table) systemACL(col int) ACL {
	name := systemColumnAt(col)
	for _, g := range t.SystemGrants {
		if g.Column == name {
			return g.ACL
		}
	}
	return nil
}

// changedACL applies a grant or revoke to one ACL. The grantor is the owner when
// the current role may act for it, and otherwise the role, with the grant
// options that it has.
func (c *Change) changedACL(o Object, kind ACLKind, name string, col int, privs Priv, acl ACL, g *GrantSpec) (ACL, error) {
	_, co := c.snap.KindOf(o)
	owner, grantor := co.Owner, co.Owner
	if !c.snap.Owns(c.Owner, o) {
		held, options := c.snap.Privileges(c.Owner, o)
		if col != -1 {
			h, op := c.snap.ColumnPrivileges(c.Owner, o.(Relation), col)
			held, options = held|h, options|op
		}
		grantor = c.bestGrantor(co.DB, acl, privs)
		can := options & kind.All()
		if can&privs == 0 && held&kind.All() == 0 {
			return nil, c.deniedFor(o, col)
		}
		what := "\"" + name + "\""
		if col != -1 {
			what = "column " + what + " of relation \"" + co.Name + "\""
		}
		c.warnMissing(g, privs, can, what)
		privs &= can
	}
	acl = append(ACL{}, acl...)
	var err error
	for _, who := range g.Grantees {
		switch {
		case privs == 0:
		case g.Revoke:
			acl, err = acl.revoked(owner, who, grantor, privs, g.Option, g.Cascade)
		default:
			it := ACLItem{Grantee: who, Grantor: grantor, Privs: privs}
			if g.Option {
				it.Grant = privs
			}
			acl, err = acl.granted(owner, it)
		}
		if err != nil {
			return nil, err
		}
	}
	return acl, nil
}

// bestGrantor is the role in whose name the current one grants: the one of its
// roles with the most of the grant options.
func (c *Change) bestGrantor(db types.OID, acl ACL, privs Priv) string {
	best, n := c.Owner, 0
	for _, it := range acl {
		if it.Grantee == "" || !c.snap.HasRole(db, c.Owner, it.Grantee) {
			continue
		}
		options := acl.grantableBy(it.Grantee)
		if k := len((options & privs).Names()); k > n || k == n && k > 0 && it.Grantee == c.Owner {
			best, n = it.Grantee, k
		}
	}
	return best
}

func (c *Change) deniedFor(o Object, col int) error {
	if col != -1 {
		name := systemColumnAt(col)
		if name == "" {
			name = columnsIn(o)[col].Name
		}
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for column \"%s\" of relation \"%s\"", name, CommonOf(o).Name)
	}
	return c.snap.Denied(o)
}

func (c *Change) warnMissing(g *GrantSpec, privs, can Priv, of string) {
	got := privs & can
	if got == privs || g.All && got != 0 {
		return
	}
	code, what := sqlerr.PrivilegeNotGranted, "were granted"
	if g.Revoke {
		code, what = sqlerr.PrivilegeNotRevoked, "could be revoked"
	}
	text := "not all privileges " + what + " for %s"
	if got == 0 {
		text = "no privileges " + what + " for %s"
	}
	n := sqlerr.New(code, text, of)
	n.Severity = "WARNING"
	c.tell(n)
}

// withColumns returns a copy of a relation whose columns can be changed.
func withColumns(o Object) Object {
	switch x := o.(type) {
	case *Table:
		return copyTable(x)
	case *View:
		n := *x
		n.Columns = slices.Clone(x.Columns)
		return &n
	}
	return o
}

// columnsIn are an object's columns with ACLs.
func columnsIn(o Object) []Column {
	switch x := o.(type) {
	case *Table:
		return x.Columns
	case *View:
		return x.Columns
	}
	return nil
}

func hasColumnACL(o Object) bool {
	return len(systemGrants(o)) > 0 || slices.ContainsFunc(columnsIn(o), func(c Column) bool { return c.ACL != nil })
}

// systemGrants are the ACLs of an object's system columns.
func systemGrants(o Object) []SystemGrant {
	if t, ok := o.(*Table); ok {
		return t.SystemGrants
	}
	return nil
}

// mentions reports whether a role is in an object's grants.
func mentions(o Object, role string) bool {
	co := CommonOf(o)
	if co.ACL.mentions(role) {
		return true
	}
	switch x := o.(type) {
	case *Database:
		for _, p := range x.Defaults {
			if p.Role == role || p.ACL.mentions(role) {
				return true
			}
		}
		return slices.ContainsFunc(x.Notes, func(n SystemNote) bool { return n.ACL.mentions(role) })
	case *Role:
		return slices.ContainsFunc(x.Notes, func(n SystemNote) bool { return n.ACL.mentions(role) })
	case *Policy:
		return slices.Contains(x.Roles, role)
	}
	return slices.ContainsFunc(columnsIn(o), func(c Column) bool { return c.ACL.mentions(role) }) ||
		slices.ContainsFunc(systemGrants(o), func(g SystemGrant) bool { return g.ACL.mentions(role) })
}

// renameInGrants returns an object with a role's name changed in the grants on it and
// on its columns.
func renameInGrants(o Object, old, new string) Object {
	o = withCommon(withColumns(o), func(co *Common) { co.ACL = co.ACL.rename(old, new) })
	cols := columnsIn(o)
	for i := range cols {
		cols[i].ACL = cols[i].ACL.rename(old, new)
	}
	system := systemGrants(o)
	for i := range system {
		system[i].ACL = system[i].ACL.rename(old, new)
	}
	return o
}

// renameInACLs returns an object with a role's name changed in all ACLs that it keeps,
// those of default privileges and of policies among them; the same object when the
// role is in none.
func renameInACLs(o Object, old, new string) Object {
	if !mentions(o, old) {
		return o
	}
	o = renameInGrants(o, old, new)
	if d, ok := o.(*Database); ok {
		d.Notes = changedNotes(d.Notes, func(a ACL) ACL { return a.rename(old, new) })
		d.Defaults = slices.Clone(d.Defaults)
		for i := range d.Defaults {
			p := &d.Defaults[i]
			if p.ACL = p.ACL.rename(old, new); p.Role == old {
				p.Role = new
			}
		}
	}
	if r, ok := o.(*Role); ok {
		r.Notes = changedNotes(r.Notes, func(a ACL) ACL { return a.rename(old, new) })
	}
	if p, ok := o.(*Policy); ok {
		p.Roles = slices.Clone(p.Roles)
		p.Roles[slices.Index(p.Roles, old)] = new
	}
	return o
}

// privilegeLines says in which grants a role is that is to be dropped.
func (c *Change) privilegeLines(o Object, role string) []string {
	var out []string
	if p, ok := o.(*Policy); ok {
		if p.DB == c.DB && slices.Contains(p.Roles, role) {
			out = append(out, "target of "+c.partText(p.OID))
		}
		return out
	}
	if r, ok := o.(*Role); ok {
		return serverLines(r.Notes, role)
	}
	what := c.ownedText(o)
	if CommonOf(o).DB != c.DB {
		if _, global := o.(*Database); !global {
			return nil
		}
	}
	if CommonOf(o).ACL.mentions(role) && CommonOf(o).Owner != role {
		out = append(out, "privileges for "+what)
	}
	for _, g := range systemGrants(o) {
		if g.ACL.mentions(role) && CommonOf(o).Owner != role {
			out = append(out, "privileges for column "+QuoteIdent(g.Column)+" of "+what)
		}
	}
	for _, col := range columnsIn(o) {
		if col.ACL.mentions(role) && CommonOf(o).Owner != role {
			out = append(out, "privileges for column "+QuoteIdent(col.Name)+" of "+what)
		}
	}
	if d, ok := o.(*Database); ok && d.OID == c.DB {
		out = append(out, c.snap.noteLines(d.Notes, role)...)
		for _, p := range d.Defaults {
			if p.Role == role || p.ACL.mentions(role) {
				out = append(out, defaultPrivilegesLine(&p, role))
			}
		}
	}
	return out
}

var defaultObjects = map[ACLKind]string{ACLTable: "relations", ACLSequence: "sequences", ACLFunction: "functions", ACLType: "types", ACLSchema: "schemas"}

func defaultPrivilegesLine(p *DefaultPrivileges, role string) string {
	line := "default privileges on new " + defaultObjects[p.Kind] + " belonging to role " + QuoteIdent(p.Role)
	if p.Schema != "" {
		line += " in schema " + QuoteIdent(p.Schema)
	}
	if p.Role == role {
		return "owner of " + line
	}
	return "privileges for " + line
}

// giveDefaults gives new objects the privileges that ALTER DEFAULT PRIVILEGES
// has set for their kind.
func (c *Change) giveDefaults(put []Object) {
	d, _ := c.snap.objs.get(c.DB).(*Database)
	if d == nil || len(d.Defaults) == 0 {
		return
	}
	for _, o := range put {
		kind, co := c.snap.KindOf(o)
		if co == nil || co.ACL != nil || c.snap.objs.get(o.ObjectOID()) != nil {
			continue
		}
		acl, found := DefaultACL(kind, co.Owner), false
		for _, p := range d.Defaults {
			if p.Role == co.Owner && p.Kind == kind && p.Schema == "" {
				acl, found = p.ACL, true
			}
		}
		for _, p := range d.Defaults {
			if p.Role == co.Owner && p.Kind == kind && p.Schema != "" && p.Schema == co.Schema {
				found = true
				for _, it := range p.ACL {
					acl = acl.add(it)
				}
			}
		}
		if found && !acl.Equal(DefaultACL(kind, co.Owner)) {
			co.ACL = c.inOrder(acl)
		}
	}
}

// inOrder sorts an ACL by the numbers of its roles, as PostgreSQL does with what it has
// put together.
func (c *Change) inOrder(a ACL) ACL {
	number := func(role string) types.OID {
		if r := c.snap.Role(role); r != nil {
			return r.OID
		}
		return 0 // PUBLIC
	}
	return slices.SortedStableFunc(slices.Values(a), func(x, y ACLItem) int {
		return cmp.Or(cmp.Compare(number(x.Grantee), number(y.Grantee)), cmp.Compare(number(x.Grantor), number(y.Grantor)))
	})
}

// moveDefaults makes the default privileges of schemas those of others; to has "" for a
// schema that goes. It returns the database, if it changes.
func (c *Change) moveDefaults(to map[string]string) []Object {
	d, _ := c.snap.objs.get(c.DB).(*Database)
	if d == nil {
		return nil
	}
	n := *d
	n.Defaults = nil
	changed := false
	for _, p := range d.Defaults {
		if schema, ok := to[p.Schema]; ok {
			p.Schema, changed = schema, true
			if schema == "" {
				continue
			}
		}
		n.Defaults = append(n.Defaults, p)
	}
	if !changed {
		return nil
	}
	return []Object{&n}
}

// base is the ACL that is not worth an entry: what objects have without one, of which
// those of a schema say only what comes on top.
func (p *DefaultPrivileges) base() ACL {
	if p.Schema != "" {
		return ACL{}
	}
	return DefaultACL(p.Kind, p.Role)
}

// AlterDefaults changes what new objects of a role get.
func (c *Change) AlterDefaults(role, schema string, kind ACLKind, g *GrantSpec) error {
	d, ok := c.snap.objs.get(c.DB).(*Database)
	if !ok {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database with OID %d does not exist", c.DB)
	}
	base := (&DefaultPrivileges{Role: role, Schema: schema, Kind: kind}).base()
	n := *d
	n.Defaults = slices.Clone(d.Defaults)
	at := slices.IndexFunc(n.Defaults, func(p DefaultPrivileges) bool { return p.Role == role && p.Schema == schema && p.Kind == kind })
	acl := base
	if at >= 0 {
		acl = n.Defaults[at].ACL
	}
	var err error
	for _, who := range g.Grantees {
		if g.Revoke {
			acl, err = acl.revoked(role, who, role, g.Privs, g.Option, g.Cascade)
		} else {
			it := ACLItem{Grantee: who, Grantor: role, Privs: g.Privs}
			if g.Option {
				it.Grant = g.Privs
			}
			acl, err = acl.granted(role, it)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case acl.Equal(base) && at >= 0:
		n.Defaults = slices.Delete(n.Defaults, at, at+1)
	case acl.Equal(base):
		return nil
	case at >= 0:
		n.Defaults[at].ACL = acl
	default:
		n.Defaults = append(n.Defaults, DefaultPrivileges{Role: role, Schema: schema, Kind: kind, ACL: acl})
	}
	return c.put(&n)
}

// ReassignOwned gives everything that roles own in the database, and databases
// themselves, to another role.
func (c *Change) ReassignOwned(roles []string, to string) error {
	var put []Object
	for _, o := range c.snap.Objects() {
		_, co := c.snap.KindOf(o)
		if co == nil || !slices.Contains(roles, co.Owner) {
			continue
		}
		if _, db := o.(*Database); db || co.DB == c.DB {
			put = append(put, ownedBy(o, to))
		}
	}
	return c.put(put...)
}

// DropOwned drops what roles own in the database, and their grants.
func (c *Change) DropOwned(roles []string, cascade bool) error {
	var put []Object
	var names []node
	for _, o := range c.snap.Objects() {
		if co := CommonOf(o); co.DB != 0 && co.DB != c.DB {
			continue
		}
		n := o
		for _, r := range roles {
			if mentions(o, r) {
				var err error
				if n, err = c.withoutGrants(n, r); err != nil {
					return err
				}
			}
		}
		if p, ok := n.(*Policy); ok && n != o && len(p.Roles) == 0 { // a policy for nobody would be one for all
			names = append(names, node{kind: nodePart, oid: p.OID})
		} else if n != o {
			put = append(put, n)
		}
	}
	if len(put) > 0 {
		if err := c.put(put...); err != nil {
			return err
		}
	}
	for _, o := range c.snap.Objects() {
		_, co := c.snap.KindOf(o)
		if co == nil || co.DB != c.DB || !slices.Contains(roles, co.Owner) {
			continue
		}
		switch x := o.(type) {
		case *OwnOperator:
			names = append(names, node{kind: nodeOperator, oid: co.OID})
		case *ExtStats, *Extension:
			names = append(names, node{kind: nodePart, oid: co.OID})
		case *Table, *View:
			names = append(names, node{kind: nodeRelation, oid: co.OID})
		case *Sequence:
			if x.OwnerTable == 0 {
				names = append(names, node{kind: nodeRelation, oid: co.OID})
			}
		case *UserType:
			names = append(names, node{kind: nodeType, oid: co.OID})
		case *Function:
			names = append(names, node{kind: nodeFunction, oid: co.OID})
		case *Schema:
			names = append(names, node{kind: nodeSchema, oid: co.OID})
		}
	}
	if len(names) == 0 {
		return nil
	}
	return c.drop(cascade, names...)
}

// withoutGrants returns an object without the grants to a role that the current one can
// revoke, which are all of them on what it owns.
func (c *Change) withoutGrants(o Object, role string) (Object, error) {
	kind, _ := c.snap.KindOf(o)
	if kind == 0 || kind == ACLDatabase || c.snap.Owns(c.Owner, o) {
		return withoutRole(o, role), nil
	}
	return c.granted(o, &GrantSpec{Revoke: true, Privs: kind.All(), All: true, Grantees: []string{role}, Cascade: true})
}

// withoutRole returns an object without the grants of and to a role, but for
// those that it gave itself as the owner.
func withoutRole(o Object, role string) Object {
	owner := CommonOf(o).Owner
	without := func(a ACL) ACL {
		if a == nil {
			return nil
		}
		out := ACL{}
		for _, it := range a {
			if it.Grantee == role && it.Grantor != role || it.Grantor == role && owner != role {
				continue
			}
			out = append(out, it)
		}
		return out
	}
	o = withCommon(withColumns(o), func(co *Common) { co.ACL = without(co.ACL) })
	cols := columnsIn(o)
	for i := range cols {
		if cols[i].ACL = without(cols[i].ACL); len(cols[i].ACL) == 0 {
			cols[i].ACL = nil
		}
	}
	if t, ok := o.(*Table); ok {
		var rest []SystemGrant
		for _, g := range t.SystemGrants {
			if g.ACL = without(g.ACL); len(g.ACL) > 0 {
				rest = append(rest, g)
			}
		}
		t.SystemGrants = rest
	}
	if r, ok := o.(*Role); ok {
		r.Notes = slices.DeleteFunc(changedNotes(r.Notes, without), func(n SystemNote) bool {
			return n.Class == OIDParameterClass && len(n.ACL) == 1 && n.ACL.Equal(DefaultACL(ACLParameter, n.ACL[0].Grantee))
		})
	}
	if d, ok := o.(*Database); ok {
		d.Notes = changedNotes(d.Notes, without)
		var rest []DefaultPrivileges
		for _, p := range d.Defaults {
			if p.Role == role {
				continue
			}
			p.ACL = slices.DeleteFunc(slices.Clone(p.ACL), func(it ACLItem) bool { return it.Grantee == role })
			if !p.ACL.Equal(p.base()) {
				rest = append(rest, p)
			}
		}
		d.Defaults = rest
	}
	if p, ok := o.(*Policy); ok {
		p.Roles = slices.DeleteFunc(slices.Clone(p.Roles), func(r string) bool { return r == role })
	}
	return o
}

// ownedText names an object for DROP ROLE's details.
func (c *Change) ownedText(o Object) string { return strings.TrimPrefix(c.ownerLine(o), "owner of ") }
