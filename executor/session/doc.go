// Package session runs SQL statements for clients: it is the database behind
// the wire. A Server is what all sessions share (store, catalog, registries), a
// Session one client's state (transaction, settings, prepared statements,
// portals).
//
// In: texts, parameters and COPY data through the methods of wire.Session. Out:
// batches of rows, tags and errors with SQLSTATEs through wire.ResultWriter. The
// package knows nothing of bytes on a socket, so that tests drive it directly.
//
// The life of one statement, SELECT title FROM books WHERE id = 7:
//
//  1. Session.Simple takes the text. runCached asks the plan cache: the
//     parser's Fingerprinter takes the literals out and the rest is the key.
//  2. A hit gives a planned statement; its parameters are made from the
//     literals by types.Parse. A miss goes on with parser.ParseNormalized, and
//     when anything fails there, with parser.Parse as if there were no cache.
//  3. ensureTx opens a transaction (kv.Store.Begin, which is cheap: the
//     store's snapshot is opened by the first read).
//  4. plannedStmt.refresh calls planner.Plan over the catalog's snapshot, unless
//     the plan was made for this very snapshot and these settings.
//  5. lockTables takes the table locks and checks that the catalog did not
//     change while it waited; if it did, back to step 4.
//  6. executor.Build makes the operators, or executor.Run.Reset uses the
//     statement's old ones again; executor.Run.Next passes batches to the sink,
//     which is the client.
//  7. executor.ErrRetry in READ COMMITTED: kv.Txn.RollbackTo the statement's
//     savepoint, Refresh unless executor.Recheck knows better, and back to step 4. Rows are kept back until the end
//     where that can happen.
//  8. commit: the catalog's changes are checked (catalog.Begin), written as
//     fragments, committed with the data and published by kv.Txn.OnCommit.
//
// Invariants:
//
//	S1  A portal never reads with a snapshot that was given up: while its run is
//	    open it has a view (kv.View) of what its transaction saw when it began,
//	    and reads nothing else.
//	S2  The catalog snapshot of a statement is at least as new as the table
//	    locks it holds. A definition that finds it is not runs again (ddl.ErrMoved).
//	S3  What is visible to others (catalog, notifications, counters) changes
//	    after the store's commit and never without it.
package session
