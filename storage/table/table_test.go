package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

func i4(v int64) types.Datum { return types.Int(types.TInt4, v) }

// pairs is a table (id int4 primary key, name text) with a unique index on name.
func pairs(db *tabletest.DB) *table.Desc {
	return db.Create("pairs", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText)},
		[]int{0}, tabletest.Index("pairs_name_key", true, 1))
}

func insert(tx table.Txn, d *table.Desc, o table.InsertOpt, rows ...[]types.Datum) (*table.InsertResult, error) {
	return d.NewWriter(tx).Insert(ctx, tabletest.Batch(d, rows...), nil, o)
}

// insertOne commits a row and returns its key.
func insertOne(db *tabletest.DB, d *table.Desc, r []types.Datum) (key []byte) {
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, r)
		key = bytes.Clone(res.Keys[0])
		return err
	})
	return key
}

func row(ds ...types.Datum) []types.Datum { return ds }

func begin(t *testing.T, db *tabletest.DB, iso kv.Isolation) table.Txn {
	t.Helper()
	tx, err := db.Store().Begin(ctx, kv.BeginOpt{Isolation: iso})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tx.Rollback)
	if err := tx.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Fragments(ctx, tx); err != nil { // opens the snapshot
		t.Fatal(err)
	}
	return tx
}

func TestViolationsNameTheConstraint(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("one")), row(i4(2), types.Null(types.TText)), row(i4(3), types.Null(types.TText)))
		return err
	})
	tests := []struct {
		row                        []types.Datum
		code                       sqlerr.Code
		message, detail, constrain string
	}{
		{row(i4(1), types.Text("x")), sqlerr.UniqueViolation, `duplicate key value violates unique constraint "pairs_pkey"`, "Key (id)=(1) already exists.", "pairs_pkey"},
		{row(i4(9), types.Text("one")), sqlerr.UniqueViolation, `duplicate key value violates unique constraint "pairs_name_key"`, "Key (name)=(one) already exists.", "pairs_name_key"},
		{row(types.Null(types.TInt4), types.Text("x")), sqlerr.NotNullViolation, `null value in column "id" of relation "pairs" violates not-null constraint`, "", ""},
	}
	for _, tt := range tests {
		err := db.TryTx(func(tx table.Txn) error {
			_, err := insert(tx, d, table.InsertOpt{}, tt.row)
			return err
		})
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.message || e.Detail != tt.detail || e.Constraint != tt.constrain || e.Table != "pairs" {
			t.Errorf("insert of %v: %+v", tt.row, err)
		}
	}
}

func TestAddedAndDroppedColumns(t *testing.T) {
	db := tabletest.Open(t)
	db.NoCheck = true // by the old descriptor
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("one")))
		return err
	})
	tab := *d.Table
	missing := types.Datum{T: numeric(5, 1), Dec: types.NewDecimal(15, 1)}
	tab.Columns = append(slices.Clone(tab.Columns), catalog.Column{Name: "added", Type: numeric(5, 1), Missing: &missing}, catalog.Column{Name: "empty", Type: types.TInt8})
	wide, err := db.For(&tab)
	if err != nil {
		t.Fatal(err)
	}
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, wide, table.InsertOpt{}, row(i4(2), types.Text("two"), types.Datum{T: numeric(5, 1), Dec: types.NewDecimal(7, 1)}, types.Int(types.TInt8, 8)))
		if err != nil {
			return err
		}
		got := showAll(tabletest.Rows(t, wide, tx, &table.ScanSpec{Cols: []int{0, 1, 2, 3, table.ColTableOID}}))
		if want := []string{`1 "one" 1.5 NULL 16384 `, `2 "two" 0.7 8 16384 `}; !slices.Equal(got, want) {
			t.Errorf("rows %q, want %q", got, want)
		}
		return db.DB.Check(ctx, tx, []*catalog.Table{&tab}, nil, func(p table.Problem) { t.Error(p) })
	})
}

func TestExpressionAndPartialIndexes(t *testing.T) {
	db := tabletest.Open(t)
	lower := &catalog.Index{Name: "lower_key", Unique: true, Kind: "btree", Where: "id > 0",
		Keys: []catalog.IndexKey{{Col: -1, Expr: "lower(name)", Type: types.TText}}}
	d := db.Create("people", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText)}, nil, lower)
	compute := func(b *vec.Batch) []table.IndexVals {
		key, pred := vec.New(types.TText, b.N), vec.New(types.TBool, b.N)
		for i := range b.N {
			key.B[i] = bytes.ToLower(b.Cols[1].B[i])
			pred.Bool[i] = b.Cols[0].I64[i] > 0
		}
		return []table.IndexVals{{Keys: []*vec.Vec{key}, Pred: pred}}
	}
	add := func(tx table.Txn, rows ...[]types.Datum) error {
		b := tabletest.Batch(d, rows...)
		_, err := d.NewWriter(tx).Insert(ctx, b, compute(b), table.InsertOpt{})
		return err
	}
	db.Tx(func(tx table.Txn) error {
		return add(tx, row(i4(1), types.Text("Ann")), row(i4(-1), types.Text("ANN")), row(i4(2), types.Text("Bob")))
	})
	err := db.TryTx(func(tx table.Txn) error { return add(tx, row(i4(3), types.Text("aNN"))) })
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Detail != "Key (lower(name))=(ann) already exists." {
		t.Errorf("duplicate of an expression: %v", err)
	}
	db.Tx(func(tx table.Txn) error {
		cols := []int{0, 1, table.ColRowKey}
		found := tabletest.Rows(t, d, tx, &table.ScanSpec{Index: lower, Cols: cols, Ranges: []types.Range{{Eq: []types.Datum{types.Text("ann")}}}})
		if len(found) != 1 || found[0][0].I != 1 {
			t.Fatalf("found %v", found)
		}
		// The row leaves the index.
		key := bytes.Clone(found[0][2].B)
		old, changed := tabletest.Batch(d, found[0][:2]), tabletest.Batch(d, row(i4(-5), types.Text("Ann")))
		if _, err := d.NewWriter(tx).Update(ctx, &vec.Vec{B: [][]byte{key}}, old, changed, []int{0}, nil, nil, compute(old), compute(changed), table.LockOpt{}); err != nil {
			return err
		}
		if rows := tabletest.Rows(t, d, tx, &table.ScanSpec{Index: lower, Cols: cols}); len(rows) != 1 {
			t.Errorf("%d entries, want Bob's", len(rows))
		}
		return add(tx, row(i4(3), types.Text("aNN")))
	})
}

func TestBuildIndex(t *testing.T) {
	db := tabletest.Open(t)
	d := db.Create("t", []catalog.Column{tabletest.Col("a", types.TInt4), tabletest.Col("b", types.TText)}, nil)
	db.Tx(func(tx table.Txn) error {
		var rows [][]types.Datum
		for i := range int64(3000) {
			rows = append(rows, row(i4(i*7%3000), types.Text("same")))
		}
		_, err := insert(tx, d, table.InsertOpt{}, rows...)
		return err
	})
	build := func(ix *catalog.Index) error {
		ix.OID, ix.Space, ix.File = 20000+types.OID(ix.Keys[0].Col), 1000+catalog.SpaceID(ix.Keys[0].Col), ix.Name
		tab := *d.Table
		tab.Indexes = []*catalog.Index{ix}
		wide, err := db.For(&tab)
		if err != nil {
			return err
		}
		return db.TryTx(func(tx table.Txn) error {
			if err := wide.CreateIndex(tx, ix); err != nil {
				return err
			}
			if err := wide.BuildIndex(ctx, tx, ix, nil); err != nil {
				return err
			}
			if err := db.DB.Check(ctx, tx, []*catalog.Table{&tab}, nil, func(p table.Problem) { t.Error(p) }); err != nil {
				return err
			}
			return wide.DropIndex(tx, ix)
		})
	}
	if err := build(tabletest.Index("t_a_key", true, 0)); err != nil {
		t.Error(err)
	}
	var e *sqlerr.Error
	if err := build(tabletest.Index("t_b_key", true, 1)); !errors.As(err, &e) || e.Code != sqlerr.UniqueViolation ||
		e.Message != `could not create unique index "t_b_key"` || e.Detail != "Key (b)=(same) is duplicated." {
		t.Errorf("unique index over duplicates: %v", err)
	}
}

func TestTruncateAndRowNumbers(t *testing.T) {
	db := tabletest.Open(t)
	d := db.Create("t", []catalog.Column{tabletest.Col("a", types.TInt4)}, nil, tabletest.Index("t_a", false, 0))
	seen := map[string]bool{}
	add := func() {
		db.Tx(func(tx table.Txn) error {
			res, err := insert(tx, d, table.InsertOpt{}, row(i4(1)), row(i4(2)))
			for _, k := range res.Keys {
				if seen[string(k)] {
					t.Errorf("row number %x was given out twice", k)
				}
				seen[string(k)] = true
			}
			return err
		})
	}
	add()
	db.Tx(func(tx table.Txn) error { return d.Truncate(tx) })
	add()
	// Another server on the same store goes on after the greatest number.
	again, err := table.NewDB(db.Store()).For(d.Table)
	if err != nil {
		t.Fatal(err)
	}
	d = again
	add()
	db.Tx(func(tx table.Txn) error {
		if n := len(tabletest.Rows(t, d, tx, &table.ScanSpec{})); n != 4 {
			t.Errorf("%d rows after TRUNCATE and two inserts", n)
		}
		return nil
	})
}

func TestUnsupportedKeysAreNamed(t *testing.T) {
	db := tabletest.Open(t)
	col := []catalog.Column{tabletest.Col("a", types.Of(types.OJSON))}
	for _, tt := range []struct {
		t    catalog.Table
		code sqlerr.Code
		text string
	}{
		{catalog.Table{Columns: col, Indexes: []*catalog.Index{{Kind: "bloom"}}}, sqlerr.FeatureNotSupported, `access method "bloom" is not supported`},
		{catalog.Table{Columns: []catalog.Column{tabletest.Col("a", types.TRecord)}, PK: []int{0}}, sqlerr.FeatureNotSupported,
			"an index on a column of a composite type is not supported"},
		{catalog.Table{Columns: col, PK: []int{0}}, sqlerr.UndefinedObject, `data type json has no default operator class for access method "btree"`},
	} {
		if _, err := db.For(&tt.t); sqlerr.CodeOf(err) != tt.code || err.Error() != tt.text {
			t.Errorf("For: %v, want %s", err, tt.text)
		}
	}
}

// TestRowsAreTestedBeforeTheyAreDecoded filters a scan of the master file, and ends that
// in its middle.
func TestRowsAreTestedBeforeTheyAreDecoded(t *testing.T) {
	db := tabletest.Open(t)
	d := db.Create("t", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText), tabletest.Col("n", types.TInt4)}, []int{0})
	db.Tx(func(tx table.Txn) error {
		var rows [][]types.Datum
		for i := range 5000 {
			rows = append(rows, row(i4(int64(i)), types.Text(fmt.Sprint("row ", i)), i4(int64(i%1000))))
		}
		for len(rows) > 0 {
			if _, err := insert(tx, d, table.InsertOpt{}, rows[:1000]...); err != nil {
				return err
			}
			rows = rows[1000:]
		}
		return nil
	})
	db.Tx(func(tx table.Txn) error {
		asked := 0
		s, err := d.Scan(ctx, tx, &table.ScanSpec{Cols: []int{1, 0}, EntryCols: []int{2}, EntryFilter: func(b *vec.Batch) error {
			b.Sel = make([]uint32, 0)
			for i, n := range b.Cols[0].I64[:b.N] {
				if n == 900 {
					b.Sel = append(b.Sel, uint32(i))
				}
			}
			asked += b.N
			return nil
		}})
		if err != nil {
			return err
		}
		defer s.Close()
		var b vec.Batch
		if err := s.Next(&b); err != nil {
			return err
		}
		got, want := showAll(tabletest.Datums(&b)), []string{`"row 900" 900 `, `"row 1900" 1900 `}
		if len(got) == 0 || !slices.Equal(got, want[:min(len(got), 2)]) {
			t.Errorf("the first batch is %v, want some of %v", got, want)
		}
		s.PassAll()
		rest := 0
		for more := true; more; more = b.N > 0 {
			if err := s.Next(&b); err != nil {
				return err
			}
			rest += b.N
		}
		if asked+rest != 5000 || asked > 3*vec.BatchSize {
			t.Errorf("asked about %d rows, %d came after", asked, rest)
		}
		return nil
	})
}

func TestGetRowsMarksTheMissing(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Text("b")), row(i4(3), types.Text("c")))
		if err != nil {
			return err
		}
		keys := [][]byte{res.Keys[2], []byte("none"), res.Keys[0], res.Keys[1], []byte("no")}
		var b vec.Batch
		if err := d.GetRows(ctx, tx, keys, []int{1, 0}, nil, &b); err != nil {
			return err
		}
		if got, want := showAll(tabletest.Datums(&b)), []string{`"c" 3 `, `"a" 1 `, `"b" 2 `}; !slices.Equal(got, want) || !slices.Equal(b.Sel, []uint32{0, 2, 3}) {
			t.Errorf("GetRows = %v, %v", got, b.Sel)
		}
		return nil
	})
}

func TestLongKeysAreRefused(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	long := types.Text(strings.Repeat("long", 10_000))
	err := db.TryTx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), long))
		return err
	})
	if sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
		t.Errorf("key of 40,000 bytes: %v", err)
	}
}

func TestInspect(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Null(types.TText)))
		if err != nil {
			return err
		}
		for ix, want := range map[*catalog.Index][]string{
			nil:                {"/1 → (name=\"a\")", "/2 → (name=NULL)", "pairs.kv: 2 pairs, 8 bytes of keys"},
			d.Table.Indexes[1]: {"/\"a\" → /1", "/NULL +/2 → /2", "pairs_name_key.ind: 2 pairs"},
		} {
			var out strings.Builder
			if err := d.Inspect(ctx, tx, ix, table.InspectOpt{}, &out); err != nil {
				return err
			}
			for _, w := range want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("Inspect without %q:\n%s", w, out.String())
				}
			}
		}
		return nil
	})
}

func TestFragments(t *testing.T) {
	db := tabletest.Open(t)
	db.Tx(func(tx table.Txn) error {
		for _, oid := range []types.OID{70000, 5, 16384} {
			if err := table.PutFragment(tx, table.Fragment{OID: oid, XML: []byte("<x/>")}); err != nil {
				return err
			}
		}
		return table.DropFragment(tx, 16384)
	})
	db.Tx(func(tx table.Txn) error {
		got, err := table.Fragments(ctx, tx)
		if err != nil || len(got) != 2 || got[0].OID != 5 || got[1].OID != 70000 || string(got[1].XML) != "<x/>" {
			t.Errorf("Fragments = %v, %v", got, err)
		}
		return nil
	})
}

func TestSequences(t *testing.T) {
	db := tabletest.Open(t)
	q := &catalog.Sequence{Common: catalog.Common{OID: 20000, Name: "s"}, Start: 5, Inc: 2, Min: 1, Max: 100}
	next := func(db *table.DB) int64 {
		t.Helper()
		r, err := db.NextVals(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return r.First
	}
	if st, err := db.SeqState(ctx, q); st != (table.SeqState{Last: 5}) || err != nil {
		t.Errorf("SeqState of a new sequence = %+v, %v", st, err)
	}
	for want := int64(5); want <= 9; want += 2 {
		if got := next(db.DB); got != want {
			t.Errorf("NextVals = %d, want %d", got, want)
		}
	}
	// After a crash values may be missing, but none comes twice.
	after := table.NewDB(db.Store())
	got := next(after)
	if got <= 9 || got > 9+2*32 {
		t.Errorf("NextVals after a crash = %d", got)
	}
	if err := after.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if v := next(table.NewDB(db.Store())); v != got+2 {
		t.Errorf("NextVals after an orderly end = %d, want %d", v, got+2)
	}
	if err := db.SetVal(ctx, q, 98, true); err != nil {
		t.Fatal(err)
	}
	if got := next(db.DB); got != 100 {
		t.Errorf("NextVals after 98 = %d, want the maximum", got)
	}
	if _, err := db.NextVals(ctx, q); sqlerr.CodeOf(err) != sqlerr.SequenceLimitExceeded ||
		err.Error() != `nextval: reached maximum value of sequence "s" (100)` {
		t.Errorf("NextVals past the maximum: %v", err)
	}
	cycle := *q
	cycle.Cycle = true
	if r, err := db.NextVals(ctx, &cycle); r.First != 1 || err != nil {
		t.Errorf("NextVals of a cycling sequence = %v, %v", r, err)
	}
	if err := db.SetVal(ctx, q, 101, true); sqlerr.CodeOf(err) != sqlerr.NumericValueOutOfRange {
		t.Errorf("SetVal out of bounds: %v", err)
	}
	down := &catalog.Sequence{Common: catalog.Common{OID: 20001, Name: "d"}, Start: -1, Inc: -1, Min: -2, Max: -1}
	for _, want := range []int64{-1, -2} {
		if r, err := db.NextVals(ctx, down); r.First != want || err != nil {
			t.Errorf("NextVals of a descending sequence = %v, %v", r, err)
		}
	}
	if _, err := db.NextVals(ctx, down); err == nil || err.Error() != `nextval: reached minimum value of sequence "d" (-2)` {
		t.Errorf("NextVals past the minimum: %v", err)
	}
}

// TestSequenceRanges: of a sequence with a CACHE as many values are drawn at once, or
// those that are left.
func TestSequenceRanges(t *testing.T) {
	db := tabletest.Open(t)
	const lo, hi = math.MinInt64, math.MaxInt64
	for i, c := range []struct {
		start, inc, min, max, cache int64
		cycle                       bool
		want                        []table.SeqRange
		logged                      int64
	}{
		{1, 1, 1, hi, 10, false, []table.SeqRange{{1, 10, 1}, {11, 20, 1}}, 22},
		{1, 1, 1, hi, 100, false, []table.SeqRange{{1, 100, 1}, {101, 200, 1}}, 32},
		{1, 3, 1, 20, 5, true, []table.SeqRange{{1, 13, 3}, {16, 19, 3}, {1, 13, 3}}, 2},
		{-5, -2, -9, -1, 2, true, []table.SeqRange{{-5, -7, -2}, {-9, -9, -2}, {-1, -3, -2}}, 3},
		{lo, hi, lo, hi, hi, false, []table.SeqRange{{lo, hi - 1, hi}}, 0},
		{hi, lo, lo, hi, hi, false, []table.SeqRange{{hi, -1, lo}}, 0},
		{lo, 1, lo, hi, hi, false, []table.SeqRange{{lo, -2, 1}, {-1, hi - 2, 1}, {hi - 1, hi, 1}}, 0},
	} {
		q := &catalog.Sequence{Common: catalog.Common{OID: types.OID(20000 + i), Name: "s"},
			Start: c.start, Inc: c.inc, Min: c.min, Max: c.max, Cache: c.cache, Cycle: c.cycle}
		for _, want := range c.want {
			if got, err := db.NextVals(ctx, q); got != want || err != nil {
				t.Errorf("%d: NextVals = %v, %v; want %v", i, got, err, want)
			}
		}
		last := c.want[len(c.want)-1].Last
		if st, err := db.SeqState(ctx, q); st != (table.SeqState{Last: last, Called: true, Logged: c.logged}) || err != nil {
			t.Errorf("%d: SeqState = %+v, %v", i, st, err)
		}
		// After a crash none of the values comes again, unless the sequence begins again.
		if got, err := table.NewDB(db.Store()).NextVals(ctx, q); !c.cycle && err == nil && (got.First-last)*c.inc <= 0 {
			t.Errorf("%d: NextVals after a crash = %v, %v", i, got, err)
		}
	}
}

func TestRangesOfOtherWidths(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		for i := range int64(10) {
			if _, err := insert(tx, d, table.InsertOpt{}, row(i4(i), types.Text(string(rune('a'+i))))); err != nil {
				return err
			}
		}
		bound := func(v int64) *types.Datum { d := types.Int(types.TInt8, v); return &d }
		for _, tt := range []struct {
			r    types.Range
			want int
		}{
			{types.Range{Hi: bound(1 << 40)}, 10}, {types.Range{Lo: bound(1 << 40)}, 0},
			{types.Range{Lo: bound(-1 << 40)}, 10}, {types.Range{Hi: bound(-1 << 40)}, 0},
			{types.Range{Eq: []types.Datum{*bound(1 << 40)}}, 0}, {types.Range{Lo: bound(3), LoInc: true, Hi: bound(5)}, 2},
		} {
			if got := len(tabletest.Rows(t, d, tx, &table.ScanSpec{Ranges: []types.Range{tt.r}})); got != tt.want {
				t.Errorf("range %+v: %d rows, want %d", tt.r, got, tt.want)
			}
		}
		return nil
	})
}
