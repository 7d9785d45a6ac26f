package diff

import (
	"fmt"
	"slices"
	"strconv"

	"kvsqld/catalog"
)

// place is a table's place in a region-clustered file, "" for others.
func place(s *side, t *catalog.Table) string {
	switch {
	case t.Cluster == nil:
		return ""
	case t.Cluster.Root():
		k := t.Cluster
		return fmt.Sprintf("%+v %d %q %q", k.Grid, k.MaxRows, t.Columns[k.Lat].Name, t.Columns[k.Lon].Name)
	}
	fk := t.ClusterKey()
	if fk == nil {
		return "?"
	}
	return "with " + relName(s.snap.Table(fk.RefTable)) + " by " + fk.Name
}

// byDepth orders tables by their places, from the top.
func byDepth(list []*catalog.Table) {
	slices.SortStableFunc(list, func(a, b *catalog.Table) int { return a.ClusterDepth() - b.ClusterDepth() })
}

// leaves reports whether a table cannot keep its place while the script runs: it has
// another one in the new schema, or a key or column that its rows are stored by goes or
// changes. Another grid is no such change.
func (d *differ) leaves(c *tableChange) bool {
	t := c.old
	if place(d.a, t) != place(d.b, c.to) && (!t.Cluster.Root() || c.to.Cluster == nil || !c.to.Cluster.Root()) {
		return true
	}
	cols := slices.Clone(t.PK)
	if t.Cluster.Root() {
		cols = append(cols, t.Cluster.Lat, t.Cluster.Lon)
	}
	for _, i := range cols {
		if c.touched(t.Columns[i].Name) {
			return true
		}
	}
	for _, p := range d.a.parts(t) {
		ix := t.IndexByOID(p.index)
		if (p.fk != nil && p.oid == t.Cluster.FK || p.kind == 'u' && ix != nil && ix.Primary) && !d.stays(c, &p) {
			return true
		}
	}
	return false
}

// leavePlaces takes tables out of region-clustered files, those below others first: also
// such as are dropped, so that what they are stored with can leave or change.
func (d *differ) leavePlaces() {
	d.left = map[string]bool{}
	var list []*catalog.Table
	leave := func(t *catalog.Table) {
		if !d.left[relName(t)] {
			d.left[relName(t)] = true
			list = append(list, t)
		}
	}
	for _, n := range sortedKeys(d.a.rels) {
		t := d.a.table(n)
		if t == nil || t.Cluster == nil {
			continue
		}
		c := d.change(n)
		if c != nil && !d.leaves(c) {
			continue
		}
		below := d.a.snap.ClusterBelow(t)
		if c == nil && !slices.ContainsFunc(below, func(b *catalog.Table) bool { return d.change(relName(b)) != nil }) {
			continue // dropped with all that is stored with it
		}
		if c != nil {
			leave(t)
		}
		for _, b := range below {
			leave(b)
		}
	}
	byDepth(list)
	for _, t := range slices.Backward(list) {
		option := "cluster_with"
		if t.Cluster.Root() {
			option = "regions"
		}
		d.add("ALTER TABLE ", relName(t), " RESET (", option, ")")
	}
}

// holdsPlace reports whether a table is stored along a foreign key, which cannot be
// dropped before it.
func (d *differ) holdsPlace(t *catalog.Table, fk *catalog.ForeignKey) bool {
	return t.Cluster != nil && t.Cluster.FK == fk.OID && !d.left[relName(t)]
}

// depth is how many tables a table is still stored below: those at the bottom are
// dropped first.
func (d *differ) depth(t *catalog.Table) int {
	if t.Cluster == nil || d.left[relName(t)] {
		return 0
	}
	return t.ClusterDepth()
}

// placeTables gives tables that stay a place in a region-clustered file, from the
// top. New tables have asked for theirs when they were made.
func (d *differ) placeTables() {
	var list []*catalog.Table
	told := map[*catalog.Table]bool{} // roots that had another region_rows, perhaps
	for _, c := range d.tables {
		if c.to.Cluster != nil && (d.left[c.name] || place(d.a, c.old) != place(d.b, c.to)) {
			list = append(list, c.to)
			told[c.to] = c.old.Cluster != nil && c.old.Cluster.Root() && c.to.Cluster.Root()
		}
	}
	byDepth(list)
	for _, t := range list {
		options := t.ClusterSpec().Options()
		if told[t] {
			options["region_rows"] = strconv.Itoa(t.Cluster.MaxRows)
		}
		d.add("ALTER TABLE ", relName(t), " SET (", optionList(options), ")")
	}
}
