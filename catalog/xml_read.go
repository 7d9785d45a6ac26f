package catalog

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// xmlReader turns elements into objects. It remembers its first fault; what it
// returns after that is not used.
type xmlReader struct {
	err error
	// ids: the elements are fragments, which refer by OID and position.
	ids bool
	doc *docScope // names of the document; nil for fragments
	// oldTids tells that tids may be texts.
	oldTids bool
	// usedFuncs are the collected OIDs of functions that an element has.
	usedFuncs map[types.OID]bool
	// values are the states of the document's sequences.
	values []SequenceValue
}

func (r *xmlReader) fail(e *element, code sqlerr.Code, format string, args ...any) {
	if r.err == nil {
		r.err = e.fail(code, format, args...)
	}
}

func (r *xmlReader) check(err error) {
	if r.err == nil {
		r.err = err
	}
}

// known reports unknown attributes and children of e.
func (r *xmlReader) known(e *element, children ...string) { r.check(e.known(children...)) }

// each returns the items of a list element.
func (r *xmlReader) each(e *element, list string, items ...string) []*element {
	out, err := e.each(list, items...)
	r.check(err)
	return out
}

// str returns an attribute that may be missing.
func (r *xmlReader) str(e *element, name string) string {
	v, _ := e.attr(name)
	return v
}

// need returns an attribute that must be there and not be empty.
func (r *xmlReader) need(e *element, name string) string {
	v, ok := e.attr(name)
	if !ok || v == "" {
		r.fail(e, codeXML, "attribute \"%s\" is missing", name)
	}
	return v
}

func (r *xmlReader) flag(e *element, name string) bool { return r.flagOr(e, name, false) }

func (r *xmlReader) flagOr(e *element, name string, otherwise bool) bool {
	v, ok := e.attr(name)
	if !ok {
		return otherwise
	}
	switch v {
	case "0":
		return false
	case "1":
		return true
	}
	r.fail(e, codeXML, "attribute \"%s\" must be 0 or 1, not \"%s\"", name, v)
	return false
}

func (r *xmlReader) num(e *element, name string, lo, hi, otherwise int64) int64 {
	v, ok := e.attr(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < lo || n > hi {
		r.fail(e, codeXML, "attribute \"%s\" must be a number from %d to %d, not \"%s\"", name, lo, hi, v)
		return otherwise
	}
	return n
}

func (r *xmlReader) float(e *element, name string) float64 {
	v, ok := e.attr(name)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		r.fail(e, codeXML, "attribute \"%s\" must be a number, not \"%s\"", name, v)
	}
	return f
}

func (r *xmlReader) oid(e *element, name string) types.OID {
	return types.OID(r.num(e, name, 0, math.MaxUint32, 0))
}

func (r *xmlReader) char(e *element, name, allowed string, otherwise byte) byte {
	v, ok := e.attr(name)
	if !ok {
		return otherwise
	}
	if len(v) != 1 || !strings.Contains(allowed, v) {
		r.fail(e, codeXML, "attribute \"%s\" must be one of the letters %s, not \"%s\"", name, allowed, v)
		return otherwise
	}
	return v[0]
}

// counters are the next identifiers to give out, and the form of what is stored.
type counters struct {
	OID   types.OID
	Space SpaceID
	Form  int
}

func decodeFragment(fragment []byte, form int) (Object, *counters, error) {
	root, err := parseXML(bytes.NewReader(fragment))
	if err != nil {
		return nil, nil, err
	}
	r := &xmlReader{ids: true, oldTids: form < newestForm}
	if root.name == "Counters" {
		n := &counters{OID: r.oid(root, "nextOID"), Space: SpaceID(r.num(root, "nextSpace", 0, math.MaxInt64, 0)),
			Form: int(r.num(root, "form", 2, newestForm, 1))}
		r.known(root)
		return nil, n, r.err
	}
	o := r.object(root, Common{})
	if r.err != nil {
		return nil, nil, r.err
	}
	return o, nil, nil
}

// object reads one object's element. In documents c has the OID and database
// that the reader chose.
func (r *xmlReader) object(e *element, c Common) Object {
	switch e.name {
	case "DataBase":
		d := &Database{Common: r.common(e, c, "dataBaseName")}
		r.connections(e, d)
		if r.ids {
			d.LargeObjects.Metadata = SpaceID(r.num(e, "largeObjectSpace", 0, math.MaxInt64, 0))
			d.LargeObjects.Pages = SpaceID(r.num(e, "pageSpace", 0, math.MaxInt64, 0))
		}
		d.Settings = r.settings(e, "Settings")
		d.Defaults, d.Notes = r.defaultPrivileges(e), r.notes(e)
		r.known(e, "Settings", "DefaultPrivileges", "SystemNotes")
		return d
	case "Schema":
		n := &Schema{r.common(e, c, "schemaName")}
		r.known(e)
		return n
	case "Role":
		return r.role(e, c)
	case "Table":
		return r.table(e, c)
	case "View", "MaterializedView":
		return r.view(e, c)
	case "Sequence":
		return r.sequence(e, c)
	case "EnumType", "DomainType", "CompositeType", "RangeType", "MultirangeType":
		return r.userType(e, c)
	case "Function":
		return r.function(e, c)
	case "Operator":
		return r.operator(e, c)
	case "Cast":
		return r.cast(e, c)
	case "Policy":
		return r.policy(e, c)
	case "ExtendedStatistics":
		return r.extStats(e, c)
	case "Extension":
		return r.extension(e, c)
	case "TableStatistics":
		return r.stats(e, c)
	}
	r.fail(e, codeXML, "is not known")
	return nil
}

// common reads what every object has.
func (r *xmlReader) common(e *element, c Common, nameAttr string) Common {
	if r.ids {
		c.OID, c.DB = r.oid(e, "oid"), r.oid(e, "db")
		if c.OID == 0 {
			r.fail(e, codeXML, "attribute \"oid\" is missing")
		}
	}
	if nameAttr != "" {
		if nameAttr == "dataBaseName" {
			// The founding documents use both spellings.
			if v, ok := e.attr("dbName"); ok {
				c.Name = v
			}
		}
		if c.Name == "" {
			c.Name = r.need(e, nameAttr)
		}
		if len(c.Name) > maxNameLen {
			r.fail(e, sqlerr.NameTooLong, "attribute \"%s\": name is longer than %d bytes", nameAttr, maxNameLen)
		}
	}
	c.Schema = r.str(e, "schema")
	if c.Owner = r.str(e, "owner"); c.Owner == "" && r.doc != nil {
		c.Owner = r.doc.owner
	}
	c.Comment = r.str(e, "comment")
	c.ACL = r.acl(e)
	c.Bindings = r.bindings(e)
	return c
}

// connections reads who may connect to a database, and copy it. Older documents do
// not tell of the templates, and say nothing where the value is the usual one.
func (r *xmlReader) connections(e *element, d *Database) {
	d.ConnLimit = int(r.num(e, "connLimit", -1, math.MaxInt32, -1))
	d.Closed = r.flagOr(e, "closed", d.OID == OIDTemplate0)
	d.Template = r.flagOr(e, "template", d.OID == OIDTemplate0 || d.OID == OIDTemplate1)
}

// acl reads an attribute that aclAttr wrote.
func (r *xmlReader) acl(e *element) ACL {
	v, ok := e.attr("acl")
	if !ok {
		return nil
	}
	acl, err := parseACL(v)
	if err != nil {
		r.fail(e, codeXML, "attribute \"acl\": %v", err)
	}
	return acl
}

// defaultPrivileges reads what xmlWriter.defaultPrivileges wrote.
func (r *xmlReader) defaultPrivileges(e *element) []DefaultPrivileges {
	var out []DefaultPrivileges
	for _, d := range r.each(e, "DefaultPrivileges", "DefaultPrivilege") {
		out = append(out, DefaultPrivileges{Role: r.need(d, "roleName"), Schema: r.str(d, "schema"),
			Kind: ACLKind(r.char(d, "objects", "rsfTn", 'r')), ACL: r.acl(d)})
		r.known(d)
	}
	return out
}

// schemaOf is the schema attribute of an object inside a database; documents
// leave out "public".
func (r *xmlReader) schemaOf(c *Common) {
	if c.Schema == "" && !r.ids {
		c.Schema = SchemaPublic
	}
}

func (r *xmlReader) settings(e *element, list string) map[string]string {
	given := r.options(e, list, "Setting")
	if given == nil {
		return nil
	}
	return given.Map()
}

// options reads pairs of which the order matters.
func (r *xmlReader) options(e *element, list, item string) Options {
	var out Options
	for _, p := range r.each(e, list, item) {
		k := r.need(p, "name")
		if _, twice := out.Get(k); twice {
			r.fail(p, codeXML, "attribute \"name\": \"%s\" is given twice", k)
		}
		out = append(out, Option{k, r.str(p, "value")})
		r.known(p)
	}
	return out
}

func (r *xmlReader) role(e *element, c Common) Object {
	role := &Role{Common: r.common(e, c, "roleName")}
	role.Owner = r.str(e, "owner")
	role.Super, role.Login = r.flag(e, "super"), r.flag(e, "login")
	role.CreateDB, role.CreateRole = r.flag(e, "createDB"), r.flag(e, "createRole")
	role.Inherit, role.Replication = r.flag(e, "inherit"), r.flag(e, "replication")
	role.BypassRLS = r.flag(e, "bypassRLS")
	role.ValidUntil = r.num(e, "validUntil", math.MinInt64, math.MaxInt64, 0)
	role.ConnLimit = int(r.num(e, "connLimit", -1, math.MaxInt32, -1))
	if r.ids {
		role.Verifier = r.str(e, "verifier")
	}
	for _, ch := range e.children {
		if ch.name == "memberOf" {
			role.MemberOf = append(role.MemberOf, ch.content())
			if r.flag(ch, "admin") {
				role.AdminOf = append(role.AdminOf, ch.content())
			}
			r.known(ch)
		}
	}
	role.Settings = r.settings(e, "Settings")
	for _, p := range r.each(e, "DatabaseSettings", "Setting") {
		if role.InDatabase == nil {
			role.InDatabase = make(map[string]map[string]string)
		}
		db, k := r.need(p, "database"), r.need(p, "name")
		if role.InDatabase[db] == nil {
			role.InDatabase[db] = make(map[string]string)
		}
		if _, twice := role.InDatabase[db][k]; twice {
			r.fail(p, codeXML, "attribute \"name\": \"%s\" is given twice", k)
		}
		role.InDatabase[db][k] = r.str(p, "value")
		r.known(p)
	}
	role.Everybody, role.Notes = r.settings(e, "Everybody"), r.notes(e)
	r.known(e, "memberOf", "Settings", "DatabaseSettings", "Everybody", "SystemNotes")
	return role
}

func (r *xmlReader) sequence(e *element, c Common) Object {
	q := &Sequence{Common: r.common(e, c, "sequenceName")}
	r.schemaOf(&q.Common)
	q.Type = types.TInt8
	if _, ok := e.attr("type"); ok {
		q.Type = r.typ(e, "type")
	}
	q.Inc = r.num(e, "increment", math.MinInt64, math.MaxInt64, 1)
	q.Min = r.num(e, "min", math.MinInt64, math.MaxInt64, 1)
	q.Max = r.num(e, "max", math.MinInt64, math.MaxInt64, math.MaxInt64)
	q.Start = r.num(e, "start", math.MinInt64, math.MaxInt64, q.Min)
	q.Cache = r.num(e, "cache", 1, math.MaxInt64, 1)
	q.Cycle, q.Identity, q.Temp, q.Unlogged = r.flag(e, "cycle"), r.flag(e, "identity"), r.flag(e, "temp"), r.flag(e, "unlogged")
	if _, ok := e.attr("lastValue"); ok && !r.ids {
		r.values = append(r.values, SequenceValue{Sequence: q, Called: r.flag(e, "isCalled"),
			Last: r.num(e, "lastValue", q.Min, q.Max, q.Start)})
	}
	if r.ids {
		q.OwnerTable = r.oid(e, "ownerTable")
		if q.OwnerTable != 0 {
			q.OwnerCol = int(r.num(e, "ownerPosition", 1, math.MaxInt32, 1)) - 1
		}
	} else if name, ok := e.attr("ownerTable"); ok {
		if rel := r.relation(e, "ownerTable", r.str(e, "ownerSchema"), name); rel != nil {
			q.OwnerTable = rel.oid
			q.OwnerCol = r.columnOf(e, "ownerAttribute", rel, r.need(e, "ownerAttribute"))
		}
	}
	r.known(e)
	return q
}

func (r *xmlReader) userType(e *element, c Common) Object {
	u := &UserType{Common: r.common(e, c, "typeName")}
	r.schemaOf(&u.Common)
	if r.ids {
		u.Array, u.RelOID = r.oid(e, "array"), r.oid(e, "relation")
	} else if d := r.doc.types[docName{u.Schema, u.Name}]; d != nil {
		u.Array, u.RelOID = d.array, d.rel
	}
	switch e.name {
	case "EnumType":
		u.Kind = 'e'
		for i, l := range e.children {
			if l.name != "Label" {
				continue
			}
			label := EnumLabel{OID: r.oid(l, "oid"), Label: l.content(), Order: float64(i + 1)}
			if _, ok := l.attr("order"); ok {
				label.Order = r.float(l, "order")
			}
			if !r.ids {
				label.OID = r.doc.alloc.AllocOID()
			}
			r.known(l)
			u.Labels = append(u.Labels, label)
		}
		r.known(e, "Label")
	case "DomainType":
		u.Kind = 'd'
		u.Base = r.typ(e, "type")
		u.Collation = r.str(e, "collation")
		u.NotNull = !r.flagOr(e, "isnull", true)
		u.Default = r.str(e, "default")
		u.Checks = r.checks(e, nil)
		r.known(e, "checks")
	case "RangeType", "MultirangeType":
		r.rangeType(e, u)
	case "CompositeType":
		u.Kind = 'c'
		u.Columns = r.attributes(e.children, e)
		r.known(e, "Attribute")
	}
	return u
}

func (r *xmlReader) function(e *element, c Common) Object {
	f := &Function{Common: r.common(e, c, "functionName")}
	r.schemaOf(&f.Common)
	f.Ret = r.typ(e, "returns")
	f.RetSet, f.Strict, f.Procedure = r.flag(e, "returnsSet"), r.flag(e, "strict"), r.flag(e, "procedure")
	f.Window = r.flag(e, "window")
	f.Volatile = r.char(e, "volatility", "isv", 'v')
	f.Standard, f.Definer, f.LeakProof = r.flag(e, "standardBody"), r.flag(e, "securityDefiner"), r.flag(e, "leakProof")
	f.Parallel = r.char(e, "parallel", "sru", 'u')
	f.Cost, f.Rows = defaultCost, f.defaultRows()
	if _, ok := e.attr("cost"); ok {
		f.Cost = r.float(e, "cost")
	}
	if _, ok := e.attr("rows"); ok {
		f.Rows = r.float(e, "rows")
	}
	if f.Language = r.str(e, "language"); f.Language == "" {
		f.Language = "sql"
	}
	f.RangeType, f.Extension = r.rangeRef(e), r.str(e, "extension")
	for _, ch := range e.children {
		switch ch.name {
		case "Argument":
			f.Args = append(f.Args, r.typ(ch, "type"))
			name, _ := ch.attr("argumentName")
			f.ArgNames = append(f.ArgNames, name)
			if m, ok := ch.attr("mode"); ok {
				f.ArgModes = append(f.ArgModes, r.char(ch, "mode", "iobvt", 'i'))
				_ = m
			}
		case "Setting":
			f.Config = append(f.Config, r.need(ch, "name")+"="+r.str(ch, "value"))
		case "Default":
			f.Defaults = append(f.Defaults, ch.content())
		case "Body":
			f.Body = ch.content()
		case "Aggregate":
			f.Agg = r.aggregate(ch)
		}
		r.known(ch)
	}
	if len(f.ArgModes) > 0 && len(f.ArgModes) != len(f.Args) {
		r.fail(e, codeXML, "either all arguments have the attribute \"mode\" or none")
	}
	if strings.Join(f.ArgNames, "") == "" {
		f.ArgNames = nil
	}
	r.known(e, "Argument", "Default", "Setting", "Body", "Aggregate")
	return f
}

func (r *xmlReader) stats(e *element, c Common) Object {
	st := &Stats{}
	if r.ids {
		st.Common = r.common(e, c, "")
		st.Table = r.oid(e, "table")
	} else {
		st.Common = Common{OID: c.OID, DB: c.DB}
		if rel := r.relation(e, "tableName", r.str(e, "schema"), r.need(e, "tableName")); rel != nil {
			st.Table = rel.oid
		}
	}
	st.Rows, st.Pages = r.float(e, "rows"), r.float(e, "pages")
	for i, ce := range e.children {
		if pos := r.num(ce, "position", 1, MaxColumns, int64(i+1)); pos != int64(i+1) {
			r.fail(ce, codeXML, "attribute \"position\" must be %d", i+1)
		}
		col := ColStats{NullFrac: r.float(ce, "nullFraction"), NDistinct: r.float(ce, "distinct"),
			AvgWidth: r.float(ce, "averageWidth"), Correlation: r.float(ce, "correlation")}
		for _, v := range ce.children {
			switch v.name {
			case "Common":
				col.MCF = append(col.MCF, r.float(v, "frequency"))
				col.MCV = append(col.MCV, r.datum(v))
			case "Bound":
				col.Histogram = append(col.Histogram, r.datum(v))
			case "Element":
				col.ElemFreq = append(col.ElemFreq, r.float(v, "frequency"))
				col.Elems = append(col.Elems, r.datum(v))
			}
		}
		if len(col.Elems) > 0 {
			col.ElemRest, col.ElemNull = r.float(ce, "otherElements"), r.float(ce, "nullElements")
		}
		if r.oldTids && len(col.Histogram) > 0 && col.Histogram[0].T.OID == types.OTid { // texts have another order
			slices.SortFunc(col.Histogram, func(a, b types.Datum) int { return bytes.Compare(a.B, b.B) })
		}
		r.known(ce, "Common", "Bound", "Element")
		st.Cols = append(st.Cols, col)
	}
	r.known(e, "AttributeStatistics")
	return st
}

// datum reads a value that xmlWriter.datum wrote.
func (r *xmlReader) datum(e *element) types.Datum {
	d := types.Datum{T: r.typ(e, "type")}
	d.Null = r.flag(e, "null")
	encoding := r.str(e, "encoding")
	r.known(e)
	if d.Null || r.err != nil {
		return d
	}
	text := e.content()
	var err error
	switch d.T.Rep() {
	case types.RepBool, types.RepInt:
		d.I, err = strconv.ParseInt(text, 10, 64)
	case types.RepFloat:
		d.F, err = strconv.ParseFloat(text, 64)
	case types.RepDec:
		d.Dec, err = types.ParseDecimal(text)
	case types.RepInterval:
		d.Iv, err = parseInterval(text)
	default:
		d.B = []byte(text)
		if encoding == "base64" {
			d.B, err = base64.StdEncoding.DecodeString(text)
		}
		if r.oldTids {
			d.B, _ = types.RenewTid(d.T, d.B)
		}
	}
	if err != nil {
		r.fail(e, codeXML, "value \"%s\" cannot be read: %v", clipName(text, 40), err)
	}
	return d
}

func parseInterval(text string) (types.Interval, error) {
	var n [3]int64
	parts := strings.Fields(text)
	if len(parts) != len(n) {
		return types.Interval{}, sqlerr.New(codeXML, "an interval is months, days and microseconds")
	}
	for i, p := range parts {
		bits := 32
		if i == 2 {
			bits = 64
		}
		v, err := strconv.ParseInt(p, 10, bits)
		if err != nil {
			return types.Interval{}, err
		}
		n[i] = v
	}
	return types.Interval{Months: int32(n[0]), Days: int32(n[1]), Micros: n[2]}, nil
}
