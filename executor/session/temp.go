package session

import (
	"context"
	"maps"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// tempName is the name of the session's schema for temporary objects. It exists
// while there are any in it.
func (s *Session) tempName() string { return "pg_temp_" + strconv.Itoa(int(s.info.PID)) }

// tempSchema is tempName for the planner, "" when nothing temporary was made.
func (s *Session) tempSchema() string {
	if !s.hasTemp {
		return ""
	}
	return s.tempName()
}

// useTemp begins to search the temporary schema: something is made there.
func (s *Session) useTemp() {
	if !s.hasTemp {
		s.hasTemp = true
		s.settings.epoch++
	}
	if s.tx != nil {
		s.tx.temp = true
	}
}

// usedTemp reports whether the transaction has made, changed, dropped or locked anything
// temporary, be it only to read it.
func (s *Session) usedTemp() bool {
	if !s.hasTemp || s.tx == nil {
		return false
	}
	if s.tx.temp {
		return true
	}
	was, now := s.srv.Catalog.Current(), s.snapshot()
	mine := func(snap *catalog.Snapshot) map[catalog.Object]bool {
		out := make(map[catalog.Object]bool)
		for _, o := range snap.Objects() {
			if c := catalog.CommonOf(o); c != nil && c.DB == s.db && c.Schema == s.tempName() {
				out[o] = true
			}
		}
		return out
	}
	if was != now && !maps.Equal(mine(was), mine(now)) {
		return true
	}
	if s.srv.advisory.waits == nil {
		return false
	}
	temp := make(map[uint64]bool)
	for space, at := range relationsBySpace(now) {
		r := now.RelationByOID(at.db, at.rel)
		if r == nil {
			continue // an index
		}
		if schema, _ := r.RelName(); schema == s.tempName() {
			temp[space] = true
		}
	}
	for _, l := range s.srv.advisory.waits.Locks() {
		if l.Kind == kv.TableLock && l.Granted && uint32(l.Client) == uint32(s.info.PID) && temp[l.Space] {
			return true
		}
	}
	return false
}

// firstTemp begins the schema for temporary objects if it is the first of the search
// path, for who asks which schema that is.
func (s *Session) firstTemp() {
	if path := s.settings.path; !s.hasTemp && len(path) > 0 && (path[0] == "pg_temp" || path[0] == s.tempName()) {
		s.useTemp()
	}
}

// creationPath is the search path for new objects. The temporary schema is in it
// before it exists.
func (s *Session) creationPath() []string {
	path := s.searchPath(false)
	for _, n := range s.settings.path {
		if n == "pg_temp" || n == s.tempName() {
			return append([]string{s.tempName()}, path...)
		}
		if n == "$user" {
			n = s.user
		}
		if len(path) > 0 && n == path[0] {
			break
		}
	}
	return path
}

// dropTempSchema drops the session's temporary objects, outside of any
// transaction.
func (s *Session) dropTempSchema() {
	if !s.hasTemp {
		return
	}
	if err := s.srv.dropTemp(context.Background(), s.db, s.tempName()); err != nil {
		return
	}
	s.hasTemp = false
	s.settings.epoch++
}

// dropTemp drops what is in temporary schemas: one of a database, or with name
// "" all of them, which sessions of an earlier process have left behind. What cannot
// be dropped stays, which the log tells: a server starts all the same.
func (srv *Server) dropTemp(ctx context.Context, db types.OID, name string) error {
	type place struct {
		db     types.OID
		schema string
	}
	found := make(map[place]bool)
	for _, o := range srv.Catalog.Current().Objects() {
		c := catalog.CommonOf(o)
		if c != nil && catalog.IsTempSchema(c.Schema) && (name == "" || c.Schema == name && c.DB == db) {
			found[place{c.DB, c.Schema}] = true
		}
	}
	var failed error
	for p := range found {
		if err := srv.dropContents(ctx, p.db, p.schema); err != nil {
			srv.opts.Logger.Warn("temporary objects were not dropped", "schema", p.schema, "error", err)
			failed = err
		}
	}
	return failed
}
