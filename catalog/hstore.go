package catalog

import "kvsqld/catalog/types"

// hstoreExtension is the type of maps from texts to texts. What PostgreSQL has besides
// is its index access method gist, and functions of indexes.
var hstoreExtension = &ExtensionDef{
	Name: "hstore", Version: "1.8", Comment: "data type for storing sets of (key, value) pairs",
	procs: []extensionProc{
		proc("hstore_in", oids(types.OCstring), types.OHstore, 'i', nil),
		proc("hstore_out", oneHstore, types.OCstring, 'i', nil),
		proc("hstore_recv", oids(types.OInternal), types.OHstore, 's', nil),
		proc("hstore_send", oneHstore, types.OBytea, 's', nil),
		proc("fetchval", hstoreText, types.OText, 'i', nil),
		proc("slice_array", hstoreTexts, types.OTextArr, 'i', nil),
		proc("slice", hstoreTexts, types.OHstore, 'i', nil),
		proc("isexists", hstoreText, types.OBool, 'i', nil),
		proc("exist", hstoreText, types.OBool, 'i', nil),
		proc("exists_any", hstoreTexts, types.OBool, 'i', nil),
		proc("exists_all", hstoreTexts, types.OBool, 'i', nil),
		proc("isdefined", hstoreText, types.OBool, 'i', nil),
		proc("defined", hstoreText, types.OBool, 'i', nil),
		proc("delete", hstoreText, types.OHstore, 'i', nil),
		proc("delete", hstoreTexts, types.OHstore, 'i', nil),
		proc("delete", twoHstore, types.OHstore, 'i', nil),
		proc("hs_concat", twoHstore, types.OHstore, 'i', nil),
		proc("hs_contains", twoHstore, types.OBool, 'i', nil),
		proc("hs_contained", twoHstore, types.OBool, 'i', nil),
		{name: "tconvert", args: oids(types.OText, types.OText), ret: types.OHstore, volatile: 'i', lax: true},
		{name: "hstore", args: oids(types.OText, types.OText), ret: types.OHstore, volatile: 'i', lax: true},
		{name: "hstore", args: oids(types.OTextArr, types.OTextArr), ret: types.OHstore, volatile: 'i', lax: true},
		proc("hstore", oids(types.OTextArr), types.OHstore, 'i', nil),
		proc("hstore_to_json", oneHstore, types.OJSON, 'i', nil),
		proc("hstore_to_json_loose", oneHstore, types.OJSON, 'i', nil),
		proc("hstore_to_jsonb", oneHstore, types.OJSONB, 'i', nil),
		proc("hstore_to_jsonb_loose", oneHstore, types.OJSONB, 'i', nil),
		{name: "hstore", args: oids(types.ORecord), ret: types.OHstore, volatile: 'i', lax: true},
		proc("hstore_to_array", oneHstore, types.OTextArr, 'i', nil),
		proc("hstore_to_matrix", oneHstore, types.OTextArr, 'i', nil),
		proc("akeys", oneHstore, types.OTextArr, 'i', nil),
		proc("avals", oneHstore, types.OTextArr, 'i', nil),
		proc("hstore_eq", twoHstore, types.OBool, 'i', nil),
		proc("hstore_ne", twoHstore, types.OBool, 'i', nil),
		proc("hstore_gt", twoHstore, types.OBool, 'i', nil),
		proc("hstore_ge", twoHstore, types.OBool, 'i', nil),
		proc("hstore_lt", twoHstore, types.OBool, 'i', nil),
		proc("hstore_le", twoHstore, types.OBool, 'i', nil),
		proc("hstore_cmp", twoHstore, types.OInt4, 'i', nil),
		{name: "populate_record", args: oids(types.OAnyelement, types.OHstore), ret: types.OAnyelement, volatile: 'i', lax: true},
		// These are refused by name when they are called.
		proc("hstore_hash", oneHstore, types.OInt4, 'i', nil),
		proc("hstore_hash_extended", oids(types.OHstore, types.OInt8), types.OInt8, 'i', nil),
		proc("hstore_version_diag", oneHstore, types.OInt4, 'i', nil),
		proc("hstore_subscript_handler", oids(types.OInternal), types.OInternal, 'i', nil),
	},
	bodies: []extensionBody{
		{name: "skeys", args: oneHstore, ret: types.OText, rows: 1000, body: `SELECT pg_catalog.unnest(kvsqld."hstore.akeys"($1))`},
		{name: "svals", args: oneHstore, ret: types.OText, rows: 1000, body: `SELECT pg_catalog.unnest(kvsqld."hstore.avals"($1))`},
		{name: "each", args: oneHstore, ret: types.ORecord, rows: 1000, in: "hs", out: []string{"key", "value"},
			body: `SELECT u.k, u.v FROM ROWS FROM (pg_catalog.unnest(kvsqld."hstore.akeys"($1)), pg_catalog.unnest(kvsqld."hstore.avals"($1))) AS u(k, v)`},
	},
	operators: []extensionOperator{
		{"->", types.OHstore, types.OText, types.OText, "fetchval", "", "", 0, 0, false, false},
		{"->", types.OHstore, types.OTextArr, types.OTextArr, "slice_array", "", "", 0, 0, false, false},
		{"?", types.OHstore, types.OText, types.OBool, "exist", "", "", selMatching, joinMatching, false, false},
		{"?|", types.OHstore, types.OTextArr, types.OBool, "exists_any", "", "", selMatching, joinMatching, false, false},
		{"?&", types.OHstore, types.OTextArr, types.OBool, "exists_all", "", "", selMatching, joinMatching, false, false},
		{"-", types.OHstore, types.OText, types.OHstore, "delete", "", "", 0, 0, false, false},
		{"-", types.OHstore, types.OTextArr, types.OHstore, "delete", "", "", 0, 0, false, false},
		{"-", types.OHstore, types.OHstore, types.OHstore, "delete", "", "", 0, 0, false, false},
		{"||", types.OHstore, types.OHstore, types.OHstore, "hs_concat", "", "", 0, 0, false, false},
		{"@>", types.OHstore, types.OHstore, types.OBool, "hs_contains", "<@", "", selMatching, joinMatching, false, false},
		{"<@", types.OHstore, types.OHstore, types.OBool, "hs_contained", "@>", "", selMatching, joinMatching, false, false},
		{"%%", 0, types.OHstore, types.OTextArr, "hstore_to_array", "", "", 0, 0, false, false},
		{"%#", 0, types.OHstore, types.OTextArr, "hstore_to_matrix", "", "", 0, 0, false, false},
		{"#=", types.OAnyelement, types.OHstore, types.OAnyelement, "populate_record", "", "", 0, 0, false, false},
		{"=", types.OHstore, types.OHstore, types.OBool, "hstore_eq", "=", "<>", selEq, joinEq, true, true},
		{"<>", types.OHstore, types.OHstore, types.OBool, "hstore_ne", "<>", "=", selNe, joinNe, false, false},
		{"#<#", types.OHstore, types.OHstore, types.OBool, "hstore_lt", "#>#", "#>=#", selLt, joinLt, false, false},
		{"#<=#", types.OHstore, types.OHstore, types.OBool, "hstore_le", "#>=#", "#>#", selLe, joinLe, false, false},
		{"#>#", types.OHstore, types.OHstore, types.OBool, "hstore_gt", "#<#", "#<=#", selGt, joinGt, false, false},
		{"#>=#", types.OHstore, types.OHstore, types.OBool, "hstore_ge", "#<=#", "#<#", selGe, joinGe, false, false},
	},
	casts: []extensionCast{
		{types.OTextArr, types.OHstore, 'e', "hstore"},
		{types.OHstore, types.OJSON, 'e', "hstore_to_json"},
		{types.OHstore, types.OJSONB, 'e', "hstore_to_jsonb"},
	},
	opclasses: []Opclass{
		{Method: OIDBtreeAm, Name: "btree_hstore_ops", InType: types.OHstore, Default: true},
		{Method: OIDHashAm, Name: "hash_hstore_ops", InType: types.OHstore, Default: true},
		{Method: OIDGinAm, Name: "gin_hstore_ops", InType: types.OHstore, Default: true, KeyType: types.OText},
	},
}

var (
	oneHstore   = oids(types.OHstore)
	twoHstore   = oids(types.OHstore, types.OHstore)
	hstoreText  = oids(types.OHstore, types.OText)
	hstoreTexts = oids(types.OHstore, types.OTextArr)
)
