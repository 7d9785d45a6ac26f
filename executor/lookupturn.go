package executor

import (
	"errors"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// lookupTurn is the turn of a lookup join to a hash table: once the lookups have cost what
// reading the whole table would have, it is read, however many left rows are still to
// come. So a join that was planned for few rows, or for few that each finds, costs about
// twice what the better way does at most.
type lookupTurn struct {
	seen  int64     // left rows
	spent float64   // on lookups, in the plan's units
	to    *hashJoin // nil: it has not turned
	tried bool
	view  vec.Batch
}

// errNoRoom ends the build of a hash table that would have to spill: the order of the left
// rows, which a lookup join keeps, would be lost.
var errNoRoom = errors.New("no room for a hash table")

// turns is told of each left batch. It reports whether the join has turned, with that
// batch as the first of the hash join.
func (op *lookupJoin) turns(in *vec.Batch) (bool, error) {
	t := &op.turn
	t.seen += int64(in.Rows())
	n := op.node.Turn
	if n == nil || t.tried {
		return false, nil
	}
	rows := float64(in.Rows())
	if t.spent+rows*(n.PerRow+n.PerFound) <= n.Cost {
		t.spent += rows * n.PerRow
		return false, nil
	}
	t.tried = true
	b := op.env.run.build
	right, err := b.plain(n.Right)
	if err != nil {
		return false, err
	}
	node := &plan.HashJoin{Kind: op.node.Kind, Left: op.node.Left, Right: n.Right, LeftKeys: n.LeftKeys, RightKeys: n.RightKeys, Residual: op.node.Residual}
	residual, err := b.predicate(node.Residual)
	if err != nil {
		return false, err
	}
	to, err := b.hashJoinOf(node, &restOf{first: in, input: op.left}, right, residual)
	if err != nil {
		return false, err
	}
	to.fits = true
	if err = to.Open(op.env); err == nil {
		err = to.readRight()
	}
	if err != nil {
		to.Close()
		// Of the rows that lookups do not find, none may fail the statement.
		if err == errNoRoom || ofRow(err) || sqlerr.CodeOf(err) == sqlerr.OutOfMemory {
			return false, nil
		}
		return false, err
	}
	t.to = to
	return true, nil
}

// count is told of the rows that a read of the file has found.
func (op *lookupJoin) count(found int) {
	if n := op.node.Turn; n != nil {
		op.turn.spent += float64(found) * n.PerFound
	}
	op.env.Tally.indexScanned(op.node.Table, op.node.Index, op.node.IndexOnly, 0, int64(found), 1)
}

// turnedNext is Next of the join that has turned, without the columns that only the hash
// join reads.
func (op *lookupJoin) turnedNext() (*vec.Batch, error) {
	b, err := op.turn.to.Next()
	if b == nil || err != nil || op.node.Kind == plan.Semi || op.node.Kind == plan.Anti {
		return b, err
	}
	op.turn.view = vec.Batch{Cols: b.Cols[:len(op.ltypes)+len(op.node.Cols)], N: b.N, Sel: b.Sel}
	return &op.turn.view, nil
}

func (op *lookupJoin) memStats() (peak, spilled int64) {
	if op.turn.to == nil {
		return 0, 0
	}
	return op.turn.to.memStats()
}

// restOf is an input that is open, from a batch on that was read of it. Who opened it
// closes it.
type restOf struct {
	first *vec.Batch
	input Operator
}

func (op *restOf) Open(*Env) error { return nil }

func (op *restOf) Next() (*vec.Batch, error) {
	if b := op.first; b != nil {
		op.first = nil
		return b, nil
	}
	return op.input.Next()
}

func (op *restOf) Close() {}
