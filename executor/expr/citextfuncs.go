package expr

import "kvsqld/catalog/types"

// citextFuncs registers the conversions of the extension citext.
func citextFuncs(r *registry) {
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Cast(a[0], types.Of(types.OCitext), c.env.Fmt, false)
	}), "citext.citext")
}
