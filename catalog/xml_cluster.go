package catalog

import (
	"math"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
)

// A region-clustered table has its regions, or the foreign key along which it is
// stored, among the attributes of its Table element.

func (w *xmlWriter) clusterAttrs(a *attrList, t *Table) {
	k := t.Cluster
	if k == nil {
		return
	}
	if k.Parent == 0 {
		a.set("regionLatitude", t.Columns[k.Lat].Name)
		a.set("regionLongitude", t.Columns[k.Lon].Name)
		a.set("regionSize", k.Grid.String())
		a.num("regionRows", int64(k.MaxRows))
		a.opt("regionFile", k.File)
		if w.ids {
			a.num("regionSpace", int64(k.Regions))
		}
		return
	}
	if fk := t.ClusterKey(); fk != nil {
		a.set("clusterKey", fk.Name)
	}
	a.num("clusterTag", int64(k.Tag))
	if w.ids {
		a.num("clusterParent", int64(k.Parent))
	}
}

// cluster reads the attributes once columns and constraints are known. A child's
// space is its root's, which is found when all tables are there.
func (r *xmlReader) cluster(e *element, t *Table) {
	if name := r.str(e, "clusterKey"); name != "" {
		k := &Cluster{Tag: int(r.num(e, "clusterTag", 1, math.MaxInt16, 1))}
		for _, fk := range t.ForeignKeys {
			if fk.Name == name {
				k.FK, k.Parent = fk.OID, fk.RefTable
			}
		}
		if k.FK == 0 {
			r.fail(e, codeXML, "names a foreign key \"%s\" that it does not have", name)
		}
		if r.ids {
			k.Parent = types.OID(r.num(e, "clusterParent", 0, math.MaxUint32, 0))
		}
		t.Cluster = k
		return
	}
	lat := r.str(e, "regionLatitude")
	if lat == "" {
		return
	}
	k := &Cluster{Lat: t.Col(lat), Lon: t.Col(r.str(e, "regionLongitude")), MaxRows: int(r.num(e, "regionRows", 1, math.MaxInt32, DefaultRegionRows)),
		File: r.str(e, "regionFile")}
	if k.Lat < 0 || k.Lon < 0 {
		r.fail(e, codeXML, "names a column of regions that does not exist")
	}
	var err error
	if k.Grid, err = spatial.ParseGrid(r.str(e, "regionSize")); err != nil {
		r.fail(e, codeXML, "has a wrong regionSize: %v", err)
	}
	if r.ids {
		k.Regions = SpaceID(r.num(e, "regionSpace", 0, math.MaxInt64, 0))
	} else {
		k.Regions = r.doc.alloc.AllocSpace()
		if k.File == "" {
			k.File = fileBase(t.Schema, t.Name) + ".reg"
		}
	}
	t.Cluster = k
}

// clusterIndex gives the primary key its own file where the table's master file
// is in another order, that of regions or of row numbers, and none elsewhere.
func (r *xmlReader) clusterIndex(t *Table) {
	ix := t.PrimaryIndex()
	switch {
	case ix == nil || r.err != nil:
	case t.KeyIsRowKey():
		ix.File, ix.Space = "", 0
	case !r.ids:
		ix.Space = r.doc.alloc.AllocSpace()
		if ix.File == "" {
			ix.File = fileBase(t.Schema, ix.Name) + ".ind"
		}
	}
}
