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
	return op.rings.begin(env, op.scan, op.spec.Codes)
}

func (op *nearestScan) Next() (*vec.Batch, error) { return op.rings.pass(op.scan) }

// again goes on with the regions of codes.
func (op *scan) again(codes []spatial.Range) {
	op.stop()
	op.spec = table.ScanSpec{Cols: op.node.Cols, Parts: op.parts, Below: op.node.Below, Codes: codes}
	op.done = len(codes) == 0
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
	return op.rings.begin(env, op.clusterScan, op.codes)
}

func (op *nearestCluster) Next() (*vec.Batch, error) { return op.rings.pass(op.clusterScan) }

func (op *nearestCluster) regionCodes() []spatial.Range { return op.rings.read }
