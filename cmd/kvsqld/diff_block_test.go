package main

import (
	"fmt"
	"slices"
	"strings"
)

// Scripts of transaction blocks: cursors that outlive changes and the block itself,
// writes and queries between savepoints.

// block is a script of one of these kinds.
func (g *diffGen) block() diffScript {
	g.alias = 0
	switch g.Intn(3) {
	case 0:
		return g.heldCursor()
	case 1:
		return g.savepoints()
	}
	return g.stored()
}

// stored asks a query as it is kept in a view.
func (g *diffGen) stored() diffScript {
	types := []diffType{diffInt, g.anyType(), g.anyType()}
	s := diffScript{reset: append([]string{"DROP VIEW IF EXISTS step_v"}, g.resets...)}
	for range 2 {
		s.steps = append(s.steps, diffStep{sql: "DROP VIEW IF EXISTS step_v"}, diffStep{sql: "CREATE VIEW step_v (x, y, z) AS " + g.body(types, nil, 2)},
			diffStep{sql: "SELECT * FROM step_v"})
	}
	return s
}

// heldCursor passes a query in steps while its tables change.
func (g *diffGen) heldCursor() diffScript {
	q, ordered := g.query(2)
	for !ordered {
		q, ordered = g.query(2)
	}
	scroll, hold := g.chance(70), g.chance(60)
	declare := "DECLARE c"
	fetches := []string{"FETCH c", "FETCH 2 FROM c", "MOVE 1 IN c", "FETCH FORWARD 3 FROM c"}
	if scroll {
		declare += " SCROLL"
		fetches = append(fetches, "FETCH PRIOR FROM c", "FETCH BACKWARD 2 FROM c", "FETCH FIRST FROM c", "FETCH LAST FROM c", "FETCH ABSOLUTE 3 FROM c",
			"FETCH RELATIVE -1 FROM c", "FETCH RELATIVE 0 FROM c", "FETCH ABSOLUTE 0 FROM c", "MOVE BACKWARD ALL IN c", "FETCH BACKWARD ALL FROM c", "MOVE ABSOLUTE -1 IN c")
	} else {
		declare += " NO SCROLL"
	}
	declare += " CURSOR"
	if hold {
		declare += " WITH HOLD"
	}
	s := diffScript{reset: g.resets, steps: []diffStep{{sql: "BEGIN"}}}
	if g.chance(30) {
		s.steps = append(s.steps, g.moved())
	}
	s.steps = append(s.steps, diffStep{sql: declare + " FOR " + q})
	point := false
	some := func() {
		for range g.Intn(4) {
			switch g.Intn(5) {
			case 0:
				s.steps = append(s.steps, g.moved())
			case 1:
				if point = !point; point {
					s.steps = append(s.steps, diffStep{sql: "SAVEPOINT s"})
				} else {
					s.steps = append(s.steps, diffStep{sql: g.pick("ROLLBACK TO s", "RELEASE s")})
				}
			default:
				s.steps = append(s.steps, diffStep{sql: g.pick(fetches...), ordered: true})
			}
		}
	}
	some()
	some()
	if hold {
		point = true // gone with the block
		s.steps = append(s.steps, diffStep{sql: "COMMIT"})
		for range 2 {
			s.steps = append(s.steps, g.moved(), diffStep{sql: g.pick(fetches...), ordered: true})
		}
	}
	s.steps = append(s.steps, diffStep{sql: "FETCH ALL FROM c", ordered: true}, diffStep{sql: "CLOSE c"})
	return s
}

// moved is a change of rows: an open cursor forbids those of the table.
func (g *diffGen) moved() diffStep {
	for {
		if c := g.change(); !strings.Contains(c.sql, " INDEX ") && !strings.HasPrefix(c.sql, "ALTER ") {
			return c
		}
	}
}

// savepoints are writes and queries of which some are undone.
func (g *diffGen) savepoints() diffScript {
	s := diffScript{reset: g.resets, steps: []diffStep{{sql: g.pick("BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE")}}}
	q, ordered := g.chained()
	open := 0
	for range 4 + g.Intn(6) {
		switch g.Intn(7) {
		case 0, 1:
			s.steps = append(s.steps, g.moved())
		case 2:
			s.steps = append(s.steps, diffStep{sql: g.write()})
		case 3:
			open++
			s.steps = append(s.steps, diffStep{sql: fmt.Sprintf("SAVEPOINT s%d", open)})
		case 4:
			if open > 0 {
				open = 1 + g.Intn(open)
				s.steps = append(s.steps, diffStep{sql: fmt.Sprintf("%s s%d", g.pick("ROLLBACK TO", "ROLLBACK TO", "RELEASE"), open)})
				if strings.HasPrefix(s.steps[len(s.steps)-1].sql, "RELEASE") {
					open--
				}
			}
		default:
			s.steps = append(s.steps, diffStep{sql: q, ordered: ordered})
		}
	}
	return diffScript{reset: s.reset, steps: append(s.steps, diffStep{sql: q, ordered: ordered}, diffStep{sql: g.pick("COMMIT", "COMMIT", "ROLLBACK")}, diffStep{sql: q, ordered: ordered})}
}

// sharedWith is a statement with several WITH queries, of which some change rows: each
// reads some of those before it, a part of their rows and columns, and so does the statement.
func (g *diffGen) sharedWith() string {
	g.alias = 0
	sources := []string{"q"}
	used := map[*diffTable]bool{}
	target := func() *diffTable { // changed once, and by nobody's references
		for range 5 {
			if t := g.written(); !used[t] && !t.fixed {
				used[t] = true
				return t
			}
		}
		return nil
	}
	from := func(where string) (x, sql string) {
		q := g.pick(sources...)
		conds := []string{where}
		if where != "" {
			conds[0] = q + "." + where
		}
		if g.chance(60) {
			conds = append(conds, g.condition([]diffColumn{{q + ".x", diffInt}, {q + ".y", diffInt}}, 1))
		}
		sql = " FROM " + q
		if conds = slices.DeleteFunc(conds, func(c string) bool { return c == "" }); len(conds) > 0 {
			sql += " WHERE " + strings.Join(conds, " AND ")
		}
		return q, sql
	}
	change := func(t *diffTable) string {
		q, some := from("")
		switch g.Intn(4) {
		case 0:
			return fmt.Sprintf("INSERT INTO %s (id, a) SELECT 500 + abs(%s.x %% 100), max(%s.y)%s GROUP BY 1 RETURNING id AS x, a AS y", t.name, q, q, some)
		case 1:
			r, others := from("")
			return fmt.Sprintf("UPDATE %s SET a = (SELECT max(%s.y) %% 1009%s) WHERE id IN (SELECT %s.x%s) RETURNING id AS x, a AS y", t.name, q, some, r, others)
		case 2:
			return fmt.Sprintf("DELETE FROM %s USING (SELECT %s.x, count(%s.y)%s GROUP BY 1) u WHERE u.x = %s.id RETURNING id AS x, a AS y", t.name, q, q, some, t.name)
		}
		_, some = from("x = " + t.name + ".id")
		return fmt.Sprintf("DELETE FROM %s WHERE %sEXISTS (SELECT 1%s) AND a < 4 RETURNING id AS x, a AS y", t.name, g.pick("", "NOT "), some)
	}
	kind := func() string { return g.pick("", "", "", "MATERIALIZED ", "NOT MATERIALIZED ") }
	types := []diffType{diffInt, diffInt, g.anyType()}
	list := []string{"q (x, y, z) AS " + kind() + "(" + g.body(types, nil, 1) + ")"}
	for i := range 1 + g.Intn(3) {
		name := fmt.Sprintf("d%d", i)
		if t := target(); t != nil && g.chance(65) {
			list = append(list, name+" AS ("+change(t)+")")
		} else {
			a, some := from("")
			list = append(list, fmt.Sprintf("%s AS %s(SELECT %s.y AS x, %s%s%s)", name, kind(), a, g.pick("min("+a+".x) AS y", "count(*)::int AS y"), some, " GROUP BY 1"))
		}
		sources = append(sources, name)
	}
	sql := "WITH " + strings.Join(list, ", ") + " "
	if t := target(); t != nil && g.chance(30) {
		q, some := from("")
		return sql + change(t) + fmt.Sprintf(", (SELECT count(%s.y)%s)", q, some)
	}
	a, some := from("")
	b, others := from("")
	return sql + fmt.Sprintf("SELECT count(*), min(%s.x), max(%s.y), (SELECT count(%s.x)%s)%s", a, a, b, others, some)
}

// checked is a view that may be written through, with a condition on the rows.
func (g *diffGen) checked(out []string, name string) []string {
	var plain []*diffTable
	for _, t := range g.tables {
		if !t.fixed && (!t.view || t.through) {
			plain = append(plain, t)
		}
	}
	if len(plain) == 0 {
		return out
	}
	o := plain[g.Intn(len(plain))]
	t := &diffTable{name: name, view: true, through: true, columns: []diffColumn{{"id", diffInt}, {"a", diffInt}}}
	where := g.pick("a > 0", "a IS NOT NULL", "a < 6 OR id > 10", "id % 2 = 0")
	if g.chance(30) {
		where = "a IN (SELECT x.a FROM " + g.table().name + " x)"
	}
	g.tables = append(g.tables, t)
	return append(out, fmt.Sprintf("CREATE VIEW %s AS SELECT id, a FROM %s WHERE %s%s", name, o.name, where,
		g.pick("", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION", " WITH CASCADED CHECK OPTION")))
}
