package expr

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog/types"
)

// genDocument writes a document of few keys and scalars, which paths meet often.
func genDocument(r *rand.Rand, depth int) string {
	switch k := r.Intn(7); {
	case k < 2 && depth > 0:
		var list []string
		for _, key := range []string{"a", "b", "c"} {
			if r.Intn(2) == 0 {
				list = append(list, fmt.Sprintf("%q: %s", key, genDocument(r, depth-1)))
			}
		}
		return "{" + strings.Join(list, ", ") + "}"
	case k < 4 && depth > 0:
		list := make([]string, r.Intn(4))
		for i := range list {
			list[i] = genDocument(r, depth-1)
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return genScalar(r)
}

func genScalar(r *rand.Rand) string {
	return []string{"1", "2.50", "2.5", "0", `"a"`, `"x"`, `"1"`, "true", "false", "null"}[r.Intn(10)]
}

// genPath writes a path that begins with head.
func genPath(r *rand.Rand, head string, depth int) string {
	p := head
	for range r.Intn(4) {
		switch k := r.Intn(14); {
		case k < 5:
			p += "." + []string{"a", "b", "c"}[r.Intn(3)]
		case k < 7:
			p += "[*]"
		case k < 8:
			p += []string{".*", ".**", ".**{1 to 2}", "[0]", "[last]", "[0 to $.a]"}[r.Intn(6)]
		case k < 9:
			p += []string{".size()", ".type()", ".double()", ".keyvalue()", ".keyvalue().key", ".abs()", ".ceiling()"}[r.Intn(7)]
		case depth > 0:
			p += " ? (" + genPredicate(r, "@", depth-1) + ")"
		}
	}
	return p
}

func genOperand(r *rand.Rand, head string, depth int) string {
	switch r.Intn(8) {
	case 0, 1:
		return genScalar(r)
	case 2:
		return genPath(r, "$", depth)
	case 3:
		return "(" + genOperand(r, head, 0) + []string{" + ", " * ", " - "}[r.Intn(3)] + genOperand(r, head, 0) + ")"
	case 4:
		return "-" + genPath(r, head, 0)
	}
	return genPath(r, head, depth)
}

func genPredicate(r *rand.Rand, head string, depth int) string {
	if depth > 0 {
		switch r.Intn(8) {
		case 0, 1:
			return "(" + genPredicate(r, head, depth-1) + []string{" && ", " || "}[r.Intn(2)] + genPredicate(r, head, depth-1) + ")"
		case 2:
			return "!(" + genPredicate(r, head, depth-1) + ")"
		case 3:
			return "(" + genPredicate(r, head, depth-1) + ") is unknown"
		}
	}
	switch r.Intn(8) {
	case 0:
		return "exists(" + genPath(r, head, depth) + ")"
	case 1:
		return genPath(r, head, depth) + ` starts with "x"`
	case 2:
		return genPath(r, head, depth) + ` like_regex "^[ax]$"`
	}
	return genOperand(r, head, depth) + []string{" == ", " == ", " == ", " != ", " < ", " >= "}[r.Intn(6)] + genOperand(r, head, depth)
}

// TestPathKeys: a document of which a path finds something, or is true, has an element key
// of each group.
func TestPathKeys(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	held, told := 0, 0
	for range 60_000 {
		text := genPath(r, "$", 2)
		if r.Intn(2) == 0 {
			text = genPredicate(r, "$", 2)
		}
		text = []string{"", "", "strict "}[r.Intn(3)] + text
		path := types.Bytes(types.Of(types.OJSONPath), []byte(text))
		if _, err := types.ParseJSONPath(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		doc := types.Bytes(types.Of(types.OJSONB), []byte(genDocument(r, 3)))
		keys, _, err := types.ElementKeys(doc)
		if err != nil {
			t.Fatal(err)
		}
		for op, f := range map[string]func(*callCtx, []types.Datum, bool) (types.Datum, error){"@?": pathExists, "@@": pathMatch} {
			got, err := f(&callCtx{env: &Env{Ctx: context.Background()}}, []types.Datum{doc, path}, false)
			if err != nil || got.Null || got.I == 0 {
				continue
			}
			held++
			groups, err := types.PathKeys(path, op == "@@")
			if err != nil {
				t.Fatal(err)
			}
			if len(groups) > 0 {
				told++
			}
			for _, g := range groups {
				if !slices.ContainsFunc(g, func(k types.Datum) bool {
					return slices.ContainsFunc(keys, func(have types.Datum) bool { return types.Compare(k, have) == 0 })
				}) {
					t.Fatalf("%s %s %s, which has none of %s", doc.B, op, text, prettyTokens(g))
				}
			}
		}
	}
	if held < 5000 || told < 1000 {
		t.Errorf("%d paths hold, of which %d ask for keys", held, told)
	}
}

func prettyTokens(keys []types.Datum) string {
	var out []string
	for _, k := range keys {
		out = append(out, types.PrettyToken(k.B))
	}
	return strings.Join(out, ", ")
}
