package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// relation is the catalog's relation of an entry, or nil.
func (r *rel) relation() catalog.Relation {
	switch {
	case r.view != nil:
		return r.view
	case r.table != nil:
		return r.table
	case r.virt != nil:
		return r.virt
	case r.seq != nil:
		return r.seq
	}
	return nil
}

// relationOID is the OID of that relation, 0 for none.
func (r *rel) relationOID() types.OID {
	if of := r.relation(); of != nil {
		return of.ObjectOID()
	}
	return 0
}

// from takes an entry of FROM apart.
func (w *treeWriter) from(f ast.FromItem) catalog.FromTree {
	switch f := f.(type) {
	case *ast.Join:
		return w.join(f)
	case *ast.TableRef:
		out := w.table(f)
		if s := w.rec.froms[f].sample; s != nil {
			out.Sample = &catalog.SampleTree{Method: s.method, Percent: w.expr(s.percent, false)}
			if f.Tablesample.Seed != nil {
				seed := w.expr(s.seed, false)
				out.Sample.Seed = &seed
			}
		}
		return out
	case *ast.SubqueryRef:
		r := w.rec.froms[f]
		out := catalog.FromTree{Alias: w.refs[r.id], Lateral: f.Lateral, Query: w.query(w.rec.bound[f.Query], f.Query, nil, true)}
		names, aliased := w.columnNames(r)
		if aliased || len(f.Cols) > 0 {
			out.Cols = names
		}
		if f.Alias == valuesName && f.Query.Values != nil && slices.Contains(w.made, valuesName) {
			out.Query, out.Values = nil, out.Query.Values // named when the text was stored
			*w.given = append(*w.given, valuesName)
		}
		return out
	case *ast.FuncRef:
		return w.functions(f)
	}
	giveUp("this FROM")
	return catalog.FromTree{}
}

func (w *treeWriter) join(j *ast.Join) catalog.FromTree {
	l, r := w.from(j.L), w.from(j.R)
	out := catalog.FromTree{L: &l, R: &r, Using: w.using[j], UseAs: j.UsingAlias}
	on := w.rec.on[j]
	switch j.Kind {
	case "INNER", "CROSS":
		if out.Kind = "JOIN"; len(on) == 0 && len(out.Using) == 0 {
			out.Kind = "CROSS JOIN"
		}
	default:
		out.Kind = j.Kind + " JOIN"
	}
	if len(out.Using) == 0 && !j.Natural {
		out.On = w.cond(on)
	}
	if r := w.rec.joins[j]; r != nil {
		out.Alias, out.Cols = w.refs[r.id], w.joinNames(j)
	}
	return out
}

func (w *treeWriter) table(f *ast.TableRef) catalog.FromTree {
	r := w.rec.froms[f]
	out := catalog.FromTree{Alias: w.refs[r.id], Only: f.Only}
	names, aliased := w.columnNames(r)
	if rel := w.now(r); rel != nil {
		out.Schema, out.Table = rel.RelName()
		if aliased {
			out.Cols = names
		}
	} else {
		out.Table = f.Name.Last()
		if aliased || len(f.Cols) > 0 {
			out.Cols = names
		}
	}
	if (f.Alias == "" || slices.Contains(w.made, f.Alias)) && out.Cols == nil && out.Alias == out.Table {
		out.Alias = ""
	}
	return out
}

// functions takes a table function, or several side by side, apart.
func (w *treeWriter) functions(f *ast.FuncRef) catalog.FromTree {
	r := w.rec.froms[f]
	out := catalog.FromTree{Alias: w.refs[r.id], Lateral: f.Lateral, Ordinality: f.Ordinality}
	defined := len(f.Cols) > 0 && f.Cols[0].Type != nil
	unnest, col := true, 0
	for i, x := range r.funcs {
		t := catalog.FuncTree{Call: w.expr(x, true)}
		if len(f.Calls) == len(r.funcs) {
			if _, cast := f.Calls[i].X.(*ast.Cast); cast {
				t.Cast = w.typeText(x.Type())
			}
		}
		c, ok := x.(*plan.Call)
		unnest = unnest && ok && c.Proc.Name == "unnest" && len(c.Args) == 1
		if defined || i < len(f.Calls) && len(f.Calls[i].Cols) > 0 {
			unnest = false
			for k := col; k < col+r.fcols[i]; k++ {
				t.Defs = append(t.Defs, catalog.QuoteIdent(r.cols[k].Name)+" "+w.typeText(r.cols[k].T))
			}
		}
		col += r.fcols[i]
		if unnest {
			t.Arg = w.expr(c.Args[0], true)
		}
		out.Funcs = append(out.Funcs, t)
	}
	out.Unnest = unnest && len(r.funcs) > 1
	out.RowsFrom = len(r.funcs) > 1 || len(out.Funcs[0].Defs) > 0 && f.Ordinality
	if defined && !out.RowsFrom {
		return out
	}
	names, _ := w.columnNames(r)
	col = 0
	for i, x := range r.funcs {
		out.Cols = append(out.Cols, w.rowNames(x, names[col:col+r.fcols[i]])...)
		col += r.fcols[i]
	}
	out.Cols = append(out.Cols, names[col:]...)
	return out
}

// rowNames are the names of the columns of a function that had names when the query
// was bound: a relation whose rows it returns may have got or lost some since.
func (w *treeWriter) rowNames(f plan.Expr, names []string) []string {
	in := w.Snap.TypeInfo(f.Type().OID)
	if in == nil || in.RelID == 0 {
		return names
	}
	was, now := w.Snap.RelationByOID(w.DB, in.RelID), w.names.RelationByOID(w.DB, in.RelID)
	if was == nil || now == nil {
		return names
	}
	var out []string
	k := 0
	for i, c := range now.RelColumns() {
		had := i < len(was.RelColumns()) && !was.RelColumns()[i].Dropped && k < len(names)
		switch {
		case c.Dropped:
		case had:
			out = append(out, names[k])
		default:
			out = append(out, c.Name)
		}
		if had {
			k++
		}
	}
	return out
}

// typeText names a type with its schema unless it is built in.
func (w *treeWriter) typeText(t types.T) string {
	return w.names.FormatType(t, w.DB, []string{catalog.SchemaPgCatalog})
}
