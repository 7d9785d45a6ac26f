package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// styledTypes are the types whose constants look different by the settings DateStyle,
// IntervalStyle and TimeZone, as SQL names them and in pg_type; arrays of them do as well.
var styledTypes = map[string]string{
	"date": "date", "interval": "interval", "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
	"daterange": "daterange", "tsrange": "tsrange", "tstzrange": "tstzrange",
	"datemultirange": "datemultirange", "tsmultirange": "tsmultirange", "tstzmultirange": "tstzmultirange",
}

// styled is the literal of a stored constant of type t as the session writes it:
// '3 years'::interval is 'P3Y'::interval with IntervalStyle iso_8601.
func (env *Env) styled(literal, t string) string {
	if env.Fmt == nil {
		return literal
	}
	name, array := strings.CutSuffix(t, "[]")
	if at := strings.IndexByte(name, '('); at >= 0 { // timestamp(3) with time zone
		end := at + strings.IndexByte(name[at:], ')')
		name = name[:at] + name[end+1:]
	}
	if strings.HasPrefix(name, "interval ") {
		name = "interval" // year to month
	}
	in := types.ByName(styledTypes[name])
	if in == nil {
		return literal
	}
	is := in.OID
	if array {
		is = in.Array
	}
	d, err := types.Parse(types.Of(is), strings.ReplaceAll(literal[1:len(literal)-1], "''", "'"), types.DefaultFmt)
	if err != nil {
		return literal
	}
	return catalog.QuoteLiteral(string(types.AppendText(nil, d, env.Fmt)))
}
