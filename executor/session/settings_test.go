package session

import "testing"

func TestSettings(t *testing.T) {
	c := newServer(t).client(t)
	for _, q := range []struct{ sql, want string }{
		{"set work_mem = 'abc'", `ERROR 22023: invalid value for parameter "work_mem": "abc"`},
		{"set work_mem = 1", `ERROR 22023: 1 kB is outside the valid range for parameter "work_mem" (64 .. 2147483647)`},
		{"set nosuch = 1", `ERROR 42704: unrecognized configuration parameter "nosuch"`},
		{"show nosuch", `ERROR 42704: unrecognized configuration parameter "nosuch"`},
		{"set max_connections = 5", `ERROR 55P02: parameter "max_connections" cannot be changed without restarting the server`},
		{"set shared_buffers = '1GB'", `ERROR 55P02: parameter "shared_buffers" cannot be changed without restarting the server`},
		{"set server_version = '1'", `ERROR 55P02: parameter "server_version" cannot be changed`},
		{"set enable_seqscan = maybe", `ERROR 22023: parameter "enable_seqscan" requires a Boolean value`},
		{"set bytea_output = x", `ERROR 22023: invalid value for parameter "bytea_output": "x"`},
		{"set client_encoding = 'LATIN1'", "SET\nclient_encoding=LATIN1"},
		{"set client_encoding = 'johab'", `ERROR 0A000: invalid value for parameter "client_encoding": "johab"`},
		{"set work_mem = 1, 2", "ERROR 22023: SET work_mem takes only one argument"},
		{"set statement_timeout = '5min'; show statement_timeout", "SET\n(statement_timeout)\n5min\nSHOW"},
		{"set datestyle = 'iso, dmy'", "SET\nDateStyle=ISO, DMY"},
		{"set tcp_user_timeout = '90s'; show tcp_user_timeout", "SET\n(tcp_user_timeout)\n90000\nSHOW"},
		{"set search_path = 'A b', public; show search_path", "SET\n(search_path)\n\"A b\", public\nSHOW"},
	} {
		if got := c.sql(q.sql); got != q.want+"\nI" {
			t.Errorf("%s\n%s", q.sql, got)
		}
	}
	c.must("reset all")
	c.want("show statement_timeout", "(statement_timeout)", "0", "SHOW", "I")
}

// TestSettingsTransaction checks that settings follow the transaction.
func TestSettingsTransaction(t *testing.T) {
	c := newServer(t).client(t)
	c.want("begin; set work_mem = '1MB'; rollback; show work_mem", "BEGIN", "SET", "ROLLBACK", "(work_mem)", "4MB", "SHOW", "I")
	c.want("begin; set local work_mem = '1MB'; show work_mem; commit; show work_mem",
		"BEGIN", "SET", "(work_mem)", "1MB", "SHOW", "COMMIT", "(work_mem)", "4MB", "SHOW", "I")
	c.want("begin; set work_mem = '1MB'; savepoint a; set local work_mem = '2MB'; rollback to a; show work_mem; commit; show work_mem",
		"BEGIN", "SET", "SAVEPOINT", "SET", "ROLLBACK", "(work_mem)", "1MB", "SHOW", "COMMIT", "(work_mem)", "1MB", "SHOW", "I")
	c.want("set local work_mem = '3MB'", "WARNING 25P01: SET LOCAL can only be used in transaction blocks", "SET", "I")
	c.want("show work_mem", "(work_mem)", "1MB", "SHOW", "I")
	c.want("select set_config('a.b', 'x', false), current_setting('a.b')", "(set_config,current_setting)", "x|x", "SELECT 1", "I")
	c.want("set time zone 'posix/utc'", "SET", "TimeZone=posix/UTC", "I")
	c.want("set time zone 'Europe/Berlin'", "SET", "TimeZone=Europe/Berlin", "I")
	c.want("select timestamptz '2024-07-01 12:00+00'", "(timestamptz)", "2024-07-01 14:00:00+02", "SELECT 1", "I")
}
