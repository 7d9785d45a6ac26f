package session

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/storage/backup"
)

// backupStmt is BACKUP TO STDOUT: the newest committed state of all databases,
// as a stream of storage/backup in COPY data. Writers go on.
func (s *Session) backupStmt(ctx context.Context, c *call) (string, int64, error) {
	if !s.isSuper(s.user) {
		return "", 0, sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to take a backup")
	}
	if s.block != idle || c.several {
		return "", 0, inBlockError("BACKUP")
	}
	snap, err := s.srv.Store.Snapshot(ctx)
	if err != nil {
		return "", 0, err
	}
	defer snap.Close()
	to, err := s.w.CopyOut(true, 0)
	if err != nil {
		return "", 0, err
	}
	if _, err := backup.Write(ctx, snap, to); err != nil {
		return "", 0, err
	}
	return "BACKUP", -1, to.Close()
}
