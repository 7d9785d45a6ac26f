package catalog

import "kvsqld/catalog/types"

// Functions that PostgreSQL does not have, or has without a fixed OID. Their OIDs are fixed, since plans
// and views may be stored with them, and lie between the built-in functions and
// FirstUserOID.
const (
	OProcDistance types.OID = 9000 + iota
	OProcVersion
	OProcBoundingBox
	OProcBoxAround
	OProcKVGet
	OProcKVSet
	OProcKVAdd
	OProcKVReplace
	OProcKVDelete
	OProcKVScan
	_ // was information_schema._pg_expandarray
	OProcInSample
)

// langInternal is the OID of the language "internal" in pg_language.
const langInternal types.OID = 12

func ownProcs() []*Proc {
	f8 := types.OFloat8
	return []*Proc{
		{
			// Metres between two positions on the sphere.
			OID: OProcDistance, Name: "distance", Src: "kvsqld_distance", Kind: 'f', Strict: true,
			Volatile: 'i', Args: []types.OID{f8, f8, f8, f8}, Ret: f8, Cost: 10, Lang: langInternal, Parallel: 's',
			ArgNames: []string{"latitude1", "longitude1", "latitude2", "longitude2"},
		},
		{
			OID: OProcVersion, Name: "kvsqld_version", Src: "kvsqld_version", Kind: 'f', Strict: true,
			Volatile: 's', Ret: types.OText, Cost: 1, Lang: langInternal, Parallel: 's',
		},
		{
			// South, west, north and east of a box that holds every position within
			// some metres; west > east over the date line.
			OID: OProcBoxAround, Name: "bounding_box", Src: "kvsqld_box_around", Kind: 'f', Strict: true,
			Volatile: 'i', Args: []types.OID{f8, f8, f8}, Ret: types.OFloat8Arr, Cost: 1, Lang: langInternal, Parallel: 's',
			ArgNames: []string{"latitude", "longitude", "metres"},
		},
		{
			// Whether a position lies in the box of two latitudes and two longitudes.
			OID: OProcBoundingBox, Name: "bounding_box", Src: "kvsqld_bounding_box", Kind: 'f', Strict: true,
			Volatile: 'i', Args: []types.OID{f8, f8, f8, f8, f8, f8}, Ret: types.OBool, Cost: 1, Lang: langInternal, Parallel: 's',
			ArgNames: []string{"latitude", "longitude", "south", "west", "north", "east"},
		},
		kvProc(OProcKVGet, "kv_get", types.OText),
		kvWrite(OProcKVSet, "kv_set", types.OVoid, "value"),
		kvWrite(OProcKVAdd, "kv_add", types.OBool, "value"),
		kvWrite(OProcKVReplace, "kv_replace", types.OBool, "value"),
		kvWrite(OProcKVDelete, "kv_delete", types.OBool),
		{
			// The pairs whose keys begin with a prefix, in the order of the keys.
			OID: OProcKVScan, Name: "kv_scan", Src: "kvsqld_kv_scan", Kind: 'f', Strict: true, RetSet: true,
			Volatile: 'v', Args: []types.OID{types.ORegclass, types.OText}, Ret: types.ORecord, Cost: 1, Rows: 1000, Lang: langInternal,
			Parallel: 'u', AllArgs: []types.OID{types.ORegclass, types.OText, types.OText, types.OText}, ArgModes: []byte("iioo"),
			ArgNames: []string{"table", "prefix", "key", "value"},
		},
		{
			// Whether TABLESAMPLE takes the row of this key.
			OID: OProcInSample, Name: "kvsqld_in_sample", Src: "kvsqld_in_sample", Kind: 'f',
			Volatile: 's', Args: []types.OID{types.OBytea, types.OFloat4, types.OFloat8, types.OBool}, Ret: types.OBool, Cost: 1, Lang: langInternal,
			Parallel: 's', ArgNames: []string{"row_key", "percentage", "seed", "blocks"},
		},
	}
}

// kvProc is a function of the key-value face of tables: of a table, a key and
// perhaps a value. It runs a statement of its own, and so is volatile and stays
// with its session.
func kvProc(oid types.OID, name string, ret types.OID, more ...string) *Proc {
	p := &Proc{
		OID: oid, Name: name, Src: "kvsqld_" + name, Kind: 'f', Volatile: 'v', Args: []types.OID{types.ORegclass, types.OText},
		Ret: ret, Cost: 10, Lang: langInternal, Parallel: 'u', ArgNames: []string{"table", "key"},
	}
	for _, n := range more {
		p.Args, p.ArgNames = append(p.Args, types.OText), append(p.ArgNames, n)
	}
	return p
}

func kvWrite(oid types.OID, name string, ret types.OID, more ...string) *Proc {
	p := kvProc(oid, name, ret, more...)
	p.Modifies = true
	return p
}
