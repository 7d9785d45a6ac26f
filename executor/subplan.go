package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// subplan runs a subquery of an expression. The results of correlated ones are
// remembered by the values of the parameters they depend on, within bounds;
// those of uncorrelated ones are kept by the expression (expr.SubCache).
type subplan struct {
	node *plan.SubPlan
	op   Operator
	busy bool

	params []int // slots of the outer values it depends on; nil: do not remember
	memo   *subMemo
}

// subMemo keeps results by parameter values.
type subMemo struct {
	keys         *keySet
	rows         []*rowStore
	size         int64
	hits, misses int
	cols         []*vec.Vec
	hash         []uint64
}

const (
	memoMaxBytes  = 1 << 20 // of results remembered per subplan
	memoMaxMisses = 4096    // without a hit for every fourth, remembering stops
)

// subplanOf returns the subplan's operators, built at its first use.
func (r *Run) subplanOf(sub *plan.SubPlan) (*subplan, error) {
	if s := r.subs[sub]; s != nil {
		return s, nil
	}
	op, err := r.build.node(sub.Plan)
	if err != nil {
		return nil, err
	}
	s := &subplan{node: sub, op: op}
	if len(sub.Outer) > 0 {
		u := plan.ParamsOf(sub.Plan)
		if !u.Volatile {
			s.params = u.Outer(len(r.query.Params))
			ts := make([]types.T, len(s.params))
			for i, idx := range s.params {
				ts[i] = u.Used[idx]
			}
			s.memo = &subMemo{keys: newKeySet(ts)}
		}
	}
	if r.subs == nil {
		r.subs = make(map[*plan.SubPlan]*subplan)
	}
	r.subs[sub] = s
	return s, nil
}

// runSub is expr.Env.RunSub.
func (r *Run) runSub(x *expr.Env, sub *plan.SubPlan, yield func(*vec.Batch) (bool, error)) error {
	s, err := r.subplanOf(sub)
	if err != nil {
		return err
	}
	env := r.env
	if x != env.Expr {
		e := *env
		e.Expr = x
		env = &e
	}
	if s.busy {
		// The subplan calls itself by way of a function: it needs operators of
		// its own.
		had := len(r.retained)
		op, err := r.build.node(sub.Plan)
		if err != nil {
			return err
		}
		defer func() {
			for _, x := range r.retained[had:] {
				x.release()
			}
			r.retained = r.retained[:had]
		}()
		return runOnce(env, op, yield)
	}
	s.busy = true
	defer func() { s.busy = false }()
	if s.memo == nil || s.memo.useless() {
		return runOnce(env, s.op, yield)
	}
	return s.remember(env, yield)
}

// runOnce passes the rows of one run.
func runOnce(env *Env, op Operator, yield func(*vec.Batch) (bool, error)) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	for {
		b, err := op.Next()
		if b == nil || err != nil {
			return err
		}
		more, err := yield(b)
		if err != nil || !more {
			return err
		}
	}
}

func (m *subMemo) useless() bool { return m.misses > memoMaxMisses && m.hits < m.misses/4 }

// remember answers from the memo, or runs the subplan and keeps its rows.
func (s *subplan) remember(env *Env, yield func(*vec.Batch) (bool, error)) error {
	m := s.memo
	m.cols = m.cols[:0]
	for i, idx := range s.params {
		d := env.Expr.Params[idx]
		d.T = m.keys.keys.cols[i].T
		m.cols = append(m.cols, vec.NewConst(d))
	}
	m.hash = hashRows(m.cols, nil, 1, m.hash)
	if k := m.keys.find(m.cols, 0, m.hash[0]); k >= 0 {
		m.hits++
		return replay(m.rows[k], yield)
	}
	m.misses++
	// The key is copied before the subplan runs, which may set other parameters.
	key := newRowStore(typesOf(m.cols))
	key.appendCols(m.cols, nil, 1)
	hash := m.hash[0]
	var kept *rowStore
	complete, err := s.runAndKeep(env, &kept, yield)
	if err != nil || !complete {
		return err
	}
	size := int64(256)
	if kept != nil {
		size += kept.size
	}
	if m.size+size <= memoMaxBytes && m.keys.find(key.cols, 0, hash) < 0 {
		m.keys.add(key.cols, 0, hash)
		m.rows = append(m.rows, kept)
		m.size += size
	}
	return nil
}

// runAndKeep runs the subplan, copies its rows, and reports whether the copy can
// stand for every later run.
func (s *subplan) runAndKeep(env *Env, kept **rowStore, yield func(*vec.Batch) (bool, error)) (bool, error) {
	complete, small := true, true
	err := runOnce(env, s.op, func(b *vec.Batch) (bool, error) {
		if *kept == nil {
			*kept = newRowStore(typesOf(b.Cols))
		}
		if small = small && (*kept).size < memoMaxBytes/8; small {
			(*kept).append(b)
		}
		more, err := yield(b)
		if !more {
			// EXISTS never looks further; others may, with another left value.
			complete = s.node.Kind == plan.SubExists
		}
		return more, err
	})
	return complete && small, err
}

func replay(rows *rowStore, yield func(*vec.Batch) (bool, error)) error {
	if rows == nil {
		return nil
	}
	var view vec.Batch
	for at := 0; at < rows.n; at += vec.BatchSize {
		rows.window(&view, at, min(at+vec.BatchSize, rows.n))
		if more, err := yield(&view); err != nil || !more {
			return err
		}
	}
	return nil
}

func typesOf(cols []*vec.Vec) []types.T {
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = c.T
	}
	return ts
}

// close forgets results: they hold for one statement.
func (s *subplan) close() {
	s.op.Close()
	s.busy = false
	if m := s.memo; m != nil {
		m.keys.release()
		m.rows, m.size, m.hits, m.misses = nil, 0, 0, 0
	}
}
