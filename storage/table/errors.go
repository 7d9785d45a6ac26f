package table

import (
	"errors"
	"fmt"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// ErrChanged is returned when a row or key was changed by a transaction that
// committed after the snapshot. The locks taken stay. A READ COMMITTED caller
// rolls back to the start of its statement, refreshes the transaction and runs
// the statement again; at other levels kv.ErrConflict is returned instead.
var ErrChanged = errors.New("row was changed by a concurrent transaction")

// ChangedError is ErrChanged with the keys of rows that were locked and have changed.
// They alias what LockRows was given.
type ChangedError struct{ Keys [][]byte }

func (e *ChangedError) Error() string        { return ErrChanged.Error() }
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }

// changed returns ErrChanged, or ErrConflict where the snapshot cannot move.
func changed(tx Txn) error {
	if tx.Isolation() == kv.ReadCommitted {
		return ErrChanged
	}
	return kv.ErrConflict
}

// corrupt marks a decoder's error with the file and the key.
func corrupt(sp kv.Space, key []byte, err error) error {
	return &sqlerr.Error{
		Code:    sqlerr.DataCorrupted,
		Message: fmt.Sprintf("invalid data in file \"%s\", key %x: %v", sp.File, key, err),
		Detail:  fmt.Sprintf("The file belongs to database \"%s\".", sp.DB),
		Cause:   fmt.Errorf("%w: %w", kv.ErrCorrupt, err),
	}
}

// indexCorrupt reports an index entry that does not belong to a row.
func indexCorrupt(x *index, key []byte) error {
	return &sqlerr.Error{
		Code:    sqlerr.IndexCorrupted,
		Message: fmt.Sprintf("index \"%s\" has an entry without a row: %s", x.cat.Name, x.key.Pretty(key)),
		Cause:   kv.ErrCorrupt,
	}
}

// maxKeyNote is the number of bytes of a key from which its length is blamed when
// the engine refuses a pair.
const maxKeyNote = 8 << 10

// tooLarge explains an engine's refusal of a pair; other errors pass.
func tooLarge(err error, sp kv.Space, key, val []byte) error {
	if !errors.Is(err, kv.ErrTooLarge) {
		return err
	}
	e := &sqlerr.Error{Code: sqlerr.ProgramLimitExceeded, Cause: err}
	if len(key) >= maxKeyNote {
		e.Message = fmt.Sprintf("key of %d bytes is too large for file \"%s\"", len(key), sp.File)
		e.Hint = "Values longer than a few thousand bytes cannot be part of a key."
	} else {
		e.Message = fmt.Sprintf("row of %d bytes is too large for file \"%s\" or the transaction", len(key)+len(val), sp.File)
	}
	return e
}

func notNull(t *catalog.Table, col int) error {
	return &sqlerr.Error{
		Code:    sqlerr.NotNullViolation,
		Message: fmt.Sprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint", t.Columns[col].Name, t.Name),
		Schema:  t.Schema, Table: t.Name, Column: t.Columns[col].Name,
	}
}

// keyDetail returns (a, b)=(1, 2).
func (d *Desc) keyDetail(x *index, cols []*vec.Vec, row int) string {
	names, vals := make([]string, x.n), make([]string, x.n)
	for i, k := range x.cat.Keys {
		names[i] = k.Expr
		if k.Col >= 0 {
			names[i] = d.Table.Columns[k.Col].Name
		}
		vals[i] = "null"
		if v := cols[i].Get(row); !v.Null {
			vals[i] = string(types.AppendText(nil, v, types.DefaultFmt))
		}
	}
	return "(" + strings.Join(names, ", ") + ")=(" + strings.Join(vals, ", ") + ")"
}

func (d *Desc) uniqueViolation(x *index, cols []*vec.Vec, row int) error {
	return &sqlerr.Error{
		Code:    sqlerr.UniqueViolation,
		Message: fmt.Sprintf("duplicate key value violates unique constraint \"%s\"", x.cat.Name),
		Detail:  fmt.Sprintf("Key %s already exists.", d.keyDetail(x, cols, row)),
		Schema:  d.Table.Schema, Table: d.Table.Name, Constraint: x.cat.Name,
	}
}
