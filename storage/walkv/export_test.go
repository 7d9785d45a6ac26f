package walkv

import "os"

// Fault makes log files fail: op is "write", "sync" or "datasync".
// The returned function ends that for files made later.
func Fault(fail func(op string) error) (end func()) {
	old := newFile
	newFile = func(path string) (file, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		return faulty{osFile{f}, fail}, err
	}
	return func() { newFile = old }
}

type faulty struct {
	osFile
	fail func(op string) error
}

// WriteAt writes half before it fails.
func (f faulty) WriteAt(b []byte, off int64) (int, error) {
	if err := f.fail("write"); err != nil {
		n, _ := f.osFile.WriteAt(b[:len(b)/2], off)
		return n, err
	}
	return f.osFile.WriteAt(b, off)
}

func (f faulty) Sync() error {
	if err := f.fail("sync"); err != nil {
		return err
	}
	return f.osFile.Sync()
}

func (f faulty) Datasync() error {
	if err := f.fail("datasync"); err != nil {
		return err
	}
	return f.osFile.Datasync()
}
