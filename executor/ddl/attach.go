package ddl

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/storage/kv"
)

// partitionAction is ALTER TABLE … ATTACH and DETACH PARTITION.
func (x *exec) partitionAction(r catalog.Relation, a *ast.AlterAction) error {
	p, ok := r.(*catalog.Table)
	if !ok {
		return notFor(a, r)
	}
	if p.Key == nil {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "table \"%s\" is not partitioned", p.Name)
	}
	if a.Kind == "DETACH PARTITION" {
		return x.detach(p, a)
	}
	return x.attach(p, a)
}

// notFor is the error of an action on a relation of a kind that it is not made for.
func notFor(a *ast.AlterAction, r catalog.Relation) error {
	_, name := r.RelName()
	return actionFails(a, name, relationKind(r)+"s")
}

func actionFails(a *ast.AlterAction, name, kind string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "ALTER action %s cannot be performed on relation \"%s\"", actionName(a.Kind), name).
		WithDetail("This operation is not supported for %s.", kind)
}

func (x *exec) attach(p *catalog.Table, a *ast.AlterAction) error {
	bound, at, err := x.readBound(p, a.Bound)
	if err != nil {
		return err
	}
	r, err := x.relation(a.Other)
	if err != nil {
		if ix := x.findIndex(a.Other); ix != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
		}
		return withoutPosition(err)
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return notFor(a, r)
	}
	if err := x.owns(t); err != nil {
		return err
	}
	for _, m := range x.snap().Tree(t) {
		if err := x.lock(m, kv.AccessExclusive); err != nil {
			return err
		}
	}
	if err := x.Change.MayAttach(p, t); err != nil {
		return err
	}
	if err := partition.Of(x.snap(), p).Fits(t.Name, bound, at); err != nil {
		return err
	}
	if err := x.noWholeRows(p.Indexes); err != nil {
		return err
	}
	if err := x.Change.AttachPartition(p.OID, t.OID, bound); err != nil {
		return err
	}
	x.after = append(x.after, func() error { return x.fillsBound(t.OID) })
	if err := x.leavesDefault(t.OID); err != nil {
		return err
	}
	x.checkNewKeys(t)
	return nil
}

// checkNewKeys has the rows of a table that became a partition checked against the
// foreign keys that it got from its parent.
func (x *exec) checkNewKeys(t *catalog.Table) {
	for _, was := range x.snap().Tree(t) {
		old := x.before.Table(was.OID)
		now := x.snap().Table(was.OID)
		if now.Key != nil {
			continue
		}
		for _, fk := range now.ForeignKeys {
			if fk.NotValid || old != nil && hasConstraint(old, fk.Name) {
				continue
			}
			x.after = append(x.after, func() error { return x.validate(now.OID, fk.Name) })
		}
	}
}

// fillsBound checks that the rows of a new partition satisfy its bound and those of
// the tables above it.
func (x *exec) fillsBound(oid types.OID) error {
	t := x.snap().Table(oid)
	for _, leaf := range x.leaves(t) {
		for c := t; ; {
			p := x.snap().Parent(c)
			if p == nil {
				break
			}
			bad, err := x.misplaced(p, c, leaf)
			if err != nil {
				return err
			}
			if bad {
				e := sqlerr.New(sqlerr.CheckViolation, "partition constraint of relation \"%s\" is violated by some row", leaf.Name)
				e.Schema, e.Table = leaf.Schema, leaf.Name
				return e
			}
			c = p
		}
	}
	return nil
}

// leaves returns the tables with the rows of a table.
func (x *exec) leaves(t *catalog.Table) []*catalog.Table {
	if set := partition.Of(x.snap(), t); set != nil {
		return set.Leaves()
	}
	return []*catalog.Table{t}
}

// leavesDefault checks that no row of the default partition belongs into a new
// partition beside it.
func (x *exec) leavesDefault(oid types.OID) error {
	p := x.snap().Parent(x.snap().Table(oid))
	set := partition.Of(x.snap(), p)
	if set.Def < 0 || set.Parts[set.Def].Table.OID == oid {
		return nil
	}
	def := set.Parts[set.Def].Table
	x.after = append(x.after, func() error {
		for _, leaf := range x.leaves(def) {
			if err := x.lock(leaf, kv.AccessExclusive); err != nil {
				return err
			}
			bad, err := x.misplaced(p, def, leaf)
			if err != nil {
				return err
			}
			if bad {
				e := sqlerr.New(sqlerr.CheckViolation, "updated partition constraint for default partition \"%s\" would be violated by some row", leaf.Name)
				e.Schema, e.Table = leaf.Schema, leaf.Name
				return e
			}
		}
		return nil
	})
	return nil
}

// misplaced reports whether a leaf below a partition has a row that belongs
// elsewhere among the partitions of the parent.
func (x *exec) misplaced(p, t, leaf *catalog.Table) (bool, error) {
	set := partition.Of(x.snap(), p)
	keys := make([]string, len(p.Key.Keys))
	for i := range p.Key.Keys {
		k := &p.Key.Keys[i]
		keys[i] = k.Expr
		if k.Col >= 0 {
			keys[i] = ast.QuoteIdent(p.Columns[k.Col].Name)
		}
	}
	bad := false
	key := make([]types.Datum, len(keys))
	err := x.query("SELECT "+strings.Join(keys, ", ")+" FROM ONLY "+qualified(leaf), func(b vecBatch) bool {
		for i := range b.Rows() {
			for k := range key {
				key[k] = b.Cols[k].Get(b.Row(i))
			}
			if at := set.Find(key); at < 0 || set.Parts[at].Table.OID != t.OID {
				bad = true
			}
		}
		return !bad
	})
	return bad, err
}

func (x *exec) detach(p *catalog.Table, a *ast.AlterAction) error {
	how := ""
	if len(a.Options) > 0 {
		how = a.Options[0].Name
	}
	if how == "concurrently" {
		if set := partition.Of(x.snap(), p); set.Def >= 0 {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot detach partitions concurrently when a default partition exists")
		}
	}
	r, err := x.relation(a.Other)
	if err != nil {
		return withoutPosition(err)
	}
	t, ok := r.(*catalog.Table)
	if !ok || x.snap().Parent(t) != p {
		_, name := r.RelName()
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" is not a partition of relation \"%s\"", name, p.Name)
	}
	if how == "finalize" {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot complete detaching partition \"%s\"", t.Name).
			WithDetail("There's no pending concurrent detach.")
	}
	if err := x.owns(t); err != nil {
		return err
	}
	if err := x.lock(t, kv.AccessExclusive); err != nil {
		return err
	}
	if err := x.unreferenced(t); err != nil {
		return err
	}
	if how == "concurrently" && p.Key.Strategy != catalog.PartHash { // that of a hash names the parent, which may be dropped
		if err := x.keepBound(t); err != nil {
			return err
		}
	}
	return x.Change.DetachPartition(p.OID, t.OID)
}

// unreferenced checks that no row of a partition is referred to through the table
// that it leaves.
func (x *exec) unreferenced(t *catalog.Table) error {
	for _, ref := range x.snap().Referencing(x.db(), t.OID) {
		if ref.Named == t.OID || ref.FK.Parent != 0 {
			continue
		}
		if err := x.hold(ref.Table, kv.Share); err != nil {
			return err
		}
		var cols, sel, on []string
		for i, c := range ref.FK.Cols {
			name := ref.Table.Columns[c].Name
			cols = append(cols, name)
			sel = append(sel, "c."+ast.QuoteIdent(name))
			on = append(on, "c."+ast.QuoteIdent(name)+" = p."+ast.QuoteIdent(t.Columns[ref.FK.RefCols[i]].Name))
		}
		vals, err := x.firstTexts("SELECT "+strings.Join(sel, ", ")+" FROM "+keyRows(ref.Table)+" c WHERE EXISTS (SELECT 1 FROM "+
			qualified(t)+" p WHERE "+strings.Join(on, " AND ")+") LIMIT 1", len(sel))
		if err != nil {
			return err
		}
		if vals == nil {
			continue
		}
		e := sqlerr.New(sqlerr.ForeignKeyViolation, "removing partition \"%s\" violates foreign key constraint \"%s\"", t.Name, ref.FK.Name).
			WithDetail("Key (%s)=(%s) is still referenced from table \"%s\".", strings.Join(cols, ", "), strings.Join(vals, ", "), ref.Table.Name)
		e.Schema, e.Table, e.Constraint = ref.Table.Schema, ref.Table.Name, ref.FK.Name
		return e
	}
	return nil
}

// keepBound gives a partition that is detached concurrently a check in place of its
// bound: PostgreSQL does so for those that still plan with the partition. Here the
// partition is gone from its parent at once, but the check is seen afterwards.
func (x *exec) keepBound(t *catalog.Table) error {
	text := ""
	err := x.query("SELECT pg_get_partition_constraintdef("+strconv.FormatUint(uint64(t.OID), 10)+")", func(b vecBatch) bool {
		text = string(b.Cols[0].Get(b.Row(0)).B)
		return true
	})
	if err != nil || text == "" {
		return err
	}
	e, err := parser.ParseExpr(text)
	if err != nil {
		return err
	}
	spec := &catalog.ConstraintSpec{Kind: 'c'}
	if err := x.bindCheck(spec, e, t); err != nil {
		return err
	}
	if implied, err := planner.ImpliedByChecks(x.Planner(), t, spec.Expr); err != nil || implied {
		return err
	}
	_, err = x.Change.AddConstraint(t.OID, spec)
	return err
}

// attachIndex is ALTER INDEX … ATTACH PARTITION.
func (x *exec) attachIndex(ix *catalog.Index, a *ast.AlterAction) error {
	p := x.snap().TableOfIndex(x.db(), ix.OID)
	if p == nil || p.Key == nil {
		return actionFails(a, ix.Name, "indexes")
	}
	own := x.findIndex(a.Other)
	if own == nil {
		if r := x.lookup(a.Other); r != nil {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "\"%s\" is not an index", a.Other.Last())
		}
		return x.noRelation(a.Other)
	}
	if err := x.ownsIndex(own); err != nil {
		return err
	}
	// The parent's index may become valid with it.
	if err := x.lock(p, kv.AccessShare); err != nil {
		return err
	}
	if t := x.snap().TableOfIndex(x.db(), own.OID); t != nil {
		if err := x.lock(t, kv.AccessShare); err != nil {
			return err
		}
	}
	return x.Change.AttachIndex(ix.OID, own.OID)
}
