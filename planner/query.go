package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// query is a bound query: a body with ORDER BY and LIMIT. Its output columns
// are the first ncols targets of its block, or the set operation's columns.
type query struct {
	rel           int // the entry number under which others see its columns
	cols          []plan.OutCol
	block         *block    // the select core or VALUES …
	setop         *setop    // … or a set operation
	sort          []sortKey // over the block's targets
	added         int       // how many of these, the last ones, ORDER BY does not have
	limit, offset plan.Expr
	ties          bool
	expect        float64 // rows that are probably read of it, where it has no LIMIT itself; 0: all
	atMost        bool    // whoever reads it has the LIMIT: it may pass more rows, and should not
	locks         []lockClause
	ctes          []*cteDef // its WITH clause
	ref           *cteDef   // the query is a reference to a WITH query …
	work          bool      // … or to the working table of a recursive one
	dml           plan.Node // the query is a data-modifying statement, planned already
}

// setop is a set operation over two queries with equal column types.
type setop struct {
	op   string
	all  bool
	l, r *query
}

// sortKey orders by a target.
type sortKey struct {
	target           int
	desc, nullsFirst bool
	using            string // the operator, where it is not the type's own
}

// block is one SELECT core.
type block struct {
	from       []*joinItem // comma list; entries are joined as inner joins
	values     [][]plan.Expr
	where      []plan.Expr // conjuncts
	grouped    bool
	keys       []plan.Expr // GROUP BY
	ownKeys    map[int]int // targets that GROUP BY names, with grouping sets: each one's key
	sets       [][]int     // grouping sets; nil: one set of all keys
	aggs       []plan.Agg
	grpRel     int // entry number of the grouping's output: keys, then aggregates, then GROUPING mask
	having     []plan.Expr
	wins       []*winGroup
	targets    []target
	ncols      int // visible targets; the rest are for sorting
	hasSRF     bool
	distinct   bool
	distinctOn []int // targets of DISTINCT ON; nil: all visible
	rels       map[int]*rel
	semis      []*semi // joins made of EXISTS and IN
}

// distinguishes reports whether DISTINCT compares rows by a target.
func (b *block) distinguishes(i int) bool {
	return b.distinct && (b.distinctOn == nil && i < b.ncols || contains(b.distinctOn, i))
}

type target struct {
	x      plan.Expr
	name   string
	tbl    types.OID
	attnum int16
}

// winGroup is the set of window functions over one window.
type winGroup struct {
	rel       int // entry number of its output
	key       string
	partition []plan.Expr
	order     []plan.SortKey
	named     int
	funcs     []plan.WindowFunc
	stop      []plan.Expr // run conditions over its output: see runCondition
}

// rel is an entry of the range table: something with columns in FROM.
type rel struct {
	id         int
	alias      string
	cols       []plan.OutCol // by column number; dropped ones have an empty name
	table      *catalog.Table
	virt       *catalog.Virtual
	seq        *catalog.Sequence
	query      *query
	view       *catalog.View // whose query it is
	funcs      []plan.Expr
	fcols      []int
	ordinality bool
	numbered   bool        // functions have a further column like that of WITH ORDINALITY; see numberedRows
	names      []nsCol     // the live columns by the names that the query gives them
	lateral    bool        // refers to earlier entries
	needKey    bool        // the row key is wanted (DML, locking)
	target     bool        // the table that the statement changes
	cursor     string      // whose current row of the table is meant (WHERE CURRENT OF)
	proposed   bool        // the row that INSERT proposes, which has no system columns
	upserted   bool        // the row that ON CONFLICT DO UPDATE inserted or changed
	tree       *tree       // of a table whose rows are in several, nil for others
	shown      bool        // the query is bound for its text
	sample     *sample     // TABLESAMPLE, nil for all rows
	secure     []plan.Expr // what hides rows from who reads them: see policy.go
	// what the indexes of the table compute, nil until it is looked for
	parts map[*catalog.Index]indexParts
	exprs []indexExpr // the keys among that
	mark  int         // a derived table's column that is true in each row, 0: none yet
}

// rowType is the type of a whole row of a table, view or system relation, 0 for
// others.
func (r *rel) rowType() types.OID {
	switch {
	case r.table != nil:
		return r.table.RowType
	case r.view != nil:
		return r.view.RowType
	case r.virt != nil:
		return r.virt.RowType
	}
	return 0
}

// joinItem is a tree of joins over range-table entries.
type joinItem struct {
	rel  *rel // a leaf …
	kind plan.JoinKind
	l, r *joinItem
	on   []plan.Expr // conjuncts of the join condition
}

// each calls f for the joins and leaves of the tree, those below first.
func (j *joinItem) each(f func(*joinItem)) {
	if j.rel == nil {
		j.l.each(f)
		j.r.each(f)
	}
	f(j)
}

// eachItem calls f for the joins and leaves of the block's FROM list.
func (b *block) eachItem(f func(*joinItem)) {
	for _, j := range b.from {
		j.each(f)
	}
}

// ids are the numbers of the join's entries.
func (j *joinItem) ids() relSet {
	if j.rel != nil {
		return relSetOf(j.rel.id)
	}
	return j.l.ids().union(j.r.ids())
}

// semi is a semi or anti join with a query, taken from a conjunct; or a left join that
// waits for the join order, which has no query (see leftorder.go).
type semi struct {
	kind      plan.JoinKind
	q         *query      // the inner query without its correlated conjuncts
	conds     []plan.Expr // join condition over the outer's Vars and the inner's
	nullAware bool
	inner     *semiInner // once it is planned
	beside    relSet     // of a left join: the entries of its first side
}

// subquery is a subquery in an expression, not yet planned.
type subquery struct {
	plan.At
	kind plan.SubKind
	q    *query
	x    []plan.Expr // left side of IN, op ANY, op ALL
	xrel int         // entry number under which test sees x
	test plan.Expr
	op   string // of op ANY and op ALL
	eq   bool   // test is a conjunction of equalities x[i] = column i
	not  bool
}

// MapChildren maps the expressions of the enclosing block only.
func (s *subquery) MapChildren(f func(plan.Expr) plan.Expr) plan.Expr {
	c := *s
	c.x = make([]plan.Expr, len(s.x))
	for i, x := range s.x {
		c.x[i] = f(x)
	}
	return &c
}

// aggRef marks an aggregate call while a block is bound.
type aggRef struct {
	plan.At
	agg   plan.Agg
	win   *winRef
	call  *ast.Call
	owner *block // the block that computes the aggregate; its own or an enclosing one
}

type winRef struct {
	key       string
	partition []plan.Expr
	order     []plan.SortKey
	frame     plan.Frame
	named     int // where the clause WINDOW defines it; math.MaxInt: after all of those
}

// MapChildren maps arguments, filter and ordering.
func (a *aggRef) MapChildren(f func(plan.Expr) plan.Expr) plan.Expr {
	c := *a
	c.agg.Args = make([]plan.Expr, len(a.agg.Args))
	for i, x := range a.agg.Args {
		c.agg.Args[i] = f(x)
	}
	if a.agg.Filter != nil {
		c.agg.Filter = f(a.agg.Filter)
	}
	c.agg.OrderBy = mapKeys(a.agg.OrderBy, f)
	if a.win != nil {
		w := *a.win
		w.partition = make([]plan.Expr, len(a.win.partition))
		for i, x := range a.win.partition {
			w.partition[i] = f(x)
		}
		w.order = mapKeys(a.win.order, f)
		c.win = &w
	}
	return &c
}

func mapKeys(l []plan.SortKey, f func(plan.Expr) plan.Expr) []plan.SortKey {
	out := make([]plan.SortKey, len(l))
	for i, k := range l {
		out[i] = k
		out[i].X = f(k.X)
	}
	return out
}

// mapQuery applies f to every expression of a query, at all depths, in place
// (the expressions are replaced, the query's structure stays).
func mapQuery(q *query, f func(plan.Expr) plan.Expr) {
	if q == nil {
		return
	}
	var deep func(e plan.Expr) plan.Expr
	deep = func(e plan.Expr) plan.Expr {
		if e == nil {
			return nil
		}
		return plan.Map(e, func(x plan.Expr) plan.Expr {
			if s, ok := x.(*subquery); ok {
				mapQuery(s.q, f)
				if s.test != nil {
					s.test = deep(s.test)
				}
			}
			return f(x)
		})
	}
	for _, c := range q.ctes {
		mapQuery(c.q, f)
		mapQuery(c.stepQ, f)
	}
	if q.setop != nil {
		mapQuery(q.setop.l, f)
		mapQuery(q.setop.r, f)
	}
	q.limit, q.offset = deep(q.limit), deep(q.offset)
	b := q.block
	if b == nil {
		return
	}
	list := func(l []plan.Expr) {
		for i := range l {
			l[i] = deep(l[i])
		}
	}
	for _, r := range b.values {
		list(r)
	}
	b.eachItem(func(j *joinItem) {
		if j.rel != nil {
			mapQuery(j.rel.query, f)
			list(j.rel.funcs)
			if s := j.rel.sample; s != nil {
				s.cond = deep(s.cond)
			}
			list(j.rel.secure)
			return
		}
		list(j.on)
	})
	list(b.where)
	list(b.keys)
	list(b.having)
	agg := func(a *plan.Agg) {
		list(a.Args)
		a.Filter = deep(a.Filter)
		for i := range a.OrderBy {
			a.OrderBy[i].X = deep(a.OrderBy[i].X)
		}
	}
	for i := range b.aggs {
		agg(&b.aggs[i])
	}
	for _, w := range b.wins {
		list(w.partition)
		for i := range w.order {
			w.order[i].X = deep(w.order[i].X)
		}
		for i := range w.funcs {
			agg(&w.funcs[i].Agg)
			fr := &w.funcs[i].Frame
			fr.Start, fr.End = deep(fr.Start), deep(fr.End)
		}
	}
	for i := range b.targets {
		b.targets[i].x = deep(b.targets[i].x)
	}
	for _, s := range b.semis {
		mapQuery(s.q, f)
		list(s.conds)
	}
}

// relsOf collects the entry numbers of the Vars in e, subqueries included.
func relsOf(e plan.Expr) (in relSet) {
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Var:
			in.add(x.Rel)
		case *subquery:
			in.addAll(relsWithin(x.q))
		}
		return true
	})
	return in
}

// relsWithin is relsOf of all expressions of a query.
func relsWithin(q *query) (in relSet) {
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok {
			in.add(v.Rel)
		}
		return e
	})
	return in
}
