//go:build !unix

package boltkv

import "os"

// flock does nothing: what remains is bbolt's own lock of the data file.
func flock(*os.File) (ok bool, err error) { return true, nil }
