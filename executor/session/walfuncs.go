package session

import (
	"fmt"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// walSegment is the size of a file of PostgreSQL's write-ahead log.
const walSegment = 16 << 20

// recoveryFuncs are those about the write-ahead log's files, recovery, logs and
// commit timestamps, of which this server has none: each answers as PostgreSQL does
// where they are off.
func recoveryFuncs(m map[string]catalogFunc) {
	name := func(lsn uint64) string {
		n := lsn / walSegment
		return fmt.Sprintf("%08X%08X%08X", 1, n/256, n%256)
	}
	m["pg_walfile_name"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(name(types.WordValue(c.a[0].B)-1), true)
	}
	m["pg_walfile_name_offset"] = func(c *catalogCall) (types.Datum, error) {
		lsn := types.WordValue(c.a[0].B)
		return types.NewRecord([]types.Datum{types.Text(name(lsn - 1)), types.Int(types.TInt4, int64(lsn%walSegment))}), nil
	}
	fails := func(of func() error, names ...string) {
		for _, n := range names {
			m[n] = func(*catalogCall) (types.Datum, error) { return types.Datum{}, of() }
		}
	}
	fails(func() error {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "recovery is not in progress").
			WithHint("Recovery control functions can only be executed during recovery.")
	}, "pg_is_wal_replay_paused", "pg_get_wal_replay_pause_state", "pg_wal_replay_pause", "pg_wal_replay_resume", "pg_promote")
	noTimestamps := func() error {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "could not get commit timestamp data").
			WithHint("Make sure the configuration parameter \"track_commit_timestamp\" is set.")
	}
	fails(noTimestamps, "pg_last_committed_xact")
	for _, n := range []string{"pg_xact_commit_timestamp", "pg_xact_commit_timestamp_origin"} {
		m[n] = func(c *catalogCall) (types.Datum, error) {
			if c.num(0) == 0 {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "cannot retrieve commit timestamp for transaction 0")
			}
			return types.Datum{}, noTimestamps()
		}
	}
	for _, n := range []string{"pg_event_trigger_table_rewrite_oid", "pg_event_trigger_table_rewrite_reason"} {
		fails(func() error { return eventTriggerOnly(n) }, n)
	}
	for _, n := range []string{"pg_last_wal_receive_lsn", "pg_last_wal_replay_lsn", "pg_last_xact_replay_timestamp",
		"pg_stat_get_snapshot_timestamp", "pg_current_logfile"} {
		m[n] = answerNull
	}
	m["pg_current_logfile_1arg"] = func(c *catalogCall) (types.Datum, error) {
		if !c.a[0].Null && !slices.Contains([]string{"stderr", "csvlog", "jsonlog"}, c.str(0)) {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "log format \"%s\" is not supported", c.str(0)).
				WithHint("The supported log formats are \"stderr\", \"csvlog\", and \"jsonlog\".")
		}
		return c.null()
	}
	for _, n := range []string{"pg_rotate_logfile", "pg_rotate_logfile_v2"} {
		m[n] = func(c *catalogCall) (types.Datum, error) {
			c.tell(warning(sqlerr.Warning, "rotation not possible because log collection not active"))
			return types.Bool(false), nil
		}
	}
}

// eventTriggerOnly is the error of a function outside of an event trigger.
func eventTriggerOnly(name string) error {
	kind := map[string]string{"pg_event_trigger_dropped_objects": "a sql_drop", "pg_event_trigger_ddl_commands": "an"}[name]
	if kind == "" {
		kind = "a table_rewrite"
	}
	return sqlerr.New(sqlerr.EventTriggerProtocolViolated, "%s() can only be called in %s event trigger function", name, kind)
}
