// Package partition decides which partition of a table a row belongs to, and
// which partitions a condition can be true in.
//
// In: the catalog's descriptors of a partitioned table and of its partitions. Out:
// a Set, which finds the partition of a key (Find), tells whether a new bound fits
// beside the others (Fits), and leaves out the partitions that a condition excludes
// (Select). A Set holds for one catalog snapshot and never changes.
//
// Rows are given to hash partitions by the same functions as in PostgreSQL, so that
// a dump of each partition can be loaded into the partition of the same name.
package partition
