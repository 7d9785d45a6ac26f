package types

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// What Next passes over is not taken, what it stops at is, or is far away.
func TestSampleNext(t *testing.T) {
	for _, percent := range []float64{0, 0.01, 1, 50, 99.9, 100} {
		s := NewSample(percent, 7, true)
		taken := 0
		var wanted []byte // no key below it is
		for i := range 1 << 16 {
			key := binary.BigEndian.AppendUint16(nil, uint16(i))
			in := s.Takes(key)
			if in {
				taken++
			}
			next := s.Next(nil, key)
			switch {
			case in != (next == nil):
				t.Fatalf("%g %%: key %d: taken %v, next %x", percent, i, in, next)
			case in && bytes.Compare(key, wanted) < 0:
				t.Fatalf("%g %%: key %d is taken and passed over", percent, i)
			case next != nil && bytes.Compare(next, key) <= 0:
				t.Fatalf("%g %%: key %d: next %x", percent, i, next)
			case next != nil:
				wanted = next
			}
		}
		if want := percent / 100 * (1 << 16); float64(taken) < want*0.9-512 || float64(taken) > want*1.1+512 {
			t.Errorf("%g %%: %d of %d keys are taken", percent, taken, 1<<16)
		}
	}
}

func TestSampleParts(t *testing.T) {
	for _, width := range []int{2, 4, 5, 8, 16, 19} {
		s := NewSample(10, 3, false)
		taken := 0
		for i := range 20000 {
			key := make([]byte, width)
			binary.BigEndian.PutUint16(key[width-2:], uint16(i))
			if s.Takes(key) {
				taken++
			}
		}
		if taken < 1800 || taken > 2200 {
			t.Errorf("%d bytes: %d of 20000 keys are taken", width, taken)
		}
	}
}
