package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/types"
)

// quotedKeywords are the keywords that a name must be quoted to be: all of
// PostgreSQL 15's but the unreserved ones.
var quotedKeywords = func() map[string]bool {
	const words = `all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean
both case cast char character check coalesce collate collation column concurrently constraint
create cross current_catalog current_date current_role current_schema current_time
current_timestamp current_user dec decimal default deferrable desc distinct do else end except
exists extract false fetch float for foreign freeze from full grant greatest group grouping having
ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
least left like limit localtime localtimestamp national natural nchar none normalize not notnull
null nullif numeric offset on only or order out outer overlaps overlay placing position precision
primary real references returning right row select session_user setof similar smallint some
substring symmetric table tablesample then time timestamp to trailing treat trim true union unique
user using values varchar variadic verbose when where window with xmlattributes xmlconcat
xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}()

// QuoteIdent returns the name as it is written in SQL: quoted only when it has
// to be.
func QuoteIdent(name string) string {
	if plainIdent(name) && !quotedKeywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func plainIdent(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c == '_':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return s != ""
}

// QualifiedIdent returns schema.name as it is written in SQL.
func QualifiedIdent(schema, name string) string {
	if schema == "" {
		return QuoteIdent(name)
	}
	return QuoteIdent(schema) + "." + QuoteIdent(name)
}

// searchPath returns the schemas in the order in which a name is looked up:
// pg_catalog comes first unless the path names it.
func searchPath(path []string) []string {
	if slices.Contains(path, SchemaPgCatalog) {
		return path
	}
	return append([]string{SchemaPgCatalog}, path...)
}

// RelationVisible reports whether a relation or index is found by its name
// alone.
func (s *Snapshot) RelationVisible(db types.OID, path []string, schema, name string) bool {
	for _, p := range searchPath(path) {
		if p == schema {
			return true
		}
		if _, ok := s.names.lookup(nameKey{spaceRelation, db, p, name}); ok {
			return false
		}
		if s.overlay != nil && builtinSchemas[p] != nil && s.overlay.VirtualRelation(p, name) != nil {
			return false
		}
	}
	return false
}

// TypeVisible reports whether a type is found by its name alone.
func (s *Snapshot) TypeVisible(db types.OID, path []string, schema, name string) bool {
	for _, p := range searchPath(path) {
		if p == schema {
			return true
		}
		if s.Type(db, p, name) != nil {
			return false
		}
	}
	return false
}

// RelationText returns the relation's or index's name as messages and reg*
// types show it: with its schema only where the name alone would not find it.
func (s *Snapshot) RelationText(db types.OID, path []string, schema, name string) string {
	if s.RelationVisible(db, path, schema, name) {
		return QuoteIdent(name)
	}
	return QualifiedIdent(schema, name)
}

// typeName is how messages call a type: without its modifier.
func (c *Change) typeName(t types.T) string {
	return c.snap.FormatTypeNoMod(t.OID, c.DB, c.Path)
}

// FormatTypeNoMod is format_type with a NULL modifier for every type, as messages name
// them: bpchar is character there.
func (s *Snapshot) FormatTypeNoMod(o types.OID, db types.OID, path []string) string {
	if in := types.Lookup(o); in != nil && in.Extension == "" {
		return types.FormatTypeNoMod(o)
	}
	return s.FormatType(types.Of(o), db, path)
}

// FormatType is format_type for every type, user-defined ones included.
func (s *Snapshot) FormatType(t types.T, db types.OID, path []string) string {
	in := s.TypeInfo(t.OID)
	if t.OID == 0 || types.Lookup(t.OID) != nil && in.Extension == "" {
		return types.FormatType(types.T{OID: t.OID, Mod: t.Mod})
	}
	if in == nil {
		return "???"
	}
	if in.Kind == types.KArray && in.Elem != 0 && in.Type == 'b' {
		return s.FormatType(types.Of(in.Elem), db, path) + "[]"
	}
	schema := s.TypeSchema(db, t.OID)
	if s.TypeVisible(db, path, schema, in.Name) {
		return QuoteIdent(in.Name)
	}
	return QualifiedIdent(schema, in.Name)
}

// QuoteLiteral returns a text as a string constant of SQL, as quote_literal does.
func QuoteLiteral(s string) string {
	out := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\\") {
		return "E" + strings.ReplaceAll(out, "\\", "\\\\")
	}
	return out
}
