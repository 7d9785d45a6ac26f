package wire

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgproto3/v2"
	"github.com/xdg-go/scram"

	"kvsqld/catalog/sqlerr"
)

const (
	mechanismSCRAM     = "SCRAM-SHA-256"
	mechanismSCRAMPlus = "SCRAM-SHA-256-PLUS" // with channel binding
)

// peerError is a failure to reach the peer during the authentication exchange:
// nobody is there to be told.
type peerError struct{ cause error }

func (e *peerError) Error() string { return e.cause.Error() }
func (e *peerError) Unwrap() error { return e.cause }

// authenticate has the user prove who they are and announces success.
func (c *conn) authenticate(ctx context.Context, p *StartupParams) error {
	method, v, err := c.srv.backend.Auth(ctx, p, &c.info)
	if err != nil {
		return err
	}
	switch method {
	case AuthTrust:
	case AuthPassword:
		err = c.authPassword(p, v)
	case AuthSCRAM:
		err = c.authSCRAM(p, v)
	default:
		err = errors.New("wire: unknown authentication method")
	}
	if err != nil {
		return err
	}
	return c.out.send(&pgproto3.AuthenticationOk{})
}

func authFailed(p *StartupParams) error {
	return fatal(sqlerr.InvalidPassword, "password authentication failed for user %q", p.User)
}

// ask sends a request and returns the body of the client's answer.
func (c *conn) ask(m pgproto3.BackendMessage) ([]byte, error) {
	if err := c.out.send(m); err != nil {
		return nil, err
	}
	if err := c.out.flush(); err != nil {
		return nil, &peerError{err}
	}
	typ, body, err := c.rd.next()
	if err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) {
			return nil, e
		}
		return nil, &peerError{err}
	}
	if typ != 'p' {
		return nil, violation("expected password response, got message type %d", typ)
	}
	return body, nil
}

func (c *conn) authPassword(p *StartupParams, v *Verifier) error {
	body, err := c.ask(&pgproto3.AuthenticationCleartextPassword{})
	if err != nil {
		return err
	}
	m := cursor{b: body}
	password := m.str()
	if err := m.end(); err != nil {
		return violation("invalid password packet size")
	}
	if len(password) == 0 {
		return fatal(sqlerr.InvalidPassword, "empty password returned by client")
	}
	known := v != nil
	if !known {
		v = c.srv.mockVerifier(p.User) // an unknown user takes as long as a known one
	}
	if !v.Check(string(password)) || !known {
		return authFailed(p)
	}
	return nil
}

func (c *conn) authSCRAM(p *StartupParams, v *Verifier) error {
	known := v != nil
	if !known {
		v = c.srv.mockVerifier(p.User)
	}
	// The user is the startup packet's; clients leave the one in SCRAM empty.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return v.cred, nil })
	if err != nil {
		return err
	}
	mechanisms := []string{mechanismSCRAM}
	conv := server.NewConversation()
	if binding, ok := c.channelBinding(); ok {
		mechanisms = []string{mechanismSCRAMPlus, mechanismSCRAM}
		conv = server.NewConversationWithChannelBinding(binding)
	}

	body, err := c.ask(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms})
	if err != nil {
		return err
	}
	m := cursor{b: body}
	mechanism := string(m.str())
	first := m.bytes(int(m.int32()))
	if err := m.end(); err != nil {
		return err
	}
	if mechanism != mechanisms[0] && mechanism != mechanismSCRAM {
		return violation("client selected an invalid SASL authentication mechanism")
	}
	reply, err := conv.Step(string(first))
	if err != nil {
		return malformedSCRAM(err)
	}
	if body, err = c.ask(&pgproto3.AuthenticationSASLContinue{Data: []byte(reply)}); err != nil {
		return err
	}
	reply, err = conv.Step(string(body))
	if reply == scram.ErrInvalidProof {
		return authFailed(p)
	}
	if err != nil {
		return malformedSCRAM(err)
	}
	if !conv.Valid() || !known {
		return authFailed(p)
	}
	return c.out.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(reply)})
}

func malformedSCRAM(err error) error {
	e := violation("malformed SCRAM message")
	e.Detail = err.Error()
	return e
}

// mockVerifier is what an unknown user is checked against: like a real one it
// has a salt that is the same at every attempt, and no password fits it.
func (s *Server) mockVerifier(user string) *Verifier {
	derive := func(purpose string) []byte {
		h := hmac.New(sha256.New, s.mockSecret[:])
		h.Write([]byte(purpose))
		h.Write([]byte(user))
		return h.Sum(nil)
	}
	return &Verifier{cred: scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(derive("salt")[:16]), Iters: scramIterations},
		StoredKey:  derive("stored key"),
		ServerKey:  derive("server key"),
	}}
}
