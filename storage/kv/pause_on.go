//go:build pauses

package kv

import (
	"math/rand/v2"
	"time"
)

// Pauses tells whether Pause does anything.
const Pauses = true

// Pause lets others come in between: see the one that does nothing.
func Pause() {
	switch rand.IntN(200) {
	case 0:
		time.Sleep(time.Duration(rand.IntN(8000)) * time.Microsecond)
	case 1, 2:
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
	}
}
