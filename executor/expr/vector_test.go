package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// vectorColumns are the inputs of vectorExprs, written $1, $2 …
var vectorColumns = []types.T{types.TInt4, types.TInt8, types.TFloat8, types.TNumeric, types.TText, types.TBool,
	types.TDate, types.TTimestamp, types.TInterval, types.TInt4Arr, types.TNumeric, types.TText, types.TBpchar}

var vectorExprs = []string{
	"$1 + 1", "$1 * $1", "$1 + $2", "$2 - $1", "7 - $1", "$1 / 3", "10 / $1", "$1 % 5", "-$1", "abs($1)",
	"$3 + $3", "$3 * 2", "1 / $3", "sqrt(abs($3))", "$3 < 0", "$3 >= $3", "$3 = 1.5",
	"$4 + $11", "$4 - 1", "$4 * (1 - $11)", "$4 * $11", "$4 / 3", "$4 < $11", "$4 >= 1.50", "$4 = 2", "$4 <> $11",
	"round($4, 1)", "$4::int4", "$1::numeric + $4", "$4::numeric(8,1)", "-$4", "$4 in (1.5, 2, 3.25)",
	"$1 = 3", "$1 < $2", "3 > $1", "$1 between 2 and 5", "$1 in (1, 2, 3)", "$1 in (1, 2, null)", "$1 not in (1, 2, null)",
	"$1 not in (1, 9)", "$1 = any($10)", "$1 = any('{1,2,3,null}')", "$1 > all($10)", "$1 = any('{}')", "$5 like any(array['a%', '%b'])",
	"$5 || $12", "length($5)", "upper($5)", "substr($5, 2)", "$5 like 'a%'", "$5 not like '%b%'", "$5 like $12", "$5 < $12",
	"$5 = 'ab'", "$5 >= 'b'", "$5 ~ '^a.*b'", "replace($5, 'a', 'xy')", "left($5, $1)", "$5 in ('ab', 'b')", "$5 = $12",
	"$13 = 'ab'", "length($13)",
	"$5 is null", "$5 is not null", "$6", "not $6", "$6 and $1 > 2", "$6 or $1 > 2", "$6 is true", "$6 is not false", "$6 is unknown",
	"$1 > 2 and $2 < 5 and $3 > 0", "$1 > 5 or $2 < 1 or $3 > 0", "not ($1 > 2 and $6)", "($1 > 5 or $6) and ($2 > 1 or $3 < 0)",
	"case when $1 > 3 then $4 else 0 end", "case when $6 then $4 when $1 = 2 then $11 end", "case $1 when 1 then 'one' when 2 then $5 else $12 end",
	"case when $1 <> 0 then 10 / $1 end", "coalesce($1, $2, 0)", "coalesce($5, $12)", "coalesce($4, $11)", "nullif($1, 2)", "nullif($4, $11)",
	"greatest($1, $2, 3)", "least($4, $11)", "$1 is distinct from $2", "$5 is not distinct from $12", "$4 is distinct from $11",
	"$7 + $1", "$7 - date '2024-01-01'", "$7 < date '2024-06-01'", "extract(year from $7)", "date_trunc('month', $8)", "$8 + $9",
	"$8 < $7", "$9 * 2", "$9 < interval '1 day'", "$7 + interval '1 month'", "extract(month from $8)",
	"$1 = any($10::int8[])", "$5 = any(array[$5, $12, null])", "$5 like any(array[$12, null, 'a%'])", "$1 <> all($10)", "$3 = any(array[$3, 0])",
	"to_char($8, 'DD Mon YYYY')", "to_char($8, case when $6 then 'YYYY' else 'Day' end)", "array_position($10, $1)", "array_remove($10, $1)",
	"array_replace($10, $1, 9)", "$1 || $10", "$10 && array[$1]", "array_length($10, 1)", "$10[$1:]",
	"$10 < array[$1, 2]", "jsonb_build_object($5 || 'k', $1, 'k', $10)", "to_jsonb($5) || to_jsonb($1)", "jsonb_build_object('k', $5)->>'k'",
	"jsonb_build_array($4, $3) = jsonb_build_array($11, $3)", "to_jsonb($10) - $1", "jsonb_build_object('a', $1) @> jsonb_build_object('a', $2)",
	"$10 || $1", "$10[1]", "$10[2:3]", "cardinality($10)", "array[$1, $2]", "$10 @> array[1]", "array_to_string($10, ',')",
	"$1::text", "$5 || $1", "concat($1, $5, $7)", "row($1, $5)", "row($1, $5) = row(2, 'ab')", "to_char($4, '999D99')", "md5($5)",
	"$1::float8 / 2", "$2::int4", "$3::int4", "$1::bool", "$6::int4", "$6::text", "$5::varchar(1)",
}

// randomDatum returns small values, so that equalities and overflows of small
// types both happen.
func randomDatum(r *rand.Rand, t types.T, scale int32) types.Datum {
	switch t.OID {
	case types.OInt4, types.OInt8:
		return types.Int(t, int64(r.IntN(10))-2)
	case types.OFloat8:
		return types.Float(t, float64(r.IntN(9)-4)/2)
	case types.ONumeric:
		return types.Datum{T: t, Dec: types.NewDecimal(int64(r.IntN(900)-300), scale)}
	case types.OBool:
		return types.Bool(r.IntN(2) == 0)
	case types.ODate:
		return types.Int(t, 8700+int64(r.IntN(400)))
	case types.OTimestamp:
		return types.Int(t, (8700*86400+int64(r.IntN(40000000)))*1e6)
	case types.OInterval:
		return types.Datum{T: t, Iv: types.Interval{Months: int32(r.IntN(3)), Days: int32(r.IntN(40)), Micros: int64(r.IntN(1e9))}}
	case types.OInt4Arr:
		elems := make([]types.Datum, r.IntN(4))
		for i := range elems {
			elems[i] = randomDatum(r, types.TInt4, 0)
			elems[i].Null = r.IntN(8) == 0
		}
		if len(elems) == 0 {
			return types.NewArray(types.TInt4, nil, nil, nil)
		}
		return types.NewArray(types.TInt4, []int{len(elems)}, []int{1}, elems)
	}
	b := make([]byte, r.IntN(4))
	for i := range b {
		b[i] = "abc"[r.IntN(3)]
	}
	return types.Bytes(t, b)
}

// randomBatch makes n rows; numerics are narrow unless wide is set.
func randomBatch(r *rand.Rand, n int, nulls, wide bool) *vec.Batch {
	b := &vec.Batch{N: n}
	for k, t := range vectorColumns {
		v := vec.New(t, n)
		scale := int32(2 - k/10)
		if t.OID == types.ONumeric && !wide {
			v.SetNarrow(n, scale)
		}
		for i := range n {
			d := randomDatum(r, t, scale)
			d.Null = nulls && r.IntN(5) == 0
			v.Set(i, d)
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func bindColumns(sql string) (plan.Expr, error) {
	st, err := parser.ParseOne("SELECT " + sql)
	if err != nil {
		return nil, err
	}
	q, err := planner.Plan(&planner.Context{Snap: snapshot, DB: snapshot.Database("postgres").OID, SearchPath: []string{"pg_catalog", "public"},
		Fmt: types.DefaultFmt, Texts: parser.Texts{}, ParamTypes: vectorColumns}, st.Stmt)
	if err != nil {
		return nil, err
	}
	var e plan.Expr
	switch n := q.Root.(type) {
	case *plan.Project:
		e = n.Exprs[0]
	case *plan.Values:
		e = n.Rows[0][0]
	}
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		if p, ok := x.(*plan.Param); ok {
			return &plan.Col{At: p.At, Idx: p.Idx}
		}
		return x
	}), nil
}

// TestVectorsAgreeWithRows holds each expression over a whole batch, with and
// without NULLs, selections and the narrow form, equal to its value row by row.
func TestVectorsAgreeWithRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, sql := range vectorExprs {
		e, err := bindColumns(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		for _, n := range []int{1, 3, 1024} {
			for variant := range 8 {
				if n == 1024 && variant%3 != 0 {
					continue
				}
				b := randomBatch(r, n, variant&1 != 0, variant&4 != 0)
				if variant&2 != 0 {
					b.Sel = []uint32{}
					for i := range n {
						if r.IntN(2) == 0 {
							b.Sel = append(b.Sel, uint32(i))
						}
					}
				}
				if msg := compareVector(e, b); msg != "" {
					t.Errorf("%s, %d rows, variant %d: %s", sql, n, variant, msg)
				}
			}
		}
	}
}

// compareVector drops the rows whose own evaluation fails, and then expects the
// vector's values, and the predicate's selection, to be those of the rows.
func compareVector(e plan.Expr, b *vec.Batch) string {
	env := testEnv()
	single, err := expr.Compile(e)
	if err != nil {
		return err.Error()
	}
	whole, _ := expr.Compile(e)
	var rows []uint32
	var want []string
	trues := 0
	one := &vec.Batch{N: 1}
	for _, c := range b.Cols {
		one.Cols = append(one.Cols, vec.New(c.T, 1))
	}
	for i := range b.Rows() {
		row := b.Row(i)
		for k, c := range b.Cols {
			one.Cols[k].Reset(c.T, 1)
			one.Cols[k].Set(0, c.Get(row))
		}
		v, err := single.Eval(env, one)
		if err != nil {
			continue
		}
		d := v.Get(0)
		rows, want = append(rows, uint32(row)), append(want, answer(d, nil))
		if e.Type() == types.TBool && !d.Null && d.I != 0 {
			trues++
		}
	}
	if rows == nil {
		rows = []uint32{}
	}
	if len(rows) < b.Rows() || b.Sel != nil {
		b.Sel = rows
	}
	v, err := whole.Eval(env, b)
	if err != nil {
		return "whole batch: " + err.Error()
	}
	for i, row := range rows {
		if got := answer(v.Get(int(row)), nil); got != want[i] {
			return fmt.Sprintf("row %d: got %s, want %s", row, got, want[i])
		}
	}
	if e.Type() != types.TBool {
		return ""
	}
	p, err := expr.CompilePredicate(e)
	if err != nil {
		return err.Error()
	}
	if err := p.Select(env, b); err != nil {
		return "predicate: " + err.Error()
	}
	if len(b.Sel) != trues || b.Sel == nil && b.N != trues {
		return fmt.Sprintf("predicate keeps %d rows, want %d", len(b.Sel), trues)
	}
	return ""
}
