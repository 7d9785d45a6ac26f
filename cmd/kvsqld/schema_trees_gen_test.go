package main

import "fmt"

// trees returns partitioned tables, tables that inherit, and tables among regions.
func (g *schemaGen) trees(schemas []string) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if g.chance("partitions", 3) {
		p := g.pick("in schema", schemas...) + ".parts"
		add("CREATE TABLE %s (k int NOT NULL, a %s, b text%s) PARTITION BY %s", p, g.pick("type", "int", "bigint DEFAULT 4"),
			g.pick("primary key", "", ", PRIMARY KEY (k)", ", CHECK (a > 0)"), g.pick("by", "LIST (k)", "RANGE (k)", "HASH (k)"))
		for i := range 3 {
			if g.chance("left out", 4) {
				continue
			}
			bound := g.pick("bound", fmt.Sprintf("FOR VALUES IN (%d, %d)", i*2, i*2+1), fmt.Sprintf("FOR VALUES FROM (%d) TO (%d)", i*10, i*10+10),
				fmt.Sprintf("FOR VALUES WITH (MODULUS 3, REMAINDER %d)", i), "DEFAULT")
			add("CREATE TABLE part%d PARTITION OF %s %s%s", i, p, bound, g.pick("below", "", "", " PARTITION BY LIST (b)"))
			if g.chance("default of its own", 4) {
				add("ALTER TABLE part%d ALTER b SET DEFAULT 'p'", i)
			}
			if g.chance("lower", 3) {
				add("CREATE TABLE low%d PARTITION OF part%d FOR VALUES IN ('x', NULL)", i, i)
			}
		}
		if g.chance("index", 2) {
			add("CREATE INDEX ON %s (%s)", p, g.pick("indexed", "a", "b, k DESC", "(k + 1)"))
		}
		if g.chance("foreign key", 3) {
			add("CREATE TABLE topart (k int REFERENCES %s%s)", p, g.pick("action", "", " ON DELETE CASCADE"))
		}
		if g.chance("comment", 3) {
			add("COMMENT ON TABLE %s IS 'has parts'", p)
		}
		if g.chance("detached", 5) {
			add("ALTER TABLE %s DETACH PARTITION part%s", p, g.pick("which", "0", "1"))
		}
	}
	if g.chance("inheritance", 4) {
		add("CREATE TABLE parent (k int NOT NULL, a text%s)", g.pick("check", "", ", CONSTRAINT pc CHECK (k > 0)", ", CONSTRAINT pc CHECK (k > 0) NO INHERIT"))
		add("CREATE TABLE child (%s) INHERITS (parent)", g.pick("more", "", "c int", "a text DEFAULT 'c'"))
		if g.chance("grandchild", 2) {
			add("CREATE TABLE grandchild (d int) INHERITS (child%s)", g.pick("also", "", ", parent"))
		}
	}
	if g.chance("regions", 4) {
		add("CREATE TABLE geo (k int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon'%s)", g.pick("size", "", ", region_size = '1 x 2'", ", region_rows = 100"))
		add("CREATE TABLE apoi (k int PRIMARY KEY, geo int NOT NULL REFERENCES geo)%s", g.pick("placed", "", " WITH (cluster_with = 'geo')"))
		if g.chance("index", 2) {
			add("CREATE INDEX ON apoi (geo)")
		}
	}
	return out
}

// notes returns comments, sequences and settings of roles and of the database.
func (g *schemaGen) notes(tables []string) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if g.chance("descending", 3) {
		add("CREATE SEQUENCE down AS %s INCREMENT -%s MAXVALUE 9 MINVALUE -%s START 3 CACHE %s%s", g.pick("type", "int", "bigint"), g.pick("by", "1", "2"), g.pick("to", "5", "70"),
			g.pick("cache", "1", "8"), g.pick("cycle", "", " CYCLE"))
		if g.chance("changed", 2) {
			add("ALTER SEQUENCE down %s", g.pick("change", "NO MINVALUE", "RESTART 4", "OWNER TO clerk", "START 5", "SET UNLOGGED"))
		}
	}
	t := g.pick("table", tables...)
	if g.chance("identity", 3) {
		add("ALTER TABLE %s ADD COLUMN i bigint GENERATED %s AS IDENTITY (%s)", t, g.pick("when", "ALWAYS", "BY DEFAULT"),
			g.pick("options", "INCREMENT 5 MAXVALUE 1000 CACHE 3", "INCREMENT -1 MINVALUE -10 CYCLE", "SEQUENCE NAME named START 4"))
		if g.chance("changed", 2) {
			add("ALTER TABLE %s ALTER i %s", t, g.pick("change", "SET GENERATED ALWAYS SET INCREMENT 7", "SET NO CYCLE RESTART 9", "DROP IDENTITY"))
		}
	}
	for range 2 {
		add("COMMENT ON %s IS %s", g.pick("object", "TYPE mood", "DOMAIN name_text", "SEQUENCE counter", "SEQUENCE down", "STATISTICS stat0", "PROCEDURE proc(int)", "DATABASE postgres",
			"MATERIALIZED VIEW m0", "COLUMN v0.x", "COLUMN m0.k", "CONSTRAINT positive ON "+t, "TABLE part0", "TYPE pair", "COLUMN pair.x", "SCHEMA public"), g.pick("text", "'one'", "E'a\\tb''c'", "NULL"))
	}
	if g.chance("attributes of a role", 3) {
		add("ALTER ROLE clerk %s", g.pick("attributes", "CREATEDB NOINHERIT", "SUPERUSER", "CONNECTION LIMIT 5", "BYPASSRLS CREATEROLE"))
	}
	if g.chance("setting of a role", 3) {
		add("ALTER ROLE %s%s SET %s", g.pick("whose", "clerk", "ALL"), g.pick("where", "", " IN DATABASE postgres"), g.pick("setting", "search_path = a, \"B c\"", "work_mem = '2MB'", "datestyle = 'german'"))
	}
	if g.chance("setting of the database", 4) {
		add("ALTER DATABASE postgres SET %s", g.pick("setting", "timezone = 'Europe/Paris'", "extra_float_digits = 0", "search_path = '\"$user\", public'"))
	}
	if g.chance("default privileges", 3) {
		add("ALTER DEFAULT PRIVILEGES %s GRANT %s TO %s", g.pick("whose", "", "FOR ROLE clerk", "FOR ROLE clerk IN SCHEMA public"),
			g.pick("what", "ALL ON SEQUENCES", "USAGE ON SCHEMAS", "EXECUTE ON FUNCTIONS", "INSERT, DELETE ON TABLES"), g.pick("to", "PUBLIC", `"Big Boss"`, "clerk WITH GRANT OPTION"))
	}
	if g.chance("granted by another", 4) {
		add("GRANT SELECT ON %s TO clerk WITH GRANT OPTION", t)
		add("SET ROLE clerk; GRANT SELECT ON %s TO PUBLIC; RESET ROLE", t)
		add("RESET ROLE")
	}
	if g.chance("owner of a schema", 4) {
		add(`ALTER SCHEMA "My Schema" OWNER TO clerk`)
		add(`ALTER TYPE mood OWNER TO "Big Boss"`)
		add("ALTER VIEW v0 OWNER TO clerk")
		add("ALTER DATABASE postgres OWNER TO %s", g.pick("owner", "clerk", `"Big Boss"`))
	}
	return out
}
