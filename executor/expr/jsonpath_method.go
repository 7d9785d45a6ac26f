package expr

import (
	"math"

	"strconv"
	"strings"
	"sync"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/jsonpath"
)

// keyValueStride separates the numbers that .keyvalue() gives to the objects of
// one document.
const keyValueStride = 10_000_000_000

var pathTypeNames = map[types.OID]string{
	types.ODate: "date", types.OTime: "time without time zone", types.OTimetz: "time with time zone",
	types.OTimestamp: "timestamp without time zone", types.OTimestamptz: "timestamp with time zone",
}

// method evaluates .type() and its like.
func (r *pathRun) method(it *jsonpath.Item, v pathItem, unwrap bool, emit emitItem) (bool, error) {
	switch it.Kind {
	case jsonpath.Type:
		name := "number"
		if v.time != nil {
			name = pathTypeNames[v.time.T.OID]
		} else if !v.isNumber() {
			name = kindName(v.b)
		}
		return r.next(it, textItem(name), emit)
	case jsonpath.Size:
		n := 1
		switch {
		case v.kind() == '[':
			n = int(jsonCount(v.b))
		case !r.lax() && !r.loose:
			return false, pathFail(sqlerr.JSONArrayNotFound, "jsonpath item method .size() can only be applied to an array")
		case !r.lax():
			return true, nil
		}
		return r.next(it, pathItem{b: strconv.AppendInt(nil, int64(n), 10)}, emit)
	}
	if unwrap && v.kind() == '[' {
		return r.unwrapped(it, v, emit)
	}
	var x pathItem
	var err error
	switch it.Kind {
	case jsonpath.Double:
		x, err = r.double(v)
	case jsonpath.Datetime:
		x, err = r.datetime(it, v)
	case jsonpath.KeyValue:
		return r.keyValue(it, v, emit)
	default:
		if !v.isNumber() {
			return false, pathFail(sqlerr.NonNumericJSONItem, "jsonpath item method .%s() can only be applied to a numeric value", it.Kind.Method())
		}
		d := v.number()
		switch it.Kind {
		case jsonpath.Abs:
			d = d.Abs()
		case jsonpath.Floor:
			d = d.Floor()
		default:
			d = d.Ceil()
		}
		x.b = d.AppendText(nil)
	}
	if err != nil {
		return false, err
	}
	return r.next(it, x, emit)
}

func (r *pathRun) double(v pathItem) (pathItem, error) {
	text, what := string(v.b), "numeric"
	switch {
	case v.kind() == '"':
		text, what = string(jsonString(v.b)), "string"
	case !v.isNumber():
		return v, pathFail(sqlerr.NonNumericJSONItem, "jsonpath item method .double() can only be applied to a string or numeric value")
	}
	f, err := types.Parse(types.TFloat8, text, r.c.env.Fmt)
	if err != nil || f.F-f.F != 0 || math.IsNaN(f.F) {
		if what == "string" {
			return v, pathFail(sqlerr.NonNumericJSONItem, "string argument of jsonpath item method .double() is not a valid representation of a double precision number")
		}
		return v, pathFail(sqlerr.NonNumericJSONItem, "numeric argument of jsonpath item method .double() is out of range for type double precision")
	}
	if what == "numeric" {
		return v, nil
	}
	return pathItem{b: types.DecimalFromFloat(f.F).AppendText(nil)}, nil
}

// keyValue gives the members of an object as objects. The id tells which
// object a member is of: it is where the object stands in the document's binary form.
func (r *pathRun) keyValue(it *jsonpath.Item, v pathItem, emit emitItem) (more bool, err error) {
	if v.kind() != '{' {
		return false, pathFail(sqlerr.JSONObjectNotFound, "jsonpath item method .keyvalue() can only be applied to an object")
	}
	id := int64(0)
	if off := cap(r.root) - cap(v.b); cap(r.root) > 0 && off > 0 && off < len(r.root) {
		if r.places == nil {
			r.places = jsonbPlaces(r.root)
		}
		id = int64(r.places[cap(v.b)])
	} else if off != 0 {
		id = keyValueStride
	}
	more = true
	eachMember(v.b, func(k, m []byte) bool {
		b := strconv.AppendInt([]byte(`{"id": `), id, 10)
		b = append(append(b, `, "key": `...), k...)
		b = append(append(append(b, `, "value": `...), m...), '}')
		more, err = r.next(it, pathItem{b: b}, emit)
		return more && err == nil
	})
	return more, err
}

// pathTimes are the templates of the texts that datetime() reads without one.
var pathTimes = sync.OnceValue(func() (out [][]dateNode) {
	times := []string{"HH24:MI:SS.USTZH:TZM", "HH24:MI:SS.USTZH", "HH24:MI:SS.US", "HH24:MI:SSTZH:TZM", "HH24:MI:SSTZH", "HH24:MI:SS"}
	forms := append([]string{"yyyy-mm-dd"}, times...)
	for _, t := range times {
		forms = append(forms, "yyyy-mm-dd "+t, `yyyy-mm-dd"T"`+t)
	}
	for _, f := range forms {
		nodes, _ := parseDateTemplate(f, nil)
		out = append(out, nodes)
	}
	return out
})

func (r *pathRun) datetime(it *jsonpath.Item, v pathItem) (pathItem, error) {
	if v.kind() != '"' {
		return v, pathFail(sqlerr.InvalidJSONDatetime, "jsonpath item method .datetime() can only be applied to a string")
	}
	text := string(jsonString(v.b))
	if it.Left != nil {
		if err := r.c.room(compiledBytes * int64(len(it.Left.Text))); err != nil {
			return v, err
		}
		nodes, err := parseDateTemplate(it.Left.Text, r.c.poll())
		if err != nil {
			return v, err
		}
		d, zone, err := timeByNodes(text, nodes)
		if err != nil {
			return v, pathError{err}
		}
		return timeItem(d, zone, r.c), nil
	}
	for _, nodes := range pathTimes() {
		if d, zone, err := timeByNodes(text, nodes); err == nil {
			return timeItem(d, zone, r.c), nil
		}
	}
	return v, pathError{sqlerr.New(sqlerr.InvalidJSONDatetime, "datetime format is not recognized: \"%s\"", text).
		WithHint("Use a datetime template argument to specify the input data format.")}
}

// timeByNodes reads a date or time by a template, all of it, and returns the type that
// the template's fields ask for.
func timeByNodes(text string, nodes []dateNode) (d types.Datum, zone int, err error) {
	var hasDate, hasTime, hasZone bool
	for _, n := range nodes {
		switch n.key {
		case keyLiteral:
			if n.bare && !strings.Contains("-./,':; ", n.text) {
				return d, 0, badDateTime("invalid datetime format separator: \"%s\"", n.text)
			}
		case keyFX:
		case keyTZ, keyOF, keyTZH, keyTZM:
			hasZone = true
		case keyHH24, keyHH12, keyMI, keySS, keySSSS, keyMS, keyUS, keyFF, keyAMPM, keyAMPMDots:
			hasTime = true
		default:
			hasDate = true
		}
	}
	p, err := parseByTemplate(text, nodes, true)
	if err != nil {
		return d, 0, err
	}
	switch {
	case hasDate && hasZone && !hasTime:
		return d, 0, badDateTime("datetime format is zoned but not timed")
	case hasDate && !hasTime:
		day, err := p.date()
		return types.Int(types.Of(types.ODate), day), 0, err
	case !hasDate && hasTime:
		p.year, p.month, p.day = 2000, 1, 1
	}
	ts, err := p.local()
	if err != nil {
		return d, 0, err
	}
	t := types.OTimestamp
	switch {
	case hasDate && hasTime && hasZone:
		t = types.OTimestamptz
	case hasTime && hasZone && !hasDate:
		t = types.OTimetz
	case hasTime && !hasDate:
		return types.Int(types.Of(types.OTime), types.TimestampTime(ts)), 0, nil
	case !hasDate:
		return d, 0, badDateTime("datetime format is not dated and not timed")
	}
	if zone = p.zone(); hasZone && p.zoneSign == 0 {
		return d, 0, badDateTime("missing time zone in input string for type %s", types.Lookup(t).Name)
	}
	switch t {
	case types.OTimestamptz:
		return types.Int(types.Of(t), ts-int64(zone)*1e6), zone, nil
	case types.OTimetz:
		return types.Timetz(types.TimestampTime(ts), int32(-zone)), zone, nil
	}
	return types.Int(types.Of(t), ts), 0, nil
}

// timeItem makes an item of a date or time; its text is in the zone it was
// given with.
func timeItem(d types.Datum, zone int, c *callCtx) pathItem {
	o := *c.env.Fmt
	if d.T.OID == types.OTimestamptz {
		o.Loc = types.FixedZone(zone)
	}
	b := appendJSONTime(&Env{Fmt: &o}, nil, d)
	if d.T.OID == types.OTimetz && len(b) > 4 && b[len(b)-5] != ':' && (b[len(b)-4] == '+' || b[len(b)-4] == '-') {
		b = append(b[:len(b)-1], `:00"`...)
	}
	return pathItem{b: b, time: &d, zone: zone}
}
