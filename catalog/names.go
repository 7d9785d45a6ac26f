package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNameLen is the longest name in bytes (NAMEDATALEN - 1).
const maxNameLen = 63

// clipName cuts a name to at most n bytes without splitting a character.
func clipName(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// objectName joins name1, name2 (may be empty) and label with underscores and
// shortens the longer of the two names until the whole fits.
func objectName(name1, name2, label string) string {
	overhead := 0
	if name2 != "" {
		overhead++
	}
	if label != "" {
		overhead += len(label) + 1
	}
	avail := maxNameLen - overhead
	n1, n2 := len(name1), len(name2)
	for n1+n2 > avail {
		if n1 > n2 {
			n1--
		} else {
			n2--
		}
	}
	out := clipName(name1, n1)
	if name2 != "" {
		out += "_" + clipName(name2, n2)
	}
	if label != "" {
		out += "_" + label
	}
	return out
}

// chooseName returns the first of objectName with label, label1, label2 … that
// is not taken.
func chooseName(name1, name2, label string, taken func(string) bool) string {
	for pass := 0; ; pass++ {
		l := label
		if pass > 0 {
			l += strconv.Itoa(pass)
		}
		if name := objectName(name1, name2, l); !taken(name) {
			return name
		}
	}
}

// addName appends the name that an index calls a column, numbered where another column
// has it already.
func addName(names []string, n string) []string {
	base := n
	for i := 1; slices.Contains(names, n); i++ {
		suffix := strconv.Itoa(i)
		n = clipName(base, maxNameLen-len(suffix)) + suffix
	}
	return append(names, n)
}

// joinColumnNames is the middle part of a generated index or constraint name.
func joinColumnNames(cols []string) string {
	var b strings.Builder
	for _, c := range cols {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteString(c)
		if b.Len() >= maxNameLen+1 {
			break
		}
	}
	return b.String()
}

// DroppedColumnName is what PostgreSQL renames a dropped column to.
func DroppedColumnName(attnum int) string {
	return "........pg.dropped." + strconv.Itoa(attnum) + "........"
}

// KeyName is what an index of the table calls the column of a key.
func (t *Table) KeyName(k *IndexKey) string {
	switch {
	case k.Name != "":
		return k.Name
	case k.Col >= 0:
		return t.Columns[k.Col].Name
	}
	return callName(k.Expr)
}

// keepKeyNames has the indexes of a table, which is a copy, call their columns as before
// when the column i, which had the name old, has got another one.
func (t *Table) keepKeyNames(i int, old string) {
	for n, ix := range t.Indexes {
		at := slices.IndexFunc(ix.Keys, func(k IndexKey) bool { return k.Col == i })
		if at < 0 {
			continue
		}
		own := *ix
		own.Keys = slices.Clone(ix.Keys)
		for ; at < len(own.Keys); at++ {
			if k := &own.Keys[at]; k.Col == i {
				if k.Name = cmp.Or(k.Name, old); k.Name == t.Columns[i].Name {
					k.Name = ""
				}
			}
		}
		t.Indexes[n] = &own
	}
}

// callName returns the function that an expression calls outermost, or expr.
func callName(expr string) string {
	name, _, call := strings.Cut(expr, "(")
	if !call || name == "" || strings.ContainsAny(name, " ':[") {
		return "expr"
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return strings.ToLower(strings.Trim(name, `"`))
}
