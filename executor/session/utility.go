package session

import (
	"context"
	"fmt"
	"strings"

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

// noun names a statement for the refusal in a read-only transaction.
func noun(st ast.Stmt) string {
	switch x := st.(type) {
	case *ast.CreateTable:
		if x.As != nil {
			return "CREATE TABLE AS"
		}
		return "CREATE TABLE"
	case *ast.Drop:
		return "DROP " + x.Kind
	case *ast.AlterTable:
		return "ALTER " + x.Kind
	case *ast.AlterObject:
		return "ALTER " + x.Kind
	case *ast.CreateView:
		if x.Materialized {
			return "CREATE MATERIALIZED VIEW"
		}
		return "CREATE VIEW"
	case *ast.Truncate:
		return "TRUNCATE TABLE"
	case *ast.Refresh:
		return "REFRESH MATERIALIZED VIEW"
	case *ast.Comment:
		return "COMMENT"
	}
	// *ast.CreateIndex → CREATE INDEX
	name := strings.TrimPrefix(fmt.Sprintf("%T", st), "*ast.")
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
