//go:build !linux

package wire

const canSpin = false
