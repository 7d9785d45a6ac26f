package session

import (
	"context"
	"slices"
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

// size is about what the notification takes in memory.
func (n *notification) size() int64 { return int64(len(n.channel)+len(n.payload)) + 64 }

// notifyHub passes notifications between the sessions of a database. They are
// published at the sender's commit and delivered when the receiver is between
// two messages. Until the last receiver has one, it takes room in the queue.
type notifyHub struct {
	limit int64 // bytes in the queue
	mu    struct {
		sync.Mutex
		inbox  map[*Session][]delivery // of the sessions that listen
		chans  map[*Session]map[string]bool
		queued int64 // bytes
	}
}

// delivery is what one commit has for one session.
type delivery struct {
	notes []notification
	of    *published
}

// published is the notifications of a commit that somebody has still to get.
type published struct {
	size      int64
	receivers int
}

// The queue may take an eighth of the server's memory, or queueBytes where that has no
// limit.
const (
	queueShare = 8
	queueBytes = 1 << 30
)

func queueLimit(memory int64) int64 {
	if memory <= 0 {
		return queueBytes
	}
	return max(memory/queueShare, 1<<20)
}

func errQueueFull() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many notifications in the NOTIFY queue")
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
		h.mu.inbox, h.mu.chans = make(map[*Session][]delivery), make(map[*Session]map[string]bool)
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
			h.drop(s)
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
	t, n := s.tx, notification{s.info.PID, channel, payload}
	if t.hasNote(n) {
		return nil
	}
	t.notes = append(t.notes, n)
	if t.noteBytes += n.size(); t.noteBytes > s.srv.notify.limit {
		t.noteBytes = 0 // some may have been rolled back
		for i := range t.notes {
			t.noteBytes += t.notes[i].size()
		}
		if t.noteBytes > s.srv.notify.limit {
			return errQueueFull()
		}
	}
	return nil
}

// fewNotes is the number of notifications that are compared one by one.
const fewNotes = 16

// hasNote reports whether the transaction has the notification already.
func (t *transaction) hasNote(n notification) bool {
	if len(t.notes) < fewNotes {
		return slices.Contains(t.notes, n)
	}
	if t.noteAt == nil {
		t.noteAt = make(map[notification]int)
		for i, o := range t.notes {
			t.noteAt[o] = i
		}
	}
	if i, ok := t.noteAt[n]; ok && i < len(t.notes) && t.notes[i] == n { // was not rolled back
		return true
	}
	t.noteAt[n] = len(t.notes)
	return false
}

// room makes sure that there is room in the queue for what a transaction is about to
// publish.
func (h *notifyHub) room(notes []notification) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.mu.chans) == 0 {
		return nil
	}
	size := h.mu.queued
	for i := range notes {
		size += notes[i].size()
	}
	if size > h.limit {
		return errQueueFull()
	}
	return nil
}

// usage is the part of the queue that is taken.
func (h *notifyHub) usage() float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return float64(h.mu.queued) / float64(h.limit)
}

// publish puts notifications into the inboxes of those who listen.
func (h *notifyHub) publish(from *Session, notes []notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &published{}
	for i := range notes {
		p.size += notes[i].size()
	}
	for s, chans := range h.mu.chans {
		if s.db != from.db {
			continue
		}
		wanted := wantedOf(notes, chans)
		if len(wanted) == 0 {
			continue
		}
		h.mu.inbox[s] = append(h.mu.inbox[s], delivery{wanted, p})
		p.receivers++
		s.info.Wake()
	}
	if p.receivers > 0 {
		h.mu.queued += p.size
	}
}

// wantedOf lists the notifications of some channels: the list itself if it is all of them.
func wantedOf(notes []notification, chans map[string]bool) []notification {
	i := slices.IndexFunc(notes, func(n notification) bool { return !chans[n.channel] })
	if i < 0 {
		return notes
	}
	out := slices.Clone(notes[:i])
	for _, n := range notes[i+1:] {
		if chans[n.channel] {
			out = append(out, n)
		}
	}
	return out
}

// release gives back the room of deliveries that a session has got, or will not get. The
// caller holds mu.
func (h *notifyHub) release(list []delivery) {
	for _, d := range list {
		if d.of.receivers--; d.of.receivers == 0 {
			h.mu.queued -= d.of.size
		}
	}
}

// forget ends all of a session's listening.
func (h *notifyHub) forget(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(s)
}

// drop is forget for who holds mu.
func (h *notifyHub) drop(s *Session) {
	h.release(h.mu.inbox[s])
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

// next returns the first delivery in a session's inbox; false when it is empty. done gives
// its room back.
func (h *notifyHub) next(s *Session) (d delivery, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.mu.inbox[s]
	if len(list) == 0 {
		delete(h.mu.inbox, s)
		return delivery{}, false
	}
	d, list[0] = list[0], delivery{}
	h.mu.inbox[s] = list[1:]
	return d, true
}

func (h *notifyHub) done(d delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release([]delivery{d})
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
	for {
		d, ok := s.srv.notify.next(s)
		if !ok {
			return
		}
		for i := range d.notes {
			n := &d.notes[i]
			w.Notification(n.pid, n.channel, n.payload)
		}
		s.srv.notify.done(d)
	}
}
