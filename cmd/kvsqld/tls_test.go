package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// writeCertificate makes a certificate of 127.0.0.1 that signs itself.
func writeCertificate(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTLS connects with a password over TLS and in clear, and asks what the
// server knows of the connection.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key)
	ctx := t.Context()
	data := filepath.Join(dir, "data")
	first := startChild(t, data)
	conn, err := first.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "CREATE ROLE ann LOGIN PASSWORD 'kite'"); err != nil {
		t.Fatal(err)
	}
	conn.Close(ctx)
	first.kill()
	c := startChildAs(t, exec.Command(os.Args[0], "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-format", "json",
		"--auth", "scram", "--tls-cert", cert, "--tls-key", key))
	for _, test := range []struct {
		options, password, state string
		encrypted                bool
	}{
		{"sslmode=verify-full&sslrootcert=" + cert, "kite", "", true},
		{"sslmode=disable", "kite", "", false},
		{"sslmode=verify-full&sslrootcert=" + cert, "kites", "28P01", false},
	} {
		conn, err := pgx.Connect(ctx, "postgres://ann:"+test.password+"@"+c.addr+"/postgres?"+test.options)
		if got := sqlState(err); got != test.state {
			t.Errorf("%s, password %s: %v, want %q", test.options, test.password, err, test.state)
		}
		if err != nil {
			continue
		}
		checkEncryption(t, ctx, conn, test.encrypted)
		conn.Close(ctx)
	}
}

func checkEncryption(t *testing.T, ctx context.Context, conn *pgx.Conn, want bool) {
	t.Helper()
	var ssl bool
	var version, cipher *string
	var bits *int
	err := conn.QueryRow(ctx, "SELECT ssl, version, cipher, bits FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&ssl, &version, &cipher, &bits)
	switch {
	case err != nil:
		t.Error(err)
	case ssl != want || (version != nil) != want || (cipher != nil) != want || (bits != nil) != want:
		t.Errorf("pg_stat_ssl tells %v, %v, %v, %v of a connection, encrypted: %v", ssl, version, cipher, bits, want)
	case want && *version != "TLSv1.3":
		t.Errorf("the version is %s", *version)
	}
}
