package ast

import "strings"

// quotedWords are the keywords that a name must be quoted to be: all but
// PostgreSQL's unreserved ones.
var quotedWords = wordSet("all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean " +
	"both case cast char character check coalesce collate collation column concurrently constraint " +
	"create cross current_catalog current_date current_role current_schema current_time " +
	"current_timestamp current_user dec decimal default deferrable desc distinct do else end except " +
	"exists extract false fetch float for foreign freeze from full grant greatest group grouping having " +
	"ilike in initially inner inout int integer intersect interval into is isnull join lateral leading " +
	"least left like limit localtime localtimestamp national natural nchar none normalize not notnull " +
	"null nullif numeric offset on only or order out outer overlaps overlay placing position precision " +
	"primary real references returning right row select session_user setof similar smallint some " +
	"substring symmetric table tablesample then time timestamp to trailing treat trim true union unique " +
	"user using values varchar variadic verbose when where window with xmlattributes xmlconcat " +
	"xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable")

// clauseWords are unreserved keywords that, as a name, could be taken for the
// beginning of a clause in some place where Format writes a name.
var clauseWords = wordSet("cube rollup partition range rows groups over filter within nulls double " +
	"materialized recursive lateral set uescape escape ordinality of by at")

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// QuoteIdent returns name as it must be written in SQL: as it is when it is
// lower case and no keyword but an unreserved one, else in double quotes.
func QuoteIdent(name string) string {
	if plainIdent(name) && !quotedWords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func plainIdent(name string) bool {
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '$')) {
			return false
		}
	}
	return true
}

// QuoteLiteral returns s as a string constant.
func QuoteLiteral(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
