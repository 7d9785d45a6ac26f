package session

import (
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
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
	for i := range x.Tables {
		r, err := s.mustRelation(&x.Tables[i].Name)
		if err != nil {
			if _, ix := s.findIndex(&x.Tables[i].Name); ix != nil && sqlerr.CodeOf(err) == sqlerr.UndefinedTable {
				err = errNoLock(x.Tables[i].Name.Last(), "indexes")
			}
			return err
		}
		if err := s.mayLock(r, x.Mode); err != nil {
			return err
		}
		t, ok := r.(*catalog.Table)
		if !ok {
			v, view := r.(*catalog.View)
			switch {
			case view && v.Materialized != nil:
				return errNoLock(v.Name, "materialized views")
			case view || mode == kv.AccessShare:
				continue // what a view reads is locked when it is read
			}
			if _, seq := r.(*catalog.Sequence); seq {
				return errNoLock(x.Tables[i].Name.Last(), "sequences")
			}
			return sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation \"%s\"", x.Tables[i].Name.Last())
		}
		d, err := s.srv.Tables.For(t)
		if err != nil {
			return err
		}
		if err := d.LockTable(ctx, s.tx.kv, mode, o); err != nil {
			if x.NoWait && asSQLCode(ctx, err) == sqlerr.LockNotAvailable {
				return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation \"%s\"", t.Name)
			}
			return err
		}
	}
	return s.rebase()
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
	return t.deferred.Check(s.plainEnv(ctx), false)
}

// deferrable finds the deferrable constraints of a name; there must be one where
// they are to be deferred.
func (s *Session) deferrable(n *ast.Name, must bool) ([]types.OID, error) {
	path := s.searchPath(false)
	if sch := n.Schema(); sch != "" {
		if path = []string{s.schemaName(sch)}; s.snapshot().Schema(s.db, path[0]) == nil {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", sch)
		}
	}
	var out []types.OID
	found := false
	for _, t := range s.snapshot().Tables(s.db) {
		in := false
		for _, p := range path {
			in = in || t.Schema == p
		}
		if !in {
			continue
		}
		for _, fk := range t.ForeignKeys {
			if _, root := s.snapshot().RootKey(t, fk); fk.Name == n.Last() || root.Name == n.Last() {
				found = true
				if fk.Deferrable {
					out = append(out, fk.OID)
				}
			}
		}
		for _, u := range t.Uniques {
			if u.Name == n.Last() {
				found = true
				if u.Deferrable {
					out = append(out, u.OID)
				}
			}
		}
	}
	switch {
	case !found:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist", n.Last())
	case len(out) == 0 && must:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" is not deferrable", n.Last())
	}
	return out, nil
}

// plainEnv is an executor's environment without a statement.
func (s *Session) plainEnv(ctx context.Context) *executor.Env {
	env, x := &executor.Env{}, &expr.Env{}
	s.fillEnv(ctx, env, x, &plannedStmt{q: &plan.Query{ReadOnly: true}, snap: s.snapshot()}, nil)
	return env
}
