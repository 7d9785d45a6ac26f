package codec

import (
	"encoding/binary"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// AppendEntry appends the stored value of an index entry under key: the master
// key if the entry is of a unique index (else nil), and the included columns if
// the index has any (include nil: none).
func AppendEntry(dst, key, master []byte, include *RowCodec, cols []*vec.Vec, row int) []byte {
	start := len(dst)
	switch {
	case include != nil:
		dst = binary.AppendUvarint(append(dst, FormatInclude), uint64(len(master)))
		dst = include.appendBody(append(dst, master...), cols, row)
	case master != nil:
		dst = append(append(dst, FormatMaster), master...)
	default:
		dst = append(dst, FormatEntry)
	}
	return seal(dst, start, key)
}

// Entry is a verified index entry's value.
type Entry struct {
	Master  []byte // nil when the master key is at the end of the entry's key
	Include []byte // row of included columns without checksum, or nil
}

// OpenEntry verifies the stored value of an index entry and takes it apart.
func OpenEntry(key, val []byte) (Entry, error) {
	if err := Check(key, val); err != nil {
		return Entry{}, err
	}
	return CheckedEntry(val)
}

// CheckedEntry is OpenEntry for a value whose checksum was verified before.
func CheckedEntry(val []byte) (Entry, error) {
	b, err := opened(val)
	if err != nil {
		return Entry{}, err
	}
	switch b[0] {
	case FormatEntry:
		if len(b) != 1 {
			return Entry{}, corrupt("index entry with %d bytes too many", len(b)-1)
		}
		return Entry{}, nil
	case FormatMaster:
		return Entry{Master: b[1:]}, nil
	case FormatInclude:
		n, l := binary.Uvarint(b[1:])
		if l <= 0 || n > uint64(len(b)-1-l) {
			return Entry{}, corrupt("index entry with a master key of %d bytes", n)
		}
		e := Entry{Include: b[1+l+int(n):]}
		if n > 0 {
			e.Master = b[1+l : 1+l+int(n)]
		}
		return e, nil
	}
	return Entry{}, corrupt("unknown format %#x of an index entry", b[0])
}

// IncludeAttr returns an attribute of the included columns of an entry; false
// when the entry is older than the attribute.
func (c *RowCodec) IncludeAttr(e Entry, a int) (types.Datum, bool, error) {
	return c.attrOf(e.Include, a)
}

// AppendBlob appends a value of another format than rows and index entries.
func AppendBlob(dst, key []byte, format byte, b []byte) []byte {
	start := len(dst)
	return seal(append(append(dst, format), b...), start, key)
}

// OpenBlob is the inverse of AppendBlob.
func OpenBlob(key, val []byte, format byte) ([]byte, error) {
	b, err := Open(key, val)
	if err != nil {
		return nil, err
	}
	if b[0] != format {
		return nil, corrupt("value of format %#x where %#x belongs", b[0], format)
	}
	return b[1:], nil
}
