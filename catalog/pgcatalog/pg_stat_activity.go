package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgStatActivity(w *writer) {
	env := w.env
	if env.Sessions == nil {
		return
	}
	for _, s := range env.Sessions() {
		db := ""
		if d, ok := env.Snap.Object(s.DB).(*catalog.Database); ok {
			db = d.Name
		}
		if s.DB == 0 {
			w.null().null()
		} else {
			w.oid(s.DB).str(db)
		}
		w.int(int64(s.PID)).null()
		if s.User == "" {
			w.null().null()
		} else {
			w.oid(env.role(s.User)).str(s.User)
		}
		w.str(s.Application)
		addr, err := types.Parse(types.Of(types.OInet), s.ClientAddr, &types.FmtOpts{})
		if s.ClientAddr == "" || err != nil {
			w.null().null()
			if s.Hidden {
				w.null()
			} else {
				w.int(-1)
			}
		} else {
			w.next().B = addr.B
			w.null().int(int64(s.ClientPort))
		}
		w.time(s.BackendStart).time(s.XactStart).time(s.QueryStart).time(s.StateChanged).opt(s.WaitEventType).opt(s.WaitEvent).
			opt(s.State).xid(s.Xid).xid(s.Xmin).null().str(s.Query).opt(s.BackendType).end()
	}
}

func rowsPgStatSSL(w *writer) {
	if w.env.Sessions == nil {
		return
	}
	for _, s := range w.env.Sessions() {
		w.int(int64(s.PID))
		if s.Hidden {
			w.null()
		} else {
			w.bool(s.TLSVersion != "")
		}
		if s.TLSVersion == "" {
			w.null().null().null()
		} else {
			w.str(s.TLSVersion).str(s.TLSCipher).int(s.TLSBits)
		}
		w.null().null().null().end() // certificates of clients are not asked for
	}
}

// rowsPgStatGSSAPI: no connection is authenticated or encrypted by GSSAPI.
func rowsPgStatGSSAPI(w *writer) {
	if w.env.Sessions == nil {
		return
	}
	for _, s := range w.env.Sessions() {
		w.int(int64(s.PID))
		if s.Hidden {
			w.null().null().null().end()
		} else {
			w.bool(false).null().bool(false).end()
		}
	}
}
