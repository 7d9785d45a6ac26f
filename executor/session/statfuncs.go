package session

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// statFuncs are the functions below PostgreSQL's statistics views: pg_stat_get_… by
// relation, database, function and session, and those that reset the counters.
func statFuncs(m map[string]catalogFunc) {
	relStatFuncs(m)
	dbStatFuncs(m)
	logStatFuncs(m)
	backendFuncs(m)
	resetFuncs(m)
	for name, of := range map[string]func(s pgcatalog.FunctionStats) types.Datum{
		"calls":      func(s pgcatalog.FunctionStats) types.Datum { return types.Int(types.TInt8, s.Calls) },
		"total_time": func(s pgcatalog.FunctionStats) types.Datum { return types.Float(types.TFloat8, s.Total) },
		"self_time":  func(s pgcatalog.FunctionStats) types.Datum { return types.Float(types.TFloat8, s.Self) },
	} {
		for prefix, xact := range map[string]bool{"pg_stat_get_function_": false, "pg_stat_get_xact_function_": true} {
			m[prefix+name] = func(c *catalogCall) (types.Datum, error) {
				s, called := c.functionStats(c.oid(0), xact)
				if !called {
					return c.null()
				}
				return of(s), nil
			}
		}
	}
}

func relStatFuncs(m map[string]catalogFunc) {
	count := func(name string, of func(s *pgcatalog.RelStats) int64) {
		m["pg_stat_get_"+name] = func(c *catalogCall) (types.Datum, error) {
			s := c.relStats(c.oid(0))
			return c.integer(of(&s))
		}
		m["pg_stat_get_xact_"+name] = func(c *catalogCall) (types.Datum, error) {
			s := c.xactStats(c.oid(0))
			return c.integer(of(&s))
		}
	}
	count("numscans", func(s *pgcatalog.RelStats) int64 { return s.Scans })
	count("tuples_returned", func(s *pgcatalog.RelStats) int64 { return s.Returned })
	count("tuples_fetched", func(s *pgcatalog.RelStats) int64 { return s.Fetched })
	count("tuples_inserted", func(s *pgcatalog.RelStats) int64 { return s.Inserted })
	count("tuples_updated", func(s *pgcatalog.RelStats) int64 { return s.Updated })
	count("tuples_deleted", func(s *pgcatalog.RelStats) int64 { return s.Deleted })
	count("tuples_hot_updated", func(*pgcatalog.RelStats) int64 { return 0 })
	count("blocks_fetched", func(s *pgcatalog.RelStats) int64 { return s.Reads })
	count("blocks_hit", func(s *pgcatalog.RelStats) int64 { return s.Reads })
	count("live_tuples", func(s *pgcatalog.RelStats) int64 { return s.Live })
	count("dead_tuples", func(*pgcatalog.RelStats) int64 { return 0 })
	count("mod_since_analyze", func(s *pgcatalog.RelStats) int64 { return s.SinceAnalyze })
	count("ins_since_vacuum", func(s *pgcatalog.RelStats) int64 { return s.SinceVacuum })
	for kind, of := range map[string]func(s *pgcatalog.RelStats) pgcatalog.Runs{
		"vacuum":      func(s *pgcatalog.RelStats) pgcatalog.Runs { return s.Vacuum },
		"autovacuum":  func(*pgcatalog.RelStats) pgcatalog.Runs { return pgcatalog.Runs{} },
		"analyze":     func(s *pgcatalog.RelStats) pgcatalog.Runs { return s.Analyze },
		"autoanalyze": func(s *pgcatalog.RelStats) pgcatalog.Runs { return s.AutoAnalyze },
	} {
		m["pg_stat_get_"+kind+"_count"] = func(c *catalogCall) (types.Datum, error) {
			s := c.relStats(c.oid(0))
			return c.integer(of(&s).N)
		}
		m["pg_stat_get_last_"+kind+"_time"] = func(c *catalogCall) (types.Datum, error) {
			s := c.relStats(c.oid(0))
			return c.moment(of(&s).Last)
		}
	}
}

// moment returns a time, NULL for 0.
func (c *catalogCall) moment(t int64) (types.Datum, error) {
	if t == 0 {
		return c.null()
	}
	return c.integer(t)
}

func dbStatFuncs(m map[string]catalogFunc) {
	for name, of := range map[string]func(s *pgcatalog.DBStats) int64{
		"numbackends":               func(s *pgcatalog.DBStats) int64 { return s.Backends },
		"xact_commit":               func(s *pgcatalog.DBStats) int64 { return s.Commits },
		"xact_rollback":             func(s *pgcatalog.DBStats) int64 { return s.Rollbacks },
		"blocks_fetched":            func(s *pgcatalog.DBStats) int64 { return s.Reads },
		"blocks_hit":                func(s *pgcatalog.DBStats) int64 { return s.Reads },
		"tuples_returned":           func(s *pgcatalog.DBStats) int64 { return s.Returned },
		"tuples_fetched":            func(s *pgcatalog.DBStats) int64 { return s.Fetched },
		"tuples_inserted":           func(s *pgcatalog.DBStats) int64 { return s.Inserted },
		"tuples_updated":            func(s *pgcatalog.DBStats) int64 { return s.Updated },
		"tuples_deleted":            func(s *pgcatalog.DBStats) int64 { return s.Deleted },
		"temp_files":                func(s *pgcatalog.DBStats) int64 { return s.TempFiles },
		"temp_bytes":                func(s *pgcatalog.DBStats) int64 { return s.TempBytes },
		"deadlocks":                 func(s *pgcatalog.DBStats) int64 { return s.Deadlocks },
		"sessions":                  func(s *pgcatalog.DBStats) int64 { return s.Sessions },
		"sessions_abandoned":        func(s *pgcatalog.DBStats) int64 { return s.Abandoned },
		"sessions_fatal":            func(s *pgcatalog.DBStats) int64 { return s.Fatal },
		"sessions_killed":           func(s *pgcatalog.DBStats) int64 { return s.Killed },
		"conflict_all":              nil,
		"conflict_bufferpin":        nil,
		"conflict_lock":             nil,
		"conflict_snapshot":         nil,
		"conflict_startup_deadlock": nil,
		"conflict_tablespace":       nil,
	} {
		if of == nil { // there is no standby whose queries could conflict
			m["pg_stat_get_db_"+name] = answerZero
			continue
		}
		m["pg_stat_get_db_"+name] = func(c *catalogCall) (types.Datum, error) {
			s := c.databaseStats(c.oid(0))
			return c.integer(of(&s))
		}
	}
	for name, of := range map[string]func(s *pgcatalog.DBStats) float64{
		"session_time":             func(s *pgcatalog.DBStats) float64 { return s.SessionTime },
		"active_time":              func(s *pgcatalog.DBStats) float64 { return s.Active },
		"idle_in_transaction_time": func(s *pgcatalog.DBStats) float64 { return s.IdleInTxn },
		"blk_read_time":            func(*pgcatalog.DBStats) float64 { return 0 },
		"blk_write_time":           func(*pgcatalog.DBStats) float64 { return 0 },
	} {
		m["pg_stat_get_db_"+name] = func(c *catalogCall) (types.Datum, error) {
			s := c.databaseStats(c.oid(0))
			return types.Float(c.ret, of(&s)), nil
		}
	}
	m["pg_stat_get_db_checksum_failures"], m["pg_stat_get_db_checksum_last_failure"] = answerNull, answerNull
	m["pg_stat_get_db_stat_reset_time"] = func(c *catalogCall) (types.Datum, error) {
		return c.moment(c.databaseStats(c.oid(0)).Reset)
	}
}

func logStatFuncs(m map[string]catalogFunc) {
	for _, n := range []string{"bgwriter_buf_written_checkpoints", "bgwriter_buf_written_clean", "bgwriter_maxwritten_clean",
		"buf_alloc", "buf_fsync_backend", "buf_written_backend"} {
		m["pg_stat_get_"+n] = answerZero // there are no shared buffers
	}
	m["pg_stat_get_bgwriter_timed_checkpoints"] = func(c *catalogCall) (types.Datum, error) { return c.integer(c.logStats().Timed) }
	m["pg_stat_get_bgwriter_requested_checkpoints"] = func(c *catalogCall) (types.Datum, error) {
		return c.integer(c.logStats().Asked)
	}
	m["pg_stat_get_bgwriter_stat_reset_time"] = func(c *catalogCall) (types.Datum, error) {
		return c.moment(c.logStats().CheckpointReset)
	}
	m["pg_stat_get_checkpoint_write_time"] = func(c *catalogCall) (types.Datum, error) {
		return types.Float(c.ret, c.logStats().CheckpointTime), nil
	}
	m["pg_stat_get_checkpoint_sync_time"] = constant(func(t types.T) types.Datum { return types.Float(t, 0) })
	for src, view := range map[string]string{"pg_stat_get_wal": "pg_stat_wal", "pg_stat_get_archiver": "pg_stat_archiver"} {
		m[src] = func(c *catalogCall) (types.Datum, error) {
			rows, err := c.relationRows(view, len(pgcatalog.Find(catalog.SchemaPgCatalog, view).Columns))
			if err != nil {
				return types.Datum{}, err
			}
			return types.NewRecord(rows[0]), nil
		}
	}
	m["pg_stat_get_wal_receiver"] = answerNull
	// The position counts commits, from where PostgreSQL's log begins.
	lsn := func(c *catalogCall) (types.Datum, error) {
		return types.Word(c.ret, walSegment+c.srv.Store.Stats().Seq), nil
	}
	m["pg_current_wal_lsn"], m["pg_current_wal_insert_lsn"], m["pg_current_wal_flush_lsn"] = lsn, lsn, lsn
}

// backendFuncs are those about a session by its number, which counts from 1 in the
// order of the sessions' process numbers.
func backendFuncs(m map[string]catalogFunc) {
	text := func(s string) types.Datum { return types.Text(s) }
	moment := func(t int64) types.Datum {
		if t == 0 {
			return types.Null(types.TTimestamptz)
		}
		return types.Int(types.TTimestamptz, t)
	}
	optional := func(s string) types.Datum {
		if s == "" {
			return types.Null(types.TText)
		}
		return types.Text(s)
	}
	event := func(s *pgcatalog.SessionInfo, e string) types.Datum {
		if s.Hidden {
			return text(s.Query)
		}
		return optional(e)
	}
	for name, of := range map[string]func(c *catalogCall, s *pgcatalog.SessionInfo) types.Datum{
		"pid": func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum {
			return types.Int(types.TInt4, int64(s.PID))
		},
		"dbid": func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return types.Int(types.TOid, int64(s.DB)) },
		"userid": func(c *catalogCall, s *pgcatalog.SessionInfo) types.Datum {
			return types.Int(types.TOid, int64(c.snapshot().RoleOID(s.User)))
		},
		"activity":        func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return text(s.Query) },
		"activity_start":  func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return moment(s.QueryStart) },
		"xact_start":      func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return moment(s.XactStart) },
		"start":           func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return moment(s.BackendStart) },
		"wait_event":      func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return event(s, s.WaitEvent) },
		"wait_event_type": func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum { return event(s, s.WaitEventType) },
		"client_addr": func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum {
			d, err := types.Parse(types.Of(types.OInet), s.ClientAddr, &types.FmtOpts{})
			if s.ClientAddr == "" || err != nil {
				return types.Null(types.Of(types.OInet))
			}
			return d
		},
		"client_port": func(_ *catalogCall, s *pgcatalog.SessionInfo) types.Datum {
			switch {
			case s.Hidden:
				return types.Null(types.TInt4)
			case s.ClientAddr == "":
				return types.Int(types.TInt4, -1)
			}
			return types.Int(types.TInt4, int64(s.ClientPort))
		},
	} {
		m["pg_stat_get_backend_"+name] = func(c *catalogCall) (types.Datum, error) {
			rows := c.sessionRows()
			n := c.num(0)
			if n < 1 || n > int64(len(rows)) {
				if name == "activity" {
					return c.text("<backend information not available>", true)
				}
				return c.null()
			}
			return of(c, &rows[n-1]), nil
		}
	}
}

func resetFuncs(m map[string]catalogFunc) {
	void := types.Bytes(types.TVoid, nil)
	does := func(f func(c *catalogCall) error) catalogFunc {
		return func(c *catalogCall) (types.Datum, error) { return void, f(c) }
	}
	nothing := does(func(*catalogCall) error { return nil })
	// What a transaction has done is counted when it ends, and read as it is then.
	m["pg_stat_clear_snapshot"], m["pg_stat_force_next_flush"] = nothing, nothing
	m["pg_stat_reset_slru"], m["pg_stat_reset_subscription_stats"] = nothing, nothing
	m["pg_stat_reset"] = does(func(c *catalogCall) error { c.resetDatabase(); return nil })
	m["pg_stat_reset_single_table_counters"] = does(func(c *catalogCall) error {
		c.srv.cumulative.forget(c.oid(0))
		return nil
	})
	m["pg_stat_reset_single_function_counters"] = does(func(c *catalogCall) error {
		c.srv.cumulative.funcs.Delete(c.oid(0))
		return nil
	})
	m["pg_stat_reset_replication_slot"] = does(func(c *catalogCall) error {
		if c.a[0].Null {
			return nil
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "replication slot \"%s\" does not exist", c.str(0))
	})
	m["pg_stat_reset_shared"] = does(func(c *catalogCall) error {
		x := &c.srv.cumulative
		stats := c.srv.Store.Stats()
		x.mu.Lock()
		defer x.mu.Unlock()
		switch c.str(0) {
		case "archiver":
			x.mu.arcRes = now()
		case "bgwriter":
			x.mu.ckptReset, x.mu.checkpoints = now(), stats
		case "recovery_prefetch":
		case "wal":
			x.mu.logReset, x.mu.log = now(), stats
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized reset target: \"%s\"", c.str(0)).
				WithHint("Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".")
		}
		return nil
	})
	m["pg_stat_have_stats"] = func(c *catalogCall) (types.Datum, error) {
		has := false
		x := &c.srv.cumulative
		switch kind := c.str(0); kind {
		case "database":
			_, has = x.dbs.Load(c.oid(1))
		case "relation":
			_, has = x.rels.Load(c.oid(2))
		case "function":
			_, has = x.funcs.Load(c.oid(2))
		case "archiver", "bgwriter", "checkpointer", "wal", "slru":
			has = true
		case "replslot", "subscription":
		default:
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid statistics kind: \"%s\"", kind)
		}
		return types.Bool(has), nil
	}
}

// progressCommands are the commands that pg_stat_get_progress_info knows.
var progressCommands = []string{"vacuum", "analyze", "cluster", "create index", "basebackup", "copy"}

// statRows are the rows of the set-returning functions of the statistics.
func (s sessionInfo) statRows(src string, args []types.Datum, n int) (rows [][]types.Datum, ok bool, err error) {
	switch src {
	case "pg_stat_get_activity":
		rows = s.activityRows(args[0])
	case "pg_stat_get_slru":
		rows, err = s.relationRows("pg_stat_slru", n)
	case "pg_stat_get_recovery_prefetch":
		rows, err = s.relationRows("pg_stat_recovery_prefetch", n)
	case "pg_stat_get_wal_senders", "pg_stat_get_subscription": // there is no replication
	case "pg_stat_get_backend_idset":
		for i := range s.sessionRows() {
			rows = append(rows, []types.Datum{types.Int(types.TInt4, int64(i+1))})
		}
	case "pg_stat_get_progress_info":
		if name := string(args[0].B); !args[0].Null && !slices.Contains(progressCommands, strings.ToLower(name)) {
			err = sqlerr.New(sqlerr.InvalidParameterValue, "invalid command name: \"%s\"", name)
		}
	default:
		return nil, false, nil
	}
	return rows, true, err
}

// activityRows are the rows of pg_stat_get_activity: of all sessions, or of that of a
// process number.
func (s sessionInfo) activityRows(pid types.Datum) (rows [][]types.Datum) {
	text := types.Null(types.TText)
	for _, x := range s.sessionRows() {
		if !pid.Null && pid.I != int64(x.PID) {
			continue
		}
		optional := func(v string) types.Datum {
			if v == "" {
				return text
			}
			return types.Text(v)
		}
		moment := func(t int64) types.Datum {
			if t == 0 {
				return types.Null(types.TTimestamptz)
			}
			return types.Int(types.TTimestamptz, t)
		}
		addr, err := types.Parse(types.Of(types.OInet), x.ClientAddr, &types.FmtOpts{})
		port := types.Int(types.TInt4, int64(x.ClientPort))
		if x.ClientAddr == "" || err != nil {
			addr, port = types.Null(types.Of(types.OInet)), types.Int(types.TInt4, -1)
		}
		encrypted, gss := types.Bool(x.TLSVersion != ""), types.Bool(false)
		if x.Hidden {
			port, encrypted, gss = types.Null(types.TInt4), types.Null(types.TBool), types.Null(types.TBool)
		}
		bits := types.Null(types.TInt4)
		if x.TLSVersion != "" {
			bits = types.Int(types.TInt4, x.TLSBits)
		}
		xid := func(x uint64) types.Datum {
			if x == 0 {
				return types.Null(types.Of(types.OXid))
			}
			return types.Int(types.Of(types.OXid), int64(uint32(x)))
		}
		rows = append(rows, []types.Datum{
			types.Int(types.TOid, int64(x.DB)), types.Int(types.TInt4, int64(x.PID)), types.Int(types.TOid, int64(s.snapshot().RoleOID(x.User))),
			types.Text(x.Application), optional(x.State), types.Text(x.Query), optional(x.WaitEventType), optional(x.WaitEvent),
			moment(x.XactStart), moment(x.QueryStart), moment(x.BackendStart), moment(x.StateChanged), addr, text, port, xid(x.Xid), xid(x.Xmin),
			optional(x.BackendType), encrypted, optional(x.TLSVersion), optional(x.TLSCipher), bits,
			text, types.Null(types.Of(types.ONumeric)), text, gss, text, gss, types.Null(types.TInt4), types.Null(types.TInt8),
		})
	}
	return rows
}
