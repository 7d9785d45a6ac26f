package session

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// cursor is what DECLARE adds to a portal.
type cursor struct {
	hold   bool
	held   bool // the transaction has ended
	binary bool
}

// declare runs DECLARE.
func (s *Session) declare(ctx context.Context, x *ast.DeclareCursor, c *call) error {
	if err := checkScroll(x); err != nil {
		return err
	}
	p := &plannedStmt{stmt: x.Query, cursor: true, declared: typesOf(c.params)}
	if err := s.planNow(ctx, p); err != nil {
		return err
	}
	if err := checkDeclared(x); err != nil {
		return err
	}
	if s.block == idle && !c.several && !x.Hold {
		return noBlock("DECLARE CURSOR")
	}
	if s.portals.get(x.Name) != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", x.Name)
	}
	po := &portal{name: x.Name, ps: &prepared{text: s.queryText(), stmt: x.Query, planned: p}, planned: p, cols: p.cols,
		cursor: &cursor{hold: x.Hold, binary: x.Binary}, params: slices.Clone(c.params), made: s.stmtStart, level: s.savepoints()}
	po.back = len(x.Query.Locking) == 0 && goesBackward(p.q.Root)
	if x.Scroll != nil {
		po.back = *x.Scroll
	}
	if po.back && !x.Hold && repeats(p.q) {
		p.inOrder = true
		po.again = func() (*executor.Run, error) {
			defer func(now int64) { s.stmtStart = now }(s.stmtStart)
			s.stmtStart = po.made
			return s.startOn(po)
		}
	}
	if x.Binary {
		po.formats = []int16{1}
	}
	po.locked = s.lockedRows(p)
	s.portals.put(po)
	// The cursor sees the data of this moment: its snapshot is opened now.
	if err := s.startPortal(ctx, po); err != nil {
		s.closePortal(x.Name)
		return err
	}
	return nil
}

// checkScroll refuses options that contradict each other.
func checkScroll(x *ast.DeclareCursor) error {
	switch {
	case x.Scroll != nil && x.BothScroll:
		return sqlerr.New(sqlerr.InvalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL")
	case x.Insensitive && x.Asensitive:
		return sqlerr.New(sqlerr.InvalidCursorDefinition, "cannot specify both ASENSITIVE and INSENSITIVE")
	}
	return nil
}

// checkDeclared refuses queries that do not fit the options; names and types in
// them are right already.
func checkDeclared(x *ast.DeclareCursor) error {
	if w := x.Query.With; w != nil {
		for i := range w.CTEs {
			if _, ok := w.CTEs[i].Stmt.(*ast.Select); !ok {
				return sqlerr.New(sqlerr.FeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH")
			}
		}
	}
	if len(x.Query.Locking) == 0 || len(x.Query.From) == 0 {
		return nil
	}
	strength := x.Query.Locking[0].Strength
	switch {
	case x.Hold:
		return sqlerr.New(sqlerr.FeatureNotSupported, "DECLARE CURSOR WITH HOLD ... FOR %s is not supported", strength).
			WithDetail("Holdable cursors must be READ ONLY.")
	case x.Scroll != nil && *x.Scroll:
		return sqlerr.New(sqlerr.FeatureNotSupported, "DECLARE SCROLL CURSOR ... FOR %s is not supported", strength).
			WithDetail("Scrollable cursors must be READ ONLY.")
	case x.Insensitive:
		return sqlerr.New(sqlerr.InvalidCursorDefinition, "DECLARE INSENSITIVE CURSOR ... FOR %s is not valid", strength).
			WithDetail("Insensitive cursors must be READ ONLY.")
	}
	return nil
}

// goesBackward reports whether a cursor that does not say so may go back, as
// PostgreSQL decides it: where the plan could run backward without keeping rows.
func goesBackward(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan, *plan.IndexUnion, *plan.VirtualScan, *plan.SequenceScan, *plan.FuncScan, *plan.CTEScan, *plan.Sort:
		return true
	case *plan.Values:
		return len(n.Cols) > 0
	case *plan.Project, *plan.Filter, *plan.Limit:
		return goesBackward(n.Children()[0])
	case *plan.Append:
		for _, c := range n.Inputs {
			if !goesBackward(c) {
				return false
			}
		}
		return true
	}
	return false
}

// repeats reports whether a cursor's query gives the same rows in the same order each time
// that it runs on one view, and soon: goesBackward is true of it, and it reads nothing but
// tables.
func repeats(q *plan.Query) bool {
	if u := plan.ParamsOf(q.Root); u.Volatile || u.Routines || len(q.CTEs) > 0 || !goesBackward(q.Root) {
		return false
	}
	var tables func(n plan.Node) bool
	tables = func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.VirtualScan, *plan.SequenceScan:
			return false
		case *plan.Scan:
			if n.Sample != nil {
				return false
			}
		}
		here := true
		plan.MapExprs(n, func(e plan.Expr) plan.Expr {
			plan.Visit(e, func(x plan.Expr) bool {
				_, sub := x.(*plan.SubPlan)
				here = here && !sub
				return here
			})
			return e
		})
		return here && !slices.ContainsFunc(n.Children(), func(c plan.Node) bool { return !tables(c) })
	}
	return tables(q.Root)
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(ctx context.Context, x *ast.Fetch, out sink) (tag string, n int64, err error) {
	p := s.portals.get(x.Cursor)
	if p == nil {
		return "", 0, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", x.Cursor)
	}
	if err := p.use(); err != nil {
		return "", 0, err
	}
	defer p.unuse()
	if !p.started {
		if err := s.startPortal(ctx, p); err != nil {
			p.fail()
			return "", 0, err
		}
	}
	if p.cols == nil && p.done {
		return "", 0, p.cannotRun()
	}
	if p.cols == nil {
		return "", 0, sqlerr.Unsupported(x.Pos(), "FETCH from a portal whose statement returns no rows")
	}
	tag = "FETCH"
	to := out
	if x.Move {
		tag, to = "MOVE", discardSink{}
	} else if k, ok := out.(wireSink); ok && p.cursor != nil && p.cursor.binary {
		to = wireSink{w: k.w, formats: []int16{1}}
	}
	late := &lateSink{sink: to} // a FETCH that fails at once announces no columns
	late.begin(p.cols, s.fmt())
	defer p.during(ctx)()
	if n, err = p.travel(x, late); err != nil {
		p.fail()
		return tag, n, err
	}
	late.announce()
	return tag, n, nil
}

// travel goes where FETCH says and sends the rows that it passes.
func (p *portalRows) travel(x *ast.Fetch, out sink) (int64, error) {
	n := x.Count
	switch x.Direction {
	case "NEXT":
		return p.forward(1, out)
	case "PRIOR":
		return p.backward(1, out)
	case "FIRST":
		return p.single(1+p.over, out)
	case "LAST":
		return p.fromEnd(1, out)
	case "ABSOLUTE":
		if n < 0 {
			return p.fromEnd(-n, out)
		}
		return p.single(n+p.over, out)
	case "RELATIVE":
		return p.single(p.at+n, out)
	case "BACKWARD":
		if x.All {
			return p.backward(0, out)
		}
		n = -n
	default:
		if x.All {
			return p.forward(0, out)
		}
	}
	switch {
	case n < 0:
		return p.backward(-n, out)
	case n > 0:
		return p.forward(n, out)
	case p.onRow():
		return p.single(p.at, out)
	}
	return 0, nil
}

func errForwardOnly() error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// single goes to a row, or before the first or behind the last one.
func (p *portalRows) single(n int64, out sink) (int64, error) {
	if !p.back && n <= p.at && (n > 0 && p.onRow() || p.at > max(n, 0)) {
		return 0, errForwardOnly()
	}
	if n < 1 {
		p.at = 0
		return 0, nil
	}
	if p.locked != nil && n > p.at { // some of the rows between may be passed over
		if by := n - p.at - 1; by > 0 {
			if k, err := p.forward(by, discardSink{}); k < by || err != nil {
				return 0, err
			}
		}
		return p.forward(1, out)
	}
	b, i, err := p.row(n)
	if err != nil {
		return 0, err
	}
	if b == nil {
		p.at = p.read + 1
		return 0, nil
	}
	p.at = n
	return 1, p.send(b, i, i+1, out)
}

// fromEnd goes to the n-th row from the end.
func (p *portalRows) fromEnd(n int64, out sink) (int64, error) {
	if err := p.toEnd(); err != nil {
		return 0, err
	}
	if !p.back {
		return 0, errForwardOnly()
	}
	return p.single(p.read+1-n, out)
}

// backward sends up to limit rows (0: all) from the one before the current one.
func (p *portalRows) backward(limit int64, out sink) (n int64, err error) {
	if !p.back {
		return 0, errForwardOnly()
	}
	for p.at > 0 && (limit == 0 || n < limit) {
		p.at--
		if p.at == 0 {
			break
		}
		b, i, err := p.row(p.at)
		if err != nil {
			return n, err
		}
		if err := p.send(b, i, i+1, out); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// currentOf returns the key of the row of the table that a cursor stands on, nil
// when that row lies in another table of the same tree.
func (s *Session) currentOf(name string, t *catalog.Table) ([]byte, error) {
	bad := func(format string, args ...any) error { return sqlerr.New(sqlerr.InvalidCursorState, format, args...) }
	p := s.portals.get(name)
	switch {
	case p == nil:
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
	case p.planned == nil || p.planned.q.Tag != "SELECT":
		return nil, bad("cursor \"%s\" is not a SELECT query", name)
	case p.cursor != nil && p.cursor.held:
		return nil, bad("cursor \"%s\" is held from a previous transaction", name)
	}
	q := p.planned.q
	var place *plan.Place
	locked := p.planned.locks()
	for i := range q.Places {
		if l := &q.Places[i]; l.Table.OID == t.OID || slices.ContainsFunc(l.Tree, func(m *catalog.Table) bool { return m.OID == t.OID }) {
			if place != nil {
				return nil, bad("cursor \"%s\" has multiple FOR UPDATE/SHARE references to table \"%s\"", name, t.Name)
			}
			place = l
		}
	}
	switch {
	case place == nil && locked:
		return nil, bad("cursor \"%s\" does not have a FOR UPDATE/SHARE reference to table \"%s\"", name, t.Name)
	case place == nil:
		return nil, bad("cursor \"%s\" is not a simply updatable scan of table \"%s\"", name, t.Name)
	case !p.onRow() || p.failed:
		return nil, bad("cursor \"%s\" is not positioned on a row", name)
	}
	b, i, err := p.row(p.at)
	if err != nil {
		return nil, err
	}
	r := b.Row(i)
	if place.Tree != nil {
		if at := b.Cols[place.OIDCol]; types.OID(at.I64[at.Idx(r)]) != t.OID {
			return nil, nil
		}
	}
	key := b.Cols[place.Col]
	return bytes.Clone(s.tx.moved.follow(p.moved, t.OID, key.B[key.Idx(r)])), nil
}

// closeCursor runs CLOSE.
func (s *Session) closeCursor(x *ast.CloseCursor) (string, error) {
	if x.Name == "" {
		for p := range s.portals.all {
			if (p.cursor != nil || p.name != "") && !p.running {
				s.dropPortal(p)
			}
		}
		return "CLOSE CURSOR ALL", nil
	}
	p := s.portals.get(x.Name)
	if p == nil {
		return "", sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", x.Name)
	}
	if p.running {
		return "", sqlerr.New(sqlerr.InvalidCursorState, "cannot drop active portal \"%s\"", x.Name)
	}
	s.dropPortal(p)
	return "CLOSE CURSOR", nil
}

// holdCursors keeps the rows of WITH HOLD cursors over the end of the
// transaction.
func (s *Session) holdCursors(ctx context.Context) error {
	for p := range s.portals.all {
		if p.cursor == nil || !p.cursor.hold || p.cursor.held {
			continue
		}
		if p.failed {
			continue
		}
		if err := p.settle(ctx); err != nil {
			return err
		}
		if p.err != nil {
			return p.err
		}
		p.cursor.held = true
	}
	return nil
}
