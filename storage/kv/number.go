package kv

// Numbers is what a store that numbers its transactions tells about them. Those of
// clients (BeginOpt.Client) get a number with their first write or row lock; numbers
// ascend. A store may lack it.
type Numbers interface {
	// NumberFrom says where numbers come from: reserve returns a range of them, first
	// and last included, above all that it has returned before, to this process or
	// another one. It may commit transactions of its own. Until it is set nobody gets
	// a number.
	NumberFrom(reserve func() (first, last uint64, err error))
	// Running tells which numbered transactions a snapshot with the commits up to seq
	// does not contain.
	Running(seq uint64) (Running, error)
	// Outcome tells what has become of a transaction.
	Outcome(number uint64) (Outcome, error)
}

// Running describes a snapshot by transaction numbers: those below Min have ended,
// those from Max on had not begun or not ended when it was taken, and of the others
// the ones in List had not ended.
type Running struct {
	Min, Max uint64
	List     []uint64 // ascending
}

// Outcome is what has become of a numbered transaction.
type Outcome uint8

// The outcomes. What ended long ago, or in an earlier process, is forgotten.
const (
	OutcomeForgotten Outcome = iota
	OutcomeFuture            // nobody has the number yet
	OutcomeRunning
	OutcomeCommitted
	OutcomeAborted
)
