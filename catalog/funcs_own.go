package catalog

import "kvsqld/catalog/types"

// Functions that PostgreSQL does not have. Their OIDs are fixed, since plans
// and views may be stored with them, and lie between the built-in functions and
// FirstUserOID.
const (
	OProcDistance types.OID = 9000 + iota
	OProcVersion
	OProcBoundingBox
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
			// Whether a position lies in the box of two latitudes and two longitudes.
			OID: OProcBoundingBox, Name: "bounding_box", Src: "kvsqld_bounding_box", Kind: 'f', Strict: true,
			Volatile: 'i', Args: []types.OID{f8, f8, f8, f8, f8, f8}, Ret: types.OBool, Cost: 1, Lang: langInternal, Parallel: 's',
			ArgNames: []string{"latitude", "longitude", "south", "west", "north", "east"},
		},
	}
}
