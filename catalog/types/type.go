// Package types has the SQL types and single values (datums): PostgreSQL's
// OIDs, type modifiers, how a value is represented in memory, its text and
// binary forms, comparison, and conversion.
//
// In: bytes of the wire, of literals or of stored rows. Out: datums that obey
// one representation per Rep (below), and bytes. Invariant: a value of a given
// T has exactly one in-memory representation, so storage, executor and wire
// agree without asking each other.
package types

// OID is PostgreSQL's object identifier.
type OID uint32

// T is a type as a value has it: OID and modifier. It is comparable.
type T struct {
	OID OID
	Mod int32 // PostgreSQL's atttypmod; -1 = none
	// Enum is set for user-defined types, whose representation cannot be read
	// off the OID: the kind of the type (KEnum, KArray, KRecord …); KInvalid otherwise.
	User Kind
	Elem OID // element type of a user-defined array or the base; 0 otherwise
}

// Kind is a type's behaviour; several OIDs may share one (KText: text, varchar, …).
type Kind uint8

// The kinds. Rep says how each is held.
const (
	KInvalid     Kind = iota
	KBool             // RepBool
	KInt2             // RepInt
	KInt4             // RepInt
	KInt8             // RepInt
	KOid              // RepInt: oid, xid, cid, reg* types (0 … 2^32-1)
	KFloat4           // RepFloat, every value is a float32
	KFloat8           // RepFloat
	KNumeric          // RepDec
	KText             // RepBytes: text, varchar, bpchar (unpadded in memory, padded on output), name, "char", unknown, cstring, xml, pg_node_tree …: UTF-8
	KBytea            // RepBytes
	KDate             // RepInt: days since 2000-01-01; MinInt32/MaxInt32 are -infinity/infinity
	KTime             // RepInt: microseconds since midnight, 0 … 86400000000
	KTimetz           // RepBytes: 8 bytes microseconds, 4 bytes zone (seconds west of Greenwich), big-endian
	KTimestamp        // RepInt: microseconds since 2000-01-01 00:00; MinInt64/MaxInt64 infinite
	KTimestamptz      // RepInt: the same in UTC
	KInterval         // RepInterval
	KUUID             // RepBytes, 16 bytes
	KArray            // RepBytes: PostgreSQL's binary array format (ndim, flags, elemtype, dims and lower bounds, elements with lengths); also int2vector and oidvector
	KJSON             // RepBytes: text as given
	KJSONB            // RepBytes: canonical text (jsonb's output form)
	KEnum             // RepBytes: rank and label, see Enum
	KRecord           // RepBytes: PostgreSQL's binary record format
	KInet             // RepBytes: PostgreSQL's binary format (inet, cidr)
	KMacaddr          // RepBytes
	KBit              // RepBytes: PostgreSQL's binary format (bit, varbit)
	KGeometry         // RepBytes: PostgreSQL's binary format (point, lseg, line, box, path, polygon, circle)
	KRange            // RepBytes: PostgreSQL's binary format
	KVoid             // RepBytes, empty
	KPseudo           // any, anyelement, internal …: never a value's type
	KWord             // RepBytes: 8 big-endian bytes, ordered as such (xid8, pg_lsn, macaddr8), or 6 (tid)
	KMultirange       // RepBytes: PostgreSQL's binary format
	KCitext           // RepBytes: UTF-8 as given, compared in lower case
	KHstore           // RepBytes: PostgreSQL's binary format, see NewHstore
	KMoney            // RepInt: hundredths
)

// Rep is the in-memory representation: which slice of a vec.Vec, which field
// of a Datum holds the value.
type Rep uint8

// The representations.
const (
	RepNone     Rep = iota
	RepBool         // Datum.I is 0 or 1; Vec.Bool
	RepInt          // Datum.I; Vec.I64
	RepFloat        // Datum.F; Vec.F64
	RepDec          // Datum.Dec; Vec.Dec, or Vec.I64 with Vec.Scale (see package vec)
	RepInterval     // Datum.Iv; Vec.Iv
	RepBytes        // Datum.B; Vec.B
)

// Rep returns the representation of the kind.
func (k Kind) Rep() Rep { return kindRep[k] }

var kindRep = [...]Rep{
	KInvalid: RepNone, KBool: RepBool, KInt2: RepInt, KInt4: RepInt, KInt8: RepInt, KOid: RepInt,
	KFloat4: RepFloat, KFloat8: RepFloat, KNumeric: RepDec, KText: RepBytes, KBytea: RepBytes,
	KDate: RepInt, KTime: RepInt, KTimetz: RepBytes, KTimestamp: RepInt, KTimestamptz: RepInt,
	KInterval: RepInterval, KUUID: RepBytes, KArray: RepBytes, KJSON: RepBytes, KJSONB: RepBytes,
	KEnum: RepBytes, KRecord: RepBytes, KInet: RepBytes, KMacaddr: RepBytes, KBit: RepBytes,
	KGeometry: RepBytes, KRange: RepBytes, KVoid: RepBytes, KPseudo: RepBytes,
	KWord: RepBytes, KMultirange: RepBytes, KCitext: RepBytes, KHstore: RepBytes, KMoney: RepInt,
}

// Kind returns the type's kind.
func (t T) Kind() Kind {
	if t.User != KInvalid {
		return t.User
	}
	if t.OID < directOIDs {
		builtinOnce.Do(loadTypes)
		return builtin.kinds[t.OID]
	}
	return KInvalid
}

// Textual reports whether the binary form of the type is text.
func (t T) Textual() bool {
	switch t.Kind() {
	case KText, KJSON, KJSONB, KEnum, KCitext:
		return true
	}
	return false
}

// HoldsText reports whether the binary form of the type may have text within.
func (t T) HoldsText() bool {
	switch t.Kind() {
	case KRecord:
		return true
	case KArray:
		e := t.ElemType()
		return e.Textual() || e.HoldsText()
	}
	return false
}

// Rep returns how values of the type are held.
func (t T) Rep() Rep { return kindRep[t.Kind()] }

// Of returns the type of an OID without a modifier.
func Of(o OID) T { return T{OID: o, Mod: -1} }

// Info is what pg_type says of a built-in type.
type Info struct {
	OID                                OID
	Name                               string // typname: int4, varchar, _int4 …
	SQLName                            string // format_type's name: integer, character varying, integer[] …
	Kind                               Kind
	Len                                int16 // typlen: -1 variable, -2 cstring
	ByVal                              bool
	Type                               byte // typtype: b c d e p r m
	Category                           byte // typcategory
	Preferred                          bool
	Elem                               OID // typelem (0: not subscriptable as an array)
	Array                              OID // typarray
	Delim                              byte
	RelID                              OID // typrelid of a row type
	Align                              byte
	Storage                            byte
	In, Out, Recv, Send, ModIn, ModOut OID    // functions' OIDs
	Subtype                            OID    // of the bounds of a range or multirange type
	Range, Multirange                  OID    // the other of a range type and its multirange type
	Extension                          string // that the type comes with, "" for none
}

// Interval is months, days and microseconds, kept apart as PostgreSQL does.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Datum is one value. Only the field of T's representation is meaningful, and
// none when Null. A Datum's bytes are never changed once it was made.
type Datum struct {
	T    T
	Null bool
	I    int64
	F    float64
	B    []byte
	Dec  Decimal
	Iv   Interval
}

// Null returns the NULL of a type.
func Null(t T) Datum { return Datum{T: t, Null: true} }

// Bool, Int, Float, Text and Bytes make non-null datums of the given type.
func Bool(v bool) Datum {
	d := Datum{T: TBool}
	if v {
		d.I = 1
	}
	return d
}

// Int returns an integer-represented datum of type t.
func Int(t T, v int64) Datum { return Datum{T: t, I: v} }

// Float returns a float-represented datum of type t.
func Float(t T, v float64) Datum { return Datum{T: t, F: v} }

// Text returns a datum of type text.
func Text(s string) Datum { return Datum{T: TText, B: []byte(s)} }

// Bytes returns a bytes-represented datum of type t; b is not copied.
func Bytes(t T, b []byte) Datum { return Datum{T: t, B: b} }
