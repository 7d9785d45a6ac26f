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
	metaFree    = 32 // offset of the free list's page in a meta
	metaPages   = 40 // of the number of pages
	metaTxn     = 48
	metaSum     = 56
	metaLen     = 64
	maxPageSize = 1 << 16
	noFreeList  = 1<<64 - 1 // in place of the free list's page: not in the file
)

// meta is what is needed of a meta page.
type meta struct{ pageSize, pages, free, txn uint64 }

// readMeta returns the newest whole meta page; ok is false if there is none, of
// which bbolt says more. It refuses a file that is shorter than the page says:
// bbolt maps the file and would be killed by the first read beyond its end.
func readMeta(path string) (m meta, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return meta{}, false, err
	}
	defer f.Close()
	read := func(off int64) (size uint64, whole bool) {
		b := make([]byte, metaAt+metaLen)
		if n, _ := f.ReadAt(b, off); n < len(b) {
			return 0, false
		}
		b = b[metaAt:]
		h := fnv.New64a()
		h.Write(b[:metaSum])
		if binary.NativeEndian.Uint32(b) != boltMagic || h.Sum64() != binary.NativeEndian.Uint64(b[metaSum:]) {
			return 0, false
		}
		r := meta{
			pageSize: uint64(binary.NativeEndian.Uint32(b[8:])),
			pages:    binary.NativeEndian.Uint64(b[metaPages:]),
			free:     binary.NativeEndian.Uint64(b[metaFree:]),
			txn:      binary.NativeEndian.Uint64(b[metaTxn:]),
		}
		if !ok || r.txn > m.txn {
			m, ok = r, true
		}
		return r.pageSize, r.pageSize > 0 && r.pageSize <= maxPageSize
	}
	if size, whole := read(0); whole {
		read(int64(size))
	} else {
		for size := int64(1024); size <= maxPageSize; size *= 2 {
			if _, whole := read(size); whole {
				break
			}
		}
	}
	// After the metas: a process that writes grows the file before it says so.
	fi, err := f.Stat()
	if err != nil {
		return meta{}, false, err
	}
	if ok && uint64(fi.Size()) < m.pages*m.pageSize {
		return m, ok, fmt.Errorf("%w: %d bytes are missing at its end", kv.ErrCorrupt, m.pages*m.pageSize-uint64(fi.Size()))
	}
	return m, ok, nil
}
