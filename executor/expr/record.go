package expr

import (
	"encoding/binary"
	"slices"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// rowEval is ROW(…): PostgreSQL's binary record format.
type rowEval struct {
	t       types.T
	args    []Eval
	names   []string // of an anonymous record's columns; nil: it has none of its own
	present Eval     // NULL where the row is; nil: it never is
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
		if e.names != nil {
			e.buf = types.AppendRecordNames(e.buf, e.names)
		}
		e.out.B[i] = e.arena.Copy(e.buf)
	}
	return &e.out, nil
}

// outNames are the names of the columns that a call gives as one record, nil if
// it gives something else.
func outNames(call *plan.Call) []string {
	if call.T.OID != types.ORecord {
		return nil
	}
	var names []string
	for _, c := range call.Defined {
		names = append(names, c.Name)
	}
	for i, m := range call.Proc.ArgModes {
		if m == 'i' || m == 'v' {
			continue
		}
		name := ""
		if i < len(call.Proc.ArgNames) {
			name = call.Proc.ArgNames[i]
		}
		if name == "" {
			name = "column" + strconv.Itoa(len(names)+1)
		}
		names = append(names, name)
	}
	return names
}

// named gives the records of a call the names of its OUT arguments.
func named(call *plan.Call, x Eval) Eval {
	if names := outNames(call); names != nil {
		return &namedEval{x: x, names: names}
	}
	return x
}

type namedEval struct {
	x     Eval
	names []string
	out   vec.Vec
	arena vec.Arena
}

func (e *namedEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.arena.Reset()
	e.out.Reset(x.T, max(b.N, 1))
	for _, i := range rowsOf(b) {
		d := x.Get(int(i))
		if d.Null {
			e.out.Nulls.Set(int(i))
			continue
		}
		e.out.B[i] = e.arena.Copy(withNames(d, e.names).B)
	}
	return &e.out, nil
}

// withNames is a record with names, if it has none of its own.
func withNames(d types.Datum, names []string) types.Datum {
	if !d.Null && names != nil && types.RecordNames(d) == nil {
		d.B = types.AppendRecordNames(slices.Clone(d.B), names)
	}
	return d
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
