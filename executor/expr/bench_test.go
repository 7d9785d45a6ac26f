package expr_test

import (
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// BenchmarkEval reports the time for one batch of 1,024 rows.
func BenchmarkEval(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	batch := randomBatch(r, vec.BatchSize, false, false)
	for _, sql := range []string{"$1 + $1", "$4 * (1 - $11)", "$3 * 2", "$5 || $12", "case when $1 > 3 then $4 else 0 end",
		"extract(year from $7)", "substr($5, 1, 2)", "$1::text", "to_char($8, 'YYYY-MM-DD HH24:MI')", "to_number(abs($1) || '.5', '99.9')",
		"$1 = any($10)", "$1 > all($10)", "$10 @> array[1]", "$10[2]", "$10[1:2]", "$10 || $1", "array_position($10, 3)", "array[$1, $2]", "$10 = array[1, 2]",
		"jsonb_build_object($5, $1)->>'ab'", "jsonb_build_object('a', $1, 'b', $10)", "jsonb_build_object('b', $1) @> '{\"b\": 3}'",
		"jsonb_build_array($1, $5) = '[1, \"a\"]'", "jsonb_set('{\"a\": [1, 2]}', '{a,1}', to_jsonb($5))",
		"int4range($1, null) && int4range('[3,7)')", "lower(int4range($1, null))", "($8, $8) overlaps ($8, timestamp '2024-06-01')"} {
		b.Run(sql, func(b *testing.B) {
			e, err := bindColumns(sql)
			if err != nil {
				b.Fatal(err)
			}
			ev, err := expr.Compile(e)
			if err != nil {
				b.Fatal(err)
			}
			env := testEnv()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ev.Eval(env, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	batch := randomBatch(r, vec.BatchSize, false, false)
	for _, sql := range []string{"$1 > 3", "$7 >= date '2024-01-01' and $7 < date '2024-07-01' and $4 between 0.05 and 2.07 and $1 < 5",
		"$5 like '%a%b%'", "$5 in ('ab', 'b', 'ca')", "$1 = 1 or $5 = 'a'"} {
		b.Run(sql, func(b *testing.B) {
			e, err := bindColumns(sql)
			if err != nil {
				b.Fatal(err)
			}
			p, err := expr.CompilePredicate(e)
			if err != nil {
				b.Fatal(err)
			}
			env := testEnv()
			b.ReportAllocs()
			for b.Loop() {
				batch.Sel = nil
				if err := p.Select(env, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	batch := randomBatch(r, vec.BatchSize, false, false)
	groups := make([]uint32, batch.N)
	for i := range groups {
		groups[i] = uint32(r.IntN(4))
	}
	p := aggProc(&testing.T{}, "sum", types.ONumeric)
	agg, err := expr.NewAggregator(&plan.Agg{Proc: p, Args: []plan.Expr{&plan.Col{At: plan.At{T: types.TNumeric}}}, T: types.TNumeric}, nil)
	if err != nil {
		b.Fatal(err)
	}
	agg.Grow(4)
	env := testEnv()
	b.ReportAllocs()
	for b.Loop() {
		if err := agg.Add(env, groups, []*vec.Vec{batch.Cols[3]}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
