package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestBinaryForms copies values of all types, and arrays of them, out in binary from both
// servers, and what PostgreSQL wrote into both: the bytes and the texts are the same.
func TestBinaryForms(t *testing.T) {
	ctx := context.Background()
	own := &script{t: t, connect: startServer(t, storage.Options{Store: "mem"}).connect, conns: map[string]*pgconn.PgConn{}}
	ref := &script{t: t, connect: postgresScratch(t), conns: map[string]*pgconn.PgConn{}}
	defer own.close()
	defer ref.close()
	a, b := own.conn(ctx, ""), ref.conn(ctx, "")
	for _, m := range matrixTypes {
		if m.in == nil {
			continue
		}
		var texts []string
		for _, in := range m.in {
			texts = append(texts, "'"+strings.ReplaceAll(in, "'", "''")+"'")
		}
		// Each text is read by itself: an array of texts keeps the spaces of none.
		list := "SELECT " + strings.Join(texts, "::"+m.name+" AS x UNION ALL SELECT ") + "::" + m.name
		for _, form := range []struct{ typ, rows string }{
			{m.name, list + " UNION ALL SELECT NULL"},
			{m.name + "[]", "SELECT array_agg(x) || NULL AS x FROM (" + list + ") q UNION ALL SELECT '{}'"},
		} {
			if m.name == "jsonpath" && form.typ != m.name {
				continue // || NULL is ambiguous
			}
			got, err1 := binaryOut(ctx, a, form.rows)
			want, err2 := binaryOut(ctx, b, form.rows)
			if fmt.Sprint(err1) != fmt.Sprint(err2) || !bytes.Equal(got, want) {
				t.Errorf("%s out: %q, %v\nPostgreSQL: %q, %v", form.typ, got, err1, want, err2)
				continue
			}
			if err2 != nil || strings.HasSuffix(form.typ, "vector") {
				continue // PostgreSQL does not read the empty vector that it writes
			}
			read, wanted := binaryIn(t, ctx, a, form.typ, want), binaryIn(t, ctx, b, form.typ, want)
			if read != wanted {
				t.Errorf("%s in: %s\nPostgreSQL: %s", form.typ, read, wanted)
			}
		}
	}
}

func binaryOut(ctx context.Context, c *pgconn.PgConn, query string) ([]byte, error) {
	var out bytes.Buffer
	_, err := c.CopyTo(ctx, &out, "COPY ("+query+") TO STDOUT (FORMAT binary)")
	return out.Bytes(), err
}

// binaryIn has a new table take the data and returns its rows as texts, in their order.
func binaryIn(t *testing.T, ctx context.Context, c *pgconn.PgConn, typ string, data []byte) string {
	t.Helper()
	setup := "DROP TABLE IF EXISTS binary_in; CREATE TABLE binary_in (n int GENERATED ALWAYS AS IDENTITY, x " + typ + ")"
	if err := c.Exec(ctx, setup).Close(); err != nil {
		t.Fatal(typ, err)
	}
	if _, err := c.CopyFrom(ctx, bytes.NewReader(data), "COPY binary_in (x) FROM STDIN (FORMAT binary)"); err != nil {
		return err.Error()
	}
	res, err := c.Exec(ctx, "SELECT x::text FROM binary_in ORDER BY n").ReadAll()
	if err != nil {
		t.Fatal(typ, err)
	}
	var out strings.Builder
	for _, r := range res[0].Rows {
		fmt.Fprintf(&out, "%q ", r[0])
	}
	return out.String()
}

// TestBinaryRowsTellDomains sees the types of attributes in the binary form of rows: a
// domain is named itself, though the value is one of the type below. Drivers that know
// the composite type refuse another one.
func TestBinaryRowsTellDomains(t *testing.T) {
	ctx := context.Background()
	servers := map[string]connector{"kvsqld": startServer(t, storage.Options{Store: "mem"}).connect, "PostgreSQL": postgresScratch(t)}
	for name, connect := range servers {
		s := &script{t: t, connect: connect, conns: map[string]*pgconn.PgConn{}}
		defer s.close()
		c := s.conn(ctx, "")
		res, err := c.Exec(ctx, `CREATE DOMAIN sent AS numeric; CREATE TYPE sent_row AS (a text, b sent);
			CREATE TABLE sent_rows (a sent, dropped int, r sent_row); ALTER TABLE sent_rows DROP COLUMN dropped;
			INSERT INTO sent_rows VALUES (1, ('x', 2)); SELECT 'sent'::regtype::oid::text`).ReadAll()
		if err != nil {
			t.Fatal(name, err)
		}
		var oid uint32
		fmt.Sscan(string(res[len(res)-1].Rows[0][0]), &oid)
		for query, times := range map[string]int{
			"SELECT r FROM sent_rows":                                  1,
			"SELECT s FROM sent_rows s":                                2,
			"SELECT array[r, r] FROM sent_rows":                        2,
			"SELECT row(s, r) FROM sent_rows s":                        3,
			"SELECT row('y', 3)::sent_row FROM generate_series(1, 10)": 10,
		} {
			out, err := binaryOut(ctx, c, query)
			if n := bytes.Count(out, binary.BigEndian.AppendUint32(nil, oid)); err != nil || n != times {
				t.Errorf("%s: %s: the domain is named %d times, not %d (%v)", name, query, n, times, err)
			}
		}
	}
}

// TestBinaryValuesAreOfTheirDomains reads binary forms whose parts a domain has come to
// refuse, as those that a client makes may be.
func TestBinaryValuesAreOfTheirDomains(t *testing.T) {
	ctx := context.Background()
	queries := []string{ // the type of each is that of its column
		"SELECT '{0}'::got_ints", "SELECT array['{0}'::got_ints]", "SELECT '{0}'::got_one[]", "SELECT array['{0}'::got_ones]",
		"SELECT '{0}'::got_ones", "SELECT '(0,,,)'::got_row", "SELECT '(,{0},,)'::got_row", "SELECT '(,,{0},)'::got_row", "SELECT array['(0,,,)'::got_row]",
		"SELECT '(,,,\"[0,5)\")'::got_row", "SELECT '[0,5)'::got_range", "SELECT array['[0,5)'::got_range]", "SELECT '(1,{1},{1},\"[1,5)\")'::got_row",
	}
	typs := []string{"got_ints", "got_ints[]", "got_one[]", "got_ones[]", "got_ones", "got_row", "got_row", "got_row", "got_row[]",
		"got_row", "got_range", "got_range[]", "got_row"}
	answers := map[string][]string{}
	for name, connect := range map[string]connector{"kvsqld": startServer(t, storage.Options{Store: "mem"}).connect, "PostgreSQL": postgresScratch(t)} {
		s := &script{t: t, connect: connect, conns: map[string]*pgconn.PgConn{}}
		defer s.close()
		c := s.conn(ctx, "")
		exec := func(sql string) {
			t.Helper()
			if err := c.Exec(ctx, sql).Close(); err != nil {
				t.Fatal(name, err)
			}
		}
		exec(`CREATE DOMAIN got_ints AS int[]; CREATE DOMAIN got_one AS int; CREATE DOMAIN got_ones AS got_one[];
			CREATE TYPE got_range AS RANGE (subtype = got_one);
			CREATE TYPE got_row AS (a got_one, b got_ones, c got_ints, d got_range)`)
		var data [][]byte
		for i, q := range queries {
			out, err := binaryOut(ctx, c, "SELECT x::"+typs[i]+" FROM ("+q+") s(x)")
			if err != nil {
				t.Fatal(name, q, err)
			}
			data = append(data, out)
		}
		exec(`ALTER DOMAIN got_ints ADD CHECK (VALUE[1] > 0); ALTER DOMAIN got_one ADD CHECK (VALUE > 0)`)
		for i, d := range data {
			answers[name] = append(answers[name], binaryIn(t, ctx, c, typs[i], d))
		}
	}
	for i, q := range queries {
		if got, want := answers["kvsqld"][i], answers["PostgreSQL"][i]; got != want {
			t.Errorf("%s as %s:\n  kvsqld     %s\n  PostgreSQL %s", q, typs[i], got, want)
		}
	}
}
