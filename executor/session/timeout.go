package session

import (
	"context"
	"time"

	"kvsqld/catalog/sqlerr"
)

// statementClock runs while statement_timeout applies: from the message that begins
// a statement, over those that follow it, until it has run to its end, has failed, or
// Sync. A portal that is suspended does not stop it, and neither does a client that
// lets the server wait: the message that comes too late fails.
type statementClock struct{ due time.Time } // zero while it stands

// stop is for the end of a statement: the next one has all its time.
func (c *statementClock) stop() { c.due = time.Time{} }

// left starts the clock, if it stands and there is a limit, and returns the time that
// is left: 0 without a limit, negative when there is none.
func (c *statementClock) left(limit time.Duration) time.Duration {
	switch {
	case limit <= 0:
		c.stop()
		return 0
	case c.due.IsZero():
		c.due = time.Now().Add(limit)
		return limit
	}
	if d := time.Until(c.due); d != 0 {
		return d
	}
	return -1
}

// overdue is for messages that begin nothing.
func (c *statementClock) overdue() error {
	if c.due.IsZero() || time.Until(c.due) > 0 {
		return nil
	}
	return errStatementTimeout()
}

// timed applies statement_timeout and transaction_timeout to a call, or to one
// statement of several.
func (s *Session) timed(ctx context.Context) (context.Context, context.CancelFunc, error) {
	d, whole := s.clock.left(s.settings.stmtTimeout), s.transactionLeft()
	switch {
	case d < 0:
		return ctx, func() {}, errStatementTimeout()
	case whole > 0 && (d == 0 || whole < d):
		ctx, cancel := context.WithTimeoutCause(ctx, whole, errTransactionTimeout())
		return ctx, cancel, nil
	case d > 0:
		ctx, cancel := context.WithTimeoutCause(ctx, d, errStatementTimeout())
		return ctx, cancel, nil
	}
	return ctx, func() {}, nil
}

// transactionLeft is the time that transaction_timeout leaves to the open
// transaction, or to one that begins now; 0 without a timeout.
func (s *Session) transactionLeft() time.Duration {
	d := s.settings.txnTimeout
	if d > 0 && s.tx != nil {
		d = max(d-time.Since(s.tx.began), 1)
	}
	return d
}

func errStatementTimeout() *sqlerr.Error {
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
}

// errTransactionTimeout ends the connection, as later versions of PostgreSQL do.
func errTransactionTimeout() *sqlerr.Error {
	return fatal(sqlerr.TransactionTimeout, "terminating connection due to transaction timeout")
}
