package expr

import (
	"testing"

	"kvsqld/catalog"
)

// TestRegistryNames holds every registered name to be a function's prosrc.
func TestRegistryNames(t *testing.T) {
	r := functions()
	for src := range r.scalar {
		p := catalog.ProcBySrc(src)
		if p == nil {
			t.Errorf("%s: no such function", src)
		} else if p.RetSet {
			t.Errorf("%s: returns a set", src)
		}
	}
	for src := range r.sets {
		if p := catalog.ProcBySrc(src); p == nil || !p.RetSet {
			t.Errorf("%s: no such set-returning function", src)
		}
	}
}
