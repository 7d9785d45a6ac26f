package catalog

import (
	"slices"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Cluster is a table's place in a region-clustered file. The root is the table
// with the positions: its master file is in the order of the grid, and it has a
// Regions file. Children are stored with their parent's rows, in the root's file,
// along a foreign key to the parent's primary key.
type Cluster struct {
	// Of the root.
	Lat, Lon int // columns
	Grid     spatial.Grid
	MaxRows  int     // a region with more rows of the root is divided
	Regions  SpaceID // the Regions file
	File     string

	// Of a child.
	FK     types.OID // the foreign key along which it is stored; 0: the root
	Parent types.OID
	Tag    int // tells the children of one parent apart, from 1

	parent *Table
	making bool // its constraints are still to come
}

// DefaultRegionRows is the MaxRows of a table that asks for none.
const DefaultRegionRows = 4096

// Root reports whether the table has the positions.
func (c *Cluster) Root() bool { return c.FK == 0 }

// ParentTable returns the table that a child is stored with, as it was when
// either of them was last loaded or made: its file, its primary key and that
// one's file are what does not change. nil for a root.
func (c *Cluster) ParentTable() *Table { return c.parent }

// ClusterKey returns the foreign key along which a child is stored.
func (t *Table) ClusterKey() *ForeignKey {
	if t.Cluster == nil {
		return nil
	}
	for _, fk := range t.ForeignKeys {
		if fk.OID == t.Cluster.FK {
			return fk
		}
	}
	return nil
}

// ClusterTail returns the columns that the row key of a clustered table has behind
// its position or its parent's row key: those of the primary key that are not in the
// foreign key along which it is stored.
func (t *Table) ClusterTail() []int {
	fk := t.ClusterKey()
	if fk == nil {
		return t.PK
	}
	return slices.DeleteFunc(slices.Clone(t.PK), func(c int) bool { return slices.Contains(fk.Cols, c) })
}

// KeyIsRowKey reports whether the master file is in the order of the primary key
// and serves as its index.
func (t *Table) KeyIsRowKey() bool {
	return len(t.PK) > 0 && t.Cluster == nil && !t.Deferrable(t.PrimaryIndex())
}

// CtidTellsKey reports whether a row's ctid leads back to its key: it is a row number, or
// the one integer of the primary key. Of other keys it is a hash.
func (t *Table) CtidTellsKey() bool {
	if t.Cluster != nil {
		return false
	}
	if !t.KeyIsRowKey() {
		return true
	}
	if len(t.PK) > 1 {
		return false
	}
	switch t.Columns[t.PK[0]].Type.Kind() {
	case types.KInt2, types.KInt4, types.KInt8:
		return true
	}
	return false
}

// ClusterSpec asks for a place in a region-clustered file: either Lat and Lon, or
// With.
type ClusterSpec struct {
	Lat, Lon string
	Grid     spatial.Grid
	MaxRows  int    // 0 is DefaultRegionRows
	With     string // the parent's name
	WithIn   string // its schema
}

// clusterColumn finds a column of positions.
func clusterColumn(t *Table, name string) (int, error) {
	i := t.Col(name)
	if i < 0 {
		return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in regions does not exist", name)
	}
	return i, isPosition(name, t.Columns[i].Type)
}

// isPosition refuses other types than those of positions.
func isPosition(column string, t types.T) error {
	switch t.OID {
	case types.OFloat8, types.OFloat4:
		return nil
	}
	return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" named in regions must be of type double precision or real", column)
}

// clusterTypeChangeable refuses another type of a column of positions, or of one that
// a table has in its row keys together with another one: those are equal there, byte
// by byte.
func (c *Change) clusterTypeChangeable(t *Table, i int, typ types.T) error {
	k := t.Cluster
	if k == nil || t.Columns[i].Type == typ {
		return nil
	}
	if k.Root() && (i == k.Lat || i == k.Lon) {
		if err := isPosition(t.Columns[i].Name, typ); err != nil {
			return err
		}
	}
	leaf := t
	if fk := t.ClusterKey(); fk == nil || !slices.Contains(fk.Cols, i) {
		below := c.snap.ClusterChildren(t)
		if len(below) == 0 || !slices.Contains(t.PK, i) {
			return nil
		}
		leaf = below[0]
	}
	e := sqlerr.Unsupported(-1, "another type of column \"%s\", along which table \"%s\" is stored", t.Columns[i].Name, leaf.Name)
	return e.WithHint("Take \"%s\" out first, by ALTER TABLE … RESET (cluster_with).", leaf.Name)
}

// rootCluster makes a new table the root of a file.
func (c *Change) rootCluster(t *Table, spec *ClusterSpec) error {
	lat, err := clusterColumn(t, spec.Lat)
	if err != nil {
		return err
	}
	lon, err := clusterColumn(t, spec.Lon)
	if err != nil {
		return err
	}
	if lat == lon {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" appears twice in regions", spec.Lat)
	}
	t.Cluster = &Cluster{Lat: lat, Lon: lon, Grid: spec.Grid, MaxRows: spec.MaxRows, Regions: c.alloc.AllocSpace(), making: true}
	if t.Cluster.MaxRows == 0 {
		t.Cluster.MaxRows = DefaultRegionRows
	}
	if !t.Temp {
		t.Cluster.File = c.fileName(fileBase(t.Schema, t.Name), ".reg", t.OID)
	}
	return nil
}

// childCluster gives a new table the file of its parent; the foreign key is found
// when the constraints are there (clusterForeignKey).
func (c *Change) childCluster(t *Table, spec *ClusterSpec) error {
	rel := c.snap.Relation(c.DB, spec.WithIn, spec.With)
	parent, ok := rel.(*Table)
	switch {
	case t.Name == spec.With && t.Schema == spec.WithIn:
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "table \"%s\" cannot be stored with itself", t.Name)
	case rel == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", spec.With)
	case !ok || parent.Cluster == nil:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a region-clustered table", spec.With).
			WithHint("A table at the top has regions = 'latitude, longitude'.")
	case clusterDepth(parent) >= maxClusterDepth-1:
		return sqlerr.Unsupported(-1, "more than %d levels of tables stored with each other", maxClusterDepth)
	case parent.Temp != t.Temp:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "a temporary and a permanent table cannot be stored together")
	}
	tag := 1
	for _, ref := range c.snap.Referencing(c.DB, parent.OID) {
		if k := ref.Table.Cluster; k != nil && k.Parent == parent.OID {
			tag = max(tag, k.Tag+1)
		}
	}
	t.Space, t.File = parent.Space, parent.File
	t.Cluster = &Cluster{Parent: parent.OID, Tag: tag, parent: parent, making: true}
	return nil
}

// clusterForeignKey completes the Cluster of a new table.
func (c *Change) clusterForeignKey(t *Table) error {
	if len(t.PK) == 0 {
		return errClusterKey()
	}
	k := *t.Cluster
	k.making = false
	if k.Parent != 0 {
		fk, err := t.keyToParent()
		if err != nil {
			return err
		}
		k.FK = fk.OID
	}
	_, err := c.edit(t.OID, func(t *Table) error { t.Cluster = &k; return nil })
	return err
}

// keyToParent finds the foreign key along which a child can be stored.
func (t *Table) keyToParent() (*ForeignKey, error) {
	parent := t.Cluster.parent
	var found *ForeignKey
	for _, fk := range t.ForeignKeys {
		if fk.RefTable == parent.OID && len(fk.Cols) == len(parent.PK) && fk.RefIndex == parent.PrimaryIndex().OID {
			found = fk
			break
		}
	}
	if found == nil {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "table \"%s\" has no foreign key to the primary key of \"%s\", with which it is to be stored",
			t.Name, parent.Name)
	}
	if found.Deferrable {
		return nil, sqlerr.Unsupported(-1, "cluster_with along a deferrable foreign key")
	}
	for i, col := range found.Cols {
		if !t.Columns[col].NotNull {
			return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" must be NOT NULL, because the table is stored along it", t.Columns[col].Name)
		}
		if t.Columns[col].Type != parent.Columns[found.RefCols[i]].Type {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "columns \"%s\" and \"%s\" must be of the same type to store \"%s\" with \"%s\"",
				t.Columns[col].Name, parent.Columns[found.RefCols[i]].Name, t.Name, parent.Name)
		}
	}
	return found, nil
}

// linkClusters gives the children among new objects their parents.
func (s *Snapshot) linkClusters(put []Object) {
	for _, o := range put {
		if t, ok := o.(*Table); ok && t.Cluster != nil && t.Cluster.parent == nil && t.Cluster.Parent != 0 {
			t.Cluster.parent, _ = s.objs.get(t.Cluster.Parent).(*Table)
		}
	}
	for _, o := range put {
		if t, ok := o.(*Table); ok {
			if root := t.clusterRoot(); root != nil && root != t {
				// A document has no numbers of files: its tables get theirs one by one.
				t.Space, t.File = root.Space, root.File
			}
		}
	}
}

// maxClusterDepth bounds the levels of tables stored with each other.
const maxClusterDepth = 32

func clusterDepth(t *Table) int {
	n := 1
	for t = t.Cluster.parent; t != nil && n < maxClusterDepth; t = t.Cluster.parent {
		n++
	}
	return n
}

// clusterRoot returns the table whose file a clustered table is stored in; nil for
// other tables, and where no root is found.
func (t *Table) clusterRoot() *Table {
	for range maxClusterDepth {
		switch {
		case t == nil || t.Cluster == nil:
			return nil
		case t.Cluster.Parent == 0:
			return t
		}
		t = t.Cluster.parent
	}
	return nil
}

// ClusterChildren returns the tables stored with a table's rows, by Tag.
func (s *Snapshot) ClusterChildren(t *Table) []*Table {
	if t.Cluster == nil {
		return nil
	}
	var out []*Table
	for _, ref := range s.Referencing(t.DB, t.OID) {
		if k := ref.Table.Cluster; k != nil && k.FK == ref.FK.OID {
			out = append(out, ref.Table)
		}
	}
	slices.SortFunc(out, func(a, b *Table) int { return a.Cluster.Tag - b.Cluster.Tag })
	return out
}

// validateCluster checks what a region-clustered table cannot lose.
func (s *Snapshot) validateCluster(t *Table) error {
	k := t.Cluster
	if k == nil || k.making {
		return nil
	}
	if len(t.PK) == 0 {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "table \"%s\" is region-clustered and must keep its primary key", t.Name)
	}
	if k.Parent == 0 {
		if !liveColumn(t, k.Lat) || !liveColumn(t, k.Lon) {
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "table \"%s\" must keep the columns of its regions", t.Name)
		}
		return nil
	}
	fk := t.ClusterKey()
	if t.clusterRoot() == nil {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "table \"%s\" is stored with tables that lead to no region-clustered one", t.Name)
	}
	if fk == nil || s.Table(k.Parent) == nil {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "table \"%s\" must keep the foreign key along which it is stored", t.Name).
			WithHint("Drop table \"%s\" first.", t.Name)
	}
	for _, c := range fk.Cols {
		if !t.Columns[c].NotNull {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" must be NOT NULL, because the table is stored along it", t.Columns[c].Name)
		}
	}
	return nil
}
