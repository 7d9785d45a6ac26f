package session

import (
	"context"
	"sync"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// notification is one NOTIFY on its way.
type notification struct {
	pid              int32
	channel, payload string
}

// notifyHub passes notifications between the sessions of a database. They are
// published at the sender's commit and delivered when the receiver is between
// two messages.
type notifyHub struct {
	mu struct {
		sync.Mutex
		inbox map[*Session][]notification // of the sessions that listen
		chans map[*Session]map[string]bool
	}
}

const maxPayload = 7999

// listen runs LISTEN, UNLISTEN and NOTIFY, of which nothing happens before the commit.
func (s *Session) listen(x *ast.Listen) (string, error) {
	if x.Kind == "NOTIFY" {
		return x.Kind, s.addNote(x.Channel, x.Payload)
	}
	s.tx.listens = append(s.tx.listens, x)
	return x.Kind, nil
}

// follow does what the LISTEN and UNLISTEN of a transaction say.
func (h *notifyHub) follow(s *Session, list []*ast.Listen) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.inbox == nil {
		h.mu.inbox, h.mu.chans = make(map[*Session][]notification), make(map[*Session]map[string]bool)
	}
	for _, x := range list {
		switch {
		case x.Kind == "LISTEN":
			if h.mu.chans[s] == nil {
				h.mu.chans[s] = make(map[string]bool)
			}
			h.mu.chans[s][x.Channel] = true
			s.listens = true
		case x.Channel == "":
			delete(h.mu.inbox, s)
			delete(h.mu.chans, s)
		default:
			delete(h.mu.chans[s], x.Channel)
		}
	}
}

// addNote queues a notification for the commit; repetitions count once.
func (s *Session) addNote(channel, payload string) error {
	switch {
	case channel == "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name cannot be empty")
	case len(channel) > 63:
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name too long")
	case len(payload) > maxPayload:
		return sqlerr.New(sqlerr.InvalidParameterValue, "payload string too long")
	}
	n := notification{s.info.PID, channel, payload}
	for _, o := range s.tx.notes {
		if o == n {
			return nil
		}
	}
	s.tx.notes = append(s.tx.notes, n)
	return nil
}

// publish puts notifications into the inboxes of those who listen.
func (h *notifyHub) publish(from *Session, notes []notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, chans := range h.mu.chans {
		if s.db != from.db {
			continue
		}
		wake := false
		for _, n := range notes {
			if chans[n.channel] {
				h.mu.inbox[s] = append(h.mu.inbox[s], n)
				wake = true
			}
		}
		if wake {
			s.info.Wake()
		}
	}
}

// forget ends all of a session's listening.
func (h *notifyHub) forget(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mu.inbox, s)
	delete(h.mu.chans, s)
}

// channels lists what a session listens to.
func (h *notifyHub) channels(s *Session) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for c := range h.mu.chans[s] {
		out = append(out, c)
	}
	return out
}

// take returns and empties a session's inbox.
func (h *notifyHub) take(s *Session) []notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.mu.inbox[s]
	delete(h.mu.inbox, s)
	return out
}

// Wakeup implements wire.Session.
func (s *Session) Wakeup(_ context.Context, w wire.ResultWriter) error {
	a := &s.activity
	a.mu.Lock()
	expired := a.expired
	a.mu.Unlock()
	if expired != nil {
		return expired
	}
	if s.block != idle {
		return nil // delivered after the block
	}
	s.deliver(w)
	return nil
}

// deliver sends what is in the inbox.
func (s *Session) deliver(w wire.ResultWriter) {
	for _, n := range s.srv.notify.take(s) {
		w.Notification(n.pid, n.channel, n.payload)
	}
}
