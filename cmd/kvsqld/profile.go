package main

import (
	"errors"
	"os"
	"runtime/pprof"
)

// profileTo writes to the file, in pprof's format, where the processor's time goes
// until the returned function is called. No file name, no profile.
func profileTo(file string) (stop func() error, err error) {
	if file == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
