package catalog

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kvsqld/catalog/types"
)

// builtinFiles holds PostgreSQL 15's system tables as tab-separated rows, one
// file per table; the order of columns is the one read below.
//
//go:embed builtin/*.tsv
var builtinFiles embed.FS

// tsvRow is one line of an embedded table.
type tsvRow []string

func (r tsvRow) oid(i int) types.OID {
	v, _ := strconv.ParseUint(r[i], 10, 32)
	return types.OID(v)
}

func (r tsvRow) int(i int) int {
	v, _ := strconv.Atoi(r[i])
	return v
}

func (r tsvRow) float(i int) float64 {
	v, _ := strconv.ParseFloat(r[i], 64)
	return v
}

func (r tsvRow) char(i int) byte {
	if r[i] == "" {
		return 0
	}
	return r[i][0]
}

func (r tsvRow) bool(i int) bool { return r[i] == "1" || r[i] == "t" }

func (r tsvRow) oids(i int) []types.OID {
	if r[i] == "" {
		return nil
	}
	parts := strings.Fields(r[i])
	out := make([]types.OID, len(parts))
	for k, p := range parts {
		v, _ := strconv.ParseUint(p, 10, 32)
		out[k] = types.OID(v)
	}
	return out
}

// readBuiltin returns the rows of an embedded table. The files are part of the
// binary, so a missing file or a short row is a fault of the build.
func readBuiltin(table string, columns int) []tsvRow {
	data, err := builtinFiles.ReadFile("builtin/" + table + ".tsv")
	if err != nil {
		panic(fmt.Sprintf("catalog: embedded table: %v", err))
	}
	rows := make([]tsvRow, 0, strings.Count(string(data), "\n"))
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != columns {
			panic(fmt.Sprintf("catalog: embedded table %s: %d columns, want %d: %q", table, len(f), columns, line))
		}
		rows = append(rows, f)
	}
	return rows
}

type procTable struct {
	all    []*Proc
	byOID  map[types.OID]*Proc
	byName map[string][]*Proc
	bySrc  map[string]*Proc
}

var procs = sync.OnceValue(func() *procTable {
	t := &procTable{
		byOID:  make(map[types.OID]*Proc, 4096),
		byName: make(map[string][]*Proc, 4096),
		bySrc:  make(map[string]*Proc, 4096),
	}
	for _, r := range readBuiltin("pg_proc", 23) {
		t.add(parseProc(r))
	}
	for _, p := range slices.Concat(ownProcs(), informationProcs()) {
		t.add(p)
	}
	for _, p := range extensionProcs() {
		// Not in pg_proc: they are called through the functions that CREATE EXTENSION
		// makes, by the name of the implementation, which no function has.
		t.byOID[p.OID] = p
		if t.bySrc[p.Src] == nil {
			t.bySrc[p.Src] = p
		}
		t.byName[p.Hidden] = append(t.byName[p.Hidden], p)
	}
	return t
})

func (t *procTable) add(p *Proc) {
	t.all = append(t.all, p)
	t.byOID[p.OID] = p
	t.byName[p.Name] = append(t.byName[p.Name], p)
	if _, taken := t.bySrc[p.Src]; !taken {
		t.bySrc[p.Src] = p
	}
}

func parseProc(r tsvRow) *Proc {
	p := &Proc{
		OID: r.oid(0), Name: r[1], Lang: r.oid(2), Cost: r.float(3), Rows: r.float(4),
		Variadic: r.oid(5), Support: r.oid(6), Kind: r.char(7), LeakProof: r.bool(9),
		Strict: r.bool(10), RetSet: r.bool(11), Volatile: r.char(12), Parallel: r.char(13),
		Ret: r.oid(16), Args: r.oids(17), AllArgs: r.oids(18), Src: r[22],
	}
	p.Modifies = changesLargeObjects[p.Src]
	if r[19] != "" {
		p.ArgModes = []byte(strings.NewReplacer(" ", "", ",", "").Replace(r[19]))
	}
	if r[20] != "" {
		p.ArgNames = strings.Split(r[20], ",")
	}
	if r[21] != "" {
		p.Defaults = splitTopLevel(r[21])
	}
	if p.Src == "" {
		// Functions that PostgreSQL writes in SQL have no C symbol.
		p.Src = fmt.Sprintf("sql_%s_%d", p.Name, p.OID)
	}
	return p
}

// splitTopLevel cuts a list of SQL expressions at the commas outside of quotes,
// parentheses and brackets.
func splitTopLevel(s string) []string {
	var out []string
	depth, start := 0, 0
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// Procs returns every built-in function in OID order, then kvsqld's own. The
// slice is shared and must not be changed.
func Procs() []*Proc { return procs().all }

// ProcsByName returns the built-in functions of that name, all signatures.
func ProcsByName(name string) []*Proc { return procs().byName[name] }

// ProcByOID returns the built-in function, or nil.
func ProcByOID(o types.OID) *Proc { return procs().byOID[o] }

// ProcBySrc returns the first built-in function that the named implementation
// serves, or nil.
func ProcBySrc(src string) *Proc { return procs().bySrc[src] }

// InternalProc returns the built-in function with these arguments that the named
// implementation serves, or nil; any tells that it serves others at least.
func InternalProc(src string, args []types.OID, kind byte) (p *Proc, any bool) {
	list := procs().all
	if hidden := procs().byName[src]; len(hidden) > 0 && hidden[0].Hidden == src {
		list = hidden
	}
	for _, p := range list {
		if p.Src != src && p.Hidden != src || p.Kind != kind || p.Lang != langInternal || p.Schema == SchemaInformation {
			continue
		}
		any = true
		if slices.Equal(p.Args, args) {
			return p, true
		}
	}
	return nil, any
}

type operatorTable struct {
	all    []*Operator
	byOID  map[types.OID]*Operator
	byName map[string][]*Operator
}

var operators = sync.OnceValue(func() *operatorTable {
	t := &operatorTable{byOID: make(map[types.OID]*Operator, 1024), byName: make(map[string][]*Operator, 256)}
	for _, r := range readBuiltin("pg_operator", 13) {
		o := &Operator{
			OID: r.oid(0), Name: r[1], Kind: r.char(2), CanMerge: r.bool(3), CanHash: r.bool(4),
			Left: r.oid(5), Right: r.oid(6), Result: r.oid(7), Com: r.oid(8), Negate: r.oid(9),
			Proc: r.oid(10), Rest: r.oid(11), Join: r.oid(12),
		}
		t.all = append(t.all, o)
		t.byOID[o.OID] = o
		t.byName[o.Name] = append(t.byName[o.Name], o)
	}
	for _, d := range extensionDefs {
		for _, o := range d.Operators() {
			t.byOID[o.OID] = o
			t.byName[o.Name] = append(t.byName[o.Name], o)
		}
	}
	return t
})

// Operators returns every operator in OID order, without those of extensions. The
// slice is shared.
func Operators() []*Operator { return operators().all }

// OperatorsByName returns the operators of that name, those of extensions last.
func OperatorsByName(name string) []*Operator { return operators().byName[name] }

// OperatorByOID returns the operator, or nil.
func OperatorByOID(o types.OID) *Operator { return operators().byOID[o] }

type castKey struct{ src, dst types.OID }

type castTable struct {
	all   []*Cast
	byKey map[castKey]*Cast
}

var casts = sync.OnceValue(func() *castTable {
	t := &castTable{byKey: make(map[castKey]*Cast, 256)}
	for _, r := range readBuiltin("pg_cast", 6) {
		c := &Cast{OID: r.oid(0), Source: r.oid(1), Target: r.oid(2), Func: r.oid(3), Context: r.char(4), Method: r.char(5)}
		t.all = append(t.all, c)
		t.byKey[castKey{c.Source, c.Target}] = c
	}
	for _, d := range extensionDefs {
		for _, c := range d.Casts() {
			t.byKey[castKey{c.Source, c.Target}] = c
		}
	}
	return t
})

// Casts returns every cast in OID order, without those of extensions. The slice is
// shared.
func Casts() []*Cast { return casts().all }

// FindCast returns the cast from src to dst, or nil when pg_cast has none
// (casts through text, and those of arrays, are not in pg_cast).
func FindCast(src, dst types.OID) *Cast { return casts().byKey[castKey{src, dst}] }

type aggregateTable struct {
	all   []*Aggregate
	byOID map[types.OID]*Aggregate
}

var aggregates = sync.OnceValue(func() *aggregateTable {
	t := &aggregateTable{byOID: make(map[types.OID]*Aggregate, 256)}
	for _, r := range readBuiltin("pg_aggregate", 22) {
		a := &Aggregate{
			Proc: r.oid(0), Kind: r.char(1), Direct: r.int(2), TransFn: r.oid(3), FinalFn: r.oid(4),
			CombineFn: r.oid(5), SortOp: r.oid(15), TransType: r.oid(16), Serial: r.oid(6), Deserial: r.oid(7),
			MovingTrans: r.oid(8), MovingInv: r.oid(9), MovingFinal: r.oid(10), MovingType: r.oid(18),
			FinalExtra: r.bool(11), MovingFinalExtra: r.bool(12), FinalModify: r.char(13), MovingFinalModify: r.char(14),
			TransSpace: r.int(17), MovingSpace: r.int(19),
		}
		if r[20] != `\N` {
			a.InitVal, a.HasInit = r[20], true
		}
		if r[21] != `\N` {
			a.MovingInit, a.HasMovingInit = r[21], true
		}
		t.all = append(t.all, a)
		t.byOID[a.Proc] = a
	}
	return t
})

// Aggregates returns every aggregate in the order of its function's OID.
func Aggregates() []*Aggregate { return aggregates().all }

// AggregateByOID returns the aggregate whose function has the OID, or nil.
func AggregateByOID(o types.OID) *Aggregate { return aggregates().byOID[o] }
