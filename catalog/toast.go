package catalog

import "kvsqld/catalog/types"

// toastThreshold is the size in bytes from which PostgreSQL moves values of a row into
// the table's TOAST table.
const toastThreshold = 2032

// NeedsToast reports whether PostgreSQL would give the table a TOAST table: a row may
// grow beyond the threshold, and a column's values can be moved out. Here long values
// stay in their rows' values.
func (s *Snapshot) NeedsToast(t *Table) bool {
	if t.Key != nil {
		return false
	}
	size, toastable, unbounded := 0, false, false
	for i := range t.Columns {
		c := &t.Columns[i]
		in := s.TypeInfo(c.Type.OID)
		if c.Dropped || in == nil {
			continue
		}
		size = alignTo(size, alignments[in.Align])
		switch most := s.maximumSize(c.Type); {
		case in.Len > 0:
			size += int(in.Len)
		case most < 0:
			unbounded = true
		default:
			size += most
		}
		if c.Storage != "plain" && (in.Storage != 'p' && in.Storage != 0 || c.Storage != "") {
			toastable = true
		}
	}
	if !toastable || unbounded {
		return toastable
	}
	const header, maxAlign = 23, 8
	return alignTo(header+(len(t.Columns)+7)/8, maxAlign)+alignTo(size, maxAlign) > toastThreshold
}

// alignments are the bytes of the codes of pg_type.typalign.
var alignments = map[byte]int{'c': 1, 's': 2, 'i': 4, 'd': 8}

func alignTo(n, to int) int {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}

// maximumSize returns the bytes that a value of variable length may have, -1 when nothing bounds
// it.
func (s *Snapshot) maximumSize(t types.T) int {
	if t.Mod < 0 {
		return -1
	}
	const header, bytesPerRune = 4, 4
	switch t.OID {
	case types.OBpchar, types.OVarchar:
		return (int(t.Mod)-header)*bytesPerRune + header
	case types.ONumeric:
		digits := ((int(t.Mod)-header)>>16&0xffff + 6) / 4
		return 2*header + 2*digits
	case types.OBit, types.OVarbit:
		return (int(t.Mod)+7)/8 + 2*header
	}
	return -1
}
