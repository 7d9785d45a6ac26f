package boltkv

import "time"

// The tests write little, so they write pages in bulk from little on.
func init() { bulkBytes, nodesBytes, nodesMost = 20<<10, 60<<10, 200<<10 }

// PassTime lets what was checked become older.
func PassTime(d time.Duration) {
	was := checkClock
	checkClock = func() time.Duration { return was() + d }
}
