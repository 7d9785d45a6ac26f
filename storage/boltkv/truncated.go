package boltkv

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	"kvsqld/storage/kv"
)

// The layout of bbolt's meta pages (its internal/common/meta.go and page.go):
// a page header of 16 bytes, then magic, version, page size and flags (4 bytes
// each), the root bucket (16), the free list's page, the number of pages and the
// transaction (8 each), and the FNV-1a checksum of all that, native byte order.
const (
	boltMagic   = 0xED0CDAED
	metaAt      = 16
	metaPages   = 40 // offset of the number of pages in a meta
	metaTxn     = 48
	metaSum     = 56
	metaLen     = 64
	maxPageSize = 1 << 16
)

// checkLength refuses a file that is shorter than its meta page says: bbolt maps
// the file and would be killed by the first read beyond its end. Whatever else
// may be wrong is found by bbolt itself.
func checkLength(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var pages, pageSize, newest uint64
	found := false
	read := func(off int64) (size uint64, ok bool) {
		b := make([]byte, metaAt+metaLen)
		if n, _ := f.ReadAt(b, off); n < len(b) {
			return 0, false
		}
		m := b[metaAt:]
		h := fnv.New64a()
		h.Write(m[:metaSum])
		if binary.NativeEndian.Uint32(m) != boltMagic || h.Sum64() != binary.NativeEndian.Uint64(m[metaSum:]) {
			return 0, false
		}
		size = uint64(binary.NativeEndian.Uint32(m[8:]))
		if t := binary.NativeEndian.Uint64(m[metaTxn:]); !found || t > newest {
			found, newest, pageSize, pages = true, t, size, binary.NativeEndian.Uint64(m[metaPages:])
		}
		return size, size > 0 && size <= maxPageSize
	}
	if size, ok := read(0); ok {
		read(int64(size))
	} else {
		for size := int64(1024); size <= maxPageSize; size *= 2 {
			if _, ok := read(size); ok {
				break
			}
		}
	}
	// After the metas: a process that writes grows the file before it says so.
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if found && uint64(fi.Size()) < pages*pageSize {
		return fmt.Errorf("%s: %w (%d bytes are missing at its end)", path, kv.ErrCorrupt, pages*pageSize-uint64(fi.Size()))
	}
	return nil
}
