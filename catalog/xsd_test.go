package catalog

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// xsdNode is a node of catalog.xsd.
type xsdNode struct {
	XMLName  xml.Name
	Name     string    `xml:"name,attr"`
	Ref      string    `xml:"ref,attr"`
	Type     string    `xml:"type,attr"`
	Base     string    `xml:"base,attr"`
	Use      string    `xml:"use,attr"`
	Children []xsdNode `xml:",any"`
}

// xsd has the global definitions of catalog.xsd by kind and name.
type xsd struct{ defs map[string]*xsdNode }

// xsdType is what an element may have: attributes (true: required) and children
// with their types.
type xsdType struct {
	attrs    map[string]bool
	children map[string]*xsdNode
}

func readXSD(t testing.TB) *xsd {
	t.Helper()
	data, err := os.ReadFile("catalog.xsd")
	if err != nil {
		t.Fatal(err)
	}
	var root xsdNode
	if err := xml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	x := &xsd{map[string]*xsdNode{}}
	for i := range root.Children {
		c := &root.Children[i]
		x.defs[c.XMLName.Local+" "+c.Name] = c
	}
	return x
}

// typeOf collects what an element's declaration allows.
func (x *xsd) typeOf(e *xsdNode) xsdType {
	out := xsdType{map[string]bool{}, map[string]*xsdNode{}}
	if e.Type != "" {
		x.collect(x.defs["complexType "+e.Type], &out)
		return out
	}
	x.collect(e, &out)
	return out
}

func (x *xsd) collect(n *xsdNode, out *xsdType) {
	if n == nil {
		return // a simple type
	}
	for i := range n.Children {
		c := &n.Children[i]
		switch c.XMLName.Local {
		case "element":
			if c.Ref != "" {
				c = x.defs["element "+c.Ref]
			}
			out.children[c.Name] = c
		case "attribute":
			out.attrs[c.Name] = c.Use == "required"
		case "attributeGroup", "group":
			x.collect(x.defs[c.XMLName.Local+" "+c.Ref], out)
		case "extension":
			x.collect(x.defs["complexType "+c.Base], out)
			x.collect(c, out)
		case "complexType", "sequence", "choice", "simpleContent":
			x.collect(c, out)
		}
	}
}

// check reports what of an element the schema does not allow.
func (x *xsd) check(e *element, decl *xsdNode) error {
	if decl == nil {
		return fmt.Errorf("line %d: element %q is not in catalog.xsd", e.line, e.name)
	}
	t := x.typeOf(decl)
	given := map[string]bool{}
	for _, a := range e.attrs {
		given[a.name] = true
		if _, ok := t.attrs[a.name]; !ok {
			return fmt.Errorf("line %d: attribute %q of %q is not in catalog.xsd", e.line, a.name, e.name)
		}
	}
	for a, required := range t.attrs {
		if required && !given[a] {
			return fmt.Errorf("line %d: %q has no attribute %q", e.line, e.name, a)
		}
	}
	for _, c := range e.children {
		d := t.children[c.name]
		if d == nil {
			return fmt.Errorf("line %d: element %q inside %q is not in catalog.xsd", c.line, c.name, e.name)
		}
		if err := x.check(c, d); err != nil {
			return err
		}
	}
	return nil
}

// checkDocument reports what of a document the schema does not allow.
func (x *xsd) checkDocument(doc string) error {
	root, err := parseXML(strings.NewReader(doc))
	if err != nil {
		return err
	}
	return x.check(root, x.defs["element "+root.name])
}

func TestDocumentsFitTheXSD(t *testing.T) {
	x := readXSD(t)
	files, err := filepath.Glob(filepath.Join("..", "testdata", "catalog", "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.checkDocument(string(data)); err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
		xmllint(t, f)
	}
}

// xmllint validates a file with libxml2, where that is installed; continuous
// integration has it.
func xmllint(t testing.TB, file string) {
	t.Helper()
	bin, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		return
	}
	if out, err := exec.Command(bin, "--noout", "--schema", "catalog.xsd", file).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", filepath.Base(file), err, out)
	}
}

func TestXSDRefusesWhatImportRefuses(t *testing.T) {
	x := readXSD(t)
	for _, doc := range []string{
		`<Databases><DataBase dbName="d"><Tables><Table tableName="t"><Trigger/></Table></Tables></DataBase></Databases>`,
		`<Databases><DataBase dbName="d" colour="1"/></Databases>`,
		`<Databases><DataBase dbName="d"><Schemas><Schema/></Schemas></DataBase></Databases>`,
		`<Other/>`,
	} {
		if x.checkDocument(doc) == nil {
			t.Errorf("%s is valid", doc)
		}
		c := New(nil)
		if _, err := Import(strings.NewReader(doc), c.Current(), c, "postgres"); err == nil {
			t.Errorf("%s is imported", doc)
		}
	}
}
