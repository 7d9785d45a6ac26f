package main

import "fmt"

// routines returns functions, procedures, aggregates, operators and casts that need no
// table.
func (g *schemaGen) routines() (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if g.chance("twice", 2) {
		add("CREATE FUNCTION twice(%s) RETURNS %s LANGUAGE sql IMMUTABLE%s AS 'SELECT $1 * %s'", g.pick("argument", "a int", "b int", "int"),
			g.pick("result", "int", "bigint"), g.pick("options", "", " STRICT", " PARALLEL SAFE COST 7", " SECURITY DEFINER SET work_mem = '1MB'"), g.pick("factor", "2", "3"))
		if g.chance("comment", 3) {
			add("COMMENT ON FUNCTION twice(int) IS 'doubles'")
		}
		if g.chance("owner", 4) {
			add("ALTER FUNCTION twice(int) OWNER TO clerk")
		}
		if g.chance("grant", 3) {
			add("REVOKE EXECUTE ON FUNCTION twice(int) FROM PUBLIC")
		}
		if g.chance("bound body", 2) {
			add("CREATE FUNCTION a_threefold(x int DEFAULT %s) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN twice(x) + x", g.pick("default", "1", "length('abc')"))
		}
	}
	if g.chance("overload", 4) {
		add("CREATE FUNCTION twice(a text, OUT b text, OUT c text) LANGUAGE sql AS $$ SELECT a, a || ';' $$")
	}
	if g.chance("procedure", 4) {
		add("CREATE PROCEDURE proc(INOUT a int DEFAULT %s) LANGUAGE sql AS 'SELECT 1'", g.pick("default", "1", "2"))
	}
	if g.chance("with a type", 4) {
		add("CREATE FUNCTION mood_text(m mood, VARIADIC more name_text[]) RETURNS SETOF text LANGUAGE sql STABLE ROWS 10 AS 'SELECT m::text'")
	}
	if g.chance("same", 3) {
		add("CREATE FUNCTION same_mod(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE RETURN a %% %s = b %% 3", g.pick("modulus", "3", "6"))
		if g.chance("operator", 2) {
			add("CREATE OPERATOR =%%%% (FUNCTION = same_mod, LEFTARG = int, RIGHTARG = int, COMMUTATOR = =%%%%%s)", g.pick("more", "", ", NEGATOR = <%", ", RESTRICT = eqsel, HASHES"))
			if g.chance("negator", 2) {
				add("CREATE FUNCTION other_mod(a int, b int) RETURNS bool LANGUAGE sql IMMUTABLE RETURN NOT same_mod(a, b)")
				add("CREATE OPERATOR <%% (FUNCTION = other_mod, LEFTARG = int, RIGHTARG = int, NEGATOR = =%%%%)")
			}
			if g.chance("comment", 2) {
				add("COMMENT ON OPERATOR =%%%% (int, int) IS 'equal modulo three'")
			}
		}
	}
	if g.chance("aggregate", 3) {
		add("CREATE FUNCTION add_up(a bigint, b int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT a + %s * b'", g.pick("weight", "1", "2"))
		add("CREATE AGGREGATE total(int) (SFUNC = add_up, STYPE = bigint, INITCOND = '%s')", g.pick("first state", "0", "100"))
		if g.chance("comment", 2) {
			add("COMMENT ON AGGREGATE total(int) IS 'adds up'")
		}
		if g.chance("grant", 2) {
			add("GRANT EXECUTE ON FUNCTION total(int) TO clerk")
		}
	}
	if g.chance("cast", 4) {
		add("CREATE FUNCTION mood_number(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT length($1::text)'")
		add("CREATE CAST (mood AS int) WITH FUNCTION mood_number(mood)%s", g.pick("context", "", " AS ASSIGNMENT", " AS IMPLICIT"))
		if g.chance("comment", 2) {
			add("COMMENT ON CAST (mood AS int) IS 'its length'")
		}
	}
	return out
}

// rules returns what is made behind the tables: policies, statistics objects, functions
// that read tables and views that call functions.
func (g *schemaGen) rules(tables []string) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i, t := range tables {
		if g.chance("row security", 3) {
			add("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", t)
			if g.chance("forced", 3) {
				add("ALTER TABLE %s FORCE ROW LEVEL SECURITY", t)
			}
		}
		if g.chance("policy", 3) {
			add("CREATE POLICY mine ON %s%s TO %s USING (%s)", t, g.pick("command", "", " FOR SELECT", " AS RESTRICTIVE FOR UPDATE"), g.pick("roles", "PUBLIC", `clerk, "Big Boss"`),
				g.pick("condition", "k > 3", "k > 3 AND "+g.names[0]+" IS NOT NULL", "EXISTS (SELECT 1 FROM "+tables[0]+" x WHERE x.k = 7)", "twice(k) > 5"))
			if g.chance("comment", 3) {
				add("COMMENT ON POLICY mine ON %s IS 'mine'", t)
			}
		}
		if g.chance("statistics", 4) {
			add("CREATE STATISTICS stat%d%s ON k, %s FROM %s", i, g.pick("kinds", "", " (ndistinct)", " (mcv, dependencies)"), g.names[i], t)
			if g.chance("target", 3) {
				add("ALTER STATISTICS stat%d SET STATISTICS 50", i)
			}
		}
		if g.chance("reading function", 4) {
			add("CREATE FUNCTION read%d() RETURNS %s LANGUAGE sql BEGIN ATOMIC SELECT max(k) FROM %s; END", i, g.pick("result", "int", "bigint"), t)
		}
		if g.chance("row argument", 5) {
			add("CREATE FUNCTION key_of(r %s) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT r.k'", t)
		}
		if g.chance("text body", 5) {
			add("CREATE FUNCTION body%d() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM %s'", i, t)
		}
		if g.chance("calling view", 4) {
			add("CREATE VIEW c%d AS SELECT k, twice(k) AS t FROM %s", i, t)
		}
	}
	return out
}
