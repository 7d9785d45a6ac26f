package boltkv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kvsqld/storage/kv"
)

// lockName is the file whose lock stands for the data directory: the data file
// itself may be replaced while the store is open. It contains the process
// number of the holder and stays when the lock goes.
const lockName = "kvsqld.lock"

// lockDir takes the lock of a data directory. kv.ErrInUse names the process
// that has it.
func lockDir(dir string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const pause = 20 * time.Millisecond
	for deadline := time.Now().Add(wait); ; time.Sleep(pause) {
		free, err := flock(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if free {
			break
		}
		if time.Now().After(deadline) {
			holder, _ := os.ReadFile(f.Name()) // only to be named
			f.Close()
			return nil, fmt.Errorf("%w (process %s)", kv.ErrInUse, strings.TrimSpace(string(holder)))
		}
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
