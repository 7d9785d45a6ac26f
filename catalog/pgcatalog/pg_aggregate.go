package pgcatalog

import (
	"kvsqld/catalog"
)

// Moving-aggregate and serialisation functions are listed and not called: window
// aggregates and partial aggregates are computed without them.
func rowsPgAggregate(w *writer) {
	for _, f := range w.env.Snap.AllFunctions(w.env.DB) {
		g := f.Agg
		if g == nil {
			continue
		}
		w.oid(f.OID).chr('n').int(0).oid(g.Trans).oid(g.Final).oid(g.Combine).oid(0).oid(0).oid(0).oid(0).oid(0).
			bool(false).bool(false).chr('r').chr('r').oid(g.SortOp).oid(g.State.OID).int(0).oid(0).int(0)
		if g.Init != nil {
			w.str(*g.Init)
		} else {
			w.null()
		}
		w.null().end()
	}
	for _, a := range catalog.Aggregates() {
		w.oid(a.Proc).chr(a.Kind).int(int64(a.Direct)).oid(a.TransFn).oid(a.FinalFn).oid(a.CombineFn).oid(a.Serial).oid(a.Deserial).
			oid(a.MovingTrans).oid(a.MovingInv).oid(a.MovingFinal).bool(a.FinalExtra).bool(a.MovingFinalExtra).
			chr(a.FinalModify).chr(a.MovingFinalModify).oid(a.SortOp).oid(a.TransType).int(int64(a.TransSpace)).
			oid(a.MovingType).int(int64(a.MovingSpace))
		for _, init := range []struct {
			text string
			has  bool
		}{{a.InitVal, a.HasInit}, {a.MovingInit, a.HasMovingInit}} {
			if init.has {
				w.str(init.text)
			} else {
				w.null()
			}
		}
		w.end()
	}
}
