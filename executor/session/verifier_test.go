package session

import (
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/wire"
)

func TestVerifierOf(t *testing.T) {
	made, err := verifierOf("secret", false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := verifierOf(made, false); err != nil || again != made {
		t.Errorf("a verifier is kept as it is: got %q, %v, want %q", again, err, made)
	}
	nothing, err := wire.NewVerifier("")
	if err != nil {
		t.Fatal(err)
	}
	for _, empty := range []string{"", nothing.String()} {
		if v, err := verifierOf(empty, false); err != nil || v != "" {
			t.Errorf("verifierOf(%q) = %q, %v, want none", empty, v, err)
		}
	}
	short := strings.TrimSuffix(made, "=") // no verifier, so a password
	v, err := verifierOf(short, false)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := wire.ParseVerifier(v); err != nil || !p.Check(short) {
		t.Errorf("the verifier of %q does not take it: %q, %v", short, v, err)
	}
	if _, err := verifierOf("md5783277baca28003b33453252be4dbb34", false); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("an MD5 password gives %v, want a refusal", err)
	}
	if _, err := verifierOf("secret", true); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("a password to hash with MD5: %v, want 0A000", err)
	}
	if again, err := verifierOf(made, true); err != nil || again != made {
		t.Errorf("a verifier needs no hash: got %q, %v, want %q", again, err, made)
	}
}
