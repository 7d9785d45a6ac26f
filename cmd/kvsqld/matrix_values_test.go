package main

// matrixType is a type with texts that it reads. The first text is an ordinary
// value; edges follow.
type matrixType struct {
	name string
	in   []string
}

// matrixTypes are the supported types of which the matrix takes all pairs.
var matrixTypes = []matrixType{
	{"bool", []string{"t", "f"}},
	{`"char"`, []string{"a", "", `\377`}},
	{"name", []string{"abc", "", "Pg Class"}},
	{"text", []string{"abc", "", "12.5", "äb%c", `a,b\d+`, "t", "{1,2}", "YYYY-MM-DD HH24:MI:SS.US TZ", "9,999.99"}},
	{"varchar(5)", []string{"abc", "", "7  "}},
	{"char(5)", []string{"abc", "", "12"}},
	{"int2", []string{"7", "0", "-32768", "32767"}},
	{"int4", []string{"5", "0", "-1", "2", "2147483647", "-2147483648"}},
	{"int8", []string{"12", "0", "-3", "9223372036854775807", "-9223372036854775808"}},
	{"float4", []string{"1.5", "-0", "3.4e38", "NaN", "-Infinity"}},
	{"float8", []string{"2.25", "0", "-1e300", "1e-300", "NaN", "Infinity", "0.5"}},
	{"numeric", []string{"3.140", "0", "-12345678901234567890.0123456789", "1e-30", "NaN", "Infinity", "-Infinity", "2"}},
	{"numeric(6,2)", []string{"12.345", "-0.005"}},
	{"oid", []string{"25", "0", "4294967295"}},
	{"xid", []string{"3", "0", "4294967295"}},
	{"xid8", []string{"9", "0", "18446744073709551615"}},
	{"cid", []string{"4", "0"}},
	{"tid", []string{"(0,1)", "(4294967295,65535)"}},
	{"pg_lsn", []string{"16/B374D848", "0/0", "FFFFFFFF/FFFFFFFF"}},
	{"pg_snapshot", []string{"10:20:10,14,15", "5:5:"}},
	{"txid_snapshot", []string{"12:16:14"}},
	{"date", []string{"2024-02-29", "infinity", "4713-01-01 BC", "1999-12-31", "5874897-12-31"}},
	{"time", []string{"12:34:56.789", "00:00", "24:00"}},
	{"timetz", []string{"12:34:56.789+02", "00:00-15:59"}},
	{"timestamp", []string{"2024-02-29 12:34:56.789", "infinity", "-infinity", "1999-12-31 23:59:59.999999", "0044-03-15 00:00 BC"}},
	{"timestamptz", []string{"2024-02-29 12:34:56.789+01", "infinity", "-infinity", "1969-07-20 20:17:40Z"}},
	{"interval", []string{"1 day 02:03:04.5", "1 mon -1 day", "-1 year -2 mons +3 days -04:05:06", "0"}},
	{"bytea", []string{`\x616263`, "", `\xff00`}},
	{"bit(5)", []string{"10110", "00000"}},
	{"varbit", []string{"1011", "", "111100001111"}},
	{"uuid", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
	{"inet", []string{"192.168.1.5/24", "10.0.0.1", "2001:db8::1/64", "0.0.0.0/0"}},
	{"cidr", []string{"192.168.1.0/24", "2001:db8::/32"}},
	{"macaddr", []string{"08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff"}},
	{"macaddr8", []string{"08:00:2b:ff:fe:01:02:03", "08:00:2b:01:02:03:04:05"}},
	{"money", []string{"12.34", "-$1,234.56", "0", "92233720368547758.07", "-92233720368547758.08"}},
	{"point", []string{"(1,2)", "(0,0)", "(-3.5,1e300)", "(NaN,NaN)", "(Infinity,1)", "(1.0000001,2)"}},
	{"line", []string{"{1,2,3}", "{0,-1,5}", "{-1,0,3}", "{NaN,1,2}"}},
	{"lseg", []string{"[(1,2),(3,4)]", "[(0,0),(0,0)]", "[(-1e300,0),(1e300,5)]"}},
	{"box", []string{"(3,4),(1,2)", "(0,0),(0,0)", "(10,10),(-10,-10)", "(Infinity,1),(0,NaN)"}},
	{"path", []string{"[(1,2),(3,4)]", "((0,0),(4,0),(4,4),(0,4))", "[(1,1)]"}},
	{"polygon", []string{"((1,2),(3,4),(5,6))", "((0,0),(4,0),(4,4),(0,4))", "((2,2))"}},
	{"circle", []string{"<(1,2),3>", "<(0,0),0>", "<(1,2),NaN>", "<(5,5),1e300>"}},
	{"json", []string{`{"a":1,"b":[true,null,"x"]}`, `[1,{"a":2}]`, `"s"`, "12.50", "null", "[]"}},
	{"jsonb", []string{`{"a":1,"b":[true,null,"x"]}`, `[1,{"a":2}]`, `"s"`, "12.50", "null", "true", "{}"}},
	{"jsonpath", []string{"$.a", "$.b[*] ? (@ == true)", "strict $[5]", "$.a > 0", "$"}},
	{"regclass", []string{"pg_class", "0"}},
	{"regtype", []string{"int4", "-"}},
	{"regproc", []string{"boolin", "upper_inc", "0"}},
	{"regprocedure", []string{"upper(text)"}},
	{"regoper", []string{"||/"}},
	{"regoperator", []string{"+(int4,int4)"}},
	{"regrole", []string{"postgres"}},
	{"regnamespace", []string{"pg_catalog"}},
	{"regcollation", []string{`"C"`}},
	{"int2vector", []string{"1 2 3", ""}},
	{"oidvector", []string{"23 25", ""}},
	{"int4range", []string{"[1,5)", "empty", "(,10]", "[3,8)"}},
	{"int8range", []string{"[1,5)", "(,)"}},
	{"numrange", []string{"[1.5,2.5)", "(1,]", "empty"}},
	{"daterange", []string{"[2024-01-01,2024-02-01)", "[,infinity]"}},
	{"tsrange", []string{"[2024-01-01 00:00,2024-01-02 12:00)", "empty"}},
	{"tstzrange", []string{"(2024-01-01 00:00+00,2024-01-02 12:00+00]", "(,)"}},
	{"int4multirange", []string{"{[1,3),[5,9)}", "{}", "{(,)}"}},
	{"int8multirange", []string{"{[1,3),[5,9)}"}},
	{"nummultirange", []string{"{[1.5,2.5),(7,)}", "{}"}},
	{"datemultirange", []string{"{[2024-01-01,2024-02-01)}"}},
	{"tsmultirange", []string{"{[2024-01-01 00:00,2024-01-02 12:00)}"}},
	{"tstzmultirange", []string{"{(2024-01-01 00:00+00,2024-01-02 12:00+00]}"}},
	{"int4[]", []string{"{1,2,3}", "{}", "{{1,2},{3,4}}", "[0:1]={5,NULL}"}},
	{"text[]", []string{"{a,b,NULL}", "{}", `{{"x y","z\"w"}}`, "{a}"}},
	{"numeric[]", []string{"{1.5,NaN}"}},
	{"record", nil},
}

// matrixRefused are types that exist in PostgreSQL's catalog and are refused by
// name.
var matrixRefused = []matrixType{
	{"xml", []string{"<a/>"}},
	{"tsvector", []string{"a b"}},
	{"tsquery", []string{"a & b"}},
	{"aclitem", []string{"postgres=r/postgres"}},
	{"refcursor", []string{"c"}},
	{"regconfig", []string{"simple"}},
	{"regdictionary", []string{"simple"}},
}

// matrixInputs are texts that every type is asked to read, in addition to the
// values of all types: malformed, at the ends of ranges, and in the spellings
// that only some types know.
var matrixInputs = []string{
	" 1 ", "1e2", "0x10", "1_000", "+5", "--1", "1.", ".5", "1e400", "1e-400", "32768", "2147483648", "9223372036854775808",
	"4294967296", "-1", "-0", "inf", "+Infinity", "nan", "NaN x", "yes", "of", "o", "TRUE", " on ", "2", "NULL", "null",
	"today", "tomorrow", "epoch", "allballs", "2024-02-30", "2024-13-01", "24-1-5", "Jan 5 2024", "5/1/2024",
	"20240105", "2024.005", "J2451187", "12:60", "25:00", "12:30 PM", "12:30:60", "23:59:60", "040506", "2024-01-05T04:05:06Z",
	"2024-01-05 04:05:06 America/New_York", "2024-01-05 04:05:06 PST", "2024-01-05 04:05:06 Nowhere/Land", "04:05 EST",
	"99999-01-01", "294277-01-01", "4714-11-23 BC", "2024-01-05 BC", "-infinity", "infinity infinity",
	"1 day", "1 year 2 months ago", "P1Y2M3DT4H5M6S", "P0001-02-03T04:05:06", "1-2", "1 2:03", "-1.5 days", "1.5 weeks", "@ 1 min",
	"1 fortnight", "3000000000 days", "1 century 1 decade", "0.5 mon", "1:2:3.4567891",
	`\x1`, `\xzz`, `\101`, `\1`, `\\`, `abc\`, "B101", "X1F", "102", "12345678901234567890",
	"{1,2", "{1,,2}", "{1} x", "{{1},{2,3}}", `{"a"b}`, "[1:2]={1}", "[2:1]={}", "[1:1][1:2]={{1,2}}", "{NULL,null}", `{a\,b}`, "{{}}", "{1,{2}}", "1,2",
	"[1,5]", "[5,1]", "[1,5", "(1,1)", "[1;5]", "[,]", " [1 , 5) ", "[a,b)", "empty x", `["1","5")`, "{[1,2),[2,3)}", "{[1,5),[3,8)}", "{[1,2)", "{1}", "{empty}", "{[1,2),}",
	`{"a":}`, `{"a":1,"a":2}`, `[1,2`, `{'a':1}`, `{"a":1}x`, `"\u0000"`, `"\ud800"`, `"\u00e9"`, "01", "-", "1e", "[1,]", "\"a\tb\"", "tru", `{"a" 1}`, "",
	"$.", "$.a.b[1 to 3]", "strict $", "lax", "$ ? (@.x like_regex \"(\")", "$.datetime()", "@", "$a", "last", "$[last]", "$.**{2}", "$.a + ",
	"1.2.3.4", "1.2.3", "1.2.3.4/33", "1.2.3.4/8", "::1", ":::", "::ffff:1.2.3.4", "10", "10/8", "256.1.1.1", "fe80::1%eth0",
	"08002b010203", "08-00-2b-01-02-03", "0800.2b01.0203", "08:00:2b:01:02:gg", "08:00:2b:01:02:03:04",
	"{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a1", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
	"0/", "/0", "G/0", "1/123456789", "(1,2", "(-1,1)", "(1,70000)", "10:5:", "10:20:25", "1:2", "pg_catalog.int4", "public.nothing", "a.b.c.d",
	`"Foo"`, `"unclosed`, "int4[]", "numeric(10,2)", "setof int4", "upper", "nothing(int4)", "sum(int4)", "+", "+(int4)", "-(NONE,int4)", "=(int4,int4,int4)", "nobody", "none", "C",
}

// matrixPseudo gives the types that stand for a polymorphic or other
// pseudo-type in calls.
var matrixPseudo = map[string][]string{
	"any":                     {"int4", "text", "jsonb"},
	"anyelement":              {"int4", "text", "numeric"},
	"anynonarray":             {"int4", "text"},
	"anyarray":                {"int4[]", "text[]", "numeric[]"},
	"anyenum":                 {"mood"},
	"anyrange":                {"int4range", "numrange"},
	"anymultirange":           {"int4multirange", "nummultirange"},
	"anycompatible":           {"int4", "text", "numeric"},
	"anycompatiblenonarray":   {"int4", "text", "numeric"},
	"anycompatiblearray":      {"int4[]", "text[]", "numeric[]"},
	"anycompatiblerange":      {"int4range", "numrange"},
	"anycompatiblemultirange": {"int4multirange", "nummultirange"},
}

// matrixSpecial are argument texts for functions that understand only certain
// texts.
var matrixSpecial = map[string][]string{
	"extract":                 matrixFields,
	"date_part":               matrixFields,
	"date_trunc":              matrixFields,
	"encode":                  {"base64", "hex", "escape", "Base64", "nothing"},
	"decode":                  {"hex", "base64", "escape", "6162", "YWI=", `a\\b`, "YW-I", "616", "6g"},
	"convert":                 matrixEncodings,
	"convert_from":            matrixEncodings,
	"convert_to":              matrixEncodings,
	"length":                  append([]string{"abc", "äöü", ""}, matrixEncodings...),
	"pg_char_to_encoding":     matrixEncodings,
	"normalize":               {"NFC", "nfd", "abc", "Å", "NFX"},
	"is_normalized":           {"NFC", "nfd", "abc", "Å", "NFX"},
	"timezone":                {"UTC", "America/New_York", "PST", "+03", "EST5EDT", "nowhere", ""},
	"to_number":               {"12,454.8-", "99G999D9S", "$12.50", "L99D99", "-34", "S99", "99PR", "<5>", "XIV", "RN", "1 234", "9 999", "12.345", "99.9", "V", "99V9", "+7", "SG9", "MI99", "99th", "FM009.99"},
	"to_date":                 matrixTemplates,
	"to_timestamp":            matrixTemplates,
	"format":                  {"%s", "%I and %L", "%1$s %2$s", "%5s|%-5s|", "%*s", "%", "%z", "%3$s", "%0$s", "%%", "x"},
	"make_timestamptz":        {"UTC", "Europe/Paris", "nowhere"},
	"similar_escape":          {"a%b_", "#", "", "a#", "##", "(a|b)*", "[a-c]"},
	"similar_to_escape":       {"a%b_", "#", "", "a#", "##", "(a|b)*", "[a-c]"},
	"like_escape":             {"a%b_", "#", "", "a#b", `a\b`, "##"},
	"regexp_replace":          matrixRegex,
	"regexp_match":            matrixRegex,
	"regexp_matches":          matrixRegex,
	"regexp_split_to_array":   matrixRegex,
	"regexp_split_to_table":   matrixRegex,
	"regexp_count":            matrixRegex,
	"regexp_instr":            matrixRegex,
	"regexp_like":             matrixRegex,
	"regexp_substr":           matrixRegex,
	"substring":               append([]string{"%#\"o_b#\"%", "#"}, matrixRegex...),
	"quote_ident":             {"abc", "Abc", "select", `a"b`, "", "a b"},
	"parse_ident":             {"a.b", `"A".b`, "a.", "1a", `"a`, "a b", ""},
	"split_part":              {"a,b,c", ",", "", "xaaay", "aa"},
	"string_to_array":         {"a,b,,c", ",", "", "b", "abc"},
	"string_to_table":         {"a,b,,c", ",", "", "b", "abc"},
	"translate":               {"abcba", "ab", "x", "", "äb"},
	"replace":                 {"abcba", "b", "", "xy", "ä"},
	"pg_size_bytes":           {"1", "1.5 GB", "10kb", "-3 MB", "1 PB", "1 EB", "x", "", "1e3 bytes", "5 XB"},
	"to_regclass":             matrixNames,
	"to_regtype":              matrixNames,
	"to_regproc":              matrixNames,
	"to_regprocedure":         matrixNames,
	"to_regoper":              matrixNames,
	"to_regoperator":          matrixNames,
	"to_regrole":              matrixNames,
	"to_regnamespace":         matrixNames,
	"to_regcollation":         matrixNames,
	"current_setting":         {"server_encoding", "nothing.at_all", "nothing", "", "DateStyle"},
	"lpad":                    {"abc", "xy", "", "ä"},
	"rpad":                    {"abc", "xy", "", "ä"},
	"btrim":                   {"xxabcxy", "xy", "", " a "},
	"jsonb_set_lax":           {"raise_exception", "use_json_null", "delete_key", "return_target", "nothing"},
	"pg_get_serial_sequence":  {"pg_class", "oid", "nothing"},
	"has_table_privilege":     {"postgres", "pg_class", "SELECT", "nothing", "select, insert", "SELECT WITH GRANT OPTION", "USAGE"},
	"jsonb_extract_path":      {"a", "b"},
	"jsonb_extract_path_text": {"a", "b"},
	"json_extract_path":       {"a", "b"},
	"json_extract_path_text":  {"a", "b"},
}

var (
	matrixFields = []string{"year", "microseconds", "epoch", "isodow", "century", "timezone_hour", "julian", "week", "quarter",
		"millennium", "decade", "month", "day", "hour", "minute", "second", "milliseconds", "dow", "doy", "isoyear", "timezone", "timezone_minute", "nothing", "", "YEARS"}
	matrixEncodings = []string{"UTF8", "LATIN1", "sql_ascii", "EUC_JP", "WIN1252", "nothing", "utf-8"}
	matrixTemplates = []string{"2024-02-29 13:14:15", "YYYY-MM-DD HH24:MI:SS", "20240230", "YYYYMMDD", "05 Dec 2000", "DD Mon YYYY", "FXDD Mon YYYY",
		"2024-060", "YYYY-DDD", "2024-W05-3", `IYYY-"W"IW-ID`, "J", "2451187", "12/31/99", "MM/DD/YY", "11:15 pm", "HH:MI am", "44 BC", "YYYY BC", "XII", "RM", "nothing", ""}
	matrixRegex = []string{"foobarbaz", "b..", "b(.)(.)", "(", "", "g", "i", "gx", "(?i)B", `\1`, "B[", "o*", `[\1&]`}
	matrixNames = []string{"pg_class", "int4", "upper", "upper(text)", "||/", "+(int4,int4)", "postgres", "pg_catalog", `"C"`, "nothing", "a.b.c.d", `"unclosed`, "", "25", "-", "x(", "numeric(5)", "1a", "pg_catalog.pg_class", "int4 x"}
)

// matrixModifiers are type modifiers for input functions: none, and some that a
// type name can give.
var matrixModifiers = []string{"-1", "0", "5", "9", "393222"}

// literal is a constant of a type in SQL.
func (m matrixType) literal(i int) string {
	if m.name == "record" {
		return "ROW(1,'a',NULL)"
	}
	return matrixQuote(m.in[i%len(m.in)]) + "::" + m.name
}

// literals are all constants of the type.
func (m matrixType) literals() []string {
	if m.name == "record" {
		return []string{"ROW(1,'a',NULL)", "ROW()", "ROW(NULL)"}
	}
	out := make([]string, len(m.in))
	for i := range m.in {
		out[i] = m.literal(i)
	}
	return out
}
