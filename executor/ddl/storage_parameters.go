package ddl

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// storageParameter is a parameter of PostgreSQL's heap or of an index: what its
// value may be. They mean nothing here and change nothing, so they are checked and
// kept for pg_class alone.
type storageParameter struct {
	kind     byte // i integer, f floating point, b boolean, e one of words
	min, max float64
	words    []string
	toast    bool // toast. takes it, too
}

// heapParameters are those of tables and materialized views.
var heapParameters = map[string]storageParameter{
	"fillfactor":                            {kind: 'i', min: 10, max: 100},
	"toast_tuple_target":                    {kind: 'i', min: 128, max: 8160},
	"parallel_workers":                      {kind: 'i', min: 0, max: 1024},
	"user_catalog_table":                    {kind: 'b'},
	"vacuum_truncate":                       {kind: 'b', toast: true},
	"vacuum_index_cleanup":                  {kind: 'e', words: []string{"auto", "on", "off", "true", "false", "yes", "no", "1", "0"}, toast: true},
	"log_autovacuum_min_duration":           {kind: 'i', min: -1, max: math.MaxInt32, toast: true},
	"autovacuum_enabled":                    {kind: 'b', toast: true},
	"autovacuum_vacuum_threshold":           {kind: 'i', min: 0, max: math.MaxInt32, toast: true},
	"autovacuum_vacuum_insert_threshold":    {kind: 'i', min: -1, max: math.MaxInt32, toast: true},
	"autovacuum_analyze_threshold":          {kind: 'i', min: 0, max: math.MaxInt32},
	"autovacuum_vacuum_cost_delay":          {kind: 'f', min: 0, max: 100, toast: true},
	"autovacuum_vacuum_cost_limit":          {kind: 'i', min: 1, max: 10000, toast: true},
	"autovacuum_vacuum_scale_factor":        {kind: 'f', min: 0, max: 100, toast: true},
	"autovacuum_vacuum_insert_scale_factor": {kind: 'f', min: 0, max: 100, toast: true},
	"autovacuum_analyze_scale_factor":       {kind: 'f', min: 0, max: 100},
	"autovacuum_freeze_min_age":             {kind: 'i', min: 0, max: 1000000000, toast: true},
	"autovacuum_freeze_max_age":             {kind: 'i', min: 100000, max: 2000000000, toast: true},
	"autovacuum_freeze_table_age":           {kind: 'i', min: 0, max: 2000000000, toast: true},
	"autovacuum_multixact_freeze_min_age":   {kind: 'i', min: 0, max: 1000000000, toast: true},
	"autovacuum_multixact_freeze_max_age":   {kind: 'i', min: 10000, max: 2000000000, toast: true},
	"autovacuum_multixact_freeze_table_age": {kind: 'i', min: 0, max: 2000000000, toast: true},
}

// indexParameters are those of indexes, by access method.
var indexParameters = map[string]map[string]storageParameter{
	catalog.KindBtree:    {"fillfactor": {kind: 'i', min: 10, max: 100}, "deduplicate_items": {kind: 'b'}},
	catalog.KindHash:     {"fillfactor": {kind: 'i', min: 10, max: 100}},
	catalog.KindGist:     {"fillfactor": {kind: 'i', min: 10, max: 100}, "buffering": {kind: 'e', words: []string{"on", "off", "auto"}}},
	catalog.KindSpgist:   {"fillfactor": {kind: 'i', min: 10, max: 100}},
	catalog.KindBrin:     {"pages_per_range": {kind: 'i', min: 1, max: 131072}, "autosummarize": {kind: 'b'}},
	catalog.KindInverted: {"fillfactor": {kind: 'i', min: 10, max: 100}, "deduplicate_items": {kind: 'b'}},
	catalog.KindGin:      {"fastupdate": {kind: 'b'}, "gin_pending_list_limit": {kind: 'i', min: 64, max: math.MaxInt32}},
}

// check checks a value of the parameter of that name.
func (p *storageParameter) check(name, v string) error {
	bounds := func(min, max string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"", v, name).
			WithDetail("Valid values are between \"%s\" and \"%s\".", min, max)
	}
	wrong := func(kind string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for %s option \"%s\": %s", kind, name, v)
	}
	switch p.kind {
	case 'b':
		if _, ok := catalog.ParseBool(v); !ok {
			return wrong("boolean")
		}
	case 'i':
		n, ok := parameterNumber(v, true) // fractions are rounded, as those of settings are
		if n = math.RoundToEven(n); !ok || !(math.Abs(n) <= math.MaxInt32) {
			return wrong("integer")
		}
		if n < p.min || n > p.max {
			return bounds(strconv.FormatInt(int64(p.min), 10), strconv.FormatInt(int64(p.max), 10))
		}
	case 'f':
		n, ok := parameterNumber(v, false)
		if !ok {
			return wrong("floating point")
		}
		if n < p.min || n > p.max {
			return bounds(strconv.FormatFloat(p.min, 'f', 6, 64), strconv.FormatFloat(p.max, 'f', 6, 64))
		}
	case 'e':
		if !slices.Contains(p.words, strings.ToLower(v)) {
			return wrong("enum").(*sqlerr.Error).WithDetail("Valid values are \"on\", \"off\", and \"auto\".")
		}
	}
	return nil
}

// parameterNumber reads a number as storage parameters are read.
func parameterNumber(v string, whole bool) (float64, bool) {
	n, rest, ok := types.CNumber(v, whole)
	return n, ok && n == n && strings.TrimSpace(rest) == ""
}

// heapParameter checks a storage parameter of a table.
func heapParameter(o *ast.Option) error {
	space, name, qualified := strings.Cut(o.Name, ".")
	if !qualified {
		space, name = "", o.Name
	}
	if space != "" && space != "toast" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter namespace \"%s\"", space)
	}
	p, ok := heapParameters[name]
	if !ok || space == "toast" && !p.toast {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
	}
	return p.check(name, optionText(o))
}

// keyOptions is indexOptions of a constraint, whose index stands in the one tablespace.
func keyOptions(kind string, k *ast.Constraint) (catalog.Options, error) {
	if err := knownTablespace(k.Tablespace); err != nil {
		return nil, err
	}
	return indexOptions(kind, k.With)
}

// indexOptions checks WITH (…) of an index or of the constraint that it serves, and
// returns the values, nil for none.
func indexOptions(kind string, opts []ast.Option) (catalog.Options, error) {
	if len(opts) == 0 {
		return nil, nil
	}
	if kind == "" {
		kind = catalog.KindBtree
	}
	if err := oncePerOption(opts); err != nil {
		return nil, err
	}
	var out catalog.Options
	for i := range opts {
		o := &opts[i]
		if space, _, qualified := strings.Cut(o.Name, "."); qualified {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter namespace \"%s\"", space)
		}
		p, ok := indexParameters[kind][o.Name]
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", o.Name)
		}
		if err := p.check(o.Name, optionText(o)); err != nil {
			return nil, err
		}
		out = append(out, catalog.Option{Name: o.Name, Value: optionText(o)})
	}
	return out, nil
}

// alterIndexOptions is ALTER INDEX … SET (…) and RESET (…).
func (x *exec) alterIndexOptions(ix *catalog.Index, a *ast.AlterAction) error {
	options := ix.Options
	if a.Kind == "RESET OPTIONS" {
		for i := range a.Options {
			options = options.Without(a.Options[i].Name)
		}
	} else {
		set, err := indexOptions(ix.Kind, a.Options)
		if err != nil {
			return err
		}
		for _, o := range set {
			options = options.With(o.Name, o.Value)
		}
	}
	return x.Change.EditIndex(ix.OID, func(ix *catalog.Index) { ix.Options = options })
}

// oncePerOption refuses an option that is given twice.
func oncePerOption(opts []ast.Option) error {
	for i := range opts {
		if slices.ContainsFunc(opts[:i], func(o ast.Option) bool { return o.Name == opts[i].Name }) {
			return sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" specified more than once", opts[i].Name)
		}
	}
	return nil
}
