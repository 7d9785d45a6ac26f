package catalog

import (
	"slices"

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

// noteLines says in which privileges on built-in objects a role is that is to be dropped.
func noteLines(notes []SystemNote, role string) (out []string) {
	for _, n := range notes {
		if !n.ACL.mentions(role) {
			continue
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
