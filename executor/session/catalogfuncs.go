package session

import (
	"net"
	"slices"
	"strings"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// catalogFunc answers one function of the system information families. a has
// the arguments, not NULL where the function is strict.
type catalogFunc func(c *catalogCall) (types.Datum, error)

// catalogCall is one call.
type catalogCall struct {
	sessionInfo
	*pgcatalog.Env
	src string
	a   []types.Datum
	ret types.T
}

func (c *catalogCall) oid(i int) types.OID { return types.OID(c.a[i].I) }
func (c *catalogCall) str(i int) string    { return string(c.a[i].B) }
func (c *catalogCall) flag(i int) bool     { return len(c.a) > i && !c.a[i].Null && c.a[i].I != 0 }
func (c *catalogCall) num(i int) int64     { return c.a[i].I }
func (c *catalogCall) null() (types.Datum, error) {
	return types.Null(c.ret), nil
}

// text returns a text, NULL when ok is false.
func (c *catalogCall) text(s string, ok bool) (types.Datum, error) {
	if !ok {
		return c.null()
	}
	return types.Bytes(c.ret, []byte(s)), nil
}

func (c *catalogCall) integer(n int64) (types.Datum, error) { return types.Int(c.ret, n), nil }

func (c *catalogCall) boolean(v, ok bool) (types.Datum, error) {
	if !ok {
		return c.null()
	}
	return types.Bool(v), nil
}

// relation resolves the relation that the first argument names.
func (c *catalogCall) relation() (types.OID, error) {
	return c.pgEnv().RegIn(types.ORegclass, c.str(0))
}

// constant answers with a fixed value.
func constant(d func(t types.T) types.Datum) catalogFunc {
	return func(c *catalogCall) (types.Datum, error) { return d(c.ret), nil }
}

var (
	answerNull = constant(types.Null)
	answerTrue = constant(func(types.T) types.Datum { return types.Bool(true) })
	answerZero = constant(func(t types.T) types.Datum { return types.Int(t, 0) })
)

// catalogFuncs is filled once: its functions refer back to the session.
var catalogFuncs = sync.OnceValue(func() map[string]catalogFunc {
	m := make(map[string]catalogFunc, 256)
	definitionFuncs(m)
	visibilityFuncs(m)
	sizeFuncs(m)
	serverFuncs(m)
	statFuncs(m)
	enumFuncs(m)
	addressFuncs(m)
	informationFuncs(m)
	m["satisfies_hash_partition"] = (*catalogCall).satisfiesHashPartition
	m["currtid_byrelname"] = (*catalogCall).currentTid
	return m
})

// ownersOnly are the functions that superusers alone may call unless GRANT says otherwise,
// also where nobody asks for the rights of a statement: in definitions.
var ownersOnly = map[string]bool{"pg_reload_conf": true, "pg_rotate_logfile": true, "pg_rotate_logfile_v2": true, "pg_stat_reset": true, "pg_stat_reset_shared": true,
	"pg_stat_reset_single_table_counters": true, "pg_stat_reset_single_function_counters": true, "pg_stat_reset_slru": true,
	"pg_stat_reset_replication_slot": true, "pg_stat_reset_subscription_stats": true, "pg_stat_have_stats": true, "pg_current_logfile": true,
	"pg_promote": true, "pg_wal_replay_pause": true, "pg_wal_replay_resume": true}

// mayCall reports whether the current role may execute a built-in function.
func (s *Session) mayCall(src string) bool {
	snap := s.snapshot()
	return snap.IsSuper(s.user) || slices.ContainsFunc(catalog.Procs(), func(p *catalog.Proc) bool {
		return p.Src == src && snap.CheckPriv(s.user, snap.BuiltinFunction(s.db, p), catalog.PrivExecute) == nil
	})
}

// Catalog implements expr.SessionInfo.
func (s sessionInfo) Catalog(src string, args []types.Datum, ret types.T) (types.Datum, error) {
	if ownersOnly[src] && !s.mayCall(src) {
		return types.Datum{}, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for function %s", strings.TrimSuffix(src, "_v2"))
	}
	c := &catalogCall{sessionInfo: s, Env: s.pgEnv(), src: src, a: args, ret: ret}
	if f := catalogFuncs()[src]; f != nil {
		return f(c)
	}
	if strings.Contains(src, "_privilege") || strings.HasPrefix(src, "pg_has_role") {
		return c.privilege()
	}
	return types.Datum{}, sqlerr.Unsupported(-1, "function %s", src)
}

func definitionFuncs(m map[string]catalogFunc) {
	m["format_type"] = func(c *catalogCall) (types.Datum, error) {
		if c.a[0].Null {
			return c.null()
		}
		if c.a[1].Null {
			return c.text(c.Env.FormatTypeNoMod(c.oid(0)), true)
		}
		return c.text(c.Env.FormatType(c.oid(0), int32(c.num(1))), true)
	}
	m["pg_get_constraintdef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetConstraintDef(c.oid(0), false)
		return c.text(s, ok)
	}
	m["pg_get_constraintdef_ext"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetConstraintDef(c.oid(0), c.flag(1))
		return c.text(s, ok)
	}
	m["pg_get_partkeydef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetPartKeyDef(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_partition_constraintdef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetPartitionConstraintDef(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_partition_root"] = func(c *catalogCall) (types.Datum, error) {
		list := c.PartitionAncestors(c.oid(0))
		if list == nil {
			return types.Null(types.TRegclass), nil
		}
		return types.Int(types.TRegclass, int64(list[len(list)-1])), nil
	}
	m["pg_get_expr"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(c.GetExpr(c.str(0), c.oid(1), false), true)
	}
	m["pg_get_expr_ext"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(c.GetExpr(c.str(0), c.oid(1), c.flag(2)), true)
	}
	m["pg_get_indexdef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetIndexDef(c.oid(0), 0, false)
		return c.text(s, ok)
	}
	m["pg_get_indexdef_ext"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetIndexDef(c.oid(0), int(c.num(1)), c.flag(2))
		return c.text(s, ok)
	}
	view := func(c *catalogCall, rel types.OID, pretty bool, wrap int) (types.Datum, error) {
		s, ok := c.GetViewDef(rel, pretty, wrap)
		return c.text(s, ok)
	}
	m["pg_get_viewdef"] = func(c *catalogCall) (types.Datum, error) { return view(c, c.oid(0), false, 0) }
	m["pg_get_viewdef_ext"] = func(c *catalogCall) (types.Datum, error) { return view(c, c.oid(0), c.flag(1), 0) }
	m["pg_get_viewdef_wrap"] = func(c *catalogCall) (types.Datum, error) { return view(c, c.oid(0), true, int(c.num(1))) }
	m["pg_get_viewdef_name"] = func(c *catalogCall) (types.Datum, error) {
		o, err := c.relation()
		if err != nil {
			return types.Datum{}, err
		}
		return view(c, o, false, 0)
	}
	m["pg_get_viewdef_name_ext"] = func(c *catalogCall) (types.Datum, error) {
		o, err := c.relation()
		if err != nil {
			return types.Datum{}, err
		}
		return view(c, o, c.flag(1), 0)
	}
	m["pg_get_ruledef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetRuleDef(c.oid(0), false)
		return c.text(s, ok)
	}
	m["pg_get_ruledef_ext"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetRuleDef(c.oid(0), c.flag(1))
		return c.text(s, ok)
	}
	m["pg_get_function_arg_default"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetFunctionArgDefault(c.oid(0), int(c.num(1)))
		return c.text(s, ok)
	}
	m["pg_get_serial_sequence"] = func(c *catalogCall) (types.Datum, error) {
		o, err := c.relation()
		if err != nil {
			return types.Datum{}, err
		}
		s, err := c.GetSerialSequence(o, c.str(1))
		if err != nil {
			return types.Datum{}, err
		}
		return c.text(s, s != "")
	}
	m["pg_get_function_arguments"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetFunctionArguments(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_function_identity_arguments"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetFunctionIdentityArguments(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_function_result"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetFunctionResult(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_functiondef"] = func(c *catalogCall) (types.Datum, error) {
		if name, ok := c.AggregateName(c.oid(0)); ok {
			return types.Datum{}, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an aggregate function", name)
		}
		s, ok := c.GetFunctionDef(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_function_sqlbody"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.GetFunctionSQLBody(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_userbyid"] = func(c *catalogCall) (types.Datum, error) { return c.text(c.UserByID(c.oid(0)), true) }
	comment := func(s string) (string, bool) { return s, s != "" }
	m["sql_obj_description_1215"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(comment(c.ObjDescription(c.oid(0), c.str(1))))
	}
	m["sql_obj_description_1348"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(comment(c.ObjDescription(c.oid(0), "")))
	}
	m["sql_col_description_1216"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(comment(c.ColDescription(c.oid(0), int(c.num(1)))))
	}
	m["sql_shobj_description_1993"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(comment(c.ShobjDescription(c.oid(0), c.str(1))))
	}
	// What does not exist here has no definition.
	for _, n := range []string{
		"pg_get_replica_identity_index", "pg_column_compression",
		"pg_tablespace_location", "pg_settings_get_flags"} {
		m[n] = answerNull
	}
	m["pg_collation_actual_version"] = unversioned("collation", func(_ *catalogCall, o types.OID) bool {
		return catalog.CollationByOID(o) != nil
	})
	m["pg_database_collation_actual_version"] = unversioned("database", func(c *catalogCall, o types.OID) bool {
		_, ok := c.snapshot().Object(o).(*catalog.Database)
		return ok
	})
	m["pg_get_triggerdef"] = func(c *catalogCall) (types.Datum, error) { return c.text(c.TriggerDef(c.oid(0), false)) }
	m["pg_get_triggerdef_ext"] = func(c *catalogCall) (types.Datum, error) {
		return c.text(c.TriggerDef(c.oid(0), c.a[1].I != 0))
	}
	aclFuncs(m)
	recoveryFuncs(m)
	m["pg_tablespace_location"] = func(c *catalogCall) (types.Datum, error) { return c.text("", true) }
	m["oidvectortypes"] = func(c *catalogCall) (types.Datum, error) {
		_, _, _, elems, err := types.ArrayElems(c.a[0])
		if err != nil {
			return types.Datum{}, err
		}
		var names []string
		for _, e := range elems {
			names = append(names, c.Env.FormatTypeNoMod(types.OID(e.I)))
		}
		return c.text(strings.Join(names, ", "), true)
	}
}

// unversioned answers which version of its provider's rules a collation has: they
// all compare bytes, by rules that have no versions.
func unversioned(what string, known func(*catalogCall, types.OID) bool) catalogFunc {
	return func(c *catalogCall) (types.Datum, error) {
		if o := c.oid(0); !known(c, o) {
			return types.Datum{}, sqlerr.New(sqlerr.UndefinedObject, "%s with OID %d does not exist", what, o)
		}
		return c.null()
	}
}

func visibilityFuncs(m map[string]catalogFunc) {
	m["pg_table_is_visible"] = func(c *catalogCall) (types.Datum, error) { return c.boolean(c.TableIsVisible(c.oid(0))) }
	m["pg_type_is_visible"] = func(c *catalogCall) (types.Datum, error) { return c.boolean(c.TypeIsVisible(c.oid(0))) }
	m["pg_function_is_visible"] = func(c *catalogCall) (types.Datum, error) { return c.boolean(c.FunctionIsVisible(c.oid(0))) }
	m["pg_operator_is_visible"] = func(c *catalogCall) (types.Datum, error) { return c.boolean(c.OperatorIsVisible(c.oid(0))) }
	// What only pg_catalog has is visible.
	builtin := func(name string, known func(types.OID) bool) {
		m["pg_"+name+"_is_visible"] = func(c *catalogCall) (types.Datum, error) {
			known := known(c.oid(0))
			return c.boolean(known, known)
		}
	}
	builtin("collation", func(o types.OID) bool { return catalog.CollationByOID(o) != nil })
	builtin("opclass", func(o types.OID) bool {
		return slices.ContainsFunc(catalog.Opclasses(), func(c catalog.Opclass) bool { return c.OID == o })
	})
	builtin("opfamily", func(o types.OID) bool {
		return slices.ContainsFunc(catalog.Opfamilies(), func(f catalog.Opfamily) bool { return f.OID == o })
	})
	builtin("conversion", func(o types.OID) bool {
		return slices.ContainsFunc(catalog.Conversions(), func(c catalog.Conversion) bool { return c.OID == o })
	})
	m["pg_get_statisticsobjdef"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.pgEnv().StatisticsDef(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_statisticsobjdef_columns"] = func(c *catalogCall) (types.Datum, error) {
		s, ok := c.pgEnv().StatisticsParts(c.oid(0))
		return c.text(s, ok)
	}
	m["pg_get_statisticsobjdef_expressions"] = func(c *catalogCall) (types.Datum, error) {
		exprs := c.pgEnv().StatisticsExprs(c.oid(0))
		if len(exprs) == 0 {
			return c.null()
		}
		texts := make([]types.Datum, len(exprs))
		for i, x := range exprs {
			texts[i] = types.Text(x)
		}
		return types.NewVector(types.TText, texts), nil
	}
	m["pg_statistics_obj_is_visible"] = func(c *catalogCall) (types.Datum, error) {
		e, ok := c.snapshot().Object(c.oid(0)).(*catalog.ExtStats)
		if !ok {
			return types.Null(c.ret), nil
		}
		return types.Bool(c.snapshot().FindExtStats(c.db, c.searchPath(true), e.Name) == e), nil
	}
	for name, class := range pgcatalog.SearchCatalogs {
		m["pg_"+name+"_is_visible"] = func(c *catalogCall) (types.Datum, error) {
			return c.boolean(c.SearchVisible(class, c.oid(0)))
		}
	}
	active := func(c *catalogCall, oid types.OID) (types.Datum, error) {
		t, ok := c.snapshot().RelationByOID(c.db, oid).(*catalog.Table)
		return types.Bool(ok && c.snapshot().SubjectTo(t, c.user)), nil
	}
	m["row_security_active"] = func(c *catalogCall) (types.Datum, error) { return active(c, c.oid(0)) }
	m["row_security_active_name"] = func(c *catalogCall) (types.Datum, error) {
		oid, err := c.relation()
		if err != nil {
			return types.Datum{}, err
		}
		return active(c, oid)
	}
	m["pg_relation_is_publishable"] = func(c *catalogCall) (types.Datum, error) {
		_, _, ok := c.RelationName(c.oid(0))
		t, user := c.snapshot().RelationByOID(c.db, c.oid(0)).(*catalog.Table)
		return c.boolean(user && !t.Temp, ok)
	}
	m["pg_relation_is_updatable"] = func(c *catalogCall) (types.Datum, error) {
		return c.integer(int64(c.RelationIsUpdatable(c.oid(0))))
	}
	m["pg_column_is_updatable"] = func(c *catalogCall) (types.Datum, error) {
		return c.boolean(c.ColumnIsUpdatable(c.oid(0), int(c.num(1))), true)
	}
	indexFuncs(m)
	m["pg_my_temp_schema"] = func(c *catalogCall) (types.Datum, error) {
		if !c.hasTemp {
			return c.integer(0)
		}
		o, err := c.pgEnv().RegIn(types.ORegnamespace, c.tempName())
		if err != nil {
			return c.integer(0)
		}
		return c.integer(int64(o))
	}
	m["pg_is_other_temp_schema"] = func(c *catalogCall) (types.Datum, error) {
		name := c.pgEnv().TempSchemaByOID(c.oid(0))
		return c.boolean(name != "" && name != c.tempName(), true)
	}
}

// sizeFuncs report sizes.
func sizeFuncs(m map[string]catalogFunc) {
	size := func(of func(c *catalogCall, oid types.OID) int64) catalogFunc {
		return func(c *catalogCall) (types.Datum, error) {
			if _, _, ok := c.RelationName(c.oid(0)); !ok {
				return c.null()
			}
			return c.integer(of(c, c.oid(0)))
		}
	}
	for _, n := range []string{"sql_pg_relation_size_2325", "pg_table_size"} {
		m[n] = size((*catalogCall).relationBytes)
	}
	m["pg_relation_size"] = func(c *catalogCall) (types.Datum, error) {
		switch c.str(1) {
		case "main":
			return size((*catalogCall).relationBytes)(c)
		case "fsm", "vm", "init": // no file has more than its pairs
			return size(func(*catalogCall, types.OID) int64 { return 0 })(c)
		}
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid fork name").
			WithHint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")
	}
	m["pg_indexes_size"] = size((*catalogCall).indexesBytes)
	m["pg_total_relation_size"] = size(func(c *catalogCall, oid types.OID) int64 {
		return c.relationBytes(oid) + c.indexesBytes(oid)
	})
	store := func(c *catalogCall) (types.Datum, error) { return c.integer(c.srv.Store.Stats().FileBytes) }
	sized := func(found func(c *catalogCall) bool, missing func(c *catalogCall) error) catalogFunc {
		return func(c *catalogCall) (types.Datum, error) {
			switch {
			case found(c):
				return store(c)
			case missing != nil:
				return types.Datum{}, missing(c)
			}
			return c.null()
		}
	}
	m["pg_database_size_name"] = sized(func(c *catalogCall) bool { return c.snapshot().Database(c.str(0)) != nil }, func(c *catalogCall) error {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", c.str(0))
	})
	m["pg_database_size_oid"] = sized(func(c *catalogCall) bool {
		_, ok := c.snapshot().Object(c.oid(0)).(*catalog.Database)
		return ok
	}, nil)
	m["pg_tablespace_size_name"] = sized(func(c *catalogCall) bool { return c.str(0) == "pg_default" || c.str(0) == "pg_global" }, func(c *catalogCall) error {
		return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", c.str(0))
	})
	m["pg_tablespace_size_oid"] = sized(func(c *catalogCall) bool { return c.oid(0) == 1663 || c.oid(0) == 1664 }, nil)
	m["pg_relation_filenode"] = func(c *catalogCall) (types.Datum, error) {
		if node := c.Filenode(c.oid(0)); node != 0 {
			return c.integer(node)
		}
		return c.null()
	}
	m["pg_relation_filepath"] = func(c *catalogCall) (types.Datum, error) {
		if t := c.snapshot().Table(c.oid(0)); t != nil {
			return c.text(c.dbName+"/"+t.File, true)
		}
		return c.null()
	}
}

func serverFuncs(m map[string]catalogFunc) {
	started := func(c *catalogCall) (types.Datum, error) { return c.integer(types.TimestampFromTime(c.srv.start)) }
	m["pg_postmaster_start_time"], m["pg_conf_load_time"] = started, started
	m["pg_notify"] = func(c *catalogCall) (types.Datum, error) {
		if c.tx == nil {
			return types.Datum{}, sqlerr.New(sqlerr.NoActiveSQLTransaction, "pg_notify needs a transaction")
		}
		var args [2]string
		for i, a := range c.a {
			if !a.Null {
				args[i] = string(a.B)
			}
		}
		return types.Bytes(types.TVoid, nil), c.addNote(args[0], args[1])
	}
	m["pg_notification_queue_usage"] = func(c *catalogCall) (types.Datum, error) {
		return types.Float(c.ret, c.srv.notify.usage()), nil
	}
	m["pg_cancel_backend"] = func(c *catalogCall) (types.Datum, error) { return c.signal(c.srv.Cancel, cancelling) }
	m["pg_terminate_backend"] = func(c *catalogCall) (types.Datum, error) {
		if c.num(1) < 0 {
			return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"timeout\" must not be negative")
		}
		return c.signal(c.srv.Terminate, terminating)
	}
	m["pg_reload_conf"] = answerTrue
	xactFuncs(m)
	m["pg_export_snapshot"] = func(c *catalogCall) (types.Datum, error) {
		id, err := c.exportSnapshot()
		return types.Text(id), err
	}
	m["current_query"] = func(c *catalogCall) (types.Datum, error) {
		c.activity.mu.Lock()
		defer c.activity.mu.Unlock()
		return c.text(c.activity.query, true)
	}
	address := func(a net.Addr, c *catalogCall) (types.Datum, error) {
		t, ok := a.(*net.TCPAddr)
		if !ok {
			return c.null()
		}
		return types.Parse(c.ret, t.IP.String(), nil)
	}
	port := func(a net.Addr, c *catalogCall) (types.Datum, error) {
		t, ok := a.(*net.TCPAddr)
		if !ok {
			return c.null()
		}
		return c.integer(int64(t.Port))
	}
	m["inet_client_addr"] = func(c *catalogCall) (types.Datum, error) { return address(c.info.RemoteAddr, c) }
	m["inet_server_addr"] = func(c *catalogCall) (types.Datum, error) { return address(c.info.LocalAddr, c) }
	m["inet_client_port"] = func(c *catalogCall) (types.Datum, error) { return port(c.info.RemoteAddr, c) }
	m["inet_server_port"] = func(c *catalogCall) (types.Datum, error) { return port(c.info.LocalAddr, c) }
	m["pg_safe_snapshot_blocking_pids"] = func(c *catalogCall) (types.Datum, error) {
		return int4Array(c.srv.unsafeFor(int32(c.num(0)))), nil
	}
	m["pg_blocking_pids"] = func(c *catalogCall) (types.Datum, error) {
		return int4Array(c.srv.blockingPIDs(int32(c.num(0)))), nil
	}
	m["pg_isolation_test_session_is_blocked"] = func(c *catalogCall) (types.Datum, error) {
		_, _, _, pids, err := types.ArrayElems(c.a[1])
		if err != nil {
			return types.Datum{}, err
		}
		pid := int32(c.num(0))
		blocking := append(c.srv.blockingPIDs(pid), c.srv.unsafeFor(pid)...)
		return types.Bool(slices.ContainsFunc(pids, func(d types.Datum) bool { return !d.Null && slices.Contains(blocking, int32(d.I)) })), nil
	}
	m["pg_trigger_depth"] = answerZero
	m["pg_sequence_last_value"] = func(c *catalogCall) (types.Datum, error) {
		last, called, err := c.sequenceState(c.oid(0))
		if err != nil || !called {
			return types.Null(c.ret), err
		}
		return c.integer(last)
	}
	m["pg_sequence_parameters"] = func(c *catalogCall) (types.Datum, error) {
		q, err := c.sequence(c.oid(0))
		if err != nil {
			return types.Datum{}, err
		}
		n := func(v int64) types.Datum { return types.Int(types.TInt8, v) }
		return types.NewRecord([]types.Datum{n(q.Start), n(q.Min), n(q.Max), n(q.Inc), types.Bool(q.Cycle), n(q.Cache),
			types.Int(types.TOid, int64(q.Type.OID))}), nil
	}
}

func enumFuncs(m map[string]catalogFunc) {
	labels := func(c *catalogCall) (*catalog.UserType, []types.Datum, error) {
		t := c.a[0].T
		if c.a[0].Null && len(c.a) > 1 && !c.a[1].Null {
			t = c.a[1].T
		}
		u := c.snapshot().TypeByOID(t.OID)
		if u == nil || u.Kind != 'e' {
			return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "could not determine actual enum type")
		}
		out := make([]types.Datum, 0, len(u.Labels))
		for _, l := range u.Labels {
			out = append(out, types.Enum(t, l.Order, l.Label))
		}
		return u, out, nil
	}
	usable := func(c *catalogCall, u *catalog.UserType, i int) error {
		return c.usableLabel(u, u.Labels[i].OID, u.Labels[i].Label)
	}
	end := func(first bool) catalogFunc {
		return func(c *catalogCall) (types.Datum, error) {
			u, l, err := labels(c)
			if err != nil || len(l) == 0 {
				return types.Null(c.ret), err
			}
			i := 0
			if !first {
				i = len(l) - 1
			}
			return l[i], usable(c, u, i)
		}
	}
	m["enum_first"], m["enum_last"] = end(true), end(false)
	within := func(c *catalogCall) (types.Datum, error) {
		u, l, err := labels(c)
		if err != nil {
			return types.Datum{}, err
		}
		bounded := len(c.a) > 1
		var in []types.Datum
		for i, d := range l {
			if bounded && (!c.a[0].Null && types.Compare(d, c.a[0]) < 0 || !c.a[1].Null && types.Compare(d, c.a[1]) > 0) {
				continue
			}
			if err := usable(c, u, i); err != nil {
				return types.Datum{}, err
			}
			in = append(in, d)
		}
		return types.NewVector(c.a[0].T, in), nil
	}
	m["enum_range_all"], m["enum_range_bounds"] = within, within
}
