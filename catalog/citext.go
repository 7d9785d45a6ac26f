package catalog

import "kvsqld/catalog/types"

// citextExtension is the type of texts that are compared without regard to case:
// by what lower makes of them.
var citextExtension = &ExtensionDef{
	Name: "citext", Version: "1.6", Comment: "data type for case-insensitive character strings",
	procs: []extensionProc{
		{name: "citextin", args: oids(types.OCstring), ret: types.OCitext, volatile: 'i', src: "textin"},
		{name: "citextout", args: oids(types.OCitext), ret: types.OCstring, volatile: 'i', src: "textout"},
		{name: "citextrecv", args: oids(types.OInternal), ret: types.OCitext, volatile: 's', src: "textrecv"},
		{name: "citextsend", args: oids(types.OCitext), ret: types.OBytea, volatile: 's', src: "textsend"},
		proc("citext", oids(types.OBpchar), types.OCitext, 'i', nil),
		proc("citext", oids(types.OBool), types.OCitext, 'i', nil),
		proc("citext", oids(types.OInet), types.OCitext, 'i', nil),
		proc("citext_eq", twoCitext, types.OBool, 'i', nil),
		proc("citext_ne", twoCitext, types.OBool, 'i', nil),
		proc("citext_lt", twoCitext, types.OBool, 'i', nil),
		proc("citext_le", twoCitext, types.OBool, 'i', nil),
		proc("citext_gt", twoCitext, types.OBool, 'i', nil),
		proc("citext_ge", twoCitext, types.OBool, 'i', nil),
		proc("citext_cmp", twoCitext, types.OInt4, 'i', nil),
		proc("citext_hash", oids(types.OCitext), types.OInt4, 'i', nil),
		proc("citext_smaller", twoCitext, types.OCitext, 'i', nil),
		proc("citext_larger", twoCitext, types.OCitext, 'i', nil),
		{name: "texticlike", args: twoCitext, ret: types.OBool, volatile: 'i', src: "texticlike"},
		{name: "texticnlike", args: twoCitext, ret: types.OBool, volatile: 'i', src: "texticnlike"},
		{name: "texticregexeq", args: twoCitext, ret: types.OBool, volatile: 'i', src: "texticregexeq"},
		{name: "texticregexne", args: twoCitext, ret: types.OBool, volatile: 'i', src: "texticregexne"},
		{name: "texticlike", args: citextText, ret: types.OBool, volatile: 'i', src: "texticlike"},
		{name: "texticnlike", args: citextText, ret: types.OBool, volatile: 'i', src: "texticnlike"},
		{name: "texticregexeq", args: citextText, ret: types.OBool, volatile: 'i', src: "texticregexeq"},
		{name: "texticregexne", args: citextText, ret: types.OBool, volatile: 'i', src: "texticregexne"},
		proc("citext_pattern_lt", twoCitext, types.OBool, 'i', nil),
		proc("citext_pattern_le", twoCitext, types.OBool, 'i', nil),
		proc("citext_pattern_gt", twoCitext, types.OBool, 'i', nil),
		proc("citext_pattern_ge", twoCitext, types.OBool, 'i', nil),
		proc("citext_pattern_cmp", twoCitext, types.OInt4, 'i', nil),
		proc("citext_hash_extended", oids(types.OCitext, types.OInt8), types.OInt8, 'i', nil),
	},
	bodies: []extensionBody{
		{name: "regexp_match", args: twoCitext, ret: types.OTextArr, body: "SELECT pg_catalog.regexp_match($1::text, $2::text, 'i')"},
		{name: "regexp_match", args: citextFlags, ret: types.OTextArr, body: "SELECT pg_catalog.regexp_match($1::text, $2::text, " + flagI("$3") + ")"},
		{name: "regexp_matches", args: twoCitext, ret: types.OTextArr, rows: 1, body: "SELECT pg_catalog.regexp_matches($1::text, $2::text, 'i')"},
		{name: "regexp_matches", args: citextFlags, ret: types.OTextArr, rows: 10, body: "SELECT pg_catalog.regexp_matches($1::text, $2::text, " + flagI("$3") + ")"},
		{name: "regexp_replace", args: citextFlags, ret: types.OText, body: "SELECT pg_catalog.regexp_replace($1::text, $2::text, $3, 'i')"},
		{name: "regexp_replace", args: append(oids(citextFlags...), types.OText), ret: types.OText,
			body: "SELECT pg_catalog.regexp_replace($1::text, $2::text, $3, " + flagI("$4") + ")"},
		{name: "regexp_split_to_array", args: twoCitext, ret: types.OTextArr, body: "SELECT pg_catalog.regexp_split_to_array($1::text, $2::text, 'i')"},
		{name: "regexp_split_to_array", args: citextFlags, ret: types.OTextArr,
			body: "SELECT pg_catalog.regexp_split_to_array($1::text, $2::text, " + flagI("$3") + ")"},
		{name: "regexp_split_to_table", args: twoCitext, ret: types.OText, rows: 1000, body: "SELECT pg_catalog.regexp_split_to_table($1::text, $2::text, 'i')"},
		{name: "regexp_split_to_table", args: citextFlags, ret: types.OText, rows: 1000,
			body: "SELECT pg_catalog.regexp_split_to_table($1::text, $2::text, " + flagI("$3") + ")"},
		{name: "strpos", args: twoCitext, ret: types.OInt4, body: "SELECT pg_catalog.strpos(pg_catalog.lower($1::text), pg_catalog.lower($2::text))"},
		{name: "replace", args: append(oids(twoCitext...), types.OCitext), ret: types.OText,
			body: "SELECT pg_catalog.regexp_replace($1::text, " + literally("$2") + ", $3::text, 'gi')"},
		{name: "split_part", args: append(oids(twoCitext...), types.OInt4), ret: types.OText,
			body: "SELECT (pg_catalog.regexp_split_to_array($1::text, " + literally("$2") + ", 'i'))[$3]"},
		{name: "translate", args: citextFlags, ret: types.OText,
			body: "SELECT pg_catalog.translate(pg_catalog.translate($1::text, pg_catalog.lower($2::text), $3), pg_catalog.upper($2::text), $3)"},
	},
	operators: append(comparisonOperators(types.OCitext, "citext_"), append(append(citextMatching(types.OCitext), citextMatching(types.OText)...),
		extensionOperator{"~<~", types.OCitext, types.OCitext, types.OBool, "citext_pattern_lt", "~>~", "~>=~", selLt, joinLt, false, false},
		extensionOperator{"~<=~", types.OCitext, types.OCitext, types.OBool, "citext_pattern_le", "~>=~", "~>~", selLt, joinLt, false, false},
		extensionOperator{"~>=~", types.OCitext, types.OCitext, types.OBool, "citext_pattern_ge", "~<=~", "~<~", selGt, joinGt, false, false},
		extensionOperator{"~>~", types.OCitext, types.OCitext, types.OBool, "citext_pattern_gt", "~<~", "~<=~", selGt, joinGt, false, false},
	)...),
	casts: []extensionCast{
		{types.OCitext, types.OText, 'i', ""},
		{types.OCitext, types.OVarchar, 'i', ""},
		{types.OCitext, types.OBpchar, 'a', ""},
		{types.OText, types.OCitext, 'a', ""},
		{types.OVarchar, types.OCitext, 'a', ""},
		{types.OBpchar, types.OCitext, 'a', "citext"},
		{types.OBool, types.OCitext, 'a', "citext"},
		{types.OInet, types.OCitext, 'a', "citext"},
	},
	opclasses: []Opclass{
		{Method: OIDBtreeAm, Name: "citext_ops", InType: types.OCitext, Default: true},
		{Method: OIDHashAm, Name: "citext_ops", InType: types.OCitext, Default: true},
		{Method: OIDBtreeAm, Name: "citext_pattern_ops", InType: types.OCitext},
	},
	aggregates: []extensionAggregate{
		{"min", types.OCitext, "citext_smaller", "<"},
		{"max", types.OCitext, "citext_larger", ">"},
	},
}

var (
	twoCitext   = oids(types.OCitext, types.OCitext)
	citextText  = oids(types.OCitext, types.OText)
	citextFlags = oids(types.OCitext, types.OCitext, types.OText)
)

// flagI is an argument with flags of a regular expression to which i is added where
// they do not ask for the other case to count.
func flagI(flags string) string {
	return flags + " OPERATOR(pg_catalog.||) pg_catalog.repeat('i', (pg_catalog.strpos(" + flags + ", 'c') OPERATOR(pg_catalog.=) 0)::int4)"
}

// literally is an argument as a regular expression that matches it alone.
func literally(arg string) string {
	return `pg_catalog.regexp_replace(` + arg + `::text, '([^[:alnum:]_])', '\\\1', 'g')`
}

// citextMatching are the operators that match a pattern, all without regard to case.
func citextMatching(pattern types.OID) []extensionOperator {
	c, b := types.OCitext, types.OBool
	return []extensionOperator{
		{"~", c, pattern, b, "texticregexeq", "", "!~", selIcReg, joinIcReg, false, false},
		{"~*", c, pattern, b, "texticregexeq", "", "!~*", selIcReg, joinIcReg, false, false},
		{"!~", c, pattern, b, "texticregexne", "", "~", selIcNreg, joinIcNreg, false, false},
		{"!~*", c, pattern, b, "texticregexne", "", "~*", selIcNreg, joinIcNreg, false, false},
		{"~~", c, pattern, b, "texticlike", "", "!~~", selIcLike, joinIcLike, false, false},
		{"~~*", c, pattern, b, "texticlike", "", "!~~*", selIcLike, joinIcLike, false, false},
		{"!~~", c, pattern, b, "texticnlike", "", "~~", selIcNlike, joinIcNlike, false, false},
		{"!~~*", c, pattern, b, "texticnlike", "", "~~*", selIcNlike, joinIcNlike, false, false},
	}
}
