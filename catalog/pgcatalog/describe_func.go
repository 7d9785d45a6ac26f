package pgcatalog

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// routine is a built-in or user-defined function as its definition shows it.
type routine struct {
	schema, name, language, body string
	args                         []types.OID
	modes                        []byte
	names                        []string
	defaults                     []string // of the last input arguments
	ret                          types.OID
	set, strict, procedure       bool
	volatile, parallel           byte
	definer, leakProof, standard bool
	window                       bool
	cost, rows                   float64
	aggregate                    *catalog.Aggregate // of an ordered-set aggregate; nil otherwise
}

// routine finds a function by OID; false when there is none.
func (env *Env) routine(o types.OID) (routine, bool) {
	if p := catalog.ProcByOID(o); p != nil {
		r := routine{schema: p.In(), name: p.Name, language: "internal", body: p.Src, args: p.Args, modes: p.ArgModes,
			names: p.ArgNames, defaults: p.Defaults, ret: p.Ret, set: p.RetSet, strict: p.Strict, procedure: p.Kind == 'p',
			volatile: p.Volatile, parallel: p.Parallel, leakProof: p.LeakProof, window: p.Kind == 'w', cost: p.Cost, rows: p.Rows}
		if p.AllArgs != nil {
			r.args = p.AllArgs
		}
		if a := catalog.AggregateByOID(o); a != nil && a.Kind != 'n' {
			r.aggregate = a
		}
		switch {
		case p.Lang == langSQL || p.Schema == catalog.SchemaInformation:
			r.language = "sql"
		case p.Lang == langC:
			r.language = "c"
		}
		return r, true
	}
	f, ok := env.Snap.Object(o).(*catalog.Function)
	if !ok || f.DB != env.DB {
		return routine{}, false
	}
	language := f.Language
	body := f.Body
	if f.RangeType != 0 {
		language = "internal"
	}
	if f.Agg != nil {
		body = "aggregate_dummy"
	}
	return routine{schema: f.Schema, name: f.Name, language: language, body: body, args: typeOIDs(f.Args), modes: f.ArgModes,
		names: f.ArgNames, defaults: f.Defaults, ret: f.Ret.OID, set: f.RetSet, strict: f.Strict, procedure: f.Procedure,
		volatile: f.Volatile, parallel: f.Parallel, definer: f.Definer, leakProof: f.LeakProof, standard: f.Standard, window: f.Window,
		cost: f.Cost, rows: f.Rows}, true
}

// mode returns the mode of an argument; 'i' when none is recorded.
func (r *routine) mode(i int) byte {
	if i < len(r.modes) {
		return r.modes[i]
	}
	return 'i'
}

// argument writes one argument without its default.
func (env *Env) argument(r *routine, i int) string {
	s := ""
	switch r.mode(i) {
	case 'o':
		s = "OUT "
	case 'b':
		s = "INOUT "
	case 'v':
		s = "VARIADIC "
	case 'i':
		if r.procedure {
			s = "IN "
		}
	}
	if i < len(r.names) && r.names[i] != "" {
		s += catalog.QuoteIdent(r.names[i]) + " "
	}
	return s + env.FormatTypeNoMod(r.args[i])
}

// arguments lists the arguments; those of a result table are left out.
func (env *Env) arguments(r *routine, defaults bool) string {
	inputs := 0
	for i := range r.args {
		if m := r.mode(i); m != 'o' && m != 't' {
			inputs++
		}
	}
	var parts []string
	in := 0
	for i := range r.args {
		m := r.mode(i)
		if m == 't' {
			continue
		}
		s := env.argument(r, i)
		if m != 'o' {
			if d := in - (inputs - len(r.defaults)); defaults && d >= 0 {
				s += " DEFAULT " + env.exprText(r.defaults[d], false)
			}
			in++
		}
		parts = append(parts, s)
	}
	if r.aggregate != nil {
		return orderedArguments(parts, r.aggregate)
	}
	return strings.Join(parts, ", ")
}

// orderedArguments sets the direct arguments of an ordered-set aggregate apart from
// those it orders by. A variadic argument stands for both.
func orderedArguments(parts []string, a *catalog.Aggregate) string {
	direct, ordered := parts[:min(a.Direct, len(parts))], parts[min(a.Direct, len(parts)):]
	if len(ordered) == 0 {
		ordered = parts[len(parts)-1:]
	}
	return strings.TrimPrefix(strings.Join(direct, ", ")+" ORDER BY "+strings.Join(ordered, ", "), " ")
}

// GetFunctionArguments is pg_get_function_arguments; false for no function.
func (env *Env) GetFunctionArguments(o types.OID) (string, bool) {
	r, ok := env.routine(o)
	return env.arguments(&r, true), ok
}

// GetFunctionArgDefault is pg_get_function_arg_default: the default of the n-th
// argument, counted from 1; false when it has none.
func (env *Env) GetFunctionArgDefault(o types.OID, n int) (string, bool) {
	r, ok := env.routine(o)
	if !ok || n < 1 || n > len(r.args) {
		return "", false
	}
	input := func(i int) bool { m := r.mode(i); return m != 'o' && m != 't' }
	inputs, at := 0, 0
	for i := range r.args {
		if input(i) {
			inputs++
			if i < n {
				at++
			}
		}
	}
	d := at - 1 - (inputs - len(r.defaults))
	if !input(n-1) || d < 0 {
		return "", false
	}
	return env.exprText(r.defaults[d], false), true
}

// GetFunctionIdentityArguments is pg_get_function_identity_arguments.
func (env *Env) GetFunctionIdentityArguments(o types.OID) (string, bool) {
	r, ok := env.routine(o)
	return env.arguments(&r, false), ok
}

// GetFunctionResult is pg_get_function_result; false for procedures, which have
// none, and for no function.
func (env *Env) GetFunctionResult(o types.OID) (string, bool) {
	r, ok := env.routine(o)
	if !ok || r.procedure {
		return "", false
	}
	return env.result(&r), true
}

func (env *Env) result(r *routine) string {
	var table []string
	for i := range r.args {
		if r.mode(i) == 't' {
			table = append(table, env.argument(r, i))
		}
	}
	switch {
	case table != nil:
		return "TABLE(" + strings.Join(table, ", ") + ")"
	case r.set:
		return "SETOF " + env.FormatTypeNoMod(r.ret)
	}
	return env.FormatTypeNoMod(r.ret)
}

// GetFunctionSQLBody is pg_get_function_sqlbody; false for a function whose body
// is a string, and for no function.
func (env *Env) GetFunctionSQLBody(o types.OID) (string, bool) {
	r, ok := env.routine(o)
	return env.bodyOf(o, &r), ok && r.standard
}

// bodyOf is a function's body as it is shown: that of the analysed queries where
// it is made of them.
func (env *Env) bodyOf(o types.OID, r *routine) string {
	if f, ok := env.Snap.Object(o).(*catalog.Function); ok && r.standard && env.BodyTree != nil {
		if t, err := env.BodyTree(f); err == nil && t != nil {
			return env.BodyText(t)
		}
	}
	return r.body
}

// AggregateName returns the name of an aggregate; false for other functions.
func (env *Env) AggregateName(o types.OID) (string, bool) {
	if p := catalog.ProcByOID(o); p != nil {
		return p.Name, p.Kind == 'a'
	}
	f, ok := env.Snap.Object(o).(*catalog.Function)
	if !ok || f.Agg == nil {
		return "", false
	}
	return f.Name, true
}

// settingText spells name=value as SET takes it; the names of a list one by one.
func settingText(kv string) string {
	name, value, _ := strings.Cut(kv, "=")
	out := catalog.QuoteIdent(name) + " TO "
	switch strings.ToLower(name) {
	case "search_path", "temp_tablespaces", "session_preload_libraries", "shared_preload_libraries", "local_preload_libraries", "unix_socket_directories":
		var list []string
		for _, n := range strings.Split(value, ",") {
			list = append(list, catalog.QuoteLiteral(unquoteIdent(strings.TrimSpace(n))))
		}
		return out + strings.Join(list, ", ")
	}
	return out + catalog.QuoteLiteral(value)
}

// GetFunctionDef is pg_get_functiondef: a statement that makes the function
// again; false for no function.
func (env *Env) GetFunctionDef(o types.OID) (string, bool) {
	r, ok := env.routine(o)
	if !ok {
		return "", false
	}
	kind, tag := "FUNCTION", "$function"
	if r.procedure {
		kind, tag = "PROCEDURE", "$procedure"
	}
	var b strings.Builder
	b.WriteString("CREATE OR REPLACE " + kind + " " + catalog.QualifiedIdent(r.schema, r.name) + "(" + env.arguments(&r, true) + ")\n")
	if !r.procedure {
		b.WriteString(" RETURNS " + env.result(&r) + "\n")
	}
	b.WriteString(" LANGUAGE " + catalog.QuoteIdent(r.language) + "\n")
	var flags []string
	if r.window {
		flags = append(flags, "WINDOW")
	}
	switch r.volatile {
	case 'i':
		flags = append(flags, "IMMUTABLE")
	case 's':
		flags = append(flags, "STABLE")
	}
	switch r.parallel {
	case 's':
		flags = append(flags, "PARALLEL SAFE")
	case 'r':
		flags = append(flags, "PARALLEL RESTRICTED")
	}
	if r.strict {
		flags = append(flags, "STRICT")
	}
	if r.definer {
		flags = append(flags, "SECURITY DEFINER")
	}
	if r.leakProof {
		flags = append(flags, "LEAKPROOF")
	}
	usual := 100.0
	if r.language == "internal" {
		usual = 1
	}
	if r.cost != usual {
		flags = append(flags, "COST "+strconv.FormatFloat(r.cost, 'g', -1, 64))
	}
	if r.rows != 0 && r.rows != 1000 {
		flags = append(flags, "ROWS "+strconv.FormatFloat(r.rows, 'g', -1, 64))
	}
	if flags != nil {
		b.WriteString(" " + strings.Join(flags, " ") + "\n")
	}
	if f, ok := env.Snap.Object(o).(*catalog.Function); ok {
		for _, kv := range f.Config {
			b.WriteString(" SET " + settingText(kv) + "\n")
		}
	}
	if r.standard {
		b.WriteString(env.bodyOf(o, &r) + "\n")
		return b.String(), true
	}
	for strings.Contains(r.body, tag) {
		tag += "x"
	}
	b.WriteString("AS " + tag + "$" + r.body + tag + "$\n")
	return b.String(), true
}

// UserByID is pg_get_userbyid.
func (env *Env) UserByID(o types.OID) string {
	if r, ok := env.Snap.Object(o).(*catalog.Role); ok {
		return r.Name
	}
	return "unknown (OID=" + strconv.FormatUint(uint64(o), 10) + ")"
}

// ObjDescription is obj_description: the comment on an object of the system
// relation named; "" when it has none. With no relation, any relation's.
func (env *Env) ObjDescription(o types.OID, relation string) string {
	class := types.OID(0)
	if relation != "" {
		r := Find(catalog.SchemaPgCatalog, relation)
		if r == nil {
			return ""
		}
		class = r.OID
	}
	return env.description(o, class, 0)
}

// ColDescription is col_description: the comment on a column; on the relation for 0.
func (env *Env) ColDescription(rel types.OID, attnum int) string {
	return env.description(rel, oidPgClass, attnum)
}

// ShobjDescription is shobj_description: the comment on a database or role.
func (env *Env) ShobjDescription(o types.OID, relation string) string {
	obj := env.Snap.Object(o)
	_, isDB := obj.(*catalog.Database)
	_, isRole := obj.(*catalog.Role)
	if isDB && relation == "pg_database" || isRole && (relation == "pg_authid" || relation == "pg_roles") {
		return commonOf(obj).Comment
	}
	for _, t := range env.Snap.Tablespaces() {
		if relation == "pg_tablespace" && t.OID == o {
			return t.Comment
		}
	}
	return ""
}

// description looks a comment up; class 0 is any.
func (env *Env) description(o, class types.OID, sub int) string {
	text := ""
	if o < types.FirstUserOID {
		if n, ok := env.Snap.SystemNote(env.DB, class, o, sub); ok && n.Described {
			return n.Comment
		}
		if sub == 0 {
			text = catalog.DescriptionOf(class, o)
		}
		if text != "" || class == oidPgProc || class == oidPgOperator {
			return text
		}
	}
	r := Find(catalog.SchemaPgCatalog, "pg_description")
	one := &Lookup{Cols: []int{0}, Vals: []types.Datum{types.Int(types.TOid, int64(o))}}
	// Computing the rows cannot fail.
	_ = r.Rows(env, one, func(row []types.Datum) bool {
		if types.OID(row[0].I) == o && row[2].I == int64(sub) && (class == 0 || types.OID(row[1].I) == class) {
			text = string(row[3].B)
		}
		return text == ""
	})
	return text
}
