package main

import (
	"fmt"
	"strings"
)

// Chains of semi joins: IN, EXISTS and their negations within each other, several
// deep and several beside each other.

// chained is a query whose conditions are chains.
func (g *diffGen) chained() (sql string, ordered bool) {
	from, scope := g.chainFrom()
	var conds []string
	for range g.pickInt(1, 2, 2, 2, 3) {
		conds = append(conds, g.chain(scope, g.pickInt(1, 1, 1, 2, 3)))
	}
	where := " WHERE " + strings.Join(conds, " AND ")
	if g.chance(15) {
		where = " WHERE " + strings.Join(conds, " OR ")
	}
	key := g.columnOf(diffInt, scope)
	switch g.Intn(5) {
	case 0:
		return "SELECT count(*), min(" + key + "), max(" + key + ")" + from + where, false
	case 1:
		return "SELECT " + key + ", count(*)" + from + where + " GROUP BY " + key + " ORDER BY " + key, true
	case 2:
		return "SELECT " + key + from + where + " ORDER BY " + key + g.pick("", " DESC") + g.limit(), true
	}
	return "SELECT *" + from + where, false
}

// chainFrom is one relation or a join of two or three.
func (g *diffGen) chainFrom() (string, []diffColumn) {
	t, a := g.table(), g.newAlias("a")
	from, scope := " FROM "+t.name+" "+a, qualified(a, t.columns)
	for range g.pickInt(0, 0, 0, 0, 1, 2) {
		u, b := g.table(), g.newAlias("b")
		cols := qualified(b, u.columns)
		from += fmt.Sprintf(" %s JOIN %s %s ON %s = %s", g.pick("", "", "LEFT"), u.name, b, g.columnOf(diffInt, scope), g.columnOf(diffInt, cols))
		scope = append(scope, cols...)
	}
	return from, scope
}

// chain is a condition on the rows of scope that looks into other tables, and from
// there into others, depth times.
func (g *diffGen) chain(scope []diffColumn, depth int) string {
	from, inner := g.chainFrom()
	var conds []string
	if g.chance(80) { // what a parameter chooses
		t := g.pickType(diffInt, diffInt, inner[g.Intn(len(inner))].typ)
		op := " = "
		if g.chance(25) {
			op = g.pick(" < ", " >= ", " <> ")
		}
		conds = append(conds, g.columnOf(t, inner)+op+g.constant(t))
	}
	if depth > 1 {
		for range 1 + g.Intn(2) {
			conds = append(conds, g.chain(inner, depth-1))
		}
	}
	out, in := g.columnOf(diffInt, scope), g.columnOf(diffInt, inner)
	if g.chance(15) {
		t := scope[g.Intn(len(scope))].typ
		out, in = g.columnOf(t, scope), g.columnOf(t, inner)
	}
	where := func() string {
		if len(conds) == 0 {
			return ""
		}
		return " WHERE " + strings.Join(conds, g.pick(" AND ", " AND ", " AND ", " OR "))
	}
	switch g.Intn(10) {
	case 0, 1, 2, 6, 7:
		return out + " IN (SELECT " + in + from + where() + ")"
	case 3:
		return out + " NOT IN (SELECT " + in + from + where() + ")"
	case 4:
		return out + g.pick(" = ANY", " <> ALL", " >= ALL", " < ANY") + " (SELECT " + in + from + where() + ")"
	case 5:
		return out + g.pick(" = ", " >= ") + "(SELECT " + g.pick("min", "max") + "(" + in + ")" + from + where() + ")"
	}
	on := in + " = " + out
	if g.chance(15) {
		on += " AND " + g.condition(append(append([]diffColumn{}, inner...), scope...), 0)
	}
	if w := where(); w == "" {
		return g.pick("", "", "NOT ") + "EXISTS (SELECT 1" + from + " WHERE " + on + ")"
	} else if !strings.Contains(w, " OR ") {
		return g.pick("", "", "NOT ") + "EXISTS (SELECT 1" + from + w + " AND " + on + ")"
	}
	return "EXISTS (SELECT 1" + from + " WHERE " + on + ")"
}

// limit is a LIMIT, with a parameter where there are any.
func (g *diffGen) limit() string {
	if g.chance(50) {
		return ""
	}
	if g.params != nil && len(g.params.types) < maxDiffParams && g.chance(50) {
		g.params.types = append(g.params.types, diffBig)
		return fmt.Sprintf(" LIMIT greatest(0, %s)", g.paramName(len(g.params.types)-1))
	}
	return fmt.Sprintf(" LIMIT %d", g.Intn(8))
}
