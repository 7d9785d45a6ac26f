package session

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// maintain runs VACUUM, ANALYZE, REINDEX, CLUSTER and CHECKPOINT.
func (s *Session) maintain(ctx context.Context, x *ast.Vacuum, c *call) (string, int64, error) {
	return "", 0, sqlerr.Unsupported(x.Pos(), "%s", x.Kind)
}
