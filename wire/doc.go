// Package wire speaks PostgreSQL's frontend/backend protocol 3.0. In: a
// client's bytes. Out: calls on a Session, and the session's results as bytes.
// It knows messages and no SQL.
//
// The life of a connection: server.go accepts it, startup.go answers TLS and
// cancel requests and reads the startup packet, auth.go has the user prove who
// they are, Backend.Connect yields a Session, and conn.go reads messages until
// Terminate; simple.go and extended.go turn them into session calls, encode.go
// turns vectors into DataRows, errors.go turns errors into ErrorResponses. Below
// them, socket_linux.go makes the system calls, spin.go looks for input, and
// crowd.go counts those that are busy.
//
// Invariants, cited in the code by number:
//
//	W1  One goroutine per connection reads, calls the session and writes. Other
//	    goroutines only set flags, end the statement's context, and move the
//	    read deadline; all three are safe at any time. A timer writes answers
//	    that are held (W2), under their lock.
//	W2  Output is written at ReadyForQuery, at Flush, after an error, when COPY
//	    asks for input, and when the buffer passes flushSize; never once per
//	    message. ReadyForQuery's write waits while the client's next message is
//	    there already, for holdTime at most (hold.go).
//	W3  A message is in the read buffer as a whole before it is decoded, and
//	    decoded slices alias that buffer until the next read.
//	W4  A length in a message allocates nothing by itself: buffers grow with
//	    the bytes that have arrived, and counts are checked against the bytes
//	    that are left.
//	W5  After an error in the extended protocol everything up to the next Sync
//	    is read and dropped. Every Sync, and every Query and FunctionCall that
//	    is not dropped, is answered by exactly one ReadyForQuery.
//	W6  A framing fault (length, unknown type) ends the connection with FATAL
//	    08P01, because the next message boundary is not known with certainty. A
//	    malformed body within a good length is an ERROR 08P01, a message that
//	    there is no memory for is skipped and an ERROR 53200; neither these nor a
//	    fault in a statement end the connection.
//	W7  Session.Abort is called before an ErrorResponse of the query phase is
//	    queued, so the status byte of the next ReadyForQuery is right.
//	W8  A panic in a session becomes XX000 on its own connection and a log line
//	    with the stack; the server lives on.
//	W9  A cancel request hits the statement that runs when it arrives, or
//	    nothing: the context that it ends is never used for a later message.
package wire
