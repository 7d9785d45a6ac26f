package session

import (
	"strings"
	"testing"
)

// TestPrunedLocks changes partitions beside transactions that do not read them, as the
// plan or the values of its parameters say.
func TestPrunedLocks(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("create table pt (id int, d int, v text, primary key (id, d)) partition by list (d)")
	for _, d := range []string{"1", "2", "3", "4"} {
		a.must("create table pt" + d + " partition of pt for values in (" + d + ")")
	}
	a.must("insert into pt select i, 1 + i % 4, 'v' || i from generate_series(1, 100) i")
	a.must("prepare q(int) as select count(*) from pt where d = $1")
	a.must("prepare r(int, int) as select count(*) from pt x join pt y using (id, d) where x.d = $1 and y.d in ($1, $2)")
	a.must("prepare u(int) as update pt set v = v || 'u' where d = $1")
	a.must("prepare m(int, int) as update pt set d = $2 where d = $1 and id = 1")
	a.must("set plan_cache_mode = force_generic_plan")
	b.must("set lock_timeout = '20ms'")
	for q, read := range map[string]string{
		"select count(*) from pt where d = 2":               "2",
		"execute q(2)":                                      "2",
		"execute r(2, 3)":                                   "1234", // read twice
		"select count(*) from pt where d > 2":               "34",
		"select count(*) from pt":                           "1234",
		"select (select count(*) from pt where d = 3), 2":   "3",
		"select count(*) from pt where d = 4 for update":    "error",
		"select count(*) from pt where d = any ('{1,3}')":   "13",
		"select id from pt where d = 4 limit 1 for update":  "1234", // rows of any may have to be looked at again
		"with w as (select * from pt where d = 1) table w":  "1",
		"declare c cursor for select * from pt where d = 1": "1234", // WHERE CURRENT OF may name any

		"insert into pt values (201, 2, 'x')":                                                      "2",
		"insert into pt values (202, 2, 'x'), (203, 4, 'y') returning id":                          "24",
		"insert into pt values (1, 2, 'x') on conflict do nothing":                                 "2",
		"insert into pt select id + 500, 3, v from pt where d = 1":                                 "13",
		"insert into pt values (204, 9, 'x')":                                                      "error",
		"update pt set v = 'z' where d = 3":                                                        "3",
		"update pt set v = 'z' where id = 3":                                                       "1234",
		"update pt set d = 2, v = 'moved' where d = 4 and id = 3":                                  "24",
		"delete from pt where d = 3":                                                               "3",
		"execute u(2)":                                                                             "2",
		"execute m(2, 3)":                                                                          "23",
		"with w as (delete from pt where d = 1 returning *) insert into pt select id, 4, v from w": "14",
		"merge into pt using (values (2)) s(x) on d = x when matched then delete":                  "1234",
	} {
		a.must("begin")
		if got := a.sql(q); strings.Contains(got, "ERROR") != (read == "error") {
			t.Errorf("%s: %s", q, got)
		}
		if read == "error" {
			a.must("rollback")
			continue
		}
		for _, d := range []string{"1", "2", "3", "4"} {
			got := b.sql("alter table pt" + d + " alter v set default 'x'")
			if waits := strings.Contains(got, "55P03"); waits != strings.Contains(read, d) {
				t.Errorf("%s: ALTER TABLE pt%s: %s", q, d, got)
			}
		}
		if got := b.sql("drop table pt3"); !strings.Contains(got, "55P03") { // the table above is locked
			t.Errorf("%s: DROP TABLE: %s", q, got)
		}
		a.must("rollback")
	}
	// What keeps its snapshot locks all that rows may come to before it looks.
	a.must("begin isolation level repeatable read")
	a.must("insert into pt values (201, 2, 'x')")
	if got := b.sql("alter table pt3 alter v set default 'x'"); !strings.Contains(got, "55P03") {
		t.Errorf("ALTER TABLE pt3 beside REPEATABLE READ: %s", got)
	}
	a.must("commit")
}
