package catalog

import "strings"

// Expressions are kept as SQL text, so a rename has to change the text. The
// texts were deparsed by the binder: identifiers are either plain lower case or
// quoted, strings are in single quotes, and there are no comments.

// sqlToken is an identifier, a string literal, or anything else of a SQL text.
type sqlToken struct {
	kind byte   // i identifier, s string literal, o other, ' ' space
	text string // as written
	name string // of an identifier: what it means
}

// sqlTokens cuts a text into tokens whose texts joined are the text again.
func sqlTokens(s string) []sqlToken {
	var out []sqlToken
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			for i < len(s) && strings.IndexByte(" \n\t\r", s[i]) >= 0 {
				i++
			}
			out = append(out, sqlToken{' ', s[start:i], ""})
		case c == '\'' || c == '"':
			i = quotedEnd(s, i)
			t := sqlToken{kind: 's', text: s[start:i]}
			if c == '"' && i-start >= 2 {
				t.kind, t.name = 'i', strings.ReplaceAll(s[start+1:i-1], `""`, `"`)
			}
			out = append(out, t)
		case isIdentByte(c) && (c < '0' || c > '9'):
			for i < len(s) && (isIdentByte(s[i]) || s[i] == '$') {
				i++
			}
			out = append(out, sqlToken{'i', s[start:i], strings.ToLower(s[start:i])})
		case c == ':' && strings.HasPrefix(s[i:], "::"):
			i += 2
			out = append(out, sqlToken{'o', "::", ""})
		case c >= '0' && c <= '9':
			for i < len(s) && (isIdentByte(s[i]) || s[i] == '.') {
				i++
			}
			out = append(out, sqlToken{'o', s[start:i], ""})
		default:
			i++
			out = append(out, sqlToken{'o', s[start:i], ""})
		}
	}
	return out
}

// quotedEnd returns the position after the quoted token that begins at i.
func quotedEnd(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		if s[i] == q {
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

func isIdentByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// neighbour returns the text of the next token that is not a space, stepping by
// step from i.
func neighbour(toks []sqlToken, i, step int) string {
	for i += step; i >= 0 && i < len(toks); i += step {
		if toks[i].kind != ' ' {
			return toks[i].text
		}
	}
	return ""
}

func joinTokens(toks []sqlToken) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// renameFunctionText renames a function where a call names it with its schema.
func renameFunctionText(text, schema, old, newSchema, new string) string {
	toks := sqlTokens(text)
	for i, t := range toks {
		if t.kind == 'i' && t.name == old && neighbour(toks, i, +1) == "(" && i >= 2 && toks[i-1].text == "." && toks[i-2].name == schema {
			toks[i-2].text, toks[i].text = QuoteIdent(newSchema), QuoteIdent(new)
		}
	}
	return joinTokens(toks)
}
