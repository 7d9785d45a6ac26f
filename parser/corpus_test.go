package parser

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"kvsqld/parser/ast"
)

// corpus returns the recorded statements of real clients. The file keeps line
// breaks of texts with comments as backslash-n.
func corpus(t testing.TB) []string {
	f, err := os.Open("../testdata/clients/client-sql-corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		cols := strings.SplitN(sc.Text(), "\t", 3)
		if len(cols) != 3 {
			t.Fatalf("bad line %q", sc.Text())
		}
		sql := cols[2]
		if strings.Contains(sql, "--") {
			sql = strings.ReplaceAll(sql, `\n`, "\n")
		}
		list = append(list, sql)
	}
	return list
}

func TestClientCorpusParses(t *testing.T) {
	list := corpus(t)
	if len(list) < 600 {
		t.Fatalf("only %d statements", len(list))
	}
	empty := 0
	for _, sql := range list {
		stmts, err := Parse(sql)
		switch {
		case err != nil:
			t.Errorf("%v\n  in %s", err, sql)
		case len(stmts) == 0:
			empty++
		}
		for _, s := range stmts {
			if u, ok := s.Stmt.(*ast.Unsupported); ok {
				t.Logf("recognised only: %s", u.What)
			}
		}
	}
	if empty > 4 { // pings
		t.Errorf("%d statements are empty", empty)
	}
}
