package pgcatalog

func rowsPgLocks(w *writer) {
	if w.env.Locks == nil {
		return
	}
	for _, l := range w.env.Locks() {
		w.str(l.Type)
		if l.DB == 0 && l.Rel == 0 {
			w.null()
		} else {
			w.oid(l.DB)
		}
		if l.Rel == 0 {
			w.null()
		} else {
			w.oid(l.Rel)
		}
		if l.Type == "tuple" {
			w.int(l.Page).int(l.Tuple)
		} else {
			w.nulls(2)
		}
		w.opt(l.Virtual).xid(l.Xid)
		if l.Type == "advisory" || l.Type == "object" {
			for _, n := range l.Object {
				w.int(int64(n))
			}
		} else {
			w.nulls(3)
		}
		w.str(l.Owner).int(int64(l.PID)).str(l.Mode).bool(l.Granted).bool(l.Fast).time(l.WaitFrom).end()
	}
}

// xid writes the number of a transaction, NULL for 0.
func (w *writer) xid(x uint64) *writer {
	if x == 0 {
		return w.null()
	}
	return w.int(int64(uint32(x)))
}
