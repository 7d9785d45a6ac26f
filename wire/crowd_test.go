package wire

import (
	"slices"
	"testing"
	"time"
)

// TestCrowdTells: a crowd that sends short messages is told of, once, after two counts
// that agree, and so is its end: where fewer are left, or where their messages are long work.
func TestCrowdTells(t *testing.T) {
	var told []bool
	w := crowd{tell: func(crowded bool) { told = append(told, crowded) }}
	now := time.Now()
	count := func(conns int32, pace time.Duration) {
		for range crowdTurns - 1 {
			conns--
			w.meet(max(conns, 0))
		}
		now = now.Add(pace)
		w.count(now)
		w.turns.Store(0)
	}
	quick, slow := crowdPace/10, crowdPace
	for i, step := range []struct {
		conns int32
		pace  time.Duration
		want  []bool
	}{
		{spinCrowd + 1, slow, nil},
		{spinCrowd + 1, slow, nil},
		{spinCrowd + 1, quick, nil},
		{spinCrowd, quick, nil},
		{spinCrowd + 1, quick, nil},
		{spinCrowd + 1, quick, []bool{true}},
		{spinCrowd + 1, quick, []bool{true}},
		{spinCrowd, quick, []bool{true}},
		{spinCrowd, quick, []bool{true, false}},
		{spinCrowd + 1, quick, []bool{true, false}},
		{spinCrowd + 1, quick, []bool{true, false, true}},
		{spinCrowd + 1, slow, []bool{true, false, true}},
		{spinCrowd + 1, slow, []bool{true, false, true, false}},
	} {
		count(step.conns, step.pace)
		if !slices.Equal(told, step.want) {
			t.Fatalf("step %d: told %v, want %v", i, told, step.want)
		}
	}
}
