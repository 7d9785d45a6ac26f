package session

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

var lockModes = map[string]kv.TableLockMode{
	"ACCESS SHARE": kv.AccessShare, "ROW SHARE": kv.RowShare, "ROW EXCLUSIVE": kv.RowExclusive,
	"SHARE UPDATE EXCLUSIVE": kv.ShareUpdateExclusive, "SHARE": kv.Share, "SHARE ROW EXCLUSIVE": kv.ShareRowExclusive,
	"EXCLUSIVE": kv.Exclusive, "ACCESS EXCLUSIVE": kv.AccessExclusive,
}

// lockStmt runs LOCK TABLE.
func (s *Session) lockStmt(ctx context.Context, x *ast.LockTable, c *call) error {
	if s.block == idle && !c.several {
		return noBlock("LOCK TABLE")
	}
	mode, ok := lockModes[x.Mode]
	if !ok {
		mode = kv.AccessExclusive
	}
	o := s.lockOpt()
	if x.NoWait {
		o.Wait = 0
	}
	if mode == kv.AccessExclusive { // as PostgreSQL, whose standby servers are told of it
		if _, err := s.tx.kv.Number(); err != nil {
			return err
		}
	}
	l := tableLocker{s: s, ctx: ctx, stmt: x, mode: mode, o: o, seen: map[types.OID]bool{}}
	for i := range x.Tables {
		r, err := s.mustRelation(&x.Tables[i].Name)
		if err != nil {
			if _, ix := s.findIndex(&x.Tables[i].Name); ix != nil && sqlerr.CodeOf(err) == sqlerr.WrongObjectType {
				err = errNoLock(x.Tables[i].Name.Last(), "indexes")
			}
			return err
		}
		if err := l.relation(r, &x.Tables[i]); err != nil {
			return err
		}
	}
	return s.rebase()
}

// tableLocker takes the locks of a LOCK TABLE.
type tableLocker struct {
	s    *Session
	ctx  context.Context
	stmt *ast.LockTable
	mode kv.TableLockMode
	o    kv.LockOpt
	seen map[types.OID]bool // views that have been entered
}

// relation locks what a name of the statement stands for.
func (l *tableLocker) relation(r catalog.Relation, name *ast.TableRef) error {
	if err := l.s.mayLock(l.s.user, r, l.stmt.Mode); err != nil {
		return err
	}
	switch r := r.(type) {
	case *catalog.Table:
		return l.table(r, name.Only)
	case *catalog.View:
		if r.Materialized != nil {
			return errNoLock(r.Name, "materialized views")
		}
		return l.view(r, l.s.user)
	case *catalog.Sequence:
		return errNoLock(name.Name.Last(), "sequences")
	}
	if l.mode == kv.AccessShare {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation \"%s\"", name.Name.Last())
}

// table locks a table and, unless only it is wanted, all below it.
func (l *tableLocker) table(t *catalog.Table, only bool) error {
	tree := []*catalog.Table{t}
	if !only {
		tree = l.s.snapshot().Tree(t)
	}
	for _, t := range tree {
		_, err := l.s.whereItIs(t, func(d *table.Desc) (*catalog.Table, error) {
			if err := l.taken(t.Name, d.LockTable(l.ctx, l.s.tx.kv, l.mode, l.o)); err != nil {
				return nil, err
			}
			if err := l.s.rebase(); err != nil {
				return nil, err
			}
			return storageOf(l.s.snapshot(), t), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// taken names the relation in the error of a NOWAIT that found it locked.
func (l *tableLocker) taken(name string, err error) error {
	if err != nil && l.stmt.NoWait && asSQLCode(l.ctx, err) == sqlerr.LockNotAvailable {
		return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation \"%s\"", name)
	}
	return err
}

// view locks a view, and the tables and views that it reads as far as its owner may, or
// the user where the view says so.
func (l *tableLocker) view(v *catalog.View, user string) error {
	if l.seen[v.OID] {
		return nil
	}
	l.seen[v.OID] = true
	if err := l.taken(v.Name, table.LockView(l.ctx, l.s.tx.kv, v.OID, l.mode, l.o)); err != nil {
		return err
	}
	if !catalog.BoolOption(v.Options.Value(catalog.OptSecurityInvoker)) {
		user = v.Owner
	}
	for _, oid := range v.Deps {
		switch r := l.s.snapshot().Object(oid).(type) {
		case *catalog.Table:
			if err := l.s.mayLock(user, r, l.stmt.Mode); err != nil {
				return err
			}
			if err := l.table(r, false); err != nil {
				return err
			}
		case *catalog.View:
			if r.Materialized != nil {
				continue
			}
			if err := l.s.mayLock(user, r, l.stmt.Mode); err != nil {
				return err
			}
			if err := l.view(r, user); err != nil {
				return err
			}
		}
	}
	return nil
}

func errNoLock(name, kind string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation \"%s\"", name).
		WithDetail("This operation is not supported for %s.", kind)
}

func asSQLCode(ctx context.Context, err error) sqlerr.Code { return sqlerr.CodeOf(asSQL(ctx, err)) }

// setConstraints runs SET CONSTRAINTS.
func (s *Session) setConstraints(ctx context.Context, x *ast.SetConstraints) error {
	t := s.tx
	if t.deferred == nil {
		t.deferred = new(executor.DeferredChecks)
	}
	var oids []types.OID
	for i := range x.Names {
		found, err := s.deferrable(&x.Names[i], x.Deferred)
		if err != nil {
			return err
		}
		oids = append(oids, found...)
	}
	t.deferred.Set(oids, x.Deferred)
	if x.Deferred {
		return nil
	}
	return s.again(ctx, func() error { return t.deferred.Check(s.plainEnv(ctx), false) })
}

// deferrable finds the deferrable constraints of a name, in the first schema of the
// path that has any constraint of it, with those of partitions that are parts of
// them. With must, one that is not deferrable is an error.
func (s *Session) deferrable(n *ast.Name, must bool) ([]types.OID, error) {
	if err := s.checkCatalogName(n); err != nil {
		return nil, err
	}
	snap, path := s.snapshot(), s.searchPath(true)
	if sch := n.Schema(); sch != "" {
		path = []string{s.schemaName(sch)}
		switch {
		case path[0] == s.tempSchema():
		case snap.Schema(s.db, path[0]) == nil:
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", sch)
		case !s.mayUse(snap, path[0]):
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", sch)
		}
	}
	for _, schema := range path {
		found := false
		var out []types.OID
		for _, t := range snap.Tables(s.db) {
			if t.Schema != schema {
				continue
			}
			for _, c := range constraintsOf(t) {
				switch {
				case c.name != n.Last():
					continue
				case c.deferrable:
					out = append(out, c.oid)
				case must:
					return nil, sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" is not deferrable", n.Last())
				}
				found = true
			}
			for _, part := range snap.Tree(t)[1:] {
				for _, c := range constraintsOf(part) {
					if c.parent != 0 && slices.Contains(out, c.parent) && !slices.Contains(out, c.oid) {
						out = append(out, c.oid)
					}
				}
			}
		}
		if found {
			return out, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist", n.Last())
}

// constraintName is what SET CONSTRAINTS asks of a table's constraint.
type constraintName struct {
	name        string
	oid, parent types.OID
	deferrable  bool
}

func constraintsOf(t *catalog.Table) []constraintName {
	var out []constraintName
	for _, fk := range t.ForeignKeys {
		out = append(out, constraintName{fk.Name, fk.OID, fk.Parent, fk.Deferrable})
	}
	for _, u := range t.Uniques {
		out = append(out, constraintName{u.Name, u.OID, u.Parent, u.Deferrable})
	}
	for _, c := range t.Checks {
		out = append(out, constraintName{name: c.Name, oid: c.OID})
	}
	return out
}

// plainEnv is an executor's environment without a statement.
func (s *Session) plainEnv(ctx context.Context) *executor.Env {
	env, x := &executor.Env{}, &expr.Env{}
	s.fillEnv(ctx, env, x, &plannedStmt{q: &plan.Query{ReadOnly: true}, snap: s.snapshot()}, nil)
	return env
}
