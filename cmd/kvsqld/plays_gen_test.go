package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// playGen makes random plays: a few tables with few rows, keys and references between
// them, and the steps of two or three sessions that meet on them. What PostgreSQL itself
// leaves open is not made: which of several rows a statement comes to first, and which of
// several sessions gets a lock that many wait for in different modes.
type playGen struct {
	r        *rand.Rand
	sessions []string
	opened   map[string]bool // sessions that have begun a block
	places   map[string]int  // savepoints of each session
	cursors  map[string]bool // sessions that have declared one; nil: none do
	child    bool            // the setup has a referencing table
	unique   bool            // t.k is
	deferred bool            // the key k, or the reference, can be deferred
	deletes  bool            // rows go, or get other keys (moves): then no row gets a key that one had before
	moves    bool
	reads    bool // each block begins with its snapshot; where it is opened when a table is waited for differs
	next     int  // the next key that no row has had
}

func (g *playGen) pick(list ...string) string { return list[g.r.Intn(len(list))] }

func (g *playGen) chance(percent int) bool { return g.r.Intn(100) < percent }

// setup returns the definitions of the tables and their rows.
func (g *playGen) setup() string {
	g.child = g.chance(60)
	g.deferred = g.chance(25)
	var b strings.Builder
	key := g.pick("UNIQUE", "UNIQUE", "UNIQUE", "UNIQUE", "", "CHECK (k > 0)", "EXCLUDE")
	if g.deferred && key == "UNIQUE" && g.chance(50) {
		key += " DEFERRABLE" // one that is deferred is checked at the commit, where the first one wins here
	}
	if key == "EXCLUDE" {
		b.WriteString("CREATE TABLE t (id int PRIMARY KEY, k int, v int, EXCLUDE (k WITH =));\n")
	} else {
		fmt.Fprintf(&b, "CREATE TABLE t (id int PRIMARY KEY, k int %s, v int);\n", key)
	}
	if g.unique = strings.HasPrefix(key, "UNIQUE"); g.chance(20) {
		b.WriteString("CREATE UNIQUE INDEX ON t (v) WHERE v > 90;\n")
	}
	if g.chance(25) {
		b.WriteString("CREATE INDEX ON t (v);\n")
	}
	b.WriteString("INSERT INTO t VALUES (1, 10, 0), (2, 20, 0), (3, 30, 1), (4, 40, 1);\n")
	if g.child {
		col := "id"
		if key == "UNIQUE" && g.chance(30) {
			col = "k"
		}
		actions := []string{"", "CASCADE", "SET NULL", "RESTRICT", "SET DEFAULT"}
		fk := "REFERENCES t (" + col + ")"
		if a := g.pick(actions...); a != "" {
			fk += " ON DELETE " + a
		}
		if a := g.pick(actions...); a != "" {
			fk += " ON UPDATE " + a
		}
		if g.deferred {
			fk += g.pick("", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED")
		}
		mul := 1
		if col == "k" {
			mul = 10
		}
		fmt.Fprintf(&b, "CREATE TABLE c (id int PRIMARY KEY, p int DEFAULT %d %s, w int);\n", mul, fk)
		if g.chance(50) {
			b.WriteString("CREATE INDEX ON c (p);\n")
		}
		fmt.Fprintf(&b, "INSERT INTO c VALUES (1, %d, 0), (2, %d, 0), (3, NULL, 0);\n", mul, 2*mul)
	}
	return b.String()
}

// play returns the steps: some statements of each session in a random order, and at the
// end of all the rows that there are.
func (g *playGen) play() string {
	g.sessions = []string{"a", "b", "c"}[:2+g.r.Intn(2)]
	g.opened, g.places = map[string]bool{}, map[string]int{}
	g.deletes, g.next = g.chance(50), 5
	g.moves = !g.deletes && g.chance(50)
	if g.cursors = nil; g.chance(30) {
		g.cursors = map[string]bool{}
	}
	var b strings.Builder
	g.reads = g.chance(40)
	for _, s := range g.sessions {
		if g.chance(80) {
			fmt.Fprintf(&b, "%s: BEGIN\n", s)
			g.opened[s] = true
			if g.reads || g.chance(20) {
				fmt.Fprintf(&b, "%s: SELECT count(*) FROM t\n", s)
			}
		}
	}
	for range 4 + g.r.Intn(8) {
		s := g.pick(g.sessions...)
		fmt.Fprintf(&b, "%s?: %s\n", s, g.step(s))
	}
	for range g.sessions {
		for _, s := range g.sessions {
			fmt.Fprintf(&b, "%s?: COMMIT\n", s)
		}
	}
	b.WriteString("z?: SELECT * FROM t\n")
	if g.child {
		b.WriteString("z?: SELECT * FROM c\n")
	}
	return b.String()
}

func (g *playGen) step(s string) string {
	if g.cursors != nil && g.opened[s] && g.chance(45) {
		return g.cursor(s)
	}
	switch n := g.r.Intn(100); {
	case n < 6:
		return g.pick("COMMIT", "COMMIT", "ROLLBACK")
	case n < 8 && !g.opened[s]:
		g.opened[s] = true
		return "BEGIN"
	case n < 14 && g.opened[s]:
		if g.places[s] > 0 && g.chance(60) {
			return g.pick("ROLLBACK TO p", "ROLLBACK TO p", "RELEASE p")
		}
		g.places[s]++
		return "SAVEPOINT p"
	case n < 17 && g.deferred && g.opened[s]:
		return "SET CONSTRAINTS ALL " + g.pick("IMMEDIATE", "DEFERRED")
	case n < 34:
		return g.read()
	case n < 52:
		return g.insert()
	case n < 75:
		return g.update()
	case n < 86 && g.deletes:
		return g.delete()
	case n < 92:
		return g.merge()
	case n < 95:
		if g.deletes && g.chance(40) {
			return "WITH d AS (" + g.delete() + " RETURNING *) SELECT * FROM d"
		}
		return "WITH d AS (" + g.update() + " RETURNING *) SELECT * FROM d"
	case g.child && n < 100: // a statement locks the tables that refer to its table when it begins
		return g.read()
	case n < 97 && g.reads:
		return "LOCK TABLE " + g.table() + " IN " + g.pick("ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE") + " MODE"
	case n < 98 && g.deletes && g.reads:
		return "TRUNCATE " + g.table() + " CASCADE"
	case g.reads && g.cursors == nil: // an open cursor keeps its session from more definitions than PostgreSQL's
		return g.definition()
	default:
		return g.read()
	}
}

// cursor declares a cursor, or uses the one that the session has.
func (g *playGen) cursor(s string) string {
	if !g.cursors[s] {
		g.cursors[s] = true
		q := "DECLARE q " + g.pick("", "", "SCROLL ", "NO SCROLL ") + "CURSOR FOR SELECT * FROM t"
		if g.chance(40) {
			q += fmt.Sprintf(" WHERE id > %d", g.r.Intn(3))
		}
		q += " ORDER BY id"
		if !strings.Contains(q, " SCROLL") || strings.Contains(q, "NO SCROLL") {
			q += g.pick("", "", " FOR UPDATE", " FOR SHARE", " FOR UPDATE SKIP LOCKED", " FOR NO KEY UPDATE NOWAIT")
		}
		return q
	}
	return g.pick("FETCH q", "FETCH q", "FETCH 2 FROM q", "FETCH ALL q", "MOVE q", "FETCH PRIOR FROM q", "FETCH FIRST FROM q",
		"UPDATE t SET v = v + 1 WHERE CURRENT OF q", "UPDATE t SET v = v + 1 WHERE CURRENT OF q RETURNING *", "CLOSE q")
}

func (g *playGen) table() string {
	if g.child && g.chance(40) {
		return "c"
	}
	return "t"
}

func (g *playGen) definition() string {
	return g.pick("ALTER TABLE t ADD COLUMN IF NOT EXISTS x int DEFAULT 5", "ALTER TABLE t ADD CHECK (v < 1000)",
		"ALTER TABLE t ALTER v SET DEFAULT 3", "DROP INDEX IF EXISTS t_v_idx")
}

// key is a row's key: one that no row has had if rows may have been deleted, since one that
// was deleted and inserted again is another row to PostgreSQL.
func (g *playGen) key(n int) int {
	if !g.deletes && !g.moves {
		return 1 + g.r.Intn(n)
	}
	g.next++
	return g.next - 1
}

// moved gives a row another key, where no rows are deleted: who waits for a row that is
// gone runs again on a newer snapshot if others have moved rows meanwhile.
func (g *playGen) moved(n int) string {
	switch {
	case !g.moves:
		return "id = id"
	case g.chance(30):
		return fmt.Sprintf("id = %d", 1+g.r.Intn(4))
	}
	return fmt.Sprintf("id = %d", g.key(n))
}

// one is a condition that at most one row meets, or one that a session's change may make
// another one meet.
func (g *playGen) one() string {
	how := g.r.Intn(8)
	if g.child { // who deletes what others may refer to, and had to wait, sees newer rows
		how = 0
	}
	switch how {
	case 0, 1, 2, 3:
		return fmt.Sprintf("id = %d", 1+g.r.Intn(5))
	case 4, 5:
		return fmt.Sprintf("k = %d", 10*(1+g.r.Intn(5)))
	case 6:
		return fmt.Sprintf("id = %d AND v = %d", 1+g.r.Intn(4), g.r.Intn(3))
	default:
		return fmt.Sprintf("id = %d AND k < %d", 1+g.r.Intn(4), 10*(1+g.r.Intn(6)))
	}
}

func (g *playGen) ref() string { return g.pick("1", "2", "3", "10", "20", "30", "NULL", "5", "50") }

func (g *playGen) read() string {
	lock := g.pick("", "", " FOR UPDATE", " FOR UPDATE", " FOR NO KEY UPDATE", " FOR SHARE", " FOR KEY SHARE")
	if lock != "" {
		lock += g.pick("", "", "", " NOWAIT", " SKIP LOCKED")
	}
	switch g.r.Intn(6) {
	case 0:
		if lock == "" {
			return g.pick("SELECT * FROM t", "SELECT sum(v) FROM t WHERE k >= 20", "SELECT count(*) FROM t WHERE v = 1", "SELECT max(id) FROM t WHERE v < 5")
		}
	case 1:
		if g.child {
			if lock == "" {
				return "SELECT * FROM c"
			}
			return fmt.Sprintf("SELECT * FROM c WHERE id = %d%s", 1+g.r.Intn(4), lock)
		}
	}
	return "SELECT * FROM t WHERE " + g.one() + lock
}

func (g *playGen) insert() string {
	if g.child && g.chance(35) {
		q := fmt.Sprintf("INSERT INTO c VALUES (%d, %s, %d)", g.key(6), g.ref(), g.r.Intn(10))
		return q + g.pick("", "", " ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO UPDATE SET p = excluded.p, w = c.w + 1 RETURNING *", " RETURNING *")
	}
	row := func() string {
		return fmt.Sprintf("(%d, %s, %d)", g.key(7), g.pick("10", "20", "30", "40", "50", "60", "NULL"), g.pickInt(0, 1, 2, 91, 92))
	}
	q := "INSERT INTO t VALUES " + row()
	how := g.r.Intn(8)
	if how == 3 && g.chance(50) { // else of several rows the first that fails decides, or who has to be waited for
		q += ", " + row()
	}
	if !g.unique && how == 6 || g.deferred && how == 3 {
		how = 0
	}
	switch how {
	case 3:
		q += " ON CONFLICT DO NOTHING"
	case 4:
		q += " ON CONFLICT (id) DO NOTHING RETURNING *"
	case 5:
		q += " ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v + 1" + g.pick("", " WHERE t.v < 2", " RETURNING *")
	case 6:
		q += " ON CONFLICT (k) DO UPDATE SET v = t.v + 10" + g.pick("", ", id = excluded.id", " WHERE t.id <> excluded.id")
	case 7:
		q = fmt.Sprintf("INSERT INTO t SELECT %d, k + %d, v FROM t WHERE %s", g.key(7), g.pickInt(1, 10, 40), g.one())
	}
	return q
}

func (g *playGen) pickInt(list ...int) int { return list[g.r.Intn(len(list))] }

func (g *playGen) update() string {
	if g.child && g.chance(25) {
		return fmt.Sprintf("UPDATE c SET %s WHERE id = %d", g.pick("w = w + 1", "p = "+g.ref(), g.moved(6)), 1+g.r.Intn(4))
	}
	set := g.pick("v = v + 1", "v = v + 1", "v = v + 1", "v = 91", "k = k + 1", fmt.Sprintf("k = %d", 10*(1+g.r.Intn(6))), g.moved(7), "id = id", "k = NULL")
	// What else a statement reads is as of its beginning, but where rows were moved.
	if !g.moves && g.chance(15) {
		set = g.pick("v = (SELECT count(*) FROM t)", "v = v + (SELECT max(v) FROM t)")
	}
	q := "UPDATE t SET " + set
	how := g.r.Intn(10)
	if g.moves && how != 1 {
		how = 3
	}
	switch how {
	case 0:
		return q + fmt.Sprintf(" WHERE id = (SELECT max(id) FROM t WHERE v <= %d)", g.r.Intn(3))
	case 1:
		return q + fmt.Sprintf(" FROM (VALUES (%d, 1)) AS n (i, j) WHERE t.id = n.i", 1+g.r.Intn(4))
	case 2:
		if g.child {
			return q + fmt.Sprintf(" WHERE EXISTS (SELECT FROM c WHERE c.p = t.id AND c.id = %d)", 1+g.r.Intn(2))
		}
	}
	return q + " WHERE " + g.one()
}

func (g *playGen) delete() string {
	if g.child && g.chance(25) {
		return fmt.Sprintf("DELETE FROM c WHERE id = %d", 1+g.r.Intn(4))
	}
	return "DELETE FROM t WHERE " + g.one()
}

func (g *playGen) merge() string {
	q := fmt.Sprintf("MERGE INTO t USING (VALUES (%d, %d)) AS n (i, j) ON t.%s", 1+g.r.Intn(6), 10*(1+g.r.Intn(6)), g.pick("id = n.i", "k = n.j"))
	if g.chance(50) {
		q += g.pick(" WHEN MATCHED THEN UPDATE SET v = v + 1", " WHEN MATCHED THEN UPDATE SET k = n.j")
	} else if g.deletes {
		q += g.pick(" WHEN MATCHED AND v > 0 THEN DELETE", " WHEN MATCHED AND v = 0 THEN UPDATE SET v = 7 WHEN MATCHED THEN DELETE")
	}
	if (g.deletes || g.moves) && (!strings.Contains(q, "WHEN") || g.chance(40)) {
		q += fmt.Sprintf(" WHEN NOT MATCHED THEN INSERT VALUES (%d, n.j, 0)", g.key(0))
	} else if g.chance(60) || !strings.Contains(q, "WHEN") {
		q += " WHEN NOT MATCHED THEN INSERT VALUES (n.i, n.j, 0)"
	}
	return q
}
