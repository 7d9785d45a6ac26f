package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kvsqld/storage"
	"kvsqld/storage/kv"
)

// hookedStore has something happen while a table is being copied.
type hookedStore struct {
	kv.Store
	watches  int
	watching func()                                        // before the first row is copied
	take     func(n int, keys [][][]byte, err error) error // in the n-th Take
}

type hookedWatch struct {
	kv.Watch
	st *hookedStore
	n  int
}

func (s *hookedStore) Watch(ctx context.Context, spaces ...kv.Space) (kv.Watch, error) {
	w, err := s.Store.Watch(ctx, spaces...)
	s.watches++
	if s.watching != nil {
		s.watching()
	}
	return &hookedWatch{Watch: w, st: s}, err
}

func (w *hookedWatch) Take(seq uint64) ([][][]byte, error) {
	keys, err := w.Watch.Take(seq)
	w.n++
	if w.st.take != nil {
		err = w.st.take(w.n, keys, err)
	}
	return keys, err
}

// copied makes two tables alike, of which the first one is to get other layouts, and what
// its hooks do to both.
func copied(t *testing.T, o storage.Options) (srv *Server, st *hookedStore, a *client, change func()) {
	srv = newServerOn(t, o)
	st = &hookedStore{Store: srv.Store}
	srv.Store = st
	a = srv.client(t)
	b := srv.client(t)
	b.must("SET lock_timeout = '1 s'")
	for _, name := range []string{"t", "u"} {
		for _, sql := range []string{
			"CREATE TABLE %s (id int PRIMARY KEY, a int, b text, j jsonb, r int[], n numeric)",
			"CREATE INDEX %[1]s_a ON %[1]s (a)",
			"CREATE INDEX %[1]s_r ON %[1]s USING inverted (r)",
			`INSERT INTO %s SELECT i, nullif(i %% 10, 3), 'b' || i, jsonb_build_object('k', i, 'l', 'x'), ARRAY[i, i %% 7],
				CASE WHEN i %% 3 = 0 THEN i / 4.0 END FROM generate_series(1, 2000) i`,
		} {
			a.must(fmt.Sprintf(sql, name))
		}
	}
	round := 0
	change = func() {
		round++
		for _, sql := range []string{
			"INSERT INTO %s VALUES (-%[2]d, 4, 'new', '{\"k\": 1}', '{7,8}'), (%[2]d + 5000, NULL, NULL, NULL, NULL)",
			"UPDATE %s SET a = coalesce(a, 0) + 1, j['k'] = '\"up\"' WHERE id %% 97 = %[2]d %% 97",
			"UPDATE %s SET id = -id - 100000, r[1] = %[2]d WHERE id = 500 + %[2]d",
			"UPDATE %s SET j = NULL, n = NULL, b = b || b WHERE id = 600 + %[2]d",
			"DELETE FROM %s WHERE id BETWEEN 700 + 10 * %[2]d AND 705 + 10 * %[2]d",
		} {
			for _, name := range []string{"t", "u"} {
				b.must(fmt.Sprintf(sql, name, round))
			}
		}
	}
	return srv, st, a, change
}

// alike compares the two tables.
func alike(t *testing.T, c *client) {
	t.Helper()
	for _, sql := range []string{
		"SELECT count(*) FROM ((TABLE t EXCEPT ALL TABLE u) UNION ALL (TABLE u EXCEPT ALL TABLE t)) d",
		"SELECT count(*) FROM (SELECT id FROM t WHERE a = 4 EXCEPT ALL SELECT id FROM u WHERE a = 4) d",
		"SELECT count(*) FROM (SELECT id FROM t WHERE r @> '{3}' EXCEPT ALL SELECT id FROM u WHERE r @> '{3}') d",
	} {
		if got := c.sql(sql); !strings.Contains(got, "\n0\n") {
			t.Errorf("%s:\n%s", sql, got)
		}
	}
	if got, want := c.sql("SELECT count(*) FROM t WHERE a = 4 AND r @> '{4}'"), c.sql("SELECT count(*) FROM u WHERE a = 4 AND r @> '{4}'"); got != want {
		t.Errorf("by indexes: %s, want %s", got, want)
	}
}

func layouts() []string {
	return []string{"layout = 'column'", "groups = '(a, b), (n)'", "elements = 'j, r'", "layout = 'row'", "elements = ''"}
}

// TestAlterLayoutBesideWriters has another session write to a table while its rows are
// copied, and while the changed ones are: it waits for nobody, and nothing of it is lost.
func TestAlterLayoutBesideWriters(t *testing.T) {
	for name, o := range map[string]storage.Options{
		"mem": {Store: "mem"}, "disk": {Dir: t.TempDir(), NoSync: true},
	} {
		t.Run(name, func(t *testing.T) { alterBesideWriters(t, o) })
	}
}

func alterBesideWriters(t *testing.T, o storage.Options) {
	_, st, a, change := copied(t, o)
	st.watching = change
	st.take = func(n int, _ [][][]byte, err error) error {
		if n == 1 {
			change()
		}
		return err
	}
	// Each file gets another name than the one that it takes the place of.
	for i, set := range append(layouts(), layouts()...) {
		if set == "elements = ''" {
			set = "" // RESET
			a.must("ALTER TABLE t RESET (elements)")
		} else {
			a.must("ALTER TABLE t SET (" + set + ")")
		}
		if st.watches != i+1 {
			t.Fatalf("%q was not copied beside writers", set)
		}
		alike(t, a)
	}
	a.must("INSERT INTO t (id, a) VALUES (1000000, 1)")
	a.must("CREATE TABLE heap (a int, b text)")
	a.must("INSERT INTO heap SELECT i, 'b' || i FROM generate_series(1, 100) i")
	a.must("DELETE FROM heap WHERE a > 50")
	st.watching, st.take = nil, nil
	a.must("ALTER TABLE heap SET (layout = 'column')")
	a.must("INSERT INTO heap VALUES (101, 'new')")
	if got := a.sql("SELECT ctid FROM heap WHERE a = 101"); !strings.Contains(got, "(0,101)") {
		t.Errorf("row numbers begin anew: %s", got)
	}
}

// TestAlterLayoutManyWrites has others change more than is kept.
func TestAlterLayoutManyWrites(t *testing.T) {
	_, st, a, change := copied(t, storage.Options{Store: "mem"})
	st.watching = change
	st.take = func(int, [][][]byte, error) error { return fmt.Errorf("%w: too many", kv.ErrTooLarge) }
	for _, set := range layouts()[:4] {
		a.must("ALTER TABLE t SET (" + set + ")")
		alike(t, a)
	}
}

// TestAlterLayoutFails ends the copy of a table with an error: no file of it stays.
func TestAlterLayoutFails(t *testing.T) {
	srv, st, a, change := copied(t, storage.Options{Store: "mem"})
	files := func() int {
		s, err := srv.Store.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, err := s.Spaces(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := files()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for n := 1; n <= 3; n++ {
		st.take = func(at int, _ [][][]byte, err error) error {
			switch {
			case at == 1:
				change()
			case at == 2 && n == 3:
				cancel()
				return context.Canceled
			}
			if at == n {
				return errors.New("no more of this")
			}
			return err
		}
		if got := a.sqlCtx(ctx, "ALTER TABLE t SET (layout = 'column')"); strings.Contains(got, "ALTER TABLE") {
			t.Errorf("Take %d fails: %s", n, got)
		}
		if got := files(); got != before {
			t.Errorf("Take %d fails: %d files, %d before", n, got, before)
		}
		alike(t, a)
	}
	st.take = nil
	a.must("ALTER TABLE t SET (layout = 'column')")
	alike(t, a)
}

// TestAlterLayoutAlone lists statements that change the layout of what only their own
// transaction sees, or may see: they keep writers out.
func TestAlterLayoutAlone(t *testing.T) {
	_, st, a, _ := copied(t, storage.Options{Store: "mem"})
	a.must("CREATE FUNCTION f() RETURNS void LANGUAGE sql BEGIN ATOMIC END")
	for _, sql := range []string{
		"BEGIN; UPDATE t SET a = 0; ALTER TABLE t SET (layout = 'column'); ROLLBACK",
		"UPDATE t SET a = a; ALTER TABLE t SET (layout = 'column')",
		"CREATE TEMP TABLE own (a int); ALTER TABLE own SET (layout = 'column')",
	} {
		a.must(sql)
	}
	a.must("CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent SELECT generate_series(0, 9)")
	a.must("ALTER TABLE t SET (groups = '(a, b)'), ADD FOREIGN KEY (a) REFERENCES parent NOT VALID") // which keeps writers out
	a.must("ALTER TABLE t DROP CONSTRAINT t_a_fkey")
	a.must("CREATE TABLE root (a int); CREATE TABLE leaf () INHERITS (root)")
	a.must("INSERT INTO leaf VALUES (1)")
	a.must("ALTER TABLE root SET (layout = 'column')")
	if st.watches != 0 {
		t.Errorf("%d tables were copied beside writers", st.watches)
	}
	alike(t, a)
}
