package plan

import (
	"kvsqld/catalog"
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds. Right joins are planned as Left with sides exchanged where the
// method allows, Semi and Anti pass left rows with and without a match.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

type (
	// HashJoin builds a hash table of Right (the build side) on RightKeys and
	// probes it with Left. Output: left columns, then right columns (only the
	// left's for Semi and Anti). It keeps the left's order when it does not spill.
	HashJoin struct {
		Common
		Kind                JoinKind
		Left, Right         Node
		LeftKeys, RightKeys []Expr // over each side's columns, pairwise of the same type
		NullEq              []bool // IS NOT DISTINCT FROM keys; nil: none
		Residual            Expr   // over left ++ right columns, part of the join condition
		// NullAware makes Anti behave as NOT IN: no row passes when the build side
		// has a NULL key, and NULL probe keys pass only an empty build side.
		NullAware bool
		// Retain keeps the table for the next run: Right is the same in all.
		Retain bool
		// Ahead: the left input is read first, as far as it is small, and the right one
		// finds its rows by the keys of these. No Kind of it passes right rows without a match.
		Ahead bool
	}

	// LookupJoin gets, for batches of Left's rows, the matching rows of a table by
	// point gets or index ranges. Output as HashJoin. It keeps the left's order.
	LookupJoin struct {
		Common
		Kind     JoinKind
		Left     Node
		Table    *catalog.Table
		Alias    string         // what the query calls the table, for EXPLAIN
		Index    *catalog.Index // nil or primary: the master file
		Keys     []Expr         // over Left's columns: equality on the first len(Keys) key columns
		Cols     []int
		Parts    []Part
		Filter   Expr // over Cols alone
		Residual Expr // over left ++ Cols
		// EntryFilter and EntryCols are as in Scan.
		EntryFilter Expr
		EntryCols   []int
		IndexOnly   bool
		Turn        *Turn // nil: it stays with lookups
	}

	// Turn is a hash join with all rows of a lookup join's table, to which that turns for
	// the rest of its left rows when there are far more of them than was expected.
	Turn struct {
		Cost                float64 // of the hash table
		PerRow, PerFound    float64 // of the lookup of a left row, and of each row found
		Right               *Scan   // the lookup join's Cols, then others that only RightKeys and its filter read
		LeftKeys, RightKeys []Expr  // as in HashJoin
	}

	// MergeJoin joins two inputs ordered on their keys (ascending, nulls last).
	MergeJoin struct {
		Common
		Kind                JoinKind
		Left, Right         Node
		LeftKeys, RightKeys []Expr
		Residual            Expr
	}

	// LoopJoin keeps Right in memory and tests every pair. Output as HashJoin.
	LoopJoin struct {
		Common
		Kind        JoinKind
		Left, Right Node
		Cond        Expr // nil: cross join
	}

	// Apply runs Right once per left row with Outer's parameters set from it
	// (LATERAL). Output as HashJoin.
	Apply struct {
		Common
		Kind        JoinKind
		Left, Right Node
		Outer       []SubParam
		Cond        Expr
	}
)

// Children returns the node's inputs.
func (n *HashJoin) Children() []Node   { return []Node{n.Left, n.Right} }
func (n *LookupJoin) Children() []Node { return one(n.Left) }
func (n *MergeJoin) Children() []Node  { return []Node{n.Left, n.Right} }
func (n *LoopJoin) Children() []Node   { return []Node{n.Left, n.Right} }
func (n *Apply) Children() []Node      { return []Node{n.Left, n.Right} }
