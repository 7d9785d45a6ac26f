package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// TypeNumbers are what information_schema says of a type's modifier: lengths in
// characters and in bytes, precisions and scales, -1 where NULL, and the fields
// of an interval, "" for all.
type TypeNumbers struct {
	CharMax, Octets                   int64
	Precision, Radix, Scale, Datetime int64
	Interval                          string
}

// typeFacts are what information_schema says of a type.
type typeFacts struct {
	TypeNumbers
	dataType                 string
	collation                string // "" for none or the default
	domainSchema, domainName string // of a domain
	udtSchema, udtName       string
}

// facts returns what information_schema says of a column's type: for a domain that of
// the type that it is over, which may be another domain.
func (env *Env) facts(t types.T) typeFacts {
	base := env.over(t)
	f := env.ownFacts(base)
	if base.OID != t.OID {
		if in := env.Snap.TypeInfo(t.OID); in != nil {
			f.domainSchema, f.domainName = env.Snap.TypeSchema(env.DB, t.OID), in.Name
		}
		f.collation = env.collationShown(&catalog.Column{Type: t, Collation: env.Snap.TypeCollation(t)})
	}
	return f
}

// over is the type that a domain is over, and any other type itself.
func (env *Env) over(t types.T) types.T {
	if u := env.Snap.TypeByOID(t.OID); u != nil && u.Kind == 'd' {
		return u.Base
	}
	return env.Snap.BaseType(t) // the domains of information_schema are over no others
}

// ownFacts returns what information_schema says of a type where it looks into no domain.
func (env *Env) ownFacts(t types.T) typeFacts {
	f := typeFacts{TypeNumbers: NumbersOf(t)}
	in := env.Snap.TypeInfo(t.OID)
	if in == nil {
		return f
	}
	f.udtSchema, f.udtName = env.Snap.TypeSchema(env.DB, t.OID), in.Name
	switch {
	case in.Elem != 0 && in.Len == -1 && in.Category == 'A':
		f.dataType = "ARRAY"
	case f.udtSchema == catalog.SchemaPgCatalog:
		f.dataType = types.FormatTypeNoMod(t.OID)
	default:
		f.dataType = "USER-DEFINED"
	}
	f.collation = env.collationShown(&catalog.Column{Type: t, Collation: env.Snap.TypeCollation(t)})
	return f
}

// collationShown is a column's collation as information_schema shows it: "" for none
// or the default.
func (env *Env) collationShown(col *catalog.Column) string {
	if col.Collation == "" && env.baseCollation(col.Type) == oidCollationC {
		return "C"
	}
	return col.Collation
}

// NumbersOf returns the numbers of a type that is no domain.
func NumbersOf(t types.T) TypeNumbers {
	f := TypeNumbers{CharMax: -1, Octets: -1, Precision: -1, Radix: -1, Scale: -1, Datetime: -1}
	switch t.OID {
	case types.OText, types.OVarchar, types.OBpchar:
		f.Octets = 1 << 30
		if t.Mod >= 4 && t.OID != types.OText {
			f.CharMax, f.Octets = int64(t.Mod-4), int64(t.Mod-4)*4
		}
	case types.OBit, types.OVarbit:
		if t.Mod >= 0 {
			f.CharMax = int64(t.Mod)
		}
	case types.OInt2:
		f.Precision, f.Radix, f.Scale = 16, 2, 0
	case types.OInt4:
		f.Precision, f.Radix, f.Scale = 32, 2, 0
	case types.OInt8:
		f.Precision, f.Radix, f.Scale = 64, 2, 0
	case types.OFloat4:
		f.Precision, f.Radix = 24, 2
	case types.OFloat8:
		f.Precision, f.Radix = 53, 2
	case types.ONumeric:
		f.Radix = 10
		if t.Mod >= 4 {
			f.Precision, f.Scale = int64((t.Mod-4)>>16&0xFFFF), int64((t.Mod-4)&0xFFFF) // so that a scale of -2 is shown as 2046
		}
	case types.ODate:
		f.Datetime = 0
	case types.OTime, types.OTimetz, types.OTimestamp, types.OTimestamptz:
		f.Datetime = 6
		if t.Mod >= 0 {
			f.Datetime = int64(t.Mod)
		}
	case types.OInterval:
		f.Datetime = 6
		if t.Mod >= 0 {
			if p := t.Mod & 0xFFFF; p != 0xFFFF {
				f.Datetime = int64(p)
			}
			words := strings.Fields(types.FormatType(t))
			f.Interval = strings.ToUpper(strings.TrimSpace(strings.TrimLeft(strings.TrimPrefix(strings.Join(words, " "), "interval"), "()0123456789")))
		}
	}
	return f
}

// num writes a cardinal_number, NULL when negative.
func (w *writer) num(v int64) *writer {
	if v < 0 {
		return w.null()
	}
	return w.int(v)
}

// collationColumns writes collation_catalog, collation_schema, collation_name.
func (w *writer) collationColumns(f *typeFacts) *writer {
	if f.collation == "" {
		return w.nulls(3)
	}
	return w.str(w.env.dbName()).str(catalog.SchemaPgCatalog).str(f.collation)
}

// numberColumns writes numeric_precision to interval_precision.
func (w *writer) numberColumns(f *typeFacts) *writer {
	return w.num(f.Precision).num(f.Radix).num(f.Scale).num(f.Datetime).opt(f.Interval).null()
}

// udtColumns writes udt_catalog, udt_schema and udt_name.
func (w *writer) udtColumns(f *typeFacts) *writer {
	return w.str(w.env.dbName()).str(f.udtSchema).str(f.udtName)
}

// eachRelation calls f for the system relations and the user's tables and
// views; materialized views and sequences are not in information_schema.
func (w *writer) eachRelation(f func(schema, name, owner string, r catalog.Relation)) {
	for _, r := range All() {
		f(r.Schema, r.Name, "postgres", w.env.granted(r))
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		co := commonOf(r)
		switch x := r.(type) {
		case *catalog.Table:
			f(co.Schema, co.Name, co.Owner, x)
		case *catalog.View:
			if x.Materialized == nil {
				f(co.Schema, co.Name, co.Owner, x)
			}
		}
	}
}

// isView reports whether the relation is a view.
func isView(r catalog.Relation) bool {
	switch x := r.(type) {
	case *catalog.View:
		return true
	case *catalog.Virtual:
		return x.View
	}
	return false
}
