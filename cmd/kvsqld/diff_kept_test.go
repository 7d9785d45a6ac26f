package main

import (
	"fmt"
	"regexp"
	"strings"
)

// Scripts over kept plans: a statement with parameters runs several times with other
// values, NULLs among them, while its tables are emptied, filled and changed.

// diffParams are the parameters of a query that is being written.
type diffParams struct {
	types []diffType
}

// maxDiffParams bounds the parameters of a query.
const maxDiffParams = 6

// param is a parameter of a type, one that is there or another.
func (g *diffGen) param(t diffType) (string, bool) {
	p := g.params
	if p == nil || !g.chance(55) {
		return "", false
	}
	var fit []int
	for i, have := range p.types {
		if have == t {
			fit = append(fit, i)
		}
	}
	if len(fit) > 0 && (g.chance(35) || len(p.types) == maxDiffParams) {
		return g.paramName(fit[g.Intn(len(fit))]), true
	}
	if len(p.types) == maxDiffParams {
		return "", false
	}
	p.types = append(p.types, t)
	return g.paramName(len(p.types) - 1), true
}

func (g *diffGen) paramName(i int) string {
	name := fmt.Sprintf("$%d", i+1)
	if t := g.params.types[i]; diffOID[t] == 0 {
		name += "::" + diffCast[t]
	}
	return name
}

// kept is a script that runs one statement again and again.
func (g *diffGen) kept() diffScript {
	g.alias = 0
	g.params = &diffParams{}
	var q string
	var ordered bool
	kinds := 10
	switch n := g.Intn(100); {
	case n < 20:
		q, kinds = g.write(), 7 // no part of a query
	case n < 35:
		from, scope := g.from(nil, 1)
		q = "SELECT *" + from + " WHERE " + g.choice(scope, 3)
	case n < 70:
		q, ordered = g.chained()
	default:
		q, ordered = g.query(2)
	}
	types := g.params.types
	g.params = nil
	s := diffScript{reset: g.resets}
	s.steps = append(s.steps, diffStep{sql: "SET plan_cache_mode = " + g.pick("auto", "force_custom_plan", "force_custom_plan", "force_generic_plan")})
	switch n := g.Intn(kinds); {
	case n < 4:
		head := "PREPARE p"
		if len(types) > 0 {
			head += " (" + diffTypeNames(types) + ")"
		}
		s.steps = append(s.steps, diffStep{sql: head + " AS " + q})
		g.runs(&s, types, func(v []string) diffStep {
			if len(v) == 0 {
				return diffStep{sql: "EXECUTE p", ordered: ordered, runs: q}
			}
			return diffStep{sql: "EXECUTE p (" + strings.Join(v, ", ") + ")", ordered: ordered, runs: q}
		})
	case n < 7:
		s.steps = append(s.steps, diffStep{sql: q, parse: true, params: types})
		g.runs(&s, types, func(v []string) diffStep {
			return diffStep{run: true, values: v, types: types, ordered: ordered, binary: g.chance(30), runs: q}
		})
	case n < 8:
		s.steps = append(s.steps, diffStep{sql: fmt.Sprintf("CREATE FUNCTION f(%s) RETURNS bigint LANGUAGE sql %s AS 'SELECT count(*) FROM (%s) l'",
			diffTypeNames(types), g.pick("STABLE", "VOLATILE"), strings.ReplaceAll(q, "'", "''"))})
		g.runs(&s, types, func(v []string) diffStep {
			if len(v) == 0 {
				return diffStep{sql: "SELECT f()"}
			}
			names := diffParamNames(len(v))
			return diffStep{sql: "SELECT v.*, f(" + strings.Join(names, ", ") + ") FROM " + g.rowsOf(types, v)}
		})
	default:
		inner := diffParamUse.ReplaceAllString(q, "v.p$1")
		g.runs(&s, types, func(v []string) diffStep {
			if len(v) == 0 {
				return diffStep{sql: q, ordered: ordered}
			}
			from := g.rowsOf(types, v)
			if g.chance(50) {
				return diffStep{sql: "SELECT v.*, (SELECT count(*) FROM (" + inner + ") l) FROM " + from}
			}
			return diffStep{sql: "SELECT * FROM " + from + g.pick("", " LEFT") + " JOIN LATERAL (" + inner + ") l ON true"}
		})
	}
	return s
}

// diffParamUse is a parameter in a query's text.
var diffParamUse = regexp.MustCompile(`\$(\d)`)

func diffParamNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("v.p%d", i+1))
	}
	return names
}

// rowsOf is a list of rows of parameters' values, the first one given.
func (g *diffGen) rowsOf(types []diffType, first []string) string {
	rows, v := []string{}, first
	for range 2 + g.Intn(4) {
		var cast []string
		for i, x := range v {
			cast = append(cast, "("+x+")::"+diffCast[types[i]])
		}
		rows = append(rows, "("+strings.Join(cast, ", ")+")")
		if v = g.values(types); g.chance(30) {
			v = first
		} else {
			for i := range v { // some of them change
				if g.chance(50) {
					v[i] = first[i]
				}
			}
		}
	}
	var names []string
	for i := range types {
		names = append(names, fmt.Sprintf("p%d", i+1))
	}
	return "(VALUES " + strings.Join(rows, ", ") + ") v (" + strings.Join(names, ", ") + ")"
}

func (g *diffGen) values(types []diffType) []string {
	var out []string
	for _, t := range types {
		out = append(out, g.value(t))
	}
	return out
}

// runs adds the runs of a script and what changes between them.
func (g *diffGen) runs(s *diffScript, types []diffType, run func([]string) diffStep) {
	block, point := g.chance(30), false
	if block {
		s.steps = append(s.steps, diffStep{sql: g.pick("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ")})
	}
	// Each parameter has few values, so that they meet in other combinations.
	pools := make([][]string, len(types))
	for i, t := range types {
		for range 2 + g.Intn(2) {
			pools[i] = append(pools[i], g.value(t))
		}
	}
	var first []string
	defer func() { s.reset = append(columnsGone(s.steps), s.reset...) }()
	for range 3 + g.Intn(5) {
		var v []string
		for _, p := range pools {
			v = append(v, g.pick(p...))
		}
		if first == nil {
			first = v
		}
		s.steps = append(s.steps, run(v))
		if g.chance(30) {
			s.steps = append(s.steps, g.change())
		}
		if block && g.chance(25) {
			if point {
				s.steps = append(s.steps, diffStep{sql: "ROLLBACK TO s"})
			} else {
				s.steps = append(s.steps, diffStep{sql: "SAVEPOINT s"})
				point = true
			}
		}
	}
	if block {
		s.steps = append(s.steps, diffStep{sql: g.pick("COMMIT", "ROLLBACK")}, run(first))
	}
}

// change is a statement between two runs.
func (g *diffGen) change() diffStep {
	t := g.written()
	switch g.Intn(11) {
	case 10:
		return diffStep{sql: "ALTER TABLE " + t.name + g.pick(diffAddColumn, " DROP COLUMN IF EXISTS z")}
	case 0, 1:
		return diffStep{sql: "DELETE FROM " + t.name}
	case 2:
		return diffStep{sql: fmt.Sprintf("DELETE FROM %s WHERE a = %d OR id > %d", t.name, g.Intn(6), g.Intn(12))}
	case 3, 4, 5:
		if fill := g.fill(t, 1+g.Intn(12), g.pickInt(0, 0, 30)); len(fill) > 0 {
			return diffStep{sql: fill[0] + " ON CONFLICT DO NOTHING"}
		}
	case 6:
		return diffStep{sql: "ANALYZE " + t.name}
	case 7:
		return diffStep{sql: g.pick("DROP INDEX IF EXISTS step_x", fmt.Sprintf("CREATE INDEX step_x ON %s (%s)", t.name, g.pick("a", "id", "a, id")))}
	}
	return diffStep{sql: fmt.Sprintf("UPDATE %s SET a = %s WHERE id %% 2 = %d", t.name, g.pick("a + 1", "NULL", "3", "id"), g.Intn(2))}
}

// columnsGone drops the columns that steps may have added.
func columnsGone(steps []diffStep) []string {
	var out []string
	for _, st := range steps {
		if name, ok := strings.CutSuffix(st.sql, diffAddColumn); ok {
			out = append(out, name+" DROP COLUMN IF EXISTS z")
		}
	}
	return out
}

// diffAddColumn ends a statement that gives a table one more column.
const diffAddColumn = " ADD COLUMN IF NOT EXISTS z int DEFAULT 3"
