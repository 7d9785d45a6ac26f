package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// A definition takes the table locks that PostgreSQL takes for it, so that it waits for
// those that it waits for there. Besides, whoever changes what the catalog says about a
// table has the right to do so: the changed object is written as a whole, so that of two
// changes at once one would be lost, also where their table locks do not exclude each
// other.

// lock takes the right to define a table, and a table lock.
func (x *exec) lock(t *catalog.Table, m kv.TableLockMode) error {
	d, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	if err := d.LockDefined(x.Ctx, x.Txn, m, x.lockOpt()); err != nil {
		return err
	}
	return x.unmoved(t)
}

// commenting locks what gets a comment.
func (x *exec) commenting(o catalog.Object) error {
	switch o := o.(type) {
	case *catalog.Table:
		return x.lock(o, kv.ShareUpdateExclusive)
	case *catalog.Sequence:
		return x.holdSequence(o, kv.ShareUpdateExclusive)
	}
	return nil
}

// defining takes the right to define a table. Statements and locks of others do not
// meet it.
func (x *exec) defining(t *catalog.Table) error {
	d, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	if err := d.LockDefinition(x.Ctx, x.Txn, x.lockOpt()); err != nil {
		return err
	}
	return x.unmoved(t)
}

// hold takes a table lock alone, for who reads a table or keeps writers out of it.
func (x *exec) hold(t *catalog.Table, m kv.TableLockMode) error {
	d, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	if err := d.LockTable(x.Ctx, x.Txn, m, x.lockOpt()); err != nil {
		return err
	}
	return x.unmoved(t)
}

// holdSequence is lock for a sequence.
func (x *exec) holdSequence(q *catalog.Sequence, m kv.TableLockMode) error {
	if err := table.LockSequenceDefined(x.Ctx, x.Txn, q.OID, m, x.lockOpt()); err != nil {
		return err
	}
	return x.unmoved(q)
}

// definingSequence is defining for a sequence.
func (x *exec) definingSequence(q *catalog.Sequence) error {
	if err := table.LockSequenceDefinition(x.Ctx, x.Txn, q.OID, x.lockOpt()); err != nil {
		return err
	}
	return x.unmoved(q)
}

func (x *exec) unmoved(r catalog.Relation) error {
	if x.Moved != nil && x.Moved(r.ObjectOID()) {
		return ErrMoved
	}
	return nil
}

// alterLock is the lock that the actions of an ALTER TABLE take together.
func alterLock(actions []ast.AlterAction) kv.TableLockMode {
	m := kv.ShareUpdateExclusive
	for i := range actions {
		m = max(m, actionLock(&actions[i]))
	}
	return m
}

// actionLock is the lock that an action takes: readers are in the way of most, but not
// of those that change only how the table is planned, kept or checked.
func actionLock(a *ast.AlterAction) kv.TableLockMode {
	switch a.Kind {
	case "SET STATISTICS", "CLUSTER", "SET WITHOUT CLUSTER", "VALIDATE CONSTRAINT", "ATTACH PARTITION":
		return kv.ShareUpdateExclusive
	case "ENABLE TRIGGER ALL", "ENABLE TRIGGER USER", "DISABLE TRIGGER ALL", "DISABLE TRIGGER USER":
		return kv.ShareRowExclusive
	case "ADD CONSTRAINT":
		if a.Constraint != nil && a.Constraint.Kind == "FOREIGN KEY" {
			return kv.ShareRowExclusive
		}
	case "SET OPTIONS", "RESET OPTIONS":
		if a.Name != "" || !slices.ContainsFunc(a.Options, func(o ast.Option) bool { return !upkeepOption(o.Name) }) {
			return kv.ShareUpdateExclusive
		}
		if !slices.ContainsFunc(a.Options, func(o ast.Option) bool { return !upkeepOption(o.Name) && !layoutOption(o.Name) }) {
			return kv.Exclusive // while the rows are written anew: see layoutLock
		}
	}
	return kv.AccessExclusive
}

// layoutOption reports whether a storage parameter has the rows written anew, and changes
// nothing else.
func layoutOption(name string) bool {
	return name == "layout" || name == "groups" || name == "elements"
}

// layoutLock is the lock of an ALTER TABLE of which the strongest action changes the layout:
// others go on until the rows have been written anew, in files that nobody sees before the
// commit. Writers do so only if no other action keeps them out.
func (x *exec) layoutLock(t *catalog.Table, actions []ast.AlterAction) kv.TableLockMode {
	keepsOut := func(a ast.AlterAction) bool {
		m := actionLock(&a)
		return m > kv.ShareUpdateExclusive && m != kv.Exclusive
	}
	if x.copies(t) && !slices.ContainsFunc(actions, keepsOut) {
		return kv.ShareUpdateExclusive
	}
	return kv.Exclusive
}

// excludeAtEnd has the statement keep everybody out at its end, where the change of a layout
// has not done so from its beginning.
func (x *exec) excludeAtEnd(t *catalog.Table) {
	if x.level == kv.AccessExclusive || x.level == 0 {
		return
	}
	x.after = append(x.after, func() error {
		now, err := x.table(t.OID)
		if err != nil {
			return err
		}
		return x.hold(now, kv.AccessExclusive)
	})
}

// upkeepOption reports whether a storage parameter neither moves rows nor changes what
// statements read.
func upkeepOption(name string) bool {
	name = strings.TrimPrefix(strings.ToLower(name), "toast.")
	switch name {
	case "fillfactor", "parallel_workers", "toast_tuple_target", "vacuum_index_cleanup", "vacuum_truncate", "log_autovacuum_min_duration":
		return true
	}
	return strings.HasPrefix(name, "autovacuum_")
}
