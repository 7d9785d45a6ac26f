package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// addForeignKey appends a foreign key to t, which may itself be the target.
func (c *Change) addForeignKey(t *Table, spec *ConstraintSpec) error {
	ref, err := c.fkTarget(t, spec)
	if err != nil {
		return err
	}
	cols, err := fkColumns(t, spec.Cols)
	if err != nil {
		return err
	}
	if len(cols) > MaxIndexColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "cannot have more than %d keys in a foreign key", MaxIndexColumns)
	}
	refCols := ref.PK
	if len(spec.RefCols) == 0 {
		if len(refCols) == 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table \"%s\"", ref.Name)
		}
	} else if refCols, err = fkColumns(ref, spec.RefCols); err != nil {
		return err
	}
	if len(cols) != len(refCols) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	ix, err := referencedIndex(ref, refCols)
	if err != nil {
		return err
	}
	del, err := fkColumns(t, spec.DelCols)
	if err != nil {
		return err
	}
	del = slices.Compact(slices.Sorted(slices.Values(del)))
	for _, d := range del {
		if !slices.Contains(cols, d) {
			return sqlerr.New(sqlerr.InvalidColumnReference,
				"column \"%s\" referenced in ON DELETE SET action must be part of foreign key", t.Columns[d].Name)
		}
	}
	name := spec.Name
	if name == "" {
		name = chooseName(t.Name, joinColumnNames(spec.Cols), "fkey", func(n string) bool {
			return c.constraintTaken(t.Schema, n) || slices.Contains(t.constraintNames(), n)
		})
	}
	for i := range cols {
		fk, pk := t.Columns[cols[i]], ref.Columns[refCols[i]]
		if !c.comparable(pk.Type, fk.Type) {
			return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint \"%s\" cannot be implemented", name).
				WithDetail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.",
					fk.Name, pk.Name, c.typeName(fk.Type), c.typeName(pk.Type))
		}
	}
	for _, i := range cols {
		if t.Columns[i].Generated {
			if a := spec.OnUpdate; a == 'c' || a == 'n' || a == 'd' {
				return sqlerr.New(sqlerr.SyntaxError, "invalid %s action for foreign key constraint containing generated column", "ON UPDATE")
			}
			if a := spec.OnDelete; a == 'n' || a == 'd' {
				return sqlerr.New(sqlerr.SyntaxError, "invalid %s action for foreign key constraint containing generated column", "ON DELETE")
			}
		}
	}
	fk := &ForeignKey{
		OID: c.alloc.AllocOID(), Name: name, Cols: cols, RefTable: ref.OID, RefCols: slices.Clone(refCols), RefIndex: ix.OID,
		OnDelete: orByte(spec.OnDelete, 'a'), OnUpdate: orByte(spec.OnUpdate, 'a'), Match: orByte(spec.Match, 's'), DelCols: del,
		Deferrable: spec.Deferrable, InitiallyDeferred: spec.InitiallyDeferred, NotValid: spec.NotValid,
	}
	c.addTargets(t, fk)
	t.ForeignKeys = append(t.ForeignKeys, fk)
	return nil
}

func orByte(b, otherwise byte) byte {
	if b == 0 {
		return otherwise
	}
	return b
}

// fkTarget finds the referenced table; t stands for itself, since its working
// copy is newer than the snapshot's.
func (c *Change) fkTarget(t *Table, spec *ConstraintSpec) (*Table, error) {
	rel := c.snap.Relation(c.DB, spec.RefSchema, spec.RefTable)
	ref, ok := rel.(*Table)
	switch {
	case rel == nil && spec.RefMissing != nil:
		return nil, spec.RefMissing
	case rel == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", spec.RefTable)
	case !ok:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation \"%s\" is not a table", spec.RefTable)
	case ref.OID == t.OID:
		return t, nil
	case ref.Temp && !t.Temp:
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on permanent tables may reference only permanent tables")
	case !ref.Temp && t.Temp:
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on temporary tables may reference only temporary tables")
	}
	return ref, nil
}

func fkColumns(t *Table, names []string) ([]int, error) {
	var out []int
	for _, n := range names {
		i := t.Col(n)
		if i < 0 && slices.Contains(systemColumns, n) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "system columns cannot be used in foreign keys")
		}
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" referenced in foreign key constraint does not exist", n)
		}
		out = append(out, i)
	}
	return out, nil
}

// referencedIndex finds the unique index behind the referenced columns, the
// primary key's first.
func referencedIndex(ref *Table, cols []int) (*Index, error) {
	for i, col := range cols {
		if slices.Contains(cols[:i], col) {
			return nil, sqlerr.New(sqlerr.InvalidForeignKey, "foreign key referenced-columns list must not contain duplicates")
		}
	}
	var found *Index
	for _, ix := range ref.Indexes {
		if !indexServesKey(ix, cols) {
			continue
		}
		for _, u := range ref.Uniques {
			if u.Index == ix.OID && u.Deferrable {
				return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite,
					"cannot use a deferrable unique constraint for referenced table \"%s\"", ref.Name)
			}
		}
		if found == nil || ix.Primary {
			found = ix
		}
	}
	if found == nil {
		return nil, sqlerr.New(sqlerr.InvalidForeignKey,
			"there is no unique constraint matching given keys for referenced table \"%s\"", ref.Name)
	}
	return found, nil
}

// comparable reports whether a foreign key column can be compared with the
// referenced one: an equality operator for the two types, or an implicit cast
// from the referencing to the referenced type.
func (c *Change) comparable(pk, fk types.T) bool {
	p, f := c.snap.BaseType(pk).OID, c.snap.BaseType(fk).OID
	if p == f {
		return true
	}
	for _, op := range OperatorsByName("=") {
		if op.Left == p && op.Right == f {
			return true
		}
	}
	cast := FindCast(f, p)
	return cast != nil && cast.Context == 'i'
}
