package types

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// pgType has one line per built-in type, tab-separated: oid, typname,
// format_type, typlen, typbyval, typtype, typcategory, typispreferred,
// typdelim, typrelid, typsubscript, typelem, typarray, typinput, typoutput,
// typreceive, typsend, typmodin, typmodout, typanalyze, typalign, typstorage,
// typbasetype, typtypmod, typcollation, typnotnull, nspname.
//
//go:embed pg_type.tsv
var pgType string

const (
	tsvColumns = 27
	directOIDs = FirstUserOID // OIDs below are looked up by array index
)

type typeTable struct {
	all    []*Info
	direct [directOIDs]*Info
	kinds  [directOIDs]Kind // of direct: T.Kind is asked for at every step
	byName map[string]*Info
}

var (
	builtinOnce sync.Once
	builtin     typeTable
)

// Lookup returns what is known of a built-in type, or nil.
func Lookup(o OID) *Info {
	builtinOnce.Do(loadTypes)
	if o < directOIDs {
		return builtin.direct[o]
	}
	return nil
}

// ByName returns the built-in type with the given typname (int4, _text) or SQL
// spelling (integer, double precision, text[]), in lower case, or nil. Array
// suffixes may be repeated, as an array type covers every dimension.
func ByName(name string) *Info {
	builtinOnce.Do(loadTypes)
	if in := builtin.byName[name]; in != nil {
		return in
	}
	if base, ok := strings.CutSuffix(name, "[]"); ok {
		in := ByName(strings.TrimSuffix(base, " "))
		if in == nil {
			return nil
		}
		if in.Category == 'A' && in.Array == 0 {
			return in
		}
		return Lookup(in.Array)
	}
	return nil
}

// All returns every built-in type in the order of pg_type. The slice is shared
// and must not be changed.
func All() []*Info {
	builtinOnce.Do(loadTypes)
	return builtin.all
}

func loadTypes() {
	t := &builtin
	t.byName = make(map[string]*Info, 1024)
	for line := range strings.Lines(pgType) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != tsvColumns {
			continue
		}
		in := parseInfo(f)
		t.all = append(t.all, in)
		t.direct[in.OID], t.kinds[in.OID] = in, in.Kind
		if _, taken := t.byName[in.Name]; !taken {
			t.byName[in.Name] = in
		}
	}
	// typnames win over SQL spellings: char is the keyword for bpchar, but
	// the typname char is another type, spelled "char" in SQL.
	for _, in := range t.all {
		if _, taken := t.byName[in.SQLName]; !taken {
			t.byName[in.SQLName] = in
		}
	}
	for rng, m := range multirangeTypes {
		r, mr, sub := t.direct[rng], t.direct[m], rangeSubtypes[rng].OID
		r.Subtype, r.Multirange, mr.Subtype, mr.Range = sub, m, sub, rng
	}
	t.loadExtensionTypes()
	for alias, name := range sqlAliases {
		if _, taken := t.byName[alias]; !taken {
			t.byName[alias] = t.byName[name]
		}
	}
}

var sqlAliases = map[string]string{
	"int": "int4", "float": "float8", "decimal": "numeric", "dec": "numeric",
	"time": "time", "timestamp": "timestamp", "nchar": "bpchar",
	"national character": "bpchar", "national char": "bpchar",
	"national character varying": "varchar", "national char varying": "varchar", "nchar varying": "varchar",
	"char varying": "varchar", "serial": "int4", "bigserial": "int8", "smallserial": "int2",
}

func parseInfo(f []string) *Info {
	oid := func(i int) OID {
		v, _ := strconv.ParseUint(f[i], 10, 32)
		return OID(v)
	}
	char := func(i int) byte {
		if f[i] == "" {
			return 0
		}
		return f[i][0]
	}
	length, _ := strconv.ParseInt(f[3], 10, 16)
	in := &Info{
		OID: oid(0), Name: f[1], SQLName: f[2], Len: int16(length), ByVal: f[4] == "1" || f[4] == "t",
		Type: char(5), Category: char(6), Preferred: f[7] == "1" || f[7] == "t", Delim: char(8),
		RelID: oid(9), Elem: oid(11), Array: oid(12),
		In: oid(13), Out: oid(14), Recv: oid(15), Send: oid(16), ModIn: oid(17), ModOut: oid(18),
		Align: char(20), Storage: char(21),
	}
	in.Kind = kindOf(in)
	return in
}

// kindByOID has the kinds that cannot be told from typtype and typcategory.
var kindByOID = map[OID]Kind{
	OBool: KBool, OInt2: KInt2, OInt4: KInt4, OInt8: KInt8,
	OOid: KOid, OXid: KOid, OCid: KOid, ORegproc: KOid, ORegprocedure: KOid, ORegoper: KOid,
	ORegoperator: KOid, ORegclass: KOid, ORegtype: KOid, ORegrole: KOid, ORegnamespace: KOid,
	ORegconfig: KOid, ORegdictionary: KOid, ORegcollation: KOid,
	OFloat4: KFloat4, OFloat8: KFloat8, ONumeric: KNumeric, OBytea: KBytea,
	ODate: KDate, OTime: KTime, OTimetz: KTimetz, OTimestamp: KTimestamp, OTimestamptz: KTimestamptz,
	OInterval: KInterval, OUUID: KUUID, OJSON: KJSON, OJSONB: KJSONB,
	OInet: KInet, OCidr: KInet, OMacaddr: KMacaddr, OBit: KBit, OVarbit: KBit, OPoint: KGeometry,
	OLseg: KGeometry, OPath: KGeometry, OBox: KGeometry, OPolygon: KGeometry, OLine: KGeometry, OCircle: KGeometry, OMoney: KMoney,
	OMacaddr8: KWord, OXid8: KWord, OPgLSN: KWord, OTid: KWord,
	OInt2Vector: KArray, OOidVector: KArray,
	OUnknown: KText, OCstring: KText, ORecord: KRecord, OVoid: KVoid, ORecordArr: KArray,
	// anyarray columns of the statistics catalogs hold arrays.
	OAnyarray: KArray,
}

func kindOf(in *Info) Kind {
	if k, ok := kindByOID[in.OID]; ok {
		return k
	}
	switch {
	case in.Type == 'c':
		return KRecord
	case in.Type == 'p':
		return KPseudo
	case in.Type == 'r':
		return KRange
	case in.Type == 'm':
		return KMultirange
	case in.Category == 'A':
		return KArray
	}
	// Everything else is held as its text: text, varchar, name, xml …
	return KText
}
