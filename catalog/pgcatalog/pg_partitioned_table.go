package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgPartitionedTable(w *writer) {
	env := w.env
	env.tables(func(oid types.OID, t *catalog.Table) {
		if t.Key == nil {
			return
		}
		def := types.OID(0)
		for _, c := range env.Snap.Children(oid) {
			if c.Bound != nil && c.Bound.Default {
				def = c.OID
			}
		}
		var keys []int
		var classes, colls []types.OID
		var exprs []string
		for i := range t.Key.Keys {
			k := &t.Key.Keys[i]
			keys = append(keys, k.Col+1)
			colls = append(colls, env.keyCollation(t, &catalog.IndexKey{Col: k.Col, Type: k.Type, Collation: k.Collation}))
			method := catalog.OIDBtreeAm
			if t.Key.Strategy == catalog.PartHash {
				method = catalog.OIDHashAm
			}
			var class types.OID
			if c := env.Snap.DefaultOpclass(method, k.Type); c != nil {
				class = c.OID
			}
			for _, o := range catalog.Opclasses() {
				if o.Name == k.Opclass && o.Method == catalog.OIDBtreeAm {
					class = o.OID
				}
			}
			classes = append(classes, class)
			if k.Col < 0 {
				exprs = append(exprs, k.Expr)
			}
		}
		w.oid(oid).chr(t.Key.Strategy).int(int64(len(keys))).oid(def)
		vector(w, keys)
		vector(w, classes)
		vector(w, colls)
		w.opt(strings.Join(exprs, ", ")).end()
	})
}

// GetPartKeyDef is pg_get_partkeydef; false when the table is not partitioned.
func (env *Env) GetPartKeyDef(oid types.OID) (string, bool) {
	t := env.Snap.Table(oid)
	if t == nil || t.Key == nil {
		return "", false
	}
	keys := make([]string, len(t.Key.Keys))
	for i := range t.Key.Keys {
		k := &t.Key.Keys[i]
		if keys[i] = env.indexExprText(k.Expr, false); k.Col >= 0 {
			keys[i] = catalog.QuoteIdent(t.Columns[k.Col].Name)
		}
		if k.Collation != "" {
			keys[i] += " COLLATE " + catalog.QuoteIdent(k.Collation)
		}
		if k.Opclass != "" {
			keys[i] += " " + catalog.QuoteIdent(k.Opclass)
		}
	}
	return catalog.StrategyName(t.Key.Strategy) + " (" + strings.Join(keys, ", ") + ")", true
}

// PartitionRow is a row of pg_partition_tree.
type PartitionRow struct {
	Rel, Parent types.OID // Parent is 0 at the top of the tree that was asked for
	Leaf        bool
	Level       int
}

// family returns the OIDs of the partitions below a table or an index, and of what
// it is a part of itself; ok is false for relations that are neither partitioned
// nor partitions.
func (env *Env) family(oid types.OID) (children []types.OID, parent types.OID, ok bool) {
	if t := env.Snap.Table(oid); t != nil {
		if t.Key != nil {
			for _, c := range env.Snap.Children(oid) {
				children = append(children, c.OID)
			}
		}
		if p := env.Snap.Parent(t); p != nil {
			parent = p.OID
		}
		return children, parent, t.Key != nil || t.Bound != nil
	}
	t, ix := env.Snap.IndexByOID(env.DB, oid)
	if ix == nil {
		return nil, 0, false
	}
	if t.Key != nil {
		for _, c := range env.Snap.Children(t.OID) {
			for _, own := range c.Indexes {
				if own.Parent == oid {
					children = append(children, own.OID)
				}
			}
		}
	}
	return children, ix.Parent, t.Key != nil || ix.Parent != 0
}

// PartitionTree is pg_partition_tree: the relation and all partitions below it,
// level by level.
func (env *Env) PartitionTree(oid types.OID) []PartitionRow {
	if _, _, ok := env.family(oid); !ok {
		return nil
	}
	out := []PartitionRow{{Rel: oid}}
	for i := 0; i < len(out); i++ {
		r := &out[i]
		children, _, _ := env.family(r.Rel)
		r.Leaf = !env.partitionedRelation(r.Rel)
		rel, level := r.Rel, r.Level
		for _, c := range children {
			out = append(out, PartitionRow{Rel: c, Parent: rel, Level: level + 1})
		}
	}
	for i := range out {
		if _, p, _ := env.family(out[i].Rel); i == 0 {
			out[i].Parent = p
		}
	}
	return out
}

func (env *Env) partitionedRelation(oid types.OID) bool {
	t := env.Snap.Table(oid)
	if t == nil {
		t, _ = env.Snap.IndexByOID(env.DB, oid)
	}
	return t != nil && t.Key != nil
}

// PartitionAncestors is pg_partition_ancestors: the relation, then what it is a
// partition of, up to the root. It is empty for what belongs to no tree.
func (env *Env) PartitionAncestors(oid types.OID) []types.OID {
	if _, _, ok := env.family(oid); !ok {
		return nil
	}
	var out []types.OID
	for oid != 0 {
		out = append(out, oid)
		_, oid, _ = env.family(oid)
	}
	return out
}
