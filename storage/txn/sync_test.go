package txn

import "testing"

// TestGather holds the sync for the batches that others apply when it gives way to
// them, but not for more of them than there are other writers.
func TestGather(t *testing.T) {
	tests := []struct {
		name          string
		writers       int32
		batches, want uint64
	}{
		{"the only writer gives way to nobody", 1, 9, 1},
		{"as long as batches come", 9, 4, 4},
		{"but not for those of transactions that come again", 4, 99, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &syncer{snaps: newSnapshots(&fakeEngine{})}
			s.snaps.endApply(1)
			s.writers.Store(tt.writers)
			s.gather(func() {
				if now := s.snaps.applied(); now < tt.batches {
					s.snaps.endApply(now + 1)
				}
			})
			if got := s.snaps.applied(); got != tt.want {
				t.Errorf("the sync is for %d batches, want %d", got, tt.want)
			}
		})
	}
}
