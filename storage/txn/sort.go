package txn

import (
	"bytes"

	"kvsqld/storage/kv/keysort"
)

// sorted returns the entries in key order, of equal keys only the last. The
// input stays as it is.
func sorted(in []entry) []entry {
	items := keysort.Items(len(in), func(i int) []byte { return in[i].key() })
	out := make([]entry, 0, len(in))
	for i, it := range items {
		if i+1 < len(items) && items[i+1].Prefix == it.Prefix &&
			bytes.Equal(in[items[i+1].Pos].key(), in[it.Pos].key()) {
			continue
		}
		out = append(out, in[it.Pos])
	}
	return out
}

// mergeRuns merges two ascending lists into a new one; of equal keys the one
// in newer wins.
func mergeRuns(older, newer []entry) []entry {
	out := make([]entry, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch bytes.Compare(older[0].key(), newer[0].key()) {
		case -1:
			out = append(out, older[0])
			older = older[1:]
		case 0:
			older = older[1:]
		default:
			out = append(out, newer[0])
			newer = newer[1:]
		}
	}
	out = append(out, older...)
	return append(out, newer...)
}
