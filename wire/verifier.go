package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

// scramIterations is the work factor of new verifiers, PostgreSQL's default.
const scramIterations = 4096

const verifierPrefix = "SCRAM-SHA-256$"

// Verifier is what a server stores of a password: enough to check it, too
// little to log in elsewhere. Its text form is that of pg_authid.rolpassword.
type Verifier struct{ cred scram.StoredCredentials }

// NewVerifier derives a verifier from a clear-text password with a random salt.
func NewVerifier(password string) (*Verifier, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	cred, err := derive(password, scram.KeyFactors{Salt: string(salt), Iters: scramIterations})
	if err != nil {
		return nil, err
	}
	return &Verifier{cred: cred}, nil
}

// ParseVerifier reads SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>.
func ParseVerifier(s string) (*Verifier, error) {
	bad := fmt.Errorf("wire: not a SCRAM-SHA-256 verifier")
	rest, ok := strings.CutPrefix(s, verifierPrefix)
	if !ok {
		return nil, bad
	}
	factors, keys, ok1 := strings.Cut(rest, "$")
	iters, salt, ok2 := strings.Cut(factors, ":")
	stored, server, ok3 := strings.Cut(keys, ":")
	if !ok1 || !ok2 || !ok3 {
		return nil, bad
	}
	n, err := strconv.Atoi(iters)
	if err != nil || n < 1 {
		return nil, bad
	}
	b64 := base64.StdEncoding
	saltB, err1 := b64.DecodeString(salt)
	storedB, err2 := b64.DecodeString(stored)
	serverB, err3 := b64.DecodeString(server)
	if err1 != nil || err2 != nil || err3 != nil || len(saltB) == 0 || len(storedB) != 32 || len(serverB) != 32 {
		return nil, bad
	}
	return &Verifier{cred: scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(saltB), Iters: n},
		StoredKey:  storedB,
		ServerKey:  serverB,
	}}, nil
}

// String returns the form that ParseVerifier reads.
func (v *Verifier) String() string {
	b64 := base64.StdEncoding
	return fmt.Sprintf("%s%d:%s$%s:%s", verifierPrefix, v.cred.Iters, b64.EncodeToString([]byte(v.cred.Salt)),
		b64.EncodeToString(v.cred.StoredKey), b64.EncodeToString(v.cred.ServerKey))
}

// Check reports whether the clear-text password is the right one.
func (v *Verifier) Check(password string) bool {
	cred, err := derive(password, v.cred.KeyFactors)
	return err == nil && hmac.Equal(cred.StoredKey, v.cred.StoredKey)
}

// derive computes a password's keys. A password that SASLprep refuses is used
// as it is, which is what clients do as well.
func derive(password string, kf scram.KeyFactors) (scram.StoredCredentials, error) {
	c, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		if c, err = scram.SHA256.NewClientUnprepped("", password, ""); err != nil {
			return scram.StoredCredentials{}, err
		}
	}
	return c.WithMinIterations(1).GetStoredCredentialsWithError(kf)
}
