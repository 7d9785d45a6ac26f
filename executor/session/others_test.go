package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"kvsqld/wire"
)

// in returns a session in another database, as another role.
func (srv *Server) in(t *testing.T, db, user string) *client {
	t.Helper()
	s, err := srv.connect(&wire.StartupParams{User: user, Database: db}, &wire.ConnInfo{PID: lastPID.Add(1)})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, s: s}
	t.Cleanup(s.Close)
	return c
}

func TestDropDatabaseWaitsForItsSessions(t *testing.T) {
	srv := newServer(t)
	srv.client(t).must("CREATE DATABASE a")
	synctest.Test(t, func(t *testing.T) { // its clock stands while a session leaves
		c := srv.client(t)
		other := srv.in(t, "a", "postgres")
		other.must("CREATE TEMP TABLE gone AS SELECT 1 AS a; CREATE TEMP SEQUENCE gone_too; CREATE TEMP VIEW and_this AS SELECT * FROM gone")
		for _, st := range []string{"DROP DATABASE a", "ALTER DATABASE a RENAME TO b"} {
			if got := c.sql(st); !strings.Contains(got, `ERROR 55006: database "a" is being accessed by other users`) {
				t.Errorf("%s beside a session that stays: %s", st, got)
			}
		}
		done := make(chan string)
		go func() { done <- c.sql("DROP DATABASE a") }()
		synctest.Wait()
		other.s.Close()
		if got := <-done; got != "DROP DATABASE\nI" {
			t.Errorf("DROP DATABASE beside a session that ends: %s", got)
		}
	})
}

func TestDropDatabaseForce(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE ROLE r LOGIN")
	c.must("CREATE DATABASE a OWNER r")
	c.must("CREATE DATABASE b")
	other := srv.in(t, "a", "postgres")
	other.must("CREATE TEMP TABLE gone AS SELECT 1 AS a")
	srv.Terminate = func(pid int32) bool {
		if pid == other.s.info.PID {
			go other.s.Close()
		}
		return true
	}
	r := srv.in(t, "b", "r")
	r.want("DROP DATABASE a WITH (FORCE)", "ERROR 42501: must be a superuser to terminate superuser process", "I")
	c.want("DROP DATABASE a WITH (FORCE)", "DROP DATABASE", "I")
}

// TestOthersSessions: what a role may know of the sessions of others, and do to them.
func TestOthersSessions(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	for _, r := range []string{"a", "b", "watcher", "signaller", "member"} {
		c.must("CREATE ROLE " + r + " LOGIN")
	}
	c.must("GRANT pg_read_all_stats TO watcher")
	c.must("GRANT pg_signal_backend TO signaller")
	c.must("GRANT a TO member")
	a := srv.in(t, "postgres", "a")
	a.must("SELECT 'secret'")
	var ended []int32
	note := func(pid int32) bool { ended = append(ended, pid); return true }
	srv.Cancel, srv.Terminate = note, note
	pid := itoa(int(a.s.info.PID))
	super := itoa(int(c.s.info.PID))
	const hidden, seen = "<insufficient privilege>|NULL|NULL", "SELECT 'secret'|idle|client backend"
	for _, x := range []struct{ role, sees, cancel, terminate, super string }{
		{"b", hidden, "42501: must be a member of the role whose query is being canceled or member of pg_signal_backend",
			"42501: must be a member of the role whose process is being terminated or member of pg_signal_backend",
			"42501: must be a superuser to terminate superuser process"},
		{"watcher", seen, "42501: must be a member of the role whose query is being canceled or member of pg_signal_backend",
			"42501: must be a member of the role whose process is being terminated or member of pg_signal_backend",
			"42501: must be a superuser to terminate superuser process"},
		{"signaller", hidden, "", "", "42501: must be a superuser to terminate superuser process"},
		{"member", seen, "", "", "42501: must be a superuser to terminate superuser process"},
		{"postgres", seen, "", "", ""},
	} {
		s := srv.in(t, "postgres", x.role)
		s.want("SELECT query, state, backend_type FROM pg_stat_activity WHERE pid = "+pid, "(query,state,backend_type)", x.sees, "SELECT 1", "I")
		query, _, _ := strings.Cut(x.sees, "|")
		s.want("SELECT query FROM pg_stat_get_activity("+pid+")", "(query)", query, "SELECT 1", "I")
		for _, y := range []struct{ call, fault string }{
			{"pg_cancel_backend(" + pid + ")", x.cancel}, {"pg_terminate_backend(" + pid + ")", x.terminate}, {"pg_terminate_backend(" + super + ")", x.super},
		} {
			ended = nil
			got := s.sql("SELECT " + y.call + " AS ok")
			switch {
			case y.fault != "":
				if got != "(ok)\nERROR "+y.fault+"\nI" || ended != nil {
					t.Errorf("%s as %s: %s, ended %v", y.call, x.role, got, ended)
				}
			case got != "(ok)\nt\nSELECT 1\nI" || len(ended) != 1:
				t.Errorf("%s as %s: %s, ended %v", y.call, x.role, got, ended)
			}
		}
	}
}

// TestVacuumOfOthers: who owns neither tables nor the database vacuums and analyzes
// nothing, and is told so.
func TestVacuumOfOthers(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE ROLE r LOGIN")
	c.must("CREATE TABLE mine (a int)")
	c.must("CREATE TABLE theirs (a int)")
	c.must("ALTER TABLE theirs OWNER TO r")
	r := srv.in(t, "postgres", "r")
	r.want("VACUUM FULL", `WARNING 01000: skipping "mine" --- only table or database owner can vacuum it`, "VACUUM", "I")
	r.want("VACUUM theirs", "VACUUM", "I")
	r.want("ANALYZE", `WARNING 01000: skipping "mine" --- only table or database owner can analyze it`, "ANALYZE", "I")
	r.want("VACUUM (ANALYZE) mine, theirs", `WARNING 01000: skipping "mine" --- only table or database owner can vacuum it`, "VACUUM", "I")
}
