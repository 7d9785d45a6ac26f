package catalog

import (
	"sync"

	"kvsqld/catalog/types"
)

// The rows of PostgreSQL's text search catalogs. They are listed for clients that read
// the catalogs; text search itself is refused where it is used.

// TSParser is a row of pg_ts_parser.
type TSParser struct {
	OID                                 types.OID
	Name                                string
	Start, Token, End, Headline, LexTyp types.OID
}

// TSTemplate is a row of pg_ts_template.
type TSTemplate struct {
	OID          types.OID
	Name         string
	Init, Lexize types.OID
}

// TSDict is a row of pg_ts_dict; Options is "" where NULL.
type TSDict struct {
	OID      types.OID
	Name     string
	Template types.OID
	Options  string
}

// TSConfig is a row of pg_ts_config with the dictionaries of words in ASCII letters and
// of other words; all other tokens go to the dictionary simple.
type TSConfig struct {
	OID            types.OID
	Name           string
	Parser         types.OID
	ASCII, Letters types.OID
}

// TSParsers returns the text search parsers.
var TSParsers = sync.OnceValue(func() (out []TSParser) {
	for _, r := range readBuiltin("pg_ts_parser", 7) {
		out = append(out, TSParser{r.oid(0), r[1], r.oid(2), r.oid(3), r.oid(4), r.oid(5), r.oid(6)})
	}
	return out
})

// TSTemplates returns the text search templates.
var TSTemplates = sync.OnceValue(func() (out []TSTemplate) {
	for _, r := range readBuiltin("pg_ts_template", 4) {
		out = append(out, TSTemplate{r.oid(0), r[1], r.oid(2), r.oid(3)})
	}
	return out
})

// TSDicts returns the text search dictionaries.
var TSDicts = sync.OnceValue(func() (out []TSDict) {
	for _, r := range readBuiltin("pg_ts_dict", 4) {
		out = append(out, TSDict{r.oid(0), r[1], r.oid(2), r[3]})
	}
	return out
})

// TSConfigs returns the text search configurations.
var TSConfigs = sync.OnceValue(func() (out []TSConfig) {
	for _, r := range readBuiltin("pg_ts_config", 5) {
		out = append(out, TSConfig{r.oid(0), r[1], r.oid(2), r.oid(3), r.oid(4)})
	}
	return out
})

// oidSimpleDict is the dictionary simple.
const oidSimpleDict types.OID = 3765

// The types of tokens of the parser default that configurations map, in order: those of
// words in ASCII letters, of other words, and the rest.
var tsTokens = [...]struct {
	token int
	kind  byte
}{
	{1, 'a'}, {2, 'w'}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 'w'}, {11, 'a'}, {15, 0}, {16, 'a'},
	{17, 'w'}, {18, 0}, {19, 0}, {20, 0}, {21, 0}, {22, 0},
}

// Mappings calls f for each type of token with the dictionary that it goes to.
func (c *TSConfig) Mappings(f func(token int, dict types.OID)) {
	for _, t := range tsTokens {
		switch t.kind {
		case 'a':
			f(t.token, c.ASCII)
		case 'w':
			f(t.token, c.Letters)
		default:
			f(t.token, oidSimpleDict)
		}
	}
}
