package codec

import "encoding/binary"

// AppendPosting appends the stored value of a chunk of a posting list: row keys in
// ascending order, each as the length of what it shares with the one before, the
// length of the rest, and the rest.
func AppendPosting(dst, key []byte, rows [][]byte) []byte {
	start := len(dst)
	dst = append(dst, FormatPosting)
	var prev []byte
	for _, row := range rows {
		n := 0
		for n < len(row) && n < len(prev) && row[n] == prev[n] {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = binary.AppendUvarint(dst, uint64(len(row)-n))
		dst = append(dst, row[n:]...)
		prev = row
	}
	return Seal(dst, start, key)
}

// OpenPosting verifies a chunk and appends its row keys to buf.
func OpenPosting(key, val []byte, buf *KeyBuf) error {
	b, err := OpenBlob(key, val, FormatPosting)
	if err != nil {
		return err
	}
	var prev []byte
	for len(b) > 0 {
		shared, l := binary.Uvarint(b)
		if l <= 0 || shared > uint64(len(prev)) {
			return corrupt("posting that shares %d of %d bytes", shared, len(prev))
		}
		b = b[l:]
		n, l := binary.Uvarint(b)
		if l <= 0 || n > uint64(len(b)-l) {
			return corrupt("posting of %d bytes", n)
		}
		rest := b[l : l+int(n)]
		b = b[l+int(n):]
		buf.Add(func(dst []byte) []byte { return append(append(dst, prev[:shared]...), rest...) })
		prev = buf.Key(buf.Len() - 1)
	}
	return nil
}
