package catalog

import (
	"strings"
	"sync"

	"kvsqld/catalog/types"
)

// Rule is a row of pg_rewrite that every database has.
type Rule struct {
	OID, Relation types.OID
	Name          string
	Event         byte
	Instead       bool
}

// Rules returns the rules of the system views.
var Rules = sync.OnceValue(func() (out []Rule) {
	for _, r := range readBuiltin("pg_rewrite", 5) {
		out = append(out, Rule{r.oid(0), r.oid(1), r[2], r.char(3), r.bool(4)})
	}
	return out
})

// Dependency is a row of pg_depend that every database has.
type Dependency struct {
	Class, OID       types.OID
	Sub              int
	RefClass, RefOID types.OID
	RefSub           int
	Kind             byte
}

// Dependencies calls f for what the built-in objects need that PostgreSQL does not pin:
// those of information_schema and text search. They are read rarely, and not kept.
func Dependencies(f func(Dependency)) {
	for _, r := range readBuiltin("pg_depend", 7) {
		f(Dependency{r.oid(0), r.oid(1), r.int(2), r.oid(3), r.oid(4), r.int(5), r.char(6)})
	}
}

// Toast names the TOAST table of a system table and its index.
type Toast struct{ Table, OID, Index types.OID }

// Toasts returns the TOAST tables of the system tables.
var Toasts = sync.OnceValue(func() (out []Toast) {
	for _, r := range readBuiltin("toast", 3) {
		out = append(out, Toast{r.oid(0), r.oid(1), r.oid(2)})
	}
	return out
})

var procACLs = sync.OnceValue(func() map[types.OID][]string {
	m := make(map[types.OID][]string)
	for _, r := range readBuiltin("pg_proc_acl", 2) {
		m[r.oid(0)] = strings.Fields(r[1])
	}
	return m
})

// ProcACL is the ACL of a built-in function that not everybody may call, whose owner is
// given; nil for the others.
func ProcACL(p types.OID, owner string) ACL {
	roles, ok := procACLs()[p]
	if !ok {
		return nil
	}
	acl := ACL{{Grantee: owner, Grantor: owner, Privs: PrivExecute}}
	for _, r := range roles {
		acl = append(acl, ACLItem{Grantee: r, Grantor: owner, Privs: PrivExecute})
	}
	return acl
}
