package txn

import "testing"

// TestBegunBeforeVisible: a transaction that begins when another's commit is applied and
// not yet visible overlaps it.
func TestBegunBeforeVisible(t *testing.T) {
	var a arena
	request := func(s *serialTxn, key string) *commitReq {
		s.wrote.Store(true)
		return &commitReq{serial: s, writeSet: writeSet{
			changes: []Change{{Space: sp}},
			keys:    [][]window{{{ents: []entry{a.entry([]byte(key), []byte("v"), 0)}}}},
		}}
	}
	for _, visible := range []bool{false, true} {
		var l commitLog
		begin := func(reads string, snap uint64) *serialTxn {
			s := new(serialTxn)
			l.begin(s)
			l.opened(s, snap)
			s.reads.addKey(sp.ID, []byte(reads))
			return s
		}
		commit := func(s *serialTxn, key string, seq uint64) bool {
			ok, err := l.admit(request(s, key))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				l.applied(seq)
			}
			return ok
		}
		l.show(1)
		if !commit(begin("y", 1), "x", 2) {
			t.Fatal("the first fails")
		}
		snap := uint64(1)
		if visible {
			l.show(2)
			snap = 2
		}
		second := begin("x", snap)
		l.show(2)
		if got := commit(second, "y", 3); got != visible {
			t.Errorf("visible at the begin of the second %v: it commits: %v", visible, got)
		}
		l.leave(second)
		l.show(3)
		if len(l.ended)+len(l.commits)+len(l.active)+len(l.pending) > 0 || l.kept != 0 {
			t.Errorf("something is kept: %+v", &l)
		}
	}
}
