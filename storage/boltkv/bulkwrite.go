package boltkv

// bulkWriter writes pages that bulk has laid out in a goroutine of its own: checksums and
// writing take about as long as laying out the next ones.
type bulkWriter struct {
	w     *pageWriter
	work  chan laidOut // closed by stop
	ended bool         // stop was called
	spare chan []byte  // buffers that have been written
	done  chan struct{}
	err   error // the first one, set before done is closed
}

// laidOut is a buffer of pages and the places that its parts have in the file.
type laidOut struct {
	buf   []byte
	parts []part
}

// part of a buffer, up to the next part or the end, goes to one place.
type part struct {
	from int
	off  int64
}

// bulkBuffers is how many buffers may wait for being written.
const bulkBuffers = 2

// newBulkWriter starts the goroutine. Nobody else may write the file before stop.
func newBulkWriter(w *pageWriter) *bulkWriter {
	k := &bulkWriter{w: w, work: make(chan laidOut, bulkBuffers), spare: make(chan []byte, bulkBuffers+2), done: make(chan struct{})}
	go k.run()
	return k
}

func (k *bulkWriter) run() {
	defer close(k.done)
	for l := range k.work {
		for i := 0; i < len(l.parts) && k.err == nil; i++ {
			end := len(l.buf)
			if i+1 < len(l.parts) {
				end = l.parts[i+1].from
			}
			k.err = k.w.writeRuns(l.buf[l.parts[i].from:end], l.parts[i].off)
		}
		select {
		case k.spare <- l.buf[:0]:
		default:
		}
	}
}

// write takes a buffer, and returns another one, empty, to be used in its place.
func (k *bulkWriter) write(l laidOut) []byte {
	k.work <- l
	select {
	case b := <-k.spare:
		return b
	default:
		return nil
	}
}

// stop waits until everything is written and returns the first error; it may be called
// again.
func (k *bulkWriter) stop() error {
	if !k.ended {
		close(k.work)
		k.ended = true
	}
	<-k.done
	return k.err
}
