package expr

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

var rewriteDocs = flag.Bool("rewrite", false, "write the table of functions instead of comparing it")

const functionTable = "../../catalog/builtin/FUNCTIONS.md"

// TestFunctionTable holds the table of supported functions to what is there.
func TestFunctionTable(t *testing.T) {
	got := functionsDoc()
	if *rewriteDocs {
		if err := os.WriteFile(functionTable, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(functionTable)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: make docs", functionTable)
	}
}

func functionsDoc() string {
	operatorProcs := map[types.OID]bool{}
	for _, o := range catalog.Operators() {
		operatorProcs[o.Proc] = true
	}
	kinds := map[string]map[string][]string{}
	add := func(kind, name, sig string) {
		if kinds[kind] == nil {
			kinds[kind] = map[string][]string{}
		}
		kinds[kind][name] = append(kinds[kind][name], sig)
	}
	all, some := map[string]bool{}, map[string]bool{}
	for _, p := range catalog.Procs() {
		if p.SQL != nil || internalProc(p) {
			continue
		}
		sig := fmt.Sprintf("(%s) → %s", argumentList(p), types.FormatTypeNoMod(p.Ret))
		kind := "Functions"
		switch {
		case p.Kind == 'a':
			kind = "Aggregates"
		case p.Kind == 'w':
			kind = "Window functions"
		case operatorProcs[p.OID]:
			continue // listed by its operator
		case p.RetSet:
			kind = "Functions that return sets"
		}
		all[p.Name] = true
		if !supportedProc(p) {
			continue
		}
		some[p.Name] = true
		add(kind, p.Name, sig)
	}
	for _, d := range catalog.AvailableExtensions() {
		for _, p := range d.Procs() {
			if supportedProc(p) {
				add("With CREATE EXTENSION", p.Name, fmt.Sprintf("%s: (%s) → %s", d.Name, argumentList(p), types.FormatTypeNoMod(p.Ret)))
			}
		}
	}
	addOperator := func(kind, prefix string, o *catalog.Operator) {
		p := catalog.ProcByOID(o.Proc)
		if p == nil || !Implemented(p.Src) {
			return
		}
		sig := types.FormatTypeNoMod(o.Right)
		if o.Kind == 'b' {
			sig = types.FormatTypeNoMod(o.Left) + " " + o.Name + " " + sig
		} else {
			sig = o.Name + " " + sig
		}
		add(kind, o.Name, prefix+sig+" → "+types.FormatTypeNoMod(o.Result))
	}
	for _, o := range catalog.Operators() {
		addOperator("Operators", "", o)
	}
	for _, d := range catalog.AvailableExtensions() {
		for _, o := range d.Operators() {
			addOperator("With CREATE EXTENSION", d.Name+": ", o)
		}
	}
	var b strings.Builder
	b.WriteString("# Functions and operators\n\nWhat of PostgreSQL 15's built-in functions is supported. This file is generated: `make docs`.\n")
	for _, kind := range []string{"Functions", "Functions that return sets", "Aggregates", "Window functions", "Operators", "With CREATE EXTENSION"} {
		fmt.Fprintf(&b, "\n## %s\n\n| Name | Forms |\n|---|---|\n", kind)
		for _, name := range slices.Sorted(maps.Keys(kinds[kind])) {
			sigs := kinds[kind][name]
			slices.Sort(sigs)
			sigs = slices.Compact(sigs)
			fmt.Fprintf(&b, "| `%s` | %s |\n", escapeCell(name), escapeCell(strings.Join(sigs, "; ")))
		}
	}
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !some[name] {
			refused = append(refused, "`"+name+"`")
		}
	}
	fmt.Fprintf(&b, "\n## Refused by name (0A000)\n\n%s\n", strings.Join(refused, ", "))
	return b.String()
}

func escapeCell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// internalProc reports whether a function is machinery of PostgreSQL that SQL
// cannot call, or that only moves values in and out.
func internalProc(p *catalog.Proc) bool {
	for _, o := range append([]types.OID{p.Ret}, p.Args...) {
		switch types.FormatTypeNoMod(o) {
		case "internal", "cstring", "trigger", "event_trigger", "language_handler", "fdw_handler", "index_am_handler",
			"table_am_handler", "tsm_handler":
			return true
		}
	}
	return machinery.MatchString(p.Name)
}

// machinery are names of functions that serve operators, aggregates, indexes and
// types, and are not documented on their own.
var machinery = regexp.MustCompile(`^(RI_|binary_upgrade_|hash[a-z]|gin_|brin_|gist|spg|bt[a-z0-9_]*(cmp|sortsupport|image)|fmgr_)|` +
	`(send|typmodin|_accum|_accum_inv|_combine|_subdiff|_canonical|_hash|_hash_extended|_cmp|cmp|_transfn|_finalfn)$|` +
	`^(int[248]_(avg|sum)|int2int4_sum|int[48](inc|dec)(_any)?|int8inc_float8_float8|float8_(avg|corr|covar_|regr_|stddev_|var_).*|` +
	`.*(larger|smaller)|.*_image|currtid2)$`)

func argumentList(p *catalog.Proc) string {
	var out []string
	for i, o := range p.Args {
		s := types.FormatTypeNoMod(o)
		if p.Variadic != 0 && i == len(p.Args)-1 {
			s = "VARIADIC " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func supportedProc(p *catalog.Proc) bool {
	switch p.Kind {
	case 'w':
		return true
	case 'a':
		a := &plan.Agg{Proc: p, T: types.Of(p.Ret), Direct: 0}
		var direct []types.Datum
		for _, o := range p.Args {
			a.Args = append(a.Args, &plan.Const{At: plan.At{T: types.Of(o)}})
			direct = append(direct, types.Null(types.Of(o)))
		}
		defer func() { _ = recover() }()
		agg, err := NewAggregator(a, direct)
		return err == nil && agg != nil
	}
	return Implemented(p.Src)
}
