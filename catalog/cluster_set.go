package catalog

import (
	"maps"
	"slices"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// A table can get its place in a region-clustered file when it has rows already. Its
// options may come first: pg_dump writes keys behind the tables. Until the table has
// the keys that it is stored along, the options wait among its Options.

// clusterOptionNames are the options that ClusterSpec.Options makes.
var clusterOptionNames = []string{"cluster_with", "region_rows", "region_size", "regions"}

// Options are the options of WITH (…) that ask for the place.
func (k *ClusterSpec) Options() map[string]string {
	if k.With != "" {
		return map[string]string{"cluster_with": QuoteIdent(k.WithIn) + "." + QuoteIdent(k.With)}
	}
	out := map[string]string{"regions": QuoteIdent(k.Lat) + ", " + QuoteIdent(k.Lon), "region_size": k.Grid.String()}
	if k.MaxRows != 0 && k.MaxRows != DefaultRegionRows {
		out["region_rows"] = strconv.Itoa(k.MaxRows)
	}
	return out
}

// ClusterSpec is what the table's place in a cluster was asked for with, nil for
// tables without one.
func (t *Table) ClusterSpec() *ClusterSpec {
	k := t.Cluster
	switch {
	case k == nil:
		return nil
	case k.parent != nil:
		return &ClusterSpec{With: k.parent.Name, WithIn: k.parent.Schema}
	}
	return &ClusterSpec{Lat: t.Columns[k.Lat].Name, Lon: t.Columns[k.Lon].Name, Grid: k.Grid, MaxRows: k.MaxRows}
}

// ClusterDepth is the table's level among those stored with each other, 1 at the top.
func (t *Table) ClusterDepth() int { return clusterDepth(t) }

// ClusterWaits reports whether the table has options of a region-clustered table
// that wait for its keys.
func (t *Table) ClusterWaits() bool {
	return t.Cluster == nil && (t.Options.Value("regions") != "" || t.Options.Value("cluster_with") != "")
}

// ForgetClusterOptions removes the options that wait.
func (t *Table) ForgetClusterOptions() {
	t.Options = t.Options.Without(clusterOptionNames...)
}

// Clusterable reports whether a table has the keys that a place needs.
func (c *Change) Clusterable(t *Table, spec *ClusterSpec) bool {
	if len(t.PK) == 0 {
		return false
	}
	if spec.With == "" {
		return true
	}
	parent := c.ClusterParent(spec)
	return parent != nil && parent.Cluster != nil &&
		slices.ContainsFunc(t.ForeignKeys, func(fk *ForeignKey) bool { return fk.RefTable == parent.OID })
}

// ClusterParent returns the table that With names, nil if there is none.
func (c *Change) ClusterParent(spec *ClusterSpec) *Table {
	t, _ := c.snap.Relation(c.DB, spec.WithIn, spec.With).(*Table)
	return t
}

// SetCluster gives a table a place in a region-clustered file. The rows are the
// caller's business.
func (c *Change) SetCluster(table types.OID, spec *ClusterSpec) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		switch {
		case t.Layout != LayoutRow:
			return sqlerr.Unsupported(-1, "layout \"%s\" of a region-clustered table", t.Layout)
		case len(t.PK) == 0:
			return errClusterKey()
		}
		t.ForgetClusterOptions()
		return c.giveCluster(t, spec)
	})
}

// ChangeCluster gives a region-clustered table another place, or none if spec is nil.
// Tables stored with it move along, or else keep it where it is. The rows are the
// caller's business.
func (c *Change) ChangeCluster(table types.OID, spec *ClusterSpec) error {
	was := c.snap.Table(table)
	below := c.snap.ClusterChildren(was)
	if len(below) > 0 && (spec == nil || spec.With != "" || !was.Cluster.Root()) {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot change the place of table \"%s\" because other tables are stored with it", was.Name).
			WithDetail("Table \"%s\" is stored with it.", below[0].Name).
			WithHint("Take that out first, by ALTER TABLE … RESET (cluster_with).")
	}
	_, err := c.edit(table, func(t *Table) error {
		if t.Cluster = nil; !was.Cluster.Root() {
			t.Space, t.File = c.alloc.AllocSpace(), ""
			if !t.Temp {
				t.File = c.fileName(fileBase(t.Schema, t.Name), ".kv", t.OID)
			}
		}
		if spec != nil {
			return c.giveCluster(t, spec)
		}
		if i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Primary }); t.KeyIsRowKey() {
			ix := *t.Indexes[i]
			ix.Space, ix.File = 0, ""
			t.Indexes[i] = &ix
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range c.snap.ClusterBelow(was) {
		_, err := c.edit(t.OID, func(t *Table) error { // so that it knows its parent as it is now
			k := *t.Cluster
			k.parent, t.Cluster = nil, &k
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ClusterBelow returns the tables stored with a table's rows, on all levels, parents
// first.
func (s *Snapshot) ClusterBelow(t *Table) []*Table {
	out := s.ClusterChildren(t)
	for i := 0; i < len(out); i++ {
		out = append(out, s.ClusterChildren(out[i])...)
	}
	return out
}

// giveCluster gives a table without a place one.
func (c *Change) giveCluster(t *Table, spec *ClusterSpec) error {
	place := c.rootCluster
	if spec.With != "" {
		place = c.childCluster
	}
	if err := place(t, spec); err != nil {
		return err
	}
	t.Cluster.making = false
	if t.Cluster.Parent != 0 {
		fk, err := t.keyToParent()
		if err != nil {
			return err
		}
		t.Cluster.FK = fk.OID
	}
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Primary })
	if t.Indexes[i].Space == 0 {
		ix := *t.Indexes[i]
		c.indexFile(t, &ix, "")
		t.Indexes[i] = &ix
	}
	return nil
}

func errClusterKey() error {
	return sqlerr.New(sqlerr.InvalidTableDefinition, "a region-clustered table must have a primary key")
}

// laterCluster checks what is known of the place of a new table that has no primary
// key yet, and keeps the options.
func (c *Change) laterCluster(t *Table, spec *ClusterSpec) error {
	if spec.With == "" {
		if err := c.rootCluster(t, spec); err != nil {
			return err
		}
		t.Cluster = nil
	}
	given := spec.Options()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		t.Options = t.Options.With(name, given[name])
	}
	return nil
}
