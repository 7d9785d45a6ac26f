package plan

import (
	"kvsqld/catalog"
)

// Special column numbers in Scan.Cols, beside indexes into Table.Columns.
const (
	ColRowKey   = -1 // the encoded master key, bytea: the row's handle for DML and locking
	ColTableOID = -2 // tableoid
	ColCtid     = -3 // a tid-like text made from the handle
	ColXmin     = -4 // xid: the checksum of the row as it is stored, another one for other values
	ColXmax     = -5 // in RETURNING of ON CONFLICT DO UPDATE: 0 of a row that was inserted
)

// The values of a PartKey: a member's name or an array's subscript; an array of
// text, whose first element or all of whose elements are names; an object that
// has the names.
const (
	PartOne PartHow = iota
	PartFirst
	PartEach
	PartMembers
)

type (
	// Scan passes the rows of a table, by the master file or by an index, that lie
	// in Ranges and satisfy Filter. Output: Cols in order. Order: that of the
	// file scanned (reversed with Reverse) when there is at most one range.
	Scan struct {
		Common
		Table   *catalog.Table
		Alias   string         // what the query calls the table, for EXPLAIN
		Index   *catalog.Index // nil: the master file. The primary key's index means the master as well.
		Access  Access
		Ranges  []KeyRange // nil: the whole file. Of ByCtid those of ctids
		Cols    []int
		Parts   []Part
		Filter  Expr // over Cols
		Reverse bool
		// Sample, where it is set, has a scan of the whole table read some blocks of rows;
		// the filter decides about each row.
		Sample *Sample
		// EntryFilter is tested on the entries of Index before their rows are
		// fetched, over EntryCols, which are all in an entry.
		EntryFilter Expr
		EntryCols   []int
		// Tail restricts key column TailAt of an index, the one behind that of Ranges:
		// entries outside are passed over before they are decoded. nil: all are wanted.
		Tail   *KeyRange
		TailAt int
		// IndexOnly: all Cols are in the index's key, its INCLUDE or the master key.
		IndexOnly bool
		// Limit and Skip say that Limit rows behind the first Skip are probably enough;
		// nil: all, and none.
		Limit, Skip Expr
		// Loose tells that of the rows with the same values in so many of the first key
		// columns one is enough, the first in the scan's order; 0: all are wanted.
		Loose int
		// LooseValue asks for the first that is not NULL in the next key column, if there is one.
		LooseValue bool
		// Area restricts a region-clustered table to the regions of a place, instead
		// of Ranges. Filter decides about each row.
		Area *Area
		// Nearest asks for rows from near to far, as far as needed: a Sort above
		// orders them.
		Nearest *Nearest
		Lock    *Lock
		Cursor  string // of CurrentRow
		// Below tells that the master file has rows of other tables below the table's.
		Below bool
		// Ordered tells that a node above relies on the order.
		Ordered bool
		// Narrow are other ways to read the rows, for when a hash join above has
		// told how far the values of one of the columns reach.
		Narrow []Narrow
	}

	// Narrow is a file whose key begins with column Cols[Out] of a scan of the whole
	// table: its range between two values of that column has all rows with such a
	// value. A ctid stands for the key that it tells.
	Narrow struct {
		Out       int
		Index     *catalog.Index // nil: the master file
		IndexOnly bool
		RowCost   float64           // of one row, where a row of the scan costs 1
		Stats     *catalog.ColStats // of the column; nil: unknown
	}

	// Sample is TABLESAMPLE by blocks of rows.
	Sample struct{ Percent, Seed Expr }

	// Part says that a column stored by elements is looked at only in the elements
	// that Keys name: its values may lack the others.
	Part struct {
		Col  int
		Keys []PartKey
		// Span: the bounds of arrays are looked at.
		Span bool
	}

	// PartKey names elements by an expression without columns.
	PartKey struct {
		X   Expr
		How PartHow
	}

	// PartHow says how a PartKey's value names elements.
	PartHow uint8

	// Area is a place on the Earth: the intersection of its circles and boxes. A
	// position that is not in it satisfies no row's filter.
	Area struct {
		Circles []Circle
		Boxes   []Box
		// South … East are bounds of the two columns; nil is none. Unlike a Box, West >
		// East is empty.
		South, West, North, East Expr
		// Known tells that rows without a position cannot satisfy the filter.
		Known bool
	}

	// Circle holds the positions within Metres of a position.
	Circle struct{ Lat, Lon, Metres Expr }

	// Box is a box of degrees; West > East is one over the date line.
	Box struct{ South, West, North, East Expr }

	// Nearest orders rows by their distance from a position until Count rows have
	// passed the filter, and Skip before them.
	Nearest struct {
		Lat, Lon    Expr
		Count, Skip Expr
		// Planar tells that the distance is that of <-> between points: in degrees,
		// on a plane.
		Planar bool
	}

	// ClusterScan passes the joined rows of tables that are stored with each other,
	// read in one walk over their file: Levels from the top, each the child of the
	// one before it. Output: the levels' columns one after the other.
	ClusterScan struct {
		Common
		Levels []ClusterLevel
		// Of the first level: at most one of these. Without any the whole file is read.
		Area *Area
		Key  []Expr // the whole primary key
		// Nearest as in a Scan, by the first level's position.
		Nearest *Nearest
	}

	// ClusterLevel is a table of a ClusterScan.
	ClusterLevel struct {
		Table *catalog.Table
		Cols  []int
		// Ranges restrict the columns of catalog.Table.ClusterTail; nil: all rows.
		Ranges []KeyRange
		Filter Expr // over Cols
		// Outer keeps rows of the level above without a row that passes here, padded
		// with NULLs.
		Outer bool
	}

	// Access names the access path for EXPLAIN.
	Access uint8

	// KeyRange is a range of the index's or master's key: equality on the first
	// len(Eq) columns, then an optional range on the next one. Any bound that
	// evaluates to NULL makes the range empty.
	KeyRange struct {
		Eq []Expr
		// EqAny: the column after Eq equals any element of this array expression
		// (IN lists, = ANY); expands to one range per distinct element, in key order.
		EqAny Expr
		// IsNull: the column after Eq is NULL. NotNull: it is not.
		IsNull       bool
		NotNull      bool
		Lo, Hi       Expr
		LoInc, HiInc bool
		// LoRest and HiRest make Lo and Hi the first columns of rows, which bound the
		// columns from that after Eq on. A NULL among them ends the row there.
		LoRest, HiRest []Expr
		// Elems: the key column ElemKey, of an index by elements, and this expression
		// satisfy ElemOp: @> <@ && ? ?| ?& @? @@, or = for an array that has the element.
		// The range finds rows that may; the filter decides.
		Elems   Expr
		ElemOp  string
		ElemKey int
		// ElemAll: what the lists say is all that is wanted, no row is read.
		ElemAll bool
		// Test: the next column, of ranges kept by length, and this expression satisfy
		// TestOp: && @> or <@. The range finds rows that may; the filter decides.
		Test   Expr
		TestOp string
		// Like: the next column matches this LIKE pattern's fixed prefix.
		Like Expr
	}

	// IndexUnion passes the rows of a table whose keys one or more of Scans pass, or, with
	// All, each of them, in the
	// order of the keys, if they satisfy Filter. Output: Cols in order.
	IndexUnion struct {
		Common
		Table  *catalog.Table
		Alias  string
		Scans  []Node // of row keys
		All    bool
		Cols   []int
		Parts  []Part
		Filter Expr // over Cols
	}

	// VirtualScan passes the rows of a declared relation. KeyCols/KeyVals are an
	// optional equality lookup; with AnyOf there is one key column, of which rows have
	// any of the values, or of the elements of those that are arrays. Output: Cols. No
	// order.
	VirtualScan struct {
		Common
		Rel     *catalog.Virtual
		Alias   string
		Cols    []int
		KeyCols []int
		KeyVals []Expr
		AnyOf   bool
		Total   float64 // rows of the whole relation, as estimated
		Filter  Expr
	}

	// SequenceScan passes a sequence's single row.
	SequenceScan struct {
		Common
		Seq *catalog.Sequence
	}

	// Values passes rows of expressions that see no input columns.
	Values struct {
		Common
		Rows [][]Expr
	}

	// FuncScan passes the rows of table functions side by side (ROWS FROM),
	// NULL-padded, with an ordinality column last if wanted.
	FuncScan struct {
		Common
		Funcs      []Expr // Calls, set-returning or not
		FuncCols   []int  // number of columns of each
		Ordinality bool
	}

	// CTEScan reads the rows of a materialized CTE, computed once per statement.
	CTEScan struct {
		Common
		CTE *CTE
	}

	// WorkScan reads the working table of a recursive CTE.
	WorkScan struct {
		Common
		CTE *CTE
	}
)

// The access paths.
const (
	FullScan   Access = iota // whole master file
	PointGet                 // whole primary key given
	UniqueGet                // whole key of a unique index given
	RangeScan                // range of the master key
	IndexRange               // range of an index
	IndexFull                // whole index, for its order or because it covers
	Regions                  // some regions of a region-clustered table
	CurrentRow               // the row that a cursor stands on
	ByCtid                   // rows with some ctids, which lead to their keys
)

// Whole reports whether the scan passes all rows of the table.
func (n *Scan) Whole() bool {
	return n.Access == FullScan && n.Ranges == nil && n.Filter == nil && n.Sample == nil && n.EntryFilter == nil && n.Tail == nil &&
		n.Limit == nil && n.Skip == nil && n.Loose == 0 && n.Area == nil && n.Nearest == nil && n.Lock == nil && !n.Below
}

// Children returns the node's inputs.
func (n *Scan) Children() []Node         { return nil }
func (n *ClusterScan) Children() []Node  { return nil }
func (n *IndexUnion) Children() []Node   { return n.Scans }
func (n *VirtualScan) Children() []Node  { return nil }
func (n *SequenceScan) Children() []Node { return nil }
func (n *Values) Children() []Node       { return nil }
func (n *FuncScan) Children() []Node     { return nil }
func (n *CTEScan) Children() []Node      { return nil }
func (n *WorkScan) Children() []Node     { return nil }
