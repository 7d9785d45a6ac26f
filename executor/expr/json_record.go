package expr

import (
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// jsonRecordFuncs has the functions that make rows of JSON objects: the columns
// are those of a composite type, or those that the query lists.
func jsonRecordFuncs(r *registry) {
	for _, p := range []string{"json", "jsonb"} {
		for _, name := range []string{p + "_populate_record", p + "_to_record"} {
			arg := 0
			if strings.Contains(name, "populate") {
				arg = 1
			}
			r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
				s, err := rowShape(c, in, arg)
				if err != nil {
					return null, err
				}
				if in[arg].Null {
					if arg == 1 {
						return in[0], nil
					}
					return null, nil
				}
				fields, err := s.object(in[arg].B)
				if err != nil {
					return null, err
				}
				return s.row(fields)
			}), name)
			r.addSet(func(call *plan.Call) setBody {
				return rowsSet(func(c *callCtx, in []types.Datum) ([][]types.Datum, error) { return recordRows(c, in, arg) })(call)
			}, name+"set")
		}
	}
}

func recordRows(c *callCtx, in []types.Datum, arg int) (rows [][]types.Datum, err error) {
	s, err := rowShape(c, in, arg)
	if err != nil || in[arg].Null {
		return nil, err
	}
	v := in[arg].B
	if kind := jsonKind(v); kind != '[' {
		what := "a scalar"
		if kind == '{' {
			what = "an object"
		}
		if strings.HasPrefix(c.call.Proc.Name, "jsonb") {
			what = "a non-array"
		}
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on %s", c.call.Proc.Name, what)
	}
	eachElement(v, func(e []byte) bool {
		if jsonKind(e) != '{' {
			err = sqlerr.New(sqlerr.InvalidParameterValue, "argument of %s must be an array of objects", c.call.Proc.Name)
			return false
		}
		var fields []types.Datum
		if fields, err = s.object(e); err != nil {
			return false
		}
		if len(c.call.Defined) == 0 {
			var d types.Datum
			if d, err = s.row(fields); err != nil {
				return false
			}
			fields = []types.Datum{d}
		}
		rows = append(rows, fields)
		return true
	})
	return rows, err
}

// jsonRow is the shape of the rows to make: columns, and the fields of the row
// whose values stay where the object has no such key.
type jsonRow struct {
	c     *callCtx
	names []string
	cols  []types.T
	base  []types.Datum
}

func rowShape(c *callCtx, in []types.Datum, arg int) (*jsonRow, error) {
	s := &jsonRow{c: c}
	if arg == 1 && c.call.Args[0].Type().Kind() != types.KRecord {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "first argument of %s must be a row type", c.call.Proc.Name)
	}
	if err := checkTexts(in[arg]); err != nil {
		return nil, err
	}
	if arg == 1 && !in[0].Null {
		var err error
		if s.base, err = types.RecordFields(in[0]); err != nil {
			return nil, err
		}
	}
	if c.call.T.OID != types.ORecord {
		return s, s.describe(c.call.T.OID)
	}
	var row *plan.RowCtor // a row that is given says what the result is
	if arg == 1 && !in[0].Null {
		row, _ = c.call.Args[0].(*plan.RowCtor)
	}
	if c.call.Defined != nil {
		if row != nil {
			if err := sameRow(exprTypes(row.Elems), columnTypes(c.call.Defined)); err != nil {
				return nil, err
			}
		}
		for i, col := range c.call.Defined {
			name := col.Name
			if row != nil {
				name = rowFieldName(row, i)
			}
			s.names, s.cols = append(s.names, name), append(s.cols, col.T)
		}
		return s, nil
	}
	if row == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "could not determine row type for result of %s", c.call.Proc.Name).
			WithHint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
	}
	for i, x := range row.Elems {
		s.names, s.cols = append(s.names, rowFieldName(row, i)), append(s.cols, x.Type())
	}
	return s, nil
}

// rowFieldName is the name of a field of a row constructor.
func rowFieldName(row *plan.RowCtor, i int) string {
	if i < len(row.Names) {
		return row.Names[i]
	}
	return "f" + strconv.Itoa(i+1)
}

func exprTypes(list []plan.Expr) []types.T {
	out := make([]types.T, len(list))
	for i, x := range list {
		out[i] = x.Type()
	}
	return out
}

func columnTypes(cols []plan.OutCol) []types.T {
	out := make([]types.T, len(cols))
	for i := range cols {
		out[i] = cols[i].T
	}
	return out
}

// domainBase is the type below a domain, or below an array of one; false for other types.
func (s *jsonRow) domainBase(t types.T) (types.T, bool) {
	if t.OID < types.FirstUserOID || s.c.env.Fmt.Reg == nil {
		return t, false
	}
	return s.c.env.Fmt.Reg.DomainBase(t)
}

// row is the value that the call returns for the fields of one object.
func (s *jsonRow) row(fields []types.Datum) (types.Datum, error) {
	d := newRecord(fields...)
	d.T = s.c.call.T
	if _, ok := s.domainBase(d.T); ok {
		return s.c.env.Fmt.Reg.InDomain(d.T, d)
	}
	return d, nil
}

// describe takes the columns of a composite type.
func (s *jsonRow) describe(typ types.OID) (err error) {
	if s.c.env.Fmt.Reg == nil {
		return sqlerr.Unsupported(-1, "%s of a composite type here", s.c.call.Proc.Name)
	}
	if base, ok := s.domainBase(types.Of(typ)); ok {
		typ = base.OID
	}
	s.names, s.cols, err = s.c.env.Fmt.Reg.Attributes(typ)
	return err
}

// object makes the fields of one object.
func (s *jsonRow) object(v []byte) ([]types.Datum, error) {
	switch jsonKind(v) {
	case '{':
	case '[':
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call populate_composite on an array")
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call populate_composite on a scalar")
	}
	out := make([]types.Datum, len(s.cols))
	for i, t := range s.cols {
		m := lastMember(v, []byte(s.names[i]))
		switch {
		case m == nil && i < len(s.base):
			out[i] = s.base[i]
			continue
		case m == nil:
			m = []byte("null") // which a domain may refuse
		}
		base := types.Null(t)
		if i < len(s.base) {
			base = s.base[i]
		}
		var err error
		if out[i], err = s.value(m, t, base, s.names[i], nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// value converts a JSON value to a type; was is the row whose fields stay where an
// object has no such key, key and at name the place in errors; elements have no key.
func (s *jsonRow) value(v []byte, t types.T, was types.Datum, key string, at []int) (types.Datum, error) {
	if base, ok := s.domainBase(t); ok {
		d, err := s.value(v, base, was, key, at)
		if err != nil {
			return null, err
		}
		return s.c.env.Fmt.Reg.InDomain(t, d)
	}
	kind := jsonKind(v)
	if kind == 'n' {
		return types.Null(t), nil
	}
	k := t.Kind()
	switch {
	case k == types.KJSON || k == types.KJSONB:
		return types.Parse(t, string(v), s.c.env.Fmt)
	case k == types.KArray && kind != '"':
		if kind != '[' {
			return null, errNotJSONArray(key, at)
		}
		return s.array(v, t, key)
	case k == types.KRecord && kind != '"':
		inner := &jsonRow{c: s.c}
		if t.OID == types.ORecord {
			return null, sqlerr.New(sqlerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
		}
		if err := inner.describe(t.OID); err != nil {
			return null, err
		}
		if !was.Null {
			var err error
			if inner.base, err = types.RecordFields(was); err != nil {
				return null, err
			}
		}
		fields, err := inner.object(v)
		if err != nil {
			return null, err
		}
		d := newRecord(fields...)
		d.T = t
		return d, nil
	}
	text := v
	if kind == '"' {
		text = jsonString(v)
	}
	return types.Parse(t, string(text), s.c.env.Fmt)
}

func errNotJSONArray(key string, at []int) error {
	e := sqlerr.New(sqlerr.InvalidTextRepresentation, "expected JSON array")
	indices := ""
	for _, i := range at {
		indices += "[" + strconv.Itoa(i) + "]"
	}
	switch {
	case key == "" && len(at) == 0: // an element of an array, which is not named
		return e
	case key == "":
		return e.WithHint("See the array element %s.", indices)
	case len(at) == 0:
		return e.WithHint("See the value of key \"%s\".", key)
	}
	return e.WithHint("See the array element %s of key \"%s\".", indices, key)
}

// jsonArrayBuild collects the elements of nested JSON arrays; the first leaf
// decides on the number of dimensions.
type jsonArrayBuild struct {
	row   *jsonRow
	elem  types.T
	key   string
	dims  []int
	depth int // of the leaves; 0 as long as there was none
	elems []types.Datum
}

func (s *jsonRow) array(v []byte, t types.T, key string) (types.Datum, error) {
	b := &jsonArrayBuild{row: s, elem: t.ElemType(), key: key}
	if in := s.c.env.Fmt.Reg; b.elem.OID >= types.FirstUserOID && in != nil {
		if _, _, err := in.Attributes(b.elem.OID); err == nil {
			b.elem.User = types.KRecord
		}
	}
	if err := b.collect(v, nil); err != nil {
		return null, err
	}
	if b.depth == 0 {
		b.dims = nil
	}
	lbs := make([]int, len(b.dims))
	for i := range lbs {
		lbs[i] = 1
	}
	d := types.NewArray(b.elem, b.dims, lbs, b.elems)
	d.T = t
	return d, nil
}

func (b *jsonArrayBuild) collect(v []byte, at []int) error {
	level := len(at)
	items := jsonElements(v)
	if level == len(b.dims) {
		if level >= maxArrayDims {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", level+1, maxArrayDims)
		}
		b.dims = append(b.dims, len(items))
	} else if b.dims[level] != len(items) {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed JSON array").
			WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	for i, it := range items {
		here := append(at[:level:level], i)
		if jsonKind(it) == '[' && (b.depth == 0 || level+1 < b.depth) {
			if err := b.collect(it, here); err != nil {
				return err
			}
			continue
		}
		if b.depth == 0 {
			b.depth = level + 1
		}
		if level+1 != b.depth {
			return errNotJSONArray(b.key, here)
		}
		d, err := b.row.value(it, b.elem, types.Null(b.elem), "", nil)
		if err != nil {
			return err
		}
		b.elems = append(b.elems, d)
	}
	return nil
}
