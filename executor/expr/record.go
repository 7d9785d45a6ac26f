package expr

import (
	"encoding/binary"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// rowEval is ROW(…): PostgreSQL's binary record format.
type rowEval struct {
	t       types.T
	args    []Eval
	present Eval // NULL where the row is; nil: it never is
	vecs    []*vec.Vec
	out     vec.Vec
	arena   vec.Arena
	buf     []byte
	row     []types.Datum
}

func (e *rowEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.vecs, e.row = e.vecs[:0], resize(e.row, len(e.args))
	for _, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.vecs = append(e.vecs, v)
	}
	var present *vec.Vec
	if e.present != nil {
		var err error
		if present, err = e.present.Eval(env, b); err != nil {
			return nil, err
		}
	}
	if err := env.roomForResults(e.vecs, b); err != nil {
		return nil, err
	}
	e.arena.Reset()
	e.out.Reset(e.t, max(b.N, 1))
	for _, i := range rowsOf(b) {
		if present != nil && present.IsNull(int(i)) {
			e.out.Nulls.Set(int(i))
			continue
		}
		for k, v := range e.vecs {
			e.row[k] = v.Get(int(i))
		}
		e.buf = types.AppendRecord(e.buf[:0], e.row)
		e.out.B[i] = e.arena.Copy(e.buf)
	}
	return &e.out, nil
}

func newRecord(fields ...types.Datum) types.Datum { return types.NewRecord(fields) }

// eachField calls f for the fields of a binary record until it returns false.
func eachField(b []byte, f func(t types.OID, val []byte, isNull bool) bool) error {
	broken := sqlerr.New(sqlerr.DataCorrupted, "record value is damaged")
	if len(b) < 4 {
		return broken
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	for range n {
		if len(b) < 8 {
			return broken
		}
		t, size := types.OID(binary.BigEndian.Uint32(b)), int32(binary.BigEndian.Uint32(b[4:]))
		b = b[8:]
		if size < 0 {
			if !f(t, nil, true) {
				return nil
			}
			continue
		}
		if len(b) < int(size) {
			return broken
		}
		if !f(t, b[:size], false) {
			return nil
		}
		b = b[size:]
	}
	return nil
}

// fieldEval takes one field of a record; a NULL record has NULL fields.
type fieldEval struct {
	t   types.T
	x   Eval
	idx int
	out vec.Vec
}

func (e *fieldEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, i := range rowsOf(b) {
		d := types.Null(e.t)
		if !x.IsNull(int(i)) {
			if d, err = field(x.B[x.Idx(int(i))], e.idx, e.t); err != nil {
				return nil, err
			}
		}
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

// field returns the idx-th field of a binary record as type t.
func field(rec []byte, idx int, t types.T) (d types.Datum, err error) {
	d = types.Null(t)
	at := 0
	ferr := eachField(rec, func(_ types.OID, val []byte, isNull bool) bool {
		if at < idx {
			at++
			return true
		}
		if !isNull {
			d, err = types.ParseBinary(t, val)
		}
		return false
	})
	if err == nil {
		err = ferr
	}
	return d, err
}
