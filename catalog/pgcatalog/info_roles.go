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
		if me != nil && (me.Super || env.Snap.HasRole(env.DB, me.Name, r.Name)) {
			out = append(out, r)
		}
	}
	return out
}

func rowsEnabledRoles(w *writer) {
	for _, r := range w.env.enabled() {
		w.str(r.Name).end()
	}
}

func rowsApplicableRoles(w *writer) {
	for _, r := range w.env.enabled() {
		for _, of := range r.MemberOf {
			w.str(r.Name).str(of).yes(slices.Contains(r.AdminOf, of)).end()
		}
		// The owner of the database is a member of a role without being entered.
		if db, ok := w.env.Snap.Object(w.env.DB).(*catalog.Database); ok && db.Owner == r.Name {
			w.str(r.Name).str("pg_database_owner").yes(false).end()
		}
	}
}

func rowsAdministrableRoles(w *writer) {
	for _, r := range w.env.enabled() {
		for _, of := range r.AdminOf {
			w.str(r.Name).str(of).yes(true).end()
		}
	}
}
