package catalog

import (
	"slices"

	"kvsqld/catalog/types"
)

// The classes of what the whole server has and not one database, and the OIDs of the
// tablespaces. Parameters are told apart by name.
const (
	OIDTablespaceClass types.OID = 1213
	OIDParameterClass  types.OID = 6243

	OIDDefaultTablespace types.OID = 1663
	OIDGlobalTablespace  types.OID = 1664
)

// What belongs to the server and not to one database is kept with the first
// superuser, whom nobody can drop.
func (s *Snapshot) first() *Role {
	r, _ := s.objs.get(OIDSuperuser).(*Role)
	if r == nil {
		return &Role{}
	}
	return r
}

// Everybody returns the settings of all roles: ALTER ROLE ALL … SET.
func (s *Snapshot) Everybody() map[string]string { return s.first().Everybody }

// Tablespace is one of the two places that there are, with its privileges. It is no
// part of a snapshot.
type Tablespace struct{ Common }

// Tablespaces returns the tablespaces.
func (s *Snapshot) Tablespaces() []*Tablespace {
	var out []*Tablespace
	for _, t := range []Common{{OID: OIDDefaultTablespace, Name: "pg_default"}, {OID: OIDGlobalTablespace, Name: "pg_global"}} {
		n := s.serverNote(OIDTablespaceClass, t.OID, "")
		t.Owner, t.ACL, t.Comment = s.first().Name, n.ACL, n.Comment
		out = append(out, &Tablespace{t})
	}
	return out
}

// Tablespace returns the tablespace of a name, or nil.
func (s *Snapshot) Tablespace(name string) *Tablespace {
	for _, t := range s.Tablespaces() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Parameter is a configuration parameter with its privileges. It is no part of a
// snapshot.
type Parameter struct{ Common }

// Parameter returns a parameter, by its name in lower case.
func (s *Snapshot) Parameter(name string) *Parameter {
	return &Parameter{Common{Name: name, Owner: s.first().Name, ACL: s.serverNote(OIDParameterClass, 0, name).ACL}}
}

// Parameters lists the parameters with privileges other than the default.
func (s *Snapshot) Parameters() []*Parameter {
	var out []*Parameter
	for _, n := range s.first().Notes {
		if n.Class == OIDParameterClass {
			out = append(out, s.Parameter(n.Name))
		}
	}
	return out
}

func (s *Snapshot) serverNote(class, oid types.OID, name string) SystemNote {
	for _, n := range s.first().Notes {
		if n.Class == class && n.OID == oid && n.Name == name {
			return n
		}
	}
	return SystemNote{}
}

// serverNoted changes what the server keeps about an object; a note that says nothing
// goes.
func (c *Change) serverNoted(class, oid types.OID, name string, change func(*SystemNote)) error {
	n := *c.snap.first()
	n.Notes = slices.Clone(n.Notes)
	at := slices.IndexFunc(n.Notes, func(x SystemNote) bool { return x.Class == class && x.OID == oid && x.Name == name })
	if at < 0 {
		at, n.Notes = len(n.Notes), append(n.Notes, SystemNote{Class: class, OID: oid, Name: name})
	}
	change(&n.Notes[at])
	if x := n.Notes[at]; x.ACL == nil && x.Comment == "" {
		n.Notes = slices.Delete(n.Notes, at, at+1)
	}
	return c.put(&n)
}

// CommentTablespace is COMMENT ON TABLESPACE.
func (c *Change) CommentTablespace(t *Tablespace, text string) error {
	return c.serverNoted(OIDTablespaceClass, t.OID, "", func(n *SystemNote) { n.Comment, n.Described = text, text != "" })
}

// GrantTablespace changes the privileges on a tablespace.
func (c *Change) GrantTablespace(t *Tablespace, g *GrantSpec) error {
	acl, err := c.changedACL(t, ACLTablespace, t.Name, -1, g.Privs, c.snap.EffectiveACL(t), g)
	if err != nil {
		return err
	}
	return c.serverNoted(OIDTablespaceClass, t.OID, "", func(n *SystemNote) { n.ACL = acl })
}

// GrantParameter changes the privileges on a parameter.
func (c *Change) GrantParameter(p *Parameter, g *GrantSpec) error {
	acl, err := c.changedACL(p, ACLParameter, p.Name, -1, g.Privs, c.snap.EffectiveACL(p), g)
	if err != nil {
		return err
	}
	if acl.Equal(DefaultACL(ACLParameter, p.Owner)) {
		acl = nil
	}
	return c.serverNoted(OIDParameterClass, 0, p.Name, func(n *SystemNote) { n.ACL = acl })
}

// SetEverybody changes the settings of all roles.
func (c *Change) SetEverybody(change func(map[string]string) (map[string]string, error)) error {
	n := *c.snap.first()
	m, err := change(n.Everybody)
	if err != nil {
		return err
	}
	n.Everybody = m
	return c.put(&n)
}

// serverLines says in which privileges on the server's objects a role is that is to be
// dropped.
func serverLines(notes []SystemNote, role string) (out []string) {
	for _, n := range notes {
		if !n.ACL.mentions(role) {
			continue
		}
		switch {
		case n.Class == OIDParameterClass:
			out = append(out, "privileges for parameter "+n.Name)
		case n.OID == OIDDefaultTablespace:
			out = append(out, "privileges for tablespace pg_default")
		default:
			out = append(out, "privileges for tablespace pg_global")
		}
	}
	return out
}
