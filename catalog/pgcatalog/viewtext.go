package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
)

// A view's query is kept as one line of SQL. pg_get_viewdef lays it out: an
// output column per line, a line per join and per clause, and the names of the
// view's columns where the query itself would give others.

// sqlWord is a word of a query outside of parentheses: what is in parentheses
// is one word with them.
type sqlWord struct {
	text  string
	space bool // a space stands before it
}

// queryWords cuts a query into words; nil when its parentheses do not match.
func queryWords(s string) []sqlWord {
	var out []sqlWord
	space := false
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case c == ' ' || c == '\n':
			i++
			space = true
			continue
		case c == '(' || c == '[':
			depth := 0
			for ; i < len(s); i++ {
				switch s[i] {
				case '(', '[':
					depth++
				case ')', ']':
					depth--
				case '\'', '"':
					i = quoteEnd(s, i)
				}
				if depth == 0 {
					break
				}
			}
			if i >= len(s) {
				return nil
			}
			i++
		case c == '\'' || c == '"':
			i = min(quoteEnd(s, i)+1, len(s))
		case isWordByte(c):
			for i < len(s) && isWordByte(s[i]) {
				i++
			}
		default:
			i++
		}
		out = append(out, sqlWord{s[start:i], space})
		space = false
	}
	return out
}

// quoteEnd returns where the quotes that open at i close.
func quoteEnd(s string, i int) int {
	for q := s[i]; ; {
		i++
		if i >= len(s) {
			return i
		}
		if s[i] == q {
			if i+1 >= len(s) || s[i+1] != q {
				return i
			}
			i++
		}
	}
}

// phrase joins words as they were written.
func phrase(words []sqlWord) string {
	var b strings.Builder
	for i, w := range words {
		if w.space && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// splitWords splits at commas.
func splitWords(words []sqlWord) [][]sqlWord {
	var out [][]sqlWord
	start := 0
	for i, w := range words {
		if w.text == "," {
			out = append(out, words[start:i])
			start = i + 1
		}
	}
	return append(out, words[start:])
}

// clauses are the words that begin a clause, with how its line begins.
var clauses = map[string]string{"SELECT": " SELECT", "FROM": "\n   FROM", "WHERE": "\n  WHERE", "GROUP": "\n  GROUP", "HAVING": "\n HAVING",
	"WINDOW": "\n  WINDOW", "ORDER": "\n  ORDER", "LIMIT": "\n LIMIT", "OFFSET": "\n OFFSET",
	"UNION": "\nUNION", "INTERSECT": "\nINTERSECT", "EXCEPT": "\nEXCEPT"}

type queryClause struct {
	word string
	body []sqlWord
}

// queryClauses cuts a query into its clauses; nil for queries that are not
// built of plain SELECTs.
func queryClauses(text string) []queryClause {
	var out []queryClause
	words := queryWords(text)
	for i, w := range words {
		next, prev := "", ""
		if i+1 < len(words) {
			next = words[i+1].text
		}
		if i > 0 {
			prev = words[i-1].text
		}
		_, begins := clauses[w.text]
		switch w.text {
		case "GROUP", "ORDER":
			begins = next == "BY"
		case "FROM":
			begins = prev != "DISTINCT"
		case "WITH", "VALUES", "FETCH", "FOR":
			return nil
		case "UNION", "INTERSECT", "EXCEPT":
			if next != "SELECT" && next != "ALL" {
				return nil
			}
		case "ALL":
			if strings.HasPrefix(next, "(") && len(out) > 0 && out[len(out)-1].word != "SELECT" && len(out[len(out)-1].body) == 0 {
				return nil
			}
		}
		switch {
		case begins:
			out = append(out, queryClause{word: w.text})
		case len(out) == 0:
			return nil
		default:
			c := &out[len(out)-1]
			c.body = append(c.body, w)
		}
	}
	for i := 1; i < len(out); i++ { // OFFSET is shown before LIMIT
		if out[i].word == "OFFSET" && out[i-1].word == "LIMIT" {
			out[i], out[i-1] = out[i-1], out[i]
		}
	}
	return out
}

// viewText is a view's query as pg_get_viewdef shows it.
func (env *Env) viewText(v *catalog.View) string {
	text := strings.TrimSuffix(strings.TrimSpace(v.Query), ";")
	list := queryClauses(text)
	if list == nil {
		return " " + text + ";"
	}
	var b strings.Builder
	for i, c := range list {
		start := clauses[c.word]
		if i > 0 && c.word == "SELECT" {
			start = "\n" + start
		}
		b.WriteString(start)
		switch c.word {
		case "SELECT":
			b.WriteString(selectList(c.body, v, i == 0))
		case "FROM":
			for k, item := range splitWords(c.body) {
				if k > 0 {
					b.WriteString(",\n   ")
				}
				b.WriteString(env.fromItem(item))
			}
		default:
			if len(c.body) > 0 {
				b.WriteString(" " + phrase(c.body))
			}
		}
	}
	return b.String() + ";"
}

// selectList writes the output columns; those of the first SELECT name the
// view's columns.
func selectList(words []sqlWord, v *catalog.View, first bool) string {
	head := ""
	if len(words) > 0 && words[0].text == "DISTINCT" {
		n := 1
		if len(words) > 2 && words[1].text == "ON" {
			n = 3
		}
		head, words = " "+phrase(words[:n]), words[n:]
	}
	targets := splitWords(words)
	var out []string
	for i, t := range targets {
		s := phrase(t)
		if first && len(targets) == len(v.Columns) && !strings.HasSuffix(s, "*") {
			s = nameTarget(t, v.Columns[i].Name)
		}
		out = append(out, s)
	}
	if first && len(targets) == 1 && targets[0][len(targets[0])-1].text == "*" {
		prefix := strings.TrimSuffix(out[0], "*") // the columns that * stood for
		out = out[:0]
		for _, c := range v.Columns {
			out = append(out, prefix+catalog.QuoteIdent(c.Name))
		}
	}
	return head + " " + strings.Join(out, ",\n    ")
}

// nameTarget writes an output column with the name that the view gives it.
func nameTarget(t []sqlWord, name string) string {
	name = catalog.QuoteIdent(name)
	n := len(t)
	if n > 2 && t[n-2].text == "AS" {
		t, n = t[:n-2], n-2
	}
	column := n == 1 || n == 3 && t[1].text == "." || n == 5 && t[1].text == "." && t[3].text == "."
	if c := t[n-1].text; column && c == name {
		return phrase(t)
	}
	return phrase(t) + " AS " + name
}

// fromItem writes an entry of FROM with a line for each join. Names of
// relations are as short as the search path allows.
func (env *Env) fromItem(words []sqlWord) string {
	var b strings.Builder
	for i := 0; i < len(words); i++ {
		w := words[i]
		if i+2 < len(words) && words[i+1].text == "." {
			if schema := unquoteIdent(w.text); env.Snap.RelationVisible(env.DB, env.SearchPath, schema, unquoteIdent(words[i+2].text)) &&
				(i == 0 || words[i-1].text == "JOIN" || words[i-1].text == "ONLY") {
				i += 2
				b.WriteString(" " + words[i].text)
				continue
			}
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1].text
		}
		prev := ""
		if i > 0 {
			prev = words[i-1].text
		}
		switch {
		case w.text == "INNER" && next == "JOIN", w.text == "AS" && !strings.HasPrefix(next, "("):
			continue
		case w.text == "JOIN" && (prev == "INNER" || prev == ""):
			b.WriteString("\n     JOIN")
			continue
		case w.text == "NATURAL" || prev != "NATURAL" && (w.text == "CROSS" || w.text == "LEFT" || w.text == "RIGHT" || w.text == "FULL") && (next == "JOIN" || next == "OUTER"):
			b.WriteString("\n     " + w.text)
			continue
		}
		if w.space || i == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}
