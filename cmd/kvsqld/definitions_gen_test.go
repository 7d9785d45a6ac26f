package main

import (
	"context"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// defGen writes random definitions by defRules. It looks at the reference for the names
// that there are, so that many statements succeed, and takes others now and then.
type defGen struct {
	*rand.Rand
	left      int // statements to come
	made      int // statements that succeeded
	queue     []string
	names     map[string][]defObject // by kind
	table     defObject              // the one that the statement is about
	last      string                 // the newest name of a table in the statement
	lastIndex string                 // the same of indexes
	inBlock   bool
}

// defObject is something that exists.
type defObject struct {
	name  string
	more  string   // of constraints and policies the table, of partitioned tables how
	names []string // of tables the columns
	types []string // of the columns
}

func newDefGen(r *rand.Rand, count int) *defGen { return &defGen{Rand: r, left: count} }

func (g *defGen) chance(percent int) bool { return g.Intn(100) < percent }

func (g *defGen) pick(of ...string) string { return of[g.Intn(len(of))] }

// next returns the next statement, "" at the end. In a block each statement has a
// savepoint, to which the block returns when it failed.
func (g *defGen) next(ref *pgconn.PgConn, failed bool) string {
	if g.left--; g.left < -1 || g.left < 0 && !g.inBlock {
		return ""
	}
	if !failed {
		g.made++
	}
	if len(g.queue) == 0 {
		g.queue = g.more(ref, failed)
	}
	s := g.queue[0]
	g.queue = g.queue[1:]
	return s
}

// more returns the statements that come next.
func (g *defGen) more(ref *pgconn.PgConn, failed bool) []string {
	if g.inBlock && failed {
		return []string{"ROLLBACK TO e"}
	}
	if g.inBlock && (g.chance(20) || g.left < 0) {
		g.inBlock = false
		return []string{g.pick("COMMIT", "COMMIT", "ROLLBACK")}
	}
	if !g.inBlock && g.chance(5) {
		g.inBlock = true
		return []string{"BEGIN"}
	}
	g.look(ref)
	s := g.expand("@statement")
	list := strings.Split(s, "; ")
	if g.inBlock {
		list = append([]string{"SAVEPOINT e"}, list...)
	} else if g.chance(4) {
		list = append(append([]string{"SET ROLE " + g.pick("defs_a", "defs_b")}, list...), "RESET ROLE")
	}
	return list
}

// defNames are the objects that there are.
const defNames = `
WITH ns AS (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'extra'))
SELECT 'rel ' || c.relkind::text AS kind, c.oid::regclass::text, coalesce(pg_get_partkeydef(c.oid), ''),
    coalesce((SELECT string_agg(quote_ident(attname) || ':' || format_type(atttypid, NULL), '~' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped), '')
  FROM pg_class c WHERE relnamespace IN (TABLE ns)
UNION ALL SELECT 'constraint', quote_ident(conname), conrelid::regclass::text, '' FROM pg_constraint WHERE connamespace IN (TABLE ns) AND conrelid <> 0
UNION ALL SELECT 'type ' || typtype::text, oid::regtype::text, '', '' FROM pg_type t WHERE typnamespace IN (TABLE ns) AND (typtype IN ('e', 'd') OR typtype = 'c' AND typrelid IN (SELECT oid FROM pg_class WHERE relkind = 'c'))
UNION ALL SELECT 'function', oid::regprocedure::text, '', '' FROM pg_proc WHERE pronamespace IN (TABLE ns)
UNION ALL SELECT 'policy', quote_ident(polname), polrelid::regclass::text, '' FROM pg_policy
UNION ALL SELECT 'statistics', stxnamespace::regnamespace::text || '.' || quote_ident(stxname), '', '' FROM pg_statistic_ext
ORDER BY 1, 2, 3`

// look learns what there is; in a block that is aborted it keeps what it knew.
func (g *defGen) look(ref *pgconn.PgConn) {
	r, err := ref.Exec(context.Background(), defNames).ReadAll()
	if err != nil || len(r) == 0 {
		return
	}
	g.names = map[string][]defObject{}
	for _, row := range r[0].Rows {
		o := defObject{name: string(row[1]), more: string(row[2])}
		for _, c := range strings.Split(string(row[3]), "~") {
			if name, typ, ok := strings.Cut(c, ":"); ok {
				o.names, o.types = append(o.names, name), append(o.types, typ)
			}
		}
		kind := string(row[0])
		g.names[kind] = append(g.names[kind], o)
		switch kind {
		case "rel r", "rel p":
			g.names["table"] = append(g.names["table"], o)
		case "rel v", "rel m", "rel f":
			g.names["view"] = append(g.names["view"], o)
		case "rel i", "rel I":
			g.names["index"] = append(g.names["index"], o)
		}
	}
}

var defSymbol = regexp.MustCompile(`@[a-z]+`)

// expand replaces the symbols of a rule from left to right.
func (g *defGen) expand(s string) string {
	var out strings.Builder
	for {
		at := defSymbol.FindStringIndex(s)
		if at == nil {
			return strings.TrimSpace(out.String() + s)
		}
		out.WriteString(s[:at[0]])
		symbol := s[at[0]+1 : at[1]]
		if rules, ok := defRules[symbol]; ok {
			s = g.rule(rules) + s[at[1]:]
		} else {
			out.WriteString(g.symbol(symbol))
			s = s[at[1]:]
		}
	}
}

// rule picks an alternative; a number before it is its weight.
func (g *defGen) rule(rules []string) string {
	sum := 0
	for _, r := range rules {
		w, _ := defWeight(r)
		sum += w
	}
	n := g.Intn(sum)
	for _, r := range rules {
		w, text := defWeight(r)
		if n -= w; n < 0 {
			return text
		}
	}
	panic("unreachable")
}

func defWeight(rule string) (int, string) {
	if len(rule) >= 2 && rule[0] >= '2' && rule[0] <= '9' && rule[1] == ' ' {
		return int(rule[0] - '0'), rule[2:]
	}
	return 1, rule
}

// symbol is what no rule says.
func (g *defGen) symbol(s string) string {
	switch s {
	case "on": // the statement is about a table whose name comes later
		g.about(g.of("table"))
		return ""
	case "onview":
		g.about(g.of(g.pick("table", "table", "view")))
		return ""
	case "it":
		return g.table.name
	case "t":
		g.about(g.of("table"))
		return g.table.name
	case "parted":
		g.about(g.of("rel p"))
		return g.table.name
	case "newt":
		g.last = g.pick("t0", "t1", "t2", "t3", "t4", "t5", "extra.t6")
		return g.last
	case "last":
		return g.last
	case "newi":
		g.lastIndex = g.pick("i0", "i1", "i2", "i3")
		return g.lastIndex
	case "lasti":
		return g.lastIndex
	case "c":
		return g.column()
	case "cols":
		return strings.Join(g.columns(1+g.Intn(3)), ", ")
	case "newc":
		return g.pick("a", "b", "c", "d", "e", `"F g"`)
	case "defs":
		return g.definitions()
	case "n":
		return fmt.Sprint(g.Intn(10))
	case "lit":
		return g.literal("", g.Intn(4))
	case "insert":
		return g.insert()
	case "bound":
		return g.bound()
	case "constraint", "policy": // with its table
		o := g.of(s)
		for _, t := range g.names["table"] {
			if t.name == o.more {
				g.about(t)
			}
		}
		return o.name
	case "ownconstraint":
		var own []string
		for _, o := range g.names["constraint"] {
			if o.more == g.table.name {
				own = append(own, o.name)
			}
		}
		if len(own) == 0 || g.chance(4) {
			return g.expand("@newk")
		}
		return g.pick(own...)
	case "view":
		o := g.of("rel v")
		g.about(o)
		return o.name
	case "matview":
		o := g.of("rel m")
		g.about(o)
		return o.name
	case "sequence":
		return g.of("rel S").name
	case "anindex":
		return g.of("index").name
	case "function", "statistics":
		return g.of(s).name
	case "enum":
		return g.of("type e").name
	case "domain":
		return g.of("type d").name
	case "composite":
		return g.of("type c").name
	}
	panic("no rule for @" + s)
}

func (g *defGen) about(o defObject) { g.table = o }

// of picks an object of a kind; seldom, or where there is none, one that need not be.
func (g *defGen) of(kind string) defObject {
	if list := g.names[kind]; len(list) > 0 && !g.chance(4) {
		return list[g.Intn(len(list))]
	}
	return defObject{name: g.expand(g.rule(defRules["missing"])), names: []string{"a", "b"}, types: []string{"integer", "text"}}
}

// column picks a column of the table, seldom another.
func (g *defGen) column() string {
	if len(g.table.names) == 0 || g.chance(4) {
		return g.symbol("newc")
	}
	return g.table.names[g.Intn(len(g.table.names))]
}

// columns picks different columns of the table.
func (g *defGen) columns(n int) (out []string) {
	for range n {
		if c := g.column(); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// definitions are those of a new table's columns.
func (g *defGen) definitions() string {
	var out []string
	t := defObject{name: g.last}
	names := []string{"a", "b", "c", "d", "e", `"F g"`}
	for _, i := range g.Perm(len(names))[:1+g.Intn(4)] {
		typ := g.expand("@type")
		t.names, t.types = append(t.names, names[i]), append(t.types, typ)
	}
	g.about(t)
	for i, n := range t.names {
		out = append(out, n+" "+t.types[i]+g.expand("@columnconstraint"))
	}
	return strings.Join(out, ", ")
}

// insert is the rest of an INSERT: columns and values that fit them.
func (g *defGen) insert() string {
	var names, values []string
	t := g.table
	for i, n := range t.names {
		if g.chance(75) {
			names = append(names, n)
			values = append(values, g.literal(t.types[i], 1+g.Intn(5)))
		}
	}
	if len(names) == 0 {
		return "DEFAULT VALUES"
	}
	return "(" + strings.Join(names, ", ") + ")" + g.pick("", "", " OVERRIDING SYSTEM VALUE") + " VALUES (" + strings.Join(values, ", ") + ")"
}

// literal is a value of a type, written as a text.
func (g *defGen) literal(typ string, n int) string {
	if g.chance(10) {
		return "NULL"
	}
	switch typ {
	case "date", "timestamp with time zone":
		return fmt.Sprintf("'2020-01-%02d'", n+1)
	case "boolean":
		return g.pick("'t'", "'f'")
	case "integer[]", "text[]", "mood[]":
		return g.pick("'{}'", "'{NULL}'")
	case "jsonb":
		return fmt.Sprintf(`'{"a": %d}'`, n)
	case "mood":
		return g.pick("'sad'", "'ok'")
	case "pair":
		return fmt.Sprintf("'(%d,x)'", n)
	case "uuid":
		return fmt.Sprintf("'00000000-0000-0000-0000-00000000000%d'", n)
	}
	return fmt.Sprintf("'%d'", n)
}

// bound is the bound of a partition of the table.
func (g *defGen) bound() string {
	how := g.table.more
	keys := strings.Count(how, ",") + 1
	value := func(n int) string {
		typ := ""
		for i, c := range g.table.names {
			if strings.HasSuffix(how, "("+c+")") {
				typ = g.table.types[i]
			}
		}
		switch typ {
		case "date", "boolean", "mood", "pair", "uuid":
			return g.literal(typ, n)
		}
		return fmt.Sprintf("'%d'", n)
	}
	row := func(n int) string {
		list := []string{value(n)}
		for range keys - 1 {
			list = append(list, g.pick("MINVALUE", "MAXVALUE", "'1'"))
		}
		return strings.Join(list, ", ")
	}
	n := g.Intn(4)
	switch {
	case g.chance(15):
		return "DEFAULT"
	case strings.HasPrefix(how, "RANGE"):
		if g.chance(20) {
			return "FOR VALUES FROM (" + row(n*2) + ") TO (MAXVALUE" + strings.Repeat(", MAXVALUE", keys-1) + ")"
		}
		return "FOR VALUES FROM (" + row(n*2) + ") TO (" + row(n*2+1+g.Intn(2)) + ")"
	case strings.HasPrefix(how, "HASH"):
		return fmt.Sprintf("FOR VALUES WITH (MODULUS %s, REMAINDER %d)", g.pick("2", "4"), n)
	}
	return "FOR VALUES IN (" + value(n*2) + g.pick("", ", NULL", ", "+value(n*2+1)) + ")"
}
