package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Priv is a set of privileges, one bit each in PostgreSQL's order.
type Priv uint16

// The privileges.
const (
	PrivInsert Priv = 1 << iota
	PrivSelect
	PrivUpdate
	PrivDelete
	PrivTruncate
	PrivReferences
	PrivTrigger
	PrivExecute
	PrivUsage
	PrivCreate
	PrivTemp
	PrivConnect
	// These two are those of configuration parameters.
	PrivSet
	PrivAlterSystem
)

// privLetters are the letters of aclitem, by bit.
const privLetters = "arwdDxtXUCTcsA"

var privNames = []string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE", "CREATE",
	"TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"}

// Names lists the privileges of the set as GRANT names them.
func (p Priv) Names() []string {
	var out []string
	for i, n := range privNames {
		if p&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// PrivByName returns the privilege of a name as GRANT and has_…_privilege take
// it, in any case; 0 when there is none.
func PrivByName(name string) Priv {
	name = strings.ToUpper(strings.TrimSpace(name))
	if name == "TEMP" {
		return PrivTemp
	}
	if i := slices.Index(privNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// ACLKind is a kind of object with privileges, by the letter that
// pg_default_acl and acldefault give it.
type ACLKind byte

// The kinds.
const (
	ACLTable       ACLKind = 'r'
	ACLSequence    ACLKind = 's'
	ACLDatabase    ACLKind = 'd'
	ACLSchema      ACLKind = 'n'
	ACLFunction    ACLKind = 'f'
	ACLType        ACLKind = 'T'
	ACLLanguage    ACLKind = 'l'
	ACLColumn      ACLKind = 'c'
	ACLLargeObject ACLKind = 'L'
	ACLTablespace  ACLKind = 't'
	ACLParameter   ACLKind = 'p'
)

// All returns the privileges that objects of the kind have.
func (k ACLKind) All() Priv {
	switch k {
	case ACLTable:
		return PrivInsert | PrivSelect | PrivUpdate | PrivDelete | PrivTruncate | PrivReferences | PrivTrigger
	case ACLSequence:
		return PrivSelect | PrivUpdate | PrivUsage
	case ACLDatabase:
		return PrivCreate | PrivTemp | PrivConnect
	case ACLSchema:
		return PrivUsage | PrivCreate
	case ACLFunction:
		return PrivExecute
	case ACLType, ACLLanguage:
		return PrivUsage
	case ACLColumn:
		return PrivInsert | PrivSelect | PrivUpdate | PrivReferences
	case ACLTablespace:
		return PrivCreate
	case ACLParameter:
		return PrivSet | PrivAlterSystem
	case ACLLargeObject:
		return PrivSelect | PrivUpdate
	}
	return 0
}

// ACLItem is what one role (or everybody) was granted by another.
type ACLItem struct {
	Grantee string // "" for PUBLIC
	Grantor string
	Privs   Priv
	Grant   Priv // those of Privs that may be granted on
}

// ACL is an object's list of grants. A nil ACL stands for the default of the
// object's kind and owner (DefaultACL), an empty one for no privileges at all.
type ACL []ACLItem

// DefaultACL is what nil stands for.
func DefaultACL(kind ACLKind, owner string) ACL {
	var public Priv
	switch kind {
	case ACLColumn:
		return nil
	case ACLDatabase:
		public = PrivTemp | PrivConnect
	case ACLFunction:
		public = PrivExecute
	case ACLType, ACLLanguage:
		public = PrivUsage
	}
	var out ACL
	if public != 0 {
		out = append(out, ACLItem{Grantor: owner, Privs: public})
	}
	return append(out, ACLItem{Grantee: owner, Grantor: owner, Privs: kind.All()})
}

// Equal compares ACLs as sets of items.
func (a ACL) Equal(b ACL) bool {
	if len(a) != len(b) {
		return false
	}
	for _, it := range a {
		if !slices.Contains(b, it) {
			return false
		}
	}
	return true
}

// String is an item's form in aclitem[]: grantee=privileges/grantor.
func (it ACLItem) String() string {
	var b strings.Builder
	if it.Grantee != "" {
		b.WriteString(aclName(it.Grantee))
	}
	b.WriteByte('=')
	for i := range len(privLetters) {
		if it.Privs&(1<<i) != 0 {
			b.WriteByte(privLetters[i])
			if it.Grant&(1<<i) != 0 {
				b.WriteByte('*')
			}
		}
	}
	b.WriteByte('/')
	b.WriteString(aclName(it.Grantor))
	return b.String()
}

// Strings lists the items' texts.
func (a ACL) Strings() []string {
	out := make([]string, len(a))
	for i, it := range a {
		out[i] = it.String()
	}
	return out
}

// aclName quotes a role's name where it has other characters than letters,
// digits and underscores.
func aclName(name string) string {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// text is the form that XML keeps: items with spaces between them.
func (a ACL) text() string { return strings.Join(a.Strings(), " ") }

// ParseACLItem reads what ACLItem.String wrote and returns the rest of the text.
func ParseACLItem(s string) (it ACLItem, rest string, err error) {
	bad := func() (ACLItem, string, error) {
		return it, "", sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed ACL item: \"%s\"", clipName(s, 80))
	}
	name := func(s string) (string, string, bool) {
		if !strings.HasPrefix(s, `"`) {
			i := strings.IndexAny(s, "= /")
			if i < 0 {
				i = len(s)
			}
			return s[:i], s[i:], true
		}
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			if s[i] != '"' {
				b.WriteByte(s[i])
			} else if i+1 < len(s) && s[i+1] == '"' {
				b.WriteByte('"')
				i++
			} else {
				return b.String(), s[i+1:], true
			}
		}
		return "", "", false
	}
	var ok bool
	if it.Grantee, rest, ok = name(s); !ok || !strings.HasPrefix(rest, "=") {
		return bad()
	}
	var last Priv
	for rest = rest[1:]; rest != "" && rest[0] != '/'; rest = rest[1:] {
		if rest[0] == '*' {
			if last == 0 {
				return bad()
			}
			it.Grant |= last
			continue
		}
		i := strings.IndexByte(privLetters, rest[0])
		if i < 0 {
			return bad()
		}
		last = 1 << i
		it.Privs |= last
	}
	if rest == "" {
		return bad()
	}
	if it.Grantor, rest, ok = name(rest[1:]); !ok || it.Grantor == "" {
		return bad()
	}
	return it, rest, nil
}

// parseACL reads what text wrote.
func parseACL(s string) (ACL, error) {
	out := ACL{}
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		it, rest, err := ParseACLItem(s)
		if err != nil {
			return nil, err
		}
		out = append(out, it)
		s = rest
	}
	return out, nil
}

// rename returns the ACL with a role's name changed; items that become alike
// are merged.
func (a ACL) rename(old, new string) ACL {
	if a == nil {
		return nil
	}
	out := ACL{}
	for _, it := range a {
		if it.Grantee == old {
			it.Grantee = new
		}
		if it.Grantor == old {
			it.Grantor = new
		}
		out = out.add(it)
	}
	return out
}

// add merges an item into a copy of the list.
func (a ACL) add(it ACLItem) ACL {
	out := append(ACL{}, a...)
	for i := range out {
		if out[i].Grantee == it.Grantee && out[i].Grantor == it.Grantor {
			out[i].Privs |= it.Privs
			out[i].Grant |= it.Grant
			return out
		}
	}
	return append(out, it)
}

// mentions reports whether a role gave or got anything.
func (a ACL) mentions(role string) bool {
	return slices.ContainsFunc(a, func(it ACLItem) bool { return it.Grantee == role || it.Grantor == role })
}

// grantableBy returns the privileges that a grantee may grant on.
func (a ACL) grantableBy(grantee string) (grant Priv) {
	for _, it := range a {
		if it.Grantee == grantee {
			grant |= it.Grant
		}
	}
	return grant
}

// granted adds privileges that grantor gives. An owner's grants need no option;
// a role cannot give options back to whom it has them from.
func (a ACL) granted(owner string, it ACLItem) (ACL, error) {
	if it.Grant != 0 && it.Grantee != "" && it.Grantee != owner {
		if a.reaches(owner, it.Grantee, it.Grantor, it.Grant, 0) {
			return nil, sqlerr.New(sqlerr.InvalidGrantOperation, "grant options cannot be granted back to your own grantor")
		}
	}
	return a.add(it), nil
}

// reaches reports whether to has grant options only through from: then from
// cannot get them from to.
func (a ACL) reaches(owner, from, to string, options Priv, depth int) bool {
	if to == owner || depth > len(a) {
		return false
	}
	rest := ACL{}
	for _, it := range a {
		if it.Grantee == from || it.Grantor == from {
			continue
		}
		rest = append(rest, it)
	}
	// what is left without from must still let to grant, from the owner on
	held := map[string]Priv{owner: options}
	for range len(rest) + 1 {
		for _, it := range rest {
			held[it.Grantee] |= it.Grant & held[it.Grantor]
		}
	}
	return held[to]&options != options
}

// revoked takes privileges (or with optionOnly their grant options) away that
// grantor gave to grantee. What grantee gave on because of them goes with
// cascade and is an error otherwise.
func (a ACL) revoked(owner, grantee, grantor string, privs Priv, optionOnly, cascade bool) (ACL, error) {
	out, lost := ACL{}, Priv(0) // lost: the grant options that the item had
	for _, it := range a {
		if it.Grantee == grantee && it.Grantor == grantor {
			lost = it.Grant & privs
			it.Grant &^= privs
			if !optionOnly {
				it.Privs &^= privs
			}
			if it.Privs == 0 {
				continue
			}
		}
		out = append(out, it)
	}
	if grantee == "" || grantee == owner {
		return out, nil
	}
	lost &^= out.grantableBy(grantee)
	for lost != 0 {
		i := slices.IndexFunc(out, func(it ACLItem) bool { return it.Grantor == grantee && it.Privs&lost != 0 })
		if i < 0 {
			break
		}
		if !cascade {
			return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "dependent privileges exist").
				WithHint("Use CASCADE to revoke them too.")
		}
		var err error
		if out, err = out.revoked(owner, out[i].Grantee, grantee, lost, false, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}
