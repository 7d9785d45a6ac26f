package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog/types"
)

// Each field of an object is kept by the XML. The test fills every field of
// every kind of object, by reflection, and looks which ones are empty after a
// fragment was written and read; a field that somebody adds without its XML is
// found this way.

// notKept are the fields that the XML does without, and why.
var notKept = map[string]string{
	"Table.Indexes[].Primary":                 "the primary key's index is written with the key",
	"View.Columns[].DefaultCols":              "views have no defaults that read columns",
	"View.Materialized.Common.OID":            "is the view's",
	"View.Materialized.Common.DB":             "is the view's",
	"View.Materialized.Common.Comment":        "is the view's",
	"View.Materialized.Common.ACL":            "is the view's",
	"View.Materialized.Columns[].ACL":         "are the view's",
	"View.Materialized.SystemGrants":          "are refused",
	"Stats.Common.ACL":                        "nor privileges",
	"View.Materialized.Groups":                "nor files of attributes",
	"View.Materialized.PK":                    "materialized views have no keys",
	"View.Materialized.Uniques":               "nor constraints",
	"View.Materialized.Checks":                "nor constraints",
	"View.Materialized.ForeignKeys":           "nor constraints",
	"Table.Key":                               "TestXMLPartitions",
	"Table.Uniques[].Exclude":                 "TestCatalogOfRealSchemasComesBack",
	"Table.Bound.From[].Inf":                  "TestXMLPartitions",
	"Table.Bound.To[].Inf":                    "TestXMLPartitions",
	"View.Materialized.Bound":                 "they are no partitions",
	"View.Materialized.Key":                   "nor partitioned",
	"View.Materialized.Parents":               "nor children",
	"View.Materialized.Temp":                  "they are never temporary",
	"View.Materialized.Options":               "are the view's",
	"View.Materialized.Indexes[].Primary":     "nor a primary key",
	"Stats.Common.Bindings":                   "nor texts",
	"UserType.Columns[].DefaultCols":          "composite types have no defaults",
	"UserType.Checks[].Cols":                  "a domain has no columns",
	"OwnOperator.Common.ACL":                  "operators have no privileges",
	"OwnCast.Common.ACL":                      "nor casts",
	"Policy.Common.ACL":                       "policies have no privileges",
	"Policy.Common.Owner":                     "their tables have one",
	"Policy.Common.Schema":                    "their tables are in one",
	"Extension.Common.ACL":                    "extensions have no privileges",
	"ExtStats.Common.ACL":                     "statistics have no privileges",
	"OwnCast.Common.Schema":                   "casts are in no schema",
	"OwnCast.Common.Name":                     "is made of their types",
	"Stats.Common.Schema":                     "statistics have no name",
	"Stats.Common.Name":                       "statistics have no name",
	"Stats.Common.Owner":                      "nor an owner",
	"Stats.Common.Comment":                    "nor a comment",
	"Database.Common.Schema":                  "databases are in no schema",
	"Schema.Common.Schema":                    "schemas are in no schema",
	"Role.Common.Schema":                      "roles are in no schema",
	"View.Materialized.Columns[].DefaultCols": "views have no defaults",
}

// filler sets every field to something that is not its zero value.
type filler struct{ n int }

// letters are the codes that single-letter fields take.
var letters = map[string]byte{"Identity": 'a', "OnDelete": 'c', "OnUpdate": 'n', "Match": 'f', "Volatile": 's', "Parallel": 'r', "Kind": 'e', "ReplicaIdentity": 'f'}

func (f *filler) fill(v reflect.Value, name string) {
	f.n++
	switch v.Type() {
	case reflect.TypeFor[types.T]():
		v.Set(reflect.ValueOf(types.T{OID: types.OVarchar, Mod: 14}))
		return
	case reflect.TypeFor[types.Datum]():
		v.Set(reflect.ValueOf(types.Int(types.TInt8, 7)))
		return
	case reflect.TypeFor[ACL]():
		v.Set(reflect.ValueOf(ACL{{Grantee: "clerk", Grantor: "a \"b\"", Privs: PrivSelect | PrivInsert, Grant: PrivSelect}}))
		return
	case reflect.TypeFor[Bindings]():
		v.Set(reflect.ValueOf(Bindings{textSum("f(a)"): {types.FirstUserOID}, textSum("a"): noCalls}))
		return
	case reflect.TypeFor[ACLKind]():
		v.SetUint(uint64(ACLTable))
		return
	}
	switch name {
	case "Key", "Inf", "Exclude":
		return // a partitioned table has no files, an infinite bound no value, a key that is unique no operators
	case "MemberOf", "AdminOf":
		v.Set(reflect.ValueOf([]string{"group"}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if sf := v.Type().Field(i); sf.IsExported() {
				f.fill(v.Field(i), sf.Name)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), name)
	case reflect.Slice:
		n := 1
		switch name {
		case "Columns":
			n = 3
		case "Args", "ArgNames", "ArgModes":
			n = 2
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i), name)
		}
	case reflect.Map:
		m := map[string]string{fmt.Sprint("k", f.n): "v"}
		if v.Type().Elem().Kind() == reflect.Map {
			v.Set(reflect.ValueOf(map[string]map[string]string{fmt.Sprint("d", f.n): m}))
			break
		}
		v.Set(reflect.ValueOf(m))
	case reflect.String:
		s := fmt.Sprint(strings.ToLower(name), f.n)
		switch name {
		case "Kind":
			s = "inverted"
		case "Layout":
			s = LayoutColumn
		}
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		c := letters[name]
		if c == 0 {
			c = 'i'
		}
		v.SetUint(uint64(c))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		panic("no value for a field of type " + v.Type().String())
	}
}

// lost adds the paths of fields that have a value in a and none in b.
func lost(a, b reflect.Value, path string, out map[string]bool) {
	if a.Kind() == reflect.Pointer {
		if a.IsNil() {
			return
		}
		if !b.IsValid() || b.IsNil() {
			out[path] = true
			return
		}
		a, b = a.Elem(), b.Elem()
	}
	switch a.Type() {
	case reflect.TypeFor[types.T](), reflect.TypeFor[types.Datum]():
		if b.IsZero() && !a.IsZero() {
			out[path] = true
		}
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if sf := a.Type().Field(i); sf.IsExported() {
				lost(a.Field(i), b.Field(i), path+"."+sf.Name, out)
			}
		}
	case reflect.Slice:
		if b.Len() < a.Len() {
			out[path] = true
			return
		}
		for i := range a.Len() {
			lost(a.Index(i), b.Index(i), path+"[]", out)
		}
	default:
		if b.IsZero() && !a.IsZero() {
			out[path] = true
		}
	}
}

func TestXMLKeepsEveryField(t *testing.T) {
	for _, tt := range []struct {
		o    Object
		mend func(Object) // makes the filled object one that can exist
	}{
		{&Database{}, nil}, {&Schema{}, nil}, {&Role{}, nil}, {&Sequence{}, nil}, {&Function{}, nil}, {&Stats{}, nil},
		{&OwnOperator{}, func(o Object) {
			op := o.(*OwnOperator)
			op.Left, op.Right, op.Result = types.TInt4, types.TInt8, types.TBool
		}},
		{&OwnCast{}, func(o Object) {
			k := o.(*OwnCast)
			k.Source, k.Target = types.TInt4, types.TBool
		}},
		{&Policy{}, func(o Object) {
			p := o.(*Policy)
			p.Command = 'r'
			for _, q := range []*BoundQuery{&p.Using, &p.Check} {
				q.Deps, q.ColDeps = []types.OID{5}, []ColRef{{5, 1}}
			}
		}},
		{&ExtStats{}, nil},
		{&Extension{}, nil},
		{&Table{}, func(o Object) {
			t := o.(*Table)
			t.Uniques[0].Primary = false
			t.Cluster = &Cluster{FK: t.ForeignKeys[0].OID, Parent: 5, Tag: 2}
			// A primary key beside the unique one, and an index on an expression.
			pk := &Unique{OID: 900, Name: "pk", Primary: true, Cols: t.PK, Index: 901}
			t.Uniques = append([]*Unique{pk}, t.Uniques...)
			t.Indexes = append([]*Index{{OID: 901, Name: "pk", Unique: true, Primary: true, Kind: "btree", Constraint: 900,
				Keys: []IndexKey{{Col: t.PK[0]}}}}, t.Indexes...)
			other := *t.Indexes[1]
			other.Keys = []IndexKey{{Col: -1, Expr: "x", Name: "n", Type: types.TInt4, Desc: true, NullsFirst: true, Opclass: "o", StatTarget: 100}}
			t.Indexes[1].Primary, other.Primary = false, false
			t.Indexes[1].Keys[0].Expr, t.Indexes[1].Keys[0].Name = "", ""
			other.Name = "other"
			t.Indexes = append(t.Indexes, &other)
		}},
		{&View{}, func(o Object) {
			v := o.(*View)
			v.Deps, v.ColDeps = []types.OID{5}, []ColRef{{5, 1}}
			v.Materialized.Cluster = nil // nor regions
			v.Materialized.Indexes[0].Primary = false
			v.Materialized.Indexes[0].Keys[0].Expr, v.Materialized.Indexes[0].Keys[0].Name = "", ""
			v.Materialized.Columns = v.Columns
		}},
		{&UserType{}, func(o Object) {
			u := o.(*UserType)
			*u = UserType{Common: u.Common, Kind: 'e', Array: u.Array, RelOID: u.RelOID, Labels: u.Labels}
		}},
		{&UserType{}, func(o Object) {
			u := o.(*UserType)
			u.Kind, u.Columns, u.Labels, u.Range = 'd', nil, nil, nil
		}},
		{&UserType{}, func(o Object) {
			u := o.(*UserType)
			*u = UserType{Common: u.Common, Kind: 'r', Array: u.Array, Range: u.Range}
		}},
		{&UserType{}, func(o Object) {
			u := o.(*UserType)
			*u = UserType{Common: u.Common, Kind: 'c', Array: u.Array, RelOID: u.RelOID, Columns: u.Columns}
		}},
	} {
		f := &filler{}
		f.fill(reflect.ValueOf(tt.o).Elem(), "")
		if tt.mend != nil {
			tt.mend(tt.o)
		}
		name := reflect.TypeOf(tt.o).Elem().Name()
		frag, err := EncodeObject(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := decodeFragment(frag, newestForm)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, frag)
		}
		gone := map[string]bool{}
		lost(reflect.ValueOf(tt.o), reflect.ValueOf(back), name, gone)
		for path := range gone {
			if _, known := notKept[path]; !known {
				t.Errorf("%s is not in the XML:\n%s", path, frag)
			}
		}
	}
}

// fragmentOnly are the attributes that fragments have and documents have not:
// numbers that mean something inside of one store alone, secrets, and states of a moment
// that a dump has not either (an index being built, triggers turned off).
var fragmentOnly = []string{"oid", "db", "space", "rewrites", "rowType", "rowArray", "ofTypeOID", "ofTypeKind", "index", "constraint", "array", "relation", "pair", "rangeOID", "subtypeDiffOID", "position", "ownerPosition",
	"clusterParent", "regionSpace", "parent", "parentIndex", "largeObjectSpace", "pageSpace", "indexInvalid", "unchecked", "unwatched", "verifier", "table", "populated", "typeOID", "typeKind", "typeElem", "returnsOID", "returnsKind", "returnsElem", "nextOID", "nextSpace", "transitionOID", "finalOID", "combineOID", "stateOID", "stateKind", "stateElem", "functionOID", "restrictOID", "joinOID", "commutatorOID", "negatorOID", "bindings"}

// TestDocumentsHaveWhatFragmentsHave fails when an attribute is written for the
// store and not for people.
func TestDocumentsHaveWhatFragmentsHave(t *testing.T) {
	data := readXSD(t)
	known := map[string]bool{}
	var names func(n *xsdNode)
	names = func(n *xsdNode) {
		if n.XMLName.Local == "attribute" {
			known[n.Name] = true
		}
		for i := range n.Children {
			names(&n.Children[i])
		}
	}
	for _, d := range data.defs {
		names(d)
	}
	for _, o := range []Object{&Database{}, &Schema{}, &Role{}, &Sequence{}, &Function{}, &Stats{}, &Table{}, &View{}, &UserType{}} {
		f := &filler{}
		f.fill(reflect.ValueOf(o).Elem(), "")
		frag, err := EncodeObject(o)
		if err != nil {
			t.Fatal(err)
		}
		root, err := parseXML(strings.NewReader(string(frag)))
		if err != nil {
			t.Fatal(err)
		}
		var walk func(e *element)
		walk = func(e *element) {
			for _, a := range e.attrs {
				if !known[a.name] && !slices.Contains(fragmentOnly, a.name) {
					t.Errorf("attribute %q of %q is not in catalog.xsd", a.name, e.name)
				}
			}
			for _, c := range e.children {
				walk(c)
			}
		}
		walk(root)
	}
}
