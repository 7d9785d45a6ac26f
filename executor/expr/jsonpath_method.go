package expr

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

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
			n = len(jsonElements(v.b))
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
// object a member is of: it is made of where the object stands in the document.
func (r *pathRun) keyValue(it *jsonpath.Item, v pathItem, emit emitItem) (more bool, err error) {
	if v.kind() != '{' {
		return false, pathFail(sqlerr.JSONObjectNotFound, "jsonpath item method .keyvalue() can only be applied to an object")
	}
	id := int64(0)
	if off := cap(r.root) - cap(v.b); cap(r.root) > 0 && off > 0 && off < len(r.root) {
		id = int64(off)
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

// pathTimes are the forms that .datetime() knows without a template.
var pathTimes = []struct {
	form *regexp.Regexp
	t    types.OID
}{
	{regexp.MustCompile(`^\d{1,4}-\d{1,2}-\d{1,2}$`), types.ODate},
	{regexp.MustCompile(`^\d{1,2}:\d{1,2}:\d{1,2}[+-]\d{1,2}(:\d{1,2})?$`), types.OTimetz},
	{regexp.MustCompile(`^\d{1,2}:\d{1,2}:\d{1,2}$`), types.OTime},
	{regexp.MustCompile(`^\d{1,4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{1,2}:\d{1,2}[+-]\d{1,2}(:\d{1,2})?$`), types.OTimestamptz},
	{regexp.MustCompile(`^\d{1,4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{1,2}:\d{1,2}$`), types.OTimestamp},
}

func (r *pathRun) datetime(it *jsonpath.Item, v pathItem) (pathItem, error) {
	if v.kind() != '"' {
		return v, pathFail(sqlerr.InvalidJSONDatetime, "jsonpath item method .datetime() can only be applied to a string")
	}
	text := string(jsonString(v.b))
	if it.Left != nil {
		d, zone, err := timeByTemplate(text, it.Left.Text, r.c)
		if err != nil {
			return v, pathError{err}
		}
		return timeItem(d, zone, r.c), nil
	}
	for _, f := range pathTimes {
		if !f.form.MatchString(text) {
			continue
		}
		d, err := types.Parse(types.Of(f.t), text, &types.FmtOpts{DateOrder: types.OrderYMD, Loc: r.c.zone()})
		if err != nil {
			break
		}
		zone := 0
		if f.t == types.OTimestamptz || f.t == types.OTimetz {
			zone = zoneOf(text)
		}
		return timeItem(d, zone, r.c), nil
	}
	return v, pathError{sqlerr.New(sqlerr.InvalidJSONDatetime, "datetime format is not recognized: \"%s\"", text).
		WithHint("Use a datetime template argument to specify the input data format.")}
}

// zoneOf reads the offset at the end of a time, in seconds east.
func zoneOf(text string) int {
	at := strings.LastIndexAny(text, "+-")
	hours, minutes, _ := strings.Cut(text[at+1:], ":")
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	if text[at] == '-' {
		return -(h*3600 + m*60)
	}
	return h*3600 + m*60
}

// timeByTemplate reads a date or time by a template, all of it, and returns the
// type that the template's fields ask for.
func timeByTemplate(text, template string, c *callCtx) (d types.Datum, zone int, err error) {
	var hasDate, hasTime, hasZone bool
	for _, n := range parseDateTemplate(template) {
		switch n.key {
		case keyLiteral:
		case keyTZ, keyOF:
			return d, 0, sqlerr.Unsupported(-1, "formatting field \"TZ\" or \"OF\" in a datetime template")
		case keyTZH, keyTZM:
			hasZone = true
		case keyHH24, keyHH12, keyMI, keySS, keySSSS, keyMS, keyUS, keyFF, keyAMPM, keyAMPMDots:
			hasTime = true
		default:
			hasDate = true
		}
	}
	if hasZone && !hasTime {
		return d, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "missing time zone in input string for type timestamptz")
	}
	if !hasDate && !hasTime {
		return d, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "datetime format is not dated and not timed")
	}
	p, err := parseByTemplate(text, template)
	if err != nil {
		return d, 0, err
	}
	if p.s != "" {
		return d, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "trailing characters remain in input string after datetime format")
	}
	if hasZone && !p.zoned {
		return d, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "missing time zone in input string for type timestamptz")
	}
	zoned := p.zoned
	zone = p.zone
	if !hasDate {
		p.fields[keyYYYY], p.fields[keyMM], p.fields[keyDD] = 2000, 1, 1
	}
	p.zoned = p.zoned && hasDate
	ts, err := p.timestamp(time.UTC)
	switch {
	case err != nil:
		return d, 0, err
	case !hasTime:
		return types.Int(types.Of(types.ODate), types.TimestampToDate(ts)), 0, nil
	case !hasDate && zoned:
		return types.Timetz(types.TimestampTime(ts), int32(-zone)), zone, nil
	case !hasDate:
		return types.Int(types.Of(types.OTime), types.TimestampTime(ts)), 0, nil
	case zoned:
		return types.Int(types.Of(types.OTimestamptz), ts), zone, nil
	}
	return types.Int(types.Of(types.OTimestamp), ts), 0, nil
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
