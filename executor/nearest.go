package executor

import (
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// nearestScan passes the rows of a region-clustered table that satisfy the filter,
// ring by ring around a position. The Sort above picks the nearest of them.
type nearestScan struct {
	*scan
	rings rings
}

func newNearestScan(op *scan) *nearestScan {
	return &nearestScan{scan: op, rings: newRings(op.node.Nearest, op.node.Table, op.node.Cols)}
}

func (op *nearestScan) Open(env *Env) error {
	if err := op.scan.Open(env); err != nil {
		return err
	}
	if err := op.rings.open(env, op.spec.Codes); err != nil {
		return err
	}
	if !op.rings.last && !op.done {
		op.grow()
	}
	return nil
}

// grow goes on to the next ring.
func (op *nearestScan) grow() {
	fresh := op.rings.next()
	op.stop()
	op.spec = table.ScanSpec{Cols: op.node.Cols, Parts: op.parts, Below: op.node.Below, Codes: fresh}
	op.done = len(fresh) == 0
}

func (op *nearestScan) Next() (*vec.Batch, error) {
	for {
		b, err := op.scan.Next()
		if err != nil {
			return nil, err
		}
		if b != nil {
			op.rings.measure(b)
			return b, nil
		}
		if op.rings.enough() {
			return nil, nil
		}
		op.grow()
	}
}

// regionCodes are the codes that were read, for EXPLAIN.
func (op *nearestScan) regionCodes() []spatial.Range { return op.rings.read }

// nearestCluster passes the joined rows of a walk, ring by ring.
type nearestCluster struct {
	*clusterScan
	rings rings
}

func newNearestCluster(op *clusterScan) *nearestCluster {
	top := &op.node.Levels[0]
	return &nearestCluster{clusterScan: op, rings: newRings(op.node.Nearest, top.Table, top.Cols)}
}

func (op *nearestCluster) Open(env *Env) error {
	if err := op.clusterScan.Open(env); err != nil {
		return err
	}
	if err := op.rings.open(env, op.codes); err != nil {
		return err
	}
	if !op.rings.last {
		op.again(op.rings.next())
	}
	return nil
}

func (op *nearestCluster) Next() (*vec.Batch, error) {
	for {
		b, err := op.clusterScan.Next()
		if err != nil {
			return nil, err
		}
		if b != nil {
			op.rings.measure(b)
			return b, nil
		}
		if op.rings.enough() {
			return nil, nil
		}
		op.again(op.rings.next())
	}
}

func (op *nearestCluster) regionCodes() []spatial.Range { return op.rings.read }
