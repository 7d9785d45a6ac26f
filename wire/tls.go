package wire

import (
	"crypto/tls"
	"crypto/x509"
	"strings"

	"github.com/xdg-go/scram"
)

// LoadTLS reads a certificate chain and its key from PEM files, for
// Options.TLS. Clients need TLS 1.2 at least.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

// channelBinding returns the tls-server-end-point binding (RFC 5929) of a TLS
// connection; false when there is none, or the certificate's signature has no
// hash to bind with, as with Ed25519.
func (c *conn) channelBinding() (scram.ChannelBinding, bool) {
	conf := c.srv.opts.TLS
	if c.info.TLS == nil || conf == nil || len(conf.Certificates) != 1 || conf.GetCertificate != nil || conf.GetConfigForClient != nil {
		return scram.ChannelBinding{}, false
	}
	leaf, err := x509.ParseCertificate(conf.Certificates[0].Certificate[0])
	if err != nil {
		return scram.ChannelBinding{}, false
	}
	binding, err := scram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
	return binding, err == nil
}

// TLSInfo says how a connection is encrypted.
type TLSInfo struct {
	Version string // as OpenSSL names it: "TLSv1.3"
	Cipher  string // the suite's name in IANA's registry
	Bits    int    // length of the cipher's key
}

func describeTLS(s tls.ConnectionState) *TLSInfo {
	i := &TLSInfo{Version: strings.Replace(tls.VersionName(s.Version), " ", "v", 1), Cipher: tls.CipherSuiteName(s.CipherSuite), Bits: 256}
	if strings.Contains(i.Cipher, "AES_128") {
		i.Bits = 128
	}
	return i
}
