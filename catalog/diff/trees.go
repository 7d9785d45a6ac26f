package diff

import (
	"slices"

	"kvsqld/catalog"
)

// Columns of a tree of tables. What ALTER TABLE does to the columns of a table at the
// top it does to those below as well. Where all tables that stay below another one
// change as it does, the statements are made for the top alone: it leads, the others
// follow.

// compareTrees finds out who leads and who follows.
func (d *differ) compareTrees() {
	d.leads, d.follows = map[*tableChange]bool{}, map[*tableChange]bool{}
	for _, c := range d.tables {
		if d.isTop(c) && d.plainChange(c) {
			if below, ok := d.followers(c); ok {
				d.leads[c] = true
				for _, f := range below {
					d.follows[f] = true
				}
			}
		}
	}
}

// isTop reports whether a table is below no other one, in both schemas, or changes
// only what is its own there, below tables whose columns stay as they are.
func (d *differ) isTop(c *tableChange) bool {
	if c.old.Bound == nil && c.to.Bound == nil && len(c.old.Parents)+len(c.to.Parents) == 0 {
		return true
	}
	parents := d.a.parentNames(c.old)
	if c.old.Bound != nil || c.to.Bound != nil {
		if !d.remains(c) || len(c.gone)+len(c.retyped) > 0 || len(live(c.old)) != len(live(c.to)) {
			return false // other columns than those of the parent
		}
		parents = []string{relName(d.a.snap.Parent(c.old))}
	} else {
		if !slices.Equal(parents, d.b.parentNames(c.to)) {
			return false
		}
		for _, x := range live(c.old) {
			now := column(c.to, x.Name)
			if x.Parents > 0 && (now == nil || now.Parents != x.Parents || c.retyped[x.Name] || now.NotNull != x.NotNull || now.Default != x.Default) {
				return false
			}
		}
		for _, x := range live(c.to) {
			if column(c.old, x.Name) == nil && x.Parents > 0 {
				return false
			}
		}
	}
	return !slices.ContainsFunc(parents, func(n string) bool {
		p := d.change(n)
		return p == nil || !d.sameColumns(p)
	})
}

// plainChange reports whether columns are only added at the end and dropped, given
// another type, another default, and NULL or not.
func (d *differ) plainChange(c *tableChange) bool {
	if d.sameColumns(c) || len(c.moved)+len(c.remade) > 0 {
		return false
	}
	for _, x := range live(c.to) {
		was := column(c.old, x.Name)
		switch {
		case was == nil:
			if x.Generated || x.Identity != 0 || x.Storage != "" || x.Compression != "" {
				return false
			}
		case was.Generated != x.Generated || was.Identity != x.Identity || was.Storage != x.Storage || was.Collation != x.Collation ||
			was.Compression != x.Compression || c.retyped[x.Name] && (was.Storage != "" || d.inKey(c.to, x.Name)):
			return false
		}
	}
	return !slices.ContainsFunc(c.gone, func(n string) bool { return d.inKey(c.old, n) })
}

// inKey reports whether a partition key has the column, or may have it in an expression.
func (d *differ) inKey(t *catalog.Table, col string) bool {
	if t.Key == nil {
		return false
	}
	return slices.ContainsFunc(t.Key.Keys, func(k catalog.PartKeyCol) bool { return k.Col < 0 || t.Columns[k.Col].Name == col })
}

// followers lists the tables that stay below one, if all of them change as it does.
func (d *differ) followers(top *tableChange) ([]*tableChange, bool) {
	var out []*tableChange
	for _, t := range d.a.snap.Children(top.old.OID) {
		c := d.change(relName(t))
		if c == nil || !d.stillBelow(c, top) {
			continue // it goes, or leaves before
		}
		if !d.below(c, top) || !d.changesAs(c, top) {
			return nil, false
		}
		more, ok := d.followers(c)
		if !ok {
			return nil, false
		}
		out = append(append(out, c), more...)
	}
	return out, true
}

// stillBelow reports whether a table that is directly below another one stays there.
func (d *differ) stillBelow(c, top *tableChange) bool {
	if c.old.Bound != nil {
		return d.remains(c)
	}
	return slices.Contains(d.b.parentNames(c.to), top.name)
}

// below reports whether a table is directly below another one in both schemas, in the
// same way, and below no third.
func (d *differ) below(c, top *tableChange) bool {
	if c.old.Bound != nil || c.to.Bound != nil {
		return d.remains(c)
	}
	only := func(s *side, t, p *catalog.Table) bool {
		return len(t.Parents) == 1 && s.snap.Table(t.Parents[0]) == p
	}
	return only(d.a, c.old, top.old) && only(d.b, c.to, top.to)
}

// changesAs reports whether the columns of a table change as those of the one above it
// do, and no others.
func (d *differ) changesAs(c, top *tableChange) bool {
	if len(c.moved)+len(c.remade) > 0 || len(c.gone) != len(top.gone) || len(c.retyped) != len(top.retyped) {
		return false
	}
	for _, n := range c.gone {
		if !slices.Contains(top.gone, n) || c.old.Bound == nil && !column(c.old, n).NotLocal || d.inKey(c.old, n) {
			return false
		}
	}
	var added []string
	for _, x := range live(c.to) {
		was, above := column(c.old, x.Name), column(top.to, x.Name)
		if was == nil {
			if added = append(added, x.Name); above == nil || column(top.old, x.Name) != nil || !sameColumn(d, x, above) ||
				c.old.Bound == nil && !x.NotLocal {
				return false
			}
			continue
		}
		if c.old.Bound == nil && x.NotLocal != was.NotLocal || c.retyped[x.Name] != top.retyped[x.Name] || c.retyped[x.Name] && d.inKey(c.to, x.Name) {
			return false
		}
		changed := c.retyped[x.Name] || was.Default != x.Default || was.NotNull != x.NotNull
		if above == nil || column(top.old, x.Name) == nil {
			if changed || above != nil {
				return false
			}
			continue
		}
		before := column(top.old, x.Name)
		if c.retyped[x.Name] && d.a.typ(was.Type) != d.a.typ(before.Type) ||
			(was.Default != x.Default || before.Default != above.Default) && (was.Default != before.Default || x.Default != above.Default) ||
			(was.NotNull != x.NotNull || before.NotNull != above.NotNull) && (was.NotNull != before.NotNull || x.NotNull != above.NotNull) ||
			c.retyped[x.Name] && d.b.typ(x.Type) != d.b.typ(above.Type) ||
			was.Generated != x.Generated || was.Identity != x.Identity || was.Storage != x.Storage || was.Collation != x.Collation || was.Compression != x.Compression {
			return false
		}
	}
	n := 0
	for _, x := range live(top.to) {
		if column(top.old, x.Name) == nil {
			if n >= len(added) || added[n] != x.Name {
				return false
			}
			n++
		}
	}
	return n == len(added)
}

// sameColumn reports whether ADD COLUMN of y would make x.
func sameColumn(d *differ, x, y *catalog.Column) bool {
	return d.columnDef(x, true) == d.columnDef(y, true)
}

// onlyTable is ONLY behind ALTER TABLE for the columns of a table that does not lead
// those below it.
func (d *differ) onlyTable(c *tableChange) string {
	if d.leads[c] {
		return ""
	}
	return d.a.onlyOf(c.old)
}
