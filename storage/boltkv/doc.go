// Package boltkv stores key-value files in one bbolt file and gives them the
// transactions of storage/txn.
//
// What is on disk: a data directory with the file kvsqld.db. In it, one bucket
// per database, and in that one bucket per file (the master file of a table,
// or an index), so that any bbolt tool shows the tables by name. Beside them a
// bucket whose name begins with a NUL byte, which no database name does, says
// that the file is ours and in which format. kvsqld.lock is locked while the
// directory is in use. kvsqld.<id>.sum has checksums of the pages.
//
// Decisions that a reader would otherwise have to find out by accident:
//
//   - bbolt maps its file into memory, and would wait for all readers when
//     the file outgrows the mapping. We keep the mappings ourselves, each until
//     its last reader has ended (mapping.go), and make them far larger than the
//     data (address space only), see Options.MmapBytes.
//   - A bbolt commit writes many pages and syncs twice. Small commits therefore
//     go to a write-ahead log first, see storage/walkv. While the program runs,
//     and after a crash, the newest data is in the files of that log beside
//     kvsqld.db; a clean stop moves it and removes them.
//   - bbolt's pages have no checksums. Ours are in a file of their own (see
//     sums.go), so all reads go through our own walk over bbolt's pages
//     (tree.go), which verifies a page when it is first touched; and bbolt is
//     let at pages for writing only when those it will read are verified. So a
//     flipped bit anywhere is an error and never an answer. Pages that the
//     operating system reads again after that are believed.
//   - A directory from which a file is gone, or has been replaced by an older one, is
//     refused and left as it is: creation leaves names in an order that tells a first
//     start from a lost file (create.go), the checksums say which state they are for
//     (stamp.go), and the data file says which logs there have to be.
//   - bbolt writes through a function of ours (pages.go), which does all syncs
//     in the order that the checksums need.
//   - The list of free pages is written with each commit unless it is long. Then
//     the next start after a crash has to search the file; Close writes it.
//   - Rows that are appended fill their pages, others leave bbolt's half. Many that
//     are appended, and changes to much of a file, do not go through bbolt's nodes,
//     which are in memory until the commit: their leaf pages are written as they
//     fill, and bbolt gets the branches that lead to them (bulk.go). So the memory of
//     a commit does not grow with the transaction.
//   - A commit whose last step failed, so that nobody can tell whether it is
//     on disk, makes the store refuse all further commits: the file must be
//     read again from the start. Every earlier failure leaves the store in
//     order and in use.
package boltkv
