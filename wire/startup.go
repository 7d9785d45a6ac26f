package wire

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

const (
	maxStartupPacket = 10_000 // bytes, as in PostgreSQL
	maxAuthMessage   = 65_535 // bytes of a message before the session exists

	protocolMajor   = 3
	protocolVersion = protocolMajor << 16

	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSSENC = 80877104
)

// startup takes the connection from its first byte to its first ReadyForQuery.
// It reports whether there is a session now; if not, the connection is to be
// closed.
func (c *conn) startup() bool {
	timeout := c.srv.opts.StartupTimeout
	if err := c.nc.SetDeadline(time.Now().Add(timeout)); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	p, err := c.negotiate(ctx)
	if err == nil && p != nil {
		err = c.open(ctx, p)
	}
	if err != nil {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			// A peer that is gone, too slow, or speaks another protocol: there
			// is nobody to tell.
			c.log.Debug("connection not established", "err", err)
			return false
		}
		c.srv.metrics.Refused.Add(1)
		c.log.Info("connection refused", "code", string(e.Code), "err", e.Message)
		c.fatal(e)
		return false
	}
	if p == nil || c.nc.SetDeadline(time.Time{}) != nil {
		return false
	}
	if k := c.stmt.killed.Load(); k != nil && !c.closing { // its interrupt may just have been undone
		c.fatal(k)
	}
	c.rd.max, c.rd.room = c.srv.opts.MaxMessageBytes, c.srv.opts.Room
	return !c.closing
}

// negotiate answers the requests that come before the startup packet and
// returns the latter; nil when the peer only wanted to cancel.
func (c *conn) negotiate(ctx context.Context) (*StartupParams, error) {
	var askedSSL, askedGSS bool
	for {
		body, err := c.rd.startupPacket()
		if err != nil {
			var e *sqlerr.Error
			if errors.As(err, &e) {
				return nil, errors.New(e.Message) // not our protocol: no reply
			}
			return nil, err
		}
		code := binary.BigEndian.Uint32(body)
		switch {
		case code == codeCancel:
			var m pgproto3.CancelRequest
			if err := m.Decode(body); err != nil {
				return nil, err
			}
			c.srv.cancelRequest(int32(m.ProcessID), m.SecretKey)
			return nil, nil
		case code == codeSSL && !askedSSL:
			askedSSL = true
			if err := c.answerSSL(ctx); err != nil {
				return nil, err
			}
		case code == codeGSSENC && !askedGSS:
			askedGSS = true
			if err := c.answerByte('N'); err != nil {
				return nil, err
			}
		case code>>16 != protocolMajor:
			return nil, fatal(sqlerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports %d.0 to %d.0",
				code>>16, code&0xffff, protocolMajor, protocolMajor)
		default:
			p, unknown, err := decodeStartup(body)
			if err != nil {
				return nil, err
			}
			if code != protocolVersion || len(unknown) > 0 {
				c.negotiateVersion(unknown)
			}
			return p, nil
		}
	}
}

// answerByte sends an untyped one-byte reply.
func (c *conn) answerByte(b byte) error {
	_, err := c.nc.Write([]byte{b})
	return err
}

// answerSSL accepts or declines TLS. Bytes that came in clear behind an
// accepted request could have been injected by someone in between, so they are
// refused instead of read as if they were encrypted.
func (c *conn) answerSSL(ctx context.Context) error {
	if _, local := c.info.RemoteAddr.(*net.UnixAddr); local || c.srv.opts.TLS == nil {
		return c.answerByte('N')
	}
	if c.rd.buffered() > 0 {
		return violation("received unencrypted data after SSL request")
	}
	if err := c.answerByte('S'); err != nil {
		return err
	}
	t := tls.Server(c.raw, c.srv.opts.TLS)
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	c.nc, c.rd.src, c.out.dst = t, t, t
	c.info.TLS = describeTLS(t.ConnectionState())
	return nil
}

// negotiateVersion tells a client that asked for more than 3.0 what it gets.
func (c *conn) negotiateVersion(unknown []string) {
	pos := c.out.begin('v')
	c.out.int32(protocolVersion)
	c.out.int32(int32(len(unknown)))
	for _, name := range unknown {
		c.out.str(name)
	}
	c.out.finish(pos)
}

// open authenticates the user, opens the session and tells the client so.
func (c *conn) open(ctx context.Context, p *StartupParams) error {
	if err := c.srv.conns.admit(c, c.srv.opts.MaxConnections); err != nil {
		return err
	}
	c.log = c.log.With("pid", c.info.PID, "user", p.User, "database", p.Database)
	err := c.protect(ctx, func(ctx context.Context) error {
		if err := c.authenticate(ctx, p); err != nil {
			return err
		}
		sess, err := c.srv.backend.Connect(ctx, p, &c.info)
		if err != nil {
			return err
		}
		c.sess = sess
		for _, n := range sess.Notices() {
			c.results.Notice(n)
		}
		for _, s := range sess.Parameters() {
			c.results.ParameterStatus(s.Name, s.Value)
		}
		return nil
	})
	if err != nil {
		var lost *peerError
		if errors.As(err, &lost) {
			return err
		}
		e, internal := asSQL(ctx, err)
		if internal {
			c.log.Error("opening a session failed", "err", err)
		}
		return e
	}
	c.results.reportParameters()
	if err := c.out.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.info.PID), SecretKey: c.secret}); err != nil {
		return err
	}
	c.ready()
	return nil
}

// maxName is the length of names, of which PostgreSQL cuts longer ones.
const maxName = 63

// decodeStartup reads a startup packet of protocol 3. The second result lists
// the protocol options (names that begin with _pq_.) it holds; none is known.
func decodeStartup(body []byte) (p *StartupParams, unknown []string, err error) {
	p = &StartupParams{}
	m := cursor{b: body}
	m.int32() // the version, looked at by the caller
	var options, replication string
	for {
		name := m.str()
		if len(name) == 0 {
			break // the terminator, or a fault
		}
		value := m.str()
		if charset.CheckUTF8(name) != nil || charset.CheckUTF8(value) != nil {
			return nil, nil, violation("invalid startup packet layout: text is not UTF-8")
		}
		switch n, v := string(name), string(value); {
		case n == "user":
			p.User = v
		case n == "database":
			p.Database = v
		case n == "options":
			options = v
		case n == "replication":
			replication = v
		case strings.HasPrefix(n, "_pq_."):
			unknown = append(unknown, n)
		default:
			p.Settings = append(p.Settings, Parameter{n, v})
		}
	}
	if m.end() != nil {
		return nil, nil, violation("invalid startup packet layout: expected terminator as last byte")
	}
	if p.User == "" {
		return nil, nil, fatal(sqlerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if p.Database == "" {
		p.Database = p.User
	}
	p.User, p.Database = p.User[:min(len(p.User), maxName)], p.Database[:min(len(p.Database), maxName)]
	switch strings.ToLower(replication) {
	case "", "0", "f", "false", "n", "no", "off":
	default:
		return nil, nil, fatal(sqlerr.FeatureNotSupported, "replication connections are not supported")
	}
	fromOptions, err := parseOptions(options)
	if err != nil {
		return nil, nil, err
	}
	p.Settings = slices.Concat(fromOptions, p.Settings)
	return p, unknown, nil
}

// parseOptions reads the command-line style "options" parameter:
// "-c name=value", "-cname=value" and "--name=value", separated by blanks that
// a backslash can escape. In names given by "--", dashes mean underscores.
func parseOptions(s string) ([]Parameter, error) {
	var list []Parameter
	args := splitOptions(s)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		bad := fatal(sqlerr.SyntaxError, "invalid command-line argument for server process: %s", arg)
		var setting string
		switch {
		case strings.HasPrefix(arg, "--"):
			setting = arg[2:]
			if eq := strings.IndexByte(setting, '='); eq > 0 {
				setting = strings.ReplaceAll(setting[:eq], "-", "_") + setting[eq:]
			}
		case arg == "-c" && i+1 < len(args):
			i++
			setting = args[i]
		case strings.HasPrefix(arg, "-c"):
			setting = arg[2:]
		}
		name, value, ok := strings.Cut(setting, "=")
		if !ok || name == "" {
			return nil, bad
		}
		list = append(list, Parameter{name, value})
	}
	return list, nil
}

func splitOptions(s string) []string {
	var args []string
	var arg []byte
	inside, escaped := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case escaped:
			arg, escaped = append(arg, c), false
		case c == '\\':
			inside, escaped = true, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			if inside {
				args = append(args, string(arg))
			}
			arg, inside = arg[:0], false
		default:
			arg, inside = append(arg, c), true
		}
	}
	if inside {
		args = append(args, string(arg))
	}
	return args
}
