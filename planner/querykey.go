package planner

import (
	"fmt"
	"strings"

	"kvsqld/planner/plan"
)

// keyWriter writes the keys of expressions. The entries of a subquery's own FROM,
// and its WITH queries, count by the order in which they are met, so that the same
// query written twice has the same key.
type keyWriter struct {
	strings.Builder
	rels map[int]int
	ctes map[*cteDef]int
}

// own says that an entry number belongs to the subquery being written.
func (k *keyWriter) own(rel int) {
	if k.rels == nil {
		k.rels = map[int]int{}
	}
	if _, ok := k.rels[rel]; !ok {
		k.rels[rel] = len(k.rels)
	}
}

func (k *keyWriter) list(l []plan.Expr) {
	k.WriteByte('(')
	for _, x := range l {
		k.expr(x)
		k.WriteByte(',')
	}
	k.WriteByte(')')
}

func (k *keyWriter) sortKeys(l []plan.SortKey) {
	for _, s := range l {
		fmt.Fprintf(k, "%v %v ", s.Desc, s.NullsFirst)
		k.expr(s.X)
	}
}

func (k *keyWriter) agg(a *plan.Agg) {
	fmt.Fprintf(k, "agg %d/%d %v %v %d ", a.Proc.OID, a.T.OID, a.Star, a.Distinct, a.Direct)
	k.list(a.Args)
	k.expr(a.Filter)
	k.sortKeys(a.OrderBy)
}

func (k *keyWriter) subquery(s *subquery) {
	fmt.Fprintf(k, "sub%d %q %v %v/%d", s.kind, s.op, s.eq, s.not, s.T.OID)
	k.list(s.x)
	if s.test != nil {
		k.own(s.xrel)
	}
	k.query(s.q)
	k.expr(s.test)
}

// query writes what a query computes, and for what is not worth comparing its
// identity.
func (k *keyWriter) query(q *query) {
	if q == nil {
		k.WriteByte('-')
		return
	}
	if q.dml != nil || len(q.locks) > 0 {
		fmt.Fprintf(k, "%p", q)
		return
	}
	k.own(q.rel)
	for _, c := range q.ctes {
		if k.ctes == nil {
			k.ctes = map[*cteDef]int{}
		}
		k.ctes[c] = len(k.ctes)
		fmt.Fprintf(k, "with %q %v %v %v", c.name, c.recursive, c.unionAll, c.materialized != nil && *c.materialized)
		if c.extra > 0 {
			fmt.Fprintf(k, "%p", c)
		}
		k.query(c.q)
		k.query(c.stepQ)
	}
	if q.ref != nil {
		if n, ok := k.ctes[q.ref]; ok {
			fmt.Fprintf(k, "ref %d %v", n, q.work)
		} else {
			fmt.Fprintf(k, "ref %p %v", q.ref, q.work)
		}
	}
	if s := q.setop; s != nil {
		fmt.Fprintf(k, "%s %v", s.op, s.all)
		k.query(s.l)
		k.query(s.r)
	}
	if q.block != nil {
		k.block(q.block)
	}
	fmt.Fprintf(k, "%v %d %v", q.sort, q.added, q.ties)
	k.expr(q.limit)
	k.expr(q.offset)
}

func (k *keyWriter) block(b *block) {
	if len(b.semis) > 0 {
		fmt.Fprintf(k, "%p", b)
		return
	}
	for _, j := range b.from {
		k.join(j)
	}
	for _, row := range b.values {
		k.list(row)
	}
	k.list(b.where)
	if b.grouped {
		k.own(b.grpRel)
	}
	fmt.Fprintf(k, "group %v %v", b.grouped, b.sets)
	k.list(b.keys)
	for i := range b.aggs {
		k.agg(&b.aggs[i])
	}
	k.list(b.having)
	for _, w := range b.wins {
		k.own(w.rel)
		k.WriteString("window")
		k.list(w.partition)
		k.sortKeys(w.order)
		for i := range w.funcs {
			f := &w.funcs[i]
			k.agg(&f.Agg)
			fmt.Fprintf(k, "%s %s %s %s", f.Frame.Mode, f.Frame.StartKind, f.Frame.EndKind, f.Frame.Exclude)
			k.expr(f.Frame.Start)
			k.expr(f.Frame.End)
		}
	}
	fmt.Fprintf(k, "select %d %v %v", b.ncols, b.distinct, b.distinctOn)
	for i := range b.targets {
		fmt.Fprintf(k, "%q", b.targets[i].name)
		k.expr(b.targets[i].x)
	}
}

func (k *keyWriter) join(j *joinItem) {
	if j.rel != nil {
		k.rel(j.rel)
		return
	}
	fmt.Fprintf(k, "join %d", j.kind)
	k.join(j.l)
	k.join(j.r)
	k.list(j.on)
}

func (k *keyWriter) rel(r *rel) {
	k.own(r.id)
	fmt.Fprintf(k, "from %q", r.alias)
	switch {
	case r.table != nil:
		fmt.Fprintf(k, "table %d %v %q", r.table.OID, r.tree != nil, r.cursor)
	case r.seq != nil:
		fmt.Fprintf(k, "sequence %d", r.seq.OID)
	case r.query != nil:
		k.query(r.query)
	case r.funcs != nil:
		fmt.Fprintf(k, "functions %v %v", r.fcols, r.ordinality || r.numbered)
		k.list(r.funcs)
	case r.virt != nil:
		fmt.Fprintf(k, "virtual %d", r.virt.OID)
	default:
		k.WriteString("values")
	}
	if s := r.sample; s != nil {
		k.WriteString("sample " + s.method)
		k.expr(s.percent)
		k.expr(s.seed)
	}
	k.list(r.secure)
}
