package plan

import (
	"encoding/json"
	"encoding/xml"
	"strconv"
	"strings"
)

// The formats print one document: a list with one object, the explained
// statement.

// FormatJSON prints an explained plan as JSON.
func FormatJSON(o Object) string {
	var b strings.Builder
	b.WriteString("[\n  ")
	jsonValue(&b, o, 1)
	b.WriteString("\n]")
	return b.String()
}

func jsonValue(b *strings.Builder, v any, depth int) {
	in := strings.Repeat("  ", depth)
	switch v := v.(type) {
	case Object:
		b.WriteString("{")
		for i, p := range v {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n" + in + "  " + quoteJSON(p.Key) + ": ")
			jsonValue(b, p.Value, depth+1)
		}
		b.WriteString("\n" + in + "}")
	case []Object:
		b.WriteString("[")
		for i, e := range v {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n" + in + "  ")
			jsonValue(b, e, depth+1)
		}
		b.WriteString("\n" + in + "]")
	case []string:
		b.WriteString("[")
		for i, s := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoteJSON(s))
		}
		b.WriteString("]")
	case string:
		b.WriteString(quoteJSON(v))
	default:
		b.WriteString(scalar(v))
	}
}

// quoteJSON is a string of JSON; angle brackets stay as they are.
func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// scalar prints a value that is neither text nor a list.
func scalar(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case Cost:
		return strconv.FormatFloat(float64(v), 'f', 2, 64)
	case Millis:
		return strconv.FormatFloat(float64(v), 'f', 3, 64)
	}
	return ""
}

// FormatXML prints an explained plan as XML.
func FormatXML(o Object) string {
	var b strings.Builder
	b.WriteString("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n")
	xmlObject(&b, o, 2)
	b.WriteString("  </Query>\n</explain>")
	return b.String()
}

func xmlObject(b *strings.Builder, o Object, depth int) {
	for _, p := range o {
		xmlElement(b, strings.ReplaceAll(p.Key, " ", "-"), p.Value, depth)
	}
}

func xmlElement(b *strings.Builder, name string, v any, depth int) {
	in := strings.Repeat("  ", depth)
	open, end := in+"<"+name+">", "</"+name+">\n"
	switch v := v.(type) {
	case Object:
		b.WriteString(open + "\n")
		xmlObject(b, v, depth+1)
		b.WriteString(in + end)
	case []Object:
		b.WriteString(open + "\n")
		for _, e := range v {
			xmlElement(b, itemName(name), e, depth+1)
		}
		b.WriteString(in + end)
	case []string:
		b.WriteString(open + "\n")
		for _, s := range v {
			xmlElement(b, "Item", s, depth+1)
		}
		b.WriteString(in + end)
	case string:
		b.WriteString(open)
		_ = xml.EscapeText(b, []byte(v)) // a Builder does not fail
		b.WriteString(end)
	default:
		b.WriteString(open + scalar(v) + end)
	}
}

// itemName is the name of an element of a list.
func itemName(list string) string {
	switch list {
	case "Plans", "Steps", "Triggers":
		return strings.TrimSuffix(list, "s")
	}
	return "Item"
}

// FormatYAML prints an explained plan as YAML.
func FormatYAML(o Object) string {
	var b strings.Builder
	yamlObject(&b, o, 1, "- ")
	return strings.TrimSuffix(b.String(), "\n")
}

// yamlObject prints an object; first stands before its first line in place of the
// last two blanks.
func yamlObject(b *strings.Builder, o Object, depth int, first string) {
	in := strings.Repeat("  ", depth)
	for i, p := range o {
		lead := in
		if i == 0 {
			lead = in[:len(in)-len(first)] + first
		}
		b.WriteString(lead + p.Key + ": ")
		switch v := p.Value.(type) {
		case Object:
			b.WriteString("\n")
			yamlObject(b, v, depth+1, "")
		case []Object:
			b.WriteString("\n")
			for _, e := range v {
				yamlObject(b, e, depth+2, "- ")
			}
		case []string:
			b.WriteString("\n")
			for _, s := range v {
				b.WriteString(in + "  - " + quoteJSON(s) + "\n")
			}
		case string:
			b.WriteString(quoteJSON(v) + "\n")
		default:
			b.WriteString(scalar(v) + "\n")
		}
	}
}
