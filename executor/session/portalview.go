package session

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// portalView is what a portal's run reads (S1): the transaction's state when the portal
// began. Later statements of the transaction see more.
type portalView struct {
	session *Session
	view    kv.View           // nil: there is no run that reads
	seen    *catalog.Snapshot // transaction.seen, which belongs to the view
	moves   uint64            // transaction.moves
	moved   int               // how many rows the transaction had moved
}

// open takes what the transaction sees now.
func (v *portalView) open(s *Session) (err error) {
	v.session, v.seen, v.moves, v.moved = s, s.tx.seen, s.tx.moves, len(s.tx.moved)
	v.view, err = s.tx.kv.View()
	return err
}

// renew takes what others have committed since.
func (v *portalView) renew() error {
	t := v.session.tx
	v.moves, v.moved = v.session.srv.Tables.Moves(), len(t.moved)
	if t.iso == kv.ReadCommitted {
		v.seen = v.session.srv.Catalog.Current()
	}
	return v.view.Renew()
}

// close gives the view up.
func (v *portalView) close() {
	if v.view != nil {
		v.view.Close()
		v.view = nil
	}
}

// enter makes the session's transaction, until leave is called, one that has seen what
// belongs to the view.
func (v *portalView) enter() (leave func()) {
	t := v.session.tx
	seen, before := t.seen, t.lobs.before
	t.seen, t.lobs.before = v.seen, v.view
	return func() { t.seen, t.lobs.before = seen, before }
}

// step returns the next rows of the portal's run. One that locks rows does so as of the
// view.
func (p *portalRows) step() (*vec.Batch, error) {
	defer p.enter()()
	if p.locking != nil {
		defer p.view.Enter()()
	}
	p.run.Formats(p.session.fmt())
	return p.run.Next()
}
