package planner

import (
	"slices"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// The names that a text gives to the entries of FROM and to their columns: those
// of the catalog where they do, others where a query around has taken them, or
// where USING asks for one name on both sides.

// nameList names the entries of a FROM list and their columns.
func (w *treeWriter) nameList(from []ast.FromItem) {
	for _, f := range from {
		w.nameEntries(f)
	}
	for _, f := range from {
		w.nameUsing(f, from)
	}
}

// nameEntries gives the entries of FROM names that differ from those around.
func (w *treeWriter) nameEntries(f ast.FromItem) {
	if j, ok := f.(*ast.Join); ok {
		w.nameEntries(j.L)
		w.nameEntries(j.R)
		if r := w.rec.joins[j]; r != nil {
			w.refs[r.id] = w.free(r.alias)
			used := map[string]bool{}
			for i, c := range r.cols {
				w.cols[[2]int{r.id, i}] = unlike(used, c.Name)
			}
		}
		return
	}
	r := w.rec.froms[f]
	if r == nil {
		giveUp("this FROM")
	}
	name := r.alias
	if t, ok := f.(*ast.TableRef); ok && r.relation() != nil {
		// An alias that is the table's own name was added with those of columns.
		_, own := r.relation().RelName()
		if t.Alias == "" || t.Alias == own && len(t.Cols) > 0 {
			_, name = w.now(r).RelName()
		}
	}
	w.refs[r.id] = w.free(name)
	for i, c := range r.names {
		if v, ok := c.x.(*plan.Var); ok {
			w.cols[[2]int{r.id, v.Col}] = w.baseName(r, i, v.Col)
		}
	}
	if rel := w.now(r); rel != nil { // columns that came later
		for i, c := range rel.RelColumns() {
			if key := [2]int{r.id, i}; w.cols[key] == "" && !c.Dropped {
				w.cols[key] = c.Name
			}
		}
	}
}

// free makes a name that no entry has, here or around.
func (w *treeWriter) free(name string) string { return unlike(w.taken, name) }

// unlike makes a name that is not in a set, and puts it there.
func unlike(taken map[string]bool, name string) string {
	base := name
	for i := 1; taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// baseName is what the i-th name of an entry is in the text: an alias stays, a
// name of the catalog is the present one.
func (w *treeWriter) baseName(r *rel, i, col int) string {
	name := r.names[i].name
	old := r.relation()
	if old == nil || col < 0 || col >= len(old.RelColumns()) || name != old.RelColumns()[col].Name {
		return name
	}
	return w.now(r).RelColumns()[col].Name
}

// now is the relation of an entry as the snapshot has it that names are taken
// from; nil for other entries.
func (w *treeWriter) now(r *rel) catalog.Relation {
	old := r.relation()
	if old == nil {
		return nil
	}
	if x := w.names.RelationByOID(w.DB, old.ObjectOID()); x != nil {
		return x
	}
	return old
}

// nameUsing gives the columns that a join merges the name of USING, and other
// columns under the join another one. all is the whole FROM list: where both
// sides of a FULL JOIN make one column, nothing else may have its name.
func (w *treeWriter) nameUsing(f ast.FromItem, all []ast.FromItem) {
	j, ok := f.(*ast.Join)
	if !ok {
		return
	}
	for _, m := range w.rec.merges[j] {
		merged := map[[2]int]bool{}
		w.mergedVars(m.l, merged)
		w.mergedVars(m.r, merged)
		for key := range merged {
			w.cols[key] = m.name
		}
		under := []ast.FromItem{j}
		if j.Kind == "FULL" {
			under = all
		}
		eachEntry(under, func(f ast.FromItem) {
			r := w.rec.froms[f]
			used := map[string]bool{}
			w.eachColumn(r, func(col int) {
				if key := [2]int{r.id, col}; merged[key] || w.cols[key] != m.name {
					used[w.cols[key]] = true
				}
			})
			w.eachColumn(r, func(col int) {
				if key := [2]int{r.id, col}; !merged[key] && w.cols[key] == m.name {
					used[m.name] = true
					w.cols[key] = unlike(used, m.name)
				}
			})
		})
	}
	w.nameUsing(j.L, all)
	w.nameUsing(j.R, all)
}

// mergedVars collects the columns that a side of USING is made of.
func (w *treeWriter) mergedVars(x plan.Expr, into map[[2]int]bool) {
	if m, ok := w.rec.merged[x]; ok {
		w.mergedVars(m.l, into)
		w.mergedVars(m.r, into)
		return
	}
	if v, ok := x.(*plan.Var); ok {
		into[[2]int{v.Rel, v.Col}] = true
	}
}

// eachColumn calls f with the numbers of the columns of an entry that live.
func (w *treeWriter) eachColumn(r *rel, f func(col int)) {
	if rel := w.now(r); rel != nil {
		for i, c := range rel.RelColumns() {
			if !c.Dropped {
				f(i)
			}
		}
		return
	}
	for _, c := range r.names {
		if v, ok := c.x.(*plan.Var); ok {
			f(v.Col)
		}
	}
}

// columnNames are the names of an entry's columns in the text; aliased tells that
// they are not those that it has by itself.
func (w *treeWriter) columnNames(r *rel) (names []string, aliased bool) {
	rel := w.now(r)
	w.eachColumn(r, func(col int) {
		name := w.cols[[2]int{r.id, col}]
		names = append(names, name)
		switch {
		case rel != nil:
			aliased = aliased || name != rel.RelColumns()[col].Name
		case col < len(r.cols):
			aliased = aliased || name != r.cols[col].Name
		}
	})
	return names, aliased
}

// joinNames are the names of all columns of a join with an alias, those included
// that its tables have got since.
func (w *treeWriter) joinNames(j *ast.Join, r *rel) []string {
	used := map[string]bool{}
	for i := range r.cols {
		used[w.cols[[2]int{r.id, i}]] = true
	}
	at := map[[2]int]string{}
	for i := range r.cols {
		if v, ok := w.rec.under[[2]int{r.id, i}].(*plan.Var); ok {
			at[[2]int{v.Rel, v.Col}] = w.cols[[2]int{r.id, i}]
		}
	}
	var out []string
	merged := map[[2]int]bool{}
	for _, m := range w.rec.merges[j] {
		w.mergedVars(m.l, merged)
		w.mergedVars(m.r, merged)
	}
	out = append(out, w.mergedNames(j, r)...)
	eachEntry([]ast.FromItem{j}, func(f ast.FromItem) {
		in := w.rec.froms[f]
		w.eachColumn(in, func(col int) {
			key := [2]int{in.id, col}
			if merged[key] {
				return
			}
			name, ok := at[key]
			if !ok {
				name = unlike(used, w.cols[key])
			}
			out = append(out, name)
		})
	})
	return out
}

// mergedNames are the names of the columns of USING of a join with an alias: its
// first ones.
func (w *treeWriter) mergedNames(j *ast.Join, r *rel) []string {
	var out []string
	for i := range w.rec.merges[j] {
		out = append(out, w.cols[[2]int{r.id, i}])
	}
	return slices.Clip(out)
}
