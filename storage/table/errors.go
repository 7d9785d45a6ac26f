package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
	return sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.DataCorrupted,
		Message: fmt.Sprintf("invalid data in file \"%s\", key %x: %v", sp.File, key, err),
		Detail:  fmt.Sprintf("The file belongs to database \"%s\".", sp.DB),
		Cause:   fmt.Errorf("%w: %w", kv.ErrCorrupt, err),
	})
}

// indexCorrupt reports an index entry that does not belong to a row.
func indexCorrupt(x *index, key []byte) error {
	return sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.IndexCorrupted,
		Message: fmt.Sprintf("index \"%s\" has an entry without a row: %s", x.cat.Name, x.key.Pretty(key)),
		Cause:   kv.ErrCorrupt,
	})
}

// maxKeyNote is the number of bytes of a key from which its length is blamed when
// the engine refuses a pair.
const maxKeyNote = 8 << 10

// tooLarge explains an engine's refusal of a pair; other errors pass.
func tooLarge(err error, sp kv.Space, key, val []byte) error {
	if !errors.Is(err, kv.ErrTooLarge) {
		return err
	}
	e := sqlerr.Raise(sqlerr.Error{Code: sqlerr.ProgramLimitExceeded, Cause: err})
	if len(key) >= maxKeyNote {
		e.Message = fmt.Sprintf("key of %d bytes is too large for file \"%s\"", len(key), sp.File)
		e.Hint = "Values longer than a few thousand bytes cannot be part of a key."
	} else {
		e.Message = fmt.Sprintf("row of %d bytes is too large for file \"%s\" or the transaction", len(key)+len(val), sp.File)
	}
	return e
}

func notNull(t *catalog.Table, col int) error {
	return sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.NotNullViolation,
		Message: fmt.Sprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint", t.Columns[col].Name, t.Name),
		Schema:  t.Schema, Table: t.Name, Column: t.Columns[col].Name,
	})
}

// KeyError is the cause of an error that shows keys. Its texts are in the forms that
// a session asks for, which files do not know: the error's detail has the shipped forms
// until Explain gives it the session's.
type KeyError struct {
	form  string // with %s for each key
	names []string
	exprs []bool // the names that are texts of expressions, as the catalog has them
	keys  [][]types.Datum
}

func (e *KeyError) Error() string {
	return e.text(types.DefaultFmt, func(expr string) string { return expr })
}

func (e *KeyError) text(o *types.FmtOpts, shown func(expr string) string) string {
	names := slices.Clone(e.names)
	for i, expr := range e.exprs {
		if expr {
			names[i] = shown(names[i])
		}
	}
	out := make([]any, len(e.keys))
	for i, key := range e.keys {
		vals := make([]string, len(key))
		for k, v := range key {
			vals[k] = "null"
			if !v.Null {
				vals[k] = string(types.AppendText(nil, v, o))
			}
		}
		out[i] = "(" + strings.Join(names, ", ") + ")=(" + strings.Join(vals, ", ") + ")"
	}
	return fmt.Sprintf(e.form, out...)
}

// Explain returns err with the keys of its detail in the forms of o, and their expressions
// as shown writes them.
func Explain(err error, o *types.FmtOpts, shown func(expr string) string) error {
	var e *sqlerr.Error
	var key *KeyError
	if !errors.As(err, &e) || !errors.As(e.Cause, &key) {
		return err
	}
	c := *e
	c.Detail, c.Cause = key.text(o, shown), nil // the forms of a later moment are not those of the error
	return &c
}

// WithoutKeys returns e for a user who may not see its keys.
func WithoutKeys(e *sqlerr.Error) *sqlerr.Error {
	c := *e
	c.Detail, c.Cause = "", nil
	return &c
}

// AsDuplicated rewords the detail of a key that exists for rows that were there before.
func AsDuplicated(e *sqlerr.Error) {
	var key *KeyError
	if errors.As(e.Cause, &key) {
		keyError(e, &KeyError{form: "Key %s is duplicated.", names: key.names, exprs: key.exprs, keys: key.keys})
	}
}

// keyError makes key the cause and the detail of e.
func keyError(e *sqlerr.Error, key *KeyError) *sqlerr.Error {
	e.Detail, e.Cause = key.Error(), key
	return e
}

// keysShown is the KeyError with the keys of index x in rows of columns.
func (d *Desc) keysShown(x *index, form string, keys ...shownKey) *KeyError {
	e := &KeyError{form: form, names: make([]string, x.n), exprs: make([]bool, x.n)}
	for i, k := range x.cat.Keys {
		e.names[i], e.exprs[i] = k.Expr, k.Col < 0
		if k.Col >= 0 {
			e.names[i] = catalog.QuoteIdent(d.Table.Columns[k.Col].Name)
		}
	}
	for _, k := range keys {
		vals := make([]types.Datum, x.n)
		for i := range vals {
			vals[i] = k.cols[i].Get(k.row)
			vals[i].B = bytes.Clone(vals[i].B)
		}
		e.keys = append(e.keys, vals)
	}
	return e
}

// shownKey is a key in a row of columns.
type shownKey struct {
	cols []*vec.Vec
	row  int
}

func (d *Desc) uniqueViolation(x *index, cols []*vec.Vec, row int) error {
	return keyError(sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.UniqueViolation,
		Message: fmt.Sprintf("duplicate key value violates unique constraint \"%s\"", x.cat.Name),
		Schema:  d.Table.Schema, Table: d.Table.Name, Constraint: x.cat.Name,
	}), d.keysShown(x, "Key %s already exists.", shownKey{cols, row}))
}
