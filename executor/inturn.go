package executor

import (
	"slices"
	"strings"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// What calls change or look at beside their arguments. Sequences are told apart where
// the call names a constant one: the numbers of two serial columns are still drawn
// column by column.
type effects struct {
	bodies   int // volatile functions with bodies, which may do anything
	any      int // calls that see or change something
	drawn    map[types.OID]int
	seen     map[types.OID]int
	anyDrawn int // of whichever sequence the call is told
	last     int // lastval, setting aside what it is of
	set      int // set_config
	read     int // current_setting
}

// inTurn reports whether calls among the expressions see each other's effects, so that
// those of one row have to be made after those of the row before: nextval and currval
// of one sequence, set_config and current_setting, functions with bodies of statements.
func inTurn(es []plan.Expr) bool {
	f := effectsOf(es)
	if f.any < 2 {
		return false
	}
	draws := f.anyDrawn
	for seq, n := range f.drawn {
		if n > 1 || f.seen[seq] > 0 {
			return true
		}
		draws += n
	}
	switch sees := len(f.seen) + f.last; {
	case f.bodies > 0, f.anyDrawn > 0 && draws+sees > 1, draws > 0 && f.last+f.seen[0] > 0:
		return true
	}
	return f.set > 1 || f.set > 0 && f.read > 0
}

func effectsOf(es []plan.Expr) (f effects) {
	for _, e := range es {
		plan.Visit(e, func(x plan.Expr) bool {
			if c, ok := x.(*plan.Call); ok {
				f.add(c)
			}
			return true
		})
	}
	return f
}

func (f *effects) add(c *plan.Call) {
	var seq types.OID // 0: only the call knows
	if len(c.Args) > 0 {
		if k, ok := c.Args[0].(*plan.Const); ok && !k.Val.Null {
			seq = types.OID(k.Val.I)
		}
	}
	switch {
	case c.Proc.SQL != nil && c.Proc.Volatile == 'v':
		f.bodies++
	case c.Proc.Schema != "":
		return
	default:
		switch c.Proc.Src {
		case "nextval_oid", "setval_oid", "setval3_oid":
			if seq == 0 {
				f.anyDrawn++
				break
			}
			if f.drawn == nil {
				f.drawn = map[types.OID]int{}
			}
			f.drawn[seq]++
		case "currval_oid":
			if f.seen == nil {
				f.seen = map[types.OID]int{}
			}
			f.seen[seq]++
		case "lastval":
			f.last++
		case "set_config_by_name":
			f.set++
		case "show_config_by_name", "show_config_by_name_missing_ok":
			f.read++
		default:
			if !strings.HasPrefix(c.Proc.Name, "pg_advisory_") && !strings.HasPrefix(c.Proc.Name, "pg_try_advisory_") {
				return
			}
		}
	}
	f.any++
}

// acts reports whether calls among the expressions see or change something beside their
// arguments.
func acts(es []plan.Expr) bool { return effectsOf(es).any > 0 }

// stepping makes operators, as far as they pass rows as they come, make calls for a row when
// what is above has done with the row before: below a LIMIT those that act, for no more rows
// than are asked for,
//
//	SELECT id FROM (SELECT id, pg_try_advisory_lock(id) AS l FROM job OFFSET 0) j WHERE l LIMIT 1
//
// and in a statement that writes those of volatile bodies, which see the rows written so
// far.
type stepping struct {
	calls func([]plan.Expr) bool // the calls meant
	// through tells to go on below what reads all of its input first: it may read WITH
	// queries that change rows.
	through bool
	// distinct tells that rows pass DISTINCT as they come, too.
	distinct bool
}

// down is about the operators from op down. It reports whether there are such calls. above
// tells that there are some further up: WITH queries that change rows then do so as these
// are read.
func (s stepping) down(op Operator, above bool) (found bool) {
	switch op := op.(type) {
	case *statsOp:
		return s.down(op.Operator, above)
	case *limit:
		return s.down(op.input, above)
	case *project:
		found = s.calls(op.exprs)
		op.stepwise = op.stepwise || found
		return s.down(op.input, above || found) || found
	case *projectSet:
		found = s.calls(op.node.Exprs)
		op.input = inTurnsIf(found, op.input)
		return s.down(op.input, above || found) || found
	case *filter: // which takes such rows one at a time anyway
		found = s.calls(op.each)
		return s.down(op.input, above || found) || found
	case *values:
		found = slices.ContainsFunc(op.node.Rows, s.calls)
		op.single = op.single || found
		return found
	case *appendOp:
		for _, in := range op.inputs {
			found = s.down(in, above) || found
		}
		return found
	case *inTurns:
		return s.down(op.input, above)
	case *distinct:
		if s.distinct {
			return s.down(op.input, above)
		}
	case *apply:
		found = op.right != nil && callsIn(op.node.Right, s.calls)
		op.left = inTurnsIf(found, op.left)
		return s.down(op.left, above || found) || found
	case *cteScan:
		return s.query(op.cte, above)
	case *sortOp:
		if s.through {
			s.down(op.input, false)
		}
	case *group:
		if s.through {
			found = s.calls(groupExprs(op.node))
			op.input = inTurnsIf(found, op.input)
			s.down(op.input, found)
		}
	}
	return false
}

// query is down for a WITH query.
func (s stepping) query(c *cte, above bool) bool {
	switch w, changes := writes(c.op); {
	case c.op == nil || c.step != nil:
		return false
	case changes:
		w.single = w.single || above
		c.lazy = c.lazy || w.single
		return false
	}
	c.lazy = true
	return s.down(c.op, above)
}

// callsIn reports whether there are such calls in a plan.
func callsIn(n plan.Node, calls func([]plan.Expr) bool) bool {
	return callsOf(n, calls) || slices.ContainsFunc(n.Children(), func(c plan.Node) bool { return callsIn(c, calls) })
}

// callsOf reports whether there are such calls in a node, but for its inputs.
func callsOf(n plan.Node, calls func([]plan.Expr) bool) (found bool) {
	plan.MapExprs(n, func(e plan.Expr) plan.Expr {
		found = found || calls([]plan.Expr{e})
		return e
	})
	return found
}

// inTurnsIf is the operator, with its rows passed one at a time if that is wanted.
func inTurnsIf(wanted bool, op Operator) Operator {
	if _, is := op.(*inTurns); is || !wanted {
		return op
	}
	return &inTurns{input: op}
}

// inTurns passes its input's rows one at a time, so that what is above is done with a row
// before it looks at the next one.
type inTurns struct {
	input Operator
	rows  singleRows
}

func (op *inTurns) Open(env *Env) error {
	op.rows.in = nil
	return op.input.Open(env)
}

func (op *inTurns) Next() (*vec.Batch, error) { return op.rows.next(op.input) }

// singleRows takes the batches of an operator apart.
type singleRows struct {
	in  *vec.Batch // under way, of which the first at rows are passed; nil at first
	at  int
	sel [1]uint32
	out vec.Batch
}

// next is the next row of op, nil at the end.
func (s *singleRows) next(op interface{ Next() (*vec.Batch, error) }) (*vec.Batch, error) {
	for s.in == nil || s.at >= s.in.Rows() {
		in, err := op.Next()
		if in == nil || err != nil {
			return nil, err
		}
		s.in, s.at = in, 0
	}
	s.sel[0] = uint32(s.in.Row(s.at))
	s.at++
	s.out = vec.Batch{Cols: s.in.Cols, N: s.in.N, Sel: s.sel[:]}
	return &s.out, nil
}

func (op *inTurns) Close() { op.input.Close() }

// serially computes expressions over the rows of a batch, those of one row after those of
// the row before.
type serially struct {
	rows *rowStore // the results
	one  []*vec.Vec
	view vec.Batch
}

// newSerially returns nil if the expressions do not see each other's effects.
func newSerially(es []plan.Expr) *serially {
	if !inTurn(es) {
		return nil
	}
	return &serially{rows: newRowStore(exprTypes(es)), one: make([]*vec.Vec, len(es))}
}

// compute returns the results, which are valid until the next call.
func (s *serially) compute(env *Env, evals []expr.Eval, in *vec.Batch) (*vec.Batch, error) {
	s.rows.reset()
	for k := range in.Rows() {
		i := in.Row(k)
		b := vec.Batch{Cols: in.Cols, N: in.N, Sel: []uint32{uint32(i)}}
		for j, e := range evals {
			v, err := e.Eval(env.Expr, &b)
			if err != nil {
				return nil, err
			}
			s.one[j] = vec.NewConst(v.Get(i))
		}
		s.rows.appendCols(s.one, nil, 1)
	}
	s.rows.window(&s.view, 0, s.rows.n)
	return &s.view, nil
}

func (s *serially) release() {
	if s != nil {
		s.rows.release()
	}
}
