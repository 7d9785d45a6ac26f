package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const secretKeys = "8TW5OnHBloaeHC1zBto8ujk683hkaEYbNP29DEClQZk=:bETzk/FJfwP5t4MSHwKCoW8PLvWmZs/oVdgRY9sI2gE="

func TestVerifier(t *testing.T) {
	v, err := NewVerifier("pässword")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseVerifier(v.String())
	if err != nil {
		t.Fatal(err)
	}
	if !again.Check("pässword") || again.Check("password") {
		t.Error("a verifier changes when printed and parsed")
	}
	// Made by PostgreSQL 15 for the password "secret".
	pg, err := ParseVerifier("SCRAM-SHA-256$4096:n/WSLHuEUPKibGr4lMX5Lg==$" + secretKeys)
	if err != nil {
		t.Fatal(err)
	}
	if !pg.Check("secret") || pg.Check("Secret") {
		t.Error("PostgreSQL's verifier is not understood")
	}
	for _, bad := range []string{"", "md5abc", "SCRAM-SHA-256$4096", "SCRAM-SHA-256$x:YQ==$YQ==:YQ==", "SCRAM-SHA-256$0:YQ==$" + secretKeys} {
		if _, err := ParseVerifier(bad); err == nil {
			t.Errorf("ParseVerifier(%q) succeeded", bad)
		}
	}
}

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der},
		keyFile:  {Type: "EC PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestAuthentication(t *testing.T) {
	v, err := NewVerifier("right")
	if err != nil {
		t.Fatal(err)
	}
	conf, err := LoadTLS(certificate(t))
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]AuthMethod{"trust": AuthTrust, "password": AuthPassword, "scram": AuthSCRAM}
	logins := []struct{ user, password, code string }{
		{"alice", "right", ""},
		{"alice", "wrong", "28P01"},
		{"nobody", "right", "28P01"},
	}
	for name, method := range methods {
		for _, mode := range []string{"disable", "require"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				o := Options{}
				if mode == "require" {
					o.TLS = conf
				}
				_, addr := startServer(t, &fakeBackend{method: method, passwords: map[string]*Verifier{"alice": v}}, o)
				for _, l := range logins {
					if method == AuthTrust {
						l.code = ""
					}
					err := login("postgres://" + l.user + ":" + l.password + "@" + addr + "/d?sslmode=" + mode)
					if l.code == "" && err != nil || l.code != "" && (err == nil || !strings.Contains(err.Error(), l.code)) {
						t.Errorf("%s with %q: got %v, want code %q", l.user, l.password, err, l.code)
					}
				}
			})
		}
	}
}

func login(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return c.Ping(ctx)
}

// With channel binding the client's proof covers the server's certificate.
func TestChannelBinding(t *testing.T) {
	v, err := NewVerifier("right")
	if err != nil {
		t.Fatal(err)
	}
	conf, err := LoadTLS(certificate(t))
	if err != nil {
		t.Fatal(err)
	}
	_, addr := startServer(t, &fakeBackend{method: AuthSCRAM, passwords: map[string]*Verifier{"alice": v}}, Options{TLS: conf})
	if err := login("postgres://alice:right@" + addr + "/d?sslmode=require&channel_binding=require"); err != nil {
		t.Error(err)
	}
}

// What was sent in clear behind an accepted SSLRequest is not taken for the
// encrypted client's.
func TestNoPlaintextBehindSSLRequest(t *testing.T) {
	conf, err := LoadTLS(certificate(t))
	if err != nil {
		t.Fatal(err)
	}
	_, addr := startServer(t, &fakeBackend{}, Options{TLS: conf})
	c := dial(t, addr)
	c.write([]byte{0, 0, 0, 8, 4, 210, 22, 47, 'x'})
	if got := c.eof(); !strings.Contains(got, "received unencrypted data after SSL request") {
		t.Errorf("got %s", got)
	}
}

// Reads can be interrupted under TLS, too, without losing the stream.
func TestWakeupUnderTLS(t *testing.T) {
	conf, err := LoadTLS(certificate(t))
	if err != nil {
		t.Fatal(err)
	}
	_, addr := startServer(t, &fakeBackend{}, Options{TLS: conf})
	raw := dial(t, addr)
	raw.write([]byte{0, 0, 0, 8, 4, 210, 22, 47})
	if _, err := raw.nc.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c := wrap(t, tls.Client(raw.nc, &tls.Config{InsecureSkipVerify: true}))
	c.startup(map[string]string{"user": "u"})
	c.until('Z', 1)
	for range 3 {
		c.query("notify hello")
		if got := c.until('A', 1); !strings.HasSuffix(got, "NotificationResponse news hello\n") {
			t.Errorf("got %s", got)
		}
	}
}
