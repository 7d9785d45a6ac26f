package pgcatalog

import (
	"fmt"
)

func rowsPgLocks(w *writer) {
	if w.env.Locks == nil {
		return
	}
	for _, l := range w.env.Locks() {
		w.str(l.Type).oid(l.DB)
		if l.Rel == 0 {
			w.null()
		} else {
			w.oid(l.Rel)
		}
		w.nulls(4)
		if l.Type == "advisory" {
			for _, n := range l.Advisory {
				w.int(int64(n))
			}
		} else {
			w.nulls(3)
		}
		w.str(fmt.Sprintf("%d/1", l.PID)).int(int64(l.PID)).str(l.Mode).bool(l.Granted).bool(false).time(l.WaitFrom).end()
	}
}
