package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// textNumber reads integers and truth values that are written in the usual form from
// their text, where they stand. Others, and errors, are left to coerceIO.
type textNumber struct {
	coerceIO
	min, max int64 // of an integer
}

// newTextNumber is the conversion from text to e's type, nil where that is none of these.
func newTextNumber(e coerceIO) Eval {
	n := &textNumber{coerceIO: e}
	n.f = n.fromText
	switch e.t.Kind() {
	case types.KInt2:
		n.min, n.max = -1<<15, 1<<15-1
	case types.KInt4:
		n.min, n.max = -1<<31, 1<<31-1
	case types.KInt8:
		n.min, n.max = -1<<63, 1<<63-1
	case types.KBool:
	default:
		return nil
	}
	return n
}

func (e *textNumber) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.arena.Reset()
	truth := e.t.Kind() == types.KBool
	return convertRows(env, b, e.x, e.t, &e.out, func(x *vec.Vec, i int) error {
		if truth {
			switch string(x.B[i]) {
			case "true", "t":
				e.out.Bool[i] = true
				return nil
			case "false", "f":
				e.out.Bool[i] = false
				return nil
			}
		} else if v, ok := digits(x.B[i]); ok && v >= e.min && v <= e.max {
			e.out.I64[i] = v
			return nil
		}
		d, err := e.f(env, x.Get(i))
		if err == nil {
			e.out.Set(i, d)
		}
		return err
	})
}

// maxDigits is the number of digits that always fit an int64.
const maxDigits = 18

// digits is the number that nothing but digits with or without a minus sign before them
// write; false for other texts.
func digits(s []byte) (v int64, ok bool) {
	minus := len(s) > 0 && s[0] == '-'
	if minus {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > maxDigits {
		return 0, false
	}
	for _, c := range s {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = 10*v + int64(c)
	}
	if minus {
		v = -v
	}
	return v, true
}
