package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "kvsqld/"

// arrows is the import rule of the program: what a package of ours may import
// from ours. Everything points down; catalog/types and parser/ast are the floor.
// A name that ends in /... stands for the package and all below it.
var arrows = map[string][]string{
	"catalog/sqlerr":  nil,
	"catalog/spatial": nil,
	"catalog/types":   {"catalog/sqlerr", "catalog/spatial", "catalog/types/jsonpath", "catalog/types/charset", "catalog/types/plane"},
	// Overflows are 22003.
	"catalog/types/plane": {"catalog/sqlerr"},
	// The paths of jsonpath values are what the executor walks.
	"catalog/types/jsonpath": {"catalog/sqlerr"},
	"catalog/types/vec":      {"catalog/types"},
	// Bytes that are no text are 22021.
	"catalog/types/charset": {"catalog/sqlerr"},
	"catalog":               {"catalog/types", "catalog/spatial", "catalog/sqlerr"},
	// A bound that does not fit is 42P17.
	"catalog/partition": {"catalog", "catalog/types", "catalog/sqlerr"},
	// The relations raise 0A000 and 42P01 themselves.
	"catalog/pgcatalog": {"catalog", "catalog/partition", "catalog/types", "catalog/types/vec", "catalog/sqlerr"},

	"catalog/diff": {"catalog", "catalog/pgcatalog", "catalog/types", "catalog/sqlerr"},

	"parser/ast": nil,
	"parser":     {"parser/ast", "catalog/sqlerr"},

	"storage/kv":          nil,
	"storage/kv/kvtest":   {"storage/kv"},
	"storage/kv/keysort":  nil,
	"storage/txn":         {"storage/kv", "storage/kv/keysort", "storage/vfs"}, // its temporary files
	"storage/vfs":         nil,
	"storage/vfs/vfstest": {"storage/vfs"},
	"storage/backup":      {"storage/kv"},
	"storage/boltkv":      {"storage/kv", "storage/txn", "storage/walkv", "storage/vfs"},
	"storage/walkv":       {"storage/kv", "storage/txn", "storage/vfs"},
	"storage/memkv":       {"storage/kv", "storage/txn"},
	"storage/codec":       {"catalog/types", "catalog/types/vec"},
	"storage/table": {"storage/kv", "storage/kv/keysort", "storage/codec", "catalog", "catalog/types", "catalog/types/vec",
		"catalog/spatial", "catalog/sqlerr"},
	"storage/table/tabletest": {"storage/...", "catalog", "catalog/types", "catalog/types/vec"},
	// It opens the chosen engine and refuses unknown ones with an SQLSTATE.
	"storage": {"storage/...", "catalog/sqlerr"},

	"planner/plan": {"catalog", "catalog/partition", "catalog/types"},
	"planner":      {"planner/plan", "parser/ast", "catalog", "catalog/partition", "catalog/types", "catalog/spatial", "catalog/sqlerr"},

	// The function table in catalog is what the registry of kernels implements.
	"executor/expr": {"planner/plan", "catalog", "catalog/partition", "catalog/types", "catalog/types/vec", "catalog/types/jsonpath", "catalog/types/charset",
		"catalog/types/plane", "catalog/spatial", "catalog/sqlerr", "executor/regex"},
	"executor/regex": nil,
	// Operators take transactions, locks and isolation levels from storage/kv;
	// an interface of their own would repeat it word for word.
	"executor": {"executor/expr", "planner/plan", "catalog", "catalog/partition", "catalog/types", "catalog/types/vec", "catalog/spatial",
		"catalog/sqlerr", "storage/table", "storage/kv"},
	// Definitions run whole statements below them: CREATE TABLE AS and the checks
	// of ALTER TABLE are planned and executed; view and default texts are parsed.
	"executor/ddl": {"executor", "executor/expr", "parser", "parser/ast", "planner", "planner/plan", "catalog", "catalog/partition",
		"catalog/types", "catalog/types/vec", "catalog/types/charset", "catalog/spatial", "catalog/sqlerr", "storage/table", "storage/kv"},
	// A session implements wire.Session and so names its value types.
	"executor/session": {"executor", "executor/ddl", "executor/expr", "parser", "parser/ast", "planner", "planner/plan",
		"catalog", "catalog/partition", "catalog/pgcatalog", "catalog/types", "catalog/types/vec", "catalog/types/charset", "catalog/sqlerr",
		"storage", "storage/table", "storage/kv", "storage/backup", "wire"},

	// Protocol violations found by the wire have SQLSTATEs like any other error.
	"wire": {"catalog/types", "catalog/types/vec", "catalog/types/charset", "catalog/sqlerr"},

	// The commands show files and keys and name places in scripts.
	"cmd/kvsqld": {"wire", "executor/session", "executor", "storage", "storage/backup", "storage/kv", "storage/txn", "storage/table",
		"catalog", "catalog/diff", "catalog/sqlerr", "catalog/types", "parser", "parser/ast"},
}

// foreign says which of our packages may import a foreign module: those whose
// task it is. Other foreign imports are free.
var foreign = map[string][]string{
	"github.com/xwb1989/sqlparser": {"parser"},
	"go.etcd.io/bbolt":             {"storage/boltkv"},
	"github.com/tidwall/btree":     {"storage/memkv"},
	"github.com/jackc/pgproto3/v2": {"wire"},
	"github.com/xdg-go/scram":      {"wire"},
}

// listed is what go list tells about a package.
type listed struct {
	ImportPath string
	Imports    []string
}

func TestArchitecture(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %v\n%s", err, ee.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		checkImports(t, &p)
	}
	if seen < 15 {
		t.Errorf("go list named only %d packages", seen)
	}
}

func checkImports(t *testing.T, p *listed) {
	name := strings.TrimPrefix(p.ImportPath, module)
	allowed, known := arrows[name]
	if !known {
		t.Errorf("package %s is not in the list of arrows", name)
		return
	}
	for _, imp := range p.Imports {
		if own, ok := strings.CutPrefix(imp, module); ok {
			if !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, own) }) {
				t.Errorf("%s imports %s; it may import %v", name, own, allowed)
			}
			continue
		}
		for mod, users := range foreign {
			if (imp == mod || strings.HasPrefix(imp, mod+"/")) && !slices.Contains(users, name) {
				t.Errorf("%s imports %s, which is for %v alone", name, imp, users)
			}
		}
	}
}

// covers reports whether an entry of the list allows a package.
func covers(entry, pkg string) bool {
	tree, ok := strings.CutSuffix(entry, "/...")
	return entry == pkg || ok && (pkg == tree || strings.HasPrefix(pkg, tree+"/"))
}
