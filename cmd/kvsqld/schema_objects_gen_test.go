package main

import (
	"fmt"
	"strings"
)

// ownTypes returns domains, range types and composite types, with a table of one.
func (g *schemaGen) ownTypes() (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if g.chance("small", 2) {
		add("CREATE DOMAIN small AS int%s%s%s", g.pick("default", "", " DEFAULT 3", " DEFAULT 4"), g.pick("not null", "", " NOT NULL"),
			g.pick("check", "", " CONSTRAINT pos CHECK (VALUE > 0)", " CONSTRAINT pos CHECK (VALUE > 1) CHECK (VALUE < 99)"))
		if g.chance("later check", 3) {
			add("ALTER DOMAIN small ADD CONSTRAINT later CHECK (VALUE <> 7)%s", g.pick("valid", "", " NOT VALID"))
		}
		if g.chance("comment", 3) {
			add("COMMENT ON DOMAIN small IS 'of few'")
			add("COMMENT ON CONSTRAINT pos ON DOMAIN small IS 'above'")
		}
	}
	if g.chance("collated domain", 3) {
		add(`CREATE DOMAIN plain AS text COLLATE "C"`)
	}
	if g.chance("range type", 3) {
		add("CREATE TYPE span AS RANGE (SUBTYPE = %s)", `text, COLLATION = "C"`)
		if g.chance("comment", 2) {
			add("COMMENT ON TYPE span IS 'from, to'")
		}
	}
	if g.chance("point", 2) {
		add("CREATE TYPE point2 AS (x int, y %s%s)", "text COLLATE \"C\"", g.pick("more", "", ", z numeric(5,1)"))
		if g.chance("attribute", 3) {
			add("ALTER TYPE point2 %s", g.pick("change", "ADD ATTRIBUTE w text", "DROP ATTRIBUTE x"))
		}
		if g.chance("comment", 2) {
			add("COMMENT ON COLUMN point2.y IS 'up'")
		}
		if g.chance("typed table", 2) {
			add("CREATE TABLE typed OF point2%s", g.pick("parts", "", " (PRIMARY KEY (x))", " (x WITH OPTIONS DEFAULT 5, CHECK (x > 0))"))
		}
		if g.chance("more attributes", 3) {
			add("ALTER TYPE point2 ADD ATTRIBUTE v bool CASCADE")
		}
	}
	return out
}

// tableDetails returns what is set on tables and their columns after they are made.
func (g *schemaGen) tableDetails(tables []string) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i, t := range tables {
		c := g.pick("column", g.names...)
		if g.chance("collated column", 4) {
			add(`ALTER TABLE %s ADD COLUMN s text COLLATE "%s"`, t, g.pick("collation", "C", "POSIX"))
			add(`CREATE INDEX ON %s (s%s%s)`, t, g.pick("index collation", "", ` COLLATE "POSIX"`), g.pick("operators", "", " text_pattern_ops", " DESC NULLS LAST"))
		}
		for range 2 {
			if !g.chance("detail", 3) {
				continue
			}
			add("ALTER TABLE %s %s", t, g.pick("setting", "ALTER k SET STATISTICS 7", "ALTER "+c+" SET STORAGE EXTERNAL", "ALTER "+c+" SET COMPRESSION pglz",
				"ALTER k SET (n_distinct = 5)", "REPLICA IDENTITY FULL", "CLUSTER ON "+t[strings.LastIndexByte(t, '.')+1:]+"_pkey", "SET UNLOGGED", "SET (autovacuum_enabled = off)",
				"ADD CONSTRAINT unchecked CHECK (k > -9) NOT VALID", "ADD CONSTRAINT own CHECK (k > -8) NO INHERIT", "ADD UNIQUE NULLS NOT DISTINCT ("+c+")",
				"SET (layout = 'column')", "SET (layout = 'column', groups = '(a, b)')", "SET (elements = '"+c+"')"))
		}
		if g.chance("comments", 3) {
			name := t[strings.LastIndexByte(t, '.')+1:]
			add("COMMENT ON CONSTRAINT %s_pkey ON %s IS 'the key''s'", name, t)
			add("COMMENT ON INDEX %s_pkey IS 'its file'", t)
		}
		if g.chance("shown view", 4) {
			add("CREATE VIEW s%d WITH (%s) AS SELECT * FROM %s WHERE k > 0%s", i, g.pick("option", "security_barrier", "security_invoker = true"), t,
				g.pick("check", "", " WITH LOCAL CHECK OPTION", " WITH CHECK OPTION"))
			if g.chance("default", 2) {
				add("ALTER VIEW s%d ALTER k SET DEFAULT 3", i)
			}
		}
		if g.chance("owned sequence", 5) {
			add("CREATE SEQUENCE own%d AS %s CACHE 5 OWNED BY %s.k", i, g.pick("type", "smallint", "bigint"), t)
		}
	}
	return out
}
