package main

import (
	"fmt"
	"strings"
)

// Productions of the random statements that reach beyond plain queries over
// plain tables: partitions, children and views, frames with typed offsets,
// cursors, MERGE, sets in the select list.

// family adds to the schema a table of one of the kinds whose rows lie in several,
// or a view over tables that are there.
func (g *diffGen) family(out []string) []string {
	name := fmt.Sprintf("t%d", len(g.tables))
	cols := []diffColumn{{"id", diffInt}, {"a", diffInt}, {"b", diffText}, {"c", diffNum}, {"d", diffDate}}
	const def = "(id int, a int, b text, c numeric(8,2), d date"
	t := &diffTable{name: name, columns: cols}
	switch g.Intn(9) {
	case 6:
		return g.checked(out, name)
	case 3, 4:
		return g.deepView(out, name)
	case 5:
		return g.regions(out, name)
	case 0:
		out = append(out, "CREATE TABLE "+name+" "+def+") PARTITION BY LIST (a)",
			fmt.Sprintf("CREATE TABLE %s_1 PARTITION OF %s FOR VALUES IN (1, 2, NULL)", name, name),
			fmt.Sprintf("CREATE TABLE %s_2 PARTITION OF %s FOR VALUES IN (3, 4, 5) PARTITION BY HASH (id)", name, name),
			fmt.Sprintf("CREATE TABLE %s_2a PARTITION OF %s_2 FOR VALUES WITH (MODULUS 2, REMAINDER 0)", name, name),
			fmt.Sprintf("CREATE TABLE %s_2b PARTITION OF %s_2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)", name, name),
			fmt.Sprintf("CREATE TABLE %s_d PARTITION OF %s DEFAULT", name, name))
	case 1:
		out = append(out, "CREATE TABLE "+name+" "+def+", UNIQUE (id)) PARTITION BY RANGE (id)",
			fmt.Sprintf("CREATE TABLE %s_1 PARTITION OF %s FOR VALUES FROM (MINVALUE) TO (5)", name, name),
			fmt.Sprintf("CREATE TABLE %s_2 PARTITION OF %s FOR VALUES FROM (5) TO (9)", name, name),
			fmt.Sprintf("CREATE TABLE %s_d PARTITION OF %s DEFAULT", name, name))
		if g.chance(50) {
			out = append(out, fmt.Sprintf("CREATE INDEX ON %s (a, c)", name))
		}
	case 2:
		out = append(out, "CREATE TABLE "+name+" "+def+")",
			fmt.Sprintf("CREATE TABLE %s_c (e int) INHERITS (%s)", name, name),
			fmt.Sprintf("CREATE TABLE %s_g () INHERITS (%s_c)", name, name),
			fmt.Sprintf("CREATE INDEX ON %s_c (a)", name))
		for _, child := range []string{"_c", "_g"} {
			c := &diffTable{name: name + child, columns: cols}
			out = append(out, g.fill(c, g.pickInt(0, 3, 6), 40)...)
		}
	default:
		if len(g.tables) == 0 {
			return out
		}
		o := g.table()
		body := fmt.Sprintf("SELECT x.id, x.a, y.id AS b FROM %s x LEFT JOIN %s y ON y.id = x.a", o.name, g.table().name)
		switch g.Intn(3) {
		case 0:
			body = fmt.Sprintf("SELECT id, a, id + 1 AS b FROM %s WHERE a > 0 OR a IS NULL", o.name)
		case 1:
			body = fmt.Sprintf("SELECT max(id) AS id, a, count(*)::int AS b FROM %s GROUP BY a", o.name)
		}
		g.tables = append(g.tables, &diffTable{name: name, columns: []diffColumn{{"id", diffInt}, {"a", diffInt}, {"b", diffInt}}, view: true})
		return append(out, "CREATE VIEW "+name+" AS "+body)
	}
	out = append(out, g.fill(t, g.pickInt(0, 6, 12, 20), 0)...)
	g.tables = append(g.tables, t)
	return out
}

// frame is a window's order of one column of a type with offsets, and a frame
// over it whose rows do not depend on the order of peers.
func (g *diffGen) frame(scope []diffColumn) (order, frame string, ok bool) {
	offsets := map[diffType][]string{diffInt: {"1", "2", "0", "3::bigint", "5::smallint"}, diffBig: {"1", "2", "4::bigint"}, diffNum: {"1", "0.5", "2.25", "0"},
		diffFloat: {"1", "'0.5'::float8", "'inf'::float8"}, diffDate: {"'1 day'::interval", "'1 month'::interval", "'0'::interval"},
		diffStamp: {"'1 day'::interval", "'2 months'::interval", "'10 hours'::interval"}, diffStampTZ: {"'1 day'::interval", "'3 hours'::interval"},
		diffInterval: {"'1 day'::interval", "'5 hours'::interval"}}
	var fit []diffColumn
	for _, c := range scope {
		if offsets[c.typ] != nil {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return "", "", false
	}
	c := fit[g.Intn(len(fit))]
	mode := g.pick("RANGE", "RANGE", "GROUPS")
	off := func() string {
		if mode == "GROUPS" {
			return g.pick("0", "1", "2", "1 + 1")
		}
		return g.pick(offsets[c.typ]...)
	}
	bounds := []string{"UNBOUNDED PRECEDING", off() + " PRECEDING", "CURRENT ROW", off() + " FOLLOWING", "UNBOUNDED FOLLOWING"}
	from := g.Intn(4)
	to := max(1, from+g.Intn(5-from))
	if from == to && g.chance(50) && from != 1 {
		to = min(to+1, 4)
	}
	frame = fmt.Sprintf(" %s BETWEEN %s AND %s%s", mode, bounds[from], bounds[to], g.pick("", "", " EXCLUDE GROUP", " EXCLUDE NO OTHERS"))
	return c.name + g.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST"), frame, true
}

// framed is an aggregate over such a frame.
func (g *diffGen) framed(t diffType, scope []diffColumn) string {
	order, frame, ok := g.frame(scope)
	if !ok {
		return ""
	}
	part := ""
	if g.chance(40) {
		part = "PARTITION BY " + g.scalar(g.pickType(diffInt, diffText, diffBool), scope, 1) + " "
	}
	call := ""
	switch t {
	case diffBig:
		call = g.pick("count(*)", "sum("+g.columnOf(diffInt, scope)+")", "count("+g.scalar(g.anyType(), scope, 1)+")")
	case diffInt, diffText, diffDate, diffStamp, diffInterval:
		call = g.pick("min", "max") + "(" + g.scalar(t, scope, 1) + ")"
	case diffNum:
		call = g.pick("sum", "avg", "min") + "((" + g.columnOf(diffNum, scope) + ")::numeric)"
	case diffBool:
		call = g.pick("bool_and", "bool_or") + "(" + g.columnOf(diffBool, scope) + ")"
	default:
		return ""
	}
	if g.chance(15) {
		call += " FILTER (WHERE " + g.condition(scope, 0) + ")"
	}
	return call + " OVER (" + part + "ORDER BY " + order + frame + ")"
}

// setOf is a query with sets in its select list.
func (g *diffGen) setOf(types []diffType, outer []diffColumn, depth int) string {
	from, scope := g.from(outer, depth-1)
	var out []string
	for _, t := range types {
		e := g.scalar(t, scope, 1)
		switch {
		case t == diffInt && g.chance(60):
			e = g.pick("generate_series(1, "+g.pick("2", "3", "least("+g.columnOf(diffInt, scope)+", 3)")+")", "unnest("+g.columnOf(diffInts, scope)+")",
				"(generate_series(0, 2) * "+g.columnOf(diffInt, scope)+")")
		case t == diffText && g.chance(50):
			e = g.pick("unnest(string_to_array("+g.columnOf(diffText, scope)+", NULL))", "regexp_split_to_table("+g.columnOf(diffText, scope)+", 'a')")
		case t == diffJSON && g.chance(50):
			e = "jsonb_path_query(" + g.columnOf(diffJSON, scope) + ", '$.*')"
		}
		if t == diffNum || t == diffText {
			e = "(" + e + ")::" + diffCast[t]
		}
		out = append(out, e)
	}
	where := ""
	if g.chance(50) {
		where = " WHERE " + g.condition(append(append([]diffColumn{}, scope...), outer...), 1)
	}
	return "SELECT " + strings.Join(out, ", ") + from + where
}

// limited is a set operation whose operands are ordered by all of their columns
// and cut.
func (g *diffGen) limited(types []diffType, outer []diffColumn, depth int) string {
	operand := func() string {
		q := g.body(types, outer, depth-1)
		if g.chance(40) {
			return "(" + q + ")"
		}
		var keys []string
		for i := range types {
			keys = append(keys, fmt.Sprint(i+1)+g.pick("", " DESC", " NULLS FIRST"))
		}
		return "(" + q + " ORDER BY " + strings.Join(keys, ", ") + g.pick("", fmt.Sprintf(" LIMIT %d", g.Intn(6)), fmt.Sprintf(" OFFSET %d", g.Intn(4)),
			fmt.Sprintf(" FETCH FIRST %d ROWS WITH TIES", 1+g.Intn(4))) + ")"
	}
	op := func() string {
		return " " + g.pick("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL") + " "
	}
	q := operand() + op() + operand()
	if g.chance(30) {
		q = g.pick(q+op()+operand(), operand()+op()+"("+q+")")
	}
	return q
}

// cursor passes a query in steps, forwards and back.
func (g *diffGen) cursor() diffStatement {
	q, ordered := g.query(2)
	for !ordered {
		q, ordered = g.query(2)
	}
	steps := []string{"DECLARE c SCROLL CURSOR FOR " + q}
	for range 2 + g.Intn(4) {
		steps = append(steps, g.pick("FETCH 3 FROM c", "FETCH c", "FETCH BACKWARD 2 FROM c", "FETCH PRIOR FROM c", "MOVE 2 IN c", "MOVE BACKWARD 1 IN c",
			"FETCH ABSOLUTE 2 FROM c", "FETCH LAST FROM c", "FETCH ABSOLUTE -2 FROM c", "FETCH RELATIVE 0 FROM c", "FETCH FORWARD ALL FROM c", "FETCH FIRST FROM c", "MOVE FORWARD ALL IN c"))
	}
	steps = append(steps, "FETCH ALL FROM c", "CLOSE c")
	return diffStatement{sql: strings.Join(steps, "; "), ordered: true}
}

// merge is a MERGE whose source gives each row of the target at most once.
func (g *diffGen) merge() string {
	t, o := g.written(), g.table()
	scope := append(qualified("t", t.columns), diffColumn{"s.m", diffInt}, diffColumn{"s.n", diffInt})
	on := "t.id = s.m"
	if g.chance(30) {
		on += " AND " + g.condition(scope, 1)
	}
	sql := fmt.Sprintf("MERGE INTO %s t USING (SELECT id AS m, max(a) AS n FROM %s GROUP BY id) s ON %s", t.name, o.name, on)
	when := func(cond, action string) {
		if g.chance(50) {
			cond += " AND " + g.condition(scope, 1)
		}
		sql += " WHEN " + cond + " THEN " + action
	}
	for range 1 + g.Intn(2) {
		when("MATCHED", g.pick("UPDATE SET a = s.n", "UPDATE SET a = t.a + 1", "DELETE", "DO NOTHING", "UPDATE SET (a, id) = (s.n, t.id)"))
	}
	if g.chance(60) {
		cond := "NOT MATCHED"
		if g.chance(40) {
			cond += " AND s.n IS NOT NULL"
		}
		sql += " WHEN " + cond + " THEN " + g.pick("INSERT (id, a) VALUES (s.m + 1000, s.n)", "INSERT (id, a) VALUES (s.m, DEFAULT)", "DO NOTHING")
	}
	return sql
}

// written is a table that statements may change.
func (g *diffGen) written() *diffTable {
	for {
		if t := g.table(); !t.view {
			return t
		}
	}
}
