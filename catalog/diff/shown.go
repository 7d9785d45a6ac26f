package diff

import (
	"strconv"

	"kvsqld/catalog"
)

// shown sets what is only shown of relations and their columns, and the defaults
// of views' columns.
func (d *differ) shown() {
	for _, n := range sortedKeys(d.b.rels) {
		switch r := d.b.rels[n].(type) {
		case *catalog.Table:
			if r.Temp {
				continue
			}
			c := d.change(n)
			was := &catalog.Table{}
			if c != nil {
				was = c.old
			}
			for _, x := range live(r) {
				old := column(was, x.Name)
				if old == nil || c.moved[x.Name] || c.remade[x.Name] {
					old = &catalog.Column{Compression: x.Compression} // columnDef has it
				}
				d.shownColumn("ALTER TABLE "+d.b.onlyOf(r)+n, old, x)
			}
			d.shownTable("ALTER TABLE "+n, was, r)
			d.shownIndexes(was, r)
		case *catalog.View:
			if r.Temp {
				continue
			}
			old := d.a.view(n)
			if old == nil || d.again[n] != nil {
				old = &catalog.View{}
			}
			d.shownView(n, old, r)
		}
	}
}

func (d *differ) shownColumn(alter string, was, x *catalog.Column) {
	col := alter + " ALTER COLUMN " + catalog.QuoteIdent(x.Name) + " "
	if x.StatTarget != was.StatTarget {
		d.add(col, "SET STATISTICS ", statTarget(x.StatTarget))
	}
	if x.Compression != was.Compression {
		method := x.Compression
		if method == "" {
			method = "default"
		}
		d.add(col, "SET COMPRESSION ", method)
	}
	old, to := was.Options.Map(), x.Options.Map()
	for _, k := range sortedKeys(old) {
		if _, ok := to[k]; !ok {
			d.add(col, "RESET (", k, ")")
		}
	}
	for _, k := range sortedKeys(to) {
		if v, ok := old[k]; !ok || v != to[k] {
			d.add(col, "SET (", k, " = ", to[k], ")")
		}
	}
}

// statTarget is what SET STATISTICS calls a column's target.
func statTarget(n int) string {
	switch n {
	case 0:
		return "-1"
	case -1:
		return "0"
	}
	return strconv.Itoa(n)
}

// marked returns the names of the indexes that a table is clustered by and
// identified by, "" for none.
func marked(t *catalog.Table) (cluster, identity string) {
	for _, ix := range t.Indexes {
		if ix.Clustered {
			cluster = ix.Name
		}
		if ix.Identity {
			identity = ix.Name
		}
	}
	return cluster, identity
}

// shownIndexes sets the targets of the expressions of indexes; those of indexes that are
// made again are the default.
func (d *differ) shownIndexes(was, t *catalog.Table) {
	c := d.change(relName(t))
	for _, ix := range t.Indexes {
		var old *catalog.Index
		for _, p := range d.a.parts(was) {
			if c != nil && p.name == ix.Name && p.index != 0 && d.stays(c, &p) {
				old = was.IndexByOID(p.index)
			}
		}
		for i, k := range ix.Keys {
			target := 0
			if old != nil {
				target = old.Keys[i].StatTarget
			}
			if target != k.StatTarget {
				d.add("ALTER INDEX ", qualified(t, ix.Name), " ALTER COLUMN ", strconv.Itoa(i+1), " SET STATISTICS ", statTarget(k.StatTarget))
			}
		}
	}
}

var replicaIdentities = map[byte]string{0: "DEFAULT", 'f': "FULL", 'n': "NOTHING"}

func (d *differ) shownTable(alter string, was, t *catalog.Table) {
	oldCluster, oldIdentity := marked(was)
	cluster, identity := marked(t)
	switch {
	case cluster == "" && oldCluster != "":
		d.add(alter, " SET WITHOUT CLUSTER")
	case cluster != "":
		// The old index may have gone in between, so that the mark is set anew.
		d.markIndex(alter+" CLUSTER ON ", cluster, oldCluster, t, was)
	}
	switch {
	case t.ReplicaIdentity == 'i' && identity != "":
		d.markIndex(alter+" REPLICA IDENTITY USING INDEX ", identity, oldIdentity, t, was)
	case t.ReplicaIdentity != was.ReplicaIdentity && t.ReplicaIdentity != 'i':
		d.add(alter, " REPLICA IDENTITY ", replicaIdentities[t.ReplicaIdentity])
	}
}

// markIndex marks an index unless it is the old one and stays.
func (d *differ) markIndex(mark, name, old string, t, was *catalog.Table) {
	if name == old {
		for _, p := range d.a.parts(was) {
			if c := d.change(relName(t)); p.name == name && p.index != 0 && c != nil && d.stays(c, &p) {
				return
			}
		}
	}
	d.add(mark, catalog.QuoteIdent(name))
}

func (d *differ) shownView(n string, was, v *catalog.View) {
	alter := "ALTER " + viewKind(v) + " " + n
	for i := range v.Columns {
		x, old := &v.Columns[i], &catalog.Column{}
		if i < len(was.Columns) && was.Columns[i].Name == x.Name {
			old = &was.Columns[i]
		}
		col := alter + " ALTER COLUMN " + catalog.QuoteIdent(x.Name) + " "
		switch {
		case v.Materialized != nil:
			d.shownColumn(alter, old, x)
			if x.Storage != old.Storage {
				d.add(col, "SET STORAGE ", d.b.storageWord(x))
			}
		case x.Default == old.Default:
		case x.Default == "":
			d.add(col, "DROP DEFAULT")
		default:
			d.add(col, "SET DEFAULT ", x.Default)
		}
	}
	if v.Materialized != nil {
		m := was.Materialized
		if m == nil {
			m = &catalog.Table{}
		}
		if old, _ := marked(m); old != "" || v.Materialized.Indexes != nil {
			cluster, _ := marked(v.Materialized)
			switch {
			case cluster == old:
			case cluster == "":
				d.add(alter, " SET WITHOUT CLUSTER")
			default:
				d.add(alter, " CLUSTER ON ", catalog.QuoteIdent(cluster))
			}
		}
	}
}

// storageWord is what SET STORAGE calls a column's strategy; its type's own one has no
// word of its own.
func (d *side) storageWord(x *catalog.Column) string {
	if x.Storage != "" {
		return x.Storage
	}
	if info := d.snap.TypeInfo(d.snap.BaseType(x.Type).OID); info != nil {
		switch info.Storage {
		case 'x':
			return "extended"
		case 'e':
			return "external"
		case 'm':
			return "main"
		}
	}
	return "plain"
}
