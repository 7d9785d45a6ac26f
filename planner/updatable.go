package planner

import (
	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// viewAnalysis tells whether INSERT, UPDATE and DELETE work on a view, by its
// own query: a SELECT from one table or view of which each row is one row.
type viewAnalysis struct {
	query *ast.Select
	why   string           // why the view is not updatable; "" when it is
	base  catalog.Relation // what it selects from; nil when it is not updatable
	// cols are the columns of base that the view's columns are, -1 for those that
	// cannot be assigned; whys tells why.
	cols []int
	whys []string
}

// The reasons, as PostgreSQL gives them in details.
const (
	notBaseColumn      = "View columns that are not columns of their base relation are not updatable."
	systemViewColumn   = "View columns that refer to system columns are not updatable."
	noUpdatableColumns = "Views that have no updatable columns are not automatically updatable."
	wholeRowCol        = "View columns that return whole-row references are not updatable."
)

// analyseView binds a view's query, in a planner of its own: what it needs is
// not what the statement needs.
func (p *planner) analyseView(v *catalog.View) *viewAnalysis {
	s, err := p.Texts.ParseQuery(v.Query)
	if err != nil {
		fail(err)
	}
	in := newPlanner(p.Context)
	in.depth, in.only = 0, v.CallsOf(v.Query)
	a := in.analyseQuery(s)
	if a.base != nil {
		// the names of columns are those of the statement's catalog, the analysis is
		// the query's own
		for len(a.cols) < len(v.Columns) {
			a.cols, a.whys = append(a.cols, -1), append(a.whys, notBaseColumn)
		}
	}
	return a
}

func (p *planner) analyseQuery(s *ast.Select) *viewAnalysis {
	a := &viewAnalysis{query: s}
	var q *query
	if s.SetOp == nil && s.With == nil && s.Values == nil {
		q = p.bindSelect(s, nil)
	}
	switch {
	case s.SetOp == nil && (s.Distinct || s.DistinctOn != nil):
		a.why = "Views containing DISTINCT are not automatically updatable."
	case s.GroupBy != nil:
		a.why = "Views containing GROUP BY are not automatically updatable."
	case s.Having != nil:
		a.why = "Views containing HAVING are not automatically updatable."
	case s.SetOp != nil:
		a.why = "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."
	case s.With != nil:
		a.why = "Views containing WITH are not automatically updatable."
	case s.Limit != nil || s.Offset != nil:
		a.why = "Views containing LIMIT or OFFSET are not automatically updatable."
	case q != nil && q.block.grouped:
		a.why = "Views that return aggregate functions are not automatically updatable."
	case q != nil && len(q.block.wins) > 0:
		a.why = "Views that return window functions are not automatically updatable."
	case q != nil && q.block.hasSRF:
		a.why = "Views that return set-returning functions are not automatically updatable."
	default:
		a.base = p.singleBase(s)
		switch {
		case a.base == nil:
			a.why = "Views that do not select from a single table or view are not automatically updatable."
		case s.From[0].(*ast.TableRef).Tablesample != nil:
			a.why = "Views containing TABLESAMPLE are not automatically updatable."
		}
	}
	if a.why != "" {
		return a
	}
	id := q.block.from[0].rel.id
	seen := map[int]bool{}
	for i := range q.block.ncols {
		col, why := -1, notBaseColumn
		switch x := q.block.targets[i].x.(type) {
		case *plan.Var:
			switch {
			case x.Rel != id:
			case x.Col < 0:
				why = systemViewColumn
			default:
				col, why = x.Col, ""
			}
		case *plan.RowCtor:
			if _, ref := targetRef(s, i); ref {
				why = wholeRowCol
			}
		case *plan.Const:
			if name, ref := targetRef(s, i); ref && name != "" {
				why = systemViewColumn
			}
		}
		seen[col] = true
		a.cols, a.whys = append(a.cols, col), append(a.whys, why)
	}
	return a
}

// targetRef is the name of a select list's entry that is a plain reference.
func targetRef(s *ast.Select, i int) (string, bool) {
	if i >= len(s.Targets) {
		return "", false
	}
	c, ok := s.Targets[i].X.(*ast.ColumnRef)
	if !ok || c.Star || len(c.Parts) == 0 {
		return "", false
	}
	return c.Parts[len(c.Parts)-1], true
}

// singleBase is the table or view that a query selects from, nil if it is not one.
func (p *planner) singleBase(s *ast.Select) catalog.Relation {
	if len(s.From) != 1 {
		return nil
	}
	ref, ok := s.From[0].(*ast.TableRef)
	if !ok {
		return nil
	}
	switch r := p.lookupRelation(&ref.Name).(type) {
	case *catalog.Table:
		return r
	case *catalog.View:
		if r.Materialized == nil {
			return r
		}
	case *catalog.Virtual:
		return r
	}
	return nil
}

// The changes that a relation takes, as pg_relation_is_updatable has them.
const (
	EventUpdate = 1 << 2
	EventInsert = 1 << 3
	EventDelete = 1 << 4
)

// Updatable tells which changes a view takes, and into which of its columns.
func Updatable(c *Context, v *catalog.View) (events int, cols []bool, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	cols = make([]bool, len(v.Columns))
	if v.Materialized != nil {
		return 0, cols, nil
	}
	at := make([]int, len(v.Columns))
	for i := range at {
		at[i] = i
	}
	for range maxExprDepth / viewLevel {
		a := p.analyseView(v)
		if a.why != "" {
			return 0, make([]bool, len(cols)), nil
		}
		some := false
		for i := range at {
			if at[i] >= 0 {
				at[i] = a.cols[at[i]]
			}
			cols[i] = at[i] >= 0
			some = some || cols[i]
		}
		switch b := a.base.(type) {
		case *catalog.Table:
			if events = EventDelete; some {
				events |= EventInsert | EventUpdate
			}
			return events, cols, nil
		case *catalog.View:
			v = b
			continue
		}
		break
	}
	return 0, make([]bool, len(cols)), nil
}

// NotUpdatable tells why a query cannot be a view WITH CHECK OPTION, "" if it can.
func NotUpdatable(c *Context, s *ast.Select) (why string, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	a := p.analyseQuery(s)
	if a.why != "" {
		return a.why, nil
	}
	for _, col := range a.cols {
		if col >= 0 {
			return "", nil
		}
	}
	return noUpdatableColumns, nil
}
