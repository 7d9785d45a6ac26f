package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/storage/table"
)

// RenewTids writes tables anew, with their indexes, whose values of type tid are in the
// form of an older format. Nobody else is there.
func RenewTids(env *Env, tables []*catalog.Table) error {
	x := &exec{Env: env}
	var list []*catalog.Table
	done := map[types.OID]bool{}
	for _, t := range tables {
		root := t
		for root.Cluster != nil && !root.Cluster.Root() {
			root = x.snap().Table(root.Cluster.Parent)
		}
		// Those that are stored with it, the upper ones first: their row keys begin with its.
		if !done[root.OID] {
			done[root.OID] = true
			list = append(append(list, root), x.snap().ClusterBelow(root)...)
		}
	}
	old := x.Txn.Before()
	descs := make([]*table.Desc, len(list))
	for i, t := range list {
		d, err := x.Tables.For(t)
		if err != nil {
			return err
		}
		descs[i] = d
		empty := d.Truncate
		if t.Cluster != nil && !t.Cluster.Root() { // in the file of the root
			empty = d.ClearFiles
		}
		if err := empty(x.Txn); err != nil {
			return err
		}
	}
	for _, d := range descs {
		if err := x.copyRows(old, d, d, rewrite{renewTids: true}); err != nil {
			return err
		}
	}
	return nil
}
