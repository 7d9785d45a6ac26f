package main

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
)

// diffType is a family of types that compare with each other without a cast.
type diffType int

const (
	diffInt diffType = iota
	diffBig
	diffNum
	diffFloat
	diffText
	diffBool
	diffDate
	diffStamp
	diffStampTZ
	diffUUID
	diffInts
	diffJSON
	diffInterval
	diffRange
	diffTime
	diffInet
	diffBytes
	diffTexts
	diffEnum
	diffPair
	diffMulti
	diffTypes
)

var diffCast = [diffTypes]string{"int", "bigint", "numeric", "float8", "text", "bool", "date", "timestamp", "timestamptz", "uuid", "int[]", "jsonb", "interval", "int4range",
	"time", "inet", "bytea", "text[]", "mood", "pair", "int4multirange"}

// diffOID are the types' OIDs; those that the schema makes have none that is known.
var diffOID = [diffTypes]uint32{23, 20, 1700, 701, 25, 16, 1082, 1114, 1184, 2950, 1007, 3802, 1186, 3904, 1083, 869, 17, 1009, 0, 0, 4451}

type diffColumn struct {
	name string // with its qualifier in a scope
	typ  diffType
}

type diffTable struct {
	name    string
	columns []diffColumn
	view    bool
	fixed   bool // columns beside a are not to be set
	through bool // a view that may be written through
}

// diffGen writes random statements over its tables.
type diffGen struct {
	*rand.Rand
	tables []*diffTable
	alias  int
	params *diffParams // of the query that is written, where it may have any
	resets []string    // statements that fill the tables as schema did
	safe   bool        // values stay in bounds: no statement fails for one
	zone   string
	domain int  // how many numbers there are
	bare   bool // tables have no keys and indexes
	big    bool // a table has more rows than a batch, and others have many
}

func newDiffGen(r *rand.Rand) *diffGen {
	g := &diffGen{Rand: r}
	g.safe = g.chance(75)
	g.domain, g.bare, g.big = g.pickInt(3, 5, 12, 12), g.chance(30), g.chance(20)
	g.zone = g.pick("UTC", "UTC", "Europe/Bucharest", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
	return g
}

func (g *diffGen) chance(percent int) bool { return g.Intn(100) < percent }

func (g *diffGen) pick(of ...string) string { return of[g.Intn(len(of))] }

func (g *diffGen) newAlias(prefix string) string {
	g.alias++
	return fmt.Sprintf("%s%d", prefix, g.alias)
}

// schema creates and fills the tables.
func (g *diffGen) schema() []string {
	out := diffTypesSQL
	n := 2 + g.Intn(3)
	for i := range n {
		t := &diffTable{name: fmt.Sprintf("t%d", i)}
		t.columns = append(t.columns, diffColumn{"id", diffInt}, diffColumn{"a", diffInt})
		def := []string{"id int", "a int"}
		for j, m := 0, 3+g.Intn(5); j < m; j++ {
			typ := diffType(g.Intn(int(diffTypes)))
			c := diffColumn{fmt.Sprintf("%c", 'b'+j), typ}
			t.columns = append(t.columns, c)
			spelled := diffCast[typ]
			switch typ {
			case diffNum:
				spelled = g.pick("numeric", "numeric", "numeric(8,2)", "numeric(10)")
			case diffText:
				spelled = g.pick("text", "varchar(12)", "varchar", "text", "char(6)", "dtext")
			case diffInt:
				spelled = g.pick("int", "smallint", "dint")
			}
			def = append(def, c.name+" "+spelled)
		}
		switch n := g.Intn(4); {
		case g.bare:
		case n < 2:
			def = append(def, "PRIMARY KEY (id)")
		case n == 2:
			def = append(def, "UNIQUE (id)")
		}
		if i > 0 && g.chance(50) {
			def = append(def, "ref int")
			t.columns = append(t.columns, diffColumn{"ref", diffInt})
		}
		if g.chance(25) {
			c := diffColumn{"gen", diffInt}
			t.columns = append(t.columns, c)
			def = append(def, "gen int GENERATED ALWAYS AS ("+g.pick("a + 1", "coalesce(a, id)", "CASE WHEN a > 2 THEN id END")+") STORED")
		}
		out = append(out, fmt.Sprintf("CREATE TABLE %s (%s)%s", t.name, strings.Join(def, ", "), g.layout(t)))
		g.tables = append(g.tables, t)
		if i == 0 && g.big {
			out = append(out, g.many(t, 1000+g.Intn(2000)))
		} else if g.big && g.chance(40) {
			out = append(out, g.many(t, 50+g.Intn(400)))
		} else {
			out = append(out, g.fill(t, g.pickInt(0, 1, 6, 9, 14, 20), 0)...)
		}
		for k := range g.Intn(4) {
			if g.bare {
				break
			}
			var keys []string
			for _, c := range g.columns(t, 1+g.Intn(3)) {
				if c.typ == diffJSON || c.typ == diffRange || c.typ == diffPair || c.typ == diffMulti {
					continue // kvsqld refuses some by name
				}
				key := c.name
				if g.chance(20) && indexExpr[c.typ] != "" {
					key = fmt.Sprintf("("+indexExpr[c.typ]+")", c.name)
				}
				keys = append(keys, key+g.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST", ""))
			}
			if keys == nil {
				continue
			}
			unique := ""
			if g.chance(15) {
				unique, keys = "UNIQUE ", append(keys, "(id + 0)")
			}
			out = append(out, fmt.Sprintf("CREATE %sINDEX %s_x%d ON %s (%s)%s", unique, t.name, k, t.name,
				strings.Join(keys, ", "), g.pick("", "", " WHERE a > 2", " WHERE a IS NOT NULL", " WHERE a IN (1, 2, 3) OR id < 5")))
		}
		for _, c := range t.columns {
			if (c.typ == diffInts || c.typ == diffJSON) && g.chance(40) {
				out = append(out, fmt.Sprintf("CREATE INDEX ON %s USING gin (%s)", t.name, c.name))
			}
		}
		if g.chance(25) {
			out = append(out, fmt.Sprintf("CREATE INDEX ON %s USING inverted (%s)", t.name, g.pick("a", "id", "a")))
		}
		if g.chance(50) {
			out = append(out, "ANALYZE "+t.name)
		}
	}
	for range g.Intn(5) {
		out = g.family(out)
	}
	g.resets = diffResets(out, g.tables)
	for i := 1; i < n; i++ {
		t := g.tables[i]
		if p := g.tables[g.Intn(i)]; slices.ContainsFunc(t.columns, func(c diffColumn) bool { return c.name == "ref" }) {
			out = append(out, fmt.Sprintf("ALTER TABLE %s ADD FOREIGN KEY (ref) REFERENCES %s (id) ON DELETE %s ON UPDATE %s",
				t.name, p.name, g.pick("NO ACTION", "CASCADE", "SET NULL"), g.pick("NO ACTION", "CASCADE", "SET NULL")))
		}
	}
	return out
}

// indexExpr are expressions that indexes are made on.
var indexExpr = map[diffType]string{diffInt: "%s + 1", diffText: "upper(%s)", diffNum: "abs(%s)", diffBig: "%s %% 3", diffInts: "cardinality(%s)"}

func (g *diffGen) pickInt(of ...int) int { return of[g.Intn(len(of))] }

func (g *diffGen) fill(t *diffTable, rows, first int) []string {
	if rows == 0 {
		return nil
	}
	var values []string
	for i := range rows {
		v := []string{fmt.Sprint(first + i)}
		for _, c := range t.columns[1:] {
			switch c.name {
			case "ref":
				v = append(v, g.pick("NULL", "1", "2", "3", "4"))
			case "place":
				v = append(v, g.pick("1", "2", "3", "4"))
			case "gen":
				v = append(v, "DEFAULT")
			case "lat", "lon":
				v = append(v, g.pick("'1'::float8", "'2.5'::float8", "'-1.25'::float8", "'4'::float8", "'2.5'::float8"))
			default:
				v = append(v, g.value(c.typ))
			}
		}
		values = append(values, "("+strings.Join(v, ", ")+")")
	}
	return []string{fmt.Sprintf("INSERT INTO %s VALUES %s", t.name, strings.Join(values, ", "))}
}

// many fills a table with many rows.
func (g *diffGen) many(t *diffTable, rows int) string {
	var names, v []string
	for _, c := range t.columns {
		if c.name == "gen" {
			continue
		}
		names = append(names, c.name)
		switch c.name {
		case "id":
			v = append(v, "i")
		case "a":
			v = append(v, fmt.Sprintf("nullif(i %% %d, 0)", 100+g.Intn(900)))
		default:
			if (c.typ == diffInt || c.typ == diffBig) && g.chance(40) { // what joins and filters choose few of
				v = append(v, fmt.Sprintf("i * 7 %% %d", g.pickInt(30, 200, 1000)))
				continue
			}
			v = append(v, fmt.Sprintf("CASE i %% %d WHEN 0 THEN %s WHEN 1 THEN %s WHEN 2 THEN %s END", 3+g.Intn(2), g.constant(c.typ), g.constant(c.typ), g.constant(c.typ)))
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(0, %d) i", t.name, strings.Join(names, ", "), strings.Join(v, ", "), rows)
}

// columns picks n different columns.
func (g *diffGen) columns(t *diffTable, n int) []diffColumn {
	var out []diffColumn
	for _, i := range g.Perm(len(t.columns))[:min(n, len(t.columns))] {
		out = append(out, t.columns[i])
	}
	return out
}

// value is a constant of a small domain, so that rows meet, or NULL.
func (g *diffGen) value(typ diffType) string {
	if g.chance(12) {
		return "NULL"
	}
	return g.constant(typ)
}

func (g *diffGen) constant(typ diffType) string {
	if p, ok := g.param(typ); ok {
		return p
	}
	switch typ {
	case diffInt, diffBig:
		return fmt.Sprint(g.Intn(g.domain) - g.domain/6)
	case diffNum:
		return g.pick("0", "1", "2", "1.5", "1.50", "-0.25", "3.00", "10", "7.125", "'NaN'::numeric", "1e-20", "12345678.9")
	case diffFloat:
		return g.pick("'0'::float8", "'1'::float8", "'2.5'::float8", "'-1.25'::float8", "'4'::float8", "'1e3'::float8", "'-0'::float8", "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "'0.1'::float8")
	case diffText:
		return g.pick("''", "'a'", "'ab'", "'B'", "'abc'", "'b '", "'ba'", "'é'", "'a_c'", "'10'", `E'a\nb'`, `E'\x01'`, "'q''s'", `'\\'`)
	case diffBool:
		return g.pick("true", "false")
	case diffDate:
		return g.pick("date '2020-01-31'", "date '2020-02-29'", "date '2021-03-01'", "date '1999-12-31'")
	case diffStampTZ:
		return g.pick("timestamptz '2020-01-31 10:00:00+00'", "timestamptz '2020-01-31 10:00:00+02'", "timestamptz '1999-12-31 23:30:00-05'", "timestamptz '2021-03-28 00:59:59+00'",
			"timestamptz '2021-10-31 01:30:00+00'", "timestamptz '2021-03-14 02:30:00-05'", "timestamptz '2021-04-04 02:00:00+11'")
	case diffUUID:
		return g.pick("uuid '00000000-0000-0000-0000-000000000000'", "uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "uuid 'ffffffff-ffff-ffff-ffff-fffffffffffe'")
	case diffInts:
		return g.pick("'{}'::int[]", "'{1,2}'::int[]", "'{2,NULL,-1}'::int[]", "'{1}'::int[]", "'{{1,2},{3,4}}'::int[]")
	case diffJSON:
		return g.pick(`'{"a": 1, "b": [1, 2]}'::jsonb`, `'[1, null, "x"]'::jsonb`, `'null'::jsonb`, `'"a"'::jsonb`, `'{"a": {"b": "c"}}'::jsonb`, `'2'::jsonb`)
	case diffInterval:
		// No two that are equal and look different: which of them min and max give hangs
		// on the order of the rows.
		return g.pick("interval '1 day'", "interval '0'", "interval '25 hours'", "interval '1 month -1 day'", "interval '-3 hours'")
	case diffRange:
		return g.pick("'[1,5)'::int4range", "'empty'::int4range", "'[3,)'::int4range", "'(,2]'::int4range", "'[2,4]'::int4range")
	case diffTime, diffInet, diffBytes, diffTexts, diffEnum, diffPair, diffMulti:
		return g.pick(diffConstants[typ]...)
	default:
		return g.pick("timestamp '2020-01-31 10:00:00'", "timestamp '2020-01-31'", "timestamp '2021-03-01 23:59:59.5'",
			"timestamp '1999-12-31 00:00:01'", "timestamp '2021-03-28 03:30:00'", "timestamp '2021-10-31 03:30:00'")
	}
}

// statement is the next statement of the mix.
func (g *diffGen) statement() diffStatement {
	g.alias = 0
	switch n := g.Intn(100); {
	case n < 70:
		q, ordered := g.query(3)
		return diffStatement{sql: q, ordered: ordered}
	case n < 74:
		return diffStatement{sql: "SELECT " + g.scalar(diffType(g.Intn(int(diffTypes))), nil, 4)}
	case n < 82:
		q, ordered := g.chained()
		return diffStatement{sql: q, ordered: ordered}
	case n < 86:
		return g.cursor()
	case n < 89:
		return diffStatement{sql: g.modifyingWith(), write: true}
	case n < 91:
		return diffStatement{sql: g.merge(), write: true}
	default:
		return diffStatement{sql: g.write(), write: true}
	}
}

// modifyingWith changes a table in WITH and reads what it returns, and tables
// as they were before.
func (g *diffGen) modifyingWith() string {
	t, o := g.written(), g.written()
	dml := fmt.Sprintf("UPDATE %s SET a = a + 1 WHERE id < %d RETURNING id, a", t.name, g.Intn(20))
	switch g.Intn(3) {
	case 0:
		dml = fmt.Sprintf("DELETE FROM %s WHERE a = %d RETURNING id, a", t.name, g.Intn(9))
	case 1:
		dml = fmt.Sprintf("INSERT INTO %s (id, a) SELECT %d + id, a FROM %s WHERE a < 3 ON CONFLICT DO NOTHING RETURNING id, a", t.name, 500+g.Intn(500), o.name)
	}
	body := fmt.Sprintf("SELECT w.id, w.a, x.a FROM w LEFT JOIN %s x ON x.id = w.id", t.name)
	switch g.Intn(4) {
	case 0:
		body = fmt.Sprintf("SELECT count(*), sum(w.a), (SELECT count(*) FROM %s) FROM w", t.name)
	case 1:
		body = fmt.Sprintf("SELECT x.id FROM %s x WHERE x.id IN (SELECT id FROM w)", t.name)
	case 2:
		if o.name != t.name {
			body = fmt.Sprintf("UPDATE %s SET a = w.a FROM (SELECT max(a) AS a, id AS m FROM w GROUP BY id) w WHERE %s.id = w.m RETURNING %s.id, w.a", o.name, o.name, o.name)
		}
	}
	return "WITH w AS (" + dml + ") " + body
}

func (g *diffGen) table() *diffTable { return g.tables[g.Intn(len(g.tables))] }

// write is a random INSERT, UPDATE or DELETE.
func (g *diffGen) write() string {
	if g.params == nil && g.chance(8) {
		return g.sharedWith()
	}
	t := g.written()
	if v := g.table(); v.through {
		t = v
	}
	var scope []diffColumn
	for _, c := range t.columns {
		scope = append(scope, diffColumn{t.name + "." + c.name, c.typ})
	}
	returning := ""
	if g.chance(60) {
		returning = " RETURNING *"
		if g.chance(50) {
			returning = " RETURNING " + g.scalar(g.anyType(), scope, 2) + ", " + t.name + ".id"
		}
	}
	c := g.settable(t)
	switch g.Intn(9) {
	case 8:
		o := g.table()
		if g.chance(50) {
			return fmt.Sprintf("DELETE FROM %s USING %s u WHERE u.a = %s.id AND %s%s", t.name, o.name, t.name,
				g.condition(append(scope, qualified("u", o.columns)...), 1), g.pick("", " RETURNING "+t.name+".*, u.a"))
		}
		return fmt.Sprintf("INSERT INTO %s (id, a) SELECT u.id, max(u.a) FROM %s u GROUP BY u.id ON CONFLICT (id) DO UPDATE SET a = %s.a + excluded.a WHERE excluded.a IS NOT NULL%s",
			t.name, o.name, t.name, g.pick("", " RETURNING *"))
	case 0, 1:
		var names, values []string
		for _, c := range t.columns[1:] {
			if v := g.value(c.typ); c.name != "gen" && c.name != "lat" && c.name != "lon" {
				names, values = append(names, c.name), append(values, v)
			}
		}
		conflict := ""
		switch g.Intn(4) {
		case 0:
			conflict = " ON CONFLICT DO NOTHING"
		case 1:
			conflict = fmt.Sprintf(" ON CONFLICT (id) DO UPDATE SET %s = %s", c.name,
				g.bounded(c.typ, g.scalar(c.typ, append(scope, diffColumn{"excluded." + c.name, c.typ}), 1)))
		}
		return fmt.Sprintf("INSERT INTO %s (id, %s) VALUES (%d, %s)%s%s", t.name, strings.Join(names, ", "), g.Intn(100),
			strings.Join(values, ", "), conflict, returning)
	case 2:
		return fmt.Sprintf("INSERT INTO %s (id, %s) SELECT id + %d, %s FROM %s x WHERE %s%s", t.name, "a", 100+g.Intn(300), "a", t.name,
			g.condition([]diffColumn{{"x.id", diffInt}, {"x.a", diffInt}}, 1), g.pick("", " ON CONFLICT DO NOTHING"))
	case 3, 4, 5:
		from, where := "", g.condition(scope, 2)
		if g.chance(30) {
			o := g.table()
			from = " FROM (SELECT a, min(id) AS m FROM " + o.name + " GROUP BY a) u"
			where = t.name + ".a = u.a AND " + where
			scope = append(scope, diffColumn{"u.m", diffInt})
		}
		return fmt.Sprintf("UPDATE %s SET %s = %s%s WHERE %s%s", t.name, c.name, g.bounded(c.typ, g.scalar(c.typ, scope, 2)), from, where, returning)
	case 6:
		return fmt.Sprintf("UPDATE %s SET id = id + %d WHERE %s%s", t.name, 1+g.Intn(200), g.condition(scope, 1), returning)
	default:
		return fmt.Sprintf("DELETE FROM %s WHERE %s AND a < %d%s", t.name, g.condition(scope, 2), g.Intn(4), returning)
	}
}

func (g *diffGen) anyType() diffType { return diffType(g.Intn(int(diffTypes))) }
