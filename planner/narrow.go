package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// narrowProbe lists, for a hash join whose probe side is a scan of a whole table, the
// files that hold a key's values in order. Once the build side is known, so are its
// least and greatest key, and rows beyond them need not be read: with a tenth of the
// orders on the build side, a tenth of the lines. Rows of few keys are looked up.
func (p *planner) narrowProbe(h *plan.HashJoin) {
	if p.NoOptimizer {
		return
	}
	switch h.Kind {
	case plan.Inner, plan.Semi, plan.Right:
	default:
		return // rows without a partner are wanted
	}
	for _, k := range h.LeftKeys {
		if c, ok := plan.KeyCol(k); ok && narrowable(c.T) {
			p.narrowBy(h, c)
		}
	}
}

// narrowable reports whether the build side's values of a type are keys as they are.
func narrowable(t types.T) bool {
	switch t.Kind() {
	case types.KText:
		return t.OID != types.OBpchar
	case types.KUUID, types.KBytea, types.KWord:
		return true
	}
	return t.Rep() == types.RepInt
}

func (p *planner) narrowBy(h *plan.HashJoin, c *plan.Col) {
	probeScans(h.Left, c.Idx, func(sc *plan.Scan, out int) {
		switch col := sc.Cols[out]; {
		case col >= 0:
			p.narrowScan(sc, out)
		case col == plan.ColCtid && sc.Table.CtidTellsKey():
			sc.Narrow = append(sc.Narrow, plan.Narrow{Out: out, RowCost: 1})
		}
	})
}

// narrowScan lists the files for a key that column out of a scan is.
func (p *planner) narrowScan(sc *plan.Scan, out int) {
	t, col := sc.Table, sc.Cols[out]
	add := func(n plan.Narrow) {
		n.Out = out
		if st := p.Snap.Stats(t.OID); st != nil && col < len(st.Cols) {
			n.Stats = &st.Cols[col]
		}
		sc.Narrow = append(sc.Narrow, n)
	}
	if t.KeyIsRowKey() && t.PK[0] == col {
		add(plan.Narrow{RowCost: 1})
		return
	}
	need := map[int]bool{}
	for _, c := range sc.Cols {
		need[c] = true
	}
	for _, ix := range t.Indexes {
		if ix.Primary && t.KeyIsRowKey() || !p.readable(ix) || ix.Where != "" || ix.Kind != catalog.KindBtree || ix.Keys[0].Col != col {
			continue
		}
		n := plan.Narrow{Index: ix, RowCost: costEntry + costGet}
		if len(sc.Parts) == 0 && p.covers(t, ix, need) {
			n.IndexOnly, n.RowCost = true, costEntry
		}
		add(n)
	}
}

// probeScans finds the scans of whole tables whose column gives column col of a node's
// output, on the probe sides of the joins in between: several below a UNION ALL or of a
// partitioned table.
func probeScans(n plan.Node, col int, found func(sc *plan.Scan, col int)) {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Access == plan.FullScan && n.Table.Cluster == nil && !n.Ordered && n.Limit == nil && n.Lock == nil && n.Nearest == nil && col < len(n.Cols) {
			found(n, col)
		}
	case *plan.HashJoin:
		if n.Kind != plan.Full && n.Kind != plan.Right && col < len(n.Left.Base().Cols) {
			probeScans(n.Left, col, found)
		}
	case *plan.LookupJoin:
		if n.Kind != plan.Full && n.Kind != plan.Right && col < len(n.Left.Base().Cols) {
			probeScans(n.Left, col, found)
		}
	case *plan.Append:
		if len(n.Keys) == 0 {
			for _, in := range n.Inputs {
				probeScans(in, col, found)
			}
		}
	case *plan.Filter:
		probeScans(n.Input, col, found)
	case *plan.Group: // all rows of a group have one value in a key
		if n.Sets == nil && col < len(n.Keys) {
			if c, ok := n.Keys[col].(*plan.Col); ok {
				probeScans(n.Input, c.Idx, found)
			}
		}
	case *plan.Project:
		if c, ok := n.Exprs[col].(*plan.Col); ok {
			probeScans(n.Input, c.Idx, found)
		}
	}
}
