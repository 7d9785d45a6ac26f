package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestProfileTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu")
	stop, err := profileTo(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		t.Errorf("the profile is not compressed as pprof's are: %x", b[:min(len(b), 8)])
	}
	if _, err := profileTo(filepath.Join(t.TempDir(), "none", "cpu")); err == nil {
		t.Error("a profile in a folder that does not exist")
	}
	if stop, err = profileTo(""); err != nil || stop() != nil {
		t.Error("a server without a profile")
	}
}
