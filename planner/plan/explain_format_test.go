package plan

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

var document = Object{
	{"Plan", Object{
		{"Node Type", "Seq Scan"}, {"Parallel Aware", false}, {"Total Cost", Cost(1.5)}, {"Plan Rows", int64(7)},
		{"Filter", `(t = '<"&\'::text)`}, {"Output", []string{"a", "b, c"}},
		{"Plans", []Object{{{"Node Type", "Result"}}, {{"Node Type", "Limit"}, {"Plans", []Object{{{"Node Type", "Sort"}}}}}}},
	}},
	{"Triggers", []Object{}},
	{"Planning Time", Millis(0.25)},
}

func TestFormatJSON(t *testing.T) {
	var got []struct {
		Plan struct {
			Filter string
			Output []string
			Cost   float64 `json:"Total Cost"`
			Plans  []struct {
				Type string `json:"Node Type"`
			}
		}
		Time float64 `json:"Planning Time"`
	}
	if err := json.Unmarshal([]byte(FormatJSON(document)), &got); err != nil {
		t.Fatal(err)
	}
	p := got[0].Plan
	if p.Filter != document[0].Value.(Object)[4].Value || p.Output[1] != "b, c" || p.Cost != 1.5 || p.Plans[1].Type != "Limit" || got[0].Time != 0.25 {
		t.Errorf("read back: %+v", got[0])
	}
}

func TestFormatXML(t *testing.T) {
	text := FormatXML(document)
	d := xml.NewDecoder(strings.NewReader(text))
	var names []string
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, ok := tok.(xml.StartElement); ok {
			names = append(names, e.Name.Local)
		}
	}
	want := "explain Query Plan Node-Type Parallel-Aware Total-Cost Plan-Rows Filter Output Item Item Plans Plan Node-Type Plan " +
		"Node-Type Plans Plan Node-Type Triggers Planning-Time"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("elements %s\nwant %s", got, want)
	}
}

func TestFormatYAML(t *testing.T) {
	want := `- Plan: 
    Node Type: "Seq Scan"
    Parallel Aware: false
    Total Cost: 1.50
    Plan Rows: 7
    Filter: "(t = '<\"&\\'::text)"
    Output: 
      - "a"
      - "b, c"
    Plans: 
      - Node Type: "Result"
      - Node Type: "Limit"
        Plans: 
          - Node Type: "Sort"
  Triggers: 
  Planning Time: 0.250`
	if got := FormatYAML(document); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
