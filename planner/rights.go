package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// The rights that a statement needs are collected while names are bound, and
// checked by the session each time before it runs: a plan may be made by one role
// and used by another. What a view reads, the view's owner must be allowed to.

// need notes a right on a relation in the name of the role that binds it.
func (p *planner) need(obj catalog.Relation, what catalog.Priv) *catalog.Right {
	r := &catalog.Right{Rel: obj, As: p.as, Need: what}
	p.rights = append(p.rights, r)
	return r
}

// limit notes the call of a built-in function that not everybody may execute.
func (p *planner) limit(pr *catalog.Proc) {
	if pr.SQL == nil && !p.System && p.Snap.FunctionACL(p.DB, pr.OID) != nil {
		p.limited = append(p.limited, p.Snap.BuiltinFunction(p.DB, pr))
	}
}

// watch makes references to an entry's columns count for a right.
func (p *planner) watch(r *rel, right *catalog.Right) {
	if right == nil {
		return
	}
	if p.watched == nil {
		p.watched = make(map[int]*catalog.Right)
	}
	p.watched[r.id] = right
}

// read notes the columns that an expression refers to.
func (p *planner) read(x plan.Expr) {
	if p.rec != nil {
		p.rec.reads(x)
	}
	if len(p.watched) == 0 {
		return
	}
	if v, ok := x.(*plan.Var); ok {
		p.readVar(v)
		return
	}
	plan.Visit(x, func(y plan.Expr) bool {
		if v, ok := y.(*plan.Var); ok {
			p.readVar(v)
		}
		return true
	})
}

func (p *planner) readVar(v *plan.Var) {
	right := p.watched[v.Rel]
	switch {
	case right == nil:
	case v.Col >= 0:
		right.Read(v.Col)
	default:
		right.Need |= catalog.PrivSelect
	}
}

// usable checks that the schema of a qualified name may be used. The names in a
// stored text, of a view say, were checked when it was made.
func (p *planner) usable(n *ast.Name) {
	if schema := n.Schema(); schema != "" {
		p.usableSchema(schema, n.Pos())
	}
}

// inDefinition reports whether the text that is being bound is a stored one, or nobody's.
func (p *planner) inDefinition() bool { return p.User == "" || p.trusted > 0 }

// within binds what f does as a part of a stored text, which means what it was bound to
// when it was stored. The names in it were checked then.
func (p *planner) within(calls catalog.Calls, f func()) {
	trusted, kept, only := p.trusted, p.kept, p.only
	defer func() { p.trusted, p.kept, p.only = trusted, kept, only }()
	p.trusted, p.kept, p.only = trusted+1, true, calls
	f()
}

func (p *planner) usableSchema(schema string, off int) {
	if p.inDefinition() {
		return
	}
	if err := p.Snap.MayUseSchema(p.DB, p.User, schema); err != nil {
		if e, ok := err.(*sqlerr.Error); ok {
			err = e.At(off)
		}
		fail(err)
	}
}
