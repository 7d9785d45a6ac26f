package expr

import "kvsqld/catalog/types"

// macaddrFuncs has the functions of hardware addresses of six and eight bytes.
func macaddrFuncs(r *registry) {
	for _, name := range []string{"macaddr", "macaddr8"} {
		r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
			out := append(c.buf[:0], a...)
			clear(out[min(3, len(out)):])
			return c.keep(out), nil
		}), name+"_trunc")
		r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
			out := append(c.buf[:0], a...)
			for i := range out {
				out[i] = ^out[i]
			}
			return c.keep(out), nil
		}), name+"_not")
		bitwise := func(f func(x, y byte) byte) builder {
			return fn2(func(c *callCtx, a, b []byte) ([]byte, error) {
				out := append(c.buf[:0], a...)
				for i := range min(len(out), len(b)) {
					out[i] = f(out[i], b[i])
				}
				return c.keep(out), nil
			})
		}
		r.add(bitwise(func(x, y byte) byte { return x & y }), name+"_and")
		r.add(bitwise(func(x, y byte) byte { return x | y }), name+"_or")
	}
	r.add(fn1(func(c *callCtx, a []byte) ([]byte, error) {
		out := append(c.buf[:0], a...)
		if len(out) > 0 {
			out[0] |= 0x02
		}
		return c.keep(out), nil
	}), "macaddr8_set7bit")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		return types.Cast(in[0], c.call.T, nil, true)
	}), "macaddrtomacaddr8", "macaddr8tomacaddr")
}
