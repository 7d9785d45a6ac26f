package session

import (
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// directoryRows are the rows of the functions that list one of the server's directories,
// for monitors: name, size in bytes and last modification of each file. ok is false if src
// is none of them.
func (s sessionInfo) directoryRows(src string, args []types.Datum) (rows [][]types.Datum, ok bool, err error) {
	switch src {
	case "pg_ls_waldir":
		files, err := s.srv.Store.LogFiles()
		for _, f := range files {
			at := types.TimestampFromTime(f.Written.Truncate(time.Second))
			rows = append(rows, []types.Datum{types.Text(f.Name), types.Int(types.TInt8, f.Size), types.Int(types.TTimestamptz, at)})
		}
		return rows, true, err
	case "pg_ls_logdir": // messages go to the standard error alone
		return nil, true, sqlerr.New(undefinedFile, "could not open directory \"log\": No such file or directory")
	case "pg_ls_archive_statusdir", "pg_ls_logicalsnapdir", "pg_ls_logicalmapdir":
		return nil, true, nil // nothing is archived or decoded
	case "pg_ls_replslotdir":
		if args[0].Null {
			return nil, true, nil
		}
		return nil, true, sqlerr.New(sqlerr.UndefinedObject, "replication slot \"%s\" does not exist", args[0].B)
	case "pg_ls_tmpdir_noargs":
		return nil, true, nil // temporary files have no names
	case "pg_ls_tmpdir_1arg":
		return nil, true, s.tablespaceExists(args[0])
	}
	return nil, false, nil
}
