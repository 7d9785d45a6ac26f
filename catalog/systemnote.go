package catalog

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// SystemNote is what a database keeps about an object that every database has: its
// comment, where COMMENT has changed it, and its privileges, where GRANT has.
type SystemNote struct {
	Class, OID types.OID // as in pg_description
	Sub        int       // attnum, or 0
	Described  bool      // Comment counts, "" for none
	Comment    string
	ACL        ACL
	Name       string // of a parameter, which has no OID
}

// OIDLanguageClass is the OID of pg_language.
const OIDLanguageClass types.OID = 2612

// SystemNotes lists what a database keeps about built-in objects.
func (s *Snapshot) SystemNotes(db types.OID) []SystemNote {
	if d, ok := s.objs.get(db).(*Database); ok {
		return d.Notes
	}
	return nil
}

// SystemNote returns what a database keeps about a built-in object; class 0 is any.
func (s *Snapshot) SystemNote(db, class, oid types.OID, sub int) (SystemNote, bool) {
	for _, n := range s.SystemNotes(db) {
		if n.OID == oid && n.Sub == sub && (class == 0 || n.Class == class) {
			return n, true
		}
	}
	return SystemNote{}, false
}

// note changes what the database keeps about a built-in object.
func (c *Change) note(class, oid types.OID, sub int, change func(*SystemNote)) error {
	d, ok := c.snap.objs.get(c.DB).(*Database)
	if !ok {
		return nil
	}
	n := *d
	n.Notes = slices.Clone(d.Notes)
	at := slices.IndexFunc(n.Notes, func(x SystemNote) bool { return x.Class == class && x.OID == oid && x.Sub == sub })
	if at < 0 {
		at, n.Notes = len(n.Notes), append(n.Notes, SystemNote{Class: class, OID: oid, Sub: sub})
	}
	change(&n.Notes[at])
	return c.put(&n)
}

// SetSystemComment is COMMENT ON an object that every database has.
func (c *Change) SetSystemComment(class, oid types.OID, sub int, text string) error {
	return c.note(class, oid, sub, func(n *SystemNote) { n.Described, n.Comment = true, text })
}

// DatabaseLanguage is a language with the privileges that it has in a database. It is no
// part of a snapshot.
type DatabaseLanguage struct {
	Common
	Trusted bool
}

// Language returns a language as a database has it, or nil.
func (s *Snapshot) Language(db types.OID, name string) *DatabaseLanguage {
	for _, l := range Languages() {
		if l.Name == name {
			owner := "postgres"
			if r, ok := s.objs.get(OIDSuperuser).(*Role); ok {
				owner = r.Name
			}
			n, _ := s.SystemNote(db, OIDLanguageClass, l.OID, 0)
			return &DatabaseLanguage{Common{OID: l.OID, DB: db, Name: name, Owner: owner, ACL: n.ACL}, l.Trusted}
		}
	}
	return nil
}

// GrantLanguage changes the privileges on a language.
func (c *Change) GrantLanguage(l *DatabaseLanguage, g *GrantSpec) error {
	acl, err := c.changedACL(l, ACLLanguage, l.Name, -1, g.Privs, c.snap.EffectiveACL(l), g)
	if err != nil {
		return err
	}
	return c.note(OIDLanguageClass, l.OID, 0, func(n *SystemNote) { n.ACL = acl })
}

// OIDRelationClass is the OID of pg_class.
const OIDRelationClass types.OID = 1259

// granted is a system relation with the privileges that GRANT has given on it in a
// database: itself where there are none.
func (s *Snapshot) granted(db types.OID, v *Virtual) *Virtual {
	out := v
	for _, n := range s.SystemNotes(db) {
		if n.Class != OIDRelationClass || n.OID != v.OID || n.ACL == nil {
			continue
		}
		if out == v {
			out = s.inDatabase(db, v)
		}
		if n.Sub == 0 {
			out.ACL = n.ACL
		} else if n.Sub <= len(out.Columns) {
			out.Columns[n.Sub-1].ACL = n.ACL
		}
	}
	return out
}

// inDatabase is a copy of a system relation for a database, whose owner is the server's.
func (s *Snapshot) inDatabase(db types.OID, v *Virtual) *Virtual {
	c := *v
	c.DB, c.Owner, c.Columns = db, s.first().Name, slices.Clone(v.Columns)
	return &c
}

// SystemACL is the ACL that a system relation begins with: everybody may read it unless
// it has secrets.
func (s *Snapshot) SystemACL(name string) ACL {
	owner := s.first().Name
	acl := DefaultACL(ACLTable, owner)
	if !secretRelations[name] {
		privs := PrivSelect
		if name == "pg_settings" {
			privs |= PrivUpdate // what SET does
		}
		acl = append(acl, ACLItem{Grantor: owner, Privs: privs})
	}
	if statsRelations[name] {
		acl = append(acl, ACLItem{Grantee: RoleReadAllStats, Grantor: owner, Privs: PrivSelect})
	}
	return acl
}

// GrantSystem changes the privileges on a system relation.
func (c *Change) GrantSystem(v *Virtual, g *GrantSpec) error {
	if !g.Revoke && g.Option && slices.Contains(g.Grantees, "") {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
	}
	v = c.snap.inDatabase(c.DB, v)
	if g.Privs != 0 {
		acl, err := c.changedACL(v, ACLTable, v.Name, -1, g.Privs, c.snap.EffectiveACL(v), g)
		if err != nil {
			return err
		}
		if acl.Equal(c.snap.SystemACL(v.Name)) {
			acl = nil
		}
		if err := c.note(OIDRelationClass, v.OID, 0, func(n *SystemNote) { n.ACL = acl }); err != nil {
			return err
		}
	}
	first := c.snap.overlay.VirtualByOID(v.OID)
	for i := range v.Columns {
		p := g.Cols[i]
		if g.Revoke {
			p |= g.Privs & ACLColumn.All() // what was granted on single columns goes, too
		}
		if p == 0 || g.Cols[i] == 0 && v.Columns[i].ACL == nil {
			continue
		}
		acl, err := c.changedACL(v, ACLColumn, v.Columns[i].Name, i, p, v.Columns[i].ACL, g)
		if err != nil {
			return err
		}
		if len(acl) == 0 && first.Columns[i].ACL == nil {
			acl = nil
		}
		if err := c.note(OIDRelationClass, v.OID, i+1, func(n *SystemNote) { n.ACL = acl }); err != nil {
			return err
		}
	}
	return nil
}

// OIDSchemaClass is the OID of pg_namespace.
const OIDSchemaClass types.OID = 2615

// grantedSchema is a built-in schema with the privileges that GRANT has given on it in a
// database: itself where there are none.
func (s *Snapshot) grantedSchema(db types.OID, b *Schema) *Schema {
	n, ok := s.SystemNote(db, OIDSchemaClass, b.OID, 0)
	if !ok || n.ACL == nil {
		return b
	}
	c := *b
	c.DB, c.Owner, c.ACL = db, s.first().Name, n.ACL
	return &c
}

// SchemaACL is the ACL that a built-in schema begins with: everybody may use it, but for
// that of TOAST tables.
func (s *Snapshot) SchemaACL(name string) ACL {
	owner := s.first().Name
	acl := DefaultACL(ACLSchema, owner)
	if name != SchemaToast {
		acl = append(acl, ACLItem{Grantor: owner, Privs: PrivUsage})
	}
	return acl
}

// GrantSchema changes the privileges on a built-in schema.
func (c *Change) GrantSchema(n *Schema, g *GrantSpec) error {
	if !g.Revoke && g.Option && slices.Contains(g.Grantees, "") {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
	}
	in := *n
	in.DB, in.Owner = c.DB, c.snap.first().Name
	if in.ACL == nil {
		in.ACL = c.snap.SchemaACL(n.Name)
	}
	acl, err := c.changedACL(&in, ACLSchema, n.Name, -1, g.Privs, in.ACL, g)
	if err != nil {
		return err
	}
	if acl.Equal(c.snap.SchemaACL(n.Name)) {
		acl = nil
	}
	return c.note(OIDSchemaClass, n.OID, 0, func(n *SystemNote) { n.ACL = acl })
}

// OIDFunctionClass is the OID of pg_proc.
const OIDFunctionClass types.OID = 1255

// BuiltinFunction is a built-in function with the privileges that it has in a database. It
// is no part of a snapshot.
func (s *Snapshot) BuiltinFunction(db types.OID, p *Proc) *Function {
	co := Common{OID: p.OID, DB: db, Schema: p.In(), Name: p.Name, Owner: s.first().Name, ACL: s.FunctionACL(db, p.OID)}
	return &Function{Common: co}
}

// FunctionACL is the ACL of a built-in function in a database, nil where everybody may
// execute it.
func (s *Snapshot) FunctionACL(db, oid types.OID) ACL {
	if n, ok := s.SystemNote(db, OIDFunctionClass, oid, 0); ok && n.ACL != nil {
		return n.ACL
	}
	return ProcACL(oid, s.first().Name)
}

// GrantBuiltin changes the privileges on a built-in function.
func (c *Change) GrantBuiltin(f *Function, g *GrantSpec) error {
	acl, err := c.changedACL(f, ACLFunction, f.Name, -1, g.Privs, c.snap.EffectiveACL(f), g)
	if err != nil {
		return err
	}
	if first := ProcACL(f.OID, f.Owner); first != nil && acl.Equal(first) {
		acl = nil
	}
	return c.note(OIDFunctionClass, f.OID, 0, func(n *SystemNote) { n.ACL = acl })
}

// noteLines says in which privileges on built-in objects a role is that is to be dropped.
func (s *Snapshot) noteLines(notes []SystemNote, role string) (out []string) {
	notes = slices.SortedStableFunc(slices.Values(notes), func(a, b SystemNote) int { return cmp.Or(cmp.Compare(a.OID, b.OID), a.Sub-b.Sub) })
	for _, n := range notes {
		if !n.ACL.mentions(role) {
			continue
		}
		if n.Class == OIDRelationClass && s.overlay != nil {
			if v := s.overlay.VirtualByOID(n.OID); v != nil && n.Sub == 0 {
				out = append(out, "privileges for "+RelationKind(v)+" "+QuoteIdent(v.Name))
			} else if v != nil {
				out = append(out, "privileges for column "+QuoteIdent(v.Columns[n.Sub-1].Name)+" of "+RelationKind(v)+" "+QuoteIdent(v.Name))
			}
			continue
		}
		if b := s.SchemaByOID(n.OID); b != nil && n.Class == OIDSchemaClass {
			out = append(out, "privileges for schema "+QuoteIdent(b.Name))
		}
		if p := ProcByOID(n.OID); p != nil && n.Class == OIDFunctionClass {
			var args []string
			for _, a := range p.Args {
				args = append(args, types.FormatTypeNoMod(a))
			}
			out = append(out, "privileges for function "+QuoteIdent(p.Name)+"("+strings.Join(args, ",")+")")
		}
		for _, l := range Languages() {
			if n.Class == OIDLanguageClass && l.OID == n.OID {
				out = append(out, "privileges for language "+QuoteIdent(l.Name))
			}
		}
	}
	return out
}

// notes writes what a database keeps about built-in objects.
func (w *xmlWriter) notes(list []SystemNote) {
	if len(list) == 0 {
		return
	}
	w.open("SystemNotes", nil)
	for _, n := range list {
		var a attrList
		a.num("class", int64(n.Class))
		a.num("object", int64(n.OID))
		a.opt("name", n.Name)
		a.optNum("column", int64(n.Sub))
		if n.Described {
			a.set("comment", n.Comment)
		}
		aclAttr(&a, n.ACL)
		w.empty("SystemNote", a)
	}
	w.close("SystemNotes")
}

// notes reads what xmlWriter.notes wrote.
func (r *xmlReader) notes(e *element) (out []SystemNote) {
	for _, n := range r.each(e, "SystemNotes", "SystemNote") {
		note := SystemNote{Class: r.oid(n, "class"), OID: r.oid(n, "object"), Sub: int(r.num(n, "column", -32768, 32767, 0)), ACL: r.acl(n), Name: r.str(n, "name")}
		note.Comment, note.Described = n.attr("comment")
		out = append(out, note)
		r.known(n)
	}
	return out
}

// changedNotes returns notes with their ACLs changed.
func changedNotes(notes []SystemNote, change func(ACL) ACL) []SystemNote {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i].ACL = change(notes[i].ACL)
	}
	return notes
}
