// Package walkv puts a write-ahead log in front of an engine whose commits are
// dear. What comes in is a [Base]; what goes out is a txn.Pipelined that makes
// small batches durable by appending them to a log file and syncing that, keeps
// them in ordered trees in memory, and moves many into the base at once.
//
// A state is the base with at most two sets of trees on it: the frozen ones,
// which are being moved into the base, and above them the active ones, which
// grow. A snapshot is a snapshot of the base with the trees that belong on it.
// Spaces are created, cleared and dropped in the base only, and large batches
// are written there, each together with everything in the trees.
//
// # On disk
//
// Two files, kvsqld.log0 and kvsqld.log1, made when the first small batch comes
// and removed by Close: from one to the other of these moments a missing one is an
// error, since it may have had acknowledged batches. Each belongs to one set of trees; they take turns. A
// file has a header with an epoch, drawn at random whenever a log is begun, and
// then records without gaps, one per batch. The space behind the records is
// written beforehand, so that a sync has no metadata to write. The base stores
// the epoch and the number of the last batch that it contains (the mark) in the
// transaction that writes the batches.
//
// # Invariants
//
// W1. Snapshot opens what is synced or was to be shown at once, Newest all
// batches. After a loss of power any of the records that were not synced may be
// torn; each record says how many before it were not when it was written.
//
// W2. Records are numbered without gaps, from one more than the mark at the
// beginning of the log. A log file is written again from its start only when
// all its records are in the base, and one is changed for the other only when all
// its records are synced.
//
// W3. Opening replays the records above the mark up to the first that is not
// whole; what follows is as if it had never been. A record behind that was written
// when the broken one was synced already, or a gap between the files, says that
// acknowledged batches are damaged: kv.ErrCorrupt, and nothing is changed.
//
// W4. A snapshot's trees lie on the base that they were made for, or on the one
// that contains all frozen trees: reapplying those changes nothing. Any other
// pair would show old values above new ones; see Engine.Snapshot.
//
// W5. Published trees are never changed; a batch changes copies.
//
// W6. After a failed sync nobody knows what the file contains. The engine takes
// no batch from then on; reading goes on with what was shown. A full
// disk is no such failure: the record is wiped and the log goes on before it.
//
// W7. Only the holder of mu writes the log, changes trees or publishes. The
// background checkpoint writes frozen trees into the base without mu; all other
// writers of the base hold mu and wait for it first. Sync waits for the disk
// without mu, and publishes what it synced.
package walkv
