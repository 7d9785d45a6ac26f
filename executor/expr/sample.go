package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// sampleFuncs has the test of TABLESAMPLE.
func sampleFuncs(r *registry) {
	r.add(func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &inSample{frame: newFrame(call, args)}, nil
	}, "kvsqld_in_sample")
}

// inSample tests rows for TABLESAMPLE, given their keys, the percentage, the seed and
// whether blocks of rows are taken.
type inSample struct {
	frame
	sample        types.Sample // of percent and seed
	percent, seed float64
	made          bool
}

func (e *inSample) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if _, err := e.evalArgs(env, b); err != nil {
		return nil, err
	}
	keys, percents, seeds, blocks := e.vecs[0], e.vecs[1], e.vecs[2], e.vecs[3]
	for _, i := range e.rows(b) {
		if percents.IsNull(int(i)) {
			return nil, sqlerr.New(sqlerr.InvalidTablesampleArgument, "TABLESAMPLE parameter cannot be null")
		}
		if seeds.IsNull(int(i)) {
			return nil, sqlerr.New(sqlerr.InvalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null")
		}
		percent, seed := percents.F64[percents.Idx(int(i))], seeds.F64[seeds.Idx(int(i))]
		if !e.made || e.percent != percent || e.seed != seed {
			if !(percent >= 0 && percent <= 100) {
				return nil, sqlerr.New(sqlerr.InvalidTablesampleArgument, "sample percentage must be between 0 and 100")
			}
			e.percent, e.seed, e.made = percent, seed, true
			e.sample = types.NewSample(percent, seed, blocks.Bool[blocks.Idx(int(i))])
		}
		e.out.Bool[i] = e.sample.Takes(keys.B[keys.Idx(int(i))])
	}
	return &e.out, nil
}
