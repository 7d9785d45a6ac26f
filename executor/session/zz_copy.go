package session

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

func (s *Session) copyStmt(ctx context.Context, c *call, x *ast.Copy) (tag string, n int64, err error) {
	return "", 0, sqlerr.Unsupported(x.Pos(), "COPY")
}
