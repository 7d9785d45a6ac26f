package planner

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Each value of a text type has a collation, and how it came to it counts: a COLLATE
// clause wins over what columns have, a column's own collation over the default, and
// two different ones of the same strength conflict. As all collations here order as C
// does, this decides nothing but which statements are refused:
//
//	a COLLATE "C" || b COLLATE "POSIX"   two clauses: 42P21
//	ORDER BY a || b                      two columns' own, and an order is asked for: 42P21
//	a < b                                the same, and a function needs to know: 42P22
//	a || b, (a || b) COLLATE "C"         nobody needs to know
//
// Only statements that have a COLLATE clause, or a column or domain with a collation of
// its own, are looked at.

// collStrength says where a collation comes from; the stronger one wins.
type collStrength uint8

const (
	collNone collStrength = iota // not a text type
	collImplicit
	collConflict
	collExplicit
)

// coll is the collation of an expression.
type coll struct {
	name     string // "" is the default
	strength collStrength
	off      int
	other    string // of a conflict, the second one, and where it is
	otherOff int
}

// collated is what a statement has of collations.
type collated struct {
	any    bool
	tables map[int]*catalog.Table // entries that are tables with collations of their own
	memo   map[*query][]coll
	seen   map[*query]bool // that were checked
}

// noteTable remembers a table whose columns have collations of their own.
func (c *collated) noteTable(id int, t *catalog.Table) {
	for i := range t.Columns {
		if t.Columns[i].Collation != "" {
			if c.tables == nil {
				c.tables = map[int]*catalog.Table{}
			}
			c.any, c.tables[id] = true, t
			return
		}
	}
}

// noteFunctions remembers functions in FROM that return rows with collations of their own,
// as a table of such columns.
func (p *planner) noteFunctions(r *rel) {
	t := &catalog.Table{Columns: make([]catalog.Column, len(r.cols))}
	at := 0
	for i, f := range r.funcs {
		for k := range r.fcols[i] {
			t.Columns[at+k].Collation = p.fieldCollation(f.Type(), k)
		}
		at += r.fcols[i]
	}
	p.coll.noteTable(r.id, t)
}

// fieldCollation is the collation that a field of a row has of its own, "" for none.
func (p *planner) fieldCollation(row types.T, i int) string {
	if cols := p.columnsOf(p.Snap.BaseType(row)); i < len(cols) {
		return cols[i].Collation
	}
	return ""
}

// merge is the collation of what has operands with these two.
func (a coll) merge(b coll) coll {
	switch {
	case b.strength > a.strength:
		return b
	case b.strength < a.strength || a.name == b.name || a.strength == collNone || a.strength == collConflict:
		return a
	case a.strength == collExplicit:
		fail(sqlerr.New(sqlerr.CollationMismatch, "collation mismatch between explicit collations \"%s\" and \"%s\"", a.shown(), b.shown()).At(b.off))
	case a.name == "":
		return b
	case b.name == "":
		return a
	}
	return coll{strength: collConflict, name: a.name, off: a.off, other: b.name, otherOff: b.off}
}

func (a coll) shown() string {
	if a.name == "" {
		return "default"
	}
	return a.name
}

// ordered refuses a conflict where an order or equality is asked for.
func (a coll) ordered() {
	if a.strength == collConflict {
		fail(sqlerr.New(sqlerr.CollationMismatch, "collation mismatch between implicit collations \"%s\" and \"%s\"", a.name, a.other).
			At(a.otherOff).WithHint("You can choose the collation by applying the COLLATE clause to one or both expressions."))
	}
}

// needed refuses a conflict where a function must know the collation.
func (a coll) needed(what string) {
	if a.strength == collConflict {
		fail(indeterminate("could not determine which collation to use for " + what))
	}
}

func indeterminate(message string) *sqlerr.Error {
	return sqlerr.New(sqlerr.IndeterminateCollation, "%s", message).WithHint("Use the COLLATE clause to set the collation explicitly.")
}

// stringComparison is what most functions need a collation for.
const stringComparison = "string comparison"

// collationUse tells what a function needs the collation of its arguments for; "":
// nothing.
func collationUse(src string) string {
	switch src {
	case "lower", "upper", "initcap":
		return src + "() function"
	case "texteq", "textne", "text_lt", "text_le", "text_gt", "text_ge", "text_larger", "text_smaller", "bttextcmp",
		"bpchareq", "bpcharne", "bpcharlt", "bpcharle", "bpchargt", "bpcharge", "bpchar_larger", "bpchar_smaller", "bpcharcmp",
		"nameeqtext", "namenetext", "namelttext", "nameletext", "namegttext", "namegetext",
		"texteqname", "textnename", "textltname", "textlename", "textgtname", "textgename",
		"array_eq", "array_ne", "array_lt", "array_le", "array_gt", "array_ge", "btarraycmp",
		"text_starts_with", "textpos", "replace_text", "split_part":
		return stringComparison
	case "texticlike", "texticnlike", "bpchariclike", "bpcharicnlike":
		return "ILIKE"
	}
	if strings.HasPrefix(src, "regexp_") || strings.HasPrefix(src, "textregex") || strings.HasPrefix(src, "texticregex") ||
		strings.HasPrefix(src, "bpcharregex") || strings.HasPrefix(src, "bpcharicregex") {
		return "regular expression"
	}
	return ""
}

// collatable reports whether values of the type have a collation.
func (p *planner) collatable(t types.T) bool {
	t = p.Snap.BaseType(t)
	if in := p.info(t.OID); in.Kind == types.KArray && in.Elem != 0 {
		t = p.Snap.BaseType(p.T(in.Elem, -1))
	}
	return t.Kind() == types.KText && t.OID != types.OChar || t.Kind() == types.KCitext || t.OID == types.OName || t.OID == types.OUnknown
}

// walkCollations derives the collations of an expression in a block, and refuses what
// they do not allow.
type walkCollations struct {
	*planner
	block *block
	cases []coll // of the operands around, for plan.CaseVal
}

func (w *walkCollations) of(e plan.Expr) coll {
	if e == nil {
		return coll{}
	}
	own := coll{off: e.Pos()}
	if w.collatable(e.Type()) {
		own.strength = collImplicit
		if e.Type().OID == types.OName {
			own.name = "C"
		} else if name := w.Snap.TypeCollation(e.Type()); name != "" {
			own.name = name
		}
	}
	var in coll
	switch e := e.(type) {
	case *plan.Var:
		return w.variable(e, own)
	case *plan.CaseVal:
		if n := len(w.cases); n > 0 {
			return w.cases[n-1]
		}
		return own
	case *plan.Const, *plan.Param, *plan.Col:
		return own
	case *plan.Relabel:
		if in = w.of(e.X); e.Collate != "" {
			return coll{name: collationKept(e.Collate), strength: collExplicit, off: e.Pos()}
		}
		if in.strength != collExplicit && w.Snap.TypeCollation(e.Type()) != "" {
			return own // that of a domain without rules
		}
	case *plan.CoerceDomain:
		if in = w.of(e.X); in.strength != collExplicit && w.Snap.TypeCollation(e.Type()) != "" {
			return own
		}
	case *plan.Case:
		w.cases = append(w.cases, w.of(e.Operand))
		for i := range e.Whens {
			w.of(e.Whens[i].Cond)
		}
		w.cases = w.cases[:len(w.cases)-1]
		for i := range e.Whens {
			in = in.merge(w.of(e.Whens[i].Result))
		}
		in = in.merge(w.of(e.Else))
	case *plan.NullIf:
		in = w.of(e.X)
		w.cases = append(w.cases, in)
		w.of(e.Eq)
		w.cases = w.cases[:len(w.cases)-1]
	case *plan.RowCtor:
		plan.EachChild(e, func(x plan.Expr) { w.of(x) })
		return own
	case *plan.FieldOf:
		w.of(e.X)
		if name := w.fieldCollation(e.X.Type(), e.Idx); own.strength != collNone && name != "" {
			own.name = name
		}
		return own
	case *subquery:
		in = w.subquery(e)
	default:
		plan.EachChild(e, func(x plan.Expr) { in = in.merge(w.of(x)) })
	}
	switch e := e.(type) {
	case *plan.Call:
		if use := collationUse(e.Proc.Src); use != "" {
			in.needed(use)
		}
	case *plan.MinMax, *plan.IsDistinct, *plan.InList:
		in.needed(stringComparison)
	case *plan.AnyArray:
		if use := collationUse(e.Proc.Src); use != "" {
			in.needed(use)
		}
	}
	if own.strength == collNone || in.strength == collNone {
		return own
	}
	return in
}

// variable is the collation of a column: of a table, of a subquery or of the groups
// and windows of the block.
func (w *walkCollations) variable(v *plan.Var, own coll) coll {
	if own.strength == collNone || v.Col < 0 {
		return own
	}
	named := func(name string) coll {
		own.name = name
		return own
	}
	if t := w.coll.tables[v.Rel]; t != nil && v.Col < len(t.Columns) {
		if name := t.Columns[v.Col].Collation; name != "" || w.Snap.TypeCollation(v.Type()) != "" {
			return named(name)
		}
		return own
	}
	if q := w.queries[v.Rel]; q != nil {
		if list := w.queryCollations(q); v.Col < len(list) {
			if list[v.Col].strength == collConflict {
				return coll{}
			}
			return named(list[v.Col].name)
		}
		return own
	}
	if b := w.block; b != nil && b.grouped && v.Rel == b.grpRel {
		switch {
		case v.Col < len(b.keys):
			return w.of(b.keys[v.Col])
		case v.Col-len(b.keys) < len(b.aggs):
			return w.aggregate(&b.aggs[v.Col-len(b.keys)], own)
		}
	}
	return own
}

// aggregate is the collation of an aggregate's result.
func (w *walkCollations) aggregate(a *plan.Agg, own coll) coll {
	var in coll
	for _, x := range a.Args {
		c := w.of(x)
		if a.Distinct {
			c.ordered()
		}
		in = in.merge(c)
	}
	w.of(a.Filter)
	for _, k := range a.OrderBy {
		w.of(k.X).ordered()
	}
	if (a.Proc.Name == "max" || a.Proc.Name == "min") && in.strength == collConflict {
		in.needed(stringComparison)
	}
	if own.strength == collNone || in.strength == collNone {
		return own
	}
	return in
}

// subquery is the collation of a scalar subquery, and looks at the test of IN.
func (w *walkCollations) subquery(s *subquery) coll {
	w.checkCollations(s.q)
	list := w.queryCollations(s.q)
	for i, x := range s.x {
		c := w.of(x)
		if i < len(list) {
			c = c.merge(coll{name: list[i].name, strength: list[i].strength, off: list[i].off})
		}
		c.needed(stringComparison)
	}
	if (s.kind == plan.SubScalar || s.kind == plan.SubArray) && len(list) > 0 && list[0].strength != collConflict && list[0].strength != collNone {
		return coll{name: list[0].name, strength: collImplicit, off: s.Pos()}
	}
	return coll{}
}

// queryCollations lists the collations of a query's columns.
func (p *planner) queryCollations(q *query) []coll {
	if list, ok := p.coll.memo[q]; ok {
		return list
	}
	if p.coll.memo == nil {
		p.coll.memo = map[*query][]coll{}
	}
	p.coll.memo[q] = nil // of a recursive query, while it is looked at
	list := make([]coll, len(q.cols))
	switch {
	case q.ref != nil:
		if q.ref.q != nil {
			copy(list, p.queryCollations(q.ref.q))
		}
	case q.setop != nil:
		l, r := p.queryCollations(q.setop.l), p.queryCollations(q.setop.r)
		for i := range list {
			if i < len(l) && i < len(r) {
				if list[i] = l[i].merge(r[i]); !q.setop.all || q.setop.op != "UNION" {
					list[i].ordered()
				}
				if list[i].strength == collExplicit {
					list[i].strength = collImplicit
				}
			}
		}
	case q.block != nil:
		w := &walkCollations{planner: p, block: q.block}
		for i := range list {
			if i < len(q.block.targets) {
				list[i] = w.of(q.block.targets[i].x)
			}
			for _, row := range q.block.values {
				if list[i] = list[i].merge(w.of(row[i])); list[i].strength == collExplicit {
					list[i].strength = collImplicit
				}
			}
		}
	}
	p.coll.memo[q] = list
	return list
}

// checkCollations refuses what the collations in a query and in its subqueries do not
// allow. Conditions move into subqueries when these are planned, so all are looked at
// before.
func (p *planner) checkCollations(q *query) {
	if !p.coll.any || p.coll.seen[q] {
		return
	}
	if p.coll.seen == nil {
		p.coll.seen = map[*query]bool{}
	}
	p.coll.seen[q] = true
	if q.setop != nil {
		p.checkCollations(q.setop.l)
		p.checkCollations(q.setop.r)
	}
	if q.ref != nil && q.ref.q != nil {
		p.checkCollations(q.ref.q)
	}
	list := p.queryCollations(q)
	b := q.block
	if b == nil {
		for _, k := range q.sort {
			if k.target < len(list) {
				list[k.target].needed(stringComparison)
			}
		}
		return
	}
	w := &walkCollations{planner: p, block: b}
	for i := range b.targets {
		c := w.of(b.targets[i].x)
		if b.distinguishes(i) {
			c.ordered()
		}
	}
	for _, k := range q.sort {
		w.of(b.targets[k.target].x).ordered()
	}
	for _, x := range b.keys {
		w.of(x).ordered()
	}
	for i := range b.aggs {
		w.aggregate(&b.aggs[i], coll{})
	}
	for _, g := range b.wins {
		for _, x := range g.partition {
			w.of(x).ordered()
		}
		for _, k := range g.order {
			w.of(k.X).ordered()
		}
		for i := range g.funcs {
			for _, x := range g.funcs[i].Args {
				w.of(x)
			}
		}
	}
	conds := func(l []plan.Expr) {
		for _, x := range l {
			w.of(x)
		}
	}
	conds(b.where)
	conds(b.having)
	b.eachItem(func(j *joinItem) {
		if j.rel == nil {
			conds(j.on)
			return
		}
		conds(j.rel.funcs)
		if j.rel.query != nil {
			p.checkCollations(j.rel.query)
		}
	})
}

func contains(list []int, i int) bool {
	for _, n := range list {
		if n == i {
			return true
		}
	}
	return false
}

// outCollations are the collations of the columns of the whole statement, nil where all
// have those of their types.
func (p *planner) outCollations(q *query) []plan.OutCollation {
	if !p.coll.any {
		return nil
	}
	var out []plan.OutCollation
	for i, c := range p.queryCollations(q) {
		o := plan.OutCollation{Name: c.name, Conflict: c.strength == collConflict}
		if c.strength == collNone || q.cols[i].T.OID == types.OName {
			o.Name = ""
		}
		out = append(out, o)
	}
	return out
}

// collationFor is COLLATION FOR (x): the name of a collation, NULL where there is none.
func (b *binder) collationFor(x plan.Expr, off int) plan.Expr {
	out := &plan.Const{At: plan.At{T: types.TText, Off: off}, Val: types.Null(types.TText)}
	if isUnknown(x) {
		return out
	}
	if !b.collatable(x.Type()) {
		failf(sqlerr.DatatypeMismatch, -1, "collations are not supported by type %s", b.bareName(x.Type().OID))
	}
	if c := (&walkCollations{planner: b.planner}).of(x); c.strength != collConflict {
		out.Val = types.Text(catalog.QuoteIdent(c.shown()))
	}
	return out
}

// collationKept is a collation's name as columns keep it: none for the default.
func collationKept(name string) string {
	if name == "default" {
		return ""
	}
	return name
}
