package main

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// schemaGen draws the statements of a random schema. Statements may fail (a name
// taken, a type without an order): those are left out.
type schemaGen struct {
	t     *rapid.T
	names []string // few, so that two schemas have many in common
}

func newSchemaGen(t *rapid.T) *schemaGen {
	return &schemaGen{t: t, names: []string{"a", "b", "c", "d", "e"}}
}

func (g *schemaGen) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

func (g *schemaGen) chance(label string, n int) bool {
	return rapid.IntRange(1, n).Draw(g.t, label) == 1
}

var genTypes = []string{"int", "int", "bigint", "smallint", "text", "text", "varchar(9)", "char(3)", "numeric(8,2)", "numeric", "bool", "float8",
	"date", "timestamp(3)", "timestamptz", "interval", "uuid", "bytea", "jsonb", "int[]", "text[]", "mood", "name_text", "small", "plain", "span", "point2"}

// constants of the types for defaults.
var genDefaults = map[string]string{"int": "7", "bigint": "length('abc')", "text": "'it''s' || 'so'", "varchar(9)": "'v'", "bool": "true",
	"date": "'2020-02-03'", "numeric(8,2)": "1.50", "mood": "'ok'", "int[]": "'{1,2}'", "timestamptz": "now()", "jsonb": `'{"a": 1}'`, "name_text": "'n'"}

// statements returns the DDL of a schema; tables and columns have their names
// from small sets.
func (g *schemaGen) statements() []string {
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	schemas := []string{"public"}
	if g.chance("schema", 2) {
		add(`CREATE SCHEMA "My Schema"`)
		schemas = append(schemas, `"My Schema"`)
		if g.chance("comment", 2) {
			add(`COMMENT ON SCHEMA "My Schema" IS 'it''s mine'`)
		}
	}
	for _, e := range []string{"pgcrypto", "uuid-ossp"} {
		if g.chance("extension", 4) {
			add(`CREATE EXTENSION "%s" SCHEMA %s`, e, g.pick("in schema", schemas...))
			if g.chance("comment", 3) {
				add(`COMMENT ON EXTENSION "%s" IS 'ours'`, e)
			}
		}
	}
	labels := []string{"'ok'"}
	if g.chance("labels", 2) {
		labels = append(labels, "'happy'")
	}
	if g.chance("labels", 3) {
		labels = append([]string{"'sad'"}, labels...)
	}
	add("CREATE TYPE mood AS ENUM (%s)", strings.Join(labels, ", "))
	add("CREATE DOMAIN name_text AS varchar(20)")
	if g.chance("composite", 3) {
		add("CREATE TYPE pair AS (x int, y text)")
	}
	if g.chance("sequence", 2) {
		add("CREATE SEQUENCE counter INCREMENT BY %d MINVALUE 1 MAXVALUE 1000 START %d%s", rapid.IntRange(1, 3).Draw(g.t, "inc"),
			rapid.IntRange(1, 5).Draw(g.t, "start"), g.pick("cycle", "", " CYCLE"))
	}
	out = append(out, g.ownTypes()...)
	out = append(out, g.routines()...)
	var tables []string
	for i, n := range []string{"t1", "t2", "t3"} {
		if i > 0 && g.chance("left out", 4) {
			continue
		}
		name := g.pick("in schema", schemas...) + "." + n
		out = append(out, g.table(name, tables)...)
		tables = append(tables, name)
	}
	for i, t := range tables {
		if g.chance("view", 2) {
			add(`CREATE VIEW v%d AS SELECT "%s" AS x, count(*) AS n FROM %s GROUP BY 1`, i, g.pick("view column", "k", g.names[0]), t)
			if g.chance("comment", 3) {
				add("COMMENT ON VIEW v%d IS 'a view'", i)
			}
			if g.chance("on a view", 2) {
				add("CREATE VIEW w%d AS SELECT max(n) AS m FROM v%d", i, i)
			}
			if g.chance("materialized", 2) {
				add("CREATE MATERIALIZED VIEW m%d AS SELECT k FROM %s WHERE k > %d", i, t, i)
				add("CREATE INDEX ON m%d (k DESC)", i)
			}
		}
	}
	out = append(out, g.tableDetails(tables)...)
	out = append(out, g.viewsOfShapes(tables)...)
	out = append(out, g.trees(schemas)...)
	out = append(out, g.rules(tables)...)
	out = append(out, g.privileges(tables)...)
	return append(out, g.notes(tables)...)
}

// privileges returns roles, and grants on the tables and what else there is.
func (g *schemaGen) privileges(tables []string) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	roles := []string{"clerk", `"Big Boss"`}
	for _, r := range roles {
		if g.chance("role left out", 4) {
			continue
		}
		add("CREATE ROLE %s%s", r, g.pick("valid until", "", " VALID UNTIL '2030-01-02 03:04:05.25+00'", " LOGIN VALID UNTIL 'infinity'"))
		if g.chance("comment", 4) {
			add("COMMENT ON ROLE %s IS 'a role'", r)
		}
	}
	if g.chance("member", 2) {
		add(`GRANT clerk TO "Big Boss"%s`, g.pick("admin", "", " WITH ADMIN OPTION"))
	}
	for range rapid.IntRange(0, 6).Draw(g.t, "grants") {
		t, to := g.pick("granted table", tables...), g.pick("grantee", append(roles, "PUBLIC")...)
		with := ""
		if to != "PUBLIC" {
			with = g.pick("option", "", " WITH GRANT OPTION")
		}
		switch rapid.IntRange(0, 11).Draw(g.t, "grant") {
		case 0, 1:
			add("GRANT %s ON %s TO %s%s", g.pick("privileges", "SELECT", "INSERT, UPDATE", "ALL"), t, to, with)
		case 2:
			add("GRANT %s (k) ON %s TO %s%s", g.pick("column privileges", "SELECT", "UPDATE, REFERENCES"), t, to, with)
		case 3:
			add("GRANT USAGE ON SCHEMA public TO %s%s", to, with)
		case 4:
			add("REVOKE USAGE ON TYPE %s FROM PUBLIC", g.pick("type", "mood", "name_text"))
		case 5:
			add("GRANT USAGE ON SEQUENCE counter TO %s%s", to, with)
		case 6:
			add("GRANT SELECT ON v0 TO %s%s", to, with)
		case 7:
			add("ALTER TABLE %s OWNER TO %s", t, g.pick("owner", roles...))
		case 8:
			add("ALTER DEFAULT PRIVILEGES %sGRANT SELECT ON TABLES TO %s%s", g.pick("default in", "", "IN SCHEMA public "), to, with)
		case 9:
			add("ALTER DEFAULT PRIVILEGES FOR ROLE clerk REVOKE %s FROM PUBLIC", g.pick("default", "EXECUTE ON FUNCTIONS", "USAGE ON TYPES"))
		case 10:
			add("REVOKE %s ON %s FROM postgres", g.pick("revoked", "INSERT", "ALL"), t)
		case 11:
			add("GRANT %s ON DATABASE postgres TO %s%s", g.pick("database privileges", "CONNECT", "CREATE, TEMPORARY"), to, with)
		}
	}
	return out
}

// table returns the statements of one table.
func (g *schemaGen) table(name string, others []string) []string {
	types := map[string]string{}
	var cols []string
	kind := g.pick("key", "int PRIMARY KEY", "int PRIMARY KEY", "serial PRIMARY KEY", "int GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"bigint GENERATED BY DEFAULT AS IDENTITY (START 5) UNIQUE", "int NOT NULL")
	cols = append(cols, "k "+kind)
	perm := rapid.Permutation(g.names).Draw(g.t, "columns")
	for _, n := range perm[:rapid.IntRange(1, len(perm)).Draw(g.t, "number of columns")] {
		typ := rapid.SampledFrom(genTypes).Draw(g.t, "type")
		types[n] = typ
		def := fmt.Sprintf("%s %s", n, typ)
		if d := genDefaults[typ]; d != "" && g.chance("default", 2) {
			def += " DEFAULT " + d
			if g.chance("not null", 2) {
				def += " NOT NULL"
			}
		}
		if typ == "int" && g.chance("check", 4) {
			def += fmt.Sprintf(" CHECK (%s > 0)", n)
		}
		if g.chance("unique", 8) {
			def += " UNIQUE"
		}
		cols = append(cols, def)
	}
	if g.chance("generated", 3) {
		cols = append(cols, "g int GENERATED ALWAYS AS (k * 2) STORED")
	}
	if g.chance("key in the middle", 4) {
		slices.Reverse(cols)
	}
	if g.chance("table check", 4) {
		cols = append(cols, fmt.Sprintf("CONSTRAINT positive CHECK (k > %d)", rapid.IntRange(-2, -1).Draw(g.t, "bound")))
	}
	if g.chance("exclusion", 4) {
		cols = append(cols, g.pick("excluded", "EXCLUDE (k WITH =)", "CONSTRAINT apart EXCLUDE USING gist (int4range(k, k + 1) WITH &&) WHERE (k > 0)",
			"EXCLUDE USING spgist (int8range(k, k) WITH &&) WITH (fillfactor = 80) DEFERRABLE INITIALLY DEFERRED"))
	}
	if len(others) > 0 && g.chance("foreign key", 2) {
		cols = append(cols, fmt.Sprintf("FOREIGN KEY (k) REFERENCES %s (k)%s%s", rapid.SampledFrom(others).Draw(g.t, "references"),
			g.pick("action", "", " ON DELETE CASCADE", " ON UPDATE SET NULL", " ON DELETE RESTRICT"),
			g.pick("deferrable", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED")))
	}
	out := []string{"CREATE TABLE " + name + " (" + strings.Join(cols, ", ") + ")" + g.pick("options", "", "", " WITH (fillfactor = 70)")}
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i := range rapid.IntRange(0, 3).Draw(g.t, "indexes") {
		c := g.pick("index column", perm...)
		switch rapid.IntRange(0, 5).Draw(g.t, "index kind") {
		case 0:
			add("CREATE INDEX ON %s (%s)", name, c)
		case 1:
			add("CREATE INDEX ON %s (%s DESC, k)", name, c)
		case 2:
			add("CREATE UNIQUE INDEX ON %s (k, %s) INCLUDE (%s)", name, c, perm[0])
		case 3:
			add("CREATE INDEX ON %s (k) WHERE %s IS NOT NULL", name, c)
		case 4:
			add("CREATE INDEX x%d ON %s ((k + %d), %s NULLS FIRST)", i, name, i, c)
			add("ALTER INDEX x%d ALTER COLUMN 1 SET STATISTICS %s", i, g.pick("target", "-1", "0", "30"))
		case 5:
			add("CREATE INDEX ON %s USING %s (k)", name, g.pick("method", "hash", "inverted", "gin ((ARRAY[k])) --"))
		}
	}
	if g.chance("comment", 3) {
		add("COMMENT ON TABLE %s IS '%s'", name, g.pick("text", "one", "it''s", "a\nb"))
	}
	if g.chance("comment", 3) {
		add("COMMENT ON COLUMN %s.k IS 'the key'", name)
	}
	return out
}
