package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestBinaryParametersBroken sends binary values that are cut, longer, or have other bytes
// than they had: both servers read the same values, and refuse the others. What is wrong
// first is not compared, as PostgreSQL reads an array's elements one after the other.
func TestBinaryParametersBroken(t *testing.T) {
	ctx := context.Background()
	own := &script{t: t, connect: startServer(t, storage.Options{Store: "mem"}).connect, conns: map[string]*pgconn.PgConn{}}
	ref := &script{t: t, connect: postgresScratch(t), conns: map[string]*pgconn.PgConn{}}
	defer own.close()
	defer ref.close()
	a, b := own.conn(ctx, ""), ref.conn(ctx, "")
	seed := diffEnv("KVSQLD_BROKEN_SEED", 1)
	r := rand.New(rand.NewSource(seed))
	for _, m := range matrixTypes {
		if strings.HasPrefix(m.name, "num") && strings.HasSuffix(m.name, "range") {
			continue // PostgreSQL overlooks bytes behind a bound
		}
		for _, in := range m.in {
			for _, form := range []string{m.name, m.name + "[]"} {
				if m.name == "jsonpath" && form != m.name || strings.HasSuffix(m.name, "vector") {
					continue // || NULL is ambiguous; PostgreSQL does not read the empty vector that it writes
				}
				value := "'" + strings.ReplaceAll(in, "'", "''") + "'::" + m.name
				if form != m.name {
					value = "ARRAY[" + value + "] || NULL"
				}
				res := b.ExecParams(ctx, "SELECT "+value, nil, nil, nil, []int16{1}).Read()
				if res.Err != nil || len(res.Rows) == 0 {
					continue // has no binary form
				}
				good, typ := res.Rows[0][0], res.FieldDescriptions[0].DataTypeOID
				for range diffEnv("KVSQLD_BROKEN_N", 8) {
					bad := broken(r, good)
					want, got := echo(ctx, b, typ, bad), echo(ctx, a, typ, bad)
					if want != got {
						t.Errorf("%s %x:\n got %s\nwant %s", form, bad, got, want)
					}
				}
			}
		}
	}
}

// broken changes a value in one of the ways.
func broken(r *rand.Rand, good []byte) []byte {
	v := slices.Clone(good)
	switch n := r.Intn(10); {
	case n < 2:
		return v[:r.Intn(len(v)+1)]
	case n < 3:
		return append(v, make([]byte, 1+r.Intn(4))...)
	case n < 5 && len(v) >= 4:
		binary.BigEndian.PutUint32(v[r.Intn(len(v)/4)*4:], uint32(r.Intn(8)-2))
	case len(v) > 0:
		for range 1 + r.Intn(2) {
			v[r.Intn(len(v))] = byte([]int{0, 1, 2, 3, 127, 128, 255, r.Intn(256)}[r.Intn(8)])
		}
	}
	return v
}

// echo is what a server makes of a parameter, as a text.
func echo(ctx context.Context, c *pgconn.PgConn, typ uint32, v []byte) string {
	res := c.ExecParams(ctx, "SELECT $1", [][]byte{v}, []uint32{typ}, []int16{1}, nil).Read()
	var e *pgconn.PgError
	switch {
	case errors.As(res.Err, &e):
		if e.Code == "XX000" && e.Message[:min(len(e.Message), 20)] != "invalid memory alloc" {
			return e.Message
		}
		return "an error"
	case res.Err != nil:
		return res.Err.Error()
	}
	return fmt.Sprintf("%q", res.Rows[0][0])
}
