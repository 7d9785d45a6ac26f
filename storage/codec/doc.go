// Package codec turns SQL values into the bytes that the key-value files hold,
// and back.
//
// In: values as vectors or datums, with lists of types; no table descriptors.
// Out: keys, rows, index entries. Invariants: encoded keys sort byte by byte as
// the values they came from sort by types.Compare (column by column, with each
// column's direction and place of NULLs), every encoded column ends where it
// says without looking at what follows, and every stored value starts with a
// format byte and ends with a checksum over key and value.
//
// The tags and format bytes below are on disk. They may be added to (there are
// gaps), never changed.
package codec

import (
	"errors"
	"fmt"

	"kvsqld/catalog/types"
)

// ErrCorrupt is returned by decoders for bytes that no encoder wrote, and for a
// checksum that does not fit. Callers add the file and the key.
var ErrCorrupt = errors.New("stored bytes are corrupt")

// corrupt returns an ErrCorrupt with the reason.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// NoOrderError reports a key column of a type whose values cannot be a key.
type NoOrderError struct{ T types.T }

func (e *NoOrderError) Error() string {
	return fmt.Sprintf("values of type %s cannot be part of a key", types.FormatType(e.T))
}
