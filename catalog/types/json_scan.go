package types

// JSONEnd returns the end of the value that starts at s[i], in a text that is known
// to be JSON, canonical or not.
func JSONEnd(s []byte, i int) int {
	switch s[i] {
	case '"':
		return jSONStringEnd(s, i)
	case '{', '[':
		for depth := 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				i = jSONStringEnd(s, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s)
	}
	for i < len(s) && s[i] != ',' && s[i] != ']' && s[i] != '}' && s[i] > ' ' {
		i++
	}
	return i
}

// jSONStringEnd returns the end of the string that starts at s[i].
func jSONStringEnd(s []byte, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
