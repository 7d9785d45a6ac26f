package vfs

// lengthen makes a file to bytes long, without room for them, unless it is longer.
func (f osFile) lengthen(to int64) error {
	fi, err := f.Stat()
	if err != nil || fi.Size() >= to {
		return err
	}
	return f.Truncate(to)
}
