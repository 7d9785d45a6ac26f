package session

import (
	"context"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
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
