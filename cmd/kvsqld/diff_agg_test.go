package main

import (
	"fmt"
	"strings"
)

// Aggregates with an order, ordered sets, several grouping clauses, and frames of
// rows.

// ordered is an aggregate whose value hangs on the order that is written in it, or
// on a total one.
func (g *diffGen) ordered(t diffType, scope []diffColumn) string {
	e := func(t diffType) string { return g.scalar(t, scope, 1) }
	distinct := g.pick("", "", "DISTINCT ")
	order := g.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
	filter := ""
	if g.chance(30) {
		filter = " FILTER (WHERE " + g.condition(scope, 0) + ")"
	}
	x := e(t)
	switch t {
	case diffInt:
		return g.pick("(array_agg("+distinct+x+" ORDER BY "+x+order+")"+filter+")[1]", "percentile_disc("+g.pick("0", "0.5", "1", "0.3")+") WITHIN GROUP (ORDER BY "+x+order+")"+filter,
			"mode() WITHIN GROUP (ORDER BY "+x+order+")"+filter, "bit_and("+x+")"+filter, "bit_or("+distinct+x+")"+filter, "bit_xor("+x+")"+filter)
	case diffBig:
		return g.pick("rank", "dense_rank") + "(" + g.constant(diffInt) + ", NULL) WITHIN GROUP (ORDER BY " + e(diffInt) + order + ", " + e(diffText) + g.pick("", " DESC") + ")" + filter
	case diffFloat:
		return g.pick("percentile_cont("+g.pick("0", "0.5", "1", "0.25")+") WITHIN GROUP (ORDER BY "+x+order+")"+filter,
			"cume_dist("+g.constant(diffInt)+") WITHIN GROUP (ORDER BY "+e(diffInt)+order+")"+filter,
			"("+g.pick("stddev", "var_pop", "stddev_samp")+"("+distinct+e(diffInt)+")"+filter+")::float8", g.pick("regr_count", "regr_avgx")+"("+e(diffInt)+", "+e(diffInt)+")"+filter)
	case diffText:
		y := "(" + x + ")::text"
		return g.pick("string_agg("+y+", '' ORDER BY "+y+order+")"+filter, "string_agg("+distinct+y+", '-' ORDER BY "+y+order+")"+filter,
			"percentile_disc(0.5) WITHIN GROUP (ORDER BY "+y+order+")"+filter)
	case diffJSON:
		return g.pick("jsonb_agg("+x+" ORDER BY "+x+order+")"+filter, "jsonb_agg(DISTINCT "+e(diffInt)+")"+filter, "jsonb_object_agg(coalesce("+e(diffInt)+", 0), 1)"+filter)
	case diffMulti:
		return "range_agg(" + e(diffRange) + ")" + filter
	case diffRange:
		return "range_intersect_agg(" + x + ")" + filter
	case diffTexts:
		y := "(" + e(diffText) + ")::text"
		return "array_agg(" + distinct + y + " ORDER BY " + y + order + ")" + filter
	case diffInts:
		y := e(diffInt)
		return "array_agg(" + distinct + y + " ORDER BY " + y + order + ")" + filter
	}
	return "(array_agg(" + x + " ORDER BY " + x + order + ")" + filter + ")[" + g.pick("1", "2") + "]"
}

// grouping is a GROUP BY of several clauses.
func (g *diffGen) grouping(names []string) string {
	clause := func() string {
		list := strings.Join(names[:1+g.Intn(len(names))], ", ")
		one := names[g.Intn(len(names))]
		return g.pick(one, "ROLLUP ("+list+")", "CUBE ("+list+")", "GROUPING SETS (("+list+"), ())", "GROUPING SETS (ROLLUP ("+list+"), ("+one+"))", "GROUPING SETS ((), "+one+", CUBE ("+one+"))")
	}
	out := g.pick("", "DISTINCT ", "") + clause()
	for range g.Intn(2) {
		out += ", " + clause()
	}
	// Each name must be grouped somewhere, as it is selected.
	return " GROUP BY " + out + fmt.Sprintf(", GROUPING SETS ((%s), ())", strings.Join(names, ", "))
}

// framedRows is a call over a frame of rows whose order is total.
func (g *diffGen) framedRows(t diffType, scope []diffColumn) string {
	var keys []string
	for _, i := range g.Perm(len(scope)) {
		keys = append(keys, scope[i].name+g.pick("", "", " DESC", " NULLS FIRST"))
	}
	part := ""
	if g.chance(60) {
		part = "PARTITION BY " + scope[g.Intn(len(scope))].name + " "
	}
	n := func() string { return fmt.Sprint(g.Intn(4)) }
	bounds := []string{"UNBOUNDED PRECEDING", n() + " PRECEDING", "CURRENT ROW", n() + " FOLLOWING", "UNBOUNDED FOLLOWING"}
	from := g.Intn(4)
	to := max(1, from+g.Intn(5-from))
	frame := fmt.Sprintf(" %s BETWEEN %s AND %s%s", g.pick("ROWS", "ROWS", "GROUPS"), bounds[from], bounds[to],
		g.pick("", "", " EXCLUDE CURRENT ROW", " EXCLUDE TIES", " EXCLUDE GROUP"))
	filter := ""
	if g.chance(20) {
		filter = " FILTER (WHERE " + g.condition(scope, 0) + ")"
	}
	e := g.scalar(t, scope, 1)
	call := g.pick("first_value("+e+")", "last_value("+e+")", "nth_value("+e+", "+g.pick("1", "2", "3")+")")
	if g.chance(50) {
		switch t {
		case diffBig:
			call = g.pick("count(*)", "sum("+g.columnOf(diffInt, scope)+")", "count("+e+")") + filter
		case diffInt, diffDate, diffStamp, diffInterval, diffTime, diffInet, diffEnum, diffStampTZ:
			call = g.pick("min", "max") + "(" + e + ")" + filter
		case diffNum:
			call = g.pick("sum", "avg", "min", "max") + "((" + e + ")::numeric)" + filter
		case diffText:
			call = "string_agg((" + e + ")::text, ',')" + filter
		case diffInts:
			call = "array_agg(" + g.columnOf(diffInt, scope) + ")" + filter
		case diffBool:
			call = g.pick("bool_and", "bool_or") + "(" + e + ")" + filter
		case diffMulti:
			call = "range_agg(" + g.columnOf(diffRange, scope) + ")" + filter
		case diffJSON:
			call = "jsonb_agg(" + e + ")" + filter
		}
	} else if t == diffBig && g.chance(40) {
		return "(ntile(" + g.pick("1", "2", "3") + ") OVER (" + part + "ORDER BY " + strings.Join(keys, ", ") + "))::bigint"
	}
	return call + " OVER (" + part + "ORDER BY " + strings.Join(keys, ", ") + frame + ")"
}
