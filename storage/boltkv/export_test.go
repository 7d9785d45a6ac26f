package boltkv

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/vfs"
)

// The tests write little, so they write pages in bulk from little on.
func init() { bulkBytes, nodesBytes, nodesMost = 20<<10, 60<<10, 200<<10 }

var passed time.Duration

// PassTime lets what was checked become older.
func PassTime(d time.Duration) {
	passed += d
	checkClock = func() time.Duration { return time.Since(started) + passed }
}

// WriteFormat makes the data file of a closed store one of an older format that had the
// same files.
func WriteFormat(dir string, format int) error {
	f, err := openData(filepath.Join(dir, FileName), &Options{NoSync: true, FS: vfs.OS})
	if err != nil {
		return err
	}
	err = f.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(metaBucket)).Put([]byte(formatKey), strconv.AppendInt(nil, int64(format), 10))
	})
	return errors.Join(err, f.sealSums(), f.close())
}

// ListNever keeps the list of free pages out of the file, so that they have to be searched
// for after a crash, until the returned function is called.
func ListNever() func() {
	was := maxListed
	maxListed = -1
	return func() { maxListed = was }
}
