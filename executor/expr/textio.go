package expr

import (
	"math"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// ioTypes are the types whose input, output and send functions can be called. A
// receive function reads what only the protocol has.
var ioTypes = []types.OID{
	types.OBool, types.OBytea, types.OChar, types.OName, types.OInt8, types.OInt2, types.OInt2Vector, types.OInt4, types.ORegproc,
	types.OText, types.OOid, types.OTid, types.OXid, types.OCid, types.OOidVector, types.OJSON, types.OPoint, types.OFloat4,
	types.OFloat8, types.OUnknown, types.OMacaddr, types.OInet, types.OCidr, types.OBpchar, types.OVarchar, types.ODate, types.OTime,
	types.OTimestamp, types.OTimestamptz, types.OInterval, types.OTimetz, types.OBit, types.OVarbit, types.ONumeric,
	types.ORegprocedure, types.ORegoper, types.ORegoperator, types.ORegclass, types.ORegtype, types.ORegrole, types.ORegnamespace,
	types.ORegcollation, types.OUUID, types.OJSONB, types.OJSONPath, types.ORecord, types.OCstring, types.OVoid, types.OMacaddr8,
	types.OXid8, types.OPgLSN, types.OTxidSnapshot, types.OPgSnapshot, types.OInt4Arr, types.OLseg, types.OPath,
	types.OBox, types.OPolygon, types.OLine, types.OCircle, types.OMoney, int4Range, int4Multirange,
}

// One type of each kind stands for all.
const (
	int4Range      types.OID = 3904
	int4Multirange types.OID = 4451
)

// genericInput are the input functions whose result is of a type that the call's
// arguments name. There are no values of a type that is not known before.
var genericInput = map[string]bool{"range_in": true, "multirange_in": true, "record_in": true}

// pseudoTypes are those that have input and output functions and no values.
var pseudoTypes = []types.OID{
	types.OAny, types.OAnyelement, types.OAnynonarray, types.OAnycompatible, types.OAnycompatiblenonarray, types.OAnyarray,
	types.OAnycompatiblearray, types.OAnyenum, types.OAnyrange, types.OAnycompatiblerange, types.OAnymultirange,
	types.OAnycompatiblemultirange,
}

// textIOFuncs registers the functions that types are read and written with.
func textIOFuncs(r *registry) {
	output := fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Bytes(c.call.T, c.keep(appendText(c.env, c.buf[:0], a[0]))), nil
	})
	send := fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Bytes(c.call.T, c.keep(types.AppendClient(c.buf[:0], a[0], c.env.Fmt))), nil
	})
	add := func(b builder, proc types.OID) {
		if p := catalog.ProcByOID(proc); p != nil && r.scalar[p.Src] == nil {
			r.add(b, p.Src)
		}
	}
	for _, o := range ioTypes {
		in := types.Lookup(o)
		switch p := catalog.ProcByOID(in.In); {
		case p.Src == "array_in":
			add(fnD(inputArray), in.In)
		case !genericInput[p.Src]:
			add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return input(c, types.Of(o), a) }), in.In)
		}
		add(output, in.Out)
		if o != int4Multirange && o != int4Range {
			add(send, in.Send)
		}
	}
	r.add(send, "range_send", "multirange_send", "enum_send")
	r.add(output, "enum_out")

	for _, o := range pseudoTypes {
		in := types.Lookup(o)
		add(fnD(func(c *callCtx, _ []types.Datum) (types.Datum, error) {
			return null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s", in.SQLName)
		}), in.In)
		switch o {
		case types.OAny, types.OAnyelement, types.OAnynonarray, types.OAnycompatible, types.OAnycompatiblenonarray:
			add(fnD(func(c *callCtx, _ []types.Datum) (types.Datum, error) {
				return null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot display a value of type %s", in.Name)
			}), in.Out)
		default:
			add(output, in.Out)
			add(send, in.Send)
		}
	}
	shell := fnD(func(*callCtx, []types.Datum) (types.Datum, error) {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of a shell type")
	})
	r.add(shell, "shell_in")
	r.add(fnD(func(*callCtx, []types.Datum) (types.Datum, error) {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot display a value of a shell type")
	}), "shell_out")
	lengthFuncs(r)
}

// input reads the first argument as a value of type t, with the modifier that the
// third argument may give.
func input(c *callCtx, t types.T, a []types.Datum) (types.Datum, error) {
	if len(a) == 3 && a[2].I >= 0 {
		t.Mod = int32(a[2].I)
	}
	d, err := parseText(c.env, t, string(a[0].B))
	if err != nil || t.Mod < 0 {
		return d, err
	}
	if d, err = types.ApplyMod(d, t, false); err != nil || t.OID != types.OBpchar {
		return d, err
	}
	// The result's type has no length: the value shows its blanks.
	return types.ApplyMod(d, types.TBpchar, false)
}

// inputArray reads an array of the type that the second argument names.
func inputArray(c *callCtx, a []types.Datum) (types.Datum, error) {
	o := types.ArrayOf(types.OID(a[1].I))
	if o == 0 {
		return null, sqlerr.Unsupported(c.call.Off, "function %s for elements of the type with OID %d", c.call.Proc.Name, a[1].I)
	}
	return input(c, types.Of(o), a)
}

// lengthFuncs registers the functions that apply a type's modifier.
func lengthFuncs(r *registry) {
	apply := fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		d, t := a[0], c.call.T
		if a[1].I < 4 && (t.OID == types.OBpchar || t.OID == types.OVarchar || t.OID == types.ONumeric) {
			return types.ApplyMod(d, t, false) // no modifier: it counts from 4
		}
		t.Mod = int32(a[1].I)
		out, err := types.ApplyMod(d, t, len(a) == 3 && a[2].I != 0)
		if err != nil || t.OID != types.OBpchar {
			return out, err
		}
		return types.ApplyMod(out, types.TBpchar, false)
	})
	for src, o := range map[string]types.OID{
		"intervaltypmodout": types.OInterval, "timestamptypmodout": types.OTimestamp, "timestamptztypmodout": types.OTimestamptz,
		"timetypmodout": types.OTime, "timetztypmodout": types.OTimetz, "bpchartypmodout": types.OBpchar,
		"varchartypmodout": types.OVarchar, "numerictypmodout": types.ONumeric, "bittypmodout": types.OBit, "varbittypmodout": types.OVarbit,
	} {
		name, _, _ := strings.Cut(types.FormatType(types.T{OID: o, Mod: 65536*3 + 5}), "(")
		if o == types.OInterval {
			name = "interval"
		}
		r.add(fn1(func(_ *callCtx, mod int64) ([]byte, error) {
			if o == types.ONumeric && mod < 4 {
				return nil, nil
			}
			shown, ok := strings.CutPrefix(types.FormatType(types.T{OID: o, Mod: int32(mod)}), name)
			if !ok {
				return nil, nil
			}
			return []byte(shown), nil
		}), src)
	}
	r.add(fn1(func(_ *callCtx, v int64) (int64, error) {
		if v == 0 {
			return math.MaxInt32, nil
		}
		return int64(int32(1 - uint32(v))), nil // no number of several lockers was ever given
	}), "mxid_age")
	r.add(apply, "bpchar", "varchar", "numeric", "time_scale", "timetz_scale", "timestamp_scale", "timestamptz_scale", "interval_scale")
}
