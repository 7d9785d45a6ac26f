package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/types"
)

// Texts that the catalog keeps name things, and names change. A text is never
// edited: it is bound over the catalog before the change and written anew with
// the names after it (Change.Retext), as what it refers to is what it was bound
// to. That is done for whatever a change renames, in the same step.

// renames are the names that a change takes away.
type renames struct {
	relations map[types.OID]bool // with another name, or other names of columns
	called    map[string]bool    // what these were called
	words     map[string]bool    // names and labels, which occur in texts that name what was renamed
	fields    map[string]bool    // names of columns and attributes
}

// renamesIn compares objects with what they were.
func (c *Change) renamesIn(put []Object) *renames {
	r := &renames{relations: map[types.OID]bool{}, called: map[string]bool{}, words: map[string]bool{}, fields: map[string]bool{}}
	for _, o := range put {
		old := c.snap.objs.get(o.ObjectOID())
		if old == nil || old == o {
			continue
		}
		was, is := CommonOf(old), CommonOf(o)
		moved := was.Name != is.Name || was.Schema != is.Schema
		switch x := o.(type) {
		case *Table, *View, *Sequence:
			if r.columns(asRelation(old).RelColumns(), asRelation(o).RelColumns()) || moved {
				r.relations[o.ObjectOID()], r.called[was.Name] = true, true
			}
			if t, ok := o.(*Table); ok {
				r.uniques(old, t)
			}
		case *UserType:
			r.columns(old.(*UserType).Columns, x.Columns)
			for i, l := range old.(*UserType).Labels {
				if k := slices.IndexFunc(x.Labels, func(n EnumLabel) bool { return n.OID == l.OID }); k < 0 || x.Labels[k].Label != old.(*UserType).Labels[i].Label {
					r.words[l.Label] = true
				}
			}
		case *Function, *OwnOperator:
		default:
			moved = false
		}
		if moved {
			r.words[was.Name] = true
		}
	}
	return r
}

// columns compares the columns of a relation or type with what they were.
func (r *renames) columns(old, now []Column) (changed bool) {
	changed = len(old) != len(now)
	for i := range min(len(old), len(now)) {
		if old[i].Name != now[i].Name || old[i].Dropped != now[i].Dropped {
			changed = true
			if !now[i].Dropped {
				r.fields[old[i].Name] = true
			}
		}
	}
	return changed
}

// uniques compares the unique constraints of a table with what they were: ON CONFLICT
// names them.
func (r *renames) uniques(old Object, now *Table) {
	was, ok := old.(*Table)
	if !ok {
		return
	}
	for _, u := range was.Uniques {
		for _, v := range now.Uniques {
			if u.OID == v.OID && u.Name != v.Name {
				r.words[u.Name] = true
			}
		}
	}
}

// in reports whether a text may name something that was renamed. The text is one of the
// object of, and names the columns of that alone without a point before them, or one that
// reads any relations, where of is 0.
func (r *renames) in(text string, of types.OID) bool {
	if text == "" {
		return false
	}
	before := "."
	if of == 0 || r.relations[of] {
		before = ""
	}
	for w := range r.words {
		if mayName(text, w, "") {
			return true
		}
	}
	for w := range r.fields {
		if mayName(text, w, before) {
			return true
		}
	}
	return false
}

// reads reports whether a text may name a relation whose name or columns changed.
func (r *renames) reads(text string) bool {
	for name := range r.called {
		if mayName(text, name, "") {
			return true
		}
	}
	return false
}

// mayName reports whether a word, which is not a part of a longer one, may stand in a
// text behind before: as a name, or within a literal.
func mayName(text, word, before string) bool {
	if strings.ContainsAny(word, `'"\`) {
		return strings.ContainsAny(text, `'"`) // it is written otherwise there
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		alone := (at == 0 || !inWord(text[at-1]) || !inWord(word[0])) && (end == len(text) || !inWord(text[end]) || !inWord(word[len(word)-1]))
		if alone && strings.HasSuffix(strings.TrimSuffix(text[:at], `"`), before) {
			return true
		}
	}
}

// inWord reports whether a name that is not quoted may have the byte.
func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// follow returns the objects of which texts name what put renames, with texts
// that say the same over next.
func (c *Change) follow(put []Object, del []types.OID, next *Snapshot) ([]Object, error) {
	r := c.renamesIn(put)
	if len(r.relations) == 0 && len(r.words) == 0 && len(r.fields) == 0 {
		return nil, nil
	}
	named := objectsOf(c.snap, func(o Object) bool {
		if o.DatabaseOID() != c.DB || slices.Contains(del, o.ObjectOID()) {
			return false
		}
		switch x := o.(type) {
		case *View, *Policy: // the texts that read relations
			return true
		case *Function:
			return x.Standard || len(r.words)+len(r.fields) > 0
		case *Schema, *Sequence, *Stats:
			return false
		}
		return len(r.words)+len(r.fields) > 0
	})
	var out []Object
	for _, o := range named {
		now := o
		if i := slices.IndexFunc(put, func(p Object) bool { return p.ObjectOID() == o.ObjectOID() }); i >= 0 {
			now = put[i]
		}
		n, err := c.retextObject(o, now, r, next)
		if err != nil {
			return nil, err
		}
		if n != nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// retextObject returns a copy of now with texts that follow renames, nil when
// none changes. The texts are bound as those of old.
func (c *Change) retextObject(old, now Object, r *renames, next *Snapshot) (Object, error) {
	changed := false
	var fail error
	keeper := *CommonOf(now) // of what the new texts are bound to
	text := func(was, s *string, t StoredText) {
		if fail != nil || *s == "" || *s != *was {
			return
		}
		t.Text = *s
		n, err := c.Retext(t, c.snap, next)
		if err != nil {
			fail = err
			return
		}
		if n == *s {
			return
		}
		// One that names nothing of what was renamed keeps the form that it has.
		t.MadeAliases = nil
		if same, err := c.Retext(t, c.snap, c.snap); err == nil && same == n {
			return
		}
		keeper.rebind(*s, n, t.Calls())
		*s, changed = n, true
	}
	var out Object
	switch x := now.(type) {
	case *View:
		was := old.(*View)
		n := *x
		n.Columns = slices.Clone(x.Columns)
		if r.in(x.Query, 0) || slices.ContainsFunc(x.Deps, func(d types.OID) bool { return r.relations[d] }) {
			made := x.MadeAliases
			if text(&was.Query, &n.Query, StoredText{View: was, MadeAliases: &made}); n.Query != x.Query {
				n.MadeAliases = made
			}
		}
		for i := range min(len(was.Columns), len(n.Columns)) {
			if r.in(n.Columns[i].Default, x.OID) {
				text(&was.Columns[i].Default, &n.Columns[i].Default, StoredText{Of: &was.Common})
			}
		}
		if m := x.Materialized; m != nil && was.Materialized != nil {
			n.Materialized = copyTable(m)
			texts := copyTable(was.Materialized).texts()
			for i, s := range n.Materialized.texts() {
				if i < len(texts) && r.in(*s, x.OID) {
					text(texts[i], s, StoredText{Table: was.Materialized, Of: &was.Common})
				}
			}
		}
		out = &n
	case *Table:
		if !x.anyText(func(text string) bool { return r.in(text, x.OID) }) {
			return nil, nil
		}
		was := old.(*Table)
		n := copyTable(x)
		texts := copyTable(was).texts()
		for i, s := range n.texts() {
			if i < len(texts) && r.in(*s, x.OID) {
				text(texts[i], s, StoredText{Table: was})
			}
		}
		out = n
	case *Policy:
		was := old.(*Policy)
		n := *x
		for _, q := range [][2]*BoundQuery{{&was.Using, &n.Using}, {&was.Check, &n.Check}} {
			if r.in(q[1].Query, 0) || slices.ContainsFunc(q[1].Deps, func(d types.OID) bool { return r.relations[d] }) {
				text(&q[0].Query, &q[1].Query, StoredText{View: q[0].View(&was.Common)})
			}
		}
		out = &n
	case *ExtStats:
		was := old.(*ExtStats)
		n := *x
		n.Exprs = slices.Clone(x.Exprs)
		for i := range n.Exprs {
			if t := was.table(c.snap); t != nil && i < len(was.Exprs) && r.in(n.Exprs[i], x.Table) {
				text(&was.Exprs[i], &n.Exprs[i], StoredText{Table: t, Of: &was.Common})
			}
		}
		out = &n
	case *UserType:
		was := old.(*UserType)
		n := *x
		n.Checks = slices.Clone(x.Checks)
		for i := range n.Checks {
			cp := *n.Checks[i]
			n.Checks[i] = &cp
			if i < len(was.Checks) && r.in(cp.Expr, x.OID) {
				text(&was.Checks[i].Expr, &cp.Expr, StoredText{Value: was.Base, Of: &was.Common})
			}
		}
		if r.in(n.Default, x.OID) {
			text(&was.Default, &n.Default, StoredText{Of: &was.Common})
		}
		out = &n
	case *Function:
		was := old.(*Function)
		n := *x
		if x.Standard && (r.in(x.Body, 0) || r.reads(x.Body)) {
			text(&was.Body, &n.Body, StoredText{Function: was})
		}
		n.Defaults = slices.Clone(x.Defaults)
		for i := range min(len(n.Defaults), len(was.Defaults)) {
			if r.in(n.Defaults[i], x.OID) {
				text(&was.Defaults[i], &n.Defaults[i], StoredText{Of: &was.Common})
			}
		}
		out = &n
	}
	if !changed {
		return nil, fail
	}
	CommonOf(out).Bindings = keeper.Bindings
	return out, fail
}

// anyText reports whether f holds for one of the texts of a table.
func (t *Table) anyText(f func(text string) bool) bool {
	keys := func(ks []IndexKey) bool { return slices.ContainsFunc(ks, func(k IndexKey) bool { return f(k.Expr) }) }
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return f(c.Default) }) ||
		slices.ContainsFunc(t.Checks, func(c *Check) bool { return f(c.Expr) }) ||
		slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return f(ix.Where) || keys(ix.Keys) }) ||
		t.Key != nil && slices.ContainsFunc(t.Key.Keys, func(k PartKeyCol) bool { return f(k.Expr) })
}

// texts are the expressions of a table, which is a copy that may be changed: of
// columns, checks, indexes and the partition key. Their order is that of the
// table's lists.
func (t *Table) texts() []*string {
	var out []*string
	for i := range t.Columns {
		out = append(out, &t.Columns[i].Default)
	}
	for i, k := range t.Checks {
		cp := *k
		t.Checks[i] = &cp
		out = append(out, &cp.Expr)
	}
	for i, ix := range t.Indexes {
		cp := *ix
		cp.Keys = slices.Clone(ix.Keys)
		t.Indexes[i] = &cp
		out = append(out, &cp.Where)
		for k := range cp.Keys {
			out = append(out, &cp.Keys[k].Expr)
		}
	}
	if t.Key != nil {
		cp := *t.Key
		cp.Keys = slices.Clone(t.Key.Keys)
		t.Key = &cp
		for k := range cp.Keys {
			out = append(out, &cp.Keys[k].Expr)
		}
	}
	return out
}
