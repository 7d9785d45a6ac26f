package wire

// canSpin: a read from a socket returns at once, with or without input.
const canSpin = true
