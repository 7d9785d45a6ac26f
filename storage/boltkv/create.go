package boltkv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// How the names of unfinished files end: a data file that a compaction makes, what
// is committed meanwhile, and the first data file of a directory.
const (
	newSuffix   = ".new"
	deltaSuffix = ".delta"
	initSuffix  = ".init"
)

// makeData makes the empty data file of a directory; kv.ErrCorrupt if there is
// something that only belongs to a data file which is gone.
//
// The unfinished file is the first one there and the last one to lose its name: where
// it is, no other file has been in use, and where it is not, checksums or a log
// without their data file say that this has been lost.
func makeData(path string, opt *Options) error {
	dir, scratch := filepath.Dir(path), path+initSuffix
	left, err := remains(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(scratch); errors.Is(err, os.ErrNotExist) {
		if len(left) > 0 {
			return fmt.Errorf("%w: the file is missing or empty, but %s beside it is not", kv.ErrCorrupt, left[0])
		}
	} else if err != nil {
		return err
	}
	f, err := opt.FS.OpenFile(scratch, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if !opt.NoSync {
		if err := opt.FS.SyncDir(dir); err != nil {
			return err
		}
	}
	for _, name := range left {
		if err := opt.FS.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	data, err := openFile(scratch, opt, nil)
	if err != nil {
		return err
	}
	if _, err := data.upgrade(dir, opt); err != nil {
		return errors.Join(err, data.close())
	}
	if err := data.close(); err != nil {
		return err
	}
	if err := opt.FS.Rename(scratch, path); err != nil || opt.NoSync {
		return err
	}
	return opt.FS.SyncDir(dir)
}

// exists returns kv.ErrNoStore unless there is a data file, or something that belongs
// to a lost one.
func exists(path string) error {
	if fi, err := os.Stat(path); err == nil && fi.Size() > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	left, err := remains(filepath.Dir(path))
	if err == nil && len(left) == 0 || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", filepath.Dir(path), kv.ErrNoStore)
	}
	return err
}

// remains lists the files of a directory that belong to a data file.
func remains(dir string) (names []string, err error) {
	es, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range es {
		if n := e.Name(); strings.HasPrefix(n, sumPrefix) && strings.HasSuffix(n, sumSuffix) || walkv.IsLog(n) {
			names = append(names, n)
		}
	}
	return names, nil
}
