package session

import (
	"context"
	"maps"
	"slices"

	"kvsqld/catalog"
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
	for _, oid := range slices.Sorted(maps.Keys(s.onCommit)) {
		t, ok := s.snapshot().Object(oid).(*catalog.Table)
		if !ok {
			delete(s.onCommit, oid)
			continue
		}
		name := ast.Name{Off: -1, Parts: []string{t.Schema, t.Name}}
		var st ast.Stmt = &ast.Drop{Kind: "TABLE", Names: []ast.Name{name}, Cascade: true}
		if s.onCommit[oid] == "DELETE ROWS" {
			if _, written := s.tx.deltas[oid]; !written {
				continue
			}
			st = &ast.Truncate{Tables: []ast.TableRef{{Off: -1, Name: name}}}
		}
		env := s.ddlEnv(ctx, &call{stmt: st})
		env.Notice = nil
		if _, err := ddl.Execute(env, st); err != nil {
			return err
		}
		s.settings.epoch++
	}
	return nil
}
