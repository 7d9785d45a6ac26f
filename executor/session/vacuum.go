package session

import (
	"context"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// vacuumOptions are the options of VACUUM, ANALYZE, REINDEX and CLUSTER that
// change what is done.
type vacuumOptions struct{ full, analyze, skipLocked, parallel bool }

// maintainKnown lists the options of each statement.
var maintainKnown = map[string][]string{
	"VACUUM": {"full", "freeze", "verbose", "analyze", "disable_page_skipping", "skip_locked", "index_cleanup",
		"process_toast", "truncate", "parallel"},
	"ANALYZE": {"verbose", "skip_locked"},
	"REINDEX": {"verbose", "concurrently", "tablespace"},
	"CLUSTER": {"verbose"},
}

// maintainOptions checks the options by PostgreSQL's rules. Most say how pages
// are to be treated that this store does not have: they hold without doing
// anything.
func maintainOptions(x *ast.Vacuum) (o vacuumOptions, err error) {
	o.analyze = x.Kind == "ANALYZE"
	on := map[string]bool{"process_toast": true}
	parallel := false
	for i := range x.Options {
		opt := &x.Options[i]
		switch {
		case !slices.Contains(maintainKnown[x.Kind], opt.Name):
			return o, sqlerr.New(sqlerr.SyntaxError, "unrecognized %s option \"%s\"", x.Kind, opt.Name).At(opt.Pos())
		case opt.Name == "parallel":
			n, err := parallelOption(opt)
			if err != nil {
				return o, err
			}
			parallel = n > 0
			o.parallel = parallel
			continue
		case opt.Name == "index_cleanup":
			if k, ok := opt.X.(*ast.Const); ok && strings.EqualFold(k.Val, "auto") {
				continue
			}
		case opt.Name == "tablespace":
			name := ""
			if k, ok := opt.X.(*ast.Const); ok {
				name = k.Val
			}
			if name != "pg_default" {
				return o, sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", name)
			}
			continue
		}
		v, ok := optionBool(opt)
		if !ok {
			return o, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name)
		}
		on[opt.Name] = v
	}
	o.full, o.skipLocked = on["full"], on["skip_locked"]
	o.analyze = o.analyze || on["analyze"]
	switch {
	case o.full && parallel:
		return o, sqlerr.New(sqlerr.FeatureNotSupported, "VACUUM FULL cannot be performed in parallel")
	case o.full && on["disable_page_skipping"]:
		return o, sqlerr.New(sqlerr.FeatureNotSupported, "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL")
	case o.full && !on["process_toast"]:
		return o, sqlerr.New(sqlerr.FeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL")
	}
	if x.Kind == "VACUUM" && !o.analyze {
		for i := range x.Tables {
			if x.Tables[i].Cols != nil {
				return o, sqlerr.New(sqlerr.FeatureNotSupported, "ANALYZE option must be specified when a column list is provided")
			}
		}
	}
	return o, nil
}

// maxVacuumWorkers is PostgreSQL's bound of the option PARALLEL.
const maxVacuumWorkers = 1024

func parallelOption(o *ast.Option) (int, error) {
	k, ok := o.X.(*ast.Const)
	if !ok {
		return 0, sqlerr.New(sqlerr.SyntaxError, "parallel option requires a value between 0 and %d", maxVacuumWorkers).At(o.Pos())
	}
	n := 0
	if k.Kind != ast.ConstInt {
		return 0, sqlerr.New(sqlerr.SyntaxError, "parallel requires an integer value")
	}
	for _, c := range k.Val {
		if c < '0' || c > '9' || n > maxVacuumWorkers {
			n = maxVacuumWorkers + 1
			break
		}
		n = 10*n + int(c-'0')
	}
	if n > maxVacuumWorkers {
		return 0, sqlerr.New(sqlerr.SyntaxError, "parallel workers for vacuum must be between 0 and %d", maxVacuumWorkers).At(o.Pos())
	}
	return n, nil
}

const (
	// A plain VACUUM of the database gives space back when so much is free, and
	// when that is so large a part of the file.
	vacuumFreeBytes = 8 << 20
	vacuumFreePart  = 4
)

// vacuum gives the space of deleted rows back to the operating system. All
// tables share one data file, in which freed pages are used again without
// VACUUM. So VACUUM of a table has nothing to do, VACUUM of the database
// rewrites the file if much of it is free, and VACUUM FULL rewrites it always.
// Readers and writers go on meanwhile.
func (s *Session) vacuum(ctx context.Context, x *ast.Vacuum, o vacuumOptions) error {
	switch {
	case o.full:
		return s.srv.Store.Compact(ctx, nil)
	case x.Tables != nil:
		return nil
	}
	return s.srv.Store.Compact(ctx, func(st *kv.StoreStats) bool {
		return st.FreeBytes >= vacuumFreeBytes && st.FreeBytes*vacuumFreePart >= st.FileBytes
	})
}
