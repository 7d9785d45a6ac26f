package types

import (
	"strconv"
	"time"

	"kvsqld/catalog/sqlerr"
)

// DateStyle is the output form of dates and times.
type DateStyle uint8

// The output forms.
const (
	DateISO DateStyle = iota
	DatePostgres
	DateSQL
	DateGerman
)

// DateOrder tells which field of an ambiguous date comes first.
type DateOrder uint8

// The field orders.
const (
	OrderMDY DateOrder = iota
	OrderDMY
	OrderYMD
)

// IntervalStyle is the output form of intervals.
type IntervalStyle uint8

// The interval forms.
const (
	IntervalPostgres IntervalStyle = iota
	IntervalPostgresVerbose
	IntervalSQL
	IntervalISO
)

// RegNames resolves the names behind the reg* types, which only a catalog knows.
type RegNames interface {
	// RegIn resolves a name given as text to a regclass, regtype, … value.
	RegIn(typ OID, name string) (OID, error)
	// RegOut names an object; ok is false when there is none.
	RegOut(typ OID, o OID) (name string, ok bool)
	// EnumIn returns the value of an enum type that has the label.
	EnumIn(t T, label string) (Datum, error)
	// Attributes lists the names and types of a composite type's columns.
	Attributes(typ OID) ([]string, []T, error)
	// DomainBase is the type that values of a domain, or of an array of one, are read as,
	// with its modifier; false for other types.
	DomainBase(t T) (T, bool)
	// InDomain returns a value of the type that DomainBase gives, or NULL, as one of the
	// type t, whose domain it must satisfy.
	InDomain(t T, d Datum) (Datum, error)
	// InBounds returns a bound of a range or multirange type that a user made, of which it
	// must be a possible bound: the bounds may be of a domain.
	InBounds(t T, d Datum) (Datum, error)
	// ACLIn reads an aclitem, whose roles must exist.
	ACLIn(text string) (string, error)
}

// FmtOpts are the session settings that text forms depend on. A FmtOpts is not
// changed while it is in use.
type FmtOpts struct {
	DateStyle        DateStyle
	DateOrder        DateOrder
	IntervalStyle    IntervalStyle
	Loc              *time.Location // the session's TimeZone; nil is UTC
	ExtraFloatDigits int            // above 0: shortest exact floats
	ByteaEscape      bool           // bytea_output = escape
	NullText         bool           // array_nulls = off: NULL in an array is a word like others
	Now              int64          // transaction's start: microseconds since 2000-01-01 UTC; 0 asks the clock
	Reg              RegNames       // nil: reg* types read and print numbers
}

// DefaultFmt has PostgreSQL's defaults in time zone UTC.
var DefaultFmt = &FmtOpts{Loc: time.UTC, ExtraFloatDigits: 1}

// ReadsAs reports whether texts are surely read as by other settings; words such as
// 'now' aside.
func (o *FmtOpts) ReadsAs(p *FmtOpts) bool {
	return o.DateOrder == p.DateOrder && o.IntervalStyle == p.IntervalStyle && o.Loc == p.Loc && o.NullText == p.NullText
}

func (o *FmtOpts) loc() *time.Location {
	if o.Loc == nil {
		return time.UTC
	}
	return o.Loc
}

func (o *FmtOpts) now() int64 {
	if o.Now == 0 {
		return TimestampFromTime(time.Now())
	}
	return o.Now
}

// base returns the built-in OID that decides on a type's text and binary
// forms: that of the base type for a user-defined scalar over one.
func (t T) base() OID {
	switch t.User {
	case KInvalid:
		return t.OID
	case KArray, KEnum, KRecord:
		return 0
	case KRange, KMultirange:
		return builtinRange(t)
	}
	return t.Elem
}

// Parse reads a value's text form as the type's input function does, including
// the type modifier. Errors carry PostgreSQL's codes and messages. A nil o
// means DefaultFmt.
func Parse(t T, s string, o *FmtOpts) (Datum, error) {
	if o == nil {
		o = DefaultFmt
	}
	d, err := parseText(t, s, o)
	if err != nil || t.Mod < 0 {
		return d, err
	}
	return ApplyMod(d, t, false)
}

func parseText(t T, s string, o *FmtOpts) (Datum, error) {
	d := Datum{T: t}
	var err error
	if t.OID == OAclitem && o.Reg != nil {
		s, err = o.Reg.ACLIn(s)
		return Bytes(t, []byte(s)), err
	}
	switch t.Kind() {
	case KBool:
		var v bool
		if v, err = parseBool(s); v {
			d.I = 1
		}
	case KInt2:
		d.I, err = parseInt(s, "smallint", -1<<15, 1<<15-1)
	case KInt4:
		d.I, err = parseInt(s, "integer", -1<<31, 1<<31-1)
	case KInt8:
		d.I, err = parseInt(s, "bigint", -1<<63, 1<<63-1)
	case KOid:
		d.I, err = parseOidType(t.base(), s, o)
	case KFloat4:
		d.F, err = parseFloat(s, "real", 32)
	case KFloat8:
		d.F, err = parseFloat(s, "double precision", 64)
	case KNumeric:
		d.Dec, err = ParseDecimal(s)
	case KText:
		d.B, err = parseTextual(t, s)
	case KCitext:
		d.B = []byte(s)
	case KHstore:
		d.B, err = parseHstore(s)
	case KBytea:
		d.B, err = parseBytea(s)
	case KDate:
		d.I, err = parseDate(s, o)
	case KTime:
		d.I, err = parseTime(s, o)
	case KTimetz:
		return parseTimetz(t, s, o)
	case KTimestamp:
		d.I, err = parseTimestamp(s, o)
	case KTimestamptz:
		d.I, err = parseTimestamptz(s, o)
	case KInterval:
		d.Iv, err = parseInterval(s, t.Mod, o)
	case KUUID:
		d.B, err = parseUUID(s)
	case KArray:
		return parseArray(t, s, o)
	case KJSON:
		d.B, err = []byte(s), checkJSON(s)
	case KJSONB:
		d.B, err = CanonicalJSONB(make([]byte, 0, len(s)+8), []byte(s))
	case KEnum:
		if o.Reg == nil {
			return d, sqlerr.New(sqlerr.FeatureNotSupported, "cannot read a value of an enum type here")
		}
		return o.Reg.EnumIn(t, s)
	case KInet:
		d.B, err = parseInet(s, t.base() == OCidr)
	case KMacaddr:
		d.B, err = parseMacaddr(s)
	case KBit:
		d.B, err = parseBits(s)
	case KGeometry:
		d.B, err = parseGeometry(t.base(), s)
	case KMoney:
		d.I, err = parseMoney(s)
	case KRange:
		return parseRange(t, s, o)
	case KMultirange:
		return parseMultirange(t, s, o)
	case KWord:
		d.B, err = parseWord(t.base(), s)
	case KVoid:
		d.B = []byte{}
	case KRecord:
		return parseRecord(t, s, o)
	default:
		return d, sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s", FormatType(t))
	}
	return d, err
}

// AppendText appends a non-null value's text form as the type's output
// function gives it. A nil o means DefaultFmt.
func AppendText(buf []byte, d Datum, o *FmtOpts) []byte {
	if o == nil {
		o = DefaultFmt
	}
	switch d.T.Kind() {
	case KBool:
		if d.I != 0 {
			return append(buf, 't')
		}
		return append(buf, 'f')
	case KInt2, KInt4, KInt8:
		return strconv.AppendInt(buf, d.I, 10)
	case KOid:
		return appendOid(buf, d.T.base(), d.I, o)
	case KFloat4:
		return appendFloat(buf, d.F, 32, o.ExtraFloatDigits)
	case KFloat8:
		return appendFloat(buf, d.F, 64, o.ExtraFloatDigits)
	case KNumeric:
		return d.Dec.AppendText(buf)
	case KText:
		return appendTextual(buf, d)
	case KBytea:
		return appendBytea(buf, d.B, o.ByteaEscape)
	case KDate:
		return AppendDate(buf, d.I, o)
	case KTime:
		return appendTime(buf, d.I)
	case KTimetz:
		return appendTimetz(buf, d)
	case KTimestamp:
		return AppendTimestamp(buf, d.I, o)
	case KTimestamptz:
		return AppendTimestamptz(buf, d.I, o)
	case KInterval:
		return appendInterval(buf, d.Iv, o)
	case KUUID:
		return appendUUID(buf, d.B)
	case KArray:
		return appendArray(buf, d, o)
	case KInet:
		return appendInet(buf, d.B, d.T.base() == OCidr)
	case KMacaddr:
		return appendMacaddr(buf, d.B)
	case KBit:
		return appendBits(buf, d.B)
	case KGeometry:
		return appendGeometry(buf, d, o)
	case KMoney:
		return appendMoney(buf, d.I)
	case KRange:
		return appendRange(buf, d, o)
	case KMultirange:
		return appendMultirange(buf, d, o)
	case KWord:
		return appendWord(buf, d)
	case KRecord:
		return appendRecord(buf, d, o)
	case KHstore:
		return appendHstore(buf, d.B)
	case KEnum:
		return append(buf, EnumLabel(d.B)...)
	}
	return append(buf, d.B...) // json, jsonb
}

// parseOidType reads oid, xid, cid and the reg* types.
func parseOidType(typ OID, s string, o *FmtOpts) (int64, error) {
	switch typ {
	case OXid, OCid:
		return int64(uint32(parseXid(s))), nil
	case OOid:
		return parseOid(s, Lookup(typ).Name)
	}
	if o.Reg == nil {
		if s == "-" {
			return 0, nil
		}
		return parseOid(s, "oid")
	}
	v, err := o.Reg.RegIn(typ, s)
	return int64(v), err
}

func appendOid(buf []byte, typ OID, v int64, o *FmtOpts) []byte {
	switch typ {
	case OOid, OXid, OCid:
		return strconv.AppendInt(buf, v, 10)
	}
	if v == 0 && typ != 0 {
		if typ == ORegoper || typ == ORegoperator {
			return append(buf, '0')
		}
		return append(buf, '-')
	}
	if o.Reg != nil {
		if name, ok := o.Reg.RegOut(typ, OID(v)); ok {
			return append(buf, name...)
		}
	}
	return strconv.AppendInt(buf, v, 10)
}

// FloatText is a number as messages write it.
func FloatText(v float64) string { return string(AppendText(nil, Float(TFloat8, v), DefaultFmt)) }
