package planner

import (
	"slices"

	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// JOIN … USING merges columns of one name, which tables may have lost since, and
// which others may have got. So the name is given from the outermost join inwards to
// all columns that it merges, and whatever else lies there gets another one.

// colKey is a column of an entry: the entry's number and the column's.
type colKey = [2]int

// outputCol is a column that an entry of FROM shows: the columns of entries that it
// is, several where USING merges them, none where it came after the view.
type outputCol struct {
	keys []colKey
	name string
}

// unclearUsing reports whether a join without an alias merges columns to what is
// neither side's: such a column is written as a bare name, which nothing else in the
// FROM list may have.
func (w *treeWriter) unclearUsing(f ast.FromItem) bool {
	j, ok := f.(*ast.Join)
	if !ok {
		return false
	}
	return j.Alias == "" && slices.ContainsFunc(w.rec.merges[j], func(m mergedCol) bool { return !m.plain }) ||
		w.unclearUsing(j.L) || w.unclearUsing(j.R)
}

// usingNamer names the columns of a FROM list.
type usingNamer struct {
	w      *treeWriter
	unique bool             // no two names of USING are the same
	names  []string         // those that nothing else may have then
	around map[int][]string // what the joins around an entry merge, by the entry's number
}

// name gives the merged columns of a join their names, above those of the joins
// below. around are those of the joins above.
func (u *usingNamer) name(f ast.FromItem, around []string) {
	w := u.w
	j, ok := f.(*ast.Join)
	if !ok {
		u.around[w.rec.froms[f].id] = around
		return
	}
	r := w.rec.joins[j]
	if r != nil {
		u.around[r.id] = around
	}
	around = slices.Clip(around)
	for i, c := range w.merged(j) {
		name := w.cols[c.keys[0]] // from above
		if r != nil {
			name = w.cols[colKey{r.id, i}]
		}
		if name == "" {
			name = w.rec.merges[j][i].name
			if r != nil {
				name = r.cols[i].Name
			}
			taken := map[string]bool{}
			for _, n := range slices.Concat(u.names, around, w.using[j]) {
				taken[n] = true
			}
			if name = unlike(taken, name); u.unique {
				u.names = append(u.names, name)
			}
		}
		if r != nil {
			w.cols[colKey{r.id, i}] = name
		}
		for _, k := range c.keys {
			w.cols[k] = name
		}
		w.using[j] = append(w.using[j], name)
		around = append(around, name)
	}
	u.name(j.L, around)
	u.name(j.R, around)
}

// nameColumns names the other columns, those of joins with an alias after those
// below.
func (u *usingNamer) nameColumns(f ast.FromItem) {
	w := u.w
	j, ok := f.(*ast.Join)
	if !ok {
		r := w.rec.froms[f]
		used := u.used(r)
		w.eachColumn(r, func(col int) {
			if k := (colKey{r.id, col}); w.cols[k] == "" {
				w.cols[k] = unlike(used, w.baseName(r, col))
			}
		})
		return
	}
	u.nameColumns(j.L)
	u.nameColumns(j.R)
	r := w.rec.joins[j]
	if r == nil {
		return
	}
	used, below := u.used(r), w.columnsOf(j)
	for i, c := range r.cols {
		k := colKey{r.id, i}
		at := slices.IndexFunc(below, func(o outputCol) bool { return o.is(w.keysOf(w.rec.under[k])) })
		if at < 0 || w.cols[k] != "" { // one that was dropped, or named from above
			continue
		}
		name := c.Name
		if i >= len(j.Cols) {
			name = below[at].name
		}
		w.cols[k] = unlike(used, name)
	}
}

// used are the names that other columns of an entry must not get.
func (u *usingNamer) used(r *rel) map[string]bool {
	used := map[string]bool{}
	for _, n := range slices.Concat(u.names, u.around[r.id]) {
		used[n] = true
	}
	for k, n := range u.w.cols {
		if k[0] == r.id {
			used[n] = true
		}
	}
	return used
}

// is reports whether a column is one of keys.
func (o outputCol) is(keys []colKey) bool {
	return slices.ContainsFunc(o.keys, func(k colKey) bool { return slices.Contains(keys, k) })
}

// keysOf are the columns of entries that an expression of a column under a join is
// made of.
func (w *treeWriter) keysOf(x plan.Expr) []colKey {
	if m, ok := w.rec.merged[x]; ok {
		return append(w.keysOf(m.l), w.keysOf(m.r)...)
	}
	if v, ok := x.(*plan.Var); ok {
		return []colKey{{v.Rel, v.Col}}
	}
	return nil
}

// merged are the columns that a join merges.
func (w *treeWriter) merged(j *ast.Join) []outputCol {
	if len(w.rec.merges[j]) == 0 {
		return nil
	}
	side := func(cols []outputCol, x plan.Expr) []colKey {
		keys := w.keysOf(x)
		if i := slices.IndexFunc(cols, func(o outputCol) bool { return o.is(keys) }); i >= 0 {
			return cols[i].keys
		}
		return keys
	}
	l, r := w.output(j.L), w.output(j.R)
	var out []outputCol
	for i, m := range w.rec.merges[j] {
		c := outputCol{keys: slices.Concat(side(l, m.l), side(r, m.r))}
		if i < len(w.using[j]) {
			c.name = w.using[j][i]
		}
		out = append(out, c)
	}
	return out
}

// output are the columns that an entry of FROM shows.
func (w *treeWriter) output(f ast.FromItem) []outputCol {
	if j, ok := f.(*ast.Join); ok {
		below := w.columnsOf(j)
		r := w.rec.joins[j]
		if r == nil {
			return below
		}
		used := map[string]bool{}
		for i := range r.cols {
			used[w.cols[colKey{r.id, i}]] = true
		}
		for n := range below {
			o := &below[n]
			at := -1
			for i := range r.cols {
				if at < 0 && o.is(w.keysOf(w.rec.under[colKey{r.id, i}])) {
					at = i
				}
			}
			if at < 0 { // a table has got it since
				o.keys, o.name = nil, unlike(used, o.name)
			} else {
				o.keys, o.name = []colKey{{r.id, at}}, w.cols[colKey{r.id, at}]
			}
		}
		return below
	}
	r := w.rec.froms[f]
	var out []outputCol
	w.eachColumn(r, func(col int) {
		k := colKey{r.id, col}
		out = append(out, outputCol{[]colKey{k}, w.cols[k]})
	})
	return out
}

// columnsOf are the columns of a join before an alias hides them.
func (w *treeWriter) columnsOf(j *ast.Join) []outputCol {
	out := w.merged(j)
	n := len(out)
	for _, f := range []ast.FromItem{j.L, j.R} {
		for _, c := range w.output(f) {
			if !slices.ContainsFunc(out[:n], func(o outputCol) bool { return o.is(c.keys) }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// joinNames are the names of all columns of a join with an alias, none where they
// are those of the columns under it.
func (w *treeWriter) joinNames(j *ast.Join) []string {
	below := w.columnsOf(j)
	var out []string
	renamed := false
	for i, c := range w.output(j) {
		renamed = renamed || c.name != below[i].name
		out = append(out, c.name)
	}
	if !renamed {
		return nil
	}
	return out
}
