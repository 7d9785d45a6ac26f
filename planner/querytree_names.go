package planner

import (
	"maps"
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
	u := &usingNamer{w: w, around: map[int][]string{}}
	for _, f := range from {
		u.unique = u.unique || w.unclearUsing(f)
	}
	for _, f := range from {
		u.name(f, nil)
	}
	for _, f := range from {
		u.nameColumns(f)
	}
}

// nameEntries gives the entries of FROM names that differ from those around; a query
// that is written again gets them again.
func (w *treeWriter) nameEntries(f ast.FromItem) {
	forget := func(r *rel) {
		maps.DeleteFunc(w.cols, func(k colKey, _ string) bool { return k[0] == r.id })
	}
	if j, ok := f.(*ast.Join); ok {
		w.nameEntries(j.L)
		w.nameEntries(j.R)
		delete(w.using, j)
		if r := w.rec.joins[j]; r != nil {
			forget(r)
			w.refs[r.id] = w.free(r.alias)
		}
		return
	}
	r := w.rec.froms[f]
	if r == nil {
		giveUp("this FROM")
	}
	forget(r)
	name := r.alias
	t, ok := f.(*ast.TableRef)
	if !ok || r.relation() == nil {
		w.refs[r.id] = w.free(name)
		return
	}
	// An alias that is the table's own name was added with those of columns.
	_, own := r.relation().RelName()
	unnamed := t.Alias == "" || t.Alias == own && len(t.Cols) > 0 || slices.Contains(w.made, t.Alias)
	if unnamed {
		_, name = w.now(r).RelName()
	}
	w.refs[r.id] = w.free(name)
	if alias := w.refs[r.id]; unnamed && alias != name && !slices.Contains(*w.given, alias) {
		*w.given = append(*w.given, alias)
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

// baseName is what a column of an entry is called unless others have the name: an
// alias stays, a name of the catalog is the present one.
func (w *treeWriter) baseName(r *rel, col int) string {
	old, now := r.relation(), w.now(r)
	for i, c := range r.names {
		v, ok := c.x.(*plan.Var)
		if !ok || v.Col != col {
			continue
		}
		if name := r.names[i].name; old == nil || col >= len(old.RelColumns()) || name != old.RelColumns()[col].Name {
			return name
		}
	}
	if now != nil {
		return now.RelColumns()[col].Name
	}
	return ""
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
