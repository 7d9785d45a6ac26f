package parser

// LongName is an identifier that is longer than names may be, as it was written
// and as it is understood.
type LongName struct{ Written, Cut string }

// CutName returns a name as it is understood: its first 63 bytes, without a part of a
// character.
func CutName(name string) string { return truncateIdent(name) }

// LongNames lists the identifiers of a text that are cut, in their order. The
// text parses.
func (st *Strings) LongNames(sql string) []LongName {
	if !mayHoldLongName(sql) {
		return nil
	}
	var out []LongName
	lx := lexer{src: sql}
	if st != nil {
		lx.strings = &Strings{Escapes: st.Escapes}
	}
	for {
		t, err := lx.next()
		if err != nil || t.Kind == KindEOF {
			return out
		}
		if (t.Kind == KindIdent || t.Kind == KindQuoted) && t.End-t.Off > maxIdentLen {
			if full := t.name(sql); len(full) > maxIdentLen {
				out = append(out, LongName{full, truncateIdent(full)})
			}
		}
	}
}

// mayHoldLongName looks for a run of characters that could be such a name, which
// is much faster than taking the text apart.
func mayHoldLongName(sql string) bool {
	run := 0
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == ',', c == '(', c == ')', c == ';', c == '\'', c == '\n':
			run = 0
		default:
			if run++; run > maxIdentLen {
				return true
			}
		}
	}
	return false
}
