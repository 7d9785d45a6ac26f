package wire

import (
	"errors"
	"sync"
	"testing"

	"kvsqld/catalog/sqlerr"
)

// TestCancelMeetsOneCall cancels while calls begin and end: a call that was cancelled
// knows it when it has ended, and no other call gets its context.
func TestCancelMeetsOneCall(t *testing.T) {
	const calls = 20_000
	var s statement
	var wg sync.WaitGroup
	stop := make(chan struct{})
	hit := make([]map[uint64]bool, 2) // by who cancels: the calls that were surely met
	for i := range hit {
		hit[i] = make(map[uint64]bool)
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before, _ := s.progress()
				met := s.cancel(sqlerr.New(sqlerr.QueryCanceled, "canceled"))
				if after, running := s.progress(); met && running && before == after {
					hit[i][before] = true
				}
			}
		})
	}
	cancelled := make(map[uint64]bool)
	for range calls {
		ctx := s.begin()
		seq, running := s.progress()
		if !running || s.current() != ctx {
			t.Fatal("the call is not running")
		}
		s.end()
		if ctx.Err() == nil {
			continue
		}
		cancelled[seq] = true
		if s.ctx == ctx {
			t.Fatal("the next call would have the context of one that was cancelled")
		}
	}
	close(stop)
	wg.Wait()
	for _, m := range hit {
		for seq := range m {
			if !cancelled[seq] {
				t.Fatalf("call %d was cancelled and did not know it", seq)
			}
		}
	}
	if s.cancel(sqlerr.New(sqlerr.QueryCanceled, "canceled")) {
		t.Error("there is no call to cancel")
	}
	if ctx := s.begin(); ctx.Err() != nil {
		t.Error("a cancel between two calls met the later one")
	}
	s.cancel(sqlerr.New(sqlerr.QueryCanceled, "canceled"))
	if !errors.Is(s.current().Err(), s.ctx.Err()) || s.ctx.Err() == nil {
		t.Error("the running call was not cancelled")
	}
}

// TestSeverMeetsEveryCall ends connections at any moment: a call that begins has
// either been told so or is cancelled.
func TestSeverMeetsEveryCall(t *testing.T) {
	end := adminShutdown()
	for range 2000 {
		s := new(statement)
		var wg sync.WaitGroup
		wg.Go(func() {
			s.sever(end)
			s.cancel(end)
		})
		ctx := s.begin()
		if err := s.refusal(); err == nil {
			<-ctx.Done() // a call that was missed hangs the test
		} else if err != error(end) {
			t.Fatalf("refused with %v", err)
		}
		s.end()
		wg.Wait()
	}
}
