package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/parser"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

// settings are the run-time parameters of a session: defaults, values set for
// the session and, above them, values set for the transaction. Keys are lower
// case, values canonical texts in base units.
type settings struct {
	reset  map[string]string // what RESET returns to, where not the shipped default
	sess   map[string]string
	local  map[string]string
	log    []settingChange // of the open transaction, to be undone by its rollback
	dirty  []string        // reported settings that have changed
	custom map[string]bool // parameters of no list that were set once: they stay, without a value

	// What the session reads often, made from the values.
	fmt         *types.FmtOpts
	path        []string // search path as written, $user included
	stmtTimeout time.Duration
	lockTimeout time.Duration
	replica     bool          // session_replication_role = replica
	idleTimeout time.Duration // idle_in_transaction_session_timeout
	idleSession time.Duration // idle_session_timeout
	txnTimeout  time.Duration // transaction_timeout
	tempLimit   int64         // temp_file_limit in bytes; 0: none
	workMem     int64
	// parallelFrom is min_parallel_table_scan_size in rows; serial: no goroutines help.
	parallelFrom float64
	serial       bool
	optimizer    bool
	// rowSecurityOff is row_security = off: what policies would hide is an error
	rowSecurityOff bool
	trackFunctions bool // track_functions = all: those of SQL
	nullEquals     bool // transform_null_equals
	noViews        bool // restrict_nonsystem_relation_kind has view
	durability     kv.Durability
	minLevel       int
	newIso         kv.Isolation // of transactions to come, as the next three
	newDirty       bool
	newReadOnly    bool
	newDefer       bool
	// epoch grows with each change of something that plans depend on.
	epoch    uint64
	planMode planMode // plan_cache_mode
	// literals is how string literals are read; nil: as the standard has them.
	literals *parser.Strings
	enc      *charset.Encoding // of the client's texts; nil: UTF-8, or as they are
	logs     logRules
}

// settingChange is a former state of one name in one layer.
type settingChange struct {
	name  string
	local bool
	old   string
	had   bool
}

// rowsPerPage turns the pages of min_parallel_table_scan_size into rows: its 8 MB are
// the 50,000 rows from which starting goroutines has been seen to pay.
const rowsPerPage = 50_000.0 / 1024

func newSettings() *settings {
	return &settings{reset: map[string]string{}, sess: map[string]string{}, local: map[string]string{}, custom: map[string]bool{}}
}

// get returns the effective value; the name is lower case.
func (g *settings) get(name string) string {
	if v, ok := g.local[name]; ok {
		return v
	}
	if v, ok := g.sess[name]; ok {
		return v
	}
	return g.resetValue(name)
}

func (g *settings) resetValue(name string) string {
	if v, ok := g.reset[name]; ok {
		return v
	}
	if d := settingTable()[name]; d != nil {
		return d.def
	}
	return ""
}

func (g *settings) layer(local bool) map[string]string {
	if local {
		return g.local
	}
	return g.sess
}

// put changes a value in a layer and remembers what was there.
func (g *settings) put(name string, local bool, v *string) {
	l := g.layer(local)
	old, had := l[name]
	g.log = append(g.log, settingChange{name, local, old, had})
	if v == nil {
		delete(l, name)
	} else {
		l[name] = *v
	}
}

// setSetting changes a parameter for the session, or with local for the
// transaction. A nil value resets it.
func (s *Session) setSetting(name string, value *string, local bool) error {
	d := findSetting(name)
	key := strings.ToLower(name)
	if d == nil {
		if !customName(name) {
			return unknownOrBadName(name)
		}
		if value != nil {
			s.settings.custom[key] = true
		}
	} else {
		if err := d.changeable(); err != nil {
			return err
		}
		if err := d.allowed(s.snapshot(), s.user); err != nil {
			return err
		}
		if value != nil {
			v, err := d.canonical(s, *value)
			if err != nil {
				return err
			}
			value = &v
		}
		if err := s.settingEffect(key, value); err != nil {
			return err
		}
	}
	if local && s.tx == nil {
		return nil
	}
	if key == "session_authorization" { // whoever the session is of now has taken no other role
		none := "none"
		s.settings.set("role", local, &none)
	}
	s.settings.set(key, local, value)
	if s.tx == nil {
		s.settings.log = s.settings.log[:0]
	}
	s.settingChanged(key)
	return nil
}

// set is put for a statement: what holds for the session ends what held for the
// transaction.
func (g *settings) set(key string, local bool, v *string) {
	if _, ok := g.local[key]; ok && !local {
		g.put(key, true, nil)
	}
	g.put(key, local, v)
}

// customName reports whether an unknown parameter may be made by setting it.
func customName(name string) bool {
	parts := strings.Split(name, ".")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool {
		return strings.TrimLeftFunc(part, func(c rune) bool {
			return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z'
		}) == part || strings.ContainsFunc(part, func(c rune) bool {
			return c != '_' && c != '$' && c < 0x80 && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9')
		})
	})
}

// unknownOrBadName is the error of setting a parameter that there is not: one whose name
// has a dot could be made, were the name not wrong.
func unknownOrBadName(name string) error {
	if !strings.Contains(name, ".") {
		return unknownSetting(name)
	}
	return sqlerr.New(sqlerr.InvalidName, "invalid configuration parameter name \"%s\"", name).
		WithDetail("Custom parameter names must be two or more simple identifiers separated by dots.")
}

// settingEffect does what setting some parameters means beside their value.
func (s *Session) settingEffect(key string, value *string) error {
	v := ""
	if value != nil {
		v = *value
	}
	switch key {
	case "role":
		if value == nil || v == "none" {
			return nil
		}
		if s.snapshot().Role(v) == nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "role \"%s\" does not exist", v)
		}
		if !s.mayBecome(v) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set role \"%s\"", v)
		}
	case "session_authorization":
		if value == nil {
			return nil
		}
		if s.snapshot().Role(v) == nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "role \"%s\" does not exist", v)
		}
		if v != s.authUser && !s.isSuper(s.authUser) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set session authorization \"%s\"", v)
		}
	case "seed":
		if f, err := strconv.ParseFloat(v, 64); err == nil && value != nil {
			sessionInfo{s}.Random().Seed(f)
		}
	case "transaction_isolation":
		if value != nil {
			return s.setIsolation(strings.ToUpper(v))
		}
	case "transaction_read_only":
		if value != nil {
			return s.setReadOnly(v == "on")
		}
	case "transaction_deferrable":
		if value != nil {
			return s.setDeferrable(v == "on")
		}
	}
	return nil
}

// settingChanged brings what was derived from a value up to date.
func (s *Session) settingChanged(key string) {
	g := s.settings
	v := g.get(key)
	switch key {
	case "datestyle", "intervalstyle", "timezone", "extra_float_digits", "bytea_output", "array_nulls":
		g.fmt = s.makeFmt()
		g.epoch++
		if s.tx != nil {
			s.tx.useFmt(g.fmt)
		}
	case "search_path":
		g.path, _ = splitNames(v)
		g.epoch++
	case "statement_timeout":
		g.stmtTimeout = time.Duration(atoi(v)) * time.Millisecond
	case "lock_timeout":
		g.lockTimeout = time.Duration(atoi(v)) * time.Millisecond
	case "session_replication_role":
		g.replica = v == "replica"
	case "idle_in_transaction_session_timeout":
		g.idleTimeout = time.Duration(atoi(v)) * time.Millisecond
	case "idle_session_timeout":
		g.idleSession = time.Duration(atoi(v)) * time.Millisecond
	case "transaction_timeout":
		g.txnTimeout = time.Duration(atoi(v)) * time.Millisecond
	case "temp_file_limit":
		switch n := atoi(v); {
		case n < 0:
			g.tempLimit = 0
		case n == 0:
			g.tempLimit = 1 // none is to be written
		default:
			g.tempLimit = n << 10
		}
	case "log_statement", "log_min_duration_statement", "log_min_duration_sample", "log_statement_sample_rate", "log_duration":
		g.logs = g.logRules()
	case "max_parallel_workers_per_gather":
		g.serial = atoi(v) == 0
	case "min_parallel_table_scan_size":
		g.parallelFrom = float64(atoi(v)) * rowsPerPage
	case "work_mem":
		g.workMem = atoi(v) << 10
	case "synchronous_commit":
		g.durability = kv.Pipelined
		if v == "off" {
			g.durability = kv.Lazy
		}
	case "default_transaction_isolation":
		if sess, ok := g.sess[key]; ok {
			v = sess
		}
		g.newIso, g.newDirty = isolationOf(v), strings.EqualFold(v, readUncommitted)
	case "default_transaction_read_only":
		g.newReadOnly = v == "on"
	case "default_transaction_deferrable":
		g.newDefer = v == "on"
	case "kvsqld.optimizer":
		g.optimizer = v != "off"
		g.epoch++
	case "plan_cache_mode":
		g.planMode = planModeOf(v)
	case "transform_null_equals":
		g.nullEquals = v == "on"
		g.epoch++
	case "restrict_nonsystem_relation_kind":
		g.noViews = slices.Contains(restrictedKinds(v), "view")
		g.epoch++
	case "row_security":
		g.rowSecurityOff = v == "off"
		g.epoch++
	case "track_functions":
		g.trackFunctions = v == "all"
	case "client_min_messages":
		g.minLevel = noticeLevel(v)
	case "client_encoding":
		g.enc = charset.Find(v)
		if g.enc != nil && g.enc.Plain() {
			g.enc = nil
		}
		g.literals = g.literalRules()
		g.epoch++
	case "standard_conforming_strings", "backslash_quote":
		g.literals = g.literalRules()
		g.epoch++
	case "application_name":
		s.activity.mu.Lock()
		s.activity.application = v
		s.activity.mu.Unlock()
	case "role", "session_authorization":
		s.sessionUser = s.authUser
		if v := g.get("session_authorization"); v != "" && v != "default" {
			s.sessionUser = v
		}
		s.user = s.sessionUser
		if v := g.get("role"); v != "" && v != "none" {
			s.user = v
		}
		g.epoch++
		g.reportChange("is_superuser")
	}
	if d := settingTable()[key]; d != nil && d.report {
		g.reportChange(d.name)
	}
}

// literalRules says how string literals are read now; nil: as the standard has
// them.
func (g *settings) literalRules() *parser.Strings {
	st := &parser.Strings{Escapes: g.get("standard_conforming_strings") == "off", NoQuote: g.get("backslash_quote") == "off"}
	if g.get("backslash_quote") == "safe_encoding" {
		st.NoQuote = g.enc != nil && g.enc.ClientOnly
	}
	if !st.Escapes && !st.NoQuote {
		return nil
	}
	return st
}

// longText is the length from which a text's parsing asks for memory; plans of such
// texts are not kept.
const longText = 1 << 20

// strings is literals, for the reading of sql, with the warnings that the client is to
// see.
func (s *Session) strings(sql string) *parser.Strings {
	st := s.settings.literals
	if len(sql) >= longText {
		c := parser.Strings{}
		if st != nil {
			c = *st
		}
		c.Room, st = s.roomFn, &c
	}
	if st == nil || !st.Escapes || s.settings.get("escape_string_warning") == "off" {
		return st
	}
	c := *st
	c.Warn = s.tell
	return &c
}

func (g *settings) reportChange(name string) {
	if !slices.Contains(g.dirty, name) {
		g.dirty = append(g.dirty, name)
	}
}

// Encoding implements wire.Session.
func (s *Session) Encoding() *charset.Encoding { return s.settings.enc }

// report tells the client of changed settings.
func (s *Session) report(w wire.ResultWriter) {
	for _, n := range s.settings.dirty {
		v, _ := s.showSetting(n)
		w.ParameterStatus(n, v)
	}
	s.settings.dirty = s.settings.dirty[:0]
}

func (s *Session) makeFmt() *types.FmtOpts {
	g := s.settings
	o := &types.FmtOpts{ExtraFloatDigits: int(atoi(g.get("extra_float_digits"))), ByteaEscape: g.get("bytea_output") == "escape",
		NullText: g.get("array_nulls") == "off",
		Reg:      regNames{s}}
	o.DateStyle, o.DateOrder = parseDateStyle(g.get("datestyle"))
	switch g.get("intervalstyle") {
	case "postgres_verbose":
		o.IntervalStyle = types.IntervalPostgresVerbose
	case "sql_standard":
		o.IntervalStyle = types.IntervalSQL
	case "iso_8601":
		o.IntervalStyle = types.IntervalISO
	}
	o.Loc, _ = types.LoadZone(g.get("timezone"))
	return o
}

// mayExamine reports 42501 for a parameter that is not for the current role to see.
func (s *Session) mayExamine(name string) error {
	if d := findSetting(name); d != nil && d.secret && !s.isSuper(s.user) && !s.snapshot().HasRole(s.db, s.user, "pg_read_all_settings") {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of pg_read_all_settings to examine \"%s\"", d.name)
	}
	return nil
}

// showSetting returns a parameter's value as SHOW prints it.
func (s *Session) showSetting(name string) (string, bool) {
	key := strings.ToLower(name)
	d := settingTable()[key]
	switch key {
	case "transaction_isolation":
		return s.shownIsolation(), true
	case "transaction_read_only":
		return onOff(s.readOnly()), true
	case "transaction_deferrable":
		if s.tx != nil {
			return onOff(s.tx.waitSafe), true
		}
		return s.settings.get("default_transaction_deferrable"), true
	case "seed":
		return "unavailable", true
	case "is_superuser":
		return onOff(s.isSuper(s.user)), true
	case "session_authorization":
		return s.sessionUser, true
	case "max_connections":
		return s.srv.opts.maxConnections(), true
	case "lc_collate", "lc_ctype":
		return "C", true
	}
	if d == nil {
		for _, l := range []map[string]string{s.settings.local, s.settings.sess, s.settings.reset} {
			if v, ok := l[key]; ok {
				return v, true
			}
		}
		return "", s.settings.custom[key]
	}
	return d.show(s.settings.get(key)), true
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// mark and rollbackSettings keep settings in step with savepoints.
func (g *settings) mark() int { return len(g.log) }

// rollbackSettings undoes the changes since a mark.
func (s *Session) rollbackSettings(mark int) {
	g := s.settings
	for i := len(g.log) - 1; i >= mark; i-- {
		c := g.log[i]
		if c.had {
			g.layer(c.local)[c.name] = c.old
		} else {
			delete(g.layer(c.local), c.name)
		}
		s.settingChanged(c.name)
	}
	g.log = g.log[:mark]
}

// endSettings ends the transaction's layer.
func (s *Session) endSettings(committed bool) {
	g := s.settings
	if len(g.log) == 0 && len(g.local) == 0 {
		return
	}
	if !committed {
		s.rollbackSettings(0)
	}
	names := make([]string, 0, len(g.local))
	for n := range g.local {
		names = append(names, n)
	}
	clear(g.local)
	for _, n := range names {
		s.settingChanged(n)
	}
	g.log = g.log[:0]
}

// resetAll is RESET ALL: everything that a session can set, but not who it is.
func (s *Session) resetAll() {
	for n := range s.settings.sess {
		switch n {
		case "role", "session_authorization":
		default:
			s.settings.put(n, false, nil)
			s.settingChanged(n)
		}
	}
	if s.tx == nil {
		s.settings.log = s.settings.log[:0]
	}
}

// startSettings sets the values a session begins with: those of the database
// and of the role, then those of the startup packet.
func (s *Session) startSettings(db *catalog.Database, role *catalog.Role, packet []wire.Parameter) error {
	g := s.settings
	for _, m := range []map[string]string{s.srv.opts.Settings, s.srv.Catalog.Current().Everybody(), db.Settings, role.Settings, role.InDatabase[db.Name]} {
		for n, v := range m {
			if d := findSetting(n); d != nil {
				if c, err := d.canonical(s, v); err == nil {
					g.reset[strings.ToLower(n)] = c
				}
			} else {
				g.reset[strings.ToLower(n)] = v
			}
		}
	}
	for _, p := range packet {
		d := findSetting(p.Name)
		if d == nil {
			if !customName(p.Name) {
				return unknownOrBadName(p.Name)
			}
			g.reset[strings.ToLower(p.Name)] = p.Value
			continue
		}
		if d.context != "backend" && d.context != "superuser-backend" {
			if err := d.changeable(); err != nil {
				return err
			}
		}
		if err := d.allowed(s.srv.Catalog.Current(), role.Name); err != nil {
			return err
		}
		if cut := parser.CutName(p.Value); d.name == "application_name" && cut != p.Value {
			s.greeting = append(s.greeting, cutNotice(p.Value, cut))
		}
		v, err := d.canonical(s, p.Value)
		if err != nil {
			return err
		}
		g.reset[strings.ToLower(p.Name)] = v
	}
	for _, n := range []string{"datestyle", "search_path", "statement_timeout", "lock_timeout",
		"idle_in_transaction_session_timeout", "idle_session_timeout", "transaction_timeout", "temp_file_limit", "work_mem", "max_parallel_workers_per_gather", "min_parallel_table_scan_size", "synchronous_commit", "default_transaction_isolation",
		"default_transaction_read_only", "default_transaction_deferrable", "kvsqld.optimizer", "row_security", "restrict_nonsystem_relation_kind", "transform_null_equals",
		"client_min_messages", "client_encoding", "application_name", "log_statement"} {
		s.settingChanged(n)
	}
	g.dirty = g.dirty[:0]
	return nil
}

// noticeLevel orders severities as client_min_messages does.
func noticeLevel(v string) int {
	switch strings.ToLower(v) {
	case "debug5", "debug4", "debug3", "debug2", "debug1", "debug":
		return 0
	case "log":
		return 1
	case "info", "notice":
		return 2
	case "warning":
		return 3
	}
	return 4
}

// tell sends a notice unless client_min_messages keeps it back.
func (s *Session) tell(n *sqlerr.Error) {
	if s.w == nil || n.Severity != "INFO" && noticeLevel(n.Severity) < s.settings.minLevel {
		return
	}
	s.w.Notice(n)
}
