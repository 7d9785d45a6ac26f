// Package boltkv stores key-value files in one bbolt file and gives them the
// transactions of storage/txn.
//
// What is on disk: a data directory with the file kvsqld.db. In it, one bucket
// per database, and in that one bucket per file (the master file of a table,
// or an index), so that any bbolt tool shows the tables by name. Beside them a
// bucket whose name begins with a NUL byte, which no database name does, says
// that the file is ours and in which format.
//
// Decisions that a reader would otherwise have to find out by accident:
//
//   - bbolt maps its file into memory, and has to wait for all readers when
//     the file outgrows the mapping. The mapping is therefore made far larger
//     than the data (address space only), see Options.MmapBytes.
//   - A bbolt commit writes many pages and syncs twice. Small commits therefore
//     go to a write-ahead log first, see storage/walkv. While the program runs,
//     and after a crash, the newest data is in the files of that log beside
//     kvsqld.db; a clean stop moves it and removes them.
//   - The list of free pages is not written with each commit, which would cost
//     a write as large as the list. Close writes it once, so that the next
//     start after a clean stop need not search the file for free pages.
//   - Rows that are appended fill their pages, others leave bbolt's half.
//   - A commit whose last step failed, so that nobody can tell whether it is
//     on disk, makes the store refuse all further commits: the file must be
//     read again from the start. Every earlier failure leaves the store in
//     order and in use.
package boltkv
