package executor

import (
	"errors"
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/table"
)

// DeferredChecks collects the checks of deferred constraints of a transaction.
// A check names values, not rows, and looks at the state it finds when it runs,
// so that checks left over from a statement that was rolled back do no harm. It
// belongs to one session.
type DeferredChecks struct {
	all      *bool              // SET CONSTRAINTS ALL, nil: as declared
	modes    map[types.OID]bool // SET CONSTRAINTS name: deferred
	children []*fkCheck
	removed  []*fkEvent
	uniques  []*table.DeferredKeys
}

// DeferredMark is what a savepoint keeps of DeferredChecks.
type DeferredMark DeferredChecks

// Mark returns a savepoint; of nil, that of nothing.
func (d *DeferredChecks) Mark() DeferredMark {
	if d == nil {
		return DeferredMark{}
	}
	d.children, d.removed, d.uniques = slices.Clip(d.children), slices.Clip(d.removed), slices.Clip(d.uniques)
	m := DeferredMark(*d)
	m.modes = maps.Clone(d.modes)
	return m
}

// RollbackTo makes the checks, and which of them wait, what they were at the mark.
func (d *DeferredChecks) RollbackTo(m DeferredMark) {
	*d = DeferredChecks(m)
	d.modes = maps.Clone(m.modes)
}

// Pending reports whether checks wait because of rows of a table that is locked
// against writers. Keys that are unique already need no check any more.
func (d *DeferredChecks) Pending(env *Env, t types.OID) (bool, error) {
	if slices.ContainsFunc(d.children, func(c *fkCheck) bool { return c.child.OID == t }) ||
		slices.ContainsFunc(d.removed, func(e *fkEvent) bool { return e.parent.OID == t }) {
		return true, nil
	}
	var rest []*table.DeferredKeys
	for _, k := range d.uniques {
		if k.Table.OID != t {
			rest = append(rest, k)
			continue
		}
		err := verifyUnique(env, k)
		if e := new(sqlerr.Error); errors.As(err, &e) && (e.Code == sqlerr.UniqueViolation || e.Code == sqlerr.ExclusionViolation) {
			return true, nil
		}
		if err != nil {
			return false, wrapErr(env.Ctx, err)
		}
	}
	d.uniques = rest
	return false, nil
}

// Set is SET CONSTRAINTS: it makes the constraints (nil: all that are
// deferrable) deferred or immediate until the transaction ends. After making
// them immediate the caller runs Check.
func (d *DeferredChecks) Set(constraints []types.OID, deferred bool) {
	if constraints == nil {
		d.all, d.modes = &deferred, nil
		return
	}
	if d.modes == nil {
		d.modes = make(map[types.OID]bool)
	}
	for _, o := range constraints {
		d.modes[o] = deferred
	}
}

// Empty reports whether there is nothing to check.
func (d *DeferredChecks) Empty() bool {
	return d == nil || len(d.children) == 0 && len(d.removed) == 0 && len(d.uniques) == 0
}

// takes reports whether the foreign key's checks wait for the commit.
func (d *DeferredChecks) takes(fk *catalog.ForeignKey) bool {
	return d.waits(fk.OID, fk.Deferrable, fk.InitiallyDeferred)
}

// waits reports whether a constraint's checks wait for the commit.
func (d *DeferredChecks) waits(constraint types.OID, deferrable, initially bool) bool {
	if d == nil || !deferrable {
		return false
	}
	if m, ok := d.modes[constraint]; ok {
		return m
	}
	if d.all != nil {
		return *d.all
	}
	return initially
}

// uniqueOf returns the constraint whose keys are to be checked.
func uniqueOf(k *table.DeferredKeys) *catalog.Unique {
	for _, u := range k.Table.Uniques {
		if u.Index == k.Index.OID {
			return u
		}
	}
	return &catalog.Unique{}
}

// verifyUnique checks keys of a deferrable unique or an exclusion constraint, unless
// the constraint is gone.
func verifyUnique(env *Env, k *table.DeferredKeys) error {
	t := env.Snap.Table(k.Table.OID)
	if t == nil || t.IndexByOID(k.Index.OID) == nil {
		return nil
	}
	desc, err := env.Tables.For(t)
	if err != nil {
		return err
	}
	if ix := t.IndexByOID(k.Index.OID); t.Exclusion(ix) != nil {
		ex, err := env.TableExprs(t)
		if err != nil {
			return err
		}
		e, err := NewExcluded(t, ix, ex, env.Expr)
		if err != nil {
			return err
		}
		return desc.VerifyExcluded(env.Ctx, env.Txn, k, e, lockOpt(env))
	}
	return desc.VerifyUnique(env.Ctx, env.Txn, k, lockOpt(env))
}

func (d *DeferredChecks) addChild(c *fkCheck) { d.children = append(d.children, c) }

func (d *DeferredChecks) addRemoved(e *fkEvent) { d.removed = append(d.removed, e) }

// Check runs the checks of the constraints that are not deferred (any more), or
// all of them at the end of the transaction, and forgets them; after ErrRetry they are
// all still there, to be run on a new snapshot.
func (d *DeferredChecks) Check(env *Env, end bool) (err error) {
	if d.Empty() {
		return nil
	}
	children, removed, uniques := d.children, d.removed, d.uniques
	defer func() {
		if errors.Is(err, ErrRetry) {
			d.children, d.removed, d.uniques = children, removed, uniques
		}
	}()
	d.children, d.removed, d.uniques = nil, nil, nil
	for _, k := range uniques {
		if u := uniqueOf(k); !end && d.waits(u.OID, u.Deferrable, u.InitiallyDeferred) {
			d.uniques = append(d.uniques, k)
		} else if err := verifyUnique(env, k); err != nil {
			return wrapErr(env.Ctx, err)
		}
	}
	for _, c := range children {
		if !end && d.takes(c.fk) {
			d.children = append(d.children, c)
		} else if c.dropped(env) {
			continue
		} else if _, err := c.verify(env, true); err != nil {
			return wrapErr(env.Ctx, err)
		}
	}
	for _, e := range removed {
		if !end && d.takes(e.ref.FK) {
			d.removed = append(d.removed, e)
		} else if x := e.now(env); x == nil {
			continue // the transaction itself has dropped the constraint
		} else if err := x.verify(env); err != nil {
			return wrapErr(env.Ctx, err)
		}
	}
	return nil
}

// dropped reports whether the transaction itself has dropped the constraint, maybe
// with the referenced table.
func (c *fkCheck) dropped(env *Env) bool {
	t := env.Snap.Table(c.child.OID)
	return t == nil || !slices.ContainsFunc(t.ForeignKeys, func(fk *catalog.ForeignKey) bool { return fk.OID == c.fk.OID })
}

// now is the event for the constraint as it is by now: the transaction may have
// altered the referencing table since; nil without the constraint.
func (e *fkEvent) now(env *Env) *fkEvent {
	for _, ref := range env.Snap.Referencing(env.DB, e.parent.OID) {
		if ref.FK.OID == e.ref.FK.OID && ref.Table.OID == e.ref.Table.OID {
			x := *e
			x.ref = ref
			return &x
		}
	}
	return nil
}
