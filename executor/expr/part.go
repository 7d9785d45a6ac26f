package expr

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// partCall is a strict function that finds a part of its first argument, or something
// made of one; nil is NULL.
type partCall[K value] struct {
	frame
	find func(v []byte, k K) []byte
}

// fnPart lifts such a function to vectors.
func fnPart[K value](find func(v []byte, k K) []byte) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &partCall[K]{newFrame(call, args), find}, nil
	}
}

func (e *partCall[K]) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, mx := column[[]byte](e.vecs[0], rows, nil), mask(e.vecs[0])
	k, mk := column[K](e.vecs[1], rows, nil), mask(e.vecs[1])
	for _, i := range rows {
		v := e.find(x[int(i)&mx], k[int(i)&mk])
		if v == nil {
			e.out.Nulls.Set(int(i))
			continue
		}
		e.out.B[i] = v
	}
	return &e.out, nil
}
