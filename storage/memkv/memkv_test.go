package memkv_test

import (
	"testing"

	"kvsqld/storage/kv"
	"kvsqld/storage/kv/kvtest"
	"kvsqld/storage/memkv"
	"kvsqld/storage/txn"
)

func open(t testing.TB) kv.Store {
	st := memkv.Open(txn.Options{})
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func TestConformance(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store { return open(t) })
}

func BenchmarkMem(b *testing.B) { kvtest.Bench(b, func(b *testing.B) kv.Store { return open(b) }) }
