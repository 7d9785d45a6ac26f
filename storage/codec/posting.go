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

// OpenPosting verifies a chunk and appends its row keys to buf, each behind prefix.
func OpenPosting(key, val, prefix []byte, buf *KeyBuf) error {
	b, err := OpenBlob(key, val, FormatPosting)
	if err != nil {
		return err
	}
	var prev []byte
	for len(b) > 0 {
		shared, l := uvarint(b)
		if l <= 0 || shared > uint64(len(prev)) {
			return corrupt("posting that shares %d of %d bytes", shared, len(prev))
		}
		b = b[l:]
		n, l := uvarint(b)
		if l <= 0 || n > uint64(len(b)-l) {
			return corrupt("posting of %d bytes", n)
		}
		rest := b[l : l+int(n)]
		b = b[l+int(n):]
		buf.buf = append(append(append(buf.buf, prefix...), prev[:shared]...), rest...)
		end := len(buf.buf)
		buf.ends = append(buf.ends, end)
		prev = buf.buf[end-int(shared)-int(n) : end : end]
	}
	return nil
}

// uvarint is binary.Uvarint, quick where there is one byte.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}
