package pgcatalog

import (
	"fmt"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
)

// The condition that the rows of a partition satisfy, as an expression: that of its
// own bound behind those of the tables above it.

// GetPartitionConstraintDef is pg_get_partition_constraintdef; false when the
// relation is no partition, or holds whatever its parent may be given.
func (env *Env) GetPartitionConstraintDef(oid types.OID) (string, bool) {
	t := env.Snap.Table(oid)
	if t == nil || t.Bound == nil {
		return "", false
	}
	var list []string
	for p := env.Snap.Parent(t); p != nil; t, p = p, env.Snap.Parent(p) {
		q := &qualWriter{env: env, parent: p}
		list = append(q.bound(t.Bound), list...)
	}
	if list == nil {
		return "", false
	}
	return join(list, " AND "), true
}

// join combines conditions by AND or OR.
func join(list []string, word string) string {
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, word) + ")"
}

// qualWriter writes conditions on the key of one partitioned table.
type qualWriter struct {
	env    *Env
	parent *catalog.Table
}

// key is the text of a key column; operand is it as an operand of a comparison,
// which is made as text for character varying.
func (q *qualWriter) key(i int) string {
	k := &q.parent.Key.Keys[i]
	if k.Col >= 0 {
		return catalog.QuoteIdent(q.parent.Columns[k.Col].Name)
	}
	return q.env.exprText(k.Expr, false)
}

func (q *qualWriter) operand(i int) string {
	if q.env.Snap.BaseType(q.parent.Key.Keys[i].Type).OID == types.OVarchar {
		return "(" + q.key(i) + ")::text"
	}
	return q.key(i)
}

func (q *qualWriter) compare(i int, op string, d types.Datum) string {
	return "(" + q.operand(i) + " " + op + " " + q.value(d) + ")"
}

// value is a constant with its type.
func (q *qualWriter) value(d types.Datum) string {
	text := catalog.ConstText(d, q.env.Fmt)
	if text[0] != '\'' {
		return text
	}
	return text + "::" + q.env.FormatType(d.T.OID, d.T.Mod)
}

// bound returns the conditions of a partition's bound, none for one that holds all
// rows.
func (q *qualWriter) bound(b *catalog.PartBound) []string {
	switch q.parent.Key.Strategy {
	case catalog.PartHash:
		args := fmt.Sprintf("'%d'::oid, %d, %d", q.parent.OID, b.Modulus, b.Remainder)
		for i := range q.parent.Key.Keys {
			args += ", " + q.key(i)
		}
		return []string{"satisfies_hash_partition(" + args + ")"}
	case catalog.PartList:
		return q.list(b)
	}
	if !b.Default {
		return append(q.notNull(), q.between(b)...)
	}
	var others []string
	for _, p := range partition.Of(q.env.Snap, q.parent).Parts {
		if o := p.Table.Bound; !o.Default {
			list := q.between(o)
			if list == nil {
				list = q.notNull()
			}
			others = append(others, join(list, " AND "))
		}
	}
	if others == nil {
		return nil
	}
	return []string{"(NOT " + join(append(q.notNull(), join(others, " OR ")), " AND ") + ")"}
}

func (q *qualWriter) notNull() []string {
	out := make([]string, len(q.parent.Key.Keys))
	for i := range out {
		out[i] = "(" + q.key(i) + " IS NOT NULL)"
	}
	return out
}

// list returns the conditions of a bound of a list; the default partition has what
// no other one lists.
func (q *qualWriter) list(b *catalog.PartBound) []string {
	vals := b.In
	if b.Default {
		set := partition.Of(q.env.Snap, q.parent)
		if vals = set.Values(); vals == nil {
			return nil
		}
	}
	null := false
	var texts []string
	for _, d := range vals {
		if d.Null {
			null = true
		} else {
			texts = append(texts, q.value(d))
		}
	}
	in := ""
	switch len(texts) {
	case 0:
	case 1:
		in = "(" + q.operand(0) + " = " + texts[0] + ")"
	default:
		if q.parent.Key.Keys[0].Type.Kind() == types.KArray { // which ANY would take apart
			for i, t := range texts {
				texts[i] = "(" + q.operand(0) + " = " + t + ")"
			}
			in = join(texts, " OR ")
			break
		}
		in = "(" + q.operand(0) + " = ANY (ARRAY[" + strings.Join(texts, ", ") + "]))"
	}
	var out []string
	switch {
	case null && in != "":
		out = []string{"((" + q.key(0) + " IS NULL) OR " + in + ")"}
	case null:
		out = []string{"(" + q.key(0) + " IS NULL)"}
	default:
		out = q.notNull()
		if in != "" {
			out = append(out, in)
		}
	}
	if b.Default {
		return []string{"(NOT " + join(out, " AND ") + ")"}
	}
	return out
}

// between returns the conditions of a range. Columns in which both ends are equal
// are compared for equality; for the others
//
//	FROM (1, 2, 3)   a > 1 OR a = 1 AND b > 2 OR a = 1 AND b = 2 AND c >= 3
func (q *qualWriter) between(b *catalog.PartBound) []string {
	var out []string
	same := 0
	for same < len(b.From)-1 && b.From[same].Inf == 0 && b.To[same].Inf == 0 && types.Compare(b.From[same].Val, b.To[same].Val) == 0 {
		out = append(out, q.compare(same, "=", b.From[same].Val))
		same++
	}
	for _, arms := range [][]string{q.end(b.From, same, false), q.end(b.To, same, true)} {
		if arms != nil {
			out = append(out, join(arms, " OR "))
		}
	}
	return out
}

// end returns the alternatives for one end of a range from the first column on in
// which the two differ.
func (q *qualWriter) end(vals []catalog.BoundValue, first int, upper bool) []string {
	var arms []string
	for last := first; last < len(vals) && vals[last].Inf == 0; last++ {
		var arm []string
		for i := first; i < last; i++ {
			arm = append(arm, q.compare(i, "=", vals[i].Val))
		}
		op := ">"
		next := int8(0)
		if last+1 < len(vals) {
			next = vals[last+1].Inf
		}
		switch {
		case upper && next > 0:
			op = "<="
		case upper:
			op = "<"
		case last == len(vals)-1 || next < 0:
			op = ">="
		}
		arms = append(arms, join(append(arm, q.compare(last, op, vals[last].Val)), " AND "))
	}
	return arms
}
