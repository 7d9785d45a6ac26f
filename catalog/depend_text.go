package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/types"
)

// StoredText is a SQL text that the catalog keeps, with what it is bound to:
// an expression over the columns of Table, or over the value of a domain of type
// Value, the query of View, or the body of Function. With none of them it is an
// expression without columns.
type StoredText struct {
	Text     string
	Table    *Table
	Value    types.T
	Function *Function
	View     *View
	// Of is what keeps what the text is bound to, where that is none of these.
	Of *Common
	// MadeAliases, if it is there, gets those of the text that is written.
	MadeAliases *[]string
}

// OwnedText is a stored text and what it belongs to, as messages say it.
type OwnedText struct {
	StoredText
	Owner string
	node  node
	check string // the domain's constraint
}

// Describe names what has the text as messages about dependencies do.
func (c *Change) Describe(t OwnedText) string {
	if t.check != "" {
		return "constraint " + t.check
	}
	return c.describe(t.node)
}

// Before reports whether what has the text was made before what has another one.
func (t OwnedText) Before(o OwnedText) bool { return t.node.oid < o.node.oid }

// Texts lists the texts of a database that are bound when they are used and were
// when they were stored: those of views, of functions with bound bodies, of
// columns, CHECKs, indexes and domains.
func (s *Snapshot) Texts(db types.OID) []OwnedText {
	var out []OwnedText
	add := func(t StoredText, n node, kind, name string) {
		if t.Text != "" {
			out = append(out, OwnedText{StoredText: t, Owner: kind + " \"" + name + "\"", node: n})
		}
	}
	for _, f := range s.AllFunctions(db) {
		if f.Standard {
			add(StoredText{Text: f.Body, Function: f}, node{kind: nodeFunction, oid: f.OID}, "function", f.Name)
		}
	}
	for _, t := range s.Tables(db) {
		for i := range t.Columns {
			if col := &t.Columns[i]; !col.Dropped {
				add(StoredText{Text: col.Default, Table: t}, node{kind: nodeDefault, oid: t.OID, sub: i + 1}, "column", col.Name)
			}
		}
		for _, k := range t.Checks {
			add(StoredText{Text: k.Expr, Table: t}, node{kind: nodeConstraint, oid: k.OID, table: t.OID}, "constraint", k.Name)
		}
		for _, ix := range t.Indexes {
			add(StoredText{Text: ix.Where, Table: t}, node{kind: nodeIndex, oid: ix.OID, table: t.OID}, "index", ix.Name)
			for _, k := range ix.Keys {
				add(StoredText{Text: k.Expr, Table: t}, node{kind: nodeIndex, oid: ix.OID, table: t.OID}, "index", ix.Name)
			}
		}
		if t.Key != nil {
			for _, k := range t.Key.Keys {
				add(StoredText{Text: k.Expr, Table: t}, node{kind: nodeRelation, oid: t.OID}, "table", t.Name)
			}
		}
	}
	for _, v := range objectsOf(s, func(v *View) bool { return v.DB == db }) {
		add(StoredText{Text: v.Query, View: v}, node{kind: nodeRelation, oid: v.OID}, "view", v.Name)
	}
	for _, p := range s.AllPolicies(db) {
		add(StoredText{Text: p.Using.Query, View: p.Using.View(&p.Common)}, node{kind: nodePart, oid: p.OID}, "policy", p.Name)
		add(StoredText{Text: p.Check.Query, View: p.Check.View(&p.Common)}, node{kind: nodePart, oid: p.OID}, "policy", p.Name)
	}
	for _, u := range s.UserTypes(db) {
		add(StoredText{Text: u.Default, Of: &u.Common}, node{kind: nodeType, oid: u.OID}, "type", u.Name)
		for _, k := range u.Checks {
			out = append(out, OwnedText{StoredText: StoredText{Text: k.Expr, Value: u.Base, Of: &u.Common}, Owner: "type \"" + u.Name + "\"",
				node: node{kind: nodeType, oid: u.OID}, check: k.Name})
		}
	}
	return out
}

// nameOf is the name of an object, "" for none.
func (c *Change) nameOf(oid types.OID) string {
	if o := c.snap.objs.get(oid); o != nil {
		return CommonOf(o).Name
	}
	if in := c.snap.TypeInfo(oid); in != nil { // of the rows of a table, or of an extension
		return in.Name
	}
	return ""
}

// textsUsing adds what has a text that calls a function or names a type or a
// sequence, and the functions with bound bodies that name a relation. Only texts in
// which the name occurs are looked into; a cast has none.
func (c *Change) textsUsing(oid types.OID, name string, add func(bool, node)) {
	if _, cast := c.snap.objs.get(oid).(*OwnCast); c.Uses == nil || name == "" && !cast {
		return
	}
	uses := func(t StoredText) bool {
		if !strings.Contains(t.Text, name) {
			return false
		}
		for _, o := range c.Uses(t) {
			if o == oid {
				return true
			}
		}
		return false
	}
	for _, u := range usersOf[*UserType](c.snap, c.DB, oid) {
		if u.Kind == 'r' && u.Range.Diff == oid {
			add(false, node{kind: nodeType, oid: u.OID})
		}
	}
	for _, f := range usersOf[*Function](c.snap, c.DB, oid) {
		if f.Agg != nil && slices.Contains(f.Agg.Uses(), oid) {
			add(false, node{kind: nodeFunction, oid: f.OID})
		}
	}
	literals := func(t StoredText) bool { return strings.Contains(t.Text, "::regclass") && uses(t) }
	try := func(o Object) {
		f, isFunction := o.(*Function)
		switch c.snap.objs.get(oid).(type) {
		case *Table, *View: // what reads them is known without looking into texts, but for bodies
			if !isFunction {
				if o.DatabaseOID() == c.DB {
					c.objectTextsUsing(o, literals, add)
				}
				return
			}
		}
		if o.DatabaseOID() != c.DB || isFunction && f.OID == oid {
			return
		}
		c.objectTextsUsing(o, uses, add)
	}
	if list, ok := c.naming(name); ok {
		for _, o := range list {
			try(o)
		}
		return
	}
	for _, o := range c.snap.objs.all() {
		try(o)
	}
}

// fewNames is the number of names that are looked for in each text.
const fewNames = 8

// textWords lists the objects in whose texts a word occurs.
type textWords struct {
	of    *Snapshot
	asked int // how often, for this snapshot
	words map[string][]Object
}

// naming returns the objects in whose texts a name may occur, in the order of the
// snapshot; ok is false when all have to be looked at: for names that are no words, and
// the first few times, as reading all texts costs more than looking for some names.
func (c *Change) naming(name string) (list []Object, ok bool) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !wordLetter(r) }) {
		return nil, false
	}
	t := &c.texts
	if t.of != c.snap {
		*t = textWords{of: c.snap}
	}
	if t.asked++; t.asked < fewNames {
		return nil, false
	}
	if t.words == nil {
		t.words = make(map[string][]Object)
		for _, o := range c.snap.objs.all() {
			if o.DatabaseOID() != c.DB {
				continue
			}
			c.objectTextsUsing(o, func(text StoredText) bool {
				for w := range strings.FieldsFuncSeq(text.Text, func(r rune) bool { return !wordLetter(r) }) {
					if l := t.words[w]; len(l) == 0 || l[len(l)-1] != o {
						t.words[w] = append(l, o)
					}
				}
				return false
			}, nil)
		}
	}
	return t.words[name], true
}

// wordLetter is inWord for letters: a name of such letters stands in texts as it is, in
// quotes or not.
func wordLetter(r rune) bool { return r >= 0x80 || inWord(byte(r)) }

// objectTextsUsing adds what has a text that uses something: the object or parts of it.
func (c *Change) objectTextsUsing(o Object, uses func(StoredText) bool, add func(bool, node)) {
	switch x := o.(type) {
	case *Table:
		c.tableTextsUsing(x, uses, add)
	case *Function:
		given := slices.ContainsFunc(x.Defaults, func(d string) bool { return uses(StoredText{Text: d, Of: &x.Common}) })
		if given || x.Standard && uses(StoredText{Text: x.Body, Function: x}) {
			add(false, node{kind: nodeFunction, oid: x.OID})
		}
	case *View:
		if uses(StoredText{Text: x.Query, View: x}) {
			add(false, node{kind: nodeRelation, oid: x.OID})
		}
		for i := range x.Columns {
			if d := x.Columns[i].Default; d != "" && uses(StoredText{Text: d, Of: &x.Common}) {
				add(false, node{kind: nodeDefault, oid: x.OID, sub: i + 1})
			}
		}
	case *Policy:
		for _, q := range []*BoundQuery{&x.Using, &x.Check} {
			if uses(StoredText{Text: q.Query, View: q.View(&x.Common)}) {
				add(false, node{kind: nodePart, oid: x.OID})
				break
			}
		}
	case *ExtStats:
		t := x.table(c.snap)
		if t != nil && slices.ContainsFunc(x.Exprs, func(e string) bool { return uses(StoredText{Text: e, Table: t, Of: &x.Common}) }) {
			add(false, node{kind: nodePart, oid: x.OID})
		}
	case *UserType:
		given := x.Default != "" && uses(StoredText{Text: x.Default, Of: &x.Common})
		if given || slices.ContainsFunc(x.Checks, func(k *Check) bool { return uses(StoredText{Text: k.Expr, Value: x.Base, Of: &x.Common}) }) {
			add(false, node{kind: nodeType, oid: x.OID})
		}
	}
}

func (c *Change) tableTextsUsing(t *Table, uses func(StoredText) bool, add func(bool, node)) {
	of := func(text string) bool { return text != "" && uses(StoredText{Text: text, Table: t}) }
	if t.Key != nil && slices.ContainsFunc(t.Key.Keys, func(k PartKeyCol) bool { return of(k.Expr) }) {
		add(false, node{kind: nodeRelation, oid: t.OID})
		return
	}
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.Dropped || !of(col.Default) {
			continue
		}
		if col.Generated {
			add(false, node{kind: nodeRelation, oid: t.OID, sub: i + 1})
		} else {
			add(false, node{kind: nodeDefault, oid: t.OID, sub: i + 1})
		}
	}
	for _, k := range t.Checks {
		if of(k.Expr) {
			add(false, node{kind: nodeConstraint, oid: k.OID, table: t.OID})
		}
	}
	for _, ix := range t.Indexes {
		found := of(ix.Where)
		for _, k := range ix.Keys {
			found = found || of(k.Expr)
		}
		if u := t.Exclusion(ix); found && u != nil {
			add(false, node{kind: nodeConstraint, oid: u.OID, table: t.OID})
		} else if found {
			add(false, node{kind: nodeIndex, oid: ix.OID, table: t.OID})
		}
	}
}

// bodiesReading adds the functions of which the bound bodies name a column.
func (c *Change) bodiesReading(n node, add func(bool, node)) {
	r := asRelation(c.snap.objs.get(n.oid))
	if c.BodyReads == nil || r == nil || n.sub > len(r.RelColumns()) {
		return
	}
	name := r.RelColumns()[n.sub-1].Name
	for _, f := range c.snap.AllFunctions(c.DB) {
		if f.Standard && strings.Contains(f.Body, name) && slices.Contains(c.BodyReads(f, n.oid), n.sub-1) {
			add(false, node{kind: nodeFunction, oid: f.OID})
		}
	}
}
