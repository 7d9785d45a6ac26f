package catalog

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// The XML form of the catalog. One vocabulary serves two purposes:
//
//	document  Databases/DataBase/Tables/Table … for people: objects refer to each
//	          other by name, and files keep their names. Export writes it, Import
//	          reads it, also as the founding paper prints it.
//	fragment  one element per object for the store: the same elements with OIDs,
//	          key spaces and references by OID and position, so that a fragment
//	          can be decoded alone. EncodeObject and DecodeObject.
//
// Characters that XML cannot hold are written _xHHHH_, and an underscore that
// would begin such an escape is written _x005F_.

// Limits of a document; larger ones are refused before they are built.
const (
	maxXMLBytes    = 256 << 20 // some 5,000 tables with their statistics
	maxXMLDepth    = 24
	maxXMLAttrs    = 256     // of one element
	maxXMLElements = 8 << 20 // of the document
)

const codeXML sqlerr.Code = "2200M" // invalid_xml_document

// element is a node of a parsed document.
type element struct {
	name     string
	line     int
	attrs    []xmlAttr
	children []*element
	text     string
	textUsed bool
}

type xmlAttr struct {
	name, value string
	used        bool
}

// fail is a fault of the document at an element.
func (e *element) fail(code sqlerr.Code, format string, args ...any) error {
	return sqlerr.New(code, "line %d: element \"%s\": %s", e.line, clipName(e.name, maxNameLen), fmt.Sprintf(format, args...))
}

// attr returns an attribute's value, and whether it is there. The founding
// paper allows an attribute to be written as a child element instead.
func (e *element) attr(name string) (string, bool) {
	for i := range e.attrs {
		if e.attrs[i].name == name {
			e.attrs[i].used = true
			return e.attrs[i].value, true
		}
	}
	return "", false
}

// parseXML reads one document into a tree. It refuses DTDs, entities, processing
// instructions other than the XML declaration, encodings other than UTF-8, and
// namespaces.
func parseXML(r io.Reader) (*element, error) {
	limited := &io.LimitedReader{R: r, N: maxXMLBytes + 1}
	buffered := bufio.NewReader(limited)
	if err := byteOrderMark(buffered); err != nil {
		return nil, err
	}
	dec := xml.NewDecoder(buffered)
	var charset error
	dec.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		charset = wrongEncoding(name)
		return nil, charset
	}
	dec.Entity = map[string]string{}
	var root *element
	var open []*element
	var texts [][]byte // of the open elements
	elements := 0
	names := xmlNames{}
	for {
		line, _ := dec.InputPos()
		tok, err := dec.Token()
		if limited.N <= 0 {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "XML document is larger than %d bytes", maxXMLBytes)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if charset != nil {
			return nil, charset
		}
		if err != nil {
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				return nil, sqlerr.New(codeXML, "line %d: %s", syntax.Line, syntax.Msg)
			}
			return nil, sqlerr.New(codeXML, "line %d: %v", line, err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			line, _ = dec.InputPos()
			e := &element{name: names.one(t.Name.Local), line: line}
			if t.Name.Space != "" {
				return nil, e.fail(codeXML, "namespaces are not allowed")
			}
			if err := e.readAttrs(t.Attr, names); err != nil {
				return nil, err
			}
			if len(open) >= maxXMLDepth {
				return nil, e.fail(sqlerr.ProgramLimitExceeded, "elements are nested more than %d deep", maxXMLDepth)
			}
			if elements++; elements > maxXMLElements {
				return nil, e.fail(sqlerr.ProgramLimitExceeded, "the document has more than %d elements", maxXMLElements)
			}
			if len(open) > 0 {
				parent := open[len(open)-1]
				parent.children = append(parent.children, e)
			} else if root != nil {
				return nil, e.fail(codeXML, "a document has one outermost element")
			} else {
				root = e
			}
			open, texts = append(open, e), append(texts, nil)
		case xml.EndElement:
			top := open[len(open)-1]
			top.text = string(texts[len(open)-1])
			if text := strings.TrimSpace(top.text); text != "" && len(top.children) > 0 {
				return nil, top.unexpected(text)
			}
			open, texts = open[:len(open)-1], texts[:len(open)-1]
		case xml.CharData:
			if n := len(open); n > 0 {
				texts[n-1] = append(texts[n-1], t...)
			} else if strings.TrimSpace(string(t)) != "" {
				return nil, sqlerr.New(codeXML, "line %d: unexpected text \"%s\"", line, clipName(strings.TrimSpace(string(t)), 40))
			}
		case xml.Directive:
			return nil, sqlerr.New(codeXML, "line %d: document type declarations are not allowed", line)
		case xml.ProcInst:
			if t.Target != "xml" || root != nil {
				return nil, sqlerr.New(codeXML, "line %d: processing instruction \"%s\" is not allowed", line, t.Target)
			}
		}
	}
	if root == nil {
		return nil, sqlerr.New(codeXML, "the document has no element")
	}
	if len(open) > 0 {
		return nil, open[len(open)-1].fail(codeXML, "is not closed")
	}
	return root, nil
}

// byteOrderMark skips the mark of UTF-8, and refuses the other encodings that a
// document's first bytes tell.
func byteOrderMark(r *bufio.Reader) error {
	start, err := r.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := r.Discard(3)
		return err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")),
		bytes.HasPrefix(start, []byte("<\x00")), bytes.HasPrefix(start, []byte("\x00<")):
		return wrongEncoding("UTF-16")
	case bytes.HasPrefix(start, []byte("\x00\x00")):
		return wrongEncoding("UTF-32")
	}
	return nil
}

func wrongEncoding(name string) error {
	return sqlerr.New(codeXML, "line 1: encoding \"%s\" is not UTF-8", clipName(name, maxNameLen))
}

// xmlNames has one copy of each name of a document: few come again and again.
type xmlNames map[string]string

func (n xmlNames) one(name string) string {
	if s, ok := n[name]; ok {
		return s
	}
	if len(n) < 1024 && len(name) <= maxNameLen {
		n[name] = name
	}
	return name
}

func (e *element) readAttrs(attrs []xml.Attr, names xmlNames) error {
	if len(attrs) > maxXMLAttrs {
		return e.fail(sqlerr.ProgramLimitExceeded, "has %d attributes, more than %d", len(attrs), maxXMLAttrs)
	}
	for _, a := range attrs {
		if a.Name.Space != "" || a.Name.Local == "xmlns" {
			return e.fail(codeXML, "attribute \"%s\": namespaces are not allowed", clipName(a.Name.Local, maxNameLen))
		}
		for _, other := range e.attrs {
			if other.name == a.Name.Local {
				return e.fail(codeXML, "attribute \"%s\" is given twice", clipName(a.Name.Local, maxNameLen))
			}
		}
		if e.attrs == nil {
			e.attrs = make([]xmlAttr, 0, len(attrs))
		}
		e.attrs = append(e.attrs, xmlAttr{name: names.one(a.Name.Local), value: unescapeXML(a.Value)})
	}
	return nil
}

// content returns the element's text. Names and flags are trimmed by the
// callers; expressions are taken as they are.
func (e *element) content() string {
	e.textUsed = true
	return unescapeXML(e.text)
}

// unread is the error of an element with text that nobody asked for.
func (e *element) unread() error {
	if text := strings.TrimSpace(e.text); text != "" && !e.textUsed {
		return e.unexpected(text)
	}
	for _, c := range e.children {
		if err := c.unread(); err != nil {
			return err
		}
	}
	return nil
}

func (e *element) unexpected(text string) error {
	return e.fail(codeXML, "unexpected text \"%s\"", clipName(text, 40))
}

// known refuses children that are not in the list, and attributes that nobody
// asked for.
func (e *element) known(children ...string) error {
	for i := range e.attrs {
		if !e.attrs[i].used {
			return e.fail(codeXML, "unknown attribute \"%s\"", clipName(e.attrs[i].name, maxNameLen))
		}
	}
next:
	for _, c := range e.children {
		for _, n := range children {
			if c.name == n {
				continue next
			}
		}
		return c.fail(codeXML, "is not known inside \"%s\"", e.name)
	}
	return nil
}

// child returns the only child of that name, or nil.
func (e *element) child(name string) (*element, error) {
	var found *element
	for _, c := range e.children {
		if c.name != name {
			continue
		}
		if found != nil {
			return nil, c.fail(codeXML, "is given twice inside \"%s\"", e.name)
		}
		found = c
	}
	return found, nil
}

// each returns the children of e named list, unwrapped: list's own children,
// which must all be called item.
func (e *element) each(list string, items ...string) ([]*element, error) {
	l, err := e.child(list)
	if err != nil || l == nil {
		return nil, err
	}
	if err := l.known(items...); err != nil {
		return nil, err
	}
	return l.children, nil
}

// escapeXML makes a string representable: see the comment at the top.
func escapeXML(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			// Not UTF-8: kept byte by byte in a range that UTF-8 never decodes to.
			fmt.Fprintf(&b, "_xDC%02X_", s[i])
		case r < 0x20 && r != '\n' && r != '\t' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			fmt.Fprintf(&b, "_x%04X_", r)
		case r == '_' && isEscape(s[i:]):
			b.WriteString("_x005F_")
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isEscape(s string) bool {
	if len(s) < 7 || s[0] != '_' || s[1] != 'x' || s[6] != '_' {
		return false
	}
	for _, c := range []byte(s[2:6]) {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

func unescapeXML(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if isEscape(s[i:]) {
			v, _ := strconv.ParseUint(s[i+2:i+6], 16, 16)
			if v>>8 == 0xDC {
				b.WriteByte(byte(v))
			} else {
				b.WriteRune(rune(v))
			}
			i += 7
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// xmlWriter writes indented elements; attributes appear in the order given.
type xmlWriter struct {
	buf   bytes.Buffer
	depth int
	// opened is where the start tag written last ends.
	opened int
	// ids: write OIDs and key spaces, and refer by OID and position (fragments).
	ids  bool
	snap *Snapshot // resolves references to names; nil for fragments
	// state is what the document says of sequences; err its first failure.
	state SequenceState
	err   error
}

// attrList collects an element's attributes.
type attrList []xmlAttr

// set adds an attribute; opt adds it when it is not empty; flag when true.
func (a *attrList) set(name, value string) { *a = append(*a, xmlAttr{name: name, value: value}) }

func (a *attrList) opt(name, value string) {
	if value != "" {
		a.set(name, value)
	}
}

func (a *attrList) flag(name string, on bool) {
	if on {
		a.set(name, "1")
	}
}

func (a *attrList) num(name string, v int64) { a.set(name, strconv.FormatInt(v, 10)) }

func (a *attrList) optNum(name string, v int64) {
	if v != 0 {
		a.num(name, v)
	}
}

func (w *xmlWriter) start(name string, attrs attrList) {
	for range w.depth {
		w.buf.WriteString("  ")
	}
	w.buf.WriteByte('<')
	w.buf.WriteString(name)
	for _, a := range attrs {
		w.buf.WriteByte(' ')
		w.buf.WriteString(a.name)
		w.buf.WriteString(`="`)
		w.escape(a.value)
		w.buf.WriteByte('"')
	}
}

var xmlEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#xA;", "\r", "&#xD;", "\t", "&#x9;")

// xmlTextEntities are those that the text of an element needs.
var xmlTextEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")

func (w *xmlWriter) escape(s string) { w.buf.WriteString(xmlEntities.Replace(escapeXML(s))) }

func (w *xmlWriter) open(name string, attrs attrList) {
	w.start(name, attrs)
	w.buf.WriteString(">\n")
	w.depth++
	w.opened = w.buf.Len()
}

// close ends an element; one without content becomes an empty-element tag.
func (w *xmlWriter) close(name string) {
	w.depth--
	if w.opened == w.buf.Len() {
		w.buf.Truncate(w.buf.Len() - len(">\n"))
		w.buf.WriteString("/>\n")
		return
	}
	for range w.depth {
		w.buf.WriteString("  ")
	}
	w.buf.WriteString("</" + name + ">\n")
}

func (w *xmlWriter) empty(name string, attrs attrList) {
	w.start(name, attrs)
	w.buf.WriteString("/>\n")
}

func (w *xmlWriter) text(name string, attrs attrList, content string) {
	w.start(name, attrs)
	w.buf.WriteByte('>')
	w.buf.WriteString(xmlTextEntities.Replace(escapeXML(content)))
	w.buf.WriteString("</" + name + ">\n")
}
