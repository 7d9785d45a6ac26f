package catalog

import (
	"strings"
	"sync"

	"kvsqld/catalog/types"
)

// The structs below are rows of PostgreSQL's system tables that only the
// catalog relations and the index machinery read.

// Am is a row of pg_am.
type Am struct {
	OID     types.OID
	Name    string
	Handler types.OID
	Type    byte
}

// Opfamily is a row of pg_opfamily.
type Opfamily struct {
	OID, Method types.OID
	Name        string
}

// Opclass is a row of pg_opclass.
type Opclass struct {
	OID, Method, Family, InType, KeyType types.OID
	Name                                 string
	Default                              bool
}

// Amop is a row of pg_amop.
type Amop struct {
	OID, Family, Left, Right types.OID
	Strategy                 int
	Purpose                  byte
	Operator, Method         types.OID
	SortFamily               types.OID
}

// Amproc is a row of pg_amproc.
type Amproc struct {
	OID, Family, Left, Right types.OID
	Num                      int
	Proc                     types.OID
}

// Collation is a row of pg_collation; Collate and Ctype are "" where NULL.
type Collation struct {
	OID            types.OID
	Name           string
	Provider       byte
	Deterministic  bool
	Encoding       int
	Collate, Ctype string
}

// Language is a row of pg_language.
type Language struct {
	OID                        types.OID
	Name                       string
	PL, Trusted                bool
	Handler, Inline, Validator types.OID
}

// RangeType is a row of pg_range.
type RangeType struct {
	Type, Subtype, Multirange, Collation, Opclass, Canonical, SubDiff types.OID
}

// Conversion is a row of pg_conversion.
type Conversion struct {
	OID     types.OID
	Name    string
	From    int
	To      int
	Proc    types.OID
	Default bool
}

// Setting is a row of pg_settings as PostgreSQL ships it. Fields are the texts
// of that view; "" where NULL.
type Setting struct {
	Name, Value, Unit, Category, Context, VarType, Min, Max string
	EnumVals                                                []string
	BootVal, ResetVal                                       string
	ShortDesc, ExtraDesc                                    string
}

// SystemRelation is a relation of pg_catalog or information_schema.
type SystemRelation struct {
	OID     types.OID
	Schema  string
	Name    string
	Kind    byte // r table, v view, i index is in SystemIndexes
	RowType types.OID
	Columns []Column
}

// SystemIndex is an index of a system relation.
type SystemIndex struct {
	OID, Table      types.OID
	Name            string
	Unique, Primary bool
	Keys            []int // attnums
	Opclasses       []types.OID
	Constraint      types.OID // of the same name, 0 for none
}

// DomainType is one of information_schema's domains.
type DomainType struct {
	OID     types.OID
	Name    string
	Format  string
	Len     int
	Kind    byte
	Base    types.OID
	BaseMod int32
	Array   types.OID
}

var amRows = sync.OnceValue(func() []Am {
	var out []Am
	for _, r := range readBuiltin("pg_am", 4) {
		out = append(out, Am{r.oid(0), r[1], r.oid(2), r.char(3)})
	}
	// The inverted index has no counterpart in PostgreSQL.
	return append(out, Am{OIDInvertedAm, "inverted", 0, 'i'})
})

// OIDInvertedAm is the access method of USING inverted.
const OIDInvertedAm types.OID = 9100

// OIDGinAm is the access method of USING gin.
const OIDGinAm types.OID = 2742

// OIDBtreeAm is the access method of USING btree.
const OIDBtreeAm types.OID = 403

// collationC is the OID of the collation that compares bytes.
const collationC types.OID = 950

// OIDGistAm, OIDSpgistAm and OIDBrinAm are the access methods gist, spgist and brin.
const (
	OIDGistAm   types.OID = 783
	OIDSpgistAm types.OID = 4000
	OIDBrinAm   types.OID = 3580
)

// OIDHashAm is the access method of hash indexes and of hash partitions.
const OIDHashAm types.OID = 405

// OIDHeapAm is the table access method that pg_class shows.
const OIDHeapAm types.OID = 2

// Ams returns the access methods.
func Ams() []Am { return amRows() }

var opfamilyRows = sync.OnceValue(func() []Opfamily {
	var out []Opfamily
	for _, r := range readBuiltin("pg_opfamily", 3) {
		out = append(out, Opfamily{OID: r.oid(0), Method: r.oid(1), Name: r[2]})
	}
	return out
})

// Opfamilies returns the operator families.
func Opfamilies() []Opfamily { return opfamilyRows() }

var opclassRows = sync.OnceValue(func() []Opclass {
	var out []Opclass
	for _, r := range readBuiltin("pg_opclass", 7) {
		out = append(out, Opclass{
			OID: r.oid(0), Method: r.oid(1), Name: r[2], Family: r.oid(3), InType: r.oid(4),
			Default: r.bool(5), KeyType: r.oid(6),
		})
	}
	return out
})

// Opclasses returns the operator classes.
func Opclasses() []Opclass { return opclassRows() }

var amopRows = sync.OnceValue(func() []Amop {
	var out []Amop
	for _, r := range readBuiltin("pg_amop", 9) {
		out = append(out, Amop{
			OID: r.oid(0), Family: r.oid(1), Left: r.oid(2), Right: r.oid(3), Strategy: r.int(4),
			Purpose: r.char(5), Operator: r.oid(6), Method: r.oid(7), SortFamily: r.oid(8),
		})
	}
	return out
})

// Amops returns the operators of operator families.
func Amops() []Amop { return amopRows() }

var amprocRows = sync.OnceValue(func() []Amproc {
	var out []Amproc
	for _, r := range readBuiltin("pg_amproc", 6) {
		out = append(out, Amproc{r.oid(0), r.oid(1), r.oid(2), r.oid(3), r.int(4), r.oid(5)})
	}
	return out
})

// Amprocs returns the support functions of operator families.
func Amprocs() []Amproc { return amprocRows() }

var collationRows = sync.OnceValue(func() []Collation {
	null := func(s string) string {
		if s == `\N` {
			return ""
		}
		return s
	}
	var out []Collation
	for _, r := range readBuiltin("pg_collation", 7) {
		out = append(out, Collation{r.oid(0), r[1], r.char(2), r.bool(3), r.int(4), null(r[5]), null(r[6])})
	}
	return out
})

// Collations returns the collations.
func Collations() []Collation { return collationRows() }

// CollationByName returns the collation's row, or nil.
func CollationByName(name string) *Collation {
	rows := collationRows()
	for i := range rows {
		if rows[i].Name == name {
			return &rows[i]
		}
	}
	return nil
}

// CollationByOID returns the collation's row, or nil.
func CollationByOID(o types.OID) *Collation {
	rows := collationRows()
	for i := range rows {
		if rows[i].OID == o {
			return &rows[i]
		}
	}
	return nil
}

var languageRows = sync.OnceValue(func() []Language {
	var out []Language
	for _, r := range readBuiltin("pg_language", 7) {
		out = append(out, Language{r.oid(0), r[1], r.bool(2), r.bool(3), r.oid(4), r.oid(5), r.oid(6)})
	}
	return out
})

// Languages returns the procedural languages that pg_language lists.
func Languages() []Language { return languageRows() }

var rangeRows = sync.OnceValue(func() []RangeType {
	var out []RangeType
	for _, r := range readBuiltin("pg_range", 7) {
		out = append(out, RangeType{r.oid(0), r.oid(1), r.oid(2), r.oid(3), r.oid(4), r.oid(5), r.oid(6)})
	}
	return out
})

// RangeTypes returns the range types.
func RangeTypes() []RangeType { return rangeRows() }

var conversionRows = sync.OnceValue(func() []Conversion {
	var out []Conversion
	for _, r := range readBuiltin("pg_conversion", 6) {
		out = append(out, Conversion{r.oid(0), r[1], r.int(2), r.int(3), r.oid(4), r.bool(5)})
	}
	return out
})

// Conversions returns the encoding conversions.
func Conversions() []Conversion { return conversionRows() }

var settingRows = sync.OnceValue(func() []Setting {
	var out []Setting
	for _, r := range readBuiltin("settings", 13) {
		s := Setting{
			Name: r[0], Value: r[1], Unit: r[2], Category: r[3], Context: r[4], VarType: r[5],
			Min: r[6], Max: r[7], BootVal: r[9], ResetVal: r[10], ShortDesc: r[11], ExtraDesc: r[12],
		}
		if list := strings.Trim(r[8], "{}"); list != "" {
			s.EnumVals = strings.Split(list, ",")
		}
		out = append(out, s)
	}
	return out
})

// Settings returns PostgreSQL's parameters with their shipped values, by name.
func Settings() []Setting { return settingRows() }

var systemRelationRows = sync.OnceValue(func() []SystemRelation {
	var out []SystemRelation
	at := make(map[types.OID]int)
	for _, r := range readBuiltin("relations", 6) {
		at[r.oid(0)] = len(out)
		out = append(out, SystemRelation{OID: r.oid(0), Schema: r[1], Name: r[2], Kind: r.char(3), RowType: r.oid(4)})
	}
	domains := make(map[types.OID]DomainType)
	for _, d := range InformationDomains() {
		domains[d.OID] = d
	}
	for _, r := range readBuiltin("attributes", 7) {
		i, ok := at[r.oid(0)]
		if !ok {
			continue
		}
		t := types.T{OID: r.oid(3), Mod: int32(r.int(4))}
		if d, ok := domains[t.OID]; ok {
			t.User, t.Elem = types.Of(d.Base).Kind(), d.Base
		}
		col := Column{Name: r[2], Type: t, NotNull: r.bool(5)}
		if in := types.Lookup(t.OID); in != nil && in.Category == 'A' && out[i].Kind == 'r' {
			col.Dims = 1
		}
		if r.oid(6) == collationC && t.OID != types.OName {
			col.Collation = "C"
		}
		if secret := secretColumns[out[i].Name]; secret != "" && secret != col.Name {
			col.ACL = ACL{{Grantor: "postgres", Privs: PrivSelect}}
		}
		out[i].Columns = append(out[i].Columns, col)
	}
	return out
})

// SystemRelations returns the relations of pg_catalog and information_schema
// with their columns.
func SystemRelations() []SystemRelation { return systemRelationRows() }

var systemIndexRows = sync.OnceValue(func() []SystemIndex {
	var out []SystemIndex
	for _, r := range readBuiltin("relindexes", 8) {
		ix := SystemIndex{OID: r.oid(0), Name: r[1], Table: r.oid(2), Unique: r.bool(3), Primary: r.bool(4), Opclasses: r.oids(6), Constraint: r.oid(7)}
		for _, k := range r.oids(5) {
			ix.Keys = append(ix.Keys, int(k))
		}
		out = append(out, ix)
	}
	return out
})

// SystemIndexes returns the indexes of the system relations.
func SystemIndexes() []SystemIndex { return systemIndexRows() }

var informationTypeRows = sync.OnceValue(func() []DomainType {
	var out []DomainType
	for _, r := range readBuiltin("information_schema_types", 8) {
		out = append(out, DomainType{r.oid(0), r[1], r[2], r.int(3), r.char(4), r.oid(5), int32(r.int(6)), r.oid(7)})
	}
	return out
})

// InformationDomains returns information_schema's domains.
func InformationDomains() []DomainType { return informationTypeRows() }
