package main

import (
	"fmt"
	"strings"
)

// Conditions that parameters and constants choose, as forms of search send them:
// ($1 IS NULL OR a = $1), coalesce($1, a) = a, CASE WHEN $1 THEN …. What is decided
// before a row is read must be what the rows would have decided, for NULLs as well.

// choice is a truth value of which constants may decide parts.
func (g *diffGen) choice(scope []diffColumn, depth int) string {
	if depth <= 0 || g.chance(20) {
		return g.chosen(scope)
	}
	c := func() string { return g.choice(scope, depth-1) }
	switch g.Intn(13) {
	case 0, 1, 2:
		parts := []string{c(), c()}
		if g.chance(30) {
			parts = append(parts, c())
		}
		return "(" + strings.Join(parts, " OR ") + ")"
	case 3, 4:
		parts := []string{c(), c()}
		if g.chance(30) {
			parts = append(parts, c())
		}
		return "(" + strings.Join(parts, " AND ") + ")"
	case 5, 6:
		return "NOT (" + c() + ")"
	case 7:
		return "(" + c() + ") IS " + g.pick("", "NOT ") + g.pick("TRUE", "FALSE", "UNKNOWN", "NULL")
	case 8:
		return "coalesce(" + c() + ", " + c() + ")"
	case 9:
		otherwise := ""
		if g.chance(70) {
			otherwise = " ELSE " + c()
		}
		return "CASE WHEN " + c() + " THEN " + c() + otherwise + " END"
	case 10:
		return "(" + c() + ")" + g.pick(" = ", " <> ", " < ", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + "(" + c() + ")"
	case 11:
		return "(" + c() + ") " + g.pick("", "NOT ") + "IN (" + c() + ", " + c() + ")"
	default:
		t, a := g.table(), g.newAlias("h")
		cols := qualified(a, t.columns)
		link := g.columnOf(diffInt, cols) + " = " + g.columnOf(diffInt, scope)
		all := append(append([]diffColumn{}, cols...), scope...)
		switch g.Intn(3) {
		case 0:
			return "(SELECT " + g.choice(scope, depth-2) + ")"
		case 1:
			return g.columnOf(diffInt, scope) + g.pick(" IN", " NOT IN") + " (SELECT " + g.columnOf(diffInt, cols) + " FROM " + t.name + " " + a +
				" WHERE " + g.choice(all, depth-2) + ")"
		}
		return g.pick("", "NOT ") + "EXISTS (SELECT 1 FROM " + t.name + " " + a + " WHERE " + g.pick("", link+" AND ") + g.choice(all, depth-2) + ")"
	}
}

// chosen is a choice without parts.
func (g *diffGen) chosen(scope []diffColumn) string {
	t := g.anyType()
	if len(scope) > 0 && g.chance(85) {
		t = scope[g.Intn(len(scope))].typ
	}
	p := func() string {
		if g.chance(6) {
			return "NULL::" + diffCast[t]
		}
		return g.typed(t)
	}
	col := g.columnOf(t, scope)
	not := g.pick("", "", "NOT ")
	switch g.Intn(13) {
	case 0, 1:
		return p() + " IS " + not + "NULL"
	case 2:
		if g.chance(25) {
			return g.pick("true", "false", "NULL::bool")
		}
		return "(" + g.typed(diffBool) + ")"
	case 3:
		return p() + g.pick(" = ", " <> ", " < ") + p()
	case 4, 5:
		return col + g.pick(" = ", " = ", " <> ", " < ", " >= ") + p()
	case 6:
		return col + " IS " + not + g.pick("NULL", "DISTINCT FROM "+p())
	case 7:
		return col + " = coalesce(" + p() + ", " + col + ")"
	case 8:
		return col + " " + not + "IN (" + p() + ", " + p() + ")"
	case 9:
		return col + g.pick(" = ANY", " <> ALL", " > ANY") + " (ARRAY[" + p() + ", " + p() + "])"
	case 10:
		return col + " " + not + "BETWEEN " + p() + " AND " + p()
	case 11:
		v := p()
		return "(" + v + " IS NULL OR " + col + " = " + v + ")"
	default:
		return fmt.Sprintf("(%s, %s) = (%s, %s)", col, g.columnOf(diffInt, scope), p(), g.typed(diffInt))
	}
}
