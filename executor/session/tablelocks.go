package session

import (
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

func (s *Session) lockOpt() kv.LockOpt {
	o := kv.LockOpt{Wait: kv.WaitForever}
	if s.settings.lockTimeout > 0 {
		o.Wait = s.settings.lockTimeout
	}
	return o
}

// tableUse returns the plan's tables, then those that foreign keys lead to.
func tableUse(q *plan.Query, i int) *plan.TableUse {
	if i < len(q.Tables) {
		return &q.Tables[i]
	}
	return &q.KeyTables[i-len(q.Tables)]
}

// lockTables takes the locks of a plan's tables, but for partitions that it does not read
// with the given parameters, and with late those that rows may come to. It reports whether
// there are any of these.
func (s *Session) lockTables(ctx context.Context, q *plan.Query, params []types.Datum, late bool) (left bool, err error) {
	var last *plan.Prune
	var excluded []bool
	for i := range len(q.Tables) + len(q.KeyTables) {
		u := tableUse(q, i)
		if u.Late && late {
			left = true
			continue
		}
		if u.Prune != nil {
			if u.Prune != last {
				last, excluded = u.Prune, s.excluded(ctx, u.Prune, params)
			}
			if excluded != nil && excluded[u.Input] && (late || !u.Write) {
				left = left || u.Write
				continue
			}
		}
		m := kv.AccessShare
		switch {
		case u.Write:
			m = kv.RowExclusive
		case u.Lock || i >= len(q.Tables):
			m = kv.RowShare
		}
		if err := s.holdTable(ctx, u.Table, m); err != nil {
			return false, err
		}
	}
	return left, nil
}

// lockMember is executor.Env.LockMember. Where others have published definitions since the
// plan was made, the statement starts again, and locks all its tables first.
func (s *Session) lockMember(ctx context.Context, p *plannedStmt, t *catalog.Table) error {
	if err := s.holdTable(ctx, t, kv.RowExclusive); err != nil {
		return err
	}
	if s.srv.Catalog.Current() == p.snap {
		return nil
	}
	p.early = true
	return executor.ErrRetry
}

// excluded tells which inputs of an Append are not read; nil if that cannot be told.
func (s *Session) excluded(ctx context.Context, p *plan.Prune, params []types.Datum) []bool {
	x := &expr.Env{}
	s.fillExpr(ctx, x, params)
	out, err := executor.Excluded(x, p)
	if err != nil {
		return nil // the statement itself fails by it, or not
	}
	return out
}

func (s *Session) holdTable(ctx context.Context, t *catalog.Table, m kv.TableLockMode) error {
	d, err := s.srv.Tables.For(t)
	if err != nil {
		return err
	}
	return d.LockTable(ctx, s.tx.kv, m, s.lockOpt())
}
