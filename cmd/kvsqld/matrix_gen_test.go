package main

import (
	"context"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// matrixStatement is a statement with what it asks about, by which differences
// are grouped.
type matrixStatement struct {
	about, sql string
}

// matrixGen enumerates statements in an order that does not change from run to
// run.
type matrixGen struct {
	procs     []matrixProc
	operators []matrixOperator
	emit      func(matrixStatement)
}

// matrixProc is a function of the reference.
type matrixProc struct {
	oid          int64
	name         string
	args         []string
	ret          string
	kind         byte // as pg_proc.prokind
	volatile     byte
	set          bool
	variadic     bool
	orderedSet   byte // as pg_aggregate.aggkind
	directArgs   int
	notCallable  bool // an argument or the result is of PostgreSQL's inner workings
	environments bool // the answer hangs on the server, the session or the time
}

// matrixOperator is a name of operators.
type matrixOperator struct {
	name   string
	prefix bool
}

// matrixEnvironment matches functions of which only the existence and the types
// are compared.
var matrixEnvironment = regexp.MustCompile(`^(now|version|current_.*|getpgusername|session_user|user|statement_timestamp|transaction_timestamp|` +
	`inet_(client|server)_.*|pg_(backend_pid|conf_load_time|config|cursor|prepared_.*|postmaster_start_time|my_temp_schema|stat_.*|show_.*|settings_get_flags|` +
	`get_keywords|get_publication_tables|get_catalog_foreign_keys|get_replication_slots|available_.*|timezone_.*|tablespace_.*|relation_file.*|listening_channels|current_.*|` +
	`column_compression|is_other_temp_schema|filenode_relation|lock_status|event_trigger.*|get_userbyid|get_functiondef|get_viewdef|get_ruledef|get_indexdef|options_to_table|mcv_list_items)|` +
	`txid_(current|snapshot|status).*|mxid_age|database_to_.*|schema_to_.*|.*_validator|lo_.*|ts_.*)$`)

// matrixInner are the types of PostgreSQL's inner workings.
var matrixInner = regexp.MustCompile(`^(internal|.*trigger|.*_handler|pg_ddl_command|pg_node_tree|pg_brin.*|gtsvector|pg_mcv_list|pg_ndistinct|pg_dependencies)$`)

// matrixProcs reads the reference's functions and operators.
func matrixCatalog(t *testing.T, ctx context.Context, c *pgconn.PgConn) *matrixGen {
	t.Helper()
	g := &matrixGen{}
	query := func(sql string) [][]string {
		r := c.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		var rows [][]string
		for _, v := range r.Rows {
			f := make([]string, len(v))
			for i := range v {
				f[i] = string(v[i])
			}
			rows = append(rows, f)
		}
		return rows
	}
	for _, r := range query(`SELECT p.oid, proname, prokind, provolatile, proretset, provariadic <> 0, format_type(prorettype, NULL),
			array_to_string(ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) WITH ORDINALITY u(a, n) ORDER BY n), ';'),
			coalesce(aggkind, 'n'), coalesce(aggnumdirectargs, 0)
		FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid WHERE pronamespace = 11 ORDER BY p.oid`) {
		p := matrixProc{name: r[1], kind: r[2][0], volatile: r[3][0], set: r[4] == "t", variadic: r[5] == "t", ret: r[6], orderedSet: r[8][0]}
		fmt.Sscan(r[0], &p.oid)
		fmt.Sscan(r[9], &p.directArgs)
		if r[7] != "" {
			p.args = strings.Split(r[7], ";")
		}
		p.environments = p.volatile == 'v' || matrixEnvironment.MatchString(p.name) || p.name == "age" && len(p.args) == 1
		for _, a := range append([]string{p.ret}, p.args...) {
			p.notCallable = p.notCallable || matrixInner.MatchString(a)
		}
		g.procs = append(g.procs, p)
	}
	for _, r := range query(`SELECT DISTINCT oprname, oprkind = 'l' FROM pg_operator ORDER BY 1, 2`) {
		g.operators = append(g.operators, matrixOperator{r[0], r[1] == "t"})
	}
	return g
}

// matrixSetup creates what the statements refer to.
func matrixSetup() []matrixStatement {
	setup := []matrixStatement{
		{"setup", "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')"},
		{"setup", "SET client_min_messages = error"},
		{"setup", "SET timezone = 'America/New_York'"},
		{"setup", "SET statement_timeout = '20s'"},
	}
	for i, m := range matrixTypes {
		if m.in != nil {
			setup = append(setup, matrixStatement{"setup", fmt.Sprintf("CREATE TABLE m%d (c %s)", i, m.name)})
		}
	}
	return setup
}

// run emits the whole matrix.
func (g *matrixGen) run(emit func(matrixStatement)) {
	g.emit = emit
	g.inputs()
	g.casts()
	g.operatorPairs()
	for _, p := range g.procs {
		if p.notCallable {
			continue
		}
		switch p.kind {
		case 'a':
			g.aggregate(p)
		case 'w':
			g.window(p)
		default:
			g.function(p)
		}
	}
	g.unknownCalls()
}

func (g *matrixGen) ask(about, format string, args ...any) {
	g.emit(matrixStatement{about, fmt.Sprintf(format, args...)})
}

// inputs has every type read every text.
func (g *matrixGen) inputs() {
	var texts []string
	seen := map[string]bool{}
	for _, m := range matrixTypes {
		for _, s := range m.in {
			if !seen[s] {
				seen[s] = true
				texts = append(texts, s)
			}
		}
	}
	texts = append(texts, matrixInputs...)
	for _, m := range matrixTypes {
		for _, s := range texts {
			if m.in != nil {
				g.ask("input "+m.name, "SELECT %s::%s", matrixQuote(s), m.name)
			}
		}
	}
	for _, m := range matrixRefused {
		g.ask("type "+m.name, "SELECT %s", m.literal(0))
	}
}

// casts converts between all pairs of types: explicitly, by assignment, and to
// a common type.
func (g *matrixGen) casts() {
	for _, from := range matrixTypes {
		for i, to := range matrixTypes {
			for _, v := range from.literals() {
				g.ask("cast to "+to.name, "SELECT CAST(%s AS %s)", v, to.name)
			}
			v := from.literal(0)
			if to.in != nil {
				g.ask("assignment to "+to.name, "INSERT INTO m%d VALUES (%s) RETURNING c", i, v)
				g.ask("assignment to "+to.name, "INSERT INTO m%d VALUES (CAST(NULL AS %s)) RETURNING c", i, from.name)
			}
			g.ask("common type with "+to.name, "SELECT CASE WHEN true THEN %s ELSE %s END", v, to.literal(0))
			if from.in != nil && to.in != nil && !strings.HasSuffix(from.name, "]") && !strings.HasSuffix(to.name, "]") {
				g.ask("array cast to "+to.name, "SELECT CAST(ARRAY[%s, NULL] AS %s[])", v, to.name)
			}
			if from.name != to.name {
				g.ask("IN "+to.name, "SELECT %s IN (%s)", v, to.literal(0))
			}
		}
	}
}

// operatorPairs applies every operator's name to all pairs of types, literals
// without a type and NULL included.
func (g *matrixGen) operatorPairs() {
	values := []string{"'5'", "NULL"}
	for _, m := range matrixTypes {
		values = append(values, m.literal(0))
	}
	for _, o := range g.operators {
		about := "operator " + o.name
		for _, a := range values {
			if o.prefix {
				g.ask("prefix "+about, "SELECT %s %s", o.name, a)
				continue
			}
			for _, b := range values {
				g.ask(about, "SELECT %s %s %s", a, o.name, b)
			}
		}
	}
}

// matrixCombinations bounds the calls of one signature.
const matrixCombinations = 120

// matrixRows bounds the tables that an aggregate is tried with, for each choice of
// polymorphic types.
const matrixRows = 12

// function calls a function with combinations of values, NULLs among them.
func (g *matrixGen) function(p matrixProc) {
	about := "function " + p.name
	for _, a := range append([]string{p.ret}, p.args...) {
		if m := matrixFind(strings.TrimSuffix(a, "[]")); m == nil && !strings.HasSuffix(a, "[]") && matrixPseudo[strings.Trim(a, `"`)] == nil || matrixIsRefused(m) {
			about = "function of " + strings.TrimSuffix(a, "[]") + " " + p.name
			p.environments = true
		}
	}
	g.calls(p, p.args, func(args []string, _ int) {
		call := fmt.Sprintf("%s(%s)", matrixIdent(p.name), strings.Join(args, ", "))
		switch {
		case p.environments:
			g.ask(about, "SELECT %s WHERE false", call)
		case p.set:
			g.ask(about, "SELECT %s LIMIT 20", call)
		default:
			g.ask(about, "SELECT %s", call)
		}
	})
}

// calls yields lists of arguments for a signature, and for each which types stand
// for its polymorphic ones.
func (g *matrixGen) calls(p matrixProc, args []string, yield func(args []string, k int)) {
	instances := 1
	for _, a := range args {
		if n := len(matrixPseudo[strings.Trim(a, `"`)]); n > instances {
			instances = n
		}
	}
	for k := range instances {
		pools := make([][]string, len(args))
		product := 1
		for i, a := range args {
			pools[i] = matrixPool(p, a, k)
			product = min(product*len(pools[i]), 1<<30)
		}
		limit := matrixCombinations
		if p.kind == 'a' {
			limit = matrixRows
		}
		if matrixSpecial[p.name] != nil {
			limit *= 4
		}
		if p.environments {
			limit = 1
		}
		rnd := rand.New(rand.NewSource(p.oid))
		for n := range min(product, limit) {
			at := n
			pick := make([]string, len(args))
			for i, pool := range pools {
				if product > limit && limit > 1 {
					at = rnd.Intn(1 << 30)
				}
				pick[i] = pool[at%len(pool)]
				at /= len(pool)
			}
			yield(pick, k)
		}
	}
}

// matrixPool has the values of one argument; k says which type stands for a
// polymorphic one.
func matrixPool(p matrixProc, arg string, k int) []string {
	name := strings.Trim(arg, `"`)
	if l := matrixPseudo[name]; l != nil && arg != "\"char\"" {
		arg = l[k%len(l)]
	}
	if arg == "mood" {
		return []string{"'ok'::mood", "'happy'::mood", "NULL::mood"}
	}
	if arg == "integer" && strings.HasSuffix(p.name, "in") && len(p.args) == 3 {
		return matrixModifiers
	}
	if arg == "cstring" {
		pool := []string{"'5'", "'abc'"}
		if m := matrixFind(p.ret); m != nil {
			for _, s := range m.in {
				pool = append(pool, matrixQuote(s))
			}
		}
		return pool
	}
	var pool []string
	if special := matrixSpecial[p.name]; special != nil && (arg == "text" || arg == "name") {
		for _, s := range special {
			pool = append(pool, matrixQuote(s)+"::"+arg)
		}
	} else if m := matrixFind(arg); m != nil {
		pool = append(pool, m.literals()...)
	}
	return append(pool, "NULL::"+arg)
}

// matrixIsRefused reports whether a type is refused by name.
func matrixIsRefused(m *matrixType) bool {
	return m != nil && slices.ContainsFunc(matrixRefused, func(r matrixType) bool { return r.name == m.name })
}

// matrixFind returns the type of a name as format_type gives it.
func matrixFind(name string) *matrixType {
	alias := map[string]string{"boolean": "bool", "smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4",
		"double precision": "float8", "cstring": "text", "void": "text", "character varying": "varchar(5)", "character": "char(5)", "bit": "bit(5)", "bit varying": "varbit",
		"time without time zone": "time", "time with time zone": "timetz", "timestamp without time zone": "timestamp",
		"timestamp with time zone": "timestamptz", "integer[]": "int4[]"}
	if a := alias[name]; a != "" {
		name = a
	}
	for _, list := range [][]matrixType{matrixTypes, matrixRefused} {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// aggregate folds the values of the argument types in several ways.
func (g *matrixGen) aggregate(p matrixProc) {
	about := "aggregate " + p.name
	name := matrixIdent(p.name)
	if p.orderedSet != 'n' {
		g.orderedSet(p, about, name)
		return
	}
	n := 0
	g.calls(p, p.args, func(args []string, k int) {
		// Each list of arguments becomes the first row of a small table.
		n++
		cols, row, null := []string{}, []string{}, []string{}
		for i, a := range args {
			cols = append(cols, fmt.Sprintf("c%d", i))
			row = append(row, a)
			null = append(null, "NULL")
		}
		list := strings.Join(cols, ", ")
		if len(args) == 0 {
			for _, f := range []string{"count(*)", "count(*) FILTER (WHERE false)", "count(*) OVER ()", "count()"} {
				g.ask(about, "SELECT %s FROM (VALUES (1), (NULL)) v(c)", f)
			}
			return
		}
		from := fmt.Sprintf("FROM (VALUES (1, %s), (2, %s), (3, %s)) v(o, %s)", strings.Join(row, ", "), strings.Join(null, ", "), g.second(p, n, k), list)
		g.ask(about, "SELECT %s(%s ORDER BY o) %s", name, list, from)
		g.ask(about, "SELECT %s(DISTINCT %s) %s", name, list, from)
		g.ask(about, "SELECT %s(%s) FILTER (WHERE o = 2) %s", name, list, from)
		g.ask(about, "SELECT %s(%s) FILTER (WHERE o > 3) %s", name, list, from)
		g.ask(about, "SELECT %s(%s) OVER (ORDER BY o ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) %s ORDER BY o", name, list, from)
	})
}

// second is another row of arguments of an aggregate.
func (g *matrixGen) second(p matrixProc, n, k int) string {
	var row []string
	for _, a := range p.args {
		pool := matrixPool(p, a, k)
		row = append(row, pool[n%len(pool)])
	}
	return strings.Join(row, ", ")
}

func (g *matrixGen) orderedSet(p matrixProc, about, name string) {
	switch {
	case p.orderedSet == 'h':
		for _, m := range matrixTypes {
			for _, v := range m.literals() {
				g.ask(about, "SELECT %s(%s) WITHIN GROUP (ORDER BY c) FROM (VALUES (%s), (NULL)) v(c)", name, v, m.literal(1))
				g.ask(about, "SELECT %s(%s) WITHIN GROUP (ORDER BY c DESC NULLS LAST) FROM (VALUES (%s), (%s)) v(c)", name, v, m.literal(0), m.literal(1))
			}
		}
	default:
		direct := []string{""}
		if p.directArgs > 0 {
			direct = []string{"0.5", "0", "1", "-0.1", "NULL", "'0.25'", "1.5"}
			if strings.HasSuffix(p.args[0], "[]") {
				direct = []string{"'{0,0.5,NULL,1}'", "ARRAY[0.3, 0.7]", "'{}'", "NULL::float8[]", "'{2}'"}
			}
		}
		for _, m := range matrixTypes {
			for _, d := range direct {
				g.ask(about, "SELECT %s(%s) WITHIN GROUP (ORDER BY c) FROM (VALUES (%s), (%s), (NULL)) v(c)", name, d, m.literal(0), m.literal(1))
			}
		}
	}
}

func (g *matrixGen) window(p matrixProc) {
	from := "OVER (ORDER BY o) FROM (VALUES (1, %s), (2, NULL), (3, %s), (3, %s)) v(o, c) ORDER BY o"
	name := matrixIdent(p.name)
	g.calls(p, p.args, func(args []string, _ int) {
		for i, a := range p.args {
			if strings.HasPrefix(a, "any") && i == 0 {
				v := args[0]
				args[0] = "c"
				g.ask("window "+p.name, "SELECT %s(%s) "+from, name, strings.Join(args, ", "), v, v, v)
				return
			}
		}
		g.ask("window "+p.name, "SELECT %s(%s) "+from, name, strings.Join(args, ", "), "1", "2", "3")
	})
}

// unknownCalls calls every name with literals without a type and with common
// types that its signatures may not have.
func (g *matrixGen) unknownCalls() {
	seen := map[string]bool{}
	for _, p := range g.procs {
		if p.notCallable || p.environments || p.kind != 'f' || seen[p.name] {
			continue
		}
		seen[p.name] = true
		about := "call of " + p.name
		for _, args := range []string{"", "NULL", "'5'", "'abc'", "5", "2.5", "true", "'5', '7'", "NULL, NULL", "5, 'abc'", "'abc', 5", "'a', 'b', 'c'", "5, 6, 7",
			"ARRAY[1,2]", "'{1,2}', 1", "VARIADIC ARRAY[1]", "DISTINCT 5", "5::int2", "date '2024-01-31'", "date '2024-01-31', time '12:00'", "x => 1"} {
			g.ask(about, "SELECT %s(%s)%s", matrixIdent(p.name), args, map[bool]string{true: " LIMIT 20"}[p.set])
		}
	}
}

func matrixQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// matrixIdent is the name of a function that may be a keyword.
func matrixIdent(s string) string { return "pg_catalog." + `"` + s + `"` }
