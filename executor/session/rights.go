package session

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// isSuper reports whether a role is a superuser.
func (s *Session) isSuper(name string) bool { return s.snapshot().IsSuper(name) }

// mayBecome reports whether the session user may SET ROLE to another role.
func (s *Session) mayBecome(name string) bool {
	return s.isSuper(s.sessionUser) || s.snapshot().IsMember(s.db, s.sessionUser, name)
}

// checkRights reports 42501 for the first function or relation that the current
// role may not use as a statement does, and before the relations the fault of the plan.
func (s *Session) checkRights(q *plan.Query) error {
	snap := s.snapshot()
	for _, f := range slices.Concat(q.Calls, q.Limited) {
		if err := s.mayExecute(f); err != nil {
			return err
		}
	}
	if q.Fault != nil { // found in planning, before anybody looks at tables' rights
		return q.Fault
	}
	for _, r := range q.Rights {
		if err := snap.CheckRight(s.user, r); err != nil {
			return err
		}
	}
	return nil
}

// mayExecute reports 42501 if the current role may not execute a function.
func (s *Session) mayExecute(f *catalog.Function) error {
	return s.snapshot().CheckPriv(s.user, f, catalog.PrivExecute)
}

// mayUse reports whether a schema of the search path is there and may be used.
func (s *Session) mayUse(snap *catalog.Snapshot, schema string) bool {
	n := snap.Schema(s.db, schema)
	if n == nil {
		return false
	}
	has, _ := snap.Privileges(s.user, n)
	return has&catalog.PrivUsage != 0
}

// usable checks that the current role may use the schema of a qualified name, if there is
// one of that name.
func (s *Session) usable(schema string) error {
	if schema = s.schemaName(schema); schema == s.tempName() {
		return nil
	}
	return s.snapshot().MayUseSchema(s.db, s.user, schema)
}

// mayDraw checks that the current role has one of the privileges on a sequence.
// Values for an identity column are drawn on behalf of the table: whoever may
// insert there may draw them.
func (s *Session) mayDraw(q *catalog.Sequence, any catalog.Priv) error {
	snap := s.snapshot()
	if has, _ := snap.Privileges(s.user, q); has&any != 0 {
		return nil
	}
	if t := snap.Table(q.OwnerTable); q.Identity && t != nil {
		if has, _ := snap.Privileges(s.user, t); has&catalog.PrivInsert != 0 {
			return nil
		}
		for i := range t.Columns {
			if has, _ := snap.ColumnPrivileges(s.user, t, i); has&catalog.PrivInsert != 0 {
				return nil
			}
		}
	}
	return snap.Denied(q)
}

// columnsOfRelation lists the live columns of a relation by number.
func columnsOfRelation(r catalog.Relation) []int {
	var out []int
	for i, c := range r.RelColumns() {
		if !c.Dropped {
			out = append(out, i)
		}
	}
	return out
}

// mayCopyInto checks COPY FROM's rights.
func (s *Session) mayCopyInto(r catalog.Relation, cols []int) error {
	if len(cols) == 0 {
		cols = columnsOfRelation(r)
	}
	return s.snapshot().CheckRight(s.user, &catalog.Right{Rel: r, Need: catalog.PrivInsert, Insert: slices.Clone(cols)})
}

// mayLock checks LOCK TABLE's rights: SELECT for the weakest mode; UPDATE, DELETE or
// TRUNCATE for the others, or INSERT for ROW EXCLUSIVE.
func (s *Session) mayLock(user string, r catalog.Relation, mode string) error {
	any := catalog.PrivUpdate | catalog.PrivDelete | catalog.PrivTruncate
	switch mode {
	case "ACCESS SHARE":
		any = catalog.PrivSelect
	case "ROW EXCLUSIVE":
		any |= catalog.PrivInsert
	}
	if has, _ := s.snapshot().Privileges(user, r); has&any == 0 {
		return s.snapshot().Denied(r)
	}
	return nil
}

// actAs makes another role the current one, as a function that is SECURITY
// DEFINER does for its body.
func (s *Session) actAs(role string) {
	s.user, s.path = role, pathCache{}
}
