package jsonpath_test

import (
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/jsonpath"
)

func canonical(s string) (string, error) {
	p, err := types.ParseJSONPath(s)
	if err != nil {
		return "", err
	}
	return p.String(types.AppendJSONString), nil
}

func TestCanonicalText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"$", "$"},
		{"strict $.a", `strict $."a"`},
		{"lax $", "$"},
		{"(1.50).type()", "(1.50).type()"},
		{"1e3", "1000"},
		{"$.a > 1", `($."a" > 1)`},
		{"-$.a.b", `(-$."a"."b")`},
		{"(-$.a).b", `(-$."a")."b"`},
		{"($.a == 1).type()", `($."a" == 1).type()`},
		{"$ ? (@.a == 1 || @.b == 2 && !(@.c < 3))", `$?(@."a" == 1 || @."b" == 2 && !(@."c" < 3))`},
		{"$a.b", `$"a"."b"`},
		{`$."a\u0041b\x41"`, `$."aAbA"`},
		{"$.foo\\u0062ar", `$."foobar"`},
		{"$.**{2}.b", `$.**{2}."b"`},
		{"$.**{1 to last}", "$.**{1 to last}"},
		{"$[1, 2 to last - 1]", "$[1,2 to last - 1]"},
		{`$.a like_regex "a" flag "qi"`, `($."a" like_regex "a" flag "iq")`},
		{"1 + 2 * 3 - -4", "((1 + 2 * 3) - -4)"},
		{"$.a starts with $x", `($."a" starts with $"x")`},
		{`$.datetime("HH24" )`, `$.datetime("HH24")`},
		{"!exists($.a)", `!(exists ($."a"))`},
		{"(1 == 1) is unknown && true == true", "((1 == 1) is unknown && true == true)"},
		{"$ /* c */ . a", `$."a"`},
		{"$.*.b[*].type", `$.*."b"[*]."type"`},
		// Without the brackets .abs() would be applied to 2.
		{"($.a * 2).abs() + 1", `(($."a" * 2).abs() + 1)`},
	} {
		got, err := canonical(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, got, err, c.want)
			continue
		}
		if again, err := canonical(got); err != nil || again != got {
			t.Errorf("%s: its text %s is read as %s, %v", c.in, got, again, err)
		}
	}
}

func TestRefusedPaths(t *testing.T) {
	for _, c := range []struct {
		in   string
		code sqlerr.Code
	}{
		{"", sqlerr.InvalidTextRepresentation}, {"$.", sqlerr.SyntaxError}, {"$.1a", sqlerr.SyntaxError}, {"1a", sqlerr.SyntaxError},
		{"00", sqlerr.SyntaxError}, {"1.type()", sqlerr.SyntaxError}, {"$.a ?", sqlerr.SyntaxError}, {"$.a $", sqlerr.SyntaxError},
		{"@", sqlerr.SyntaxError}, {"last", sqlerr.SyntaxError}, {"NULL", sqlerr.SyntaxError}, {`"abc`, sqlerr.SyntaxError},
		{`"\xzz"`, sqlerr.SyntaxError}, {"!$.a", sqlerr.SyntaxError}, {"1 == 1 == 1", sqlerr.SyntaxError}, {"$ ? ($.a)", sqlerr.SyntaxError},
		{"($.a == 1) + 1", sqlerr.SyntaxError}, {"$[$.a == 1]", sqlerr.SyntaxError}, {"$.a ? (@ < 1", sqlerr.SyntaxError},
		{`$ like_regex "a" flag "z"`, sqlerr.SyntaxError}, {`$ like_regex "a" flag "x"`, sqlerr.FeatureNotSupported},
		{`"\u0000"`, sqlerr.UntranslatableCharacter}, {`"\ud800"`, sqlerr.InvalidTextRepresentation},
	} {
		if _, err := canonical(c.in); sqlerr.CodeOf(err) != c.code {
			t.Errorf("%q: %v, want %s", c.in, err, c.code)
		}
	}
}

// FuzzCanonicalText: nothing panics, and the canonical text of a path is that
// of the path it is read as.
func FuzzCanonicalText(f *testing.F) {
	for _, s := range []string{"$", "strict $.a[*] ? (@.b > 1 && exists(@.c))", "-$.a.abs() + 1.5e3", `$.**{1 to 2}."x" like_regex "^a" flag "i"`,
		"($ * 2).size() % last", `$[0, 1 to last].datetime("HH24:MI")`, `$x starts with "\u0041"`, "!(($ == 1) is unknown)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := canonical(s)
		if err != nil {
			return
		}
		if again, err := canonical(text); err != nil || again != text {
			t.Fatalf("%q: its text %q is read as %q, %v", s, text, again, err)
		}
	})
}

// TestLiterals: the items that stand for a value have it.
func TestLiterals(t *testing.T) {
	for src, want := range map[string]string{
		`1`: `1`, `-1`: `-1`, `- -1.50`: `1.50`, `+2`: `2`, `-0`: `0`, `"a\nb"`: `"a\nb"`, `true`: `true`, `false`: `false`, `null`: `null`,
		`$ starts with "x"`: `"x"`, `$[-1]`: `-1`, `$ ? (@ == -2.5)`: `-2.5`,
	} {
		p, err := types.ParseJSONPath(src)
		if err != nil {
			t.Fatal(err)
		}
		var last *jsonpath.Item
		var walk func(it *jsonpath.Item)
		walk = func(it *jsonpath.Item) {
			for ; it != nil; it = it.Next {
				if it.Kind <= jsonpath.Bool {
					last = it
				}
				walk(it.Left)
				walk(it.Right)
				for _, s := range it.Subscripts {
					walk(s.From)
				}
			}
		}
		if walk(p.Root); last == nil || string(last.JSON) != want {
			t.Errorf("%s: %v", src, last)
		}
	}
}
