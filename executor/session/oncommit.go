package session

import (
	"context"
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/ddl"
	"kvsqld/parser/ast"
)

// noteOnCommit remembers what the end of each transaction does with a temporary
// table that was just made: ON COMMIT DROP or DELETE ROWS.
func (s *Session) noteOnCommit(st *ast.CreateTable) {
	if !st.Temp || st.OnCommit == "" || st.OnCommit == "PRESERVE ROWS" {
		return
	}
	r := s.snapshot().Relation(s.db, s.tempName(), st.Name.Last())
	if r == nil {
		return
	}
	if s.onCommit == nil {
		s.onCommit = map[types.OID]string{}
	}
	s.onCommit[r.ObjectOID()] = st.OnCommit
}

// runOnCommit drops or empties the temporary tables that ask for it, inside of
// the transaction that is about to commit.
func (s *Session) runOnCommit(ctx context.Context) error {
	var drop, empty []*catalog.Table
	for _, oid := range slices.Sorted(maps.Keys(s.onCommit)) {
		t, ok := s.snapshot().Object(oid).(*catalog.Table)
		switch {
		case !ok:
			delete(s.onCommit, oid)
		case s.onCommit[oid] == "DROP":
			drop = append(drop, t)
		default:
			if err := s.emptiesTogether(t); err != nil {
				return err
			}
			if _, written := s.tx.deltas[oid]; written {
				empty = append(empty, t)
			}
		}
	}
	if empty != nil {
		if err := s.emptyTables(ctx, empty); err != nil {
			return err
		}
	}
	for _, t := range drop {
		if s.snapshot().Object(t.OID) == nil {
			continue // it went with its parent
		}
		if err := s.atCommit(ctx, &ast.Drop{Kind: "TABLE", Names: []ast.Name{nameOf(t)}, Cascade: true}); err != nil {
			return err
		}
	}
	return nil
}

// emptyTables empties tables, and with them those that refer to them.
func (s *Session) emptyTables(ctx context.Context, empty []*catalog.Table) error {
	st := &ast.Truncate{}
	for i := 0; i < len(empty); i++ {
		st.Tables = append(st.Tables, ast.TableRef{Off: -1, Name: nameOf(empty[i])})
		for _, ref := range s.snapshot().Referencing(s.db, empty[i].OID) { // TRUNCATE asks for them
			if !slices.Contains(empty, ref.Table) {
				empty = append(empty, ref.Table)
			}
		}
	}
	return s.atCommit(ctx, st)
}

// emptiesTogether fails if a table that the end of each transaction empties is
// referenced by one that keeps its rows.
func (s *Session) emptiesTogether(t *catalog.Table) error {
	for _, ref := range s.snapshot().Referencing(s.db, t.OID) {
		if s.onCommit[ref.Table.OID] != "DELETE ROWS" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported ON COMMIT and foreign key combination").
				WithDetail("Table \"%s\" references \"%s\", but they do not have the same ON COMMIT setting.", ref.Table.Name, t.Name)
		}
	}
	return nil
}

func nameOf(t *catalog.Table) ast.Name {
	return ast.Name{Off: -1, Parts: []string{t.Schema, t.Name}}
}

// atCommit runs a definition that the end of the transaction asks for, silently.
func (s *Session) atCommit(ctx context.Context, st ast.Stmt) error {
	env := s.ddlEnv(ctx, &call{stmt: st})
	env.Notice = nil
	_, err := ddl.Execute(env, st)
	s.settings.epoch++
	return err
}
