package txn

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
)

// spillWriter writes a temporary file from its start.
type spillWriter struct {
	sp   *kv.Spill
	f    *os.File
	buf  []byte
	at   int64 // bytes in the file
	told int64 // of them, that sp.Grow knows of
}

// spillBlock is about how many bytes are written at a time.
const spillBlock = 1 << 20

func newSpillWriter(sp *kv.Spill) (*spillWriter, error) {
	f, err := sp.File()
	if err != nil {
		return nil, spillError(err)
	}
	return &spillWriter{sp: sp, f: f}, nil
}

// spillError classifies an error of a temporary file. One that has a place in an SQL
// answer already, as of a limit, stays as it is.
func spillError(err error) error {
	if vfs.Full(err) {
		return fmt.Errorf("%w: a temporary file: %w", kv.ErrDiskFull, err)
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%w: %w", kv.ErrTempFile, err)
	}
	return err
}

// end is the offset of what is written next.
func (w *spillWriter) end() int64 { return w.at + int64(len(w.buf)) }

func (w *spillWriter) write(b []byte) error {
	if len(b) < spillBlock {
		if w.buf = append(w.buf, b...); len(w.buf) < spillBlock {
			return nil
		}
		return w.flush()
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.put(b)
}

func (w *spillWriter) flush() error {
	err := w.put(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *spillWriter) put(b []byte) error {
	if n := int64(len(b)); w.sp.Grow != nil && n > 0 {
		if err := w.sp.Grow(n); err != nil {
			return err
		}
		w.told += n
	}
	if _, err := w.f.Write(b); err != nil {
		return spillError(err)
	}
	w.at += int64(len(b))
	return nil
}

// mapping closes the file, which has no name any more, and returns its bytes. They, and
// the file's space, go when nobody uses them any more. After an error the writer is
// abandoned.
func (w *spillWriter) mapping() (*mapped, error) {
	if err := w.flush(); err != nil {
		w.abandon()
		return nil, err
	}
	m := &mapped{}
	if w.at > 0 {
		b, err := mapFile(w.f, w.at)
		if err != nil {
			w.abandon()
			return nil, spillError(err)
		}
		m.b = b
		runtime.AddCleanup(m, unmapFile, b)
	}
	if err := w.f.Close(); err != nil {
		w.giveBack(w.told)
		return nil, spillError(err)
	}
	m.told = w.told
	return m, nil
}

// abandon gives up the file.
func (w *spillWriter) abandon() {
	w.f.Close() // its contents are of no more use: an error changes nothing
	w.giveBack(w.told)
	w.told = 0
}

func (w *spillWriter) giveBack(n int64) {
	if w.sp.Grow != nil && n > 0 {
		_ = w.sp.Grow(-n) // giving back does not fail
	}
}

// mapped is a file's bytes in the address space.
type mapped struct {
	b    []byte
	told int64 // bytes that Spill.Grow knows of
}

// faults makes an error of what stops a reading goroutine when the operating system
// cannot read a mapped file: of a panic with an address. It is deferred, with
// debug.SetPanicOnFault(true) as its first argument.
func faults(was bool, err *error) {
	debug.SetPanicOnFault(was)
	switch p := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		*err = fmt.Errorf("%w: it cannot be read: %v", kv.ErrTempFile, p)
	default:
		panic(p) // of something else
	}
}
