//go:build !linux

package walkv

func (f osFile) Datasync() error { return f.Sync() }
