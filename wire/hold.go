package wire

import (
	"encoding/binary"
	"sync"
	"time"
)

// A client that pipelines has sent further queries before it reads the first
// answer. A write for each answer would cost more than a short query, so answers
// are held while the next message is there already, and leave together: when none
// is left, when there are many, or after holdTime by a timer, whatever the
// connection is busy with meanwhile: its statement may wait for something that the
// client does only when it has the answer before.
const holdTime = time.Millisecond

// heldAnswers are complete answers, up to ReadyForQuery, that were not written.
type heldAnswers struct {
	some  bool // there may be answers; the connection's goroutine's own
	after time.Duration
	timer *time.Timer
	mu    struct {
		sync.Mutex
		buf []byte
		err error // of a write by the timer
	}
}

// hold keeps the messages so far for a write together with later ones.
func (o *output) hold() error {
	h := &o.held
	h.mu.Lock()
	if len(h.mu.buf) == 0 {
		h.mu.buf, o.buf = o.buf, h.mu.buf
	} else {
		h.mu.buf = append(h.mu.buf, o.buf...)
		o.buf = o.buf[:0]
	}
	full := len(h.mu.buf) >= flushSize || h.mu.err != nil
	h.mu.Unlock()
	if !h.some {
		h.some = true
		if h.timer == nil {
			h.timer = time.AfterFunc(h.after, o.writeHeld)
		} else {
			h.timer.Reset(h.after)
		}
	}
	if full {
		return o.flush()
	}
	return nil
}

// release ends the holding: what was held comes before the messages in buf, and a
// failed write is known.
func (o *output) release() {
	h := &o.held
	if !h.some {
		return
	}
	h.some = false
	h.timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.err == nil {
		o.err = h.mu.err
	}
	if len(h.mu.buf) == 0 {
		return
	}
	if len(o.buf) == 0 {
		h.mu.buf, o.buf = o.buf, h.mu.buf
		return
	}
	h.mu.buf = append(h.mu.buf, o.buf...)
	h.mu.buf, o.buf = o.buf[:0], h.mu.buf
}

// writeHeld writes what is held: the timer's function. A connection that wants to
// write waits until it is done.
func (o *output) writeHeld() {
	h := &o.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.mu.buf) == 0 || h.mu.err != nil {
		return
	}
	if _, err := o.dst.Write(h.mu.buf); err != nil {
		h.mu.err = clientLost(err)
	}
	h.mu.buf = h.mu.buf[:0]
}

// whole reports whether the next message has arrived to its end, so that next will
// not wait. A message that is not acceptable counts, too: next tells of it at once.
func (rd *reader) whole() bool {
	b := rd.buf[rd.r:rd.w]
	if len(b) < 5 {
		return false
	}
	n := int64(binary.BigEndian.Uint32(b[1:]))
	return n < int64(len(b)) || n-4 > int64(rd.max)
}
