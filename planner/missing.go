package planner

import (
	"maps"
	"slices"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// everyRel calls f for the entries of all scopes around the binder, also those
// that cannot be referenced from here, inner scopes first, until f returns
// false. What is found serves hints alone.
func (b *binder) everyRel(f func(r *rel) bool) {
	for s := b.scope; s != nil; {
		in := map[int]*rel{}
		if s.block != nil {
			maps.Copy(in, s.block.rels)
		}
		for _, it := range s.items {
			if it.rel != nil {
				in[it.rel.id] = it.rel
			}
		}
		for _, id := range slices.Sorted(maps.Keys(in)) {
			if !f(in[id]) {
				return
			}
		}
		if s.beside != nil {
			s = s.beside
			continue
		}
		s = s.parent
	}
}

// badLateral is the error of a LATERAL reference that its join does not allow,
// or that names the table which the statement changes.
func badLateral(it *nsItem, off int) error {
	err := sqlerr.New(sqlerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table \"%s\"", it.name).At(off)
	if it.rel != nil && it.rel.target {
		if it.hidden {
			err.Code = sqlerr.UndefinedTable
		}
		return err.WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", it.name)
	}
	return err.WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
}

// noRelation is the error of a qualifier that names no visible entry.
func (b *binder) noRelation(name string, off int) error {
	var found *rel
	b.everyRel(func(r *rel) bool {
		if r.alias == name || r.table != nil && r.table.Name == name || r.virt != nil && r.virt.Name == name ||
			r.query != nil && r.query.ref != nil && r.query.ref.name == name {
			found = r
		}
		return found == nil
	})
	if found == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", name).At(off)
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).At(off)
	if found.alias != name {
		for s := b.scope; s != nil; s = s.parent {
			for _, it := range s.items {
				if it.rel == found && it.relVisible && !it.lateralBad {
					return err.WithHint("Perhaps you meant to reference the table alias \"%s\".", found.alias)
				}
			}
		}
	}
	return err.WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", found.alias)
}

// maxFuzzy is the number of edits up to which another name is suggested.
const maxFuzzy = 3

// noColumn is the error of a column that does not exist, with the names that
// are nearest to it.
func (b *binder) noColumn(qual, name string, off int) error {
	err := sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", name).At(off)
	if qual != "" {
		err = sqlerr.New(sqlerr.UndefinedColumn, "column %s.%s does not exist", qual, name).At(off)
	}
	type match struct{ rel, col string }
	var near []match // at most two, all at the distance best
	best := maxFuzzy + 1
	exact := ""
	b.everyRel(func(r *rel) bool {
		penalty := 0
		if qual != "" {
			penalty = levenshtein(qual, r.alias)
		}
		if penalty > best {
			return true
		}
		if penalty == 0 && r.table != nil && !r.proposed && slices.Contains(systemCols, name) {
			exact = r.alias
			return false
		}
		for _, c := range r.names {
			if c.name == name && penalty == 0 {
				exact = r.alias
				return false
			}
			d := levenshtein(c.name, name)
			if c.name == "" || d > len(name)/2 {
				continue
			}
			d += penalty
			switch {
			case d < best:
				best, near = d, append(near[:0], match{r.alias, c.name})
			case d > best || d > maxFuzzy:
			case len(near) == 2:
				best, near = d-1, near[:0] // too many to choose from
			default:
				near = append(near, match{r.alias, c.name})
			}
		}
		return true
	})
	switch {
	case exact != "":
		err.WithHint("There is a column named \"%s\" in table \"%s\", but it cannot be referenced from this part of the query.", name, exact)
	case len(near) == 1:
		err.WithHint("Perhaps you meant to reference the column \"%s.%s\".", near[0].rel, near[0].col)
	case len(near) == 2:
		err.WithHint("Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".", near[0].rel, near[0].col, near[1].rel, near[1].col)
	}
	return err
}

// levenshtein is the number of characters to insert, delete or replace that
// makes b of a.
func levenshtein(a, b string) int {
	row := make([]int, utf8.RuneCountInString(b)+1)
	for j := range row {
		row[j] = j
	}
	i := 0
	for _, x := range a {
		i++
		diagonal := row[0]
		row[0] = i
		j := 0
		for _, y := range b {
			j++
			d := diagonal
			if x != y {
				d = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], d
		}
	}
	return row[len(row)-1]
}
