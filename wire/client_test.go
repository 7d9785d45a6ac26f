package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// client is a raw protocol client: it sends messages written as text and
// prints the answers one JSON document a line.
type client struct {
	tb testing.TB
	nc net.Conn
	fe *pgproto3.Frontend
}

// readTimeout turns a missing answer into a test failure.
const readTimeout = 3 * time.Minute

func dial(tb testing.TB, addr string) *client {
	tb.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { nc.Close() })
	return wrap(tb, nc)
}

func wrap(tb testing.TB, nc net.Conn) *client {
	return &client{tb: tb, nc: nc, fe: pgproto3.NewFrontend(pgproto3.NewChunkReader(nc), nc)}
}

// connect opens a session and reads up to its first ReadyForQuery.
func connect(tb testing.TB, addr string) *client {
	tb.Helper()
	c := dial(tb, addr)
	c.startup(map[string]string{"user": "u", "database": "d"})
	c.until('Z', 1)
	return c
}

func (c *client) startup(params map[string]string) {
	c.write(encode(c.tb, &pgproto3.StartupMessage{ProtocolVersion: protocolVersion, Parameters: params}))
}

func encode(tb testing.TB, m pgproto3.Message) []byte {
	tb.Helper()
	b, err := m.(interface{ Encode([]byte) ([]byte, error) }).Encode(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func (c *client) write(b []byte) {
	c.tb.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.tb.Fatal(err)
	}
}

func (c *client) query(sql string) { c.write(encode(c.tb, &pgproto3.Query{String: sql})) }

// receive returns the next message and whether there is one.
func (c *client) receive() (pgproto3.BackendMessage, bool) {
	c.tb.Helper()
	if err := c.nc.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		c.tb.Fatal(err)
	}
	m, err := c.fe.Receive()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.tb.Fatal("no answer from the server")
	}
	if err != nil {
		if err != io.EOF && err != io.ErrUnexpectedEOF && !strings.Contains(err.Error(), "reset") {
			c.tb.Fatal(err)
		}
		return nil, false
	}
	return m, true
}

// until returns the trace up to the n-th message of a type, or to the
// connection's end, which is printed as EOF.
func (c *client) until(typ byte, n int) string {
	c.tb.Helper()
	var sb strings.Builder
	for n > 0 {
		m, ok := c.receive()
		if !ok {
			sb.WriteString("EOF\n")
			break
		}
		if messageType(m) == typ {
			n--
		}
		sb.WriteString(trace(c.tb, m) + "\n")
	}
	return sb.String()
}

// eof is the trace up to the connection's end.
func (c *client) eof() string { return c.until(0, 1) }

func messageType(m pgproto3.BackendMessage) byte {
	b, err := m.Encode(nil)
	if err != nil {
		return 0
	}
	return b[0]
}

func trace(tb testing.TB, m pgproto3.BackendMessage) string {
	tb.Helper()
	switch m := m.(type) {
	case *pgproto3.BackendKeyData:
		return "BackendKeyData"
	case *pgproto3.ReadyForQuery:
		return "ReadyForQuery " + string(m.TxStatus)
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(m.CommandTag)
	case *pgproto3.ParameterStatus:
		return "ParameterStatus " + m.Name + "=" + m.Value
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("ParameterDescription ", m.ParameterOIDs)
	case *pgproto3.CopyData:
		return fmt.Sprintf("CopyData %q", m.Data)
	case *pgproto3.CopyInResponse:
		return fmt.Sprint("CopyInResponse ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprint("CopyOutResponse ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.NotificationResponse:
		return fmt.Sprint("NotificationResponse ", m.Channel, " ", m.Payload)
	case *pgproto3.FunctionCallResponse:
		return fmt.Sprintf("FunctionCallResponse %q", m.Result)
	case *pgproto3.DataRow:
		parts := make([]string, len(m.Values))
		for i, v := range m.Values {
			switch {
			case v == nil:
				parts[i] = "NULL"
			case len(v) > 40:
				parts[i] = fmt.Sprintf("%d bytes", len(v))
			default:
				parts[i] = fmt.Sprintf("%q", v)
			}
		}
		return "DataRow " + strings.Join(parts, ", ")
	case *pgproto3.RowDescription:
		parts := make([]string, len(m.Fields))
		for i, f := range m.Fields {
			parts[i] = fmt.Sprintf("%s table=%d.%d type=%d len=%d mod=%d format=%d", f.Name, f.TableOID,
				f.TableAttributeNumber, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format)
		}
		return "RowDescription [" + strings.Join(parts, "; ") + "]"
	case *pgproto3.ErrorResponse:
		return "ErrorResponse " + fields(*m)
	case *pgproto3.NoticeResponse:
		return "NoticeResponse " + fields(pgproto3.ErrorResponse(*m))
	}
	b, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	var typ struct{ Type string }
	if err := json.Unmarshal(b, &typ); err != nil {
		tb.Fatal(err)
	}
	return typ.Type
}

func fields(e pgproto3.ErrorResponse) string {
	s := fmt.Sprintf("S=%s V=%s C=%s M=%q", e.Severity, e.SeverityUnlocalized, e.Code, e.Message)
	for _, f := range []struct{ key, value string }{
		{"D", e.Detail}, {"H", e.Hint}, {"s", e.SchemaName}, {"t", e.TableName},
		{"c", e.ColumnName}, {"d", e.DataTypeName}, {"n", e.ConstraintName},
	} {
		if f.value != "" {
			s += fmt.Sprintf(" %s=%q", f.key, f.value)
		}
	}
	if e.Position != 0 {
		s += fmt.Sprintf(" P=%d", e.Position)
	}
	return s
}

func unsigned(list []int16) (out []uint16) {
	for _, n := range list {
		out = append(out, uint16(n))
	}
	return out
}

// frontendMessage reads one message from its text form, of which the files in
// testdata are full: a verb, then arguments separated by "|"; "_" stands for
// the empty name.
func frontendMessage(tb testing.TB, line string) []byte {
	tb.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	args := strings.Split(rest, "|")
	for i := range args {
		if args[i] = strings.TrimSpace(args[i]); args[i] == "_" {
			args[i] = ""
		}
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb {
	case "Query":
		return encode(tb, &pgproto3.Query{String: strings.ReplaceAll(rest, `\n`, "\n")})
	case "Parse":
		m := &pgproto3.Parse{Name: arg(0), Query: arg(1)}
		for _, n := range numbers(tb, arg(2)) {
			m.ParameterOIDs = append(m.ParameterOIDs, uint32(n))
		}
		return encode(tb, m)
	case "Bind":
		m := &pgproto3.Bind{DestinationPortal: arg(0), PreparedStatement: arg(1),
			ParameterFormatCodes: numbers(tb, arg(2)), ResultFormatCodes: numbers(tb, arg(4))}
		for _, v := range strings.Fields(arg(3)) {
			switch h, isHex := strings.CutPrefix(v, "0x"); {
			case v == "NULL":
				m.Parameters = append(m.Parameters, nil)
			case isHex:
				m.Parameters = append(m.Parameters, unhex(tb, h))
			default:
				m.Parameters = append(m.Parameters, []byte(v))
			}
		}
		return encode(tb, m)
	case "Describe":
		return encode(tb, &pgproto3.Describe{ObjectType: arg(0)[0], Name: arg(1)})
	case "Close":
		return encode(tb, &pgproto3.Close{ObjectType: arg(0)[0], Name: arg(1)})
	case "Execute":
		n, err := strconv.Atoi(arg(1))
		if err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		return encode(tb, &pgproto3.Execute{Portal: arg(0), MaxRows: uint32(n)})
	case "Sync":
		return encode(tb, &pgproto3.Sync{})
	case "Flush":
		return encode(tb, &pgproto3.Flush{})
	case "Terminate":
		return encode(tb, &pgproto3.Terminate{})
	case "FunctionCall":
		m := &pgproto3.FunctionCall{Function: uint32(numbers(tb, arg(0))[0]), ArgFormatCodes: unsigned(numbers(tb, arg(1)))}
		for _, v := range strings.Fields(arg(2)) {
			if v == "NULL" {
				m.Arguments = append(m.Arguments, nil)
			} else {
				m.Arguments = append(m.Arguments, []byte(v))
			}
		}
		for _, f := range unsigned(numbers(tb, arg(3))) {
			m.ResultFormatCode = f
		}
		return encode(tb, m)
	case "CopyData":
		return encode(tb, &pgproto3.CopyData{Data: []byte(strings.ReplaceAll(rest, `\n`, "\n"))})
	case "CopyDone":
		return encode(tb, &pgproto3.CopyDone{})
	case "CopyFail":
		return encode(tb, &pgproto3.CopyFail{Message: rest})
	case "Startup":
		m := &pgproto3.StartupMessage{ProtocolVersion: protocolVersion, Parameters: map[string]string{}}
		for _, a := range args {
			k, v, _ := strings.Cut(a, "=")
			if k == "version" {
				major, minor, _ := strings.Cut(v, ".")
				m.ProtocolVersion = uint32(numbers(tb, major)[0])<<16 | uint32(numbers(tb, minor)[0])
				continue
			}
			m.Parameters[k] = v
		}
		return encode(tb, m)
	case "Raw":
		return unhex(tb, strings.ReplaceAll(rest, " ", ""))
	}
	tb.Fatalf("unknown message %q", line)
	return nil
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func numbers(tb testing.TB, s string) []int16 {
	tb.Helper()
	var list []int16
	for _, f := range strings.Fields(s) {
		n, err := strconv.Atoi(f)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, int16(n))
	}
	return list
}
