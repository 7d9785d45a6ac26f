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

// reindex takes the locks of REINDEX TABLE and INDEX, and builds indexes that are not
// valid anew; the others are in order.
func (s *Session) reindex(ctx context.Context, x *ast.Vacuum, c *call) error {
	if s.tx == nil || x.What != "TABLE" && x.What != "INDEX" {
		return nil
	}
	for i := range x.Tables {
		n := &x.Tables[i].Name
		t, only := s.findIndex(n)
		if x.What == "TABLE" {
			r, err := s.mustRelation(n)
			if err != nil {
				return err
			}
			t, only = storageOfRelation(r), nil
		}
		switch {
		case t == nil:
			continue
		case t.Partitioned():
			if s.block != idle || c.several {
				err := inBlockError("REINDEX " + x.What)
				kind, of := "table", t.Name
				if only != nil {
					kind, of = "index", only.Name
				}
				err.Where = "while reindexing partitioned " + kind + " \"" + t.Schema + "." + of + "\""
				return err
			}
			continue
		}
		wanted, err := s.reindexed(x, t, only)
		if err != nil {
			return err
		}
		build := func(ix *catalog.Index) bool { return ix.Invalid && slices.Contains(wanted, ix.OID) }
		mode := kv.Share
		if concurrent(x) && !slices.ContainsFunc(t.Indexes, build) {
			mode = kv.ShareUpdateExclusive
		}
		if err := s.rebuild(ctx, c, t, mode, build); err != nil {
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

// reindexed lists the indexes that REINDEX is to look at: only, or all of the table. What
// PostgreSQL does not build beside writers is refused if it is asked for by name, and
// passed over with a word otherwise; so is a table without any.
func (s *Session) reindexed(x *ast.Vacuum, t *catalog.Table, only *catalog.Index) (out []types.OID, err error) {
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
	if out == nil && !s.snapshot().NeedsToast(t) { // PostgreSQL has an index of the TOAST table
		what := "to reindex"
		if concurrent(x) {
			what = "that can be reindexed concurrently"
		}
		s.tell(notice("NOTICE", sqlerr.SuccessfulCompletion, "table \"%s\" has no indexes %s", t.Name, what))
	}
	return out, nil
}

// rebuild locks a table and builds those of its indexes anew that are wanted then: again
// for as long as others change the table while its locks are waited for.
func (s *Session) rebuild(ctx context.Context, c *call, t *catalog.Table, mode kv.TableLockMode, wanted func(*catalog.Index) bool) error {
	for {
		now, err := s.lockTable(ctx, t, mode)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(now.Indexes, wanted)
		if i < 0 {
			return nil
		}
		if mode < kv.Share { // it was the lock of one that has nothing to build
			mode = kv.Share
			continue
		}
		err = ddl.Rebuild(s.ddlEnv(ctx, c), now, now.Indexes[i].OID)
		if errors.Is(err, ddl.ErrMoved) {
			s.tx.base = nil
			err = s.rebase()
		}
		if err != nil {
			return err
		}
		s.settings.epoch++
		s.tx.rewrites++
	}
}
