package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// recorder keeps what the binder found out about the clauses of a query, from
// which the query's text is made anew: PostgreSQL prints the analysed query.
type recorder struct {
	selects map[*ast.Select]*selectNote
	queries map[*query]*ast.Select
	bound   map[*ast.Select]*query
	froms   map[ast.FromItem]*rel
	rels    map[int]*rel // the entries of froms and joins by number
	on      map[*ast.Join][]plan.Expr
	merges  map[*ast.Join][]mergedCol
	joins   map[*ast.Join]*rel      // joins with an alias, as entries
	under   map[[2]int]plan.Expr    // what the columns of joins with an alias are
	exprs   map[ast.Expr]plan.Expr  // GROUP BY, LIMIT, windows, functions in FROM
	merged  map[plan.Expr]mergedCol // columns of USING that are no column of either side
	read    map[[2]int]bool         // the columns that are read, by entry and number
	fields  []catalog.ColRef        // the columns of tables that are taken from values of their row types
	changes map[ast.Stmt]*changeNote
}

// mergedCol is a column of USING: the how-manieth of which join, and what it is on
// the left and on the right. It may be plain, one of both.
type mergedCol struct {
	join  *ast.Join
	at    int
	name  string
	l, r  plan.Expr
	plain bool
}

// selectNote is a SELECT core before grouping and windows change it.
type selectNote struct {
	block         *block
	targets       []target
	where, having []plan.Expr
	sort          []sortKey
	distinctOn    []int
}

func newRecorder() *recorder {
	return &recorder{selects: map[*ast.Select]*selectNote{}, queries: map[*query]*ast.Select{}, bound: map[*ast.Select]*query{},
		froms: map[ast.FromItem]*rel{}, rels: map[int]*rel{}, on: map[*ast.Join][]plan.Expr{},
		merges: map[*ast.Join][]mergedCol{}, joins: map[*ast.Join]*rel{}, under: map[[2]int]plan.Expr{}, exprs: map[ast.Expr]plan.Expr{},
		merged: map[plan.Expr]mergedCol{}, read: map[[2]int]bool{}, changes: map[ast.Stmt]*changeNote{}}
}

// record remembers what an expression of a clause was bound to, and returns it.
func (p *planner) record(x ast.Expr, e plan.Expr) plan.Expr {
	if p.rec != nil && x != nil {
		p.rec.exprs[x] = e
	}
	return e
}

// merge remembers a column of USING, whose value is x.
func (rec *recorder) merge(j *ast.Join, name string, l, r, x plan.Expr) {
	_, plain := x.(*plan.Var)
	m := mergedCol{j, len(rec.merges[j]), name, l, r, plain}
	rec.merges[j] = append(rec.merges[j], m)
	if _, below := rec.merged[x]; !plain && !below { // else it is the value of a join below
		rec.merged[x] = m
	}
}

// reads remembers which columns an expression refers to. A whole row is none of
// its columns.
func (rec *recorder) reads(x plan.Expr) {
	plan.Visit(x, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.RowCtor:
			return y.Of == 0
		case *plan.Var:
			if in := rec.under[[2]int{y.Rel, y.Col}]; in != nil {
				rec.reads(in)
			} else {
				rec.read[[2]int{y.Rel, y.Col}] = true
			}
		}
		return true
	})
}

// shown is an expression that is written otherwise than as what it was bound to.
// It is only in queries that are bound for their text.
type shown struct {
	plan.At
	form string
	word string // the operator, or what stands behind
	args []plan.Expr
}

// The forms of expressions that are only shown.
const (
	formTest     = "test"      // (x word)
	formRows     = "rows"      // (ROW(args of the first half) word ROW(the others))
	formRowQuery = "row query" // ((args) word (query)): the query is the last of args
)

// MapChildren maps the arguments.
func (s *shown) MapChildren(f func(plan.Expr) plan.Expr) plan.Expr {
	c := *s
	c.args = make([]plan.Expr, len(s.args))
	for i, x := range s.args {
		c.args[i] = f(x)
	}
	return &c
}

// readField notes that the i-th field of a value of type t is taken: of a table's row it
// is the table's column.
func (p *planner) readField(t types.T, i int) {
	to := p.fields
	if p.rec != nil {
		to = &p.rec.fields
	}
	if to == nil {
		return
	}
	in := p.Snap.TypeInfo(p.Snap.BaseType(t).OID)
	if in == nil || in.RelID < types.FirstUserOID || in.Elem != 0 {
		return
	}
	rel := p.Snap.RelationByOID(p.DB, in.RelID)
	if rel == nil {
		return
	}
	for k, c := range rel.RelColumns() {
		if c.Dropped {
			continue
		}
		if i == 0 {
			*to = append(*to, catalog.ColRef{Rel: in.RelID, Col: k})
			return
		}
		i--
	}
}
