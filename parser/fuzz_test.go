package parser

import (
	"strings"
	"testing"
)

func seed(f *testing.F) {
	for i, sql := range corpus(f) {
		if i%7 == 0 {
			f.Add(sql)
		}
	}
	for _, sql := range statements(f, "accepted.sql") {
		f.Add(sql)
	}
	for _, line := range statements(f, "refused.tsv") {
		f.Add(line[strings.LastIndexByte(line, '\t')+1:])
	}
}

// FuzzLex checks that tokens lie in order inside the text and that nothing but
// white space and comments is between them.
func FuzzLex(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, sql string) {
		toks, err := Lex(sql)
		if err != nil {
			sqlError(t, err)
			return
		}
		end := 0
		for _, tok := range toks {
			if int(tok.Off) < end || tok.End <= tok.Off || int(tok.End) > len(sql) {
				t.Fatalf("token %v after %d in %q", tok, end, sql)
			}
			gap := lexer{src: sql[end:tok.Off]}
			if err := gap.skipSpace(); err != nil || gap.pos != len(gap.src) {
				t.Fatalf("lost %q before %q", gap.src, tok.Text(sql))
			}
			end = int(tok.End)
			_, _ = tok.value(sql)
		}
	})
}

// FuzzParse checks that no text makes the parser panic, that errors are SQL
// errors of the user's kind, and that printed trees are the trees.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, sql string) {
		if _, err := Parse(sql); err != nil {
			if e := sqlError(t, err); e.Code == "XX000" || e.Pos > len(sql)+1 {
				t.Fatalf("%s %s at %d in %q", e.Code, e.Message, e.Pos, sql)
			}
			return
		}
		checkFormat(t, sql)
	})
}

// FuzzFingerprint checks that what has a fingerprint parses with its literals
// taken out, if it parses at all.
func FuzzFingerprint(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, sql string) {
		_, lits, ok := fingerprint(sql, nil)
		if !ok {
			return
		}
		if _, err := Parse(sql); err != nil {
			return
		}
		if _, err := ParseNormalized(sql, lits); err != nil {
			t.Skip() // the caller falls back to Parse
		}
		checkNormalized(t, sql, lits)
	})
}
