package session

import (
	"context"

	"kvsqld/executor/ddl"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// beside is ddl.Env.Beside: nil for a statement in a transaction block or in a function, or
// with others in one transaction, because a copy that is made beside it must be of the
// committed table.
func (s *Session) beside(ctx context.Context, c *call) *ddl.Beside {
	if s.block != idle || c.several || c.pipelined || s.depth > 0 {
		return nil
	}
	t := s.tx
	return &ddl.Beside{
		Begin: func() (kv.Txn, error) {
			return s.srv.Store.Begin(ctx, s.beginOpt(kv.ReadCommitted, false))
		},
		Watch:   func(spaces ...kv.Space) (kv.Watch, error) { return s.srv.Store.Watch(ctx, spaces...) },
		Scratch: func(d *table.Desc) { t.scratch = append(t.scratch, d) },
	}
}

// dropScratch drops what a transaction that has not committed has left.
func (s *Session) dropScratch(t *transaction) {
	if len(t.scratch) == 0 {
		return
	}
	ctx := context.Background() // also of a statement that was cancelled
	err := func() error {
		tx, err := s.srv.Store.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, d := range t.scratch {
			if err := d.DropScratch(ctx, tx); err != nil {
				return err
			}
		}
		tx.SetDurability(kv.Lazy) // a start drops them, too
		return tx.Commit(ctx)
	}()
	if err != nil {
		s.srv.opts.Logger.Warn("files of a copied table were not dropped", "error", err)
	}
	t.scratch = nil
}
