package catalog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func importFile(t *testing.T, name string) (*Snapshot, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "catalog", name))
	if err != nil {
		t.Fatal(err)
	}
	c := New(nil)
	d, err := Import(bytes.NewReader(data), c.Current(), c, "postgres")
	if err != nil {
		return nil, err
	}
	if err := c.Publish(d.Delta); err != nil {
		t.Fatalf("an imported delta does not apply: %v", err)
	}
	return c.Current(), nil
}

func TestFoundingDocumentsAsPrintedNameTheirErrors(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"premium_printed.xml", `line 10: element "Attribute": attribute "attributeName": "latitude" is already the name of the attribute in line 9`},
		{"spatialpois_geo_printed.xml", `line 9: element "Attribute": attribute "attributeName": "latitude" is already the name of the attribute in line 8`},
		{"spatialpois_poi_printed.xml", `line 39: element "pkAttribute": "language" names no attribute of the table`},
	} {
		t.Run(tt.file, func(t *testing.T) {
			_, err := importFile(t, tt.file)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestFoundingDocumentsLoadOnceMended(t *testing.T) {
	for _, tt := range []struct{ file, db string }{{"premium.xml", "Premium"}, {"spatialpois.xml", "SpatialPOIs"}} {
		t.Run(tt.file, func(t *testing.T) {
			s, err := importFile(t, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			db := s.Database(tt.db)
			poi, ok := s.Relation(db.OID, "public", "poi").(*Table)
			if !ok {
				t.Fatal("table poi is missing")
			}
			if poi.File != "poi.kv" || len(poi.PK) != 2 || len(poi.ForeignKeys) != 1 {
				t.Errorf("poi: file %q, %d key columns, %d foreign keys", poi.File, len(poi.PK), len(poi.ForeignKeys))
			}
			if n := len(s.Referencing(db.OID, poi.ForeignKeys[0].RefTable)); n != 1 {
				t.Errorf("geo is referenced by %d foreign keys, want 1", n)
			}
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
			again := reimport(t, s, tt.db)
			if first, second := export(t, s), export(t, again); first != second {
				t.Errorf("the document changes on its way:\n%s\n---\n%s", first, second)
			}
		})
	}
}

func export(t testing.TB, s *Snapshot, dbs ...string) string {
	t.Helper()
	var b strings.Builder
	if err := Export(s, &b, nil, dbs...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reimport exports a snapshot and imports the document into a new server.
func reimport(t testing.TB, s *Snapshot, dbs ...string) *Snapshot {
	t.Helper()
	c := New(nil)
	doc := export(t, s, dbs...)
	d, err := Import(strings.NewReader(doc), c.Current(), c, "postgres")
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if err := c.Publish(d.Delta); err != nil {
		t.Fatal(err)
	}
	return c.Current()
}

func TestImportRefuses(t *testing.T) {
	const attr = `<Attribute attributeName="a" type="int" isnull="0"/>`
	table := func(inside string) string {
		return "<Databases><DataBase dbName=\"d\"><Tables>\n<Table tableName=\"t\">" + inside + "</Table></Tables></DataBase></Databases>"
	}
	structure := "<Structure>" + attr + "</Structure>"
	for _, tt := range []struct{ name, doc, want string }{
		{"a document type declaration", "<!DOCTYPE x [<!ENTITY e \"v\">]><Databases/>", "document type declarations are not allowed"},
		{"an entity", table(`<Structure><Attribute attributeName="&e;" type="int"/></Structure>`), "entity"},
		{"another encoding", `<?xml version="1.0" encoding="latin1"?><Databases/>`, "not UTF-8"},
		{"an unknown element", table(structure + "<Trigger/>"), `line 2: element "Trigger": is not known inside "Table"`},
		{"an unknown attribute", table(`<Structure><Attribute attributeName="a" type="int" colour="1"/></Structure>`), `line 2: element "Attribute": unknown attribute "colour"`},
		{"a bad flag", table(`<Structure><Attribute attributeName="a" type="int" isnull="yes"/></Structure>`), `attribute "isnull" must be 0 or 1`},
		{"an unknown type", table(`<Structure><Attribute attributeName="a" type="colour"/></Structure>`), `attribute "type": type "colour" does not exist`},
		{"a missing name", table(`<Structure><Attribute type="int"/></Structure>`), `attribute "attributeName" is missing`},
		{"an index over nothing", table(structure + `<IndexFiles><IndexFile indexName="i" isUnique="0"><IndexAttributes><IAttribute>zz</IAttribute></IndexAttributes></IndexFile></IndexFiles>`), `element "IAttribute": "zz" names no attribute of the table`},
		{"a foreign key to nothing", table(structure + `<foreignKeys><foreignKey><fkAttribute>a</fkAttribute><references><refTable>u</refTable><refAttribute>a</refAttribute></references></foreignKey></foreignKeys>`), `element "refTable": "u" names no relation of the database`},
		{"a foreign key to no key", table(structure + `<foreignKeys><foreignKey><fkAttribute>a</fkAttribute><references><refTable>t</refTable><refAttribute>a</refAttribute></references></foreignKey></foreignKeys>`), "no unique constraint matching"},
		{"elements too deep", strings.Repeat("<a>", 100), "nested more than"},
		{"an unclosed element", "<Databases><DataBase>", "XML"},
		{"no element", "", "has no element"},
		{"UTF-16", "\xff\xfe<\x00D\x00/\x00>\x00", `encoding "UTF-16" is not UTF-8`},
		{"bytes that are not UTF-8", table("<Structure><Attribute attributeName=\"\xe9\" type=\"int\"/></Structure>"), "line 2: invalid UTF-8"},
		{"an entity by its name", table(`<Structure><Attribute attributeName="&e;" type="int"/></Structure>`), "line 2: invalid character entity &e;"},
		{"an attribute given twice", table(`<Structure><Attribute attributeName="a" attributeName="b" type="int"/></Structure>`), `attribute "attributeName" is given twice`},
		{"more attributes than any element has", table(`<Structure><Attribute ` + manyAttributes(1000) + `/></Structure>`), `line 2: element "Attribute": has 1000 attributes, more than 256`},
		{"a name without end", "<" + strings.Repeat("a", 1<<20) + "/>", `element "` + strings.Repeat("a", maxNameLen) + `": is not`},
		{"text where none belongs", table("<Structure>\n" + attr + "</Structure><IndexFiles>hello</IndexFiles>"), `line 3: element "IndexFiles": unexpected text "hello"`},
		{"text between elements", "<Databases>hello<DataBase dbName=\"d\"/></Databases>", `unexpected text "hello"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := New(nil)
			_, err := Import(strings.NewReader(tt.doc), c.Current(), c, "postgres")
			if err == nil || !strings.Contains(err.Error(), tt.want) && tt.want != "XML" {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d='1'", i)
	}
	return b.String()
}

// A start tag of a million attributes, and text in a million pieces, are read or
// refused in time that grows with their size alone.
func TestImportOfLongTagsAndText(t *testing.T) {
	for _, doc := range []string{
		"<Databases" + manyAttributes(1<<20) + "/>",
		"<Databases>" + strings.Repeat("a<!---->", 1<<20) + "</Databases>",
	} {
		c := New(nil)
		start := time.Now()
		if _, err := Import(strings.NewReader(doc), c.Current(), c, "postgres"); err == nil {
			t.Errorf("%.40s is imported", doc)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%.40s takes %v", doc, d)
		}
	}
}

func TestImportSkipsAByteOrderMark(t *testing.T) {
	c := New(nil)
	if _, err := Import(strings.NewReader("\xef\xbb\xbf<Databases/>"), c.Current(), c, "postgres"); err != nil {
		t.Error(err)
	}
}

func TestImportTakesPositionsAndElementsForAttributes(t *testing.T) {
	doc := `<DataBase dataBaseName="d"><Tables><Table tableName="t">
<Structure><Attribute><attributeName>a</attributeName><type>varchar</type><length>10</length></Attribute></Structure>
<primaryKey><pkAttribute>1</pkAttribute></primaryKey>
<IndexFiles><IndexFile indexName="t_a.ind" isUnique="0" indexType="Inverted"><IndexAttributes><IAttribute position="1"/></IndexAttributes></IndexFile></IndexFiles>
</Table></Tables></DataBase>`
	c := New(nil)
	d, err := Import(strings.NewReader(doc), c.Current(), c, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(d.Delta); err != nil {
		t.Fatal(err)
	}
	s := c.Current()
	tab := s.Relation(s.Database("d").OID, "public", "t").(*Table)
	if col := tab.Columns[0]; col.Name != "a" || col.Type.Mod != 14 || !col.NotNull {
		t.Errorf("column = %+v", col)
	}
	if ix := tab.Indexes[1]; ix.Kind != "inverted" || ix.Keys[0].Col != 0 {
		t.Errorf("index = %+v", ix)
	}
}

func TestEscapeXMLIsReversible(t *testing.T) {
	for _, s := range []string{"", "plain", "_x0041_", "_x005F_", "\x01\x00", "a\r\nb\tc", "\xff\xfe", "ő_x", "_x00_", "\uFFFE", "_xDC80_"} {
		if got := unescapeXML(escapeXML(s)); got != s {
			t.Errorf("unescape(escape(%q)) = %q", s, got)
		}
	}
}

func FuzzImport(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "catalog", "*.xml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c := New(nil)
		d, err := Import(bytes.NewReader(doc), c.Current(), c, "postgres")
		if err != nil {
			return
		}
		if err := c.Publish(d.Delta); err != nil {
			t.Fatalf("an imported delta does not apply: %v", err)
		}
		s := c.Current()
		if err := s.Validate(); err != nil {
			t.Fatalf("an imported catalog is invalid: %v", err)
		}
		if first, second := export(t, s), export(t, reimport(t, s)); first != second {
			t.Fatalf("the document changes on its way:\n%s\n---\n%s", first, second)
		}
	})
}

func TestImportIntoADatabaseThatHasTables(t *testing.T) {
	c := New(nil)
	run := func(doc string) error {
		d, err := Import(strings.NewReader(doc), c.Current(), c, "postgres")
		if err != nil {
			return err
		}
		return c.Publish(d.Delta)
	}
	in := func(inside string) string { return "<DataBase dbName=\"d\">" + inside + "</DataBase>" }
	const author = `<Types><EnumType typeName="mood"><Label>ok</Label></EnumType></Types><Tables><Table tableName="author">
<Structure><Attribute attributeName="id" type="int"/></Structure><primaryKey><pkAttribute>id</pkAttribute></primaryKey></Table></Tables>`
	const book = `<Tables><Table tableName="book"><Structure><Attribute attributeName="author" type="int"/>
<Attribute attributeName="mood" type="mood"/><Attribute attributeName="moods" type="mood[]" typeSchema="public"/></Structure>
<foreignKeys><foreignKey><fkAttribute>author</fkAttribute><references><refTable>author</refTable><refAttribute>id</refAttribute></references></foreignKey></foreignKeys>
</Table></Tables><Views><View viewName="authors"><Query>SELECT author.id FROM author</Query><Structure><Attribute attributeName="id" type="int"/></Structure>
<dependency relation="author"><depAttribute>id</depAttribute></dependency></View></Views>`
	for _, doc := range []string{in(author), in(book)} {
		if err := run(doc); err != nil {
			t.Fatal(err)
		}
	}
	s := c.Current()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	db := s.Database("d").OID
	b := s.Relation(db, "public", "book").(*Table)
	if fk := b.ForeignKeys[0]; fk.RefTable != s.Relation(db, "public", "author").ObjectOID() {
		t.Errorf("the foreign key refers to %d", fk.RefTable)
	}
	for _, tt := range []struct{ doc, want string }{
		{in(author), `line 1: element "EnumType": attribute "typeName": type "mood" already exists`},
		{in("\n<Tables><Table tableName=\"book\"><Structure/></Table></Tables>"), `line 2: element "Table": attribute "tableName": relation "book" already exists`},
		{in("\n<Sequences><Sequence sequenceName=\"book\"/></Sequences>"), `line 2: element "Sequence": attribute "sequenceName": relation "book" already exists`},
	} {
		if err := run(tt.doc); err == nil || err.Error() != tt.want {
			t.Errorf("error = %v, want %s", err, tt.want)
		}
	}
}
