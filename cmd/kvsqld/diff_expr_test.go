package main

import (
	"fmt"
	"strings"
)

// from is a FROM clause and the columns it offers.
func (g *diffGen) from(outer []diffColumn, depth int) (string, []diffColumn) {
	item, scope := g.item(outer, depth)
	from := " FROM " + item
	for n := 0; n < 3 && g.chance(45-10*n); n++ {
		switch g.Intn(11) {
		case 9:
			// a join as the right side of another
			l, lc := g.item(outer, depth-1)
			r, rc := g.item(outer, depth-1)
			both := append(append([]diffColumn{}, lc...), rc...)
			from += fmt.Sprintf(" %s JOIN (%s %s JOIN %s ON %s = %s) ON %s = %s", g.pick("", "LEFT", "RIGHT", "FULL"), l, g.pick("", "LEFT", "RIGHT", "FULL"), r,
				g.columnOf(diffInt, lc), g.columnOf(diffInt, rc), g.columnOf(diffInt, scope), g.columnOf(diffInt, both))
			scope = append(scope, both...)
			return from, scope
		case 10:
			if n > 0 {
				continue
			}
			// columns of the same name and type, merged
			a, b := g.newAlias("n"), g.newAlias("n")
			t, u := g.table(), g.table()
			sel := func(t *diffTable) string { return fmt.Sprintf("(SELECT id, a FROM %s)", t.name) }
			from = fmt.Sprintf(" FROM %s %s NATURAL %s JOIN %s %s", sel(t), a, g.pick("", "LEFT", "RIGHT", "FULL"), sel(u), b)
			return from, []diffColumn{{"id", diffInt}, {"a", diffInt}, {a + ".id", diffInt}, {b + ".a", diffInt}}
		case 0:
			other, cols := g.item(outer, depth-1)
			from += ", " + other
			scope = append(scope, cols...)
			if n > 0 {
				return from, scope
			}
		case 1:
			if n > 0 {
				continue
			}
			// Merged columns of tables: their qualified names stay usable.
			t, a := g.table(), g.newAlias("j")
			from += fmt.Sprintf(" %s JOIN %s %s USING (%s)", g.pick("", "LEFT", "RIGHT", "FULL"), t.name, a, "id")
			if !strings.Contains(item, "SELECT") && !strings.Contains(item, "VALUES") {
				scope = append(scope, qualified(a, t.columns)...)
				scope = append(scope, diffColumn{"id", diffInt})
			} else {
				return " FROM " + item, scope
			}
			return from, scope
		case 2:
			t, a := g.table(), g.newAlias("l")
			body := g.body([]diffType{diffInt, diffText}, append(append([]diffColumn{}, scope...), outer...), 0)
			_ = t
			from += fmt.Sprintf(" %s JOIN LATERAL (%s) %s (x, y) ON %s", g.pick("", "LEFT"), body, a, g.pick("true", a+".x IS NOT NULL"))
			scope = append(scope, diffColumn{a + ".x", diffInt}, diffColumn{a + ".y", diffText})
		default:
			other, cols := g.item(outer, depth-1)
			kind := g.pick("", "", "LEFT", "LEFT", "RIGHT", "FULL")
			left, right := g.columnOf(diffInt, scope), g.columnOf(diffInt, cols)
			if g.chance(25) {
				t := g.anyType()
				left, right = g.columnOf(t, scope), g.columnOf(t, cols)
			}
			on := left + " = " + right
			both := append(append([]diffColumn{}, scope...), cols...)
			if kind != "FULL" && g.chance(40) {
				on += " AND " + g.condition(both, 1)
			} else if kind != "FULL" && g.chance(10) {
				on = g.condition(both, 1)
			} else if kind == "FULL" && g.chance(30) {
				on += " AND " + g.condition(both, 0)
			}
			from += fmt.Sprintf(" %s JOIN %s ON %s", kind, other, on)
			scope = both
		}
	}
	return from, scope
}

func qualified(alias string, cols []diffColumn) []diffColumn {
	var out []diffColumn
	for _, c := range cols {
		out = append(out, diffColumn{alias + "." + c.name, c.typ})
	}
	return out
}

// item is a table, a subquery or a list of values.
func (g *diffGen) item(outer []diffColumn, depth int) (string, []diffColumn) {
	if depth > 1 && g.chance(18) {
		types := []diffType{diffInt, g.anyType()}
		a := g.newAlias("s")
		return fmt.Sprintf("(%s) %s (x, y)", g.body(types, nil, depth-2), a), []diffColumn{{a + ".x", types[0]}, {a + ".y", types[1]}}
	}
	if g.chance(5) {
		a := g.newAlias("v")
		return fmt.Sprintf("(VALUES (1, 'a'), (2, 'b'), (NULL, 'c'), (3, NULL)) %s (x, y)", a), []diffColumn{{a + ".x", diffInt}, {a + ".y", diffText}}
	}
	if g.chance(4) {
		a := g.newAlias("g")
		return fmt.Sprintf("generate_series(0, %d) %s (x)", g.Intn(6), a), []diffColumn{{a + ".x", diffInt}}
	}
	t, a := g.table(), g.newAlias("a")
	return t.name + " " + a, qualified(a, t.columns)
}

// columnOf is a column of a type, or something else of it.
func (g *diffGen) columnOf(t diffType, scope []diffColumn) string {
	var fit []string
	for _, c := range scope {
		if c.typ == t {
			fit = append(fit, c.name)
		}
	}
	if len(fit) == 0 {
		return g.typed(t)
	}
	return g.pick(fit...)
}

func (g *diffGen) typed(t diffType) string {
	if t == diffText {
		return g.constant(t) + "::text"
	}
	if t == diffBig {
		return g.constant(t) + "::bigint"
	}
	return g.constant(t)
}

// scalar is an expression of a type.
func (g *diffGen) scalar(t diffType, scope []diffColumn, depth int) string {
	if depth <= 0 || g.chance(25) {
		if g.chance(80) {
			return g.columnOf(t, scope)
		}
		if g.chance(15) {
			return "NULL::" + diffCast[t]
		}
		return g.typed(t)
	}
	e := func(t diffType) string { return g.scalar(t, scope, depth-1) }
	switch g.Intn(9) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(scope, depth-1), e(t), e(t))
	case 1:
		return fmt.Sprintf("coalesce(%s, %s)", e(t), e(t))
	case 2:
		return fmt.Sprintf("nullif(%s, %s)", e(t), e(t))
	case 3:
		if depth > 1 {
			return "(" + g.scalarQuery(t, scope, depth-2) + ")"
		}
	case 4:
		if t != diffBool {
			return fmt.Sprintf("%s(%s, %s)", g.pick("greatest", "least"), e(t), e(t))
		}
	}
	if g.chance(18) {
		if x := g.of(t, e); x != "" {
			return x
		}
	}
	// In bounds, products of columns, and days, stay in those of their types.
	within := func(x string) string {
		if g.safe {
			return "(" + x + " % 1009)"
		}
		return x
	}
	switch t {
	case diffTime, diffInet, diffBytes, diffTexts, diffEnum, diffPair, diffMulti:
		return g.special(t, e)
	case diffInt:
		switch g.Intn(6) {
		case 0:
			return "length(" + e(diffText) + ")"
		case 1:
			return "abs(" + e(diffInt) + ")"
		case 2:
			return "(" + e(diffInt) + " / nullif(" + e(diffInt) + ", 0))"
		case 3:
			return "(" + e(diffDate) + " - " + e(diffDate) + ")"
		case 4:
			return g.pick("("+e(diffInt)+" % 3)", "cardinality("+e(diffInts)+")", "("+e(diffInts)+")[1]")
		}
		return "(" + within(e(diffInt)) + g.pick(" + ", " - ", " * ") + within(g.columnOf(diffInt, scope)) + ")"
	case diffBig:
		switch g.Intn(4) {
		case 0:
			return "(" + e(diffInt) + ")::bigint"
		case 1:
			if g.safe {
				return "least(greatest(" + e(diffNum) + ", -99999), 99999)::bigint"
			}
			return "(" + e(diffNum) + ")::bigint"
		}
		return "(" + within(e(diffBig)) + g.pick(" + ", " - ", " * ") + within(g.pick("2", g.columnOf(diffBig, scope), e(diffInt))) + ")"
	case diffNum:
		switch g.Intn(6) {
		case 0:
			return "round(" + e(diffNum) + ", " + g.pick("0", "1", "3") + ")"
		case 1:
			return "(" + e(diffNum) + " / nullif(" + e(diffNum) + ", 0))"
		case 2:
			return "(" + e(diffInt) + ")::numeric" + g.pick("", "(12,3)")
		case 3:
			return g.pick("floor", "ceil", "trunc", "abs", "-") + "(" + e(diffNum) + ")"
		case 4:
			return "extract(" + g.pick("year", "epoch", "day", "dow", "second") + " FROM " + e(diffStamp) + ")"
		}
		return "(" + e(diffNum) + g.pick(" + ", " - ", " * ") + g.columnOf(diffNum, scope) + ")"
	case diffFloat:
		switch g.Intn(4) {
		case 0:
			return "(" + e(diffInt) + ")::float8"
		case 1:
			return "sqrt(abs(" + e(diffFloat) + "))"
		}
		return "(" + e(diffFloat) + g.pick(" + ", " - ", " * ") + g.pick("2", g.columnOf(diffFloat, scope), e(diffInt)) + ")"
	case diffText:
		switch g.Intn(8) {
		case 0:
			return "upper(" + e(diffText) + ")"
		case 1:
			return "substr(" + e(diffText) + ", " + g.pick("1", "2", "0") + ", 2)"
		case 2:
			if g.chance(20) {
				return g.pick("("+e(diffJSON)+" ->> 'a')", "trim_scale("+e(diffNum)+")::text")
			}
			return "(" + e(g.pickType(diffInt, diffBig, diffUUID, diffBool, diffDate, diffStamp, diffInts, diffStampTZ)) + ")::text"
		case 3:
			return "replace(" + e(diffText) + ", 'a', 'xy')"
		case 4:
			return "trim(" + e(diffText) + ")"
		case 5:
			return "lpad(" + e(diffText) + ", 4, '*')"
		}
		return "(" + e(diffText) + " || " + e(diffText) + ")"
	case diffBool:
		return "(" + g.condition(scope, depth-1) + ")"
	case diffStampTZ:
		if g.chance(30) {
			return "(" + e(diffStamp) + ")::timestamptz"
		}
		return "(" + e(diffStampTZ) + g.pick(" + ", " - ") + g.pick("interval '1 month'", "interval '25 hours'") + ")"
	case diffUUID:
		return g.columnOf(diffUUID, scope)
	case diffInts:
		switch g.Intn(4) {
		case 0:
			return "array_append(" + g.pick("NULL::int[]", "'{3}'::int[]", "'{}'::int[]") + ", " + e(diffInt) + ")"
		case 1:
			return "ARRAY[" + e(diffInt) + ", " + e(diffInt) + "]"
		case 2:
			return "array_remove(ARRAY[" + e(diffInt) + ", " + e(diffInt) + "], " + e(diffInt) + ")"
		}
		return "(ARRAY[" + e(diffInt) + ", 1, NULL, " + e(diffInt) + "])[" + g.pick("2:3", "1:2", "3:", "0:1") + "]"
	case diffJSON:
		switch g.Intn(4) {
		case 0:
			return "jsonb_build_object('a', " + e(diffInt) + ", 'b', " + e(diffText) + ")"
		case 1:
			return "to_jsonb(" + e(g.pickType(diffInt, diffText, diffBool, diffInts)) + ")"
		case 2:
			return "jsonb_build_array(" + e(diffInt) + ", " + e(diffBool) + ")"
		}
		return "(" + e(diffJSON) + " -> " + g.pick("'a'", "0", "'b'") + ")"
	case diffInterval:
		switch g.Intn(4) {
		case 0:
			return "(" + e(diffStamp) + " - " + e(diffStamp) + ")"
		case 1:
			return "make_interval(days => " + within(e(diffInt)) + ")"
		case 2:
			return "(" + e(diffInterval) + " * " + g.pick("2", "0.5", "-1") + ")"
		}
		return "(" + e(diffInterval) + g.pick(" + ", " - ") + e(diffInterval) + ")"
	case diffRange:
		switch g.Intn(3) {
		case 0:
			return "int4range(least(" + e(diffInt) + ", 5), 5" + g.pick("", ", '[]'") + ")"
		case 1:
			return "range_merge(" + e(diffRange) + ", " + e(diffRange) + ")"
		}
		return "(" + e(diffRange) + " * " + e(diffRange) + ")"
	case diffDate:
		if g.chance(30) {
			return "(" + e(diffStamp) + ")::date"
		}
		return "(" + e(diffDate) + g.pick(" + ", " - ") + within(g.columnOf(diffInt, scope)) + ")"
	default:
		if g.chance(30) {
			return "(" + e(diffDate) + ")::timestamp"
		}
		if g.chance(30) {
			return "date_trunc('" + g.pick("month", "day", "year", "hour") + "', " + e(diffStamp) + ")"
		}
		return "(" + e(diffStamp) + g.pick(" + ", " - ") + g.pick("interval '1 month'", "interval '1 day 2 hours'",
			"make_interval(days => "+within(g.columnOf(diffInt, scope))+")") + ")"
	}
}

// scalarQuery is a query of one column and at most one row.
func (g *diffGen) scalarQuery(t diffType, outer []diffColumn, depth int) string {
	from, scope := g.from(nil, depth)
	all := append(append([]diffColumn{}, scope...), outer...)
	where := ""
	if len(outer) > 0 && g.chance(75) {
		t := g.pickType(diffInt, diffInt, diffText)
		where = " WHERE " + g.columnOf(t, scope) + " = " + g.columnOf(t, outer)
		if g.chance(30) {
			where += " AND " + g.condition(all, depth)
		}
	}
	if g.chance(75) {
		e := g.aggregate(t, scope)
		if t == diffBig && g.chance(50) {
			e = "count(*)"
		}
		return "SELECT " + e + from + where
	}
	if len(outer) > 0 && g.chance(12) {
		// an aggregate of an enclosing query's rows, or a WITH query that reads one
		x := g.columnOf(t, outer)
		w := g.newAlias("w")
		return fmt.Sprintf("WITH %s (x) AS %s(SELECT %s AS x%s) SELECT %s FROM %s p%s", w, g.pick("", "MATERIALIZED "), x, g.pick("", from+where),
			g.aggregate(t, []diffColumn{{"p.x", t}}), w, g.pick("", ", "+w+" q"))
	}
	e := g.scalar(t, scope, 1)
	return "SELECT " + e + from + where + " ORDER BY " + e + g.pick("", " DESC", " NULLS FIRST") + " LIMIT 1"
}

// condition is a truth value that may be unknown.
func (g *diffGen) condition(scope []diffColumn, depth int) string {
	if g.chance(3) || g.params != nil && g.chance(20) {
		return g.choice(scope, 1+g.Intn(3))
	}
	t := g.anyType()
	if len(scope) > 0 && g.chance(70) {
		t = scope[g.Intn(len(scope))].typ
	}
	e := func(t diffType) string { return g.scalar(t, scope, min(depth-1, 1)) }
	list := func() string {
		var v []string
		for range 1 + g.Intn(4) {
			v = append(v, g.pick(g.value(t), g.constant(t), g.constant(t)))
		}
		return strings.Join(v, ", ")
	}
	not := g.pick("", "", "NOT ")
	if depth > 0 {
		switch g.Intn(12) {
		case 0, 1:
			return "(" + g.condition(scope, depth-1) + " AND " + g.condition(scope, depth-1) + ")"
		case 2:
			return "(" + g.condition(scope, depth-1) + " OR " + g.condition(scope, depth-1) + ")"
		case 3:
			return "NOT (" + g.condition(scope, depth-1) + ")"
		case 4:
			return e(t) + " " + not + "IN (" + g.body([]diffType{t}, scope, depth-2) + ")"
		case 5:
			from, cols := g.from(nil, depth-2)
			all := append(append([]diffColumn{}, cols...), scope...)
			x := g.pickType(diffInt, diffInt, t)
			where := g.columnOf(x, cols) + " = " + g.columnOf(x, scope)
			if g.chance(40) {
				where += " AND " + g.condition(all, depth-1)
			}
			return not + "EXISTS (SELECT " + g.pick("1", "*") + from + " WHERE " + where + ")"
		case 6:
			return e(t) + g.pick(" = ", " < ", " >= ", " <> ") + "(" + g.scalarQuery(t, scope, depth-2) + ")"
		case 7:
			return e(t) + g.pick(" = ANY", " <> ALL", " < ALL", " > ANY", " = ALL") + " (" + g.body([]diffType{t}, scope, depth-2) + ")"
		case 8:
			if len(scope) > 0 && g.chance(60) {
				return g.chain(scope, 1+g.Intn(2))
			}
		}
	}
	switch g.Intn(14) {
	case 0:
		return e(t) + " IS " + not + "NULL"
	case 1:
		return e(t) + " " + not + "IN (" + list() + ")"
	case 2:
		return e(t) + " " + not + "BETWEEN " + g.constant(t) + " AND " + g.constant(t)
	case 3:
		return e(diffText) + " " + not + g.pick("LIKE", "ILIKE") + " " + g.pick("'a%'", "'%b%'", "'_'", "'%c'", "'a\\_%'", "''")
	case 4:
		return e(t) + " IS " + not + "DISTINCT FROM " + e(t)
	case 13:
		return g.pick(e(diffInt)+" = ANY ("+g.columnOf(diffInts, scope)+")", e(diffInts)+g.pick(" @> ", " && ", " <@ ")+e(diffInts),
			e(diffJSON)+g.pick(" @> ", " <@ ")+e(diffJSON), e(diffJSON)+" ? 'a'",
			e(diffRange)+g.pick(" @> ", " && ", " << ", " -|- ", " &> ")+e(diffRange), e(diffRange)+" @> "+e(diffInt), "isempty("+e(diffRange)+")")
	case 5:
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", e(diffInt), e(t), g.pick("=", "<", "<>", ">="), e(diffInt), e(t))
	case 6:
		return e(t) + g.pick(" = ANY", " <> ALL", " >= ANY", " < ALL") + " (ARRAY[" + list() + "]::" + diffCast[t] + "[])"
	case 7:
		return "(" + g.columnOf(diffBool, scope) + ")" + g.pick("", " IS TRUE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT TRUE")
	case 8, 9:
		return e(t) + g.pick(" = ", " = ", " < ", " > ", " <= ", " <> ") + g.constant(t)
	default:
		return e(t) + g.pick(" = ", " = ", " < ", " > ", " >= ", " <> ") + e(t)
	}
}
