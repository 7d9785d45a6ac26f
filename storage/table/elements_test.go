package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// mapKeys are keys of maps in their order: empty, with any byte, of several lengths.
var mapKeys = [][]byte{{}, []byte("\x01"), []byte("a"), []byte("b"), []byte("aa"), []byte("é"), []byte("a b\"\\"), bytes.Repeat([]byte("long"), 100)}

// genMap makes a jsonb object or an hstore of some of the keys, or NULL.
func genMap(r *rand.Rand, t types.T) types.Datum {
	if r.IntN(8) == 0 {
		return types.Null(t)
	}
	var keys [][]byte
	var members []types.Datum
	for _, k := range mapKeys {
		if r.IntN(2) == 0 {
			keys, members = append(keys, k), append(members, genMember(r, t, k))
		}
	}
	return types.JoinMembers(t, keys, members)
}

// genMember makes what types.Members has of a member.
func genMember(r *rand.Rand, t types.T, key []byte) types.Datum {
	text := fmt.Sprint([]string{"", "1", "x\ty"}[r.IntN(3)], r.IntN(5))
	switch {
	case t.Kind() == types.KJSONB:
		text = string(types.AppendJSONString(nil, key)) + ": " + string(types.AppendJSONString(nil, []byte(text)))
	case r.IntN(3) == 0:
		return types.Null(types.TText)
	}
	return types.Bytes(types.TText, []byte(text))
}

// only returns a map's members of some keys.
func only(d types.Datum, wanted [][]byte) types.Datum {
	if d.Null {
		return d
	}
	keys, members, _ := types.Members(d)
	var k [][]byte
	var m []types.Datum
	for i := range keys {
		if slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, keys[i]) }) {
			k, m = append(k, keys[i]), append(m, members[i])
		}
	}
	return types.JoinMembers(d.T, k, m)
}

// edited returns a map in which some keys have other members, or none.
func edited(r *rand.Rand, d types.Datum, wanted [][]byte) types.Datum {
	var keys [][]byte
	var members []types.Datum
	if !d.Null {
		was, m, _ := types.Members(d)
		for i := range was {
			if !slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, was[i]) }) {
				keys, members = append(keys, was[i]), append(members, m[i])
			}
		}
	}
	for _, k := range mapKeys {
		if slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, k) }) && r.IntN(3) > 0 {
			at, _ := slices.BinarySearchFunc(keys, k, func(a, b []byte) int {
				if len(a) != len(b) {
					return len(a) - len(b)
				}
				return bytes.Compare(a, b)
			})
			keys, members = slices.Insert(keys, at, k), slices.Insert(members, at, genMember(r, d.T, k))
		}
	}
	return types.JoinMembers(d.T, keys, members)
}

// TestMapsByElements writes maps whole and by their members, and reads both back.
func TestMapsByElements(t *testing.T) {
	db := tabletest.Open(t)
	cols := []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("j", types.Of(types.OJSONB)), tabletest.Col("h", types.Of(types.OHstore))}
	for i := range cols[1:] {
		cols[1+i].Storage = catalog.StorageElements
	}
	d := db.CreateColumns("maps", nil, cols, []int{0})
	r := rand.New(rand.NewPCG(1, 2))
	want := map[string][]types.Datum{}
	for i := range 40 {
		x := row(i4(int64(i)), genMap(r, cols[1].Type), genMap(r, cols[2].Type))
		want[string(insertOne(db, d, x))] = x
	}
	some := func() (out [][]byte) {
		for range r.IntN(4) {
			out = append(out, mapKeys[r.IntN(len(mapKeys))])
		}
		return out
	}
	same := func(what string, got, want types.Datum) {
		t.Helper()
		if got.Null != want.Null || !bytes.Equal(got.B, want.B) {
			t.Fatalf("%s: %q, want %q", what, got.B, want.B)
		}
	}
	for step := range 300 {
		parts := []table.Part{{Col: 1, Keys: some()}, {Col: 2, Keys: some()}}
		for key, x := range want {
			var whole, part vec.Batch
			db.Tx(func(tx table.Txn) error {
				if err := d.GetRows(ctx, tx, [][]byte{[]byte(key)}, []int{1, 2}, nil, &whole); err != nil {
					return err
				}
				return d.GetRows(ctx, tx, [][]byte{[]byte(key)}, []int{1, 2}, parts, &part)
			})
			for c := range parts {
				same("the whole value", whole.Cols[c].Get(0), x[1+c])
				same(fmt.Sprintf("members %q", parts[c].Keys), part.Cols[c].Get(0), only(x[1+c], parts[c].Keys))
			}
			if step%20 != int(x[0].I)%20 {
				continue
			}
			next := row(x[0], edited(r, x[1], parts[0].Keys), edited(r, x[2], parts[1].Keys))
			old, now := x, next
			use := parts
			if r.IntN(3) == 0 { // the whole values
				use = nil
			} else {
				old = row(x[0], only(x[1], parts[0].Keys), only(x[2], parts[1].Keys))
				now = row(x[0], only(next[1], parts[0].Keys), only(next[2], parts[1].Keys))
			}
			db.Tx(func(tx table.Txn) error {
				_, err := d.NewWriter(tx).Update(ctx, &vec.Vec{B: [][]byte{[]byte(key)}}, tabletest.Batch(d, old), tabletest.Batch(d, now), []int{1, 2}, use, nil, nil, nil, table.LockOpt{})
				return err
			})
			want[key] = next
		}
		for _, x := range tabletest.Rows(t, d, begin(t, db, 0), &table.ScanSpec{Cols: []int{1, 2, 0}}) {
			for _, y := range want {
				if y[0].I == x[2].I {
					same("j of a scan", x[0], y[1])
					same("h of a scan", x[1], y[2])
				}
			}
		}
	}
}
