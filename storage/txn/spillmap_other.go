//go:build !unix

package txn

import (
	"errors"
	"os"
)

const canSpill = false

func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) {}
