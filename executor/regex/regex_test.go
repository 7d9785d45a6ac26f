package regex

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Expected results are PostgreSQL's.
func TestMatches(t *testing.T) {
	data, err := os.ReadFile("testdata/matches.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("%q", line)
		}
		if got := describe(t, f[0], f[1], false); got != f[2]+"\t"+f[3] {
			t.Errorf("%s on %q\ngot  %s\nwant %s", f[0], f[1], got, f[2]+"\t"+f[3])
		}
		if got := describe(t, f[0], f[1], true); got != f[2]+"\t"+f[3] {
			t.Errorf("%s on %q, own automaton\ngot  %s\nwant %s", f[0], f[1], got, f[2]+"\t"+f[3])
		}
	}
}

// describe matches a text and writes down the range and the groups.
func describe(t *testing.T, pattern, text string, own bool) string {
	re, err := Compile(pattern, Flags{})
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	if own {
		re.linear = nil
	}
	loc, err := re.On([]byte(text), true, nil).Next(0)
	if err != nil {
		t.Fatal(err)
	}
	if loc == nil {
		return "0-0\t"
	}
	pos := func(i int) string { return strconv.Itoa(utf8.RuneCountInString(text[:i]) + 1) }
	out := pos(loc[0]) + "-" + pos(loc[1]) + "\t{"
	if len(loc) > 2 {
		loc = loc[2:]
	}
	for i := 0; i < len(loc); i += 2 {
		if i > 0 {
			out += ","
		}
		switch {
		case loc[i] < 0:
			out += "NULL"
		case loc[i] == loc[i+1] || strings.ContainsAny(text[loc[i]:loc[i+1]], " ,"):
			out += `"` + text[loc[i]:loc[i+1]] + `"`
		default:
			out += text[loc[i]:loc[i+1]]
		}
	}
	return out + "}"
}

func TestErrors(t *testing.T) {
	for pattern, want := range map[string]error{
		"***": errOperand, "***?": errPattern, "(?z)a": errOption, "(?ia": errOption, `\x`: errEscape, "[[.foo.]]": errCollate,
		"(?<a)": errOperand, "[b-a]": errRange, "a{2": errBraces, "a{1,x}": errCount, "a{256}": errCount, "a{2,1}": errCount,
		"((a{255}){255}){255}": errSize, "(a": errParens, "a)": errParens, "[a": errBrackets, "[[:foo:]]": errClass, `\q`: errEscape,
		`a\`: errEscape, `\1`: errBackref, `(a\1)`: errBackref, `(.)(?!\1)`: errBackref, "^*": errOperand, "a**": errOperand,
		"*a": errOperand, "a|*": errOperand, "(+)": errOperand, "[a-[:digit:]]": errRange, "[a-c-e]": errRange, "a{2}{3}": errOperand,
	} {
		if _, err := Compile(pattern, Flags{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", pattern, err, want)
		}
	}
	for _, part := range []string{"a", "|", "()", "a?", "[ab]", "(?:a|b)*", `(a)`, `\101`, "^", "(?=a)", "[[:alpha:]]{255}"} {
		if _, err := Compile(strings.Repeat(part, 500_000), Flags{}); !errors.Is(err, errSize) {
			t.Errorf("%s, many times: %v, want %v", part, err, errSize)
		}
	}
	for _, pattern := range []string{
		"[" + strings.Repeat("ax", 500_000) + "]", strings.Repeat("(", 500) + strings.Repeat("){255}", 500), "(a)" + doubled(200),
	} {
		if _, err := Compile(pattern, Flags{}); !errors.Is(err, errSize) {
			t.Errorf("%.20s…: %v, want %v", pattern, err, errSize)
		}
	}
	for _, pattern := range []string{"a{,3}", "a{", "[]", "", "()", "|", "a||b", `\.`, "[[:<:]]a"} {
		if _, err := Compile(pattern, Flags{}); err != nil && pattern != "[]" {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// doubled is n groups, each of which is the one before, twice.
func doubled(n int) string {
	var b strings.Builder
	for i := range n {
		k := strconv.Itoa(i + 1)
		b.WriteString(`(\` + k + "(?:)" + `\` + k + ")")
	}
	return b.String()
}

// Patterns that take other engines exponential time take this one few steps, and one
// that may go back for long can be stopped.
func TestCost(t *testing.T) {
	text := []byte(strings.Repeat("a", 1000) + "b")
	for _, pattern := range []string{"(a*)*c", "(a|aa)+$", "((a+)+)+c", "(?=(?:a+)+c)a", "(a*?)*?c", "(a|a)*(a|a)*c", "((aa|aaa)*)(a*)b"} {
		re, err := Compile(pattern, Flags{})
		if err != nil {
			t.Fatal(err)
		}
		polls := 0
		poll := func() error {
			if polls++; polls > 500 { // 8 million steps
				return context.DeadlineExceeded
			}
			return nil
		}
		if _, err := re.On(text, true, poll).Next(0); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	re, err := Compile(`(a*)(a*)(a*)(a*)\4\3\2\1c|^(a+)+\5+d`, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	long := []byte(strings.Repeat("a", 300) + "c" + strings.Repeat("a", 300) + "d")
	if _, err := re.On(long, true, ctx.Err).Next(0); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, p := range []string{"(a|b)*?c", `\m[[:alpha:]]+\M`, `(?<=x)(y)\1`, "a{2,3}?", "(?x) a # b", "[]-a]", `\1`} {
		f.Add(p, "aabbxyy c")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) || len(pattern) > 40 || len(text) > 60 {
			return
		}
		re, err := Compile(pattern, Flags{})
		if err != nil {
			return
		}
		deadline := time.Now().Add(time.Second)
		poll := func() error {
			if time.Now().After(deadline) {
				return context.DeadlineExceeded
			}
			return nil
		}
		want, err := re.Match([]byte(text), poll)
		if err != nil {
			return
		}
		loc, err := re.On([]byte(text), true, poll).Next(0)
		if err == nil && (loc != nil) != want {
			t.Errorf("%q on %q: %v, but %v", pattern, text, loc, want)
		}
	})
}
