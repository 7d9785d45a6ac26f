package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
)

// talkGen makes random conversations: statements and portals with and without names,
// parameters and results of both formats, statements that end in errors at each stage,
// blocks, COPY, cursors, and messages where no client sends them.
type talkGen struct {
	r *rand.Rand
}

func newTalkGen(seed int64) *talkGen { return &talkGen{rand.New(rand.NewSource(seed))} }

func (g *talkGen) pick(list ...string) string { return list[g.r.Intn(len(list))] }

func (g *talkGen) chance(percent int) bool { return g.r.Intn(100) < percent }

func (g *talkGen) conversation() conversation {
	var c conversation
	for range 2 + g.r.Intn(7) {
		c = append(c, g.part())
	}
	return c
}

// part is one to three rounds, sent at once.
func (g *talkGen) part() []frontendMessage {
	var part []frontendMessage
	for range 1 + g.r.Intn(3) {
		if g.chance(30) {
			part = append(part, g.simple()...)
		} else {
			part = append(part, g.extended()...)
		}
	}
	return part
}

// plain are statements without parameters, for both protocols.
func (g *talkGen) plain() string {
	switch g.r.Intn(12) {
	case 0, 1:
		return g.pick("BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "END", "ABORT", "START TRANSACTION READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ",
			"COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "SAVEPOINT b", "PREPARE TRANSACTION 'x'")
	case 2:
		return g.pick("SELECT nothing", "SELECT * FROM nowhere", "SELEC 1", "SELECT 'a'::int", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (9, 'x')",
			"SELECT 100/(x - 3) FROM generate_series(1, 5) x", "SELECT 'x' || 1 +", "INSERT INTO u VALUES (1, 1000)", "INSERT INTO u (b) VALUES (NULL)",
			"SELECT f(x - 3) FROM generate_series(1, 5) x", "DROP TABLE nowhere", "SELECT 1 LIMIT -1", "SELECT id FROM t WHERE id = ANY('{x}')", "CREATE TABLE t (a int)", "SELECT $1", "SELECT 1; SELECT 2")
	case 3:
		return g.pick("SELECT * FROM t ORDER BY id", "SELECT id FROM t WHERE id > 2 ORDER BY id", "TABLE t ORDER BY id", "VALUES (1, 'a'), (2, NULL)", "SELECT", "SELECT FROM t",
			"SELECT generate_series(1, 3)", "SELECT n, s FROM t ORDER BY id DESC LIMIT 2", "SELECT NULL, true, 1.50, 'x'::varchar(3), now() IS NULL",
			"SELECT count(*), sum(n), max(s) FROM t", "SELECT id AS \"a b\", n + 1, s::char(4) FROM t WHERE id < 3 ORDER BY 1", "SELECT ARRAY[1, 2], '{\"a\": 1}'::jsonb, interval '1 day'")
	case 4:
		return g.pick("INSERT INTO t VALUES (5, 50, 'five')", "INSERT INTO t (id) VALUES (6), (7) RETURNING id, n", "UPDATE t SET n = n + 1 WHERE id < 3", "DELETE FROM t WHERE id = 4 RETURNING *",
			"UPDATE t SET s = NULL", "INSERT INTO t SELECT id + 10, n, s FROM t", "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
			"MERGE INTO t USING (VALUES (1), (8)) v(i) ON id = i WHEN MATCHED THEN UPDATE SET n = 0 WHEN NOT MATCHED THEN INSERT (id) VALUES (i)",
			"INSERT INTO u VALUES (1, 2.345, '2020-01-31')", "INSERT INTO u VALUES (1)", "SELECT * FROM u ORDER BY k", "DELETE FROM u", "WITH x AS (DELETE FROM t WHERE id = 3 RETURNING id) SELECT * FROM x")
	case 5:
		return g.pick("DECLARE c CURSOR FOR SELECT * FROM t ORDER BY id", "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT id FROM t ORDER BY id", "FETCH 2 FROM c", "FETCH ALL c", "MOVE 1 c", "FETCH -1 FROM c",
			"CLOSE c", "CLOSE ALL", "DECLARE c BINARY CURSOR FOR SELECT id, s FROM t ORDER BY id", "FETCH 0 FROM c", "UPDATE t SET n = 1 WHERE CURRENT OF c")
	case 6:
		return g.pick("PREPARE q AS SELECT 1", "PREPARE q (int) AS SELECT id, n FROM t WHERE id = $1", "EXECUTE q", "EXECUTE q (2)", "EXECUTE q ('x')", "DEALLOCATE q", "DEALLOCATE ALL", "PREPARE s1 AS SELECT 7", "EXECUTE s1",
			"EXECUTE s2 (1)", "DEALLOCATE s1", "DISCARD ALL", "DISCARD PLANS")
	case 7:
		return g.pick("SET search_path = public", "SET application_name = 'talk'", "SHOW search_path", "RESET ALL", "SET LOCAL application_name = 'x'", "SET nothing = 1", "SET statement_timeout = 'x'", "SHOW application_name",
			"SET TIME ZONE 'Europe/Berlin'", "SET DateStyle = 'German'", "SET client_encoding = 'UTF8'", "SET client_min_messages = error", "SET standard_conforming_strings = on",
			"SET bytea_output = escape", "SET extra_float_digits = 0", "SET intervalstyle = iso_8601", "SELECT set_config('application_name', 'y', false)", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
			"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET CONSTRAINTS ALL IMMEDIATE", "SET ROLE postgres")
	case 8:
		return g.pick("CREATE TABLE x (a int)", "DROP TABLE x", "DROP TABLE IF EXISTS x", "CREATE TABLE IF NOT EXISTS t (a int)", "ALTER TABLE t ADD COLUMN z int DEFAULT 5", "ALTER TABLE t DROP COLUMN s", "ALTER TABLE t ALTER n TYPE int8",
			"TRUNCATE t", "CREATE TEMP TABLE x AS SELECT * FROM t", "CREATE INDEX ON t (n)", "CREATE INDEX CONCURRENTLY ON t (n)", "VACUUM t", "ALTER TABLE t RENAME n TO m", "CREATE VIEW v AS SELECT * FROM t", "COMMENT ON TABLE t IS 'x'",
			"SELECT * INTO x FROM t", "CREATE SEQUENCE q", "SELECT nextval('q')", "ANALYZE t", "LOCK TABLE t")
	case 9:
		return g.pick("LISTEN ch", "NOTIFY ch, 'hello'", "UNLISTEN *", "SELECT pg_notify('ch', 'x')", "CALL p(1)", "CALL p('x')", "CREATE DATABASE postgres", "CHECKPOINT",
			"SELECT pg_backend_pid() > 0", "SELECT current_setting('nothing')")
	case 10:
		return g.pick("COPY (TABLE w ORDER BY a, b, c) TO STDOUT"+g.copyOptions(false), "COPY w TO STDOUT"+g.copyOptions(false), "COPY (TABLE t ORDER BY id) TO STDOUT", "COPY p TO STDOUT", "COPY (SELECT id, s FROM t ORDER BY id) TO STDOUT (FORMAT csv, HEADER)", "COPY (SELECT id, n FROM t ORDER BY id) TO STDOUT (FORMAT binary)", "COPY (SELECT 100/(x - 3) FROM generate_series(1, 5) x) TO STDOUT", "COPY nowhere TO STDOUT")
	}
	return g.pick("", "  ", "-- nothing", "SELECT 1", "SELECT 'x' AS y", "SELECT f(5)", ";")
}

// copies are statements that ask for data.
func (g *talkGen) copies() string {
	if g.chance(60) {
		return "COPY " + g.pick("w", "w", "w (a, b)", "w (c)", "w (c, a)") + " FROM STDIN" + g.copyOptions(true)
	}
	return g.pick("COPY t FROM STDIN", "COPY t (id, n) FROM STDIN (FORMAT csv)", "COPY t (id, s) FROM STDIN (DELIMITER '|', NULL 'x')", "COPY u (k, v) FROM STDIN", "COPY nowhere FROM STDIN", "COPY t (id, n) FROM STDIN (FORMAT binary)",
		"COPY t (id) FROM STDIN WHERE id > 21")
}

// copyOptions are options of COPY FROM and COPY TO, right or wrong.
func (g *talkGen) copyOptions(from bool) string {
	list := []string{}
	add := func(percent int, options ...string) {
		if g.chance(percent) {
			list = append(list, g.pick(options...))
		}
	}
	add(60, "FORMAT csv", "FORMAT csv", "FORMAT text")
	add(25, "DELIMITER '|'", "DELIMITER ','", "DELIMITER 'a'", "DELIMITER ';'", "DELIMITER '\"'")
	add(25, "NULL ''", "NULL 'x'", "NULL 'N'", "NULL '\"\"'")
	add(20, "HEADER", "HEADER match", "HEADER false")
	add(15, "QUOTE ''''", "QUOTE 'x'")
	add(15, "ESCAPE '\\'", "ESCAPE 'x'")
	if from {
		add(12, "FORCE_NOT_NULL (a)", "FORCE_NOT_NULL (b, a)", "FORCE_NULL (a)", "FORCE_NULL (b)")
	} else {
		add(12, "FORCE_QUOTE *", "FORCE_QUOTE (a)")
	}
	add(5, "ENCODING 'UTF8'", "ENCODING 'LATIN1'", "FREEZE false", "OIDS")
	if len(list) == 0 {
		return ""
	}
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return " (" + strings.Join(list, ", ") + ")"
}

// line is made of what the options of COPY tell apart.
func (g *talkGen) line() string {
	var b strings.Builder
	for range g.r.Intn(9) {
		b.WriteString(g.pick("a", "b", "1", "22", ",", ",", "|", "\t", "\t", "\"", "\"", "\"\"", "\\", "\\N", "\\.", "\\n", "\\x41", "\\101", "'", "x", ";", "é", " ", "N", "\n", "\r", "c"))
	}
	b.WriteString(g.pick("\n", "\n", "\n", "\n", "\n", "\r\n", "\r", ""))
	return b.String()
}

// data is what a client sends into a COPY, right or wrong.
func (g *talkGen) data(binaryForm bool) []frontendMessage {
	var list []frontendMessage
	for range g.r.Intn(4) {
		line := g.pick("21\t1\tx\n", "22\t\\N\t\\N\n", "23,5\n", "24,\n", "25|x\n", "26|y\n", "27\t9.999\n", "28\n", "x\n", "1\t1\t1\n", "29\t1\tun", "fin\n", "\\.\n", "30\t1000\n", "")
		if g.chance(60) {
			line = g.line()
		}
		if binaryForm && g.chance(90) {
			line = g.pick("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x02\x00\x00\x00\x04\x00\x00\x00\x1f\xff\xff\xff\xff", "\xff\xff", "\x00\x01")
		}
		list = append(list, frontendMessage{fmt.Sprintf("CopyData %q", line), message('d', line)})
	}
	switch n := g.r.Intn(20); {
	case n < 15:
		list = append(list, frontendMessage{"CopyDone", message('c', "")})
	case n < 18:
		list = append(list, frontendMessage{"CopyFail", message('f', "no more\x00")})
	case n < 19:
		list = append(list, g.flush())
	}
	return list
}

func (g *talkGen) flush() frontendMessage { return frontendMessage{"Flush", message('H', "")} }

func (g *talkGen) sync() frontendMessage { return frontendMessage{"Sync", message('S', "")} }

// simple is a query of one or more statements; it is never quite empty, as the end of a
// part is known by that.
func (g *talkGen) simple() []frontendMessage {
	var texts []string
	for range 1 + g.r.Intn(3)*g.r.Intn(2) {
		if q := strings.Trim(g.plain(), " ;"); !empty(q) {
			texts = append(texts, q)
		}
	}
	if len(texts) == 0 {
		texts = []string{"SELECT 2"}
	}
	copying := g.chance(12)
	if copying {
		texts = append(texts, g.copies())
		if g.chance(40) {
			texts = append(texts, "SELECT 3")
		}
	}
	q := strings.Join(texts, "; ")
	list := []frontendMessage{{"Query " + q, message('Q', q+"\x00")}}
	if copying {
		list = append(list, g.data(strings.HasSuffix(q, "STDIN (FORMAT binary)"))...)
	}
	return list
}

// withParams are statements with parameters and how many they have.
var withParams = []struct {
	sql string
	n   int
}{
	{"SELECT $1::int + 1", 1}, {"SELECT $1", 1}, {"SELECT $1::text, $2::int[]", 2}, {"SELECT id, n FROM t WHERE id = $1", 1}, {"INSERT INTO t VALUES ($1, $2, $3) RETURNING *", 3},
	{"UPDATE t SET n = $1 WHERE id = $2", 2}, {"SELECT 100 / (x - $1) FROM generate_series(1, 5) x", 1}, {"SELECT generate_series(1, $1)", 1}, {"SELECT * FROM t WHERE id > $1 ORDER BY id", 1}, {"DELETE FROM t WHERE s = $1", 1},
	{"SELECT $1::numeric, $2::date, $3::bool", 3}, {"SELECT $2::int", 2}, {"SELECT * FROM t ORDER BY id LIMIT $1", 1}, {"INSERT INTO u (k) VALUES ($1)", 1}, {"SELECT $1::jsonb, $2::uuid", 2},
	{"SELECT $1 = $2", 2}, {"SELECT n FROM t WHERE id IN ($1, $2) ORDER BY n", 2}, {"SELECT f(x - $1) FROM generate_series(1, 5) x", 1}, {"SELECT $1::float8, $1", 1}, {"VALUES ($1::int, 'a'), (2, $2)", 2}, {"SELECT nothing($1)", 1}, {"SELECT $1::bytea", 1},
	{"SELECT $1::timestamptz AT TIME ZONE 'UTC', $2::interval", 2}, {"CALL p($1)", 1},
}

func (g *talkGen) statementName() string { return g.pick("", "", "s1", "s2") }

func (g *talkGen) portalName() string { return g.pick("", "", "", "p1", "c") }

// extended is a round of the extended protocol, most often a whole one.
func (g *talkGen) extended() []frontendMessage {
	var list []frontendMessage
	name, portal := g.statementName(), g.portalName()
	n, copying, binaryForm := 0, false, false
	if g.chance(85) {
		sql := g.plain()
		if g.chance(55) {
			s := withParams[g.r.Intn(len(withParams))]
			sql, n = s.sql, s.n
		} else if g.chance(12) {
			sql, copying = g.copies(), true
			binaryForm = strings.Contains(sql, "binary")
		}
		list = append(list, g.parse(name, sql, n))
	}
	if g.chance(20) {
		list = append(list, g.describe('S', name))
	}
	if g.chance(8) {
		list = append(list, g.sync())
	}
	for range 1 + g.r.Intn(2)*g.r.Intn(2) {
		if portal == "" || g.chance(90) { // one without a name may be that of a simple query
			list = append(list, g.bind(portal, name, n))
		}
		if g.chance(60) {
			list = append(list, g.describe('P', portal))
		}
		for range 1 + g.r.Intn(2)*g.r.Intn(2) {
			list = append(list, g.execute(portal))
			if copying {
				list = append(list, g.data(binaryForm)...)
			}
			if g.chance(5) {
				list = append(list, g.sync())
			}
		}
	}
	if g.chance(8) {
		list = append(list, g.closing())
	}
	if g.chance(6) {
		list = append(list, g.flush())
	}
	if g.chance(3) {
		list = append(list, g.call())
	}
	if g.chance(88) {
		list = append(list, g.sync())
	}
	return list
}

func (g *talkGen) parse(name, sql string, n int) frontendMessage {
	body := name + "\x00" + sql + "\x00"
	types := []uint32{}
	if g.chance(25) && !empty(sql) {
		for range g.r.Intn(n + 2) {
			types = append(types, []uint32{0, 0, 23, 23, 705}[g.r.Intn(5)])
		}
	}
	body += be16(len(types))
	for _, t := range types {
		body += string(binary.BigEndian.AppendUint32(nil, t))
	}
	return frontendMessage{fmt.Sprintf("Parse %q %s %v", name, sql, types), message('P', body)}
}

func (g *talkGen) bind(portal, name string, n int) frontendMessage {
	body := portal + "\x00" + name + "\x00"
	if g.chance(4) {
		n = max(0, n+g.r.Intn(3)-1)
	}
	formats := []uint16{}
	switch g.r.Intn(8) {
	case 0:
		formats = []uint16{1}
	case 1:
		for range n {
			formats = append(formats, uint16(g.r.Intn(2)))
		}
	case 2:
		formats = []uint16{0}
	case 3:
		if g.chance(20) {
			formats = []uint16{uint16(g.r.Intn(3)), 1, 0}
		}
	}
	var b strings.Builder
	b.WriteString(be16(len(formats)))
	for _, f := range formats {
		b.WriteString(be16(int(f)))
	}
	b.WriteString(be16(n))
	var values []string
	for i := range n {
		binaryForm := len(formats) == 1 && formats[0] == 1 || len(formats) > i && formats[i] == 1
		v := g.pick("1", "2", "3", "0", "-1", "7", "one", "", "x", "2020-02-29", "1.5", "{1,2}", "t", "NULL", "99999999999", " 4 ", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
		if binaryForm {
			v = g.pick("\x00\x00\x00\x01", "\x00\x00\x00\x02", "\x00\x00\x00\x03", "\x00\x00\x00\x00\x00\x00\x00\x05", "\x01", "", "abc", "NULL", "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05", "\xff")
		}
		values = append(values, v)
		if v == "NULL" {
			b.WriteString("\xff\xff\xff\xff")
			continue
		}
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(v))))
		b.WriteString(v)
	}
	results := []uint16{}
	switch g.r.Intn(6) {
	case 0:
		results = []uint16{1}
	case 1:
		results = []uint16{0}
	case 2:
		if g.chance(30) {
			for range 1 + g.r.Intn(3) {
				results = append(results, uint16(g.r.Intn(2)))
			}
		}
	}
	b.WriteString(be16(len(results)))
	for _, f := range results {
		b.WriteString(be16(int(f)))
	}
	return frontendMessage{fmt.Sprintf("Bind %q %q %v %q %v", portal, name, formats, values, results), message('B', body+b.String())}
}

func (g *talkGen) describe(kind byte, name string) frontendMessage {
	if g.chance(3) {
		name = "none"
	}
	return frontendMessage{fmt.Sprintf("Describe %c %q", kind, name), message('D', string(kind)+name+"\x00")}
}

func (g *talkGen) execute(portal string) frontendMessage {
	limit := []uint32{0, 0, 0, 1, 2, 3, 100, 1<<32 - 1}[g.r.Intn(8)]
	return frontendMessage{fmt.Sprintf("Execute %q %d", portal, int32(limit)), message('E', portal+"\x00"+string(binary.BigEndian.AppendUint32(nil, limit)))}
}

func (g *talkGen) closing() frontendMessage {
	kind, name := "S", g.statementName()
	if g.chance(50) {
		kind, name = "P", g.portalName()
	}
	return frontendMessage{fmt.Sprintf("Close %s %q", kind, name), message('C', kind+name+"\x00")}
}

// call is a call of int4pl, int4div or of no function by its number.
func (g *talkGen) call() frontendMessage {
	fn := []uint32{177, 154, 99999}[g.r.Intn(3)]
	b := string(binary.BigEndian.AppendUint32(nil, fn))
	form := g.r.Intn(2)
	args := []string{"7", g.pick("0", "2", "x", "")}
	if form == 1 {
		args = []string{"\x00\x00\x00\x05", g.pick("\x00\x00\x00\x00", "\x00\x00\x00\x02", "\x02", "")}
	}
	b += be16(1) + be16(form) + be16(len(args))
	for _, a := range args {
		b += string(binary.BigEndian.AppendUint32(nil, uint32(len(a)))) + a
	}
	b += be16(g.r.Intn(2))
	return frontendMessage{fmt.Sprintf("FunctionCall %d %d %q", fn, form, args), message('F', b)}
}

// empty reports whether one of the texts above has no statement.
func empty(sql string) bool {
	sql = strings.Trim(sql, " ;")
	return sql == "" || strings.HasPrefix(sql, "--")
}

func be16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
