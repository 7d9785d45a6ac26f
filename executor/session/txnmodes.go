package session

import (
	"context"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// readUncommitted is the level that is shown by its name and is READ COMMITTED.
const readUncommitted = "read uncommitted"

func isolationOf(v string) kv.Isolation {
	switch strings.ToUpper(v) {
	case "REPEATABLE READ":
		return kv.RepeatableRead
	case "SERIALIZABLE":
		return kv.Serializable
	}
	return kv.ReadCommitted
}

func isolationName(i kv.Isolation) string {
	switch i {
	case kv.RepeatableRead:
		return "REPEATABLE READ"
	case kv.Serializable:
		return "SERIALIZABLE"
	}
	return "READ COMMITTED"
}

// shownIsolation is the isolation level by the name that was asked for.
func (s *Session) shownIsolation() string {
	dirty := s.settings.newDirty
	if s.tx != nil {
		dirty = s.tx.dirty
	}
	if iso := s.isolation(); iso != kv.ReadCommitted || !dirty {
		return strings.ToLower(isolationName(iso))
	}
	return readUncommitted
}

func (s *Session) isolation() kv.Isolation {
	if s.tx != nil {
		return s.tx.iso
	}
	return s.settings.newIso
}

func (s *Session) readOnly() bool {
	if s.tx != nil {
		return s.tx.readOnly
	}
	return s.settings.newReadOnly
}

// setModes applies the modes of BEGIN and SET TRANSACTION.
func (s *Session) setModes(m ast.TxnModes) error {
	if m.Snapshot != "" {
		return s.importSnapshot(m.Snapshot)
	}
	if m.Isolation != "" {
		if err := s.setIsolation(m.Isolation); err != nil {
			return err
		}
	}
	if m.ReadOnly != nil {
		if err := s.setReadOnly(*m.ReadOnly); err != nil {
			return err
		}
	}
	if m.Deferrable != nil {
		return s.setDeferrable(*m.Deferrable)
	}
	return nil
}

// setDeferrable changes what SHOW transaction_deferrable says.
func (s *Session) setDeferrable(on bool) error {
	t := s.tx
	switch {
	case t == nil:
		return nil
	case len(t.saves) > 0:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction")
	case t.used:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	}
	t.waitSafe = on
	return nil
}

// setIsolation changes the open transaction, which has not read anything yet.
func (s *Session) setIsolation(name string) error {
	iso, dirty := isolationOf(name), strings.EqualFold(name, readUncommitted)
	t := s.tx
	if t == nil || t.iso == iso && t.dirty == dirty {
		return nil
	}
	if t.used {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	if len(t.saves) > 0 {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	}
	if t.dirty = dirty; t.iso == iso {
		return nil
	}
	return s.reopen(iso, t.readOnly)
}

func (s *Session) setReadOnly(ro bool) error {
	t := s.tx
	if t == nil || t.readOnly == ro {
		return nil
	}
	if !ro && len(t.saves) > 0 {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "cannot set transaction read-write mode inside a read-only transaction")
	}
	if t.used {
		if !ro {
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
		}
		t.readOnly = true
		return nil
	}
	if len(t.saves) > 0 { // what ROLLBACK TO undoes
		t.readOnly = ro
		return nil
	}
	return s.reopen(t.iso, ro)
}

// reopen replaces the unused transaction, which has no savepoints, by one with other
// properties.
func (s *Session) reopen(iso kv.Isolation, ro bool) error {
	t := s.tx
	k, err := s.beginKV(context.Background(), s.beginOpt(iso, ro))
	if err != nil {
		return err
	}
	t.kv.Rollback()
	t.kv, t.iso, t.readOnly = k, iso, ro
	return nil
}

func (s *Session) setCharacteristics(m ast.TxnModes) error {
	if m.Isolation != "" {
		v := strings.ToLower(m.Isolation)
		if err := s.setSetting("default_transaction_isolation", &v, false); err != nil {
			return err
		}
	}
	if m.ReadOnly != nil {
		v := onOff(*m.ReadOnly)
		if err := s.setSetting("default_transaction_read_only", &v, false); err != nil {
			return err
		}
	}
	if m.Deferrable != nil {
		v := onOff(*m.Deferrable)
		return s.setSetting("default_transaction_deferrable", &v, false)
	}
	return nil
}
