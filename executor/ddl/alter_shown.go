package ddl

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// What ALTER TABLE says about PostgreSQL's heap is kept for those who read the
// catalog (\d, pg_dump, the XML document) and changes nothing else: how long values
// are stored, statistics targets, the index to cluster by, the replica identity.

// editStored changes a column of a table or materialized view.
func (x *exec) editStored(oid types.OID, name string, edit func(t *catalog.Table, col *catalog.Column) error) error {
	v, ok := x.snap().RelationByOID(x.db(), oid).(*catalog.View)
	if !ok || v.Materialized == nil {
		if _, err := x.table(oid); err != nil {
			return err
		}
		_, err := x.Change.EditColumn(oid, name, edit)
		return err
	}
	i := v.Materialized.Col(name)
	if i < 0 {
		return noColumn(v.Materialized, name)
	}
	err := x.Change.EditView(oid, func(v *catalog.View) error { return edit(v.Materialized, &v.Columns[i]) })
	if err != nil {
		return err
	}
	return x.Change.EditMaterialized(oid, func(m *catalog.Table) { m.Columns[i] = v.Columns[i] })
}

// varying reports whether values of a type have different lengths.
func (x *exec) varying(t types.T) bool {
	info := x.snap().TypeInfo(x.snap().BaseType(t).OID)
	return info != nil && info.Len == -1
}

// storageStrategies are what STORAGE names, with the codes of the types' own.
var storageStrategies = map[string]byte{"plain": 'p', "external": 'e', "extended": 'x', "main": 'm', "default": 0, catalog.StorageElements: 0}

// storage checks the word of STORAGE for a column and returns what is kept of it:
// nothing for the type's own strategy.
func (x *exec) storage(t types.T, word string, pos int) (string, error) {
	word = strings.ToLower(word)
	code, known := storageStrategies[word]
	switch {
	case !known:
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid storage type \"%s\"", word).At(pos)
	case word == "default":
		return "", nil
	case word == catalog.StorageElements:
		return word, nil
	case word != "plain" && !x.varying(t):
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "column data type %s can only have storage PLAIN", x.typeName(t))
	}
	if info := x.snap().TypeInfo(x.snap().BaseType(t).OID); info != nil && (info.Storage == code || info.Storage == 0 && code == 'p') {
		return "", nil
	}
	return word, nil
}

func (x *exec) setStorage(oid types.OID, a *ast.AlterAction) error {
	return x.editStored(oid, a.Name, func(t *catalog.Table, col *catalog.Column) error {
		s, err := x.storage(col.Type, a.NewName, -1)
		if err == nil && s == catalog.StorageElements && x.snap().Table(oid) == nil {
			err = sqlerr.Unsupported(a.Pos(), "a layout of materialized views")
		}
		col.Storage = s
		return err
	})
}

// compression checks a method for values of a type; the default one is "".
func (x *exec) compression(t types.T, method string) (string, error) {
	if method == "default" {
		return "", nil
	}
	if !x.varying(t) {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "column data type %s does not support compression", x.typeName(t))
	}
	switch method {
	case "pglz", "lz4":
		return method, nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid compression method \"%s\"", method)
}

func (x *exec) setCompression(oid types.OID, a *ast.AlterAction) error {
	return x.editStored(oid, a.Name, func(_ *catalog.Table, col *catalog.Column) (err error) {
		col.Compression, err = x.compression(col.Type, a.NewName)
		return err
	})
}

const maxStatTarget = 10000

// statTarget is the number of SET STATISTICS as columns and keys of indexes keep it.
func (x *exec) statTarget(e ast.Expr) (int, error) {
	n, err := x.statisticsTarget(e)
	switch n {
	case 0:
		n = -1
	case -1:
		n = 0
	}
	return n, err
}

// setStatistics records a column's statistics target; ANALYZE here has one sample
// size for all columns.
func (x *exec) setStatistics(oid types.OID, a *ast.AlterAction) error {
	n, err := x.statTarget(a.Expr)
	if err != nil {
		return err
	}
	if _, err := strconv.Atoi(a.Name); err == nil {
		if t := x.storedAs(oid); t != nil && t.Col(a.Name) < 0 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot refer to non-index column by number")
		}
	}
	return x.editStored(oid, a.Name, func(_ *catalog.Table, col *catalog.Column) error {
		col.StatTarget = n
		return nil
	})
}

// columnOptions are ALTER COLUMN … SET and RESET (…), hints for the estimates of
// PostgreSQL's planner.
func (x *exec) columnOptions(oid types.OID, a *ast.AlterAction) error {
	return x.editStored(oid, a.Name, func(_ *catalog.Table, col *catalog.Column) error {
		opts := col.Options
		for i := range a.Options {
			o := &a.Options[i]
			if a.Kind == "RESET OPTIONS" {
				opts = opts.Without(o.Name)
				continue
			}
			if o.Name != "n_distinct" && o.Name != "n_distinct_inherited" {
				return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", o.Name)
			}
			v, ok := parameterNumber(optionText(o), false)
			if !ok {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for floating point option \"%s\": %s", o.Name, optionText(o))
			}
			if v < -1 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"", optionText(o), o.Name).
					WithDetail("Valid values are between \"%f\" and \"%f\".", -1.0, math.MaxFloat64)
			}
			opts = opts.With(o.Name, optionText(o))
		}
		col.Options = opts
		return nil
	})
}

// editIndexes changes the indexes of a table or materialized view.
func (x *exec) editIndexes(t *catalog.Table, edit func(ix *catalog.Index)) error {
	for _, ix := range t.Indexes {
		if err := x.Change.EditIndex(ix.OID, edit); err != nil {
			return err
		}
	}
	return nil
}

// indexNamed finds an index of a table by its name.
func (x *exec) indexNamed(t *catalog.Table, name string) (*catalog.Index, error) {
	i := slices.IndexFunc(t.Indexes, func(ix *catalog.Index) bool { return ix.Name == name })
	if i < 0 {
		if x.findIndex(&ast.Name{Parts: []string{t.Schema, name}}) != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index for table \"%s\"", name, t.Name)
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "index \"%s\" for table \"%s\" does not exist", name, t.Name)
	}
	return t.Indexes[i], nil
}

// clusterOn is CLUSTER ON and SET WITHOUT CLUSTER; rows are in the order of the
// primary key whatever is named.
func (x *exec) clusterOn(oid types.OID, a *ast.AlterAction) error {
	t := x.storedAs(oid)
	if t == nil {
		_, err := x.table(oid)
		return err
	}
	chosen := types.OID(0)
	if a.Kind == "CLUSTER" {
		ix, err := x.indexNamed(t, a.Name)
		if err != nil {
			return err
		}
		if err := ix.Clusterable(); err != nil {
			return err
		}
		chosen = ix.OID
	}
	if t.Key != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot mark index clustered in partitioned table")
	}
	return x.editIndexes(t, func(ix *catalog.Index) { ix.Clustered = ix.OID == chosen })
}

// replicaIdentity is REPLICA IDENTITY.
func (x *exec) replicaIdentity(oid types.OID, a *ast.AlterAction) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	code, chosen := byte(0), types.OID(0)
	switch a.Kind {
	case "REPLICA IDENTITY FULL":
		code = 'f'
	case "REPLICA IDENTITY NOTHING":
		code = 'n'
	case "REPLICA IDENTITY USING INDEX":
		ix, err := x.indexNamed(t, a.Name)
		if err != nil {
			return err
		}
		if err := identifies(t, ix); err != nil {
			return err
		}
		code, chosen = 'i', ix.OID
	}
	if err := x.editIndexes(t, func(ix *catalog.Index) { ix.Identity = ix.OID == chosen }); err != nil {
		return err
	}
	_, err = x.Change.EditTable(oid, func(t *catalog.Table) error {
		t.ReplicaIdentity = code
		return nil
	})
	return err
}

// identifies checks that the keys of an index tell all rows apart.
func identifies(t *catalog.Table, ix *catalog.Index) error {
	bad := func(what string) error {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot use %s index \"%s\" as replica identity", what, ix.Name)
	}
	switch {
	case !ix.Unique:
		return bad("non-unique")
	case slices.ContainsFunc(t.Uniques, func(u *catalog.Unique) bool { return u.Index == ix.OID && u.Deferrable }):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use non-immediate index \"%s\" as replica identity", ix.Name)
	case slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col < 0 }):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use expression index \"%s\" as replica identity", ix.Name)
	case ix.Where != "":
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use partial index \"%s\" as replica identity", ix.Name)
	}
	for _, k := range ix.Keys {
		if c := &t.Columns[k.Col]; !c.NotNull {
			return sqlerr.New(sqlerr.WrongObjectType, "index \"%s\" cannot be used as replica identity because column \"%s\" is nullable", ix.Name, c.Name)
		}
	}
	return nil
}
