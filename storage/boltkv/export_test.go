package boltkv

import "time"

// The tests write little, so they write pages in bulk from little on.
func init() { bulkBytes = 20 << 10 }

// PassTime lets what was checked become older.
func PassTime(d time.Duration) {
	was := checkClock
	checkClock = func() time.Duration { return was() + d }
}
