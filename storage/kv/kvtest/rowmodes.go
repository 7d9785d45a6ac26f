package kvtest

import (
	"testing"

	"kvsqld/storage/kv"
)

// testRowModes goes through PostgreSQL's conflict table, then through what a
// weaker lock leaves to others: reading a key's existence, and writing.
func testRowModes(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	modes := []kv.RowLockMode{kv.ForUpdate, kv.ForNoKeyUpdate, kv.ForShare, kv.ForKeyShare}
	conflicts := [4]string{"xxxx", "xxx.", "xx..", "x..."}
	for _, held := range modes {
		for _, wanted := range modes {
			a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
			_, err := lock(a, sp, kv.LockOpt{Mode: held}, "k")
			must(t, err)
			if _, err = lock(b, sp, kv.LockOpt{Mode: wanted}, "k"); conflicts[held][wanted] == 'x' {
				wantErr(t, err, kv.ErrLockTimeout)
			} else {
				must(t, err)
			}
			a.Rollback()
			b.Rollback()
		}
	}
	t.Run("writing beside a key share", func(t *testing.T) {
		child, w := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		defer child.Rollback()
		_, err := lock(child, sp, kv.LockOpt{Mode: kv.ForKeyShare}, "k")
		must(t, err)
		_, err = lock(w, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate}, "k")
		must(t, err)
		must(t, w.Put(sp, []byte("k"), []byte("2")))
		must(t, w.Commit(ctx))
		late := begin(t, st, kv.BeginOpt{})
		defer late.Rollback()
		wantErr(t, late.Delete(sp, []byte("k")), kv.ErrConflict)
	})
	t.Run("a waiter lets pass whom it does not exclude", func(t *testing.T) {
		a, b, c := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		_, err := lock(a, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate}, "k")
		must(t, err)
		ch := async(t, st, func() error {
			_, err := lock(b, sp, kv.LockOpt{Wait: kv.WaitForever, Mode: kv.ForNoKeyUpdate}, "k")
			return err
		})
		waiting(t, ch)
		_, err = lock(c, sp, kv.LockOpt{Mode: kv.ForKeyShare}, "k")
		must(t, err)
		a.Rollback()
		must(t, result(t, ch))
		b.Rollback()
		c.Rollback()
	})
	t.Run("IfAbsent", func(t *testing.T) { testIfAbsent(t, st, sp) })
	t.Run("IfAbsent beside who shares", func(t *testing.T) { testAbsentPasses(t, st, sp) })
	t.Run("IfWritten", func(t *testing.T) { testIfWritten(t, st, sp) })
	t.Run("IfWritten, undone", func(t *testing.T) { testIfWrittenUndone(t, st, sp) })
	t.Run("IfPresent", func(t *testing.T) { testIfPresent(t, st, sp) })
	t.Run("what is not to be locked is not after a wait", func(t *testing.T) { testNotAfterWait(t, st, sp) })
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
}

// testNotAfterWait waits for transactions that make and delete keys: the locks that it
// waited for are not kept where the keys are not those that were to be locked, but for
// one that it had before.
func testNotAfterWait(t *testing.T, st kv.Store, sp kv.Space) {
	for _, c := range []struct {
		name    string
		was     bool
		o       kv.LockOpt
		deletes bool
		kept    bool
	}{
		{"IfAbsent, made", false, kv.LockOpt{IfAbsent: true}, false, false},
		{"IfAbsent, deleted", true, kv.LockOpt{IfAbsent: true}, true, true},
		{"IfPresent, deleted", true, kv.LockOpt{IfPresent: true}, true, false},
		{"IfPresent, changed", true, kv.LockOpt{IfPresent: true}, false, true},
		{"deleted", true, kv.LockOpt{}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := "wait " + c.name
			if c.was {
				put(t, st, sp, key, "1")
			}
			writer, tx, other := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
			defer tx.Rollback()
			defer other.Rollback()
			if c.deletes {
				must(t, writer.Delete(sp, []byte(key)))
			} else {
				must(t, writer.Put(sp, []byte(key), []byte("2")))
			}
			o := c.o
			o.Wait = kv.WaitForever
			var r kv.LockResult
			ch := async(t, st, func() (err error) {
				r, err = lock(tx, sp, o, key)
				return err
			})
			waiting(t, ch)
			must(t, writer.Commit(ctx))
			must(t, result(t, ch))
			if !r.Changed || (r.Val != nil) == c.deletes {
				t.Errorf("result %+v", r)
			}
			_, err := lock(other, sp, kv.LockOpt{}, key)
			if c.kept {
				wantErr(t, err, kv.ErrLockTimeout)
			} else {
				must(t, err)
			}
		})
	}
	put(t, st, sp, "mine", "1")
	tx, other := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	defer tx.Rollback()
	defer other.Rollback()
	_, err := lock(tx, sp, kv.LockOpt{}, "mine")
	must(t, err)
	_, err = lock(tx, sp, kv.LockOpt{IfAbsent: true}, "mine")
	must(t, err)
	_, err = lock(other, sp, kv.LockOpt{}, "mine")
	wantErr(t, err, kv.ErrLockTimeout)
}

// testIfPresent locks keys that exist and only reports those that do not.
func testIfPresent(t *testing.T, st kv.Store, sp kv.Space) {
	present := kv.LockOpt{IfPresent: true, Mode: kv.ForKeyShare}
	put(t, st, sp, "p", "1")
	holder := begin(t, st, kv.BeginOpt{})
	must(t, holder.Put(sp, []byte("q"), []byte("1")))
	tx := begin(t, st, kv.BeginOpt{})
	defer tx.Rollback()
	if r, err := lock(tx, sp, present, "q"); err != nil || r.Val != nil || tx.Wrote(sp, []byte("q")) {
		t.Fatalf("a key that another inserts: %+v, %v", r, err)
	}
	if r, err := lock(holder, sp, present, "q"); err != nil || r.Val == nil || !holder.Wrote(sp, []byte("q")) {
		t.Fatalf("an own key: %+v, %v", r, err)
	}
	must(t, holder.Delete(sp, []byte("p")))
	_, err := lock(tx, sp, present, "p")
	wantErr(t, err, kv.ErrLockTimeout)
	if r, err := lock(holder, sp, present, "p"); err != nil || r.Val != nil || !holder.Wrote(sp, []byte("p")) {
		t.Fatalf("a key that it has deleted: %+v, %v", r, err)
	}
	must(t, holder.Commit(ctx))
	if r, err := lock(tx, sp, present, "q"); err != nil || r.Val == nil || !r.Changed {
		t.Fatalf("a key that is newer than the snapshot: %+v, %v", r, err)
	}
	if r, err := lock(tx, sp, present, "p"); err != nil || r.Val != nil || !r.Changed {
		t.Fatalf("a key that has been deleted since: %+v, %v", r, err)
	}
	deleter := begin(t, st, kv.BeginOpt{})
	defer deleter.Rollback()
	must(t, deleter.Put(sp, []byte("r"), []byte("1")))
	if r, err := lock(tx, sp, present, "r"); err != nil || r.Val != nil {
		t.Fatalf("a key that another inserts: %+v, %v", r, err)
	}
	_, err = lock(deleter, sp, kv.LockOpt{}, "q")
	wantErr(t, err, kv.ErrLockTimeout) // tx shares it
}

// testIfAbsent locks keys that are absent and only reports those that exist.
func testIfAbsent(t *testing.T, st kv.Store, sp kv.Space) {
	absent := kv.LockOpt{IfAbsent: true}
	holder := begin(t, st, kv.BeginOpt{})
	_, err := lock(holder, sp, kv.LockOpt{}, "k")
	must(t, err)
	tx := begin(t, st, kv.BeginOpt{})
	defer tx.Rollback()
	if r, err := lock(tx, sp, absent, "k"); err != nil || r.Val == nil {
		t.Fatalf("a key that is only locked: %+v, %v", r, err)
	}
	if r, err := lock(tx, sp, absent, "new"); err != nil || r.Val != nil {
		t.Fatalf("a new key: %+v, %v", r, err)
	}
	_, err = lock(holder, sp, absent, "new")
	wantErr(t, err, kv.ErrLockTimeout)
	must(t, holder.Delete(sp, []byte("k")))
	_, err = lock(tx, sp, absent, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	must(t, holder.Commit(ctx))
	if r, err := lock(tx, sp, absent, "k"); err != nil || r.Val != nil || !r.Changed {
		t.Fatalf("a key that has been deleted: %+v, %v", r, err)
	}
	put(t, st, sp, "later", "1")
	if r, err := lock(tx, sp, absent, "later"); err != nil || r.Val == nil || !r.Changed {
		t.Fatalf("a key that is newer than the snapshot: %+v, %v", r, err)
	}
}

// testIfWritten waits for who is writing a key, not for who has it locked only, and keeps
// no lock.
func testIfWritten(t *testing.T, st kv.Store, sp kv.Space) {
	for _, ends := range []string{"commits", "rolls back"} {
		put(t, st, sp, "w", "1")
		writer, tx, other := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		_, err := lock(writer, sp, kv.LockOpt{}, "w")
		must(t, err)
		if r, err := lock(tx, sp, kv.LockOpt{IfWritten: true}, "w"); err != nil || r.Changed || r.Val != nil {
			t.Fatalf("a key that is only locked: %+v, %v", r, err)
		}
		writer.Rollback()
		writer = begin(t, st, kv.BeginOpt{})
		_, err = lock(tx, sp, kv.LockOpt{Mode: kv.ForKeyShare}, "w")
		must(t, err)
		_, err = lock(writer, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate}, "w")
		must(t, err)
		must(t, writer.Put(sp, []byte("w"), []byte("2")))
		if r, err := lock(writer, sp, kv.LockOpt{IfWritten: true}, "w"); err != nil || r.Changed {
			t.Fatalf("who is writing it: %+v, %v", r, err)
		}
		_, err = lock(tx, sp, kv.LockOpt{IfWritten: true}, "w")
		wantErr(t, err, kv.ErrLockTimeout)
		var res [2]kv.LockResult
		var waiters [2]<-chan error
		for i, w := range []kv.Txn{tx, other} {
			waiters[i] = async(t, st, func() (err error) {
				res[i], err = lock(w, sp, kv.LockOpt{IfWritten: true, Wait: kv.WaitForever}, "w")
				return err
			})
			waiting(t, waiters[i])
		}
		if ends == "commits" {
			must(t, writer.Commit(ctx))
		} else {
			writer.Rollback()
		}
		for i := range waiters {
			must(t, result(t, waiters[i]))
			if res[i].Changed != (ends == "commits") {
				t.Errorf("the writer %s: %+v", ends, res[i])
			}
		}
		last := begin(t, st, kv.BeginOpt{})
		_, err = lock(last, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate}, "w")
		must(t, err) // the lock that one of them had is as weak as it was
		tx.Rollback()
		_, err = lock(last, sp, kv.LockOpt{}, "w")
		must(t, err) // no lock has come to them
		last.Rollback()
		other.Rollback()
	}
}

// testIfWrittenUndone waits for a writer who goes back to a savepoint, where he had the key
// locked already, or had written it, too.
func testIfWrittenUndone(t *testing.T, st kv.Store, sp kv.Space) {
	for _, before := range []string{"locked", "written", "locked only, to be written"} {
		put(t, st, sp, "w", "1")
		writer, tx := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		_, err := lock(writer, sp, kv.LockOpt{}, "w")
		must(t, err)
		if before == "written" {
			must(t, writer.Put(sp, []byte("w"), []byte("2")))
		}
		point, mark := writer.Savepoint(), writer.LockMark()
		if before == "locked only, to be written" {
			_, err = lock(writer, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate, AsWritten: true}, "w")
			must(t, err)
		} else {
			must(t, writer.Put(sp, []byte("w"), []byte("3")))
		}
		var r kv.LockResult
		ch := async(t, st, func() (err error) {
			r, err = lock(tx, sp, kv.LockOpt{IfWritten: true, Wait: kv.WaitForever}, "w")
			return err
		})
		waiting(t, ch)
		writer.RollbackTo(point)
		writer.UnlockTo(mark)
		if before == "written" {
			waiting(t, ch)
			must(t, writer.Commit(ctx))
		}
		must(t, result(t, ch))
		if r.Changed != (before == "written") {
			t.Errorf("a key that was %s: %+v", before, r)
		}
		_, err = lock(tx, sp, kv.LockOpt{}, "w")
		if before != "written" {
			wantErr(t, err, kv.ErrLockTimeout)
		} else {
			must(t, err)
		}
		tx.Rollback()
		writer.Rollback()
	}
}

// testAbsentPasses has several who are to find a key absent wait for its writer, and not
// for who only has its row locked; but for who is about to make it they wait.
func testAbsentPasses(t *testing.T, st kv.Store, sp kv.Space) {
	absent := kv.LockOpt{IfAbsent: true, Wait: kv.WaitForever}
	for _, beside := range []string{"shares", "waits to update"} {
		put(t, st, sp, "kept", "1")
		other, writer := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		var others <-chan error
		if beside == "shares" {
			_, err := lock(other, sp, kv.LockOpt{Mode: kv.ForKeyShare}, "kept")
			must(t, err)
		}
		_, err := lock(writer, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate}, "kept")
		must(t, err)
		must(t, writer.Put(sp, []byte("kept"), []byte("2")))
		if beside != "shares" {
			others = async(t, st, func() error {
				_, err := lock(other, sp, kv.LockOpt{Mode: kv.ForNoKeyUpdate, Wait: kv.WaitForever}, "kept")
				return err
			})
			waiting(t, others)
		}
		var waiters [3]<-chan error
		var res [3]kv.LockResult
		for i := range waiters {
			tx := begin(t, st, kv.BeginOpt{})
			defer tx.Rollback()
			waiters[i] = async(t, st, func() (err error) {
				res[i], err = lock(tx, sp, absent, "kept")
				return err
			})
			waiting(t, waiters[i])
		}
		must(t, writer.Commit(ctx))
		if others != nil {
			must(t, result(t, others))
		}
		for i := range waiters {
			must(t, result(t, waiters[i]))
			if string(res[i].Val) != "2" {
				t.Errorf("beside who %s: found %+v", beside, res[i])
			}
		}
		other.Rollback()
		tx := begin(t, st, kv.BeginOpt{})
		_, err = lock(tx, sp, kv.LockOpt{}, "kept")
		must(t, err) // none of them has kept a lock
		tx.Rollback()
	}
	first, second := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	defer first.Rollback()
	defer second.Rollback()
	_, err := lock(first, sp, absent, "coming")
	must(t, err)
	ch := async(t, st, func() error {
		_, err := lock(second, sp, absent, "coming")
		return err
	})
	waiting(t, ch)
	must(t, first.Put(sp, []byte("coming"), []byte("1")))
	waiting(t, ch)
	first.Rollback()
	must(t, result(t, ch))
}
