package main

import (
	"fmt"
	"strings"
)

// Types that the schema makes, and those beside the common ones: constants and
// expressions of them.

// diffTypesSQL makes the types that columns have.
var diffTypesSQL = []string{
	"CREATE TYPE mood AS ENUM ('sad', 'ok', 'a b', 'Glad')",
	"CREATE TYPE pair AS (x int, y text)",
	"CREATE DOMAIN dint AS int CHECK (VALUE > -1000000)",
	"CREATE DOMAIN dtext AS varchar(40) CHECK (VALUE <> 'never')",
}

var diffConstants = map[diffType][]string{
	diffTime:  {"time '00:00'", "time '10:30:00.5'", "time '23:59:59.999999'", "time '24:00'", "time '12:00'"},
	diffInet:  {"inet '10.0.0.1'", "inet '10.0.0.0/8'", "inet '::1'", "inet '192.168.1.5/24'", "inet 'fe80::1/64'", "inet '10.0.0.1/24'"},
	diffBytes: {`'\x'::bytea`, `'\x00ff'::bytea`, `'\x61'::bytea`, `'\x6162'::bytea`},
	diffTexts: {"'{}'::text[]", "'{a,b}'::text[]", "'{a,NULL,\"\"}'::text[]", "'[0:1]={x,ab}'::text[]", `'{"a\\b","q\"x"}'::text[]`},
	diffEnum:  {"'sad'::mood", "'ok'::mood", "'a b'::mood", "'Glad'::mood"},
	diffPair:  {"'(1,a)'::pair", "'(2,)'::pair", "'(,)'::pair", "'(1,\"a b\")'::pair", "'(-1,\"\")'::pair"},
	diffMulti: {"'{}'::int4multirange", "'{[1,3),[5,7)}'::int4multirange", "'{(,2]}'::int4multirange", "'{[3,)}'::int4multirange", "'{[2,4]}'::int4multirange"},
}

// special is an expression of one of these types; e gives operands.
func (g *diffGen) special(t diffType, e func(diffType) string) string {
	switch t {
	case diffTime:
		return g.pick("("+e(diffStamp)+")::time", "("+e(diffTime)+" + "+e(diffInterval)+")", "("+e(diffStampTZ)+")::time", "("+e(diffInterval)+")::time",
			"("+e(diffStampTZ)+" AT TIME ZONE 'Europe/Bucharest')::time")
	case diffInet:
		return g.pick("network("+e(diffInet)+")::inet", "broadcast("+e(diffInet)+")", "netmask("+e(diffInet)+")", "set_masklen("+e(diffInet)+", 8)", "(~ "+e(diffInet)+")")
	case diffBytes:
		return g.pick("("+e(diffBytes)+" || "+e(diffBytes)+")", "substr("+e(diffBytes)+", 1, 1)", "convert_to("+e(diffText)+", 'UTF8')", "md5("+e(diffText)+")::bytea", "trim('\\x00'::bytea FROM "+e(diffBytes)+")")
	case diffTexts:
		return g.pick("string_to_array("+e(diffText)+", 'a')", "ARRAY["+e(diffText)+", "+e(diffText)+"]::text[]", "("+e(diffTexts)+" || "+e(diffTexts)+")",
			"array_replace("+e(diffTexts)+", 'a', 'z')", "("+e(diffTexts)+")[2:]", "array_append("+e(diffTexts)+", "+e(diffText)+"::text)")
	case diffEnum:
		return g.pick("enum_first("+e(diffEnum)+")", "(enum_range("+e(diffEnum)+", 'Glad'))[1]", "(enum_range(NULL::mood))[1 + abs("+e(diffInt)+") % 5]")
	case diffPair:
		// As an operand of IN, a bare ROW would be compared column by column.
		return "coalesce(" + g.pick("ROW("+e(diffInt)+", "+e(diffText)+")::pair", "ROW(("+e(diffPair)+").x, ("+e(diffPair)+").y)::pair") + ", NULL)"
	case diffMulti:
		return g.pick("("+e(diffMulti)+" + "+e(diffMulti)+")", "("+e(diffMulti)+" - "+e(diffMulti)+")", "("+e(diffMulti)+" * "+e(diffMulti)+")", "int4multirange("+e(diffRange)+")")
	}
	return ""
}

// of is an expression of a common type over values of these.
func (g *diffGen) of(t diffType, e func(diffType) string) string {
	switch t {
	case diffInt:
		return g.pick("masklen("+e(diffInet)+")", "length("+e(diffBytes)+")", "cardinality("+e(diffTexts)+")", "("+e(diffPair)+").x", "family("+e(diffInet)+")",
			"array_position("+e(diffTexts)+", 'a')", "upper("+e(diffMulti)+")", "lower("+e(diffRange)+")", "array_upper("+e(diffTexts)+", 1)",
			"strpos("+e(diffText)+", 'a')", "ascii("+e(diffText)+")")
	case diffText:
		return g.pick("host("+e(diffInet)+")", "encode("+e(diffBytes)+", 'hex')", "array_to_string("+e(diffTexts)+", ',', '*')", "("+e(diffPair)+").y", "("+e(diffEnum)+")::text",
			"("+e(diffTime)+")::text", "("+e(diffMulti)+")::text", "("+e(diffPair)+")::text", "("+e(diffTexts)+")::text", "("+e(diffInterval)+")::text", "("+e(diffStampTZ)+")::text",
			"to_char("+e(diffStampTZ)+", 'YYYY-MM-DD HH24:MI:SS.MS TZ IYYY-IW-ID')", "to_char("+e(diffNum)+", '999990.99')", "to_char("+e(diffDate)+", 'Day FMMonth DDth Q WW J')",
			"regexp_replace("+e(diffText)+", '([ab])', '<\\1>', 'g')", "split_part("+e(diffText)+", 'b', "+g.pick("1", "-1", "2")+")", "initcap("+e(diffText)+")", "reverse("+e(diffText)+")",
			"translate("+e(diffText)+", 'ab', 'x')", "left("+e(diffText)+", -1)", "quote_nullable("+e(diffText)+")", "concat_ws('-', "+e(diffText)+", "+e(diffInt)+", "+e(diffBool)+")",
			"format('%s|%L|%5s', "+e(diffText)+", "+e(diffText)+", "+e(diffInt)+")", "overlay("+e(diffText)+" PLACING 'Z' FROM 2 FOR 1)", "jsonb_pretty("+e(diffJSON)+")", "("+e(diffJSON)+" #>> '{a,b}')")
	case diffNum:
		return g.pick("extract("+g.pick("epoch", "hour", "microseconds")+" FROM "+e(diffTime)+")", "extract("+g.pick("epoch", "hour", "timezone", "isodow", "week", "doy")+" FROM "+e(diffStampTZ)+")",
			"extract("+g.pick("epoch", "month", "day")+" FROM "+e(diffInterval)+")", "mod("+e(diffNum)+", 3)", "sign("+e(diffNum)+")", "div("+e(diffNum)+", 2)", "("+e(diffNum)+" / 3)", "scale("+e(diffNum)+")::numeric")
	case diffBool:
		return g.pick("("+e(diffInet)+" << inet '10.0.0.0/8')", "("+e(diffInet)+" && "+e(diffInet)+")", "("+e(diffMulti)+" && "+e(diffRange)+")", "("+e(diffMulti)+" @> "+e(diffInt)+")",
			"("+e(diffTexts)+" && "+e(diffTexts)+")", "("+e(diffTexts)+" @> "+e(diffTexts)+")", "("+e(diffPair)+" IS NULL)", "("+e(diffPair)+" IS NOT NULL)",
			"("+e(diffStampTZ)+" < "+e(diffStamp)+")", "("+e(diffStampTZ)+" >= "+e(diffDate)+")", "(("+e(diffStamp)+", "+e(diffInterval)+") OVERLAPS ("+e(diffStamp)+", "+e(diffStamp)+"))",
			"("+e(diffText)+" ~ '^[a-b]+')", "("+e(diffText)+" SIMILAR TO '(a|b)%')", "starts_with("+e(diffText)+", 'a')", "("+e(diffJSON)+" @? '$.a')", "("+e(diffInt)+" IS DISTINCT FROM "+e(diffBig)+")")
	case diffInterval:
		return g.pick("("+e(diffTime)+" - "+e(diffTime)+")", "("+e(diffStampTZ)+" - "+e(diffStampTZ)+")", "age("+e(diffStampTZ)+", "+e(diffStampTZ)+")", "("+e(diffTime)+")::interval",
			"justify_interval("+e(diffInterval)+")", "date_trunc('day', "+e(diffInterval)+")")
	case diffStampTZ:
		return g.pick("date_trunc('"+g.pick("day", "month", "hour", "week")+"', "+e(diffStampTZ)+")", "("+e(diffDate)+")::timestamptz", "("+e(diffStamp)+" AT TIME ZONE 'America/New_York')",
			"("+e(diffStampTZ)+g.pick(" + ", " - ")+g.pick("interval '1 day'", "interval '24 hours'", "interval '1 month 1 hour'", e(diffInterval))+")")
	case diffStamp:
		return g.pick("("+e(diffStampTZ)+" AT TIME ZONE 'Australia/Lord_Howe')", "("+e(diffDate)+" + "+e(diffTime)+")", "("+e(diffStampTZ)+")::timestamp")
	case diffDate:
		return "(" + e(diffStampTZ) + ")::date"
	case diffJSON:
		return g.pick("to_jsonb("+e(diffPair)+")", "to_jsonb("+e(diffTexts)+")", "jsonb_strip_nulls("+e(diffJSON)+")", "jsonb_build_array("+e(diffJSON)+", "+e(diffDate)+", "+e(diffNum)+")",
			"jsonb_build_object('k', "+e(diffStampTZ)+")")
	case diffRange:
		return g.pick("range_merge("+e(diffMulti)+")", "int4range("+e(diffInt)+", NULL)", "int4range(NULL, "+e(diffInt)+", '()')")
	}
	return ""
}

// bounded keeps what an UPDATE sets from growing with each one.
func (g *diffGen) bounded(t diffType, e string) string {
	if !g.safe {
		return e
	}
	switch t {
	case diffInt, diffBig:
		return "(" + e + ") % 1009"
	case diffNum:
		return "round(least(greatest((" + e + ")::numeric, -99999), 99999), 6)"
	case diffFloat:
		return "least(greatest((" + e + "), -99999), 99999)"
	case diffText:
		return "left((" + e + "), 6)"
	}
	return e
}

// settable is a column that UPDATE may set.
func (g *diffGen) settable(t *diffTable) diffColumn {
	if t.fixed {
		return diffColumn{"a", diffInt}
	}
	for {
		if c := t.columns[g.Intn(len(t.columns))]; c.name != "gen" {
			return c
		}
	}
}

// diffResets are the statements that give the tables the rows of the schema's script.
func diffResets(schema []string, tables []*diffTable) []string {
	var names, out []string
	for _, t := range tables {
		if !t.view {
			names = append(names, t.name)
		}
	}
	out = append(out, "TRUNCATE "+strings.Join(names, ", "))
	for _, q := range schema {
		if strings.HasPrefix(q, "INSERT ") {
			out = append(out, q)
		}
	}
	return out
}

// Between these marks stands what PostgreSQL is not asked.
const diffOwn, diffOwnEnd = "/*own*/", "/*end*/"

// diffTheirs is a statement of the schema as PostgreSQL is asked.
func diffTheirs(q string) string {
	for {
		head, tail, ok := strings.Cut(q, diffOwn)
		if !ok {
			return strings.Replace(q, "USING inverted", "USING btree", 1)
		}
		_, tail, _ = strings.Cut(tail, diffOwnEnd)
		q = head + tail
	}
}

// layout is how ours stores the table.
func (g *diffGen) layout(t *diffTable) string {
	with := ""
	switch g.Intn(6) {
	case 0:
		with = "layout = 'column'"
	case 1:
		with = fmt.Sprintf("layout = 'column', groups = '(%s, %s)'", t.columns[1].name, t.columns[2].name)
	case 2:
		for _, c := range t.columns {
			if c.typ == diffJSON || c.typ == diffInts || c.typ == diffTexts {
				with = "elements = '" + c.name + "'"
			}
		}
	}
	if with == "" {
		return ""
	}
	return diffOwn + " WITH (" + with + ")" + diffOwnEnd
}

// regions are two tables, the second with rows of the first, which ours stores
// together by places.
func (g *diffGen) regions(out []string, name string) []string {
	geo := &diffTable{name: name, fixed: true, columns: []diffColumn{{"id", diffInt}, {"a", diffInt}, {"lat", diffFloat}, {"lon", diffFloat}, {"b", diffText}}}
	poi := &diffTable{name: name + "p", fixed: true, columns: []diffColumn{{"id", diffInt}, {"place", diffInt}, {"a", diffInt}, {"c", diffNum}}}
	out = append(out, "CREATE TABLE "+geo.name+" (id int PRIMARY KEY, a int, lat float8, lon float8, b text)"+
		diffOwn+" WITH (regions = 'lat, lon', region_size = '1 x 1', region_rows = 4)"+diffOwnEnd,
		"CREATE TABLE "+poi.name+" (id int PRIMARY KEY, place int NOT NULL REFERENCES "+geo.name+" ON DELETE CASCADE, a int, c numeric)"+
			diffOwn+" WITH (cluster_with = '"+geo.name+"')"+diffOwnEnd,
		"CREATE INDEX ON "+poi.name+" (a)")
	out = append(out, g.fill(geo, g.pickInt(5, 9, 20), 0)...)
	out = append(out, g.fill(poi, g.pickInt(0, 6, 20), 0)...)
	g.tables = append(g.tables, geo, poi)
	return out
}

// deepView is a view whose query looks into other tables and views.
func (g *diffGen) deepView(out []string, name string) []string {
	if len(g.tables) == 0 {
		return out
	}
	for g.alias = 0; ; {
		types := []diffType{diffInt, diffInt, g.anyType()}
		body := ""
		if g.chance(50) {
			o := g.table()
			x := qualified("v", o.columns)
			body = fmt.Sprintf("SELECT v.id, v.a, %s FROM %s v WHERE %s", g.scalar(types[2], x, 1), o.name, g.chain(x, 2))
		} else {
			body = g.body(types, nil, 2)
		}
		if len(body) > 1500 {
			continue
		}
		g.tables = append(g.tables, &diffTable{name: name, columns: []diffColumn{{"id", diffInt}, {"a", diffInt}, {"b", types[2]}}, view: true})
		return append(out, "CREATE VIEW "+name+" (id, a, b) AS "+body)
	}
}
