package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// tableParameters is ALTER TABLE … SET (…) and RESET (…). The parameters that say
// how a table is kept have the rows rewritten (see follow).
func (x *exec) tableParameters(t *catalog.Table, a *ast.AlterAction) error {
	reset := a.Kind == "RESET OPTIONS"
	if slices.ContainsFunc(a.Options, func(o ast.Option) bool { return clusterOption(o.Name) }) {
		if err := x.clusterParameters(t, a); err != nil {
			return err
		}
		var err error
		if t, err = x.table(t.OID); err != nil {
			return err
		}
	}
	spec := &catalog.TableSpec{Options: t.Options}
	if slices.ContainsFunc(a.Options, func(o ast.Option) bool { return layoutOption(o.Name) }) {
		x.excludeAtEnd(t)
	}
	layout, groups := t.Layout, [][]string(nil)
	changed := false
	if reset {
		for i := range a.Options {
			switch name := a.Options[i].Name; name {
			case "layout":
				layout, changed = catalog.LayoutRow, true
			case "groups":
				changed = true
			case "elements":
				spec.Elements = []string{}
			default:
				spec.Options = spec.Options.Without(name)
			}
		}
	} else {
		other := slices.DeleteFunc(slices.Clone(a.Options), func(o ast.Option) bool { return clusterOption(o.Name) })
		if err := x.tableOptions(spec, other); err != nil {
			return err
		}
		groups = spec.Groups
		if spec.Layout != "" {
			layout = spec.Layout
		}
		changed = slices.ContainsFunc(a.Options, func(o ast.Option) bool { return o.Name == "layout" || o.Name == "groups" })
	}
	if spec.Elements != nil {
		if _, err := x.Change.SetElements(t.OID, spec.Elements); err != nil {
			return err
		}
	}
	if changed {
		if _, err := x.Change.SetLayout(t.OID, layout, groups); err != nil {
			return err
		}
	}
	now, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
		t.Options = spec.Options
		return nil
	})
	if err != nil || x.level != kv.ShareUpdateExclusive || !x.copies(now) {
		return err
	}
	return x.moveRows(now)
}
