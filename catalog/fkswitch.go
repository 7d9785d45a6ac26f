package catalog

import (
	"slices"

	"kvsqld/catalog/types"
)

// PostgreSQL enforces a foreign key by triggers on both tables, and DISABLE TRIGGER ALL
// turns off those of one table: what is written to it is not looked up, and what is
// removed from it may still be referenced.

// Unwatched reports whether rows of a referenced table may go, or change their key,
// without a look at who refers to them by the foreign key.
func (s *Snapshot) Unwatched(ref FKRef, referenced types.OID) bool {
	_, fk := s.RootKey(ref.Table, ref.FK)
	if x := fk.TargetFor(referenced); x != nil {
		return x.Unwatched
	}
	return fk.Unwatched
}

// SwitchedKeys returns the tables whose definition SwitchKeys changes.
func (s *Snapshot) SwitchedKeys(t *Table, only, off bool) []*Table {
	var out []*Table
	s.switchKeys(t, only, off, func(t *Table, _ *ForeignKey) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	})
	return out
}

// SwitchKeys turns the triggers of foreign keys on a table off or on, and those that are
// parts of them on the partitions below it unless only that table is meant.
func (c *Change) SwitchKeys(table types.OID, only, off bool) error {
	t, err := c.table(table)
	if err != nil {
		return err
	}
	now := map[types.OID][]*ForeignKey{}
	c.snap.switchKeys(t, only, off, func(t *Table, fk *ForeignKey) { now[t.OID] = append(now[t.OID], fk) })
	for oid, keys := range now {
		_, err := c.edit(oid, func(t *Table) error {
			for _, fk := range keys {
				i := slices.IndexFunc(t.ForeignKeys, func(x *ForeignKey) bool { return x.OID == fk.OID })
				t.ForeignKeys[i] = fk
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// switchKeys calls f with each foreign key that is different when the triggers of t are
// switched, and the table that it belongs to.
func (s *Snapshot) switchKeys(t *Table, only, off bool, f func(*Table, *ForeignKey)) {
	rows := []*Table{t}
	if !only {
		rows = append(rows, s.below(t.OID)...)
	}
	// The keys of the tables, and those that refer to one of them, each once: a key that
	// refers to its own table has triggers of both sides.
	var from []*Table
	var own []types.OID // the keys of t, and their parts
	for _, x := range rows {
		from = append(from, x)
		for _, fk := range x.ForeignKeys {
			if x == t || slices.Contains(own, fk.Parent) {
				own = append(own, fk.OID)
			}
		}
		for _, ref := range s.Referencing(t.DB, x.OID) {
			root, _ := s.RootKey(ref.Table, ref.FK)
			from = append(from, root)
		}
	}
	for i, x := range from {
		if slices.Contains(from[:i], x) {
			continue
		}
		for _, fk := range x.ForeignKeys {
			n := *fk
			if slices.Contains(own, fk.OID) {
				n.Unchecked = off
			}
			if fk.Parent == 0 {
				s.switchTargets(&n, rows, off)
			}
			if n.Unchecked != fk.Unchecked || n.Unwatched != fk.Unwatched || !slices.Equal(n.Targets, fk.Targets) {
				f(x, &n)
			}
		}
	}
}

// switchTargets switches the triggers of a foreign key on the referenced tables rows, the
// first of which was named.
func (s *Snapshot) switchTargets(fk *ForeignKey, rows []*Table, off bool) {
	names := func(t *Table) bool { return fk.RefTable == t.OID || fk.TargetFor(t.OID) != nil }
	if !names(rows[0]) {
		return
	}
	fk.Targets = slices.Clone(fk.Targets)
	for _, t := range rows {
		if x := fk.TargetFor(t.OID); x != nil {
			x.Unwatched = off
		} else if fk.RefTable == t.OID {
			fk.Unwatched = off
		}
	}
}
