package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// BoundQuery is a query that the catalog keeps as a part of another object: its
// text and what it reads, as a View has them.
type BoundQuery struct {
	Query   string
	Deps    []types.OID
	ColDeps []ColRef
}

// View is the query as that of a view, for what is done with views' queries.
func (q *BoundQuery) View(c *Common) *View {
	return &View{Common: *c, Query: q.Query, Deps: q.Deps, ColDeps: q.ColDeps}
}

// needs reports whether the query needs a relation, or one of its columns (attnum
// sub).
func (q *BoundQuery) needs(rel types.OID, sub int) bool {
	if q.Query == "" || !slices.Contains(q.Deps, rel) {
		return false
	}
	return sub == 0 || (&View{ColDeps: q.ColDeps}).reads(rel, sub-1)
}

// Policy is a policy of row-level security. Its name belongs to its table.
type Policy struct {
	Common
	Table       types.OID
	Command     byte // '*' ALL, r SELECT, a INSERT, w UPDATE, d DELETE
	Restrictive bool
	Roles       []string // nil: PUBLIC
	// Using and Check are the conditions, each as a query of the table with the
	// condition as its only column: SELECT owner = CURRENT_USER FROM t. An empty
	// text is no condition.
	Using, Check BoundQuery
}

// Policies returns the policies of a table in the order of their names.
func (s *Snapshot) Policies(table types.OID) []*Policy {
	return partsOf[*Policy](s, table)
}

// Policy returns the table's policy of that name, or nil.
func (s *Snapshot) Policy(table types.OID, name string) *Policy {
	for _, p := range s.Policies(table) {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// AllPolicies returns the policies of the database in OID order.
func (s *Snapshot) AllPolicies(db types.OID) []*Policy {
	return objectsOf(s, func(p *Policy) bool { return p.DB == db })
}

// partsOf returns the objects of one kind that belong to a relation, in the order
// of their names.
func partsOf[T Object](s *Snapshot, rel types.OID) []T {
	var out []T
	for _, oid := range s.parts.get(rel) {
		if p, ok := s.objs.get(oid).(T); ok {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b T) int { return strings.Compare(CommonOf(a).Name, CommonOf(b).Name) })
	return out
}

func (s *Snapshot) linkPolicy(p *Policy) error {
	if other := s.Policy(p.Table, p.Name); other != nil && other.OID != p.OID {
		return sqlerr.New(sqlerr.DuplicateObject, "policy \"%s\" for table \"%s\" already exists", p.Name, s.relationName(p.Table))
	}
	addSorted(&s.parts, p.Table, p.OID)
	return nil
}

// relationName is the name of a relation, "" for none.
func (s *Snapshot) relationName(oid types.OID) string {
	if r := asRelation(s.objs.get(oid)); r != nil {
		_, name := r.RelName()
		return name
	}
	return ""
}

// PutPolicy records a new or changed policy; a new one has no OID yet.
func (c *Change) PutPolicy(p *Policy) error {
	n := *p
	if n.OID == 0 {
		name := p.Name
		n.Common = c.common("", name)
		n.Owner = ""
	}
	return c.put(&n)
}

// DropPolicy drops a policy.
func (c *Change) DropPolicy(oid types.OID) error {
	return c.drop(false, node{kind: nodePart, oid: oid})
}

// SetRowSecurity changes whether the policies of a table count, and whether they
// do for its owner.
func (c *Change) SetRowSecurity(table types.OID, on, forced bool) error {
	_, err := c.edit(table, func(t *Table) error {
		t.RowSecurity, t.ForceRowSecurity = on, forced
		return nil
	})
	return err
}

// Applies reports whether a policy is for a command of a role: one of r a w d.
func (p *Policy) Applies(s *Snapshot, role string, command byte) bool {
	if p.Command != '*' && p.Command != command {
		return false
	}
	return p.Roles == nil || slices.ContainsFunc(p.Roles, func(r string) bool { return s.HasRole(p.DB, role, r) })
}

// SubjectTo reports whether the policies of a table count for a role: it is no
// superuser, has no BYPASSRLS, and does not own the table or is not spared as its owner.
func (s *Snapshot) SubjectTo(t *Table, role string) bool {
	if !t.RowSecurity || role == "" {
		return false
	}
	if r := s.Role(role); r == nil || r.Super || r.BypassRLS {
		return false
	}
	return t.ForceRowSecurity || !s.Owns(role, t)
}

// PoliciesCount is the error of a query with row_security off to whose role the policies
// of a table apply.
func (s *Snapshot) PoliciesCount(t *Table, role string) *sqlerr.Error {
	e := sqlerr.New(sqlerr.InsufficientPrivilege, "query would be affected by row-level security policy for table \"%s\"", t.Name)
	if s.Owns(role, t) {
		e = e.WithHint("To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.")
	}
	return e
}

// policiesNeeding adds the policies whose conditions need a relation, or one of its
// columns, and those of the table itself.
func (c *Change) policiesNeeding(n node, add func(bool, node)) {
	for _, p := range append(partsOf[*Policy](c.snap, n.oid), usersOf[*Policy](c.snap, c.DB, n.oid)...) {
		switch {
		case p.Table == n.oid && n.sub == 0:
			add(true, node{kind: nodePart, oid: p.OID})
		case p.Using.needs(n.oid, n.sub) || p.Check.needs(n.oid, n.sub):
			add(false, node{kind: nodePart, oid: p.OID})
		}
	}
}

// partText names what belongs to a relation as messages do: policy p on table t.
func (c *Change) partText(oid types.OID) string {
	switch x := c.snap.objs.get(oid).(type) {
	case *Policy:
		return "policy " + QuoteIdent(x.Name) + " on " + c.describeRelation(x.Table)
	case *Extension:
		return "extension " + x.Name // not quoted there
	case *ExtStats:
		if slices.Contains(c.Path, x.Schema) {
			return "statistics object " + QuoteIdent(x.Name)
		}
		return "statistics object " + QualifiedIdent(x.Schema, x.Name)
	}
	return "object " + oidString(oid)
}

func (s *Snapshot) validatePolicy(p *Policy) error {
	if _, ok := s.objs.get(p.Table).(*Table); !ok {
		return sqlerr.New(sqlerr.UndefinedTable, "policy \"%s\" is of table with OID %d, which does not exist", p.Name, p.Table)
	}
	if !strings.ContainsRune("*rawd", rune(p.Command)) {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "policy \"%s\" has an unknown command", p.Name)
	}
	for _, r := range p.Roles {
		if s.Role(r) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", r)
		}
	}
	return nil
}

func (w *xmlWriter) policy(p *Policy) {
	a := w.common(&p.Common, "policyName")
	w.partRef(&a, p.Table)
	a.set("command", string(rune(p.Command)))
	a.flag("restrictive", p.Restrictive)
	a.opt("comment", p.Comment)
	w.bindings(&a, &p.Common)
	w.open("Policy", a)
	for _, r := range p.Roles {
		var ra attrList
		ra.set("roleName", r)
		w.empty("PolicyRole", ra)
	}
	w.boundQuery("Using", &p.Using)
	w.boundQuery("Check", &p.Check)
	w.close("Policy")
}

func (r *xmlReader) policy(e *element, c Common) Object {
	p := &Policy{Common: r.common(e, c, "policyName"), Command: '*'}
	p.Owner, p.Schema = "", ""
	p.Table = r.partRef(e)
	if s := r.str(e, "command"); len(s) == 1 {
		p.Command = s[0]
	}
	p.Restrictive = r.flag(e, "restrictive")
	for _, re := range e.children {
		if re.name == "PolicyRole" {
			p.Roles = append(p.Roles, r.need(re, "roleName"))
			r.known(re)
		}
	}
	p.Using, p.Check = r.boundQuery(e, "Using"), r.boundQuery(e, "Check")
	r.known(e, "PolicyRole", "Using", "Check")
	return p
}

// partRef names the relation that an object belongs to.
func (w *xmlWriter) partRef(a *attrList, rel types.OID) {
	if w.ids {
		a.num("table", int64(rel))
	} else if r := asRelation(w.snap.objs.get(rel)); r != nil {
		w.relRef(a, "tableName", "tableSchema", r)
	}
}

func (r *xmlReader) partRef(e *element) types.OID {
	if r.ids {
		return r.oid(e, "table")
	}
	if rel := r.relation(e, "tableName", r.str(e, "tableSchema"), r.need(e, "tableName")); rel != nil {
		return rel.oid
	}
	return 0
}

// boundQuery writes an element with a query and what it reads; none for no query.
func (w *xmlWriter) boundQuery(name string, q *BoundQuery) {
	if q.Query == "" {
		return
	}
	w.open(name, nil)
	w.text("Query", nil, q.Query)
	w.dependencies(&View{Deps: q.Deps, ColDeps: q.ColDeps})
	w.close(name)
}

func (r *xmlReader) boundQuery(e *element, name string) BoundQuery {
	child, err := e.child(name)
	r.check(err)
	if child == nil {
		return BoundQuery{}
	}
	v := &View{}
	q, err := child.child("Query")
	r.check(err)
	if q == nil {
		r.fail(child, codeXML, "has no element \"Query\"")
		return BoundQuery{}
	}
	r.known(q)
	for _, d := range child.children {
		if d.name == "dependency" {
			r.viewDependency(d, v)
		}
	}
	r.known(child, "Query", "dependency")
	return BoundQuery{Query: q.content(), Deps: v.Deps, ColDeps: v.ColDeps}
}
