package parser

import (
	"testing"

	"kvsqld/parser/ast"
)

// TestQuotedOption shows that names of parameters are folded as other names are: only
// where they are not quoted.
func TestQuotedOption(t *testing.T) {
	for _, tt := range []struct{ sql, want string }{
		{`CREATE INDEX i ON t (a) WITH (FillFactor = 10)`, "fillfactor"},
		{`CREATE INDEX i ON t (a) WITH ("FillFactor" = 10)`, "FillFactor"},
		{`CREATE INDEX i ON t (a) WITH ("Toast".Fillfactor = 10)`, "Toast.fillfactor"},
	} {
		list, err := Parse(tt.sql)
		if err != nil {
			t.Fatalf("%s: %v", tt.sql, err)
		}
		x, ok := list[0].Stmt.(*ast.CreateIndex)
		if !ok || len(x.With) != 1 || x.With[0].Name != tt.want {
			t.Errorf("%s: parsed %#v, want a parameter %q", tt.sql, list[0].Stmt, tt.want)
		}
	}
}
