package regex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDeterministic compares the deterministic automaton with the simulated one on random
// patterns and texts.
func TestDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	places := []string{"^", "$", `\m`, `\M`, `\y`, `\Y`, `\A`, `\Z`}
	atoms := []string{"a", "b", "[ab]", "[^a]", ".", "é", `\w`, `\s`, "(a|b)", "(ab*)", "(?:ba|a)", "(a.*b|c)"}
	var pattern func(depth int) string
	pattern = func(depth int) string {
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			if rng.IntN(4) == 0 {
				b.WriteString(places[rng.IntN(len(places))])
				continue
			}
			x := atoms[rng.IntN(len(atoms))]
			if depth > 0 && rng.IntN(4) == 0 {
				x = "(" + pattern(depth-1) + ")"
			}
			b.WriteString(x + []string{"", "", "*", "+", "?", "{1,3}", "*?", "+?"}[rng.IntN(8)])
		}
		return b.String()
	}
	letters := []rune("aab bcé\n_")
	compared := 0
	for range 3000 {
		src, f := pattern(2), Flags{Lines: rng.IntN(2) == 0, Fold: rng.IntN(3) == 0}
		re, err := Compile(src, f)
		if err != nil {
			continue
		}
		slow, err := Compile(src, f)
		if err != nil {
			t.Fatal(err)
		}
		golang := re.linear
		re.linear, slow.linear = nil, nil
		for range 5 {
			var text []rune
			for range rng.IntN(14) {
				text = append(text, letters[rng.IntN(len(letters))])
			}
			got, want := all(t, re, string(text), false), all(t, slow, string(text), true)
			if got != want {
				t.Fatalf("%q on %q\ngot  %s\nwant %s", src, string(text), got, want)
			}
			if golang != nil {
				if is, err := re.Match([]byte(string(text)), nil); err != nil || is != golang.MatchString(string(text)) {
					t.Fatalf("%q on %q: %v, not what package regexp says; %v", src, string(text), is, err)
				}
			}
			compared++
		}
	}
	if compared < 5000 {
		t.Errorf("%d texts compared", compared)
	}
}

// all writes down whether a pattern matches, and all of its matches with their groups.
func all(t *testing.T, re *Regexp, text string, simulated bool) string {
	t.Helper()
	if simulated {
		simulate(re.automaton(), re.whole)
	}
	is, err := re.Match([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprint(is)
	m := re.On([]byte(text), true, nil)
	for at := 0; at <= len(text); {
		loc, err := m.Next(at)
		if err != nil {
			t.Fatal(err)
		}
		if loc == nil {
			break
		}
		out += fmt.Sprint(loc)
		if at = loc[1]; loc[0] == loc[1] {
			for at++; at < len(text) && text[at]&0xc0 == 0x80; at++ {
			}
		}
	}
	return out
}

// simulate keeps an automaton and those of the parts from being made deterministic.
func simulate(p *program, x *part) {
	p.examined, p.looks = true, true
	if x == nil {
		return
	}
	re := &Regexp{}
	m := &Matcher{re: re}
	for _, q := range []*program{m.forward(x), m.backward(x)} {
		q.examined, q.looks = true, true
	}
	for _, s := range x.subs {
		simulate(p, s)
	}
}

// TestManyStates runs a pattern that has more states than are kept.
func TestManyStates(t *testing.T) {
	re, err := Compile(`(a|b)*a(a|b){12}c\M`, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 20000)
	for i := range text {
		text[i] = "ab"[rng.IntN(2)]
	}
	for _, end := range []string{"abbbbbbbbbbbbc", "bbbbbbbbbbbbbc"} {
		ok, err := re.Match([]byte(string(text)+end), nil)
		if want := end[0] == 'a'; err != nil || ok != want {
			t.Errorf("%s: %v, %v", end, ok, err)
		}
		if n := len(re.automaton().floating.states); n > maxStates {
			t.Errorf("%d states are kept", n)
		}
	}
}

// BenchmarkMatch looks for patterns in texts of 330 bytes.
func BenchmarkMatch(b *testing.B) {
	text := []byte(strings.Repeat("a5f0c3de-91b7 some words, ", 13))
	for _, pattern := range []string{"[0-9]{6}[a-f]{5}", `^\d+$`, `\yword\y`, "(foo|bar|baz)[0-9]*", `[a-z]+@[a-z]+\.[a-z]{2,}`, "wordy", "(a|c).*(x|y).*z"} {
		b.Run(pattern, func(b *testing.B) {
			re, err := Compile(pattern, Flags{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := re.Match(text, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
