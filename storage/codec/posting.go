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
	return seal(dst, start, key)
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

// PostingWords verifies a chunk and appends its row keys to dst as numbers that sort as
// they do, if all of them are as long as width says; of a width of 0, which is set, as the
// first one. false, and nothing is appended: they are not, or longer than a number.
func PostingWords(key, val []byte, dst []uint64, width *int) ([]uint64, bool, error) {
	b, err := OpenBlob(key, val, FormatPosting)
	if err != nil {
		return dst, false, err
	}
	var prev uint64
	before := len(dst)
	w := *width
	for len(b) > 0 {
		shared, l := uvarint(b)
		if l <= 0 || shared > 8 {
			return dst[:before], false, nil
		}
		b = b[l:]
		n, l := uvarint(b)
		if l <= 0 || n > uint64(len(b)-l) || shared+n > 8 || shared+n == 0 {
			return dst[:before], false, nil
		}
		if w == 0 {
			w = int(n)
		}
		if int(shared+n) != w {
			return dst[:before], false, nil
		}
		var v uint64
		for _, c := range b[l : l+int(n)] {
			v = v<<8 | uint64(c)
		}
		b = b[l+int(n):]
		v |= prev >> (8 * n) << (8 * n)
		dst = append(dst, v)
		prev = v
	}
	*width = w
	return dst, true, nil
}

// uvarint is binary.Uvarint, quick where there is one byte.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}
