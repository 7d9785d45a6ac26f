package boltkv_test

import (
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/kv/kvtest"
	"kvsqld/storage/walkv"
)

func open(t testing.TB, dir string, opt boltkv.Options) kv.Store {
	t.Helper()
	st, err := boltkv.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func TestConformance(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store { return open(t, t.TempDir(), boltkv.Options{NoSync: true}) })
}

// TestModelsSpilling commits what transactions have in temporary files, by the log and
// past it.
func TestModelsSpilling(t *testing.T) {
	for _, direct := range []int{0, 500} {
		kvtest.Models(t, func(t *testing.T) kv.Store {
			opt := boltkv.Options{NoSync: true, Log: walkv.Options{DirectBytes: direct}}
			return kvtest.Spilling(t, open(t, t.TempDir(), opt), 400)
		})
	}
}

func BenchmarkBolt(b *testing.B) {
	kvtest.Bench(b, func(b *testing.B) kv.Store { return open(b, b.TempDir(), boltkv.Options{}) })
}
