package ddl

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// maxRegionRows is the greatest region_rows.
const maxRegionRows = 1 << 30

// clusterOption reports whether a storage parameter is one of those that
// clusterOptions reads. They say where rows lie.
func clusterOption(name string) bool {
	switch name {
	case "regions", "region_size", "region_rows", "cluster_with":
		return true
	}
	return false
}

// clusterOptions reads the storage parameters of region-clustered tables:
//
//	regions = 'latitude, longitude'   the columns of the position
//	region_size = '0.5 x 0.5'         degrees of latitude and longitude
//	region_rows = 4096                a region with more rows is divided
//	cluster_with = 'parent'           stored with the rows of this table
func (x *exec) clusterOptions(spec *catalog.TableSpec, opts []ast.Option) error {
	by := map[string]*ast.Option{}
	for i := range opts {
		if o := &opts[i]; clusterOption(o.Name) {
			if by[o.Name] != nil {
				return sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" specified more than once", o.Name).At(o.Pos())
			}
			by[o.Name] = o
		}
	}
	if len(by) == 0 {
		return nil
	}
	regions, with := by["regions"], by["cluster_with"]
	switch {
	case regions != nil && with != nil:
		return sqlerr.New(sqlerr.InvalidParameterValue, "regions and cluster_with exclude each other").
			WithHint("A table stored with another one has the regions of that one.").At(with.Pos())
	case with != nil:
		for _, name := range []string{"region_size", "region_rows"} {
			if o := by[name]; o != nil {
				return sqlerr.New(sqlerr.InvalidParameterValue, "%s belongs to a table with regions", name).At(o.Pos())
			}
		}
		return x.clusterParent(spec, with)
	case regions == nil:
		for _, o := range by {
			return sqlerr.New(sqlerr.InvalidParameterValue, "%s belongs to a table with regions", o.Name).At(o.Pos())
		}
	}
	k := &catalog.ClusterSpec{Grid: spatial.Grid{LatSize: 0.5, LonSize: 0.5}}
	cols := strings.Split(optionText(regions), ",")
	if len(cols) != 2 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"regions\": \"%s\"", optionText(regions)).
			WithDetail("The columns of latitude and longitude are wanted, as in 'latitude, longitude'.").At(regions.Pos())
	}
	k.Lat, k.Lon = columnName(cols[0]), columnName(cols[1])
	if o := by["region_size"]; o != nil {
		var err error
		if k.Grid, err = spatial.ParseGrid(optionText(o)); err != nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"region_size\": \"%s\"", optionText(o)).
				WithDetail("%s", sentence(err.Error())).At(o.Pos())
		}
	}
	if o := by["region_rows"]; o != nil {
		n, err := strconv.Atoi(optionText(o))
		if err != nil || n < 1 || n > maxRegionRows {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"region_rows\": \"%s\"", optionText(o)).
				WithDetail("A number between 1 and %d is wanted.", maxRegionRows).At(o.Pos())
		}
		k.MaxRows = n
	}
	spec.Cluster = k
	return nil
}

// clusterParent reads cluster_with: a table's name, with or without its schema.
func (x *exec) clusterParent(spec *catalog.TableSpec, o *ast.Option) error {
	schema, name, dotted := strings.Cut(optionText(o), ".")
	if !dotted {
		name, schema = schema, ""
	}
	k := &catalog.ClusterSpec{With: columnName(name), WithIn: columnName(schema)}
	if k.With == "" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"cluster_with\": \"%s\"", optionText(o)).At(o.Pos())
	}
	if !dotted {
		if k.With == spec.Name {
			k.WithIn = spec.Schema
		} else {
			for _, p := range x.Path {
				if x.snap().Relation(x.db(), p, k.With) != nil {
					k.WithIn = p
					break
				}
			}
		}
	}
	spec.Cluster = k
	return nil
}

// clusterParameters is ALTER TABLE … SET and RESET for the options of region-clustered
// tables: a table gets a place, or another one, or none, and its rows are moved there.
func (x *exec) clusterParameters(t *catalog.Table, a *ast.AlterAction) error {
	given := map[string]bool{}
	for i := range a.Options {
		if clusterOption(a.Options[i].Name) {
			given[a.Options[i].Name] = true
		}
	}
	reset := a.Kind == "RESET OPTIONS"
	switch {
	case len(given) == 0:
		return nil
	case t.Cluster != nil:
		return x.clusterChange(t, a, given, reset)
	case reset:
		_, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
			t.ForgetClusterOptions()
			return nil
		})
		return err
	}
	spec := &catalog.TableSpec{Schema: t.Schema, Name: t.Name}
	if err := x.clusterOptions(spec, a.Options); err != nil || spec.Cluster == nil {
		return err
	}
	return x.place(t, spec.Cluster)
}

// clusterChange is clusterParameters for a table that has a place. Options of its
// regions that are not named stay.
func (x *exec) clusterChange(t *catalog.Table, a *ast.AlterAction, given map[string]bool, reset bool) error {
	now := t.ClusterSpec()
	spec := &catalog.TableSpec{Schema: t.Schema, Name: t.Name}
	if !reset || !given["regions"] && !given["cluster_with"] {
		var opts []ast.Option
		if !reset {
			opts = a.Options
		}
		if reset || t.Cluster.Root() && !given["cluster_with"] {
			for name, v := range now.Options() {
				if !given[name] {
					opts = append(slices.Clip(opts), ast.Option{Name: name, X: &ast.Const{Val: v}})
				}
			}
		}
		if err := x.clusterOptions(spec, opts); err != nil {
			return err
		}
		if maps.Equal(spec.Cluster.Options(), now.Options()) {
			return nil
		}
	} else if t.Cluster.Root() != given["regions"] {
		return nil // what it does not have
	}
	lock := append([]*catalog.Table{t}, x.snap().ClusterBelow(t)...)
	if spec.Cluster != nil {
		if parent := x.Change.ClusterParent(spec.Cluster); parent != nil {
			if spec.Cluster.With != "" && slices.Contains(lock, parent) && parent != t {
				return sqlerr.New(sqlerr.InvalidObjectDefinition, "table \"%s\" is stored with \"%s\"", parent.Name, t.Name)
			}
			lock = append([]*catalog.Table{parent}, lock...)
		}
	}
	for _, l := range lock {
		if err := x.lock(l, kv.AccessExclusive); err != nil {
			return err
		}
	}
	for _, l := range lock {
		if err := x.unused(l, "ALTER TABLE"); err != nil {
			return err
		}
	}
	if err := x.Change.ChangeCluster(t.OID, spec.Cluster); err != nil {
		return err
	}
	x.moves(t)
	return nil
}

// moves notes that the rows of a table have another place now: they are written there
// when those of its parent have been.
func (x *exec) moves(t *catalog.Table) {
	if x.rewrites == nil {
		x.rewrites = map[types.OID]rewrite{}
	}
	rw := x.rewrites[t.OID]
	rw.turn, rw.place = len(x.rewrites)+1, true
	x.rewrites[t.OID] = rw
}

// lockBelow locks the tables stored with a table whose rows are written anew, for they
// lie between those.
func (x *exec) lockBelow(t *catalog.Table) error {
	for _, c := range x.snap().ClusterBelow(t) {
		if err := x.lock(c, kv.AccessExclusive); err != nil {
			return err
		}
		if err := x.unused(c, "ALTER TABLE"); err != nil {
			return err
		}
	}
	return nil
}

// copyBelow writes the rows of the tables stored with a table anew, under the keys that
// the table's rows have now. old has the rows as they were.
func (x *exec) copyBelow(old kv.Reader, t *catalog.Table) error {
	for _, c := range x.snap().ClusterBelow(t) {
		if x.rewrites[c.OID].place {
			continue // it is new there, and has its own turn
		}
		d, err := x.Tables.For(c)
		if err != nil {
			return err
		}
		if err := d.ClearFiles(x.Txn); err != nil {
			return err
		}
		if err := x.copyRows(old, d, d, rewrite{}); err != nil {
			return err
		}
	}
	return nil
}

// place gives a table a place in a region-clustered file, with its rows.
func (x *exec) place(t *catalog.Table, spec *catalog.ClusterSpec) error {
	if parent := x.Change.ClusterParent(spec); parent != nil && parent.OID != t.OID {
		if err := x.lock(parent, kv.AccessExclusive); err != nil {
			return err
		}
	}
	if err := x.lock(t, kv.AccessExclusive); err != nil {
		return err
	}
	if err := x.unused(t, "ALTER TABLE"); err != nil {
		return err
	}
	if _, err := x.Change.SetCluster(t.OID, spec); err != nil {
		return err
	}
	x.moves(t)
	return nil
}

// placeWaiting gives the tables a place whose options have waited for keys that are
// there now, from the top.
func (x *exec) placeWaiting() error {
	waits := func(r catalog.Relation) bool {
		t, ok := r.(*catalog.Table)
		return ok && t.ClusterWaits()
	}
	for again := true; again; {
		again = false
		for _, r := range x.snap().RelationsWhere(x.db(), waits) {
			t := r.(*catalog.Table)
			var opts []ast.Option
			for _, o := range t.Options {
				opts = append(opts, ast.Option{Name: o.Name, X: &ast.Const{Val: o.Value}})
			}
			spec := &catalog.TableSpec{Schema: t.Schema, Name: t.Name}
			if err := x.clusterOptions(spec, opts); err != nil {
				return err
			}
			if !x.Change.Clusterable(t, spec.Cluster) {
				continue
			}
			if err := x.place(t, spec.Cluster); err != nil {
				return err
			}
			again = true
			break // the list is that of the snapshot before
		}
	}
	return nil
}

// tellWaiting says that a new table has no place yet.
func (x *exec) tellWaiting(t *catalog.Table) {
	switch {
	case !t.ClusterWaits():
	case t.Options.Value("regions") != "":
		x.notice(sqlerr.SuccessfulCompletion, "table \"%s\" will be stored by regions when it has a primary key", t.Name)
	default:
		x.notice(sqlerr.SuccessfulCompletion, "table \"%s\" will be stored with \"%s\" when it has a primary key and a foreign key to it", t.Name, t.Options.Value("cluster_with"))
	}
}

// columnName is an identifier inside a parameter's text: quoted as it is, others
// in small letters.
func columnName(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return strings.ToLower(s)
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
