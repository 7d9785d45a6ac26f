package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// keyUses lists the tables that the statement's changes lead to by foreign keys,
// but for those that it writes itself.
func (p *planner) keyUses(out *plan.Query) []plan.TableUse {
	if !p.writes {
		return nil
	}
	k := p.Snap.KeyUses()
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if n == nil {
			return
		}
		switch n := n.(type) {
		case *plan.Insert:
			for _, t := range membersOf(n.Table, n.Tree) {
				k.Insert(t)
				if n.OnConflict != nil && n.OnConflict.DoUpdate {
					changeKeys(k, n.Table, t, n.OnConflict.SetCols)
				}
			}
		case *plan.Update:
			for _, t := range membersOf(n.Table, n.Tree) {
				changeKeys(k, n.Table, t, n.SetCols)
			}
		case *plan.Delete:
			for _, t := range membersOf(n.Table, n.Tree) {
				k.Delete(t)
			}
		case *plan.Merge:
			for _, t := range membersOf(n.Table, n.Tree) {
				for _, w := range n.Whens {
					switch w.Action {
					case plan.MergeInsert:
						k.Insert(t)
					case plan.MergeUpdate:
						changeKeys(k, n.Table, t, w.Cols)
					case plan.MergeDelete:
						k.Delete(t)
					}
				}
			}
		}
		for _, c := range n.Children() {
			walk(c)
		}
	}
	walk(out.Root)
	for _, c := range out.CTEs {
		walk(c.Plan)
	}
	var uses []plan.TableUse
	for _, u := range k.List {
		if !slices.ContainsFunc(out.Tables, func(x plan.TableUse) bool { return x.Table == u.Table && x.Write && !x.Late }) {
			uses = append(uses, plan.TableUse{Table: u.Table, Write: u.Write})
		}
	}
	return uses
}

// changeKeys follows an update of columns of named in t, which is named or below it.
// Rows that go from one partition to another are deleted here and inserted there.
func changeKeys(k *catalog.KeyUses, named, t *catalog.Table, cols []int) {
	if t == named {
		k.Update(t, cols)
		return
	}
	k.Update(t, nil) // the columns have other numbers
	if t.Bound != nil {
		k.Delete(t)
	}
}

// membersOf are the tables with the rows that a statement on t changes. An INSERT
// into a partitioned table may come to any partition.
func membersOf(t *catalog.Table, tree []*catalog.Table) []*catalog.Table {
	if tree == nil {
		return []*catalog.Table{t}
	}
	return tree
}
