package catalog

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// A stored text is bound again whenever it is used, and must mean what it meant when it
// was stored, whatever functions, operators and casts have been made since:
//
//	CREATE FUNCTION f(anyelement) …; CREATE VIEW v AS SELECT f(a) FROM t;
//	CREATE FUNCTION f(int) …        the view still calls the first
//
// So an object keeps, for each of its texts, which user-defined ones the text was bound
// to, and no others are looked at. What is built in cannot be added to, and is not kept.

// Bindings are the user-defined functions, operators and casts of an object's texts, by
// the sums of these: a text is long, and stands in the object already.
type Bindings map[uint64]Calls

// Calls are the user-defined functions, operators and casts that a text was bound to. nil:
// that is not known, and any may be meant.
type Calls []types.OID

// noCalls are those of a text that needs nothing but what is built in.
var noCalls = Calls{}

// Has reports whether the text may mean a user-defined function, operator or cast.
func (c Calls) Has(oid types.OID) bool { return c == nil || slices.Contains(c, oid) }

// textSum is the number under which the calls of a text are kept.
func textSum(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// CallsOf returns what a text of the object was bound to.
func (c *Common) CallsOf(text string) Calls {
	if len(c.Bindings) == 0 {
		return nil
	}
	return c.Bindings[textSum(text)]
}

// Unbind forgets what a text was bound to, as it was written anew.
func (c *Common) Unbind(text string) {
	if len(c.Bindings) > 0 {
		c.Bindings = maps.Clone(c.Bindings)
		delete(c.Bindings, textSum(text))
	}
}

// rebind gives a text that says what another one of the object did the calls of that.
func (c *Common) rebind(was, is string, calls Calls) {
	if calls != nil && was != is {
		c.Bindings = maps.Clone(c.Bindings)
		if c.Bindings == nil {
			c.Bindings = Bindings{}
		}
		c.Bindings[textSum(is)] = calls
	}
}

// Calls returns what the text was bound to.
func (t StoredText) Calls() Calls {
	switch {
	case t.Of != nil:
		return t.Of.CallsOf(t.Text)
	case t.View != nil:
		return t.View.CallsOf(t.Text)
	case t.Function != nil:
		return t.Function.CallsOf(t.Text)
	case t.Table != nil:
		return t.Table.CallsOf(t.Text)
	}
	return nil
}

// bind notes what the texts of new objects are bound to over the snapshot that has them.
// Texts that are noted already keep what they were bound to.
func (c *Change) bind(put []Object, next *Snapshot) error {
	if c.Calls == nil {
		return nil
	}
	for _, o := range put {
		if was := c.snap.objs.get(o.ObjectOID()); was != o {
			if err := c.twins(was, o, next); err != nil {
				return err
			}
			c.bindTexts(o, next)
		}
	}
	return nil
}

// textsOf calls f for the texts of an object.
func (c *Change) textsOf(o Object, f func(StoredText)) {
	each := func(t StoredText) bool {
		if t.Text != "" {
			f(t)
		}
		return false
	}
	c.objectTextsUsing(o, each, nil)
	if v, ok := o.(*View); ok && v.Materialized != nil {
		v.indexTexts(each)
	}
}

// twins binds texts anew that an object has once more than before: they are kept under
// their sums, and one that says what an older one does may mean something else. That two
// of them are there at once is refused.
func (c *Change) twins(was, o Object, next *Snapshot) error {
	co := CommonOf(o)
	if was == nil || co == nil || len(co.Bindings) == 0 {
		return nil
	}
	before, now := map[uint64]int{}, map[uint64]int{}
	c.textsOf(was, func(t StoredText) { before[textSum(t.Text)]++ })
	var added []StoredText
	c.textsOf(o, func(t StoredText) {
		sum := textSum(t.Text)
		if now[sum]++; now[sum] > before[sum] {
			added = append(added, t)
		}
	})
	for _, t := range added {
		kept := co.CallsOf(t.Text)
		if kept == nil {
			continue
		}
		co.Unbind(t.Text)
		switch calls := c.Calls(t, next); {
		case slices.Equal(calls, kept):
			co.rebind("", t.Text, kept)
		case before[textSum(t.Text)] > 0:
			return sqlerr.New(sqlerr.FeatureNotSupported, "a second expression (%s) that means other functions than the first one is not supported", t.Text)
		}
	}
	return nil
}

func (c *Change) bindTexts(o Object, next *Snapshot) {
	var found Bindings
	c.textsOf(o, func(t StoredText) {
		calls := t.Calls()
		if calls == nil {
			calls = inheritedCalls(o, t.Text, next)
		}
		switch {
		case calls != nil:
		case next.funcs.n == 0 && next.casts.n == 0: // there is nothing that it could mean
			calls = noCalls
		default:
			calls = c.Calls(t, next)
		}
		if calls != nil {
			if found == nil {
				found = Bindings{}
			}
			found[textSum(t.Text)] = calls
		}
	})
	if co := CommonOf(o); co != nil {
		co.Bindings = found
	}
	if v, ok := o.(*View); ok && v.Materialized != nil {
		m := *v.Materialized
		m.Bindings, v.Materialized = found, &m
	}
}

// indexTexts gives the texts of what the indexes of a materialized view compute.
func (v *View) indexTexts(f func(StoredText) bool) {
	for _, ix := range v.Materialized.Indexes {
		f(StoredText{Text: ix.Where, Table: v.Materialized, Of: &v.Common})
		for _, k := range ix.Keys {
			f(StoredText{Text: k.Expr, Table: v.Materialized, Of: &v.Common})
		}
	}
}

// inheritedCalls are those of a text that a table has from the tables above it.
func inheritedCalls(o Object, text string, s *Snapshot) Calls {
	t, ok := o.(*Table)
	if !ok {
		return nil
	}
	for _, oid := range t.Parents {
		if above := s.Table(oid); above != nil && above.OID != t.OID {
			if calls := above.CallsOf(text); calls != nil {
				return calls
			}
		}
	}
	return nil
}

// CallsAmong picks the user-defined functions, operators and casts out of what a text uses.
func (s *Snapshot) CallsAmong(uses []types.OID) Calls {
	calls := noCalls
	for _, oid := range uses {
		switch s.objs.get(oid).(type) {
		case *Function, *OwnOperator, *OwnCast:
			if !slices.Contains(calls, oid) {
				calls = append(calls, oid)
			}
		}
	}
	slices.Sort(calls)
	return calls
}

// bindings writes what texts were bound to, in a fragment: a document has objects without
// numbers, and its texts are bound when it is read.
func (w *xmlWriter) bindings(a *attrList, c *Common) {
	if !w.ids || len(c.Bindings) == 0 {
		return
	}
	var list []string
	for _, sum := range slices.Sorted(maps.Keys(c.Bindings)) {
		text := strconv.FormatUint(sum, 36) + ":"
		for i, oid := range c.Bindings[sum] {
			if i > 0 {
				text += ","
			}
			text += oidString(oid)
		}
		list = append(list, text)
	}
	a.set("bindings", strings.Join(list, " "))
}

// bindings reads what texts were bound to.
func (r *xmlReader) bindings(e *element) Bindings {
	var out Bindings
	for _, text := range strings.Fields(r.str(e, "bindings")) {
		sum, list, _ := strings.Cut(text, ":")
		n, err := strconv.ParseUint(sum, 36, 64)
		if err != nil {
			continue // the text is bound as if nothing was kept
		}
		calls := noCalls
		for _, s := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' }) {
			if oid, err := strconv.ParseUint(s, 10, 32); err == nil {
				calls = append(calls, types.OID(oid))
			}
		}
		if out == nil {
			out = Bindings{}
		}
		out[n] = calls
	}
	return out
}
