package types

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// unsupportedText are the types without input here: their text has a syntax of
// its own that nothing would check.
var unsupportedText = map[OID]bool{
	3614: true, 3615: true, 3642: true, // tsvector, tsquery, gtsvector
}

// Snapshot is a value of pg_snapshot: transactions below Xmin have ended, those
// from Xmax on have not begun, and of the others those in Xip are running.
type Snapshot struct {
	Xmin, Xmax uint64
	Xip        []uint64
}

// ParseSnapshot reads xmin:xmax:xip,…; ok is false for any other text. A number whose
// lower half is zero is none.
func ParseSnapshot(s string) (snap Snapshot, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return snap, false
	}
	var err1, err2 error
	snap.Xmin, err1 = strconv.ParseUint(parts[0], 10, 64)
	snap.Xmax, err2 = strconv.ParseUint(parts[1], 10, 64)
	if err1 != nil || err2 != nil || uint32(snap.Xmin) == 0 || uint32(snap.Xmax) == 0 || snap.Xmax < snap.Xmin {
		return snap, false
	}
	if parts[2] == "" {
		return snap, true
	}
	for x := range strings.SplitSeq(parts[2], ",") {
		v, err := strconv.ParseUint(x, 10, 64)
		last := len(snap.Xip) - 1
		if err != nil || v < snap.Xmin || v >= snap.Xmax || last >= 0 && v < snap.Xip[last] {
			return snap, false
		}
		if last < 0 || v > snap.Xip[last] {
			snap.Xip = append(snap.Xip, v)
		}
	}
	return snap, true
}

func parseSnapshot(s string) ([]byte, error) {
	snap, ok := ParseSnapshot(s)
	if !ok {
		return nil, errSyntax("pg_snapshot", s)
	}
	return snap.text(), nil
}

func (snap Snapshot) text() []byte {
	out := fmt.Appendf(nil, "%d:%d:", snap.Xmin, snap.Xmax)
	for i, x := range snap.Xip {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendUint(out, x, 10)
	}
	return out
}

// appendSnapshot appends the binary form: how many run, then all numbers.
func appendSnapshot(buf, text []byte) []byte {
	snap, _ := ParseSnapshot(string(text))
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(snap.Xip)))
	for _, x := range append([]uint64{snap.Xmin, snap.Xmax}, snap.Xip...) {
		buf = binary.BigEndian.AppendUint64(buf, x)
	}
	return buf
}

// maxSnapshot bounds the numbers of a snapshot, as the size of a value does.
const maxSnapshot = (1<<30 - 1 - 24) / 8

// snapshotText reads the binary form.
func snapshotText(b []byte) ([]byte, error) {
	if len(b) < 20 {
		return nil, errBinaryShort()
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	if n < 0 || n > maxSnapshot {
		return nil, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid external pg_snapshot data")
	}
	if len(b)-20 < 8*n {
		return nil, errBinaryShort()
	}
	if len(b) > 20+8*n {
		return nil, errBinaryFormat()
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(b[4+8*i:]) }
	snap := Snapshot{Xmin: number(0), Xmax: number(1)}
	for i := range n {
		snap.Xip = append(snap.Xip, number(2+i))
	}
	again, ok := ParseSnapshot(string(snap.text()))
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid external pg_snapshot data")
	}
	return again.text(), nil
}
