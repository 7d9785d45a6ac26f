package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
)

// enabled returns the roles that the user has: its own and those it is a member
// of; a superuser has all.
func (env *Env) enabled() []*catalog.Role {
	me := env.Snap.Role(env.User)
	var out []*catalog.Role
	for _, r := range env.Snap.Roles() {
		if me != nil && (me.Super || env.memberOf(me, r.Name, 0)) {
			out = append(out, r)
		}
	}
	return out
}

// memberOf reports whether a role is another or a member of it, also through
// others. Memberships are followed up to a depth, since they may form a circle.
func (env *Env) memberOf(r *catalog.Role, name string, depth int) bool {
	const maxDepth = 64
	if r.Name == name {
		return true
	}
	if depth == maxDepth {
		return false
	}
	return slices.ContainsFunc(r.MemberOf, func(m string) bool {
		of := env.Snap.Role(m)
		return of != nil && env.memberOf(of, name, depth+1)
	})
}

func rowsEnabledRoles(w *writer) {
	for _, r := range w.env.enabled() {
		w.str(r.Name).end()
	}
}

func rowsApplicableRoles(w *writer) {
	for _, r := range w.env.enabled() {
		for _, of := range r.MemberOf {
			w.str(r.Name).str(of).yes(false).end()
		}
	}
}

// rowsAdministrableRoles has no rows: memberships are granted without ADMIN
// OPTION.
func rowsAdministrableRoles(*writer) {}
