package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
)

// setting describes one run-time parameter.
type setting struct {
	name     string // as SHOW prints it
	kind     string // bool, integer, real, string, enum
	unit     string
	min, max float64
	minText  string
	maxText  string
	category string
	short    string // what it is for
	extra    string // more of it
	enum     []string
	context  string // who may change it: user, superuser, backend, sighup, postmaster, internal
	def      string // default, in base units
	report   bool   // clients are told of changes
	list     bool   // the value is a list of names
	secret   bool   // it is not for everybody to see
}

// secret are the settings that superusers and members of pg_read_all_settings see.
var secret = strings.Fields(`config_file data_directory dynamic_library_path external_pid_file hba_file ident_file jit_provider
	krb_server_keyfile log_directory log_filename primary_conninfo session_preload_libraries shared_preload_libraries ssl_ciphers
	ssl_dh_params_file ssl_ecdh_curve ssl_max_protocol_version ssl_min_protocol_version ssl_passphrase_command unix_socket_directories`)

// own are the parameters that PostgreSQL does not have.
var own = []catalog.Setting{
	// Newer than version 15, and harmless to clients that do not know it.
	{Name: "transaction_timeout", Context: "user", VarType: "integer", Unit: "ms", Min: "0", Max: "2147483647", BootVal: "0", ResetVal: "0",
		Category: "Client Connection Defaults / Statement Behavior", ShortDesc: "How long a transaction may take; 0 sets no limit."},
	// Which pg_settings does not list; dumps of old versions set it.
	{Name: "default_with_oids", Value: "off", Context: "user", VarType: "bool", BootVal: "off", ResetVal: "off",
		Category: "Version and Platform Compatibility / Previous PostgreSQL Versions", ShortDesc: "WITH OIDS is no longer supported; this can only be false."},
	{Name: "kvsqld.optimizer", Value: "on", Context: "user", VarType: "bool", BootVal: "on", ResetVal: "on", Category: "Query Tuning",
		ShortDesc: "Whether the planner looks for a cheaper plan than that of the text."},
}

// shipped are defaults that differ from those of the server the table was taken
// from.
var shipped = map[string]string{
	"application_name":        "",
	"client_encoding":         "UTF8",
	"timezone":                "UTC",
	"datestyle":               "ISO, MDY",
	"lc_messages":             "C",
	"lc_monetary":             "C",
	"lc_numeric":              "C",
	"lc_time":                 "C",
	"lc_collate":              "C",
	"lc_ctype":                "C",
	"listen_addresses":        "",
	"unix_socket_directories": "",
	"server_version":          ServerVersion,
	"server_version_num":      "150018",
	"is_superuser":            "on",
	"max_connections":         "100",
	"jit":                     "off",
}

// ServerVersion is what server_version says. Tools choose their catalog queries
// by the number in front.
const ServerVersion = expr.PostgresVersion + " (kvsqld)"

// reported are the settings whose changes clients are told.
var reported = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby",
	"integer_datetimes", "IntervalStyle", "is_superuser", "server_encoding", "server_version",
	"session_authorization", "standard_conforming_strings", "TimeZone",
}

var settingTable = sync.OnceValue(func() map[string]*setting {
	m := make(map[string]*setting, 400)
	for _, c := range slices.Concat(catalog.Settings(), own, []catalog.Setting{
		{Name: "is_superuser", VarType: "bool", Context: "internal"},
		{Name: "session_authorization", VarType: "string", Context: "user"},
		{Name: "role", VarType: "string", Context: "user", ResetVal: "none"},
		{Name: "seed", VarType: "real", Context: "user", Min: "-1", Max: "1", ResetVal: "0"},
	}) {
		key := strings.ToLower(c.Name)
		d := &setting{name: c.Name, kind: c.VarType, unit: c.Unit, enum: c.EnumVals, context: c.Context, def: c.ResetVal,
			minText: c.Min, maxText: c.Max, category: c.Category, short: c.ShortDesc, extra: c.ExtraDesc,
			min: math.Inf(-1), max: math.Inf(1)}
		if v, ok := shipped[key]; ok {
			d.def = v
		}
		if f, err := strconv.ParseFloat(c.Min, 64); err == nil {
			d.min = f
		}
		if f, err := strconv.ParseFloat(c.Max, 64); err == nil {
			d.max = f
		}
		d.secret = slices.Contains(secret, key)
		d.report = slices.Contains(reported, c.Name)
		switch key {
		case "search_path", "temp_tablespaces", "datestyle", "session_preload_libraries", "shared_preload_libraries",
			"local_preload_libraries", "log_destination", "listen_addresses", "synchronous_standby_names", "wal_consistency_checking":
			d.list = true
		}
		m[key] = d
	}
	return m
})

func findSetting(name string) *setting {
	t := settingTable()
	if d := t[name]; d != nil {
		return d
	}
	return t[strings.ToLower(name)]
}

func unknownSetting(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
}

func badValue(name, v string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", name, v)
}

// canonical checks a value against the parameter's type and returns its text in
// base units.
func (d *setting) canonical(s *Session, v string) (string, error) {
	switch d.kind {
	case "bool":
		b, ok := types.ParseBoolWord(strings.TrimSpace(v))
		if !ok {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" requires a Boolean value", d.name)
		}
		v = "off"
		if b {
			v = "on"
		}
	case "integer", "real":
		n, err := d.number(v)
		if err != nil {
			return "", err
		}
		v = n
	case "enum":
		low := strings.ToLower(strings.TrimSpace(v))
		if d.name == "client_min_messages" || d.name == "log_min_messages" || d.name == "log_min_error_statement" {
			switch low { // words that no list shows
			case "debug":
				low = "debug2"
			case "info":
				return low, nil
			}
		}
		if b, ok := types.ParseBoolWord(low); ok && !slices.Contains(d.enum, low) {
			low = "off"
			if b {
				low = "on"
			}
		}
		if d.name == "wal_compression" && low == "on" {
			low = "pglz" // which it stands for
		}
		i := slices.IndexFunc(d.enum, func(e string) bool { return strings.EqualFold(e, low) })
		if i < 0 {
			return "", badValue(d.name, v).WithHint("Available values: %s.", strings.Join(d.enum, ", "))
		}
		v = d.enum[i]
	}
	if check := checkOf(strings.ToLower(d.name)); check != nil {
		return check(s, v)
	}
	return v, nil
}

type unit struct {
	name   string
	factor float64
}

var (
	memoryUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
	timeUnits   = []unit{{"d", 86400e3}, {"h", 3600e3}, {"min", 60e3}, {"s", 1e3}, {"ms", 1}, {"us", 1e-3}}
)

// units returns the units a parameter understands and the factor of its own.
func (d *setting) units() (list []unit, base float64, hint string) {
	switch d.unit {
	case "B", "kB", "MB", "8kB":
		base = map[string]float64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "8kB": 8 << 10}[d.unit]
		return memoryUnits, base, "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\"."
	case "ms", "s", "min":
		base = map[string]float64{"ms": 1, "s": 1e3, "min": 60e3}[d.unit]
		return timeUnits, base, "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
	}
	return nil, 1, ""
}

// number reads a number with an optional unit and converts it to base units.
func (d *setting) number(v string) (string, error) {
	f, suffix, ok := types.CNumber(v, d.kind == "integer")
	if suffix = strings.TrimSpace(suffix); !ok || f != f {
		return "", badValue(d.name, v)
	}
	if suffix != "" {
		list, base, hint := d.units()
		i := slices.IndexFunc(list, func(u unit) bool { return u.name == suffix })
		if i < 0 {
			e := badValue(d.name, v)
			e.Hint = hint
			return "", e
		}
		f = f * list[i].factor / base
	}
	space := ""
	if d.unit != "" {
		space = " "
	}
	if d.kind == "integer" {
		f = math.RoundToEven(f)
		if math.Abs(f) > math.MaxInt32 {
			return "", badValue(d.name, v).WithHint("Value exceeds integer range.")
		}
		if f < d.min || f > d.max {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d%s%s is outside the valid range for parameter \"%s\" (%d .. %d)",
				int64(f), space, d.unit, d.name, int64(d.min), int64(d.max))
		}
		return strconv.FormatInt(int64(f), 10), nil
	}
	if f < d.min || f > d.max {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "%s%s%s is outside the valid range for parameter \"%s\" (%s .. %s)",
			sixDigits(f), space, d.unit, d.name, sixDigits(d.min), sixDigits(d.max))
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}

// sixDigits writes a number as messages about settings do.
func sixDigits(f float64) string {
	if math.IsInf(f, 0) {
		return types.FloatText(f)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// show is the value as SHOW prints it: with the greatest unit that fits, but for the
// options of sockets, which are plain numbers.
func (d *setting) show(v string) string {
	if d.unit == "" || d.kind != "integer" || strings.HasPrefix(d.name, "tcp_") {
		if d.unit != "" && d.kind == "real" {
			return d.showReal(v)
		}
		return d.shown(v)
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n <= 0 {
		return v
	}
	list, base, _ := d.units()
	for _, u := range list {
		if f := float64(n) * base / u.factor; f >= 1 && f == math.Trunc(f) {
			return fmt.Sprintf("%d%s", int64(f), u.name)
		}
	}
	return v + d.unit
}

// showReal takes the greatest unit of which the value is nearly a whole number, else the
// least.
func (d *setting) showReal(v string) string {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f <= 0 {
		return v
	}
	list, base, _ := d.units()
	for i, u := range list {
		n := f * base / u.factor
		if math.Abs(math.RoundToEven(n)/n-1) <= 1e-8 || i == len(list)-1 {
			return sixDigits(n) + u.name
		}
	}
	return v + d.unit
}

// shown is the value as pg_settings has it: the modes of files are octal, and
// a command to archive is not told where nothing is archived, as here. Others are left
// as they are.
func (d *setting) shown(v string) string {
	switch d.name {
	case "archive_command":
		return "(disabled)"
	case "log_file_mode", "unix_socket_permissions", "data_directory_mode":
		if n, err := strconv.ParseUint(v, 10, 32); err == nil {
			return fmt.Sprintf("%04o", n)
		}
	}
	return v
}

// allowed refuses a parameter that is for superusers, and for those that were granted
// it, to other roles.
func (d *setting) allowed(snap *catalog.Snapshot, role string) error {
	if d.context != "superuser" || snap.IsSuper(role) {
		return nil
	}
	if held, _ := snap.Privileges(role, snap.Parameter(strings.ToLower(d.name))); held&catalog.PrivSet != 0 {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set parameter \"%s\"", d.name)
}

// changeable reports why a session may not change the parameter.
func (d *setting) changeable() error {
	const cantChange sqlerr.Code = "55P02"
	switch d.context {
	case "internal":
		return sqlerr.New(cantChange, "parameter \"%s\" cannot be changed", d.name)
	case "postmaster":
		return sqlerr.New(cantChange, "parameter \"%s\" cannot be changed without restarting the server", d.name)
	case "sighup":
		return sqlerr.New(cantChange, "parameter \"%s\" cannot be changed now", d.name)
	case "backend", "superuser-backend":
		return sqlerr.New(cantChange, "parameter \"%s\" cannot be set after connection start", d.name)
	}
	return nil
}
