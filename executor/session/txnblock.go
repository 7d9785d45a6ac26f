package session

import (
	"context"
	"errors"
	"maps"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// block says what the client believes about its transaction.
type block uint8

const (
	idle    block = iota // no block; s.tx may be an implicit transaction
	inBlock              // between BEGIN and COMMIT
	failed               // in a block after an error
)

// transaction is an open transaction. A failed block may have none left.
type transaction struct {
	kv       kv.Txn
	iso      kv.Isolation
	readOnly bool
	dirty    bool    // READ UNCOMMITTED was asked for: it is shown, and is READ COMMITTED
	initial  txModes // before BEGIN and SET TRANSACTION said something
	waitSafe bool    // DEFERRABLE
	used     bool    // a statement has run: the isolation level is fixed
	start    int64
	began    time.Time
	fmtBuf   types.FmtOpts
	fmt      *types.FmtOpts

	change    *catalog.Change    // nil until the first DDL statement
	base      *catalog.Snapshot  // that change stands on
	seen      *catalog.Snapshot  // when the first statement began: not newer than what kv reads
	first     bool               // this is the first statement
	moves     uint64             // table.DB.Moves of before the statement's snapshot
	blurred   bool               // definitions that are not in seen may belong to what kv reads
	newer     map[types.OID]bool // tables with an index, made by this transaction, that does not fit what kv reads
	rewrites  int                // grows with DDL, for cached plans
	saves     []savepoint
	deferred  *executor.DeferredChecks
	running   *kv.Running // what pg_current_snapshot has told of commit runningAt
	runningAt uint64
	notes     []notification
	noteAt    map[notification]int // places in notes, when they are many
	noteBytes int64
	listens   []*ast.Listen // that hold from its commit
	deltas    map[types.OID]rowDelta
	restarts  []*restart
	moved     movedRows
	drawn     []types.OID // the sequences that are locked to be drawn from
	lobs      lobs
	exports   []string          // the snapshots that others may import
	exportNo  uint32            // the transaction's part of their identifiers
	temp      bool              // the schema for temporary objects was begun
	emptied   map[types.OID]int // the savepoints that were open when a TRUNCATE named a table, for COPY FREEZE
	uncounted []uncounted       // by TRUNCATE, in order
	scratch   []*table.Desc     // whose files are scratch unless the transaction commits
}

// restart is the state of a sequence that the transaction has changed. Others see
// it when the transaction has committed.
type restart struct {
	seq types.OID
	table.SeqState
}

// restarted returns the transaction's own state of a sequence, or nil.
func (t *transaction) restarted(seq types.OID) *restart {
	if t != nil {
		for i := len(t.restarts) - 1; i >= 0; i-- {
			if t.restarts[i].seq == seq {
				return t.restarts[i]
			}
		}
	}
	return nil
}

// rowDelta is what a transaction did to a table's number of rows, since TRUNCATE where
// that emptied it; then known is the number of the statistics, from which the counters
// count.
type rowDelta struct {
	delta, changed int64
	emptied        bool
	known          int64
}

// savepoint is a named mark in everything that a transaction changes.
type savepoint struct {
	name     string
	kv       int
	change   catalog.ChangeMark
	changed  bool
	settings int
	notes    int
	listens  int
	restarts int
	moved    int
	deltas   map[types.OID]rowDelta
	readOnly bool
	snap     *catalog.Snapshot // when it was set
	deferred executor.DeferredMark
	locks    kv.LockMark
	advisory advisoryMark
}

func (t *transaction) useFmt(o *types.FmtOpts) {
	c := *o
	c.Now = t.start
	t.fmt = &c
}

// errFailedBlock refuses a statement in a failed block.
func errFailedBlock() error {
	return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// ensureTx opens a transaction if none is open.
func (s *Session) ensureTx(ctx context.Context) error {
	if s.tx != nil {
		return nil
	}
	_, err := s.openTx(ctx, s.settings.newIso, s.settings.newReadOnly)
	return err
}

func (s *Session) openTx(ctx context.Context, iso kv.Isolation, readOnly bool) (*transaction, error) {
	opt := s.beginOpt(iso, readOnly)
	t := s.spent
	if s.spent = nil; t != nil {
		opt.Spent = t.kv
	} else {
		t = new(transaction)
	}
	k, err := s.beginKV(ctx, opt)
	if err != nil {
		return nil, err
	}
	*t = transaction{kv: k, iso: iso, readOnly: readOnly, began: s.received, start: s.stmtStart,
		dirty: s.settings.newDirty, waitSafe: s.settings.newDefer}
	t.initial = txModes{iso, readOnly, t.waitSafe, t.dirty}
	t.fmtBuf = *s.settings.fmt
	t.fmtBuf.Now = t.start
	t.fmt = &t.fmtBuf
	s.tx = t
	return t, nil
}

// beginKV begins the store's part of a transaction and lets others see it.
func (s *Session) beginKV(ctx context.Context, o kv.BeginOpt) (kv.Txn, error) {
	a := &s.activity
	a.mu.Lock() // others may look at the one that is used again
	defer a.mu.Unlock()
	k, err := s.srv.Store.Begin(ctx, o)
	if err != nil {
		return nil, err
	}
	a.xact, a.xactStart = k, s.stmtStart
	a.xacts++
	return k, nil
}

// snapshot is the catalog as the session's statements see it now.
func (s *Session) snapshot() *catalog.Snapshot {
	if s.tx != nil && s.tx.change != nil {
		return s.tx.change.Snapshot()
	}
	return s.srv.Catalog.Current()
}

// rebase brings the catalog that an open DDL transaction sees up to date.
func (s *Session) rebase() error {
	t := s.tx
	if t == nil || t.change == nil {
		return nil
	}
	cur := s.srv.Catalog.Current()
	if t.base == cur {
		return nil
	}
	if err := t.change.Rebase(cur); err != nil {
		return err
	}
	t.base = cur
	return nil
}

// look opens what a transaction that keeps its snapshot reads, and remembers the
// definitions that belong to it. Those of a commit are published a moment after its
// rows: while there is such a commit nobody knows whether they belong to it.
func (s *Session) look() {
	t := s.tx
	if !t.first || !t.blurred || t.iso == kv.ReadCommitted {
		return
	}
	t.seen = s.srv.Catalog.Current()
	t.kv.Seq()
	t.blurred = s.srv.defining.Load() > 0 || s.srv.Catalog.Current() != t.seen
}

// newStatement prepares the open transaction for its next statement: in READ
// COMMITTED it will see what others have committed meanwhile.
func (s *Session) newStatement(ctx context.Context) error {
	t := s.tx
	t.moves = s.srv.Tables.Moves()
	if t.used && t.iso == kv.ReadCommitted {
		if err := t.kv.Refresh(ctx); err != nil {
			return err
		}
	}
	if t.first = !t.used; t.first {
		if err := s.awaitSafe(ctx); err != nil {
			return err
		}
		t.seen, t.blurred = s.srv.Catalog.Current(), true
	} else if t.iso == kv.ReadCommitted {
		t.seen = s.srv.Catalog.Current() // for who imports what the statement reads
	}
	t.used, t.lobs.before = true, nil
	return s.rebase()
}

// awaitSafe gives a SERIALIZABLE READ ONLY DEFERRABLE transaction its snapshot.
func (s *Session) awaitSafe(ctx context.Context) error {
	t := s.tx
	if !t.waitSafe || !t.readOnly || t.iso != kv.Serializable {
		return nil
	}
	return asSQL(ctx, t.kv.AwaitSafe(ctx))
}

// writable fails with 25006 in a read-only transaction.
func (s *Session) writable(what string) error {
	if s.readOnly() {
		return sqlerr.New(sqlerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", what)
	}
	return nil
}

// commit ends the open transaction. After an error nothing of it has happened
// and no transaction is open.
func (s *Session) commit(ctx context.Context) error {
	t := s.tx
	if t == nil {
		s.dropPortals()
		s.endSettings(true)
		return nil
	}
	s.endExports()
	err := s.holdCursors(ctx)
	if err == nil && t.deferred != nil {
		err = table.Explain(s.checkDeferred(ctx), s.settings.fmt, s.indexExpr) // SET LOCAL ends with the transaction
	}
	s.dropPortals()
	t.lobs.closeFrom(0)
	if err == nil && len(s.onCommit) > 0 {
		err = s.runOnCommit(ctx)
	}
	for i := 0; err == nil && i < len(t.restarts); i++ {
		r := t.restarts[i]
		if _, is := s.snapshot().Object(r.seq).(*catalog.Sequence); is { // was not dropped since
			err = s.srv.Tables.RestartSequence(t.kv, r.seq, r.SeqState)
		}
	}
	if err == nil && len(t.notes) > 0 {
		err = s.srv.notify.room(t.notes)
	}
	if err == nil {
		if len(t.deltas) > 0 {
			t.kv.OnCommit(func() { s.committed(t) })
		}
		var delta *catalog.Delta
		if t.change != nil {
			if len(t.notes) > 0 || !t.change.Delta().Empty() {
				delta = t.change.Delta()
			}
			if err = s.rebase(); err == nil && t.iso == kv.ReadCommitted {
				err = t.kv.Refresh(ctx)
			}
		}
		if delta.Empty() {
			t.kv.SetDurability(s.settings.durability)
		}
		if err == nil {
			err = s.srv.commit(ctx, t.kv, delta)
		}
	}
	t.kv.Rollback()
	s.tx = nil
	if err != nil {
		s.dropScratch(t)
		t.recount(&s.tally, -1)
	}
	s.flushCounts(err == nil)
	s.block = idle
	s.endSettings(err == nil)
	s.endTxnLocks()
	if err == nil && t.plain() && s.portals.empty() {
		t.seen = nil
		s.spent = t
		return nil
	}
	if err == nil && len(t.listens) > 0 {
		s.srv.notify.follow(s, t.listens)
	}
	if err == nil && len(t.notes) > 0 {
		s.srv.notify.publish(s, t.notes)
	}
	if err == nil {
		for oid := range t.deltas {
			s.srv.noticeChanges(oid)
		}
	}
	return asSQL(ctx, err)
}

// plain reports whether the transaction, which has ended, did nothing but read: then
// nobody has a pointer to it, or to what it had, but for portals that are still open.
func (t *transaction) plain() bool {
	return t.change == nil && t.deferred == nil && t.exportNo == 0 &&
		len(t.notes) == 0 && len(t.listens) == 0 && len(t.deltas) == 0 && len(t.restarts) == 0 && len(t.saves) == 0
}

// committed publishes the counters of rows; it runs before others see the data.
func (s *Session) committed(t *transaction) {
	for oid, d := range t.deltas {
		c := s.srv.rows.of(oid)
		if d.emptied {
			c.delta.Store(d.delta - d.known)
		} else {
			c.delta.Add(d.delta)
		}
		c.changed.Add(d.changed)
	}
}

// rollback gives the open transaction up.
func (s *Session) rollback() {
	s.dropPortals()
	s.undo()
}

// undo is rollback without an end of the portals.
func (s *Session) undo() {
	if s.tx != nil {
		s.endExports()
		s.tx.lobs.closeFrom(0)
		t := s.tx
		t.kv.Rollback()
		s.tx = nil
		s.dropScratch(t)
		t.recount(&s.tally, -1)
		s.flushCounts(false)
	}
	s.endSettings(false)
	s.endTxnLocks()
}

// Abort implements wire.Session.
func (s *Session) Abort() {
	s.clock.stop()
	switch s.block {
	case inBlock:
		s.block = failed
		s.failedModes = s.modes()
		if s.tx != nil && len(s.tx.saves) == 0 {
			s.failedModes = s.tx.initial
		}
		if s.tx != nil && len(s.tx.saves) > 0 {
			s.tx.lobs.closeFrom(len(s.tx.saves))
			s.failPortalsFrom(len(s.tx.saves)) // the others may go on after ROLLBACK TO
			// What was written since the last savepoint can only be rolled back now.
			last := &s.tx.saves[len(s.tx.saves)-1]
			s.tx.kv.UnlockTo(last.locks)
			s.rollbackSettings(last.settings) // of which the client is told
			s.tx.drawn = nil                  // or some of them
			s.unlockTo(last.advisory)
			return
		}
		s.failPortalsFrom(0)
		s.undo()
	case idle:
		s.rollback()
	}
}

// TxStatus implements wire.Session.
func (s *Session) TxStatus() byte {
	switch s.block {
	case inBlock:
		return 'T'
	case failed:
		return 'E'
	}
	return 'I'
}

// isTxnExit reports whether a statement may run in a failed block.
func isTxnExit(st ast.Stmt) bool {
	t, ok := st.(*ast.Transaction)
	if !ok {
		return false
	}
	switch t.Kind {
	case "COMMIT", "ROLLBACK", "ROLLBACK TO", "PREPARE TRANSACTION":
		return true
	}
	return false
}

// transaction runs a transaction statement and returns its tag. Several statements of one
// message are a block of their own.
func (s *Session) transaction(ctx context.Context, x *ast.Transaction, several bool) (string, error) {
	switch x.Kind {
	case "BEGIN":
		tag := "BEGIN"
		if x.Start {
			tag = "START TRANSACTION"
		}
		if s.block == inBlock {
			s.tell(warning(sqlerr.ActiveSQLTransaction, "there is already a transaction in progress"))
			return tag, s.setModes(x.Modes)
		}
		if err := s.ensureTx(ctx); err != nil {
			return "", err
		}
		if err := s.setModes(x.Modes); err != nil {
			return "", err // and the block is none
		}
		s.block = inBlock
		return tag, nil
	case "COMMIT":
		return s.commitStmt(ctx, x)
	case "ROLLBACK":
		if s.block == idle {
			if x.Chain {
				return "", noBlock("ROLLBACK AND CHAIN")
			}
			s.tell(warning(sqlerr.NoActiveSQLTransaction, "there is no transaction in progress"))
		}
		return "ROLLBACK", s.endBlock(ctx, x.Chain, func() error { s.rollback(); return nil })
	case "SAVEPOINT":
		if s.block == idle {
			return "", noBlock("SAVEPOINT")
		}
		t := s.tx
		sp := savepoint{name: x.Name, kv: t.kv.Savepoint(), settings: s.settings.mark(), notes: len(t.notes), listens: len(t.listens), restarts: len(t.restarts), moved: len(t.moved), deltas: maps.Clone(t.deltas), readOnly: t.readOnly,
			deferred: t.deferred.Mark(), locks: t.kv.LockMark(), advisory: s.advisoryMark()}
		if sp.snap = s.snapshot(); t.change != nil {
			sp.change, sp.changed = t.change.Mark(), true
		}
		t.saves = append(t.saves, sp)
		return "SAVEPOINT", nil
	case "RELEASE":
		if s.block == idle {
			return "", noBlock("RELEASE SAVEPOINT")
		}
		i, err := s.findSavepoint(x.Name)
		if err != nil {
			return "", err
		}
		s.tx.kv.Release(s.tx.saves[i].kv)
		s.tx.readOnly = s.tx.saves[i].readOnly // what was set since was the subtransaction's
		s.tx.saves = s.tx.saves[:i]
		s.tx.lobs.released(i)
		for rel, level := range s.tx.emptied {
			s.tx.emptied[rel] = min(level, i)
		}
		for k := range s.tx.uncounted {
			s.tx.uncounted[k].level = min(s.tx.uncounted[k].level, i)
		}
		for p := range s.portals.all {
			p.level = min(p.level, i)
		}
		return "RELEASE", nil
	case "ROLLBACK TO":
		return "ROLLBACK", s.rollbackTo(x.Name)
	case "SET TRANSACTION":
		if s.block == idle && !several {
			s.tell(warning(sqlerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks"))
		}
		if err := s.ensureTx(ctx); err != nil { // which lasts until Sync
			return "", err
		}
		return "SET", s.setModes(x.Modes)
	case "SET SESSION CHARACTERISTICS":
		if err := s.ensureTx(ctx); err != nil { // not changed by it
			return "", err
		}
		return "SET", s.setCharacteristics(x.Modes)
	case "PREPARE TRANSACTION":
		return s.prepareTransaction(several)
	case "COMMIT PREPARED", "ROLLBACK PREPARED":
		if s.block != idle {
			return "", inBlockError(x.Kind)
		}
		return "", sqlerr.New(sqlerr.UndefinedObject, "prepared transaction with identifier \"%s\" does not exist", x.Name)
	}
	return "", sqlerr.Unsupported(x.Pos(), "%s", x.Kind)
}

// prepareTransaction is PREPARE TRANSACTION of a server whose
// max_prepared_transactions is 0, as it is by default: the block ends.
func (s *Session) prepareTransaction(several bool) (string, error) {
	was := s.block
	if was == idle {
		s.tell(warning(sqlerr.NoActiveSQLTransaction, "there is no transaction in progress"))
		if !several {
			return "ROLLBACK", nil
		}
	}
	temp := was != failed && s.usedTemp()
	holds := false
	for p := range s.portals.all {
		holds = holds || p.cursor != nil && p.cursor.hold && !p.cursor.held
	}
	s.rollback()
	s.block = idle
	if was == failed {
		return "ROLLBACK", nil
	}
	if temp {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "cannot PREPARE a transaction that has operated on temporary objects")
	}
	if holds {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "cannot PREPARE a transaction that has created a cursor WITH HOLD")
	}
	return "", sqlerr.New(sqlerr.ObjectNotInPrerequisite, "prepared transactions are disabled").
		WithHint("Set max_prepared_transactions to a nonzero value.")
}

func noBlock(what string) error {
	return sqlerr.New(sqlerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", what)
}

func (s *Session) commitStmt(ctx context.Context, x *ast.Transaction) (string, error) {
	switch s.block {
	case failed:
		return "ROLLBACK", s.endBlock(ctx, x.Chain, func() error { s.rollback(); return nil })
	case idle:
		if x.Chain {
			return "", noBlock("COMMIT AND CHAIN")
		}
		s.tell(warning(sqlerr.NoActiveSQLTransaction, "there is no transaction in progress"))
	}
	return "COMMIT", s.endBlock(ctx, x.Chain, func() error { return s.commit(ctx) })
}

// endBlock ends the block with end, and with AND CHAIN begins the next one with
// the same properties.
func (s *Session) endBlock(ctx context.Context, chain bool, end func() error) error {
	modes := s.failedModes
	if s.block != failed {
		modes = s.modes()
	}
	err := end()
	s.block = idle
	if err != nil || !chain {
		return err
	}
	tx, err := s.openTx(ctx, modes.iso, modes.readOnly)
	if err != nil {
		return err
	}
	tx.waitSafe, tx.dirty = modes.waitSafe, modes.dirty
	tx.initial = modes
	s.block = inBlock
	return nil
}

// txModes are the properties of a transaction that AND CHAIN gives to the next one.
type txModes struct {
	iso                       kv.Isolation
	readOnly, waitSafe, dirty bool // as in tx
}

// modeChosen reports whether the transaction itself has chosen the mode that a parameter
// shows; of is false for other parameters.
func (s *Session) modeChosen(key string) (chosen, of bool) {
	now := s.modes()
	then := now
	if s.tx != nil {
		then = s.tx.initial
	}
	switch key {
	case "transaction_isolation":
		return now.iso != then.iso || now.dirty != then.dirty, true
	case "transaction_read_only":
		return now.readOnly != then.readOnly, true
	case "transaction_deferrable":
		return now.waitSafe != then.waitSafe, true
	}
	return false, false
}

func (s *Session) modes() txModes {
	m := txModes{iso: s.isolation(), readOnly: s.readOnly()}
	if s.tx != nil {
		m.waitSafe, m.dirty = s.tx.waitSafe, s.tx.dirty
	}
	return m
}

func (s *Session) findSavepoint(name string) (int, error) {
	if s.tx != nil {
		for i := len(s.tx.saves) - 1; i >= 0; i-- {
			if s.tx.saves[i].name == name {
				return i, nil
			}
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint \"%s\" does not exist", name)
}

func (s *Session) rollbackTo(name string) error {
	if s.block == idle {
		return noBlock("ROLLBACK TO SAVEPOINT")
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	t := s.tx
	s.dropPortalsFrom(i + 1)
	sp := t.saves[i]
	t.kv.RollbackTo(sp.kv)
	t.kv.UnlockTo(sp.locks)
	t.drawn = nil
	s.unlockTo(sp.advisory)
	t.lobs.closeFrom(i + 1)
	switch {
	case sp.changed:
		t.change.RollbackTo(sp.change)
		t.base = nil
	case t.change != nil:
		t.change = nil
	}
	s.rollbackSettings(sp.settings)
	t.notes = t.notes[:sp.notes]
	t.listens = t.listens[:sp.listens]
	t.restarts, t.moved = t.restarts[:sp.restarts], t.moved[:sp.moved]
	t.deltas = maps.Clone(sp.deltas)
	t.readOnly = sp.readOnly
	if t.deferred != nil {
		t.deferred.RollbackTo(sp.deferred)
	}
	t.saves = t.saves[:i+1]
	for rel, level := range t.emptied {
		if level > i {
			delete(t.emptied, rel)
		}
	}
	t.recount(&s.tally, i)
	s.block = inBlock
	return s.rebase()
}

// ddl returns the open transaction's change of the catalog.
func (s *Session) ddl() *catalog.Change {
	t := s.tx
	if t.change == nil {
		t.base = s.srv.Catalog.Current()
		t.change = catalog.NewChange(t.base, s.db, s.user, s.searchPath(true), s.srv.Catalog)
		t.change.Notice = s.tell
	}
	t.change.Owner, t.change.Path = s.user, s.searchPath(true)
	return t.change
}

// isRetry reports whether the statement should run again on a newer snapshot.
func isRetry(err error) bool { return errors.Is(err, executor.ErrRetry) }
