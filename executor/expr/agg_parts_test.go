package expr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// valuesOf are texts of values of the types that aggregates take. Sums of the floats do
// not depend on their order.
var valuesOf = map[string][]string{
	"bool": {"t", "f"}, "int2": {"1", "-7", "30000", "0"}, "int4": {"1", "-7", "2000000000", "0", "5"},
	"int8": {"1", "-7", "9000000000000000000", "0", "8"}, "numeric": {"1", "-2.50", "1e20", "0.001", "NaN", "Infinity", "7.25"},
	"float4": {"1", "-2.5", "8", "0", "0.25"}, "float8": {"1", "-2.5", "8", "0", "1024", "0.25"}, "money": {"1.50", "-3", "0"},
	"text": {"", "a", "b", "ab", "ä", "a longer text than the others"}, "bpchar": {"a", "a  ", "b"}, "varchar": {"x", "y", ""}, "bytea": {`\x`, `\x00`, `\x6162`},
	"date": {"2020-01-01", "1999-12-31", "infinity"}, "time": {"00:00", "12:30:01.5"}, "timetz": {"12:00+01", "11:00+00", "12:00+00"},
	"timestamp": {"2020-01-01 10:00", "-infinity", "1999-12-31"}, "timestamptz": {"2020-01-01 10:00+00", "infinity", "1999-12-31 00:00+02"},
	"interval": {"1 day", "24 hours", "-3 mons", "00:00:01"}, "oid": {"1", "4000000000", "7"}, "inet": {"10.0.0.1", "10.0.0.0/8", "::1"},
	"tid": {"(0,1)", "(7,2)"}, "xid8": {"1", "18000000000000000000"}, "pg_lsn": {"0/1", "1/0"}, "bit": {"1"}, "varbit": {"10", "1", ""},
	"json": {"1", `{"a": 2}`, `"x"`}, "jsonb": {"1", `{"a": 2}`, `"x"`, "null"}, "uuid": {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"},
	"int4[]": {"{1,2}", "{3,4}", "{5,NULL}"}, "text[]": {"{a,b}", "{c,d}"}, "point": {"(1,2)", "(0,0)"}, "name": {"a", "b"},
	"int4range": {"[1,5)", "[3,9)", "empty", "[20,30)", "(,2)"}, "numrange": {"[1,5)", "[3,9.5]"}, "int4multirange": {"{[1,5),[7,9)}", "{}", "{[2,8)}"},
}

// anyOf are the types tried for what takes several.
var anyOf = map[types.OID][]string{
	types.OAny: {"int4", "text", "numeric", "float8"}, types.OAnyelement: {"int4", "text", "numeric"}, types.OAnynonarray: {"int4", "text", "numeric", "bool", "interval", "bytea", "json", "point"},
	types.OAnyarray: {"int4[]", "text[]"}, types.OAnyrange: {"int4range", "numrange"}, types.OAnymultirange: {"int4multirange"}, types.OAnyenum: {},
}

// aggregates plans each aggregate of the catalog for each list of types that it takes.
func aggregates(t *testing.T, each func(call string, a *plan.Agg)) {
	t.Helper()
	done := map[string]bool{}
	for _, p := range catalog.Procs() {
		if p.Kind != 'a' || done[p.Name] {
			continue
		}
		done[p.Name] = true
		for _, same := range catalog.ProcsByName(p.Name) {
			lists := [][]string{nil}
			for _, o := range same.Args {
				names, several := anyOf[o]
				if !several {
					names = []string{types.FormatTypeNoMod(o)}
				}
				var longer [][]string
				for _, l := range lists {
					for _, n := range names {
						if types.ByName(n) != nil && types.ByName(n).OID != 0 {
							n = types.FormatTypeNoMod(types.ByName(n).OID)
						}
						longer = append(longer, append(slices.Clone(l), n))
					}
				}
				lists = longer
			}
			for _, l := range lists {
				var args []string
				for _, n := range l {
					args = append(args, "NULL::"+n)
				}
				call := p.Name + "(" + strings.Join(args, ", ") + ")"
				if len(args) == 0 {
					call = p.Name + "(*)"
				}
				if a := plannedAggregate(call); a != nil {
					each(strings.ReplaceAll(call, "NULL::", ""), a)
				}
			}
		}
	}
}

// plannedAggregate is the aggregate of a call, nil if it cannot be called so.
func plannedAggregate(call string) *plan.Agg {
	st, err := parser.ParseOne("SELECT " + call)
	if err != nil {
		return nil
	}
	q, err := planner.Plan(&planner.Context{Snap: snapshot, DB: snapshot.Database("postgres").OID,
		SearchPath: []string{"pg_catalog", "public"}, Fmt: types.DefaultFmt, Texts: parser.Texts{}}, st.Stmt)
	if err != nil {
		return nil
	}
	var found *plan.Agg
	var look func(n plan.Node)
	look = func(n plan.Node) {
		if g, ok := n.(*plan.Group); ok && len(g.Aggs) == 1 {
			found = &g.Aggs[0]
		}
		for _, c := range n.Children() {
			look(c)
		}
	}
	look(q.Root)
	return found
}

// aggRows are rows of arguments, a vector for each.
func aggRows(t *testing.T, r *rand.Rand, a *plan.Agg, n int) []*vec.Vec {
	t.Helper()
	var out []*vec.Vec
	for _, arg := range a.Args {
		at := arg.Type()
		texts := valuesOf[types.Lookup(at.OID).Name]
		if e := types.Lookup(at.OID).Elem; e != 0 && texts == nil {
			texts = valuesOf[types.Lookup(e).Name+"[]"]
		}
		if texts == nil {
			return nil
		}
		v := vec.New(at, n)
		for i := range n {
			d := types.Null(at)
			if r.IntN(6) > 0 {
				var err error
				if d, err = types.Parse(at, texts[r.IntN(len(texts))], types.DefaultFmt); err != nil {
					t.Fatal(at, err)
				}
			}
			v.Set(i, d)
		}
		out = append(out, v)
	}
	return out
}

// folded is the result of an aggregator for a group, or its error.
func folded(agg expr.Aggregator, a *plan.Agg, group int) string {
	out := vec.New(a.T, 1)
	if err := agg.Result(testEnv(), out, group, group+1); err != nil {
		return answer(types.Datum{}, err)
	}
	return answer(out.Get(0), nil)
}

// nearly reports whether two texts are of numbers that differ in their last digits: those
// of squares of floats depend on the order of the sums.
func nearly(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-12*math.Max(math.Abs(x), math.Abs(y))
}

// TestAggregatesInParts folds random rows at once, in parts that are merged, in a group
// that was emptied, and with rows that are taken back: the result is the same.
func TestAggregatesInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	tried := 0
	aggregates(t, func(call string, a *plan.Agg) {
		if a.Direct > 0 {
			return // they are sorted as a whole
		}
		if _, err := expr.NewAggregator(a, nil); err != nil {
			return
		}
		for range 40 {
			n := r.IntN(12)
			args := aggRows(t, r, a, n)
			if args == nil && len(a.Args) > 0 {
				t.Logf("no values for %s", call)
				return
			}
			tried++
			fresh := func() expr.Aggregator {
				agg, err := expr.NewAggregator(a, nil)
				if err != nil {
					t.Fatal(call, err)
				}
				agg.Grow(2)
				return agg
			}
			add := func(agg expr.Aggregator, group uint32, from, to int) error {
				for i := from; i < to; i++ {
					if err := agg.Add(testEnv(), []uint32{group}, args, []uint32{uint32(i)}); err != nil {
						return err
					}
				}
				return nil
			}
			whole := func(from, to int) (string, error) {
				agg := fresh()
				err := add(agg, 0, from, to)
				return folded(agg, a, 0), err
			}
			want, err := whole(0, n)
			if err != nil {
				continue
			}
			tell := func(how, got, want string) {
				if got != want && !nearly(got, want) {
					var rows []string
					for i := range n {
						var row []string
						for _, v := range args {
							row = append(row, answer(v.Get(i), nil))
						}
						rows = append(rows, strings.Join(row, ","))
					}
					t.Errorf("%s %s: got %s, want %s\n%s", call, how, got, want, strings.Join(rows, "\n"))
				}
			}
			// in parts
			at := r.IntN(n + 1)
			first, second := fresh(), fresh()
			if add(first, 1, 0, at) != nil || add(second, 0, at, n) != nil {
				continue
			}
			if err := first.Merge(second, 0, 1); err != nil {
				tell("merged", answer(types.Datum{}, err), want)
			} else {
				tell(fmt.Sprintf("merged at %d", at), folded(first, a, 1), want)
			}
			// emptied
			again := fresh()
			if add(again, 1, 0, n) == nil {
				again.Reset(1)
				if add(again, 1, 0, n) == nil {
					tell("emptied", folded(again, a, 1), want)
				}
				tell("beside an emptied group", folded(again, a, 0), folded(fresh(), a, 0))
			}
			// taken back
			moved := fresh()
			if m, ok := moved.(expr.Remover); ok && add(moved, 0, 0, n) == nil {
				took := true
				for i := 0; i < at && took; i++ {
					took = m.Remove(testEnv(), 0, args, i)
				}
				if rest, err := whole(at, n); took && err == nil {
					tell(fmt.Sprintf("without the first %d", at), folded(moved, a, 0), rest)
				}
			}
		}
	})
	if tried < 1000 {
		t.Errorf("only %d folds", tried)
	}
}
