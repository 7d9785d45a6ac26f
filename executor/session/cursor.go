package session

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser/ast"
)

// cursor is what DECLARE adds to a portal. Rows that were read are kept when the
// cursor may go back.
type cursor struct {
	text   string
	hold   bool
	held   bool // the transaction has ended
	binary bool
	scroll bool
	// noScroll refuses to go back (NO SCROLL).
	noScroll bool
	made     int64

	all []*vec.Batch // of a scrollable or held cursor: all rows
	n   int64        // their number
	at  int64        // current row: 0 before the first, n+1 after the last
}

// declare runs DECLARE.
func (s *Session) declare(ctx context.Context, x *ast.DeclareCursor, c *call) error {
	if s.block == idle && !c.several && !x.Hold {
		return noBlock("DECLARE CURSOR")
	}
	if s.portals[x.Name] != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", x.Name)
	}
	if x.Query.Into != nil {
		return sqlerr.New(sqlerr.InvalidCursorDefinition, "DECLARE CURSOR must not contain SELECT ... INTO")
	}
	p := &plannedStmt{stmt: x.Query, declared: nil}
	if err := s.planNow(ctx, p); err != nil {
		return err
	}
	cur := &cursor{text: c.text, hold: x.Hold, binary: x.Binary, made: s.stmtStart, scroll: x.Scroll != nil && *x.Scroll,
		noScroll: x.Scroll != nil && !*x.Scroll}
	po := &portal{name: x.Name, ps: &prepared{text: c.text, stmt: x.Query, planned: p}, planned: p, cols: p.cols, cursor: cur,
		params: c.params}
	if x.Binary {
		po.formats = []int16{1}
	}
	s.portals[x.Name] = po
	// The cursor sees the data of this moment: its snapshot is opened now.
	if err := s.startPortal(ctx, po); err != nil {
		delete(s.portals, x.Name)
		return err
	}
	return nil
}

// materialize reads all rows of a cursor, so that it can go anywhere.
func (s *Session) materialize(ctx context.Context, p *portal) error {
	c := p.cursor
	if c.all != nil {
		return nil
	}
	if err := p.settle(ctx); err != nil {
		return err
	}
	c.all = []*vec.Batch{}
	if p.pending != nil && p.sent < p.pending.Rows() {
		c.all = append(c.all, copyBatch(rowsOf(p.pending, p.sent, p.pending.Rows())))
	}
	c.all = append(c.all, p.buffer...)
	p.buffer, p.pending = nil, nil
	for _, b := range c.all {
		c.n += int64(b.Rows())
	}
	return nil
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(ctx context.Context, x *ast.Fetch, out sink) (string, int64, error) {
	p := s.portals[x.Cursor]
	if p == nil {
		return "", 0, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", x.Cursor)
	}
	if p.cursor == nil {
		return "", 0, sqlerr.Unsupported(x.Pos(), "FETCH from a portal of the extended protocol")
	}
	tag := "FETCH"
	if x.Move {
		tag = "MOVE"
	}
	to := out
	if x.Move {
		to = discardSink{}
	} else if k, ok := out.(wireSink); ok && p.cursor.binary {
		to = wireSink{w: k.w, formats: []int16{1}}
	}
	if err := s.materialize(ctx, p); err != nil {
		return "", 0, err
	}
	if p.cursor.noScroll && goesBack(x) {
		return "", 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cursor can only scan forward").
			WithHint("Declare it with SCROLL option to enable backward scan.")
	}
	from, step, count := p.cursor.travel(x)
	if p.cols != nil {
		to.begin(p.cols, p.opts)
	}
	n, err := p.cursor.send(to, from, step, count)
	return tag, n, err
}

// goesBack reports whether a direction needs rows that were passed.
func goesBack(x *ast.Fetch) bool {
	switch x.Direction {
	case "PRIOR", "FIRST", "LAST", "ABSOLUTE":
		return true
	case "BACKWARD":
		return x.All || x.Count > 0
	case "RELATIVE", "FORWARD":
		return x.Count < 0
	}
	return false
}

// travel turns a direction into the first row to send, the step, and the number
// of rows, and moves the cursor to where it will stand.
func (c *cursor) travel(x *ast.Fetch) (from, step, count int64) {
	n := x.Count
	single := func(row int64) (int64, int64, int64) {
		switch {
		case row < 1:
			c.at = 0
			return 1, 1, 0
		case row > c.n:
			c.at = c.n + 1
			return 1, 1, 0
		}
		c.at = row
		return row, 1, 1
	}
	forward := func(n int64, all bool) (int64, int64, int64) {
		first := c.at + 1
		left := max(c.n-c.at, 0)
		if all || n > left {
			c.at = c.n + 1
			return first, 1, left
		}
		c.at += n
		return first, 1, n
	}
	backward := func(n int64, all bool) (int64, int64, int64) {
		first := c.at - 1
		left := max(first, 0)
		if all || n > left {
			c.at = 0
			return first, -1, left
		}
		c.at -= n
		return first, -1, n
	}
	switch x.Direction {
	case "NEXT":
		return forward(1, false)
	case "PRIOR":
		return backward(1, false)
	case "FIRST":
		return single(1)
	case "LAST":
		return single(c.n)
	case "ABSOLUTE":
		if n < 0 {
			n = c.n + 1 + n
		}
		return single(n)
	case "RELATIVE":
		return single(c.at + n)
	case "BACKWARD":
		n = -n
		if x.All {
			return backward(0, true)
		}
	default:
		if x.All {
			return forward(0, true)
		}
	}
	switch {
	case n == 0:
		return single(c.at)
	case n < 0:
		return backward(-n, false)
	}
	return forward(n, false)
}

// send passes count rows on, from row number from in steps of +1 or -1.
func (c *cursor) send(to sink, from, step, count int64) (int64, error) {
	for left := count; left > 0; {
		b, r := c.row(from)
		n := 1
		if step > 0 {
			n = int(min(left, int64(b.Rows()-r)))
		}
		if err := to.batch(rowsOf(b, r, r+n)); err != nil {
			return 0, err
		}
		from += step * int64(n)
		left -= int64(n)
	}
	return count, nil
}

// row finds a row's batch and its number there.
func (c *cursor) row(n int64) (*vec.Batch, int) {
	n--
	for _, b := range c.all {
		if n < int64(b.Rows()) {
			return b, int(n)
		}
		n -= int64(b.Rows())
	}
	return nil, 0
}

// closeCursor runs CLOSE.
func (s *Session) closeCursor(x *ast.CloseCursor) (string, error) {
	if x.Name == "" {
		for n, p := range s.portals {
			if p.cursor != nil || n != "" {
				s.closePortal(n)
			}
		}
		return "CLOSE CURSOR ALL", nil
	}
	if p := s.portals[x.Name]; p == nil {
		return "", sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", x.Name)
	}
	s.closePortal(x.Name)
	return "CLOSE CURSOR", nil
}

// holdCursors keeps the rows of WITH HOLD cursors over the end of the
// transaction.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if p.cursor == nil || !p.cursor.hold || p.cursor.held {
			continue
		}
		if err := s.materialize(ctx, p); err != nil {
			return err
		}
		p.cursor.held = true
	}
	return nil
}
