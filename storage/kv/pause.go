//go:build !pauses

package kv

// Pauses tells whether Pause does anything.
const Pauses = false

// Pause stands where another goroutine may come between two steps, and does nothing. Built
// with the tag pauses it sleeps there now and then, so that tests under load meet in
// seconds what else takes a busy machine and luck (make pauses).
func Pause() {}
