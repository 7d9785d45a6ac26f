package main

import "strings"

// diffShrink returns a part of a statement, as short as it gets by leaving out
// runs of tokens and whole parentheses, that still fails.
func diffShrink(sql string, fails func(string) bool) string {
	tokens := diffTokens(sql)
	tries := 0
	try := func(t []string) bool {
		tries++
		if tries > 600 || !fails(strings.Join(t, " ")) {
			return false
		}
		tokens = t
		return true
	}
	without := func(from, to int, instead ...string) []string {
		out := append([]string{}, tokens[:from]...)
		return append(append(out, instead...), tokens[to:]...)
	}
	if !try(tokens) {
		return sql // the spaces matter
	}
	for shorter := true; shorter; {
		shorter = false
		for i := 0; i < len(tokens); i++ { // parentheses, the outer ones first
			if tokens[i] != "(" {
				continue
			}
			end := diffClosing(tokens, i)
			if end < 0 {
				continue
			}
			if end > i+2 && try(without(i, end+1, "NULL")) {
				shorter = true
			}
		}
		for size := len(tokens) / 2; size > 0; size /= 2 {
			for i := 0; i+size <= len(tokens); {
				if diffBalanced(tokens[i:i+size]) && try(without(i, i+size)) {
					shorter = true
				} else {
					i += max(1, size/3)
				}
			}
		}
		shorter = shorter && tries <= 600
	}
	return strings.Join(tokens, " ")
}

// diffTokens splits at blanks, parentheses, brackets and commas outside of
// quotes.
func diffTokens(sql string) []string {
	var out []string
	start, quoted := 0, false
	cut := func(i int) {
		if i > start {
			out = append(out, sql[start:i])
		}
		start = i
	}
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == ' ':
			cut(i)
			start = i + 1
		case strings.IndexByte("(),[]", c) >= 0:
			cut(i)
			cut(i + 1)
		}
	}
	cut(len(sql))
	return out
}

func diffClosing(tokens []string, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func diffBalanced(tokens []string) bool {
	depth := 0
	for _, t := range tokens {
		switch t {
		case "(", "[":
			depth++
		case ")", "]":
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
