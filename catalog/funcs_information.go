package catalog

import "kvsqld/catalog/types"

// informationProcs are the functions of information_schema, which its views are
// made of in PostgreSQL and which some clients call by name. Their OIDs are those
// of a server that was just initialised.
func informationProcs() []*Proc {
	const pgAttribute, pgType types.OID = 75, 71 // the row types
	procs := []*Proc{
		{
			// The elements of a one-dimensional array with their places: drivers take
			// the key columns of pg_index apart with it.
			OID: 13208, Name: "_pg_expandarray", Schema: SchemaInformation, Src: "pg_expandarray", Kind: 'f', Strict: true, RetSet: true,
			Volatile: 'i', Args: []types.OID{types.OAnyarray}, Ret: types.ORecord, Cost: 100, Rows: 1000, Lang: langInternal, Parallel: 's',
			AllArgs: []types.OID{types.OAnyarray, types.OAnyelement, types.OInt4}, ArgModes: []byte("ioo"), ArgNames: []string{"", "x", "n"},
		},
		{OID: 13209, Name: "_pg_index_position", Volatile: 's', Parallel: 'u', Args: []types.OID{types.OOid, types.OInt2}, Ret: types.OInt4},
		{OID: 13210, Name: "_pg_truetypid", Args: []types.OID{pgAttribute, pgType}, Ret: types.OOid},
		{OID: 13211, Name: "_pg_truetypmod", Args: []types.OID{pgAttribute, pgType}, Ret: types.OInt4},
		{OID: 13219, Name: "_pg_interval_type", Args: []types.OID{types.OOid, types.OInt4}, Ret: types.OText, ArgNames: []string{"typid", "mod"}},
	}
	for i, name := range []string{"char_max_length", "char_octet_length", "", "numeric_precision", "numeric_precision_radix", "numeric_scale",
		"datetime_precision"} {
		if name != "" {
			procs = append(procs, &Proc{OID: 13212 + types.OID(i), Name: "_pg_" + name, Args: []types.OID{types.OOid, types.OInt4}, Ret: types.OInt4,
				ArgNames: []string{"typid", "typmod"}})
		}
	}
	for _, p := range procs[1:] {
		p.Schema, p.Src, p.Kind, p.Strict, p.Lang, p.Cost = SchemaInformation, p.Name, 'f', true, langInternal, 100
		if p.Volatile == 0 {
			p.Volatile, p.Parallel = 'i', 's'
		}
	}
	return procs
}
