package session

import (
	"container/list"
	"context"
	"errors"
	"hash/maphash"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/wire"
)

const (
	maxCached = 512 // statements a session remembers
	// maxLiterals bounds the literals of a statement worth remembering: one with
	// more is a load, not a pattern.
	maxLiterals = 64
	// maxGenericCost is the estimated cost above which a statement is planned
	// with its literals each time: better estimates pay for the planning.
	maxGenericCost = 20000
)

// planCache remembers statements of the simple protocol by their text without
// literals. It belongs to one session; a plan in it is checked against the
// catalog's snapshot and the settings before each use (plannedStmt.refresh).
type planCache struct {
	entries map[string]*list.Element
	order   *list.List // most recent first
	seen    [maxSeen]uint64
}

// maxSeen is the number of texts of which it is known that they have come before.
const maxSeen = 512

type cacheEntry struct {
	key     string
	planned *plannedStmt
	// plain says that statements of this pattern are better planned as written:
	// they are no patterns, or did not plan.
	plain bool
	// written are plans of texts with their literals, tried where the pattern's is costly:
	// is it like them?
	written customPlan
	// asWritten are plans of costly texts, made when they came again: what polls queues
	// or refreshes a dashboard sends a few texts over and over.
	asWritten map[string]*plannedStmt
	doubts    doubts
}

func (c *planCache) init() {
	c.entries = make(map[string]*list.Element)
	c.order = list.New()
}

func (c *planCache) get(key []byte) *cacheEntry {
	e := c.entries[string(key)]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheEntry)
}

// comesAgain reports whether a text without an entry is worth one.
func (s *Session) comesAgain(key []byte) bool {
	return s.cache.again(key) || s.srv.opts.RememberAtOnce
}

var seenSeed = maphash.MakeSeed()

// again reports whether a key without an entry has come before, not long ago: a plan
// that is made for a text that never comes again is not worth its memory.
func (c *planCache) again(key []byte) bool {
	h := maphash.Bytes(seenSeed, key)
	at := &c.seen[h%maxSeen]
	if *at == h {
		return true
	}
	*at = h
	return false
}

func (c *planCache) add(e *cacheEntry) {
	if e.planned != nil {
		e.planned.keeps = true
	}
	if old := c.entries[e.key]; old != nil {
		c.order.Remove(old)
	}
	c.entries[e.key] = c.order.PushFront(e)
	if c.order.Len() > maxCached {
		last := c.order.Back()
		old := c.order.Remove(last).(*cacheEntry)
		delete(c.entries, old.key)
	}
}

func (c *planCache) clear() {
	clear(c.entries)
	c.order.Init()
}

// runCached runs a simple query by a remembered plan. done is false when it has
// to be run as written; nothing has happened then.
func (s *Session) runCached(ctx context.Context, sql string, w wire.ResultWriter) (done bool, err error) {
	if s.settings.literals != nil || !s.fp.Run(sql) || len(s.fp.Lits) > maxLiterals {
		return false, nil
	}
	e := s.cache.get(s.fp.Key)
	if e == nil {
		if !s.comesAgain(s.fp.Key) {
			return false, nil
		}
		e = s.newCacheEntry(sql)
	}
	if e.plain {
		return false, nil
	}
	p := e.planned
	s.logStatement(p.stmt, "statement", sql, nil)
	s.closePortal("")
	if err := s.ensureTx(ctx); err != nil {
		return true, err
	}
	if err := s.newStatement(ctx); err != nil {
		return true, err
	}
	if err := p.refresh(ctx, s, s.snapshot()); err != nil {
		e.plain = true
		return false, nil
	}
	var params []types.Datum
	costly := e.costly(ctx, s, sql)
	if costly {
		if p = e.again(s, sql); p == nil {
			return false, nil
		}
		if err := p.refresh(ctx, s, s.snapshot()); err != nil {
			return false, nil // for the error's position
		}
	} else {
		var ok bool
		if params, ok = s.literals(p); !ok || e.doubted(ctx, s, params) {
			return false, nil
		}
	}
	n, err := s.runPlanned(ctx, p, params, wireSink{w: w}, nil)
	if err != nil {
		if costly {
			return true, err
		}
		return true, withoutPosition(err)
	}
	if s.block == idle {
		if err := s.commit(ctx); err != nil {
			return true, err
		}
	}
	w.Complete(tagOf(p.q), n)
	return true, nil
}

// costly reports whether a text is to be planned with its literals: the pattern's plan
// costs much, and those of texts are not like it, or cost so much themselves that making
// them does not count.
func (e *cacheEntry) costly(ctx context.Context, s *Session, sql string) bool {
	g := e.planned.custom.generic
	if len(g.Params) == 0 || g.Cost() <= maxGenericCost {
		return false
	}
	c := &e.written
	if c.generic != g {
		*c = customPlan{generic: g}
	}
	if c.alike() {
		c.uses++
		return false
	}
	if c.tries < customTries && !c.differs || c.uses >= alikeUses {
		st, err := s.strings(sql).ParseOne(sql)
		if err == nil {
			var q *plan.Query
			if q, err = planner.Plan(s.planDuring(ctx, s.snapshot()), st.Stmt); err == nil {
				c.tried(q)
			}
		}
		c.differs = c.differs || err != nil
	}
	return true
}

// maxAsWritten is the number of texts of one pattern that have plans of their own.
const maxAsWritten = 8

// again returns the plan of a costly statement's text if that has come before, nil if it
// has to be run as written.
func (e *cacheEntry) again(s *Session, sql string) *plannedStmt {
	if p := e.asWritten[sql]; p != nil {
		return p
	}
	if !s.cache.again([]byte(sql)) {
		return nil
	}
	list, err := s.strings(sql).Parse(sql)
	if err != nil || len(list) != 1 || len(s.settings.literals.LongNames(sql)) > 0 { // notices
		return nil
	}
	if e.asWritten == nil || len(e.asWritten) == maxAsWritten {
		e.asWritten = make(map[string]*plannedStmt)
	}
	p := &plannedStmt{stmt: list[0].Stmt, keeps: true}
	e.asWritten[strings.Clone(sql)] = p
	return p
}

// newCacheEntry parses the statement with its literals taken out.
func (s *Session) newCacheEntry(sql string) *cacheEntry {
	e := &cacheEntry{key: string(s.fp.Key)}
	defer func() { s.cache.add(e) }()
	st, err := parser.ParseNormalized(sql, s.fp.Lits)
	if err != nil || !plannable(st.Stmt) || timeWords(sql) {
		e.plain = true
		return e
	}
	p := &plannedStmt{stmt: st.Stmt}
	for _, l := range s.fp.Lits {
		switch l.Kind {
		case ast.ConstInt:
			p.declared = append(p.declared, planner.NumberType(l.Val, true))
		case ast.ConstNumeric:
			p.declared = append(p.declared, planner.NumberType(l.Val, false))
		default:
			p.declared = append(p.declared, types.T{})
		}
	}
	e.planned = p
	return e
}

// timeWords reports whether a text may have a literal that means another moment
// each time it is read.
func timeWords(sql string) bool {
	low := strings.ToLower(sql)
	for _, w := range []string{"'now", "'today", "'tomorrow", "'yesterday", "'allballs"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// literals makes the parameters of a remembered plan. A literal that cannot be
// read is left to the plain path, whose error has its position.
func (s *Session) literals(p *plannedStmt) ([]types.Datum, bool) {
	if len(p.q.Params) != len(s.fp.Lits) || p.q.Fields {
		return nil, false
	}
	s.lits = s.lits[:0]
	for i := range s.fp.Lits {
		switch p.q.Params[i].OID {
		case types.OAclitem: // reading one may warn, which must be done once
			return nil, false
		case types.OJSONPath: // its regular expressions are looked at where it is a constant
			return nil, false
		}
		d, err := s.readText(p.q.Params[i], s.fp.Lits[i].Val)
		if err != nil {
			return nil, false
		}
		s.lits = append(s.lits, d)
	}
	return s.lits, true
}

// doubted reports whether a part of the statement that its literals make a constant fails.
// Whether that fails the statement is told by the plan of it as written.
func (e *cacheEntry) doubted(ctx context.Context, s *Session, params []types.Datum) bool {
	q := e.planned.q
	if len(q.Doubts) == 0 {
		return false
	}
	d := &e.doubts
	if d.of != q {
		*d = doubts{of: q, row: vec.Batch{N: 1}}
		for _, x := range q.Doubts {
			ev, err := expr.Compile(x)
			if err != nil {
				return true
			}
			d.parts = append(d.parts, ev)
		}
	}
	s.fillExpr(ctx, &d.env, params)
	for _, ev := range d.parts {
		if _, err := ev.Eval(&d.env, &d.row); err != nil {
			return true
		}
	}
	return false
}

// doubts are the compiled plan.Query.Doubts of a plan.
type doubts struct {
	of    *plan.Query
	parts []expr.Eval
	env   expr.Env
	row   vec.Batch
}

// withoutPosition removes the position from an error of a remembered plan: it
// belongs to the text that the plan was made from.
func withoutPosition(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Pos == 0 {
		return err
	}
	c := *e
	c.Pos = 0
	return &c
}
