package session

import (
	"context"
	"errors"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/ddl"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// concurrent reports whether a statement has the option CONCURRENTLY.
func concurrent(x *ast.Vacuum) bool { return maintainOption(x, "concurrently") }

// maintainOption reports whether an option is on: the last of its name counts.
func maintainOption(x *ast.Vacuum, name string) (on bool) {
	for i := range x.Options {
		if x.Options[i].Name == name {
			on, _ = optionBool(&x.Options[i])
		}
	}
	return on
}

// reindex makes the entries of indexes those of the rows: it builds each anew in a
// transaction that keeps writers out of its table or, CONCURRENTLY, compares an index with
// the rows while others write, and puts right what differs. Tables are a transaction each
// where they are several.
func (s *Session) reindex(ctx context.Context, x *ast.Vacuum, c *call) error {
	units, err := s.reindexedTables(x, c)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.apart {
			if err := s.commit(ctx); err != nil {
				return err
			}
		}
		if err := s.ensureTx(ctx); err != nil {
			return err
		}
		t := u.table
		if u.apart {
			if t, _ = s.snapshot().Object(t.OID).(*catalog.Table); t == nil {
				continue // dropped meanwhile
			}
		}
		wanted, err := s.reindexed(x, u, t)
		if err != nil {
			return err
		}
		if err := s.reindexTable(ctx, x, c, t, wanted); err != nil {
			return err
		}
		if maintainOption(x, "verbose") {
			for _, ix := range t.Indexes {
				if slices.Contains(wanted, ix.OID) {
					s.tell(notice("INFO", sqlerr.SuccessfulCompletion, "index \"%s\" was reindexed", ix.Name))
				}
			}
		}
	}
	return nil
}

// reindexUnit is a table whose indexes are to be made anew.
type reindexUnit struct {
	table *catalog.Table
	only  *catalog.Index // this one alone
	apart bool           // in a transaction of its own
}

// reindexedTables lists the tables that REINDEX names, or that are in what it names.
func (s *Session) reindexedTables(x *ast.Vacuum, c *call) (out []reindexUnit, err error) {
	snap := s.snapshot()
	if x.What != "TABLE" && x.What != "INDEX" {
		for _, r := range snap.Relations(s.db) {
			t := catalog.StorageOf(r)
			if t == nil || t.Partitioned() || x.What == "SYSTEM" || catalog.IsTempSchema(t.Schema) && t.Schema != s.tempName() {
				continue
			}
			if x.What == "DATABASE" || t.Schema == x.Tables[0].Name.Last() {
				out = append(out, reindexUnit{table: t, apart: true})
			}
		}
		return out, nil
	}
	for i := range x.Tables {
		n := &x.Tables[i].Name
		if _, _, hidden := s.hiddenStorage(n); hidden {
			continue
		}
		t, only := s.findIndex(n)
		if x.What == "TABLE" {
			r, err := s.mustRelation(n)
			if err != nil {
				return nil, err
			}
			t, only = catalog.StorageOf(r), nil
		}
		switch {
		case t == nil:
			continue
		case !t.Partitioned():
			out = append(out, reindexUnit{table: t, only: only})
			continue
		}
		if err := s.alone(c, "REINDEX "+x.What); err != nil {
			kind, of := "table", t.Name
			if only != nil {
				kind, of = "index", only.Name
			}
			err.Where = "while reindexing partitioned " + kind + " \"" + t.Schema + "." + of + "\""
			return nil, err
		}
		for _, part := range snap.Tree(t) {
			switch {
			case part.Partitioned():
			case only == nil:
				out = append(out, reindexUnit{table: part, apart: true})
			default:
				if ix := snap.PartOf(only.OID, part); ix != nil {
					out = append(out, reindexUnit{table: part, only: ix, apart: true})
				}
			}
		}
	}
	return out, nil
}

// reindexTable makes indexes of a table anew.
func (s *Session) reindexTable(ctx context.Context, x *ast.Vacuum, c *call, t *catalog.Table, wanted []types.OID) error {
	if !concurrent(x) {
		return s.rebuild(ctx, c, t, wanted)
	}
	d, err := s.srv.Tables.For(t)
	if err != nil {
		return err
	}
	var build []types.OID
	for _, ix := range t.Indexes {
		switch {
		case !slices.Contains(wanted, ix.OID) || d.InMaster(ix):
		case ix.Invalid || !d.Fillable(ix):
			build = append(build, ix.OID)
		default:
			if err := s.mendIndex(ctx, c, t, ix.OID); err != nil {
				return err
			}
		}
	}
	return s.rebuild(ctx, c, t, build)
}

// reindexed lists the indexes that REINDEX is to look at: only, or all of the table. What
// PostgreSQL does not build beside writers is refused if it is asked for by name, and
// passed over with a word otherwise; so is a table without any that the statement names.
func (s *Session) reindexed(x *ast.Vacuum, u reindexUnit, t *catalog.Table) (out []types.OID, err error) {
	only := u.only
	const skipped = "cannot reindex %s index \"%s.%s\" concurrently, skipping"
	for _, ix := range t.Indexes {
		switch {
		case only != nil && ix.OID != only.OID:
			continue
		case !concurrent(x):
		case only != nil && t.Exclusion(ix) != nil:
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "concurrent index creation for exclusion constraints is not supported")
		case only == nil && ix.Invalid:
			s.tell(warning(sqlerr.FeatureNotSupported, skipped, "invalid", t.Schema, ix.Name))
			continue
		case only == nil && t.Exclusion(ix) != nil:
			s.tell(warning(sqlerr.FeatureNotSupported, skipped, "exclusion constraint", t.Schema, ix.Name))
			continue
		}
		out = append(out, ix.OID)
	}
	if out == nil && !u.apart && !s.snapshot().NeedsToast(t) { // PostgreSQL has an index of the TOAST table
		what := "to reindex"
		if concurrent(x) {
			what = "that can be reindexed concurrently"
		}
		s.tell(notice("NOTICE", sqlerr.SuccessfulCompletion, "table \"%s\" has no indexes %s", t.Name, what))
	}
	return out, nil
}

// rebuild keeps writers out of a table and builds indexes of it anew: again for as long as
// others change the table while its locks are waited for.
func (s *Session) rebuild(ctx context.Context, c *call, t *catalog.Table, wanted []types.OID) error {
	for len(wanted) > 0 {
		now, err := s.lockTable(ctx, t, kv.Share)
		if err != nil {
			return err
		}
		err = ddl.Rebuild(s.ddlEnv(ctx, c), now, wanted[0])
		if err == nil {
			wanted = wanted[1:]
		} else if errors.Is(err, ddl.ErrMoved) {
			s.tx.base = nil
			err = s.rebase()
		}
		if err != nil {
			return err
		}
		s.settings.epoch++
		s.tx.rewrites++
	}
	return nil
}

// mendIndex compares an index with the rows of its table, in transactions of its own while
// others write, and puts right what differs.
func (s *Session) mendIndex(ctx context.Context, c *call, t *catalog.Table, index types.OID) error {
	now, err := s.lockTable(ctx, t, kv.ShareUpdateExclusive)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(now.Indexes, func(ix *catalog.Index) bool { return ix.OID == index })
	if i < 0 {
		return nil // dropped meanwhile
	}
	d, err := s.srv.Tables.For(now)
	if err != nil {
		return err
	}
	vals, err := ddl.Filler(s.ddlEnv(ctx, c), now, index)
	if err != nil {
		return err
	}
	f := filler{s: s, d: d, ix: now.Indexes[i], vals: vals}
	if err := f.sweep(ctx); err != nil {
		return err
	}
	return f.all(ctx)
}
