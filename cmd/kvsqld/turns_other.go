//go:build !linux

package main

// longTurns returns nil: threads have no turns to choose here.
func longTurns() func(long bool) error { return nil }
