package session

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// utility runs the statements that the planner does not plan, in the open
// transaction.
func (s *Session) utility(ctx context.Context, c *call, out sink) (tag string, n int64, err error) {
	switch x := c.stmt.(type) {
	case *ast.Prepare:
		return "PREPARE", -1, s.prepareStmt(ctx, x)
	case *ast.Execute:
		return s.execute(ctx, x, out)
	case *ast.DeclareCursor:
		return "DECLARE CURSOR", -1, s.declare(ctx, x, c)
	case *ast.Listen:
		tag, err := s.listen(x)
		return tag, -1, err
	case *ast.LockTable:
		return "LOCK TABLE", -1, s.lockStmt(ctx, x, c)
	case *ast.SetConstraints:
		if s.block == idle && !c.several {
			s.tell(warning(sqlerr.NoActiveSQLTransaction, "SET CONSTRAINTS can only be used in transaction blocks"))
		}
		return "SET CONSTRAINTS", -1, s.setConstraints(ctx, x)
	case *ast.Explain:
		return s.explain(ctx, c, x, out)
	case *ast.Copy:
		return s.copyStmt(ctx, c, x)
	case *ast.Backup:
		return s.backupStmt(ctx, c)
	case *ast.Vacuum:
		return s.maintain(ctx, x, c)
	case *ast.Do:
		return "", 0, sqlerr.Unsupported(x.Pos(), "DO")
	case *ast.Unsupported:
		return "", 0, sqlerr.Unsupported(x.Pos(), "%s", x.What)
	}
	return s.definition(ctx, c, out)
}
