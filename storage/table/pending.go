package table

import (
	"context"
	"errors"
	"io"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

var errPending = sqlerr.Unsupported(-1, "storage")

// ErrChanged is returned when a row or key was changed by a transaction that
// committed after the snapshot. The locks taken stay. A READ COMMITTED caller
// rolls back to the start of its statement, refreshes the transaction and runs
// the statement again; at other levels kv.ErrConflict is returned instead.
var ErrChanged = errors.New("row was changed by a concurrent transaction")

// DB is the tables of one open store. It keeps what belongs to the store and not
// to a transaction: row number allocators, reserved sequence values.
type DB struct{ store kv.Store }

// NewDB returns the tables of a store.
func NewDB(st kv.Store) *DB { return &DB{store: st} }

// Store returns the engine.
func (db *DB) Store() kv.Store { return db.store }

// For returns what is derived from a table's descriptor, which must not change
// afterwards; it is remembered by the descriptor's address. 0A000 for layouts
// and index kinds that are not supported, 42704-class errors for key types that
// have no order.
func (db *DB) For(t *catalog.Table) (*Desc, error) { return nil, errPending }

// Desc is a table with its codecs.
type Desc struct {
	Table *catalog.Table
	Live  []int // live columns: indexes into Table.Columns
	db    *DB
}

// Create makes the table's files; Drop removes them; Truncate empties them.
func (d *Desc) Create(tx Txn) error   { return errPending }
func (d *Desc) Drop(tx Txn) error     { return errPending }
func (d *Desc) Truncate(tx Txn) error { return errPending }

// CreateIndex makes an index's empty file, DropIndex removes it.
func (d *Desc) CreateIndex(tx Txn, ix *catalog.Index) error { return errPending }
func (d *Desc) DropIndex(tx Txn, ix *catalog.Index) error   { return errPending }

// BuildIndex fills the file of an index of the table from its rows. vals computes
// the index's expressions and predicate for a batch of live columns; nil when it
// has none. 23505 (could not create unique index) on duplicates.
func (d *Desc) BuildIndex(ctx context.Context, tx Txn, ix *catalog.Index, vals func(live *vec.Batch) (IndexVals, error)) error {
	return errPending
}

// LockTable takes a table lock on the master file.
func (d *Desc) LockTable(ctx context.Context, tx Txn, m kv.TableLockMode, o LockOpt) error {
	return errPending
}

// Scan starts a scan. Close the Scanner before the transaction ends.
func (d *Desc) Scan(ctx context.Context, r Reader, spec *ScanSpec) (*Scanner, error) {
	return nil, errPending
}

// Scanner passes the rows of a scan in the order of the file.
type Scanner struct{}

// Next fills b with the next rows: b.Cols become one vector per ScanSpec.Cols
// (made on first use, reused later), b.N their number, b.Sel nil. N = 0 is the end.
func (s *Scanner) Next(b *vec.Batch) error { return errPending }

// Close releases the scan. It may be called more than once.
func (s *Scanner) Close() {}

// SplitScan cuts a scan into at most n parts that together return the same rows,
// each in order, and part i before part i+1 (after it when Reverse). One part is
// returned when the file is small.
func (d *Desc) SplitScan(ctx context.Context, r Reader, spec *ScanSpec, n int) ([]*ScanSpec, error) {
	return nil, errPending
}

// GetRows fetches rows by row key. Row i of out belongs to keys[i]; out.N is
// len(keys) and out.Sel lists the rows found, nil when all were.
func (d *Desc) GetRows(ctx context.Context, r Reader, keys [][]byte, cols []int, out *vec.Batch) error {
	return errPending
}

// PointGet fetches the row whose whole primary key (index nil or primary) or
// unique index key equals key, by the index's own column types; NULL finds
// nothing. out.N is 1 or 0.
func (d *Desc) PointGet(ctx context.Context, r Reader, ix *catalog.Index, key []types.Datum, cols []int, out *vec.Batch) (bool, error) {
	return false, errPending
}

// Lookup finds rows by equality on the first key columns of an index for many
// probes at once. It may be reused for batch after batch.
type Lookup struct{}

// NewLookup prepares lookups in an index (nil or primary: the master file) on its
// first nkeys columns, giving cols. indexOnly as in ScanSpec.
func (d *Desc) NewLookup(r Reader, ix *catalog.Index, nkeys int, cols []int, indexOnly bool) (*Lookup, error) {
	return nil, errPending
}

// Start sets the probes: keys[k] is the vector for the k-th key column, rows the
// row numbers in it (nil: 0 … n-1). Vectors have the key column's type, or for
// integers any integer type. NULL finds nothing.
func (l *Lookup) Start(ctx context.Context, keys []*vec.Vec, n int, rows []uint32) error {
	return errPending
}

// Next fills out with matches in the order of the probes and returns the probe's
// row number for each; out.N = 0 is the end of this set of probes.
func (l *Lookup) Next(out *vec.Batch) ([]uint32, error) { return nil, errPending }

// Exists reports for each probe (as in Lookup.Start) whether a row matches;
// hits[i] belongs to the i-th probe. For foreign keys: with lock, the row found
// is locked (Shared as the options say) and its newest state counts; ErrChanged
// as Writer says.
func (d *Desc) Exists(ctx context.Context, r Reader, ix *catalog.Index, keys []*vec.Vec, n int, rows []uint32) (hits []bool, err error) {
	return nil, errPending
}

// ExistsLocked is Exists in a transaction on a whole unique key: each row found is
// locked as o says (Shared for foreign keys) and its newest committed state counts.
func (d *Desc) ExistsLocked(ctx context.Context, tx Txn, ix *catalog.Index, keys []*vec.Vec, n int, rows []uint32, o LockOpt) (hits []bool, err error) {
	return nil, errPending
}

// LockRows locks rows by key (in sorted order) and returns one result per key, in
// the order of keys. ErrChanged when a row that was locked has changed or gone
// since the snapshot (kv.ErrConflict above READ COMMITTED). Skipped rows are
// reported in the results.
func (d *Desc) LockRows(ctx context.Context, tx Txn, keys [][]byte, o LockOpt) ([]LockResult, error) {
	return nil, errPending
}

// Writer writes to one table for the length of a statement. It reuses buffers.
type Writer struct{}

// NewWriter returns a writer for the table in the transaction.
func (d *Desc) NewWriter(tx Txn) *Writer { return &Writer{} }

// Insert stores the batch's rows (live columns in order; selected rows only). ix
// is aligned with Table.Indexes, nil when all are plain. Uniqueness is checked
// against the newest committed state, the transaction's own writes and the rows
// of the batch before; a violation is 23505 unless reported.
func (w *Writer) Insert(ctx context.Context, rows *vec.Batch, ix []IndexVals, o InsertOpt) (*InsertResult, error) {
	return nil, errPending
}

// Update replaces rows: keys by row number, old and new live columns of the same
// row numbers. changed lists the indexes into Table.Columns that may differ. The
// caller has locked the rows (LockRows). Unique keys are checked row by row, those
// of deferrable constraints after all rows of the call. It returns the row keys by
// row number, which differ from keys where the primary key changed.
func (w *Writer) Update(ctx context.Context, keys *vec.Vec, old, new *vec.Batch, changed []int, oldIx, newIx []IndexVals, o LockOpt) ([][]byte, error) {
	return nil, errPending
}

// Delete removes rows that the caller has locked. old has their live columns.
func (w *Writer) Delete(ctx context.Context, keys *vec.Vec, old *vec.Batch, ix []IndexVals, o LockOpt) error {
	return errPending
}

// Init makes the files that every store has (catalog, sequences) when absent.
func (db *DB) Init(ctx context.Context) error { return errPending }

// Fragment is the stored form of a catalog object.
type Fragment struct {
	OID types.OID
	XML []byte
}

// Fragments returns all catalog fragments in OID order.
func Fragments(ctx context.Context, r Reader) ([]Fragment, error) { return nil, errPending }

// PutFragment stores and DropFragment removes the fragment of an object.
func PutFragment(tx Txn, f Fragment) error     { return errPending }
func DropFragment(tx Txn, oid types.OID) error { return errPending }

// Reserve hands out n consecutive numbers of the named counter (OIDs, spaces) and
// returns the first; a number is never handed out twice, also not after a crash.
// A new counter starts at start.
func (db *DB) Reserve(ctx context.Context, counter string, start, n uint64) (uint64, error) {
	return 0, errPending
}

// NextVal draws the next value of a sequence outside any transaction; 2200H at its
// end. After a crash up to 32 values may be skipped.
func (db *DB) NextVal(ctx context.Context, s *catalog.Sequence) (int64, error) { return 0, errPending }

// SetVal sets the sequence's state: the next NextVal returns v, or the value after
// it when called is true.
func (db *DB) SetVal(ctx context.Context, s *catalog.Sequence, v int64, called bool) error {
	return errPending
}

// SeqState returns last_value and is_called.
func (db *DB) SeqState(ctx context.Context, s *catalog.Sequence) (last int64, called bool, err error) {
	return 0, false, errPending
}

// Problem is a fault that Check found.
type Problem struct {
	Table, File string
	Key         []byte // raw key, nil when the fault is not about one
	Text        string
}

// Check verifies tables: every key and row decodes, checksums hold, every index
// entry has its row and every row its entries (indexes with expressions or
// predicates: only the former).
func (db *DB) Check(ctx context.Context, r Reader, tables []*catalog.Table, report func(Problem)) error {
	return errPending
}

// Inspect prints up to limit keys and values (0: all) of the master file (ix nil)
// or an index, readable beside raw, and totals.
func (d *Desc) Inspect(ctx context.Context, r Reader, ix *catalog.Index, limit int, w io.Writer) error {
	return errPending
}
