package pgcatalog

// RelStats are the cumulative statistics of one table or index.
type RelStats struct {
	Scans, Returned, Fetched   int64
	Inserted, Updated, Deleted int64
	Reads                      int64 // asked of its file
	SinceVacuum                int64 // rows inserted since the last VACUUM
	Live, SinceAnalyze         int64 // rows, and those changed since the last ANALYZE

	// Vacuum, Analyze and AutoAnalyze count these, and say when the last one was.
	Vacuum, Analyze, AutoAnalyze Runs
}

// Runs counts the runs of something; Last is when the last one ended, in
// microseconds since 2000-01-01 UTC, 0 for never.
type Runs struct{ N, Last int64 }

// DBStats are the cumulative statistics of one database. Times are milliseconds,
// Reset is when counting began anew, 0 for never.
type DBStats struct {
	Commits, Rollbacks             int64
	Reads                          int64
	Returned, Fetched              int64
	Inserted, Updated, Deleted     int64
	TempFiles, TempBytes           int64
	Deadlocks                      int64
	Sessions                       int64
	Abandoned, Fatal, Killed       int64
	SessionTime, Active, IdleInTxn float64
	Backends                       int64
	Reset                          int64
}

// LogStats are the cumulative statistics of the server's log, and of the moving of
// what it has into the files.
type LogStats struct {
	Records, Bytes, Syncs  int64
	Asked, Timed           int64   // checkpoints
	CheckpointTime         float64 // milliseconds
	Reset, CheckpointReset int64
	ArchiverReset          int64
}

// FunctionStats are the cumulative statistics of a function, times in milliseconds.
type FunctionStats struct {
	Calls       int64
	Total, Self float64
}
