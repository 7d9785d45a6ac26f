package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// The layouts of a table.
const (
	// LayoutRow keeps all attributes of a row as one value of the master file.
	LayoutRow = "row"
	// LayoutColumn keeps each column, or named group of columns, in a file of its
	// own; the master file says which rows there are.
	LayoutColumn = "column"
)

// StorageElements is the Column.Storage of a column with one key per element.
const StorageElements = "elements"

// ColumnGroup is an attribute file of a table: columns that are kept apart from
// the master file, under the same row keys.
type ColumnGroup struct {
	// Cols are the columns in the order of a stored value's attributes; dropped
	// ones keep their place.
	Cols  []int
	Space SpaceID // 0 when all columns are dropped: there is no file
	File  string
	// Elements tells that the file has a key for each element of its only column.
	Elements bool
}

// ByElements reports whether the index has a key for each element of an array or
// jsonb column.
func (ix *Index) ByElements(t *Table) bool {
	if ix.Kind != KindInverted && ix.Kind != KindGin || len(ix.Keys) == 0 {
		return false
	}
	k := ix.Keys[0]
	if k.Col >= 0 {
		k.Type = t.Columns[k.Col].Type
	}
	_, ok := types.ElementKeyType(k.Type)
	return ok
}

// GroupOf returns the number of the column's group, or -1 when the column is in
// the master file.
func (t *Table) GroupOf(col int) int {
	return slices.IndexFunc(t.Groups, func(g ColumnGroup) bool { return slices.Contains(g.Cols, col) })
}

// namedGroups returns the column groups of several columns as the option groups
// gives them, "" when there are none.
func (t *Table) namedGroups() string {
	var out []string
	for _, g := range t.Groups {
		var names []string
		for _, c := range g.Cols {
			if !t.Columns[c].Dropped {
				names = append(names, QuoteIdent(t.Columns[c].Name))
			}
		}
		if len(names) > 1 {
			out = append(out, "("+strings.Join(names, ", ")+")")
		}
	}
	return strings.Join(out, ", ")
}

// MappingOptions returns the options of WITH (…) that say how the table is kept as
// keys and values, as name=value, in alphabetical order. CREATE TABLE takes them
// before the table has its keys, as pg_dump writes it.
func (t *Table) MappingOptions() []string {
	var out []string
	if k := t.ClusterSpec(); k != nil {
		opts := k.Options()
		for _, name := range clusterOptionNames {
			if v, ok := opts[name]; ok {
				out = append(out, name+"="+v)
			}
		}
	}
	var elements []string
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Storage == StorageElements && !c.Dropped {
			elements = append(elements, QuoteIdent(c.Name))
		}
	}
	if elements != nil {
		out = append(out, "elements="+strings.Join(elements, ", "))
	}
	if t.Layout == LayoutColumn {
		if g := t.namedGroups(); g != "" {
			out = append(out, "groups="+g)
		}
		out = append(out, "layout="+LayoutColumn)
	}
	return out
}

// ParseElements reads the option elements: column names separated by commas. The
// error is 22023.
func ParseElements(text string) ([]string, error) {
	var out []string
	for rest := strings.TrimSpace(text); rest != "" || out != nil; {
		name, after, ok := cutIdent(rest)
		after = strings.TrimSpace(after)
		if !ok || after != "" && after[0] != ',' {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"elements\": \"%s\"", text).
				WithDetail("Columns are wanted, such as \"a, b\".")
		}
		out = append(out, name)
		if after == "" {
			break
		}
		rest = strings.TrimSpace(after[1:])
	}
	return out, nil
}

// SetElements makes the named columns of a table those that are stored by elements.
// The rows are the caller's business.
func (c *Change) SetElements(table types.OID, names []string) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		for i := range t.Columns {
			if t.Columns[i].Storage == StorageElements {
				t.Columns[i].Storage = ""
			}
		}
		for _, n := range names {
			i := t.Col(n)
			switch {
			case i < 0:
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in option \"elements\" does not exist", n)
			case t.Columns[i].Storage == StorageElements:
				return sqlerr.New(sqlerr.InvalidParameterValue, "column \"%s\" appears twice in option \"elements\"", n)
			}
			t.Columns[i].Storage = StorageElements
		}
		return nil
	})
}

// ParseColumnGroups reads the option groups: lists of column names in
// parentheses, separated by commas. The error is 22023.
func ParseColumnGroups(text string) ([][]string, error) {
	bad := func() ([][]string, error) {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"groups\": \"%s\"", text).
			WithDetail("Groups are lists of columns in parentheses, such as \"(a, b), (c)\".")
	}
	var out [][]string
	rest := strings.TrimSpace(text)
	for {
		if !strings.HasPrefix(rest, "(") {
			return bad()
		}
		rest = rest[1:]
		var group []string
		for {
			name, after, ok := cutIdent(strings.TrimSpace(rest))
			if !ok {
				return bad()
			}
			group = append(group, name)
			rest = strings.TrimSpace(after)
			if strings.HasPrefix(rest, ")") {
				rest = strings.TrimSpace(rest[1:])
				break
			}
			if !strings.HasPrefix(rest, ",") {
				return bad()
			}
			rest = rest[1:]
		}
		out = append(out, group)
		if rest == "" {
			return out, nil
		}
		if !strings.HasPrefix(rest, ",") {
			return bad()
		}
		rest = strings.TrimSpace(rest[1:])
	}
}

// cutIdent cuts an identifier, perhaps quoted, off the front of a text.
func cutIdent(s string) (name, rest string, ok bool) {
	if strings.HasPrefix(s, "\"") {
		for i := 1; i < len(s); i++ {
			if s[i] != '"' {
				continue
			}
			if i+1 < len(s) && s[i+1] == '"' {
				i++
				continue
			}
			return strings.ReplaceAll(s[1:i], "\"\"", "\""), s[i+1:], i > 1
		}
		return "", "", false
	}
	i := strings.IndexAny(s, " \t\r\n,()\"")
	if i < 0 {
		i = len(s)
	}
	return strings.ToLower(s[:i]), s[i:], i > 0
}

// SetLayout changes a table's layout. groups are the column groups, by name, of
// the column layout; columns not named get a group of their own. The rows are the
// caller's business. The error is 22023 for groups that cannot be.
func (c *Change) SetLayout(table types.OID, layout string, groups [][]string) (*Table, error) {
	return c.edit(table, func(t *Table) error { return c.setLayout(t, layout, groups) })
}

func (c *Change) setLayout(t *Table, layout string, groups [][]string) error {
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	switch layout {
	case LayoutRow:
		if groups != nil {
			return bad("option \"groups\" requires the layout \"%s\"", LayoutColumn)
		}
	case LayoutColumn:
	default:
		return bad("invalid value for option \"layout\": \"%s\"", layout).(*sqlerr.Error).
			WithDetail("Valid values are \"row\" and \"column\".")
	}
	if t.Cluster != nil && layout != LayoutRow {
		return sqlerr.Unsupported(-1, "layout \"%s\" of a region-clustered table", layout)
	}
	t.Layout = layout
	var wanted [][]int
	seen := map[int]bool{}
	for _, names := range groups {
		var cols []int
		for _, n := range names {
			i := t.Col(n)
			switch {
			case i < 0:
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in option \"groups\" does not exist", n)
			case seen[i]:
				return bad("column \"%s\" appears twice in option \"groups\"", n)
			case slices.Contains(t.PK, i):
				return bad("column \"%s\" is in the primary key and cannot be in a column group", n).(*sqlerr.Error).
					WithDetail("The primary key is the key of every group.")
			case t.Columns[i].Storage == StorageElements && len(names) > 1:
				return bad("column \"%s\" is stored by elements and cannot be in a column group", n)
			}
			seen[i] = true
			cols = append(cols, i)
		}
		wanted = append(wanted, cols)
	}
	// A group that stays as it is keeps its file.
	var kept []ColumnGroup
	for _, g := range t.Groups {
		live := t.liveCols(g.Cols)
		if len(live) == 0 || g.Elements || layout == LayoutColumn && (slices.ContainsFunc(wanted, func(w []int) bool { return slices.Equal(w, live) }) ||
			len(live) == 1 && !seen[live[0]]) {
			kept = append(kept, g)
		}
	}
	for _, cols := range wanted {
		if !slices.ContainsFunc(kept, func(g ColumnGroup) bool { return slices.Equal(t.liveCols(g.Cols), cols) }) {
			kept = append(kept, ColumnGroup{Cols: cols})
		}
	}
	t.Groups = kept
	return nil
}

// MoveRows gives the rows of a table files of their own: other ones than they have, also
// where the layout is what it was. The rows are the caller's business. It is not for
// temporary tables, nor for those that are stored with others.
func (c *Change) MoveRows(table types.OID) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		t.Space = c.alloc.AllocSpace()
		t.File = c.fileName(fileBase(t.Schema, t.Name), ".kv", t.OID)
		for i := range t.Groups {
			t.Groups[i].Space, t.Groups[i].File = 0, "" // settleGroups gives them others
		}
		return nil
	})
}

func (t *Table) hasElements() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Storage == StorageElements && !c.Dropped })
}

// liveCols returns those of the columns that are not dropped.
func (t *Table) liveCols(cols []int) []int {
	var out []int
	for _, c := range cols {
		if !t.Columns[c].Dropped {
			out = append(out, c)
		}
	}
	return out
}

// settleGroups brings a table's groups up to date with its columns: every live
// column outside of the primary key has a group in the column layout, every
// column stored by elements has one in each layout, and groups without a live
// column are gone. New groups get a space, and a file from fileName.
func settleGroups(t *Table, alloc Allocator, fileName func(base string) string) {
	var groups []ColumnGroup
	has := make([]bool, len(t.Columns))
	for _, g := range t.Groups {
		if len(t.liveCols(g.Cols)) == 0 {
			// The file goes. That its columns are not in the master value stays.
			groups = append(groups, ColumnGroup{Cols: g.Cols})
			continue
		}
		elements := false
		for _, c := range g.Cols {
			elements = elements || !t.Columns[c].Dropped && t.Columns[c].Storage == StorageElements
		}
		inKey := slices.ContainsFunc(g.Cols, func(c int) bool { return slices.Contains(t.PK, c) })
		if elements != g.Elements && g.Space != 0 || inKey || !elements && t.Layout != LayoutColumn {
			continue // its columns get other places
		}
		g.Elements = elements
		for _, c := range g.Cols {
			has[c] = true
		}
		groups = append(groups, g)
	}
	for c := range t.Columns {
		col := &t.Columns[c]
		elements := col.Storage == StorageElements
		if has[c] || col.Dropped || slices.Contains(t.PK, c) || !elements && t.Layout != LayoutColumn {
			continue
		}
		groups = append(groups, ColumnGroup{Cols: []int{c}, Elements: elements})
	}
	for i := range groups {
		g := &groups[i]
		if g.Space != 0 || len(t.liveCols(g.Cols)) == 0 {
			continue
		}
		g.Space = alloc.AllocSpace()
		if !t.Temp && g.File == "" {
			g.File = fileName(fileBase(t.Schema, t.Name) + "." + t.Columns[t.liveCols(g.Cols)[0]].Name)
		}
	}
	// Their order is that of their columns, whatever the table has been before.
	first := func(g ColumnGroup) int {
		if live := t.liveCols(g.Cols); len(live) > 0 {
			return live[0]
		}
		return len(t.Columns)
	}
	slices.SortStableFunc(groups, func(a, b ColumnGroup) int { return first(a) - first(b) })
	t.Groups = groups
}
