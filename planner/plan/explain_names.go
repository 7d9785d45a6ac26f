package plan

import (
	"cmp"
	"strconv"
	"strings"

	"kvsqld/catalog"
)

// speller writes the expressions of a plan.
type speller struct{ spell DeparseOptions }

func (w speller) text(e Expr) string { return Deparse(e, w.spell) }

// optional is text, "" of nil.
func (w speller) optional(e Expr) string {
	if e == nil {
		return ""
	}
	return w.text(e)
}

func (w speller) texts(l []Expr) string {
	var out []string
	for _, e := range l {
		out = append(out, w.text(e))
	}
	return strings.Join(out, ", ")
}

func (w speller) sortTexts(keys []SortKey) string {
	var out []string
	for _, k := range keys {
		s := w.text(k.X)
		if k.Desc {
			s += " DESC"
		}
		if k.NullsFirst != k.Desc {
			s += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// outputs names the columns of a node; one without a name is told by what computes it.
func (w speller) outputs(n Node) []string {
	var out []string
	for i := range n.Base().Cols {
		out = append(out, w.column(n, i))
	}
	return out
}

// column is the name of a column of a node, or what computes it.
func (w speller) column(n Node, i int) string {
	if name := n.Base().Cols[i].Name; name != "" && name != "?column?" {
		return name
	}
	switch n := n.(type) {
	case *Project:
		return w.over(n.Input).text(n.Exprs[i])
	case *ProjectSet:
		return w.over(n.Input).text(n.Exprs[i])
	case *Group:
		if i < len(n.Keys) {
			return w.over(n.Input).text(n.Keys[i])
		}
	case *Sort, *Limit, *Filter, *Distinct, *LockRows, *Kept:
		if in := n.Children()[0]; i < len(in.Base().Cols) {
			return w.column(in, i)
		}
	}
	return "?column?"
}

// over is a speller for expressions over the columns of a node.
func (w speller) over(input Node) speller { return w.columns(false, input) }

// among is a speller for expressions over the columns of a join's inputs, one after the
// other: columns stand with the table that they are of.
func (w speller) among(inputs ...Node) speller { return w.columns(true, inputs...) }

func (w speller) columns(qualified bool, inputs ...Node) speller {
	own, other := w.spell, w.spell.Other
	own.Other = func(e Expr, part func(Expr, bool) string) (string, bool) {
		c, ok := e.(*Col)
		if !ok {
			if other != nil {
				return other(e, part)
			}
			return "", false
		}
		i := c.Idx
		for _, in := range inputs {
			n := len(in.Base().Cols)
			if i >= n {
				i -= n
				continue
			}
			if c.Name == "" || c.Name == "?column?" {
				return w.column(in, i), true
			}
			if of := origin(in, i); of != "" && qualified {
				return catalog.QuoteIdent(of) + "." + catalog.QuoteIdent(c.Name), true
			}
			break
		}
		return "", false
	}
	return speller{own}
}

// origin is what the query calls the table that a column of a node is of, "" for none.
func origin(n Node, i int) string {
	switch n := n.(type) {
	case *Scan:
		return cmp.Or(n.Alias, n.Table.Name)
	case *IndexUnion:
		return cmp.Or(n.Alias, n.Table.Name)
	case *VirtualScan:
		return cmp.Or(n.Alias, n.Rel.Name)
	case *Project:
		if c, ok := n.Exprs[i].(*Col); ok {
			return origin(n.Input, c.Idx)
		}
	case *Sort, *Limit, *Filter, *LockRows, *Kept:
		if in := n.Children()[0]; i < len(in.Base().Cols) {
			return origin(in, i)
		}
	case *LookupJoin:
		return originIn(i, n.Left, n.right())
	case *HashJoin, *MergeJoin, *LoopJoin, *Apply:
		return originIn(i, n.Children()...)
	}
	return ""
}

func originIn(i int, inputs ...Node) string {
	for _, in := range inputs {
		if n := len(in.Base().Cols); i < n {
			return origin(in, i)
		} else {
			i -= n
		}
	}
	return ""
}

// right stands for the rows that a join by lookups finds.
func (n *LookupJoin) right() Node {
	s := &Scan{Table: n.Table, Alias: n.Alias}
	for _, c := range n.Cols {
		name := ""
		if c >= 0 {
			name = n.Table.Columns[c].Name
		}
		s.Common.Cols = append(s.Common.Cols, OutCol{Name: name})
	}
	return s
}

// inputsOf is the speller for the expressions of a node.
func (w speller) inputsOf(n Node) speller {
	switch n := n.(type) {
	case *LookupJoin:
		return w.among(n.Left, n.right())
	case *HashJoin, *MergeJoin, *LoopJoin, *Apply:
		return w.among(n.Children()...)
	}
	if in := n.Children(); len(in) == 1 {
		return w.over(in[0])
	}
	return w
}

// subPlanName is what expressions call the plan of a subquery.
func subPlanName(s *SubPlan) string { return "SubPlan " + strconv.Itoa(s.Plan.Base().ID) }
