package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
)

func (d *side) view(name string) *catalog.View {
	v, _ := d.rels[name].(*catalog.View)
	if v != nil && v.Temp {
		return nil
	}
	return v
}

// viewText is the statement that makes a view.
func (d *side) viewText(v *catalog.View) string {
	s, with := "CREATE VIEW ", v.Options
	if v.Materialized != nil {
		s, with = "CREATE MATERIALIZED VIEW ", v.Materialized.Options
		if len(with) == 0 {
			with = v.Options
		}
	}
	cols := make([]string, len(v.Columns))
	for i := range v.Columns {
		cols[i] = v.Columns[i].Name
	}
	s += relName(v) + " (" + quote(cols) + ")"
	if len(with) > 0 {
		s += " WITH (" + optionList(with.Map()) + ")"
	}
	def, _ := d.env.GetViewDef(v.OID, false, 0)
	s += " AS\n" + strings.TrimSuffix(def, ";")
	if v.CheckOption != "" {
		s += "\n WITH " + strings.ToUpper(v.CheckOption) + " CHECK OPTION"
	}
	return s
}

// columnTypes are the types of a view's columns, which follow from the relations.
func (d *side) columnTypes(v *catalog.View) string {
	var b strings.Builder
	for i := range v.Columns {
		b.WriteString(d.typ(v.Columns[i].Type) + ", ")
	}
	return b.String()
}

// viewsToDrop finds the views that are gone or changed, and those that read
// something that goes or changes.
func (d *differ) viewsToDrop() {
	for again := true; again; {
		again = false
		for _, n := range sortedKeys(d.a.rels) {
			v := d.a.view(n)
			if v == nil || d.again[n] != nil {
				continue
			}
			to := d.b.view(n)
			if to == nil || d.a.viewText(v) != d.b.viewText(to) || d.a.columnTypes(v) != d.b.columnTypes(to) || d.readsChanged(v) || d.viewCalls(v) {
				d.again[n] = v
				again = true
			}
		}
		again = d.remakeReaders() || again
	}
}

// readsChanged reports whether a view reads a relation that is dropped, or a
// column that does not stay as it is.
func (d *differ) readsChanged(v *catalog.View) bool {
	for _, oid := range v.Deps {
		r := d.a.snap.RelationByOID(d.a.db, oid)
		if r == nil {
			continue
		}
		n := relName(r)
		if d.again[n] != nil {
			return true
		}
		switch r := r.(type) {
		case *catalog.Table:
			c := d.change(n)
			if c == nil {
				return true
			}
			if len(c.moved)+len(c.remade)+len(c.retyped)+len(c.gone) == 0 {
				continue
			}
			named := false
			for _, ref := range v.ColDeps {
				if ref.Rel == oid {
					named = true
					if ref.Col >= 0 && c.touched(r.Columns[ref.Col].Name) {
						return true
					}
				}
			}
			if !named {
				return true
			}
		case *catalog.Sequence:
			if d.b.sequence(n) == nil {
				return true
			}
		}
	}
	return false
}

func viewKind(v *catalog.View) string {
	if v.Materialized != nil {
		return "MATERIALIZED VIEW"
	}
	return "VIEW"
}

// dropViews drops views, those that read others first.
func (d *differ) dropViews() {
	for _, n := range sortedKeys(d.again) {
		d.dropView(n)
	}
}

// dropView drops a view, behind the views and routines that need it.
func (d *differ) dropView(n string) {
	if d.dropped["VIEW"+n] {
		return
	}
	d.dropped["VIEW"+n] = true
	for _, other := range sortedKeys(d.again) {
		if slices.Contains(d.again[other].Deps, d.again[n].OID) {
			d.dropView(other)
		}
	}
	for _, name := range sortedKeys(d.oldRoutines) {
		if r := d.oldRoutines[name]; d.goesEarly(r) && r.Standard && strings.Contains(r.Body, n) {
			d.dropRoutine(r)
		}
	}
	d.add("DROP ", viewKind(d.again[n]), " ", n)
}

// makeViews makes views, those that others read first.
func (d *differ) makeViews() {
	done := map[string]bool{}
	var make func(n string)
	make = func(n string) {
		v := d.b.view(n)
		if v == nil || done[n] {
			return
		}
		done[n] = true
		for _, oid := range v.Deps {
			if r := d.b.snap.RelationByOID(d.b.db, oid); r != nil {
				make(relName(r))
			}
		}
		old := d.a.view(n)
		if old == nil || d.again[n] != nil {
			d.add(d.b.viewText(v))
			old = &catalog.View{}
		}
		d.owner(viewKind(v), n, old.Owner, v.Owner)
		if v.Materialized == nil {
			return
		}
		for _, p := range d.b.parts(v.Materialized) {
			if old.Materialized != nil {
				if same := find(d.a.parts(old.Materialized), &p); same != nil && same.def == p.def {
					d.partComment(v.Materialized, &p, same)
					continue
				}
			}
			d.makePart(v.Materialized, &p)
		}
	}
	for _, n := range sortedKeys(d.b.rels) {
		make(n)
	}
}

// comments are those of tables, views and their columns.
func (d *differ) comments() {
	for _, n := range sortedKeys(d.b.rels) {
		var kind, old, text string
		oldCols := map[string]string{}
		switch r := d.b.rels[n].(type) {
		case *catalog.Table:
			if kind, text = "TABLE", r.Comment; r.Temp {
				continue
			}
			if c := d.change(n); c != nil {
				old = c.old.Comment
				for _, x := range live(c.old) {
					if !c.moved[x.Name] && !c.remade[x.Name] {
						oldCols[x.Name] = x.Comment
					}
				}
			}
		case *catalog.View:
			if kind, text = viewKind(r), r.Comment; r.Temp {
				continue
			}
			if v := d.a.view(n); v != nil && d.again[n] == nil {
				old = v.Comment
				for i := range v.Columns {
					oldCols[v.Columns[i].Name] = v.Columns[i].Comment
				}
			}
		default:
			continue
		}
		d.comment(kind, n, old, text)
		cols := d.b.rels[n].RelColumns()
		for i := range cols {
			if x := &cols[i]; !x.Dropped {
				d.comment("COLUMN", n+"."+catalog.QuoteIdent(x.Name), oldCols[x.Name], x.Comment)
			}
		}
	}
}
