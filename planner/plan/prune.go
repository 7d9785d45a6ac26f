package plan

import (
	"strings"

	"kvsqld/catalog/partition"
)

// Prune leaves out, when the node starts, the inputs whose partitions cannot have
// rows that satisfy Cond: parameters are known by then.
type Prune struct {
	Set  *partition.Set
	Cond *PruneCond
	// Leaf is, for each input, the partition's number among the leaves of Set.
	Leaf []int
}

// PruneCond is a partition.Cond whose values are expressions. The value of an In
// is an array.
type PruneCond struct {
	Op   partition.Op
	Col  int
	X    Expr
	List []PruneCond
}

func (c *PruneCond) exprs(f func(*Expr)) {
	if c.X != nil {
		f(&c.X)
	}
	for i := range c.List {
		c.List[i].exprs(f)
	}
}

// text shows the condition with the names of the partitioned table's columns.
func (c *PruneCond) text(s *partition.Set, w speller) string {
	col := ""
	if c.Op != partition.And && c.Op != partition.Or {
		col = s.Table.Columns[c.Col].Name
	}
	switch c.Op {
	case partition.And, partition.Or:
		word := " AND "
		if c.Op == partition.Or {
			word = " OR "
		}
		var parts []string
		for i := range c.List {
			parts = append(parts, c.List[i].text(s, w))
		}
		return "(" + strings.Join(parts, word) + ")"
	case partition.IsNull:
		return col + " IS NULL"
	case partition.NotNull:
		return col + " IS NOT NULL"
	case partition.In:
		return col + " = ANY (" + w.text(c.X) + ")"
	}
	return col + map[partition.Op]string{partition.Eq: " = ", partition.Lt: " < ", partition.Le: " <= ", partition.Gt: " > ",
		partition.Ge: " >= "}[c.Op] + w.text(c.X)
}
