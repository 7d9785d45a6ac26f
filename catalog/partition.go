package catalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Partitions and inheritance. A child table knows its parents (Table.Parents, in
// the order of INHERITS) and, when it is a partition, its bound; a partitioned
// table knows its key. The snapshot has the way down, from a parent to its
// children. A partitioned table has no files: Space is no more than the name
// under which it is locked. Its indexes and constraints describe those that each
// partition gets of its own; a partition's part refers to the parent's by OID.
//
// Columns are found in a child by their names, because dropped columns and the
// order of creation may give them other positions there.

// PartKey is how a partitioned table tells its rows apart.
type PartKey struct {
	Strategy byte // PartRange, PartList or PartHash
	Keys     []PartKeyCol
}

// The strategies, by PostgreSQL's codes.
const (
	PartRange = 'r'
	PartList  = 'l'
	PartHash  = 'h'
)

// PartKeyCol is a column or an expression of a partition key.
type PartKeyCol struct {
	Col      int     // index into Table.Columns; -1 for an expression
	Expr     string  // SQL text of the expression
	ExprCols []int   // the columns that it reads
	Type     types.T // of the key
	Opclass  string  // "" for the type's default
	// Collation is what COLLATE named, where it is not that of the column or expression.
	Collation string
}

// PartBound tells which rows of its parent a partition holds.
type PartBound struct {
	Default            bool
	In                 []types.Datum // of a list
	From, To           []BoundValue  // of a range; From is in it, To is not
	Modulus, Remainder int           // of a hash
}

// BoundValue is a value of a range's bound.
type BoundValue struct {
	Inf int8 // -1 MINVALUE, 1 MAXVALUE, 0 Val
	Val types.Datum
}

// reads reports whether the key has a column, or an expression over it.
func (k *PartKey) reads(col int) bool {
	for i := range k.Keys {
		if k.Keys[i].Col == col || slices.Contains(k.Keys[i].ExprCols, col) {
			return true
		}
	}
	return false
}

// Partitioned reports whether the rows of the table are those of its partitions.
func (t *Table) Partitioned() bool { return t.Key != nil }

// Children returns the tables that have t as a parent, in the order of their OIDs.
func (s *Snapshot) Children(t types.OID) []*Table {
	var out []*Table
	for _, oid := range s.children.get(t) {
		if c := s.Table(oid); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// HasChildren reports whether any table has t as a parent.
func (s *Snapshot) HasChildren(t types.OID) bool { return len(s.children.get(t)) > 0 }

// Tree returns the table and all below it, each once, parents first.
func (s *Snapshot) Tree(t *Table) []*Table {
	out := []*Table{t}
	for i := 0; i < len(out); i++ {
		for _, c := range s.Children(out[i].OID) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// TreeSeen is Tree for a session with a schema of its own for temporary tables, "" for
// none: it does not see those of others.
func (s *Snapshot) TreeSeen(t *Table, temp string) []*Table {
	return slices.DeleteFunc(s.Tree(t), func(m *Table) bool { return m != t && IsTempSchema(m.Schema) && m.Schema != temp })
}

// Parent returns the partitioned table that a partition belongs to, or nil.
func (s *Snapshot) Parent(t *Table) *Table {
	if t.Bound == nil || len(t.Parents) == 0 {
		return nil
	}
	return s.Table(t.Parents[0])
}

// ColumnMap tells where the columns of a parent are in a child, by column number
// of the parent; -1 for dropped ones.
func ColumnMap(parent, child *Table) []int {
	out := make([]int, len(parent.Columns))
	for i := range parent.Columns {
		out[i] = -1
		if c := &parent.Columns[i]; !c.Dropped {
			if i < len(child.Columns) && !child.Columns[i].Dropped && child.Columns[i].Name == c.Name {
				out[i] = i
			} else {
				out[i] = child.Col(c.Name)
			}
		}
	}
	return out
}

// strategyNames are the strategies as SQL writes them.
var strategyNames = map[byte]string{PartRange: "RANGE", PartList: "LIST", PartHash: "HASH"}

// StrategyName is a strategy as SQL writes it.
func StrategyName(strategy byte) string { return strategyNames[strategy] }

// BoundText is a partition's bound as FOR VALUES has it.
func BoundText(b *PartBound, f *types.FmtOpts) string {
	switch {
	case b == nil:
		return ""
	case b.Default:
		return "DEFAULT"
	case b.Modulus > 0:
		return "FOR VALUES WITH (modulus " + strconv.Itoa(b.Modulus) + ", remainder " + strconv.Itoa(b.Remainder) + ")"
	case b.From != nil:
		return "FOR VALUES FROM " + RangeText(b.From, f) + " TO " + RangeText(b.To, f)
	}
	vals := make([]string, len(b.In))
	for i, d := range b.In {
		vals[i] = ConstText(d, f)
	}
	return "FOR VALUES IN (" + strings.Join(vals, ", ") + ")"
}

// RangeText is one end of a range.
func RangeText(vals []BoundValue, f *types.FmtOpts) string {
	out := make([]string, len(vals))
	for i, v := range vals {
		switch v.Inf {
		case -1:
			out[i] = "MINVALUE"
		case 1:
			out[i] = "MAXVALUE"
		default:
			out[i] = ConstText(v.Val, f)
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// ConstText is a value as a literal without a type.
func ConstText(d types.Datum, f *types.FmtOpts) string {
	if d.Null {
		return "NULL"
	}
	if f == nil {
		f = types.DefaultFmt
	}
	text := string(types.AppendText(nil, d, f))
	plain := false
	switch d.T.OID {
	case types.OBool:
		if d.I != 0 {
			return "true"
		}
		return "false"
	case types.OInt4:
		plain = d.I >= 0
	case types.ONumeric:
		plain = text[0] >= '0' && text[0] <= '9' && strings.ContainsAny(text, "eE.")
	}
	if plain {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// boundFits reports whether a bound has as many values, of the right types, as the
// key wants.
func (s *Snapshot) boundFits(k *PartKey, b *PartBound) bool {
	typed := func(i int, d types.Datum) bool { return d.T.OID == s.BaseType(k.Keys[i].Type).OID }
	end := func(list []BoundValue) bool {
		for i := range list {
			if list[i].Inf == 0 && (list[i].Val.Null || !typed(i, list[i].Val)) {
				return false
			}
		}
		return true
	}
	switch {
	case len(k.Keys) == 0:
		return false
	case b.Default:
		return k.Strategy != PartHash
	case k.Strategy == PartHash:
		return b.Modulus > 0 && b.Remainder >= 0 && b.Remainder < b.Modulus
	case k.Strategy == PartList:
		return len(b.In) > 0 && !slices.ContainsFunc(b.In, func(d types.Datum) bool { return !typed(0, d) })
	}
	return len(b.From) == len(k.Keys) && len(b.To) == len(k.Keys) && end(b.From) && end(b.To)
}

// validateParents checks C10.
func (s *Snapshot) validateParents(t *Table) error {
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.InvalidTableDefinition, format, args...)
	}
	for _, oid := range t.Parents {
		p := s.Table(oid)
		if p == nil || p.DB != t.DB {
			return bad("table \"%s\" inherits from a table that does not exist", t.Name)
		}
		if (p.Key != nil) != (t.Bound != nil) {
			return bad("table \"%s\" is no partition of \"%s\"", t.Name, p.Name)
		}
		if t.Bound != nil && !s.boundFits(p.Key, t.Bound) {
			return bad("the bound of partition \"%s\" does not suit the partition key of \"%s\"", t.Name, p.Name)
		}
		for i, at := range ColumnMap(p, t) {
			if c := &p.Columns[i]; !c.Dropped && at < 0 {
				return bad("child table is missing column \"%s\"", c.Name)
			} else if !c.Dropped && t.Columns[at].Type != c.Type {
				return bad("child table \"%s\" has different type for column \"%s\"", t.Name, c.Name)
			}
		}
	}
	if t.Bound != nil && len(t.Parents) != 1 {
		return bad("partition \"%s\" has no parent", t.Name)
	}
	if t.Cluster != nil && (len(t.Parents) > 0 || s.HasChildren(t.OID) || t.Key != nil) {
		return sqlerr.Unsupported(-1, "inheritance or partitions of the region-clustered table \"%s\"", t.Name)
	}
	if t.Key == nil {
		return nil
	}
	for _, k := range t.Key.Keys {
		if k.Col < 0 && k.Expr == "" || k.Col >= 0 && !liveColumn(t, k.Col) {
			return bad("the partition key of table \"%s\" names a column that does not exist", t.Name)
		}
	}
	if t.File != "" || len(t.Groups) > 0 {
		return bad("partitioned table \"%s\" has files", t.Name)
	}
	return nil
}
