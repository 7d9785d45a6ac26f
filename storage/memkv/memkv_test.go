package memkv_test

import (
	"fmt"
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

// TestConformanceSpilling has most of the transactions' writes in files.
func TestConformanceSpilling(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store { return kvtest.Spilling(t, open(t), 50_000) })
}

// TestModelsSpilling has a few at a time in a file.
func TestModelsSpilling(t *testing.T) {
	for _, at := range []int64{400, 3000} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			kvtest.Models(t, func(t *testing.T) kv.Store { return kvtest.Spilling(t, open(t), at) })
		})
	}
}

func BenchmarkMem(b *testing.B) { kvtest.Bench(b, func(b *testing.B) kv.Store { return open(b) }) }
