package boltkv

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
)

// What is done about damaged pages: reading one is an error, and all else goes on.
//
//   - A file whose list of free pages has to be searched for, or is damaged, gets an empty
//     list when pages that lead to others are damaged: nobody knows which pages are free.
//     They are lost until the file is compacted.
//   - A file of the catalog that is dropped or cleared (an index that is made anew, say) and
//     has a damaged page is put away whole into lostBucket, for bbolt cannot free its pages
//     without reading them. Compacting the data file leaves that out.
//
// Damage to the pages that tell which files there are is more than that: nothing is opened.
const lostBucket = "lost"

const freeListPage = 0x10 // bbolt's flag

// search looks through all pages of a state and returns the first fault in the pages of
// files. It panics with a fault where the list of files is damaged.
func (p *pager) search() (first error) {
	p.top().walkFiles()
	p.verifyAll(func(err error) {
		if first == nil {
			first = err
		}
	})
	return first
}

// walkFiles verifies the pages that tell which files there are.
func (b bucket) walkFiles() {
	dbs := cursor{b: b}
	for ok := dbs.first(); ok; ok = dbs.next() {
		files := cursor{b: b.p.open(dbs.pair().Val)}
		for ok := files.first(); ok; ok = files.next() {
		}
	}
}

// listNothing gives a file an empty list of free pages, in one commit: a page behind all
// others, its checksum, and the other meta page, as bbolt would write them. m is the
// newest state.
func listNothing(path string, opt *Options, s *sums, m meta) (err error) {
	f, err := opt.FS.OpenFile(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sync := func(err error) error {
		if err == nil && !opt.NoSync {
			err = f.Sync()
		}
		if err != nil {
			return writeError(err)
		}
		return nil
	}
	size := int64(m.pageSize)
	head := make([]byte, metaAt+metaLen)
	if _, err := f.ReadAt(head, int64(m.txn%2)*size); err != nil {
		return err
	}
	list := make([]byte, size)
	native.PutUint64(list, m.pages)
	native.PutUint16(list[8:], freeListPage)
	_, err = f.WriteAt(list, int64(m.pages)*size)
	if err := sync(err); err != nil {
		return err
	}
	s.set(m.pages, list)
	if err := s.flush(m.txn + 1); err != nil {
		return writeError(err)
	}
	native.PutUint64(head, (m.txn+1)%2)
	b := head[metaAt:]
	native.PutUint64(b[metaFree:], m.pages)
	native.PutUint64(b[metaPages:], m.pages+1)
	native.PutUint64(b[metaTxn:], m.txn+1)
	h := fnv.New64a()
	h.Write(b[:metaSum])
	native.PutUint64(b[metaSum:], h.Sum64())
	_, err = f.WriteAt(head, int64((m.txn+1)%2)*size)
	return sync(err)
}

// putAway moves a damaged file, which the transaction drops or clears, to where nobody
// looks for it.
func putAway(tx *bolt.Tx, db *bolt.Bucket, name []byte) error {
	m := tx.Bucket([]byte(metaBucket))
	if m == nil {
		return fmt.Errorf("%w: the bucket of the file's format is missing", kv.ErrCorrupt)
	}
	lost, err := m.CreateBucketIfNotExists([]byte(lostBucket))
	if err != nil {
		return err
	}
	n, err := lost.NextSequence()
	if err != nil {
		return err
	}
	to, err := lost.CreateBucket(fmt.Appendf(nil, "%d", n))
	if err != nil {
		return err
	}
	return db.MoveBucket(name, to)
}
