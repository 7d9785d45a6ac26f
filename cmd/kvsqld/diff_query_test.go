package main

import (
	"fmt"
	"strings"
)

// query is a random query and whether its order is total.
func (g *diffGen) query(depth int) (sql string, ordered bool) {
	types := make([]diffType, 1+g.Intn(3))
	for i := range types {
		types[i] = g.anyType()
	}
	with := ""
	if g.chance(15) {
		tables := g.tables
		var t *diffTable
		with, t = g.with(depth)
		g.tables = append(append([]*diffTable{}, tables...), t, t) // to be read, and more than once
		defer func() { g.tables = tables }()
	}
	sql = g.body(types, nil, depth)
	if g.chance(40) {
		var keys []string
		for _, i := range g.Perm(len(types)) {
			keys = append(keys, fmt.Sprint(i+1)+g.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"))
		}
		sql += " ORDER BY " + strings.Join(keys, ", ")
		ordered = true
		if g.chance(60) {
			if sql += fmt.Sprintf(" LIMIT %d", g.Intn(12)); g.params != nil && g.chance(40) && len(g.params.types) < maxDiffParams {
				sql = sql[:strings.LastIndex(sql, " LIMIT ")] + g.limit()
			}
		}
		if g.chance(30) {
			sql += fmt.Sprintf(" OFFSET %d", g.Intn(6))
		}
		for _, t := range types {
			if t == diffNum || t == diffText || t == diffFloat {
				return g.wrapped(with+sql, ordered) // equal values may be spelled differently
			}
		}
	}
	return with + sql, ordered
}

// wrapped keeps the text; equal numerics of other scales make the order partial.
func (g *diffGen) wrapped(sql string, _ bool) (string, bool) { return sql, true }

// with is a WITH clause and its query as a table.
func (g *diffGen) with(depth int) (string, *diffTable) {
	name := g.newAlias("w")
	if g.chance(50) {
		t := &diffTable{name: name, columns: []diffColumn{{"id", diffInt}, {"a", diffInt}}}
		join := "t.id = w.id + 1"
		if g.chance(30) {
			join = "t.a = w.id"
		}
		return fmt.Sprintf("WITH RECURSIVE %s (id, a) AS (SELECT id, a FROM %s WHERE id < 3 UNION %s SELECT w.id + 1, t.a FROM %s w JOIN %s t ON %s WHERE w.id < 6) ",
			name, g.table().name, g.pick("", "", "ALL"), name, g.table().name, join), t
	}
	typ := g.anyType()
	t := &diffTable{name: name, columns: []diffColumn{{"id", diffInt}, {"a", typ}}}
	return fmt.Sprintf("WITH %s (id, a) AS %s(%s) ", name, g.pick("", "MATERIALIZED ", "NOT MATERIALIZED "),
		g.body([]diffType{diffInt, typ}, nil, depth-1)), t
}

// body is a query without ORDER BY that gives columns of these types; outer are
// the columns of enclosing queries.
func (g *diffGen) body(types []diffType, outer []diffColumn, depth int) string {
	if depth > 1 && g.chance(4) {
		return g.limited(types, outer, depth)
	}
	if depth > 0 && g.chance(4) {
		return g.setOf(types, outer, depth)
	}
	if depth > 1 && g.chance(14) {
		op := g.pick("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
		return fmt.Sprintf("(%s) %s (%s)", g.body(types, outer, depth-1), op, g.body(types, outer, depth-1))
	}
	if g.chance(4) {
		var rows []string
		for range 1 + g.Intn(3) {
			var v []string
			for _, t := range types {
				v = append(v, "("+g.value(t)+")::"+diffCast[t])
			}
			rows = append(rows, "("+strings.Join(v, ", ")+")")
		}
		return "VALUES " + strings.Join(rows, ", ")
	}
	from, scope := g.from(outer, depth)
	where := ""
	all := scope
	if len(outer) > 0 {
		all = append(append([]diffColumn{}, scope...), outer...)
	}
	if g.chance(65) {
		where = " WHERE " + g.condition(all, depth)
	}
	if depth > 0 && g.chance(30) {
		return g.grouped(types, from, where, scope, all, depth)
	}
	var out []string
	for i, t := range types {
		e := g.scalar(t, all, depth)
		if depth > 0 && g.chance(12) {
			if e = g.window(t, scope); g.chance(40) {
				if f := g.framed(t, scope); f != "" {
					e = f
				}
			}
		}
		if t == diffNum || t == diffText {
			e = "(" + e + ")::" + diffCast[t]
		}
		out = append(out, e+g.pick("", fmt.Sprintf(" AS c%d", i)))
	}
	distinct := g.pick("", "", "", "", "DISTINCT ")
	tail := ""
	if g.chance(5) && len(outer) == 0 {
		distinct = "DISTINCT ON (" + out0(out[0]) + ") "
		keys := []string{out0(out[0]) + g.pick("", " DESC", " NULLS FIRST")}
		for _, o := range out[1:] {
			keys = append(keys, out0(o))
		}
		return "SELECT * FROM (SELECT " + distinct + strings.Join(out, ", ") + from + where + " ORDER BY " + strings.Join(keys, ", ") + ") " + g.newAlias("d")
	}
	return "SELECT " + distinct + strings.Join(out, ", ") + from + where + tail
}

// out0 removes an output name.
func out0(s string) string {
	if i := strings.LastIndex(s, " AS c"); i >= 0 && len(s)-i <= 7 {
		return s[:i]
	}
	return s
}

// grouped is an aggregating query.
func (g *diffGen) grouped(types []diffType, from, where string, scope, all []diffColumn, depth int) string {
	var keys []diffColumn
	var names []string
	for _, i := range g.Perm(len(scope))[:g.Intn(min(3, len(scope))+1)] {
		keys = append(keys, scope[i])
		names = append(names, scope[i].name)
	}
	if g.chance(25) {
		// A grouped expression is a column of what follows. It should not fold to a constant,
		// which PostgreSQL takes for equal in all rows, also where a set does not have it.
		t := g.pickType(diffInt, diffText)
		if e := g.scalar(t, scope, 1); strings.Contains(e, ".") && !strings.Contains(e, "SELECT") {
			keys, names = append(keys, diffColumn{e, t}), append(names, e)
		}
	}
	group := ""
	if len(keys) > 0 {
		group = " GROUP BY " + strings.Join(names, ", ")
		if g.chance(25) {
			switch g.Intn(4) {
			case 3:
				group = g.grouping(names)
			case 0:
				group = " GROUP BY ROLLUP (" + strings.Join(names, ", ") + ")"
			case 1:
				group = " GROUP BY CUBE (" + strings.Join(names, ", ") + ")"
			default:
				group = " GROUP BY GROUPING SETS ((" + strings.Join(names, ", ") + "), (), (" + names[0] + "))"
			}
		}
	}
	inner := append([]diffColumn{}, keys...)
	for _, t := range []diffType{diffInt, diffBig, diffNum, diffText, diffDate} {
		if g.chance(50) {
			inner = append(inner, diffColumn{g.aggregate(t, all), t})
		}
	}
	var out []string
	for _, t := range types {
		e := g.scalar(t, inner, 1)
		switch {
		case g.chance(50):
			e = g.aggregate(t, all)
		case g.chance(10) && t == diffBig:
			e = g.pick("sum(count(*)) OVER ()", "sum(sum("+g.columnOf(diffInt, scope)+")) OVER ()", "count(max("+g.columnOf(diffInt, scope)+")) OVER ()")
		case g.chance(10) && len(keys) > 0:
			e = g.scalarQuery(t, inner, 0)
			e = "(" + e + ")"
		case g.chance(30) && len(keys) > 0 && t == diffInt:
			e = "grouping(" + strings.Join(names, ", ") + ")"
		}
		if t == diffNum || t == diffText {
			e = "(" + e + ")::" + diffCast[t]
		}
		out = append(out, e)
	}
	having := ""
	if g.chance(25) {
		having = " HAVING " + g.condition(inner, 1)
		if len(keys) > 0 && g.chance(15) {
			having += " AND grouping(" + names[0] + ") = " + g.pick("0", "1")
		}
	}
	return "SELECT " + strings.Join(out, ", ") + from + where + group + having
}

// aggregate is an aggregate call of a type.
func (g *diffGen) aggregate(t diffType, scope []diffColumn) string {
	if g.chance(25) {
		return g.ordered(t, scope)
	}
	filter := ""
	if g.chance(20) {
		filter = " FILTER (WHERE " + g.condition(scope, 0) + ")"
	}
	distinct := g.pick("", "", "DISTINCT ")
	e := func(t diffType) string { return g.scalar(t, scope, 1) }
	switch t {
	case diffInt:
		return g.pick("min", "max") + "(" + distinct + e(diffInt) + ")" + filter
	case diffBig:
		switch g.Intn(3) {
		case 0:
			return "count(*)" + filter
		case 1:
			return "count(" + distinct + e(g.anyType()) + ")" + filter
		}
		return "sum(" + distinct + e(diffInt) + ")" + filter
	case diffNum:
		return g.pick("sum", "avg", "min", "max") + "(" + distinct + "(" + e(g.pickType(diffNum, diffBig)) + ")::numeric)" + filter
	case diffFloat:
		return g.pick("sum", "avg", "min", "max") + "(" + distinct + e(diffFloat) + ")" + filter
	case diffText:
		if g.chance(50) {
			x := "(" + e(diffText) + ")::text"
			return "string_agg(" + distinct + x + ", ',' ORDER BY " + x + ")" + filter
		}
		return g.pick("min", "max") + "(" + e(diffText) + ")" + filter
	case diffBool:
		return g.pick("bool_and", "bool_or", "every") + "(" + e(diffBool) + ")" + filter
	case diffUUID, diffJSON, diffRange, diffBytes, diffPair, diffMulti:
		x := e(t)
		return "(array_agg(" + x + " ORDER BY " + x + ")" + filter + ")[1]"
	case diffInts:
		x := e(diffInt)
		return g.pick("array_agg("+distinct+x+" ORDER BY "+x+")"+filter, g.pick("min", "max")+"("+e(t)+")"+filter)
	default:
		return g.pick("min", "max") + "(" + e(t) + ")" + filter
	}
}

func (g *diffGen) pickType(of ...diffType) diffType { return of[g.Intn(len(of))] }

// window is a window call whose value does not depend on the order of peers.
func (g *diffGen) window(t diffType, scope []diffColumn) string {
	if g.chance(35) {
		return g.framedRows(t, scope)
	}
	var part, order, total []string
	if g.chance(60) {
		part = append(part, scope[g.Intn(len(scope))].name)
	}
	for _, i := range g.Perm(len(scope))[:1+g.Intn(min(2, len(scope)))] {
		order = append(order, scope[i].name+g.pick("", " DESC", " NULLS FIRST"))
	}
	for _, c := range scope {
		total = append(total, c.name)
	}
	over := func(keys []string, frame string) string {
		p := ""
		if len(part) > 0 {
			p = "PARTITION BY " + part[0] + " "
		}
		o := ""
		if len(keys) > 0 {
			o = "ORDER BY " + strings.Join(keys, ", ")
		}
		return " OVER (" + p + o + frame + ")"
	}
	full := append(append([]string{}, order...), total...)
	e := func(t diffType) string { return g.scalar(t, scope, 1) }
	switch t {
	case diffBig:
		switch g.Intn(5) {
		case 0:
			return g.pick("rank()", "dense_rank()") + over(order, "")
		case 1:
			return "row_number()" + over(full, "")
		case 2:
			return "count(" + e(diffInt) + ")" + over(order, "")
		case 3:
			return "sum(" + e(diffInt) + ")" + over(full, g.pick("", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
				" ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING"))
		}
		return "sum(" + e(diffInt) + ")" + over(order, " "+g.pick("RANGE UNBOUNDED PRECEDING", "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
			"RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES", "GROUPS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE CURRENT ROW"))
	case diffFloat:
		return g.pick("percent_rank()", "cume_dist()") + over(order, "")
	case diffNum:
		return "avg((" + e(diffNum) + ")::numeric)" + over(order, "")
	default:
		if t == diffUUID || t == diffJSON || t == diffBool || t == diffRange || t == diffBytes || t == diffPair || t == diffMulti {
			return g.pick("lag", "lead", "first_value", "last_value") + "(" + e(t) + ")" + over(full, "")
		}
		if g.chance(15) {
			return g.pick("nth_value("+e(t)+", 2)", "lag("+e(t)+", 2, "+g.constant(t)+"::"+diffCast[t]+")") + over(full, g.pick("", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"))
		}
		return g.pick("lag", "lead", "first_value", "last_value", "min", "max")[0:] + "(" + e(t) + ")" + over(full, "")
	}
}
