package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/jsonpath"
)

func jsonpathFuncs(r *registry) {
	for _, suffix := range []string{"", "_tz"} {
		tz := suffix != ""
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return pathExists(c, a, tz) }), "jsonb_path_exists"+suffix)
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return pathMatch(c, a, tz) }), "jsonb_path_match"+suffix)
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			found, err := queryPath(c, a, tz)
			if err != nil {
				return null, err
			}
			out := []byte{'['}
			for i, v := range found {
				if i > 0 {
					out = append(out, ", "...)
				}
				out = append(out, v.b...)
			}
			return types.Datum{B: append(out, ']')}, nil
		}), "jsonb_path_query_array"+suffix)
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			found, err := queryPath(c, a, tz)
			if err != nil || len(found) == 0 {
				return null, err
			}
			return types.Datum{B: found[0].b}, nil
		}), "jsonb_path_query_first"+suffix)
		r.addSet(rowsSet(func(c *callCtx, a []types.Datum) ([][]types.Datum, error) {
			found, err := queryPath(c, a, tz)
			rows := make([][]types.Datum, len(found))
			for i, v := range found {
				rows[i] = []types.Datum{{B: v.b}}
			}
			return rows, err
		}), "jsonb_path_query"+suffix)
	}
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return pathExists(c, a, false) }), "jsonb_path_exists_opr")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return pathMatch(c, a, false) }), "jsonb_path_match_opr")
}

// compiledPath is the path of the last call, which is most often the next one's, and
// the run of it, whose room serves again.
type compiledPath struct {
	text string
	path *jsonpath.Path
	run  pathRun
}

// newPathRun prepares a call: document, path, and for the functions also the
// variables and whether errors are kept silent, as they always are for the
// operators.
func newPathRun(c *callCtx, a []types.Datum, tz bool) (r *pathRun, silent bool, err error) {
	p, _ := c.state.(*compiledPath)
	if p == nil || p.text != string(a[1].B) {
		path, err := types.ParseJSONPath(string(a[1].B))
		if err != nil {
			return nil, false, err
		}
		p = &compiledPath{text: string(a[1].B), path: path}
		c.state = p
	}
	r = &p.run
	r.release(0)
	*r = pathRun{c: c, path: p.path, root: a[0].B, tz: tz, size: -1, found: r.found, regexes: r.regexes}
	if len(a) < 4 {
		return r, true, nil
	}
	if jsonKind(a[2].B) != '{' {
		return nil, false, sqlerr.New(sqlerr.InvalidParameterValue, "\"vars\" argument is not an object").
			WithDetail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.")
	}
	r.vars = a[2].B
	return r, a[3].I != 0, nil
}

// query returns the items that the path finds before an error, if any.
func (r *pathRun) query() (found []pathItem, err error) {
	_, err = r.item(r.path.Root, pathItem{b: r.root}, r.lax(), func(v pathItem) bool {
		found = append(found, v)
		return true
	})
	return found, err
}

func queryPath(c *callCtx, a []types.Datum, tz bool) ([]pathItem, error) {
	r, silent, err := newPathRun(c, a, tz)
	if err != nil {
		return nil, err
	}
	found, err := r.query()
	if silent && isPathError(err) {
		err = nil
	}
	return found, err
}

func pathExists(c *callCtx, a []types.Datum, tz bool) (types.Datum, error) {
	r, silent, err := newPathRun(c, a, tz)
	if err != nil {
		return null, err
	}
	exists, err := r.exists(r.path.Root, pathItem{b: r.root})
	if silent && isPathError(err) {
		return null, nil
	}
	return types.Bool(exists), err
}

func pathMatch(c *callCtx, a []types.Datum, tz bool) (types.Datum, error) {
	r, silent, err := newPathRun(c, a, tz)
	if err != nil {
		return null, err
	}
	if root := r.path.Root; root.Kind.IsPredicate() && root.Next == nil {
		t, err := r.predicate(root, pathItem{b: r.root})
		if err != nil || t == pathUnknown {
			return null, err
		}
		return types.Bool(t == pathTrue), nil
	}
	found, err := r.query()
	if err != nil && !(silent && isPathError(err)) {
		return null, err
	}
	if len(found) == 1 {
		switch k := found[0].kind(); k {
		case 't', 'f':
			return types.Bool(k == 't'), nil
		case 'n':
			return null, nil
		}
	}
	if silent {
		return null, nil
	}
	return null, sqlerr.New(sqlerr.SingletonJSONItemRequired, "single boolean result is expected")
}
