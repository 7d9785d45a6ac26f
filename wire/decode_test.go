package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
)

// repeat is an endless source of one byte.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// A length alone allocates nothing: after a lie the buffer is no larger than a
// small multiple of what arrived.
func TestLyingLength(t *testing.T) {
	header := binary.BigEndian.AppendUint32([]byte{'Q'}, 200<<20)
	src := io.MultiReader(bytes.NewReader(header), io.LimitReader(repeat('x'), 100<<10))
	rd := newReader(src, 256<<20)
	if _, _, err := rd.next(); err != io.ErrUnexpectedEOF {
		t.Errorf("got %v", err)
	}
	if len(rd.buf) > 256<<10 {
		t.Errorf("the buffer grew to %d bytes", len(rd.buf))
	}
}

// timeouts fails every other read.
type timeouts struct {
	src  io.Reader
	turn bool
}

var errTimeout = errors.New("timeout")

func (r *timeouts) Read(p []byte) (int, error) {
	if r.turn = !r.turn; r.turn {
		return 0, errTimeout
	}
	return r.src.Read(p[:1])
}

func TestReaderGoesOnAfterATimeout(t *testing.T) {
	rd := newReader(&timeouts{src: bytes.NewReader(encode(t, &pgproto3.Query{String: "select"}))}, 100)
	failures := 0
	for {
		typ, body, err := rd.next()
		if errors.Is(err, errTimeout) {
			failures++
			continue
		}
		if typ != 'Q' || string(body) != "select\x00" || err != nil {
			t.Errorf("got %c %q %v", typ, body, err)
		}
		break
	}
	if failures < 10 {
		t.Errorf("only %d reads timed out", failures)
	}
}

func TestLargeBuffersAreGivenBack(t *testing.T) {
	big := encode(t, &pgproto3.CopyData{Data: make([]byte, 2*keepReadBuffer)})
	small := encode(t, &pgproto3.Sync{})
	rd := newReader(io.MultiReader(bytes.NewReader(big), bytes.NewReader(small)), 10*keepReadBuffer)
	for range 2 {
		if _, _, err := rd.next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(rd.buf) != initialReadBuffer {
		t.Errorf("the connection keeps %d bytes", len(rd.buf))
	}
}

func TestParseOptions(t *testing.T) {
	tests := []struct {
		in   string
		want []Parameter
		bad  bool
	}{
		{in: ""},
		{in: "  "},
		{in: "-c geqo=off", want: []Parameter{{"geqo", "off"}}},
		{in: "-cgeqo=off --work-mem=1", want: []Parameter{{"geqo", "off"}, {"work_mem", "1"}}},
		{in: `-c search_path=a,\ b\\c`, want: []Parameter{{"search_path", `a, b\c`}}},
		{in: "-c a=", want: []Parameter{{"a", ""}}},
		{in: "-c", bad: true},
		{in: "-c a", bad: true},
		{in: "--=x", bad: true},
		{in: "geqo=off", bad: true},
	}
	for _, tt := range tests {
		got, err := parseOptions(tt.in)
		if (err != nil) != tt.bad || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("parseOptions(%q) = %v, %v; want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestNamesStayFew(t *testing.T) {
	m := newNames()
	for i := range 3 * maxNames {
		m.get(binary.BigEndian.AppendUint32(nil, uint32(i)))
	}
	if len(m.known) > maxNames {
		t.Errorf("%d names kept", len(m.known))
	}
	known := []byte("stmt")
	m.get(known)
	if n := testing.AllocsPerRun(10, func() { m.get(known) }); n != 0 {
		t.Errorf("a known name costs %v allocations", n)
	}
}

// FuzzMessage feeds one message body to the decoder of its type. Whatever
// comes, the answer is a message or a SQL error, and what Bind accepts obeys
// its counts.
func FuzzMessage(f *testing.F) {
	seed := func(m pgproto3.FrontendMessage) {
		b, err := m.Encode(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[0], b[5:])
	}
	seed(&pgproto3.Query{String: "select 1"})
	seed(&pgproto3.Parse{Name: "s", Query: "select $1", ParameterOIDs: []uint32{23}})
	seed(&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s", ParameterFormatCodes: []int16{0, 1},
		Parameters: [][]byte{[]byte("x"), nil}, ResultFormatCodes: []int16{1}})
	seed(&pgproto3.Describe{ObjectType: 'S', Name: "s"})
	seed(&pgproto3.Execute{Portal: "p", MaxRows: 5})
	seed(&pgproto3.Close{ObjectType: 'P'})
	seed(&pgproto3.CopyFail{Message: "no"})
	f.Fuzz(func(t *testing.T, typ byte, body []byte) {
		var err error
		none := newNames()
		switch typ {
		case 'Q':
			_, err = decodeQuery(body, nil)
		case 'P':
			err = decodeParse(body, &pgproto3.Parse{}, nil)
		case 'B':
			var b Bind
			if err = decodeBind(body, &b, &none); err == nil {
				size := 0
				fits := b.CheckParams(len(b.Params)) == nil
				for i, p := range b.Params {
					if size += len(p); fits {
						b.Param(i)
					}
				}
				if size > len(body) {
					t.Errorf("%d bytes of parameters from %d", size, len(body))
				}
			}
		case 'E':
			err = decodeExecute(body, &pgproto3.Execute{}, &none)
		case 'D', 'C':
			_, _, err = decodeTarget(body, "X", &none)
		case 'f':
			err = copyFailed(body)
		}
		var e *sqlerr.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("not a SQL error: %v", err)
		}
	})
}

// FuzzStartup feeds bytes to the startup phase of a connection as a peer would.
func FuzzStartup(f *testing.F) {
	ok := &pgproto3.StartupMessage{ProtocolVersion: protocolVersion, Parameters: map[string]string{"user": "u", "options": "-c a=b"}}
	b, err := ok.Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0, 0, 0, 8, 4, 210, 22, 47})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		rd := newReader(bytes.NewReader(in), maxAuthMessage)
		body, err := rd.startupPacket()
		if err != nil {
			return
		}
		p, _, err := decodeStartup(body)
		var e *sqlerr.Error
		if err != nil && (!errors.As(err, &e) || !isFatal(e)) {
			t.Errorf("not a fatal SQL error: %v", err)
		}
		if err == nil && (p.User == "" || p.Database == "") {
			t.Errorf("accepted without user or database: %+v", p)
		}
	})
}

// FuzzStream feeds bytes to an open connection: it must end or wait, never
// crash.
func FuzzStream(f *testing.F) {
	for _, line := range []string{
		"Query select 1", "Parse _ | select $1::int", "Bind _ | _ | 1 | 0x00000001", "Execute _ | 0",
		"Query copy t from stdin", `CopyData a\n`, "CopyDone", "CopyFail x", "Sync", "Describe S | _", "Query panic",
	} {
		f.Add(frontendMessage(f, line))
	}
	srv, err := NewServer(&fakeBackend{}, Options{Logger: discard})
	if err != nil {
		f.Fatal(err)
	}
	start := encode(f, &pgproto3.StartupMessage{ProtocolVersion: protocolVersion, Parameters: map[string]string{"user": "u"}})
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, verb := range []string{"wait", "rows", "long"} {
			if bytes.Contains(bytes.ToLower(in), []byte(verb)) {
				t.Skip("a statement that need not end soon")
			}
		}
		nc := &memoryConn{in: bytes.NewReader(append(bytes.Clone(start), in...))}
		newConn(srv, nc).serve()
		if !bytes.HasPrefix(nc.out.Bytes(), []byte("R\x00\x00\x00\x08\x00\x00\x00\x00")) {
			t.Errorf("no session: %q", nc.out.Bytes())
		}
	})
}
