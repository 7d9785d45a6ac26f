package kvtest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"kvsqld/storage/kv"
)

// Models runs the parts of the suite that compare with a model.
func Models(t *testing.T, open func(t *testing.T) kv.Store) {
	t.Run("scans", func(t *testing.T) { testScanModel(t, open(t)) })
	t.Run("savepoints", func(t *testing.T) { testSavepointModel(t, open(t)) })
	t.Run("savepoints and locks", func(t *testing.T) { testSavepoints(t, open(t)) })
	t.Run("serializable", func(t *testing.T) { testSerializable(t, open(t)) })
	t.Run("spaces rolled back", func(t *testing.T) { testSpacesRollback(t, open(t)) })
	t.Run("writes over newer states", func(t *testing.T) { testNewestWrites(t, open(t)) })
	t.Run("reads of own writes", func(t *testing.T) { testOwnReads(t, open(t)) })
	t.Run("detached writes", func(t *testing.T) { testDetach(t, open(t)) })
	t.Run("views", func(t *testing.T) { testViews(t, open(t)) })
	t.Run("views as what is seen", func(t *testing.T) { testEnteredView(t, open(t)) })
}

// Spilling returns a store whose transactions move their writes to temporary files
// whenever they take at bytes of memory. When the test ends it fails if bytes of such
// files are still accounted for, or if a file has kept its name.
func Spilling(t testing.TB, st kv.Store, at int64) kv.Store {
	s := &spilling{Store: st, dir: t.TempDir(), at: at}
	t.Cleanup(func() {
		if n := s.bytes.Load(); n != 0 {
			t.Errorf("%d bytes of temporary files are still accounted for", n)
		}
		if left, err := filepath.Glob(filepath.Join(s.dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v, %v", left, err)
		}
	})
	return s
}

type spilling struct {
	kv.Store
	dir   string
	at    int64
	bytes atomic.Int64
}

func (s *spilling) Begin(ctx context.Context, o kv.BeginOpt) (kv.Txn, error) {
	o.Spill = &kv.Spill{
		At: s.at,
		File: func() (*os.File, error) {
			f, err := os.CreateTemp(s.dir, "")
			if err != nil {
				return nil, err
			}
			return f, os.Remove(f.Name())
		},
		Grow: func(n int64) error {
			s.bytes.Add(n)
			return nil
		},
	}
	return s.Store.Begin(ctx, o)
}
