package txn

import (
	"context"
	"iter"

	"kvsqld/storage/kv"
)

// Engine is what a single-writer store has to offer so that [Store] can make
// transactions of it: immutable snapshots and one way to apply a batch.
type Engine interface {
	// Snapshot opens the newest applied state. It may be called at any time,
	// also while Apply runs.
	Snapshot() (EngineSnapshot, error)
	// Apply makes all changes durable and visible at once, in the order given,
	// and returns the sequence number of the new state, which is higher than
	// that of any state before. On error nothing has changed, unless the error
	// is kv.ErrUndetermined. Apply is never called twice at the same time.
	Apply(changes []Change) (seq uint64, err error)
	// Limits returns the largest key (at most 65,535) and value, in bytes.
	Limits() (key, val int)
	// Stats, Compact and Check are those of kv.Store; Stats fills in the sizes
	// only. Compact may be called at any time, also while Apply runs.
	Stats(s *kv.StoreStats)
	Compact(ctx context.Context, worth func(*kv.StoreStats) bool) error
	Check(ctx context.Context, report func(fault string)) error
	// Close is called once, after the last snapshot was released.
	Close() error
}

// Logged is an Engine with a log in files.
type Logged interface {
	// LogFiles is that of kv.Store. It may be called at any time.
	LogFiles() ([]kv.LogFile, error)
}

// Pipelined is an Engine whose batches can be read before they are durable, so
// that one sync serves batches that build on each other.
type Pipelined interface {
	Engine
	// Append is Apply without the wait: the batch is in the state that Newest
	// opens, and in that of Snapshot too if show is set. It is durable with the
	// next Sync, or at once, as it says; all batches before it are then, too.
	Append(changes []Change, show bool) (seq uint64, durable bool, err error)
	// Newest opens the state with all batches.
	Newest() (EngineSnapshot, error)
	// Sync makes all batches durable and part of what Snapshot opens, and
	// returns the number of the last one. It may be called at any time, also
	// while Append runs. On an error, a kv.ErrUndetermined, the number is that of
	// the last durable one; Newest opens what Snapshot opens then, and no batch is
	// taken any more.
	Sync() (seq uint64, err error)
}

// SpaceOp is what a change does to a space before it writes keys.
type SpaceOp uint8

const (
	OpNone   SpaceOp = iota // the space must exist
	OpCreate                // the space must not exist; it is made, empty
	OpClear                 // the space must exist; its keys are removed
	OpDrop                  // the space must exist; it is removed, there are no writes
)

// Change is what one transaction does to one space.
type Change struct {
	Space  kv.Space
	Op     SpaceOp
	Writes iter.Seq2[[]byte, []byte] // ascending keys, each once; nil value = delete; valid during Apply
	Count  int                       // number of writes
	Bytes  int                       // of their keys and values, about; 0 if nobody has counted
}

// InventedID is above all IDs of tables and indexes.
const InventedID = 1 << 62

// EngineSnapshot is one immutable state of the engine. Its methods may be
// called from several goroutines. Bytes stay valid until Release.
type EngineSnapshot interface {
	Seq() uint64
	HasSpace(sp kv.Space) (bool, error)
	// Spaces is that of kv.Snapshot. Invented IDs are at least InventedID.
	Spaces() ([]kv.Space, error)
	// Get returns nil for an absent key or space.
	Get(sp kv.Space, key []byte) ([]byte, error)
	// BatchGet fills out, which has the length of keys.
	BatchGet(sp kv.Space, keys, out [][]byte) error
	// Scan positions a scan; Range, Reverse, KeysOnly and Skip matter. spent are closed
	// Chunks of another scan of this engine, or nil: their memory may be used.
	Scan(sp kv.Space, r kv.Range, o kv.ScanOpt, spent Chunks) Chunks
	Release()
}

// RangesSnapshot is an EngineSnapshot that scans several ranges at once: where one ends,
// it sees in which of the others the next key lies, and searches only if that is none.
type RangesSnapshot interface {
	EngineSnapshot
	// ScanRanges is Scan of r and of o.Then; nil where Scan has to be called for each.
	ScanRanges(sp kv.Space, r kv.Range, o kv.ScanOpt, spent Chunks) Chunks
}

// Chunks delivers the pairs of a scan. It belongs to one goroutine.
type Chunks interface {
	// Fill writes the next pairs to dst and returns how many; fewer than
	// len(dst) means that the range is at its end.
	Fill(dst []kv.Pair) (int, error)
	Close()
}

// Forgetter are Chunks that can be kept beyond their snapshot, for another scan.
type Forgetter interface {
	Chunks
	// Forget lets go, after Close, of all that belongs to the snapshot.
	Forget()
}
