package session

import (
	"strings"
	"testing"
)

// TestForeignKeyMeetsDDL has statements of an older state follow foreign keys to
// tables that a definition has given another form since: their own transaction's
// definition, which they read through, or that of others, which may be 40001 and is
// never taken for damage.
func TestForeignKeyMeetsDDL(t *testing.T) {
	definitions := []string{
		"ALTER TABLE child SET (layout = 'column')", "ALTER TABLE child ALTER p TYPE bigint", "CREATE INDEX ON child (p)",
		"CREATE INDEX ON child USING inverted (p)", "ALTER TABLE child DROP CONSTRAINT child_pkey", "ALTER TABLE child ADD more int DEFAULT 1",
		"ALTER TABLE parent SET (layout = 'column')", "ALTER TABLE parent ALTER v TYPE bigint", "ALTER TABLE parent ADD more float8 DEFAULT random()",
		"ALTER TABLE child DROP n", "TRUNCATE child",
	}
	for _, tt := range []struct{ action, statement, want string }{
		{"CASCADE", "DELETE FROM parent WHERE id = 1", "SELECT count(*) FROM child WHERE p = 1: 0"},
		{"SET NULL", "DELETE FROM parent WHERE id = 1", "SELECT count(*) FROM child WHERE p = 1: 0"},
		{"NO ACTION", "DELETE FROM parent WHERE id = 9", "SELECT count(*) FROM parent: 8"},
		{"RESTRICT", "DELETE FROM parent WHERE id = 9", "SELECT count(*) FROM parent: 8"},
		{"NO ACTION", "DELETE FROM parent WHERE id = 1", "23503"},
		{"CASCADE", "UPDATE parent SET id = 11 WHERE id = 1", "SELECT count(*) FROM child WHERE p = 1: 0"},
		{"CASCADE", "INSERT INTO child (id, p) VALUES (100, 9)", "SELECT p FROM child WHERE id = 100: 9"},
		{"CASCADE", "INSERT INTO child (id, p) VALUES (100, 99)", "23503"},
	} {
		for _, ddl := range definitions {
			for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
				for _, who := range []string{"own", "other"} {
					t.Run(strings.Join([]string{tt.action, tt.statement, ddl, level, who}, "/"), func(t *testing.T) {
						srv := newServer(t)
						a, b := srv.client(t), srv.client(t)
						a.must("CREATE TABLE other (x int)")
						a.must("CREATE TABLE parent (id int PRIMARY KEY, v int)")
						a.must("CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent ON DELETE " + tt.action + " ON UPDATE " + tt.action + ", n text)")
						a.must("INSERT INTO parent SELECT i, i FROM generate_series(1, 9) i; INSERT INTO child SELECT i, i % 8, 'n' FROM generate_series(1, 40) i WHERE i % 8 > 0")
						a.must("BEGIN ISOLATION LEVEL " + level)
						a.must("SELECT count(*) FROM other")
						b.must("INSERT INTO other VALUES (1)")
						if who == "own" {
							a.must(ddl)
						} else {
							b.must(ddl)
						}
						got := a.sql(tt.statement)
						query, want, ok := strings.Cut(tt.want, ": ")
						switch {
						case strings.Contains(got, "ERROR 40001") && level != "READ COMMITTED":
							a.must("ROLLBACK")
							srv.checkTables(t)
							return
						case ddl == "TRUNCATE child" && tt.want == "23503" && strings.HasPrefix(tt.statement, "DELETE"): // nothing refers to it any more
						case ddl == "TRUNCATE child" && who == "other" && level != "READ COMMITTED" && !strings.Contains(got, "ERROR"):
							// Gone rows are none of the action's, and seen for as long as the snapshot is kept.
						case !ok:
							if !strings.Contains(got, "ERROR "+tt.want) {
								t.Errorf("%s\n%s", tt.statement, got)
							}
						default:
							if strings.Contains(got, "ERROR") {
								t.Errorf("%s\n%s", tt.statement, got)
							} else if got := a.sql(query); !strings.Contains(got, "\n"+want+"\n") {
								t.Errorf("%s\n%s", query, got)
							}
						}
						a.sql("COMMIT")
						srv.checkTables(t)
					})
				}
			}
		}
	}
}
