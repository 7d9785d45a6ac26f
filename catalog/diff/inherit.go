package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
)

// Tables that inherit. A child that leaves a parent does so before anything else
// happens; a new child is made behind its parents, with what it has of them, and where
// its columns do not come in the order that this gives, it is made alone and joins them
// when the constraints are there, as an old table does.

// parentNames are the tables that a table inherits from, in order.
func (s *side) parentNames(t *catalog.Table) []string {
	if t == nil || t.Bound != nil {
		return nil
	}
	var out []string
	for _, p := range t.Parents {
		out = append(out, relName(s.snap.Table(p)))
	}
	return out
}

// related reports whether a table inherits or is inherited from.
func (s *side) related(t *catalog.Table) bool {
	return t.Bound == nil && t.Key == nil && (len(t.Parents) > 0 || s.snap.HasChildren(t.OID))
}

// keptParents returns the parents that an old child keeps. INHERIT adds at the end, so
// these are the first ones of the new list, as far as they come in the old order.
func (d *differ) keptParents(c *tableChange) []string {
	old, to := d.a.parentNames(c.old), d.b.parentNames(c.to)
	n, at := 0, -1
	for ; n < len(to); n++ {
		i := slices.Index(old, to[n])
		if i <= at {
			break
		}
		at = i
	}
	return to[:n]
}

// leaveParents takes children that stay out of the tables that they inherit from no
// longer.
func (d *differ) leaveParents() {
	for _, c := range d.tables {
		if (d.a.related(c.old) || d.b.related(c.to)) && !d.sameColumns(c) && !d.leads[c] && !d.follows[c] {
			d.refuse("changing the columns of table %s, which inherits or is inherited from, in a script of differences", c.name)
		}
		kept := d.keptParents(c)
		for _, p := range d.a.parentNames(c.old) {
			if !slices.Contains(kept, p) {
				d.add("ALTER TABLE ", c.name, " NO INHERIT ", p)
			}
		}
		// Who has no parent left has its columns and checks of its own, and joining
		// another does not change that.
		for _, x := range live(c.to) {
			if was := column(c.old, x.Name); c.to.Bound == nil && was != nil && x.NotLocal != (was.NotLocal && d.parentsHave(d.a, kept, func(p *catalog.Table) bool { return p.Col(x.Name) >= 0 })) {
				d.refuse("changing whether column %s of table %s is its parents' alone", x.Name, c.name)
			}
		}
		for _, k := range c.to.Checks {
			was := slices.IndexFunc(c.old.Checks, func(o *catalog.Check) bool { return o.Name == k.Name })
			if c.to.Bound != nil {
				continue
			}
			same := was >= 0 && k.NotLocal == (c.old.Checks[was].NotLocal && d.parentsHave(d.a, kept, hasCheck(k.Name)))
			if !same && (was >= 0 || k.NotLocal && !d.parentsHave(d.b, kept, hasCheck(k.Name))) {
				d.refuse("changing whether check %s of table %s is its parents' alone", k.Name, c.name)
			}
		}
	}
}

// parentsHave reports whether something is true of one of some tables.
func (d *differ) parentsHave(s *side, names []string, is func(p *catalog.Table) bool) bool {
	return slices.ContainsFunc(names, func(n string) bool { return is(s.table(n)) })
}

func hasCheck(name string) func(t *catalog.Table) bool {
	return func(t *catalog.Table) bool {
		return slices.ContainsFunc(t.Checks, func(k *catalog.Check) bool { return k.Name == name && !k.NoInherit })
	}
}

// inherits reports whether CREATE TABLE … INHERITS makes a new table: its parents'
// columns come first and agree about their defaults.
func (d *differ) inherits(t *catalog.Table) bool {
	var order []string
	for _, n := range d.b.parentNames(t) {
		for _, x := range live(d.b.table(n)) {
			if !slices.Contains(order, x.Name) {
				order = append(order, x.Name)
			}
			if x.Default != "" && x.Default != d.parentsDefault(t, x.Name) {
				return false
			}
		}
	}
	for _, x := range live(t) {
		if !slices.Contains(order, x.Name) {
			order = append(order, x.Name)
		}
	}
	return len(t.Parents) > 0 && t.Bound == nil && slices.EqualFunc(order, live(t), func(n string, x *catalog.Column) bool { return n == x.Name })
}

// parentsDefault is the default that CREATE TABLE … INHERITS finds for a column.
func (d *differ) parentsDefault(t *catalog.Table, col string) string {
	for _, n := range d.b.parentNames(t) {
		if x := column(d.b.table(n), col); x != nil && x.Default != "" {
			return x.Default
		}
	}
	return ""
}

// inheritedDef is a column that a new table has of its parents; "" if it says nothing of
// its own.
func (d *differ) inheritedDef(x *catalog.Column) string {
	if x.NotLocal {
		return ""
	}
	y := *x
	y.Storage, y.Compression = "", "" // set behind
	if y.Generated {
		y.Generated, y.Default = false, ""
	}
	return d.columnDef(&y, true)
}

// ownProperties gives columns that a new table has of its parents what is different there.
func (d *differ) ownProperties(n string, t *catalog.Table) {
	for _, x := range live(t) {
		i := slices.IndexFunc(d.b.parentNames(t), func(p string) bool { return d.b.table(p).Col(x.Name) >= 0 })
		if i < 0 {
			continue
		}
		up := column(d.b.table(d.b.parentNames(t)[i]), x.Name)
		col := "ALTER TABLE " + n + " ALTER COLUMN " + catalog.QuoteIdent(x.Name) + " "
		switch {
		case x.Generated || x.Identity != 0 || x.Default == d.parentsDefault(t, x.Name):
		case x.Default == "":
			d.add(col, "DROP DEFAULT")
		case x.NotLocal:
			d.add(col, "SET DEFAULT ", x.Default)
		}
		if x.NotLocal && x.NotNull && !up.NotNull {
			d.add(col, "SET NOT NULL")
		}
		if x.Storage != up.Storage {
			d.add(col, "SET STORAGE ", d.b.storageWord(x))
		}
		if x.Compression != up.Compression {
			method := x.Compression
			if method == "" {
				method = "default"
			}
			d.add(col, "SET COMPRESSION ", method)
		}
	}
}

// parentsFirst orders names of tables of a schema so that those that others inherit from
// come before them.
func (s *side) parentsFirst(names []string) []string {
	slices.SortStableFunc(names, func(a, b string) int { return s.generation(s.table(a)) - s.generation(s.table(b)) })
	return names
}

// generation is the most tables above a table, of those that it inherits from.
func (s *side) generation(t *catalog.Table) int {
	most := 0
	for _, p := range s.parentNames(t) {
		most = max(most, 1+s.generation(s.table(p)))
	}
	return most
}

// joinParents makes tables children of those that they inherit from.
func (d *differ) joinParents() {
	for _, n := range d.b.parentsFirst(sortedKeys(d.b.rels)) {
		t := d.b.table(n)
		if t == nil || t.Bound != nil {
			continue
		}
		var have []string
		if c := d.change(n); c != nil {
			have = d.keptParents(c)
		} else if d.inherits(t) {
			continue
		}
		for _, p := range d.b.parentNames(t)[len(have):] {
			d.add("ALTER TABLE ", n, " INHERIT ", p)
		}
		if d.change(n) != nil || len(t.Parents) == 0 {
			continue
		}
		for _, x := range live(t) {
			if x.NotLocal {
				d.refuse("making table %s, which has column %s of its parents elsewhere than these do,", n, x.Name)
			}
		}
		for _, k := range t.Checks {
			if k.NotLocal {
				d.refuse("making table %s, which has check %s of its parents and columns elsewhere than these do,", n, k.Name)
			}
		}
	}
}

// checkOfParents reports whether an old table has a check of parents that it keeps.
func (d *differ) checkOfParents(c *tableChange, p *part) bool {
	return p.kind == 'c' && c.old.Bound == nil && d.parentsHave(d.a, d.keptParents(c), hasCheck(p.name))
}

// onlyOf is ONLY behind ALTER TABLE for a table below which others are: what a column
// of each of them is like is set for each.
func (s *side) onlyOf(t *catalog.Table) string {
	if s.snap.HasChildren(t.OID) {
		return "ONLY "
	}
	return ""
}

// inheritsClause is the clause of CREATE TABLE.
func (d *differ) inheritsClause(t *catalog.Table) string {
	if !d.inherits(t) {
		return ""
	}
	return " INHERITS (" + strings.Join(d.b.parentNames(t), ", ") + ")"
}
