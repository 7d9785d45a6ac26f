package catalog

import (
	"cmp"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// IndexSpec is what CREATE INDEX asks for.
type IndexSpec struct {
	Name    string // "" for a generated name
	Unique  bool
	Kind    string // "btree" or "inverted"; "" is btree
	Keys    []IndexKeySpec
	Include []string
	Where   string
	// ExprCols are the columns that the predicate and the expressions read.
	ExprCols         []string
	NullsNotDistinct bool
	Options          Options // of WITH
	File             string  // "" for a name made from the index's
	Comment          string
	Only             bool // of a partitioned table: its partitions get no part of it
}

// IndexKeySpec is a column or an expression of an index to be made.
type IndexKeySpec struct {
	Col  string // column name, or
	Expr string // SQL text
	// Name is what a generated index name calls an expression: the name of its
	// outermost function, "" for "expr"; of a column that LIKE copies an index of, what
	// the index calls it, "" for its name.
	Name       string
	Type       types.T // of an expression
	Desc       bool
	NullsFirst bool
	Opclass    string
	Collation  string // see IndexKey
}

// CreateIndex adds an index to a table or materialized view; filling it is the
// caller's business.
func (c *Change) CreateIndex(table types.OID, spec *IndexSpec) (*Index, error) {
	t := c.snap.storageTable(table, c.DB)
	if t == nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation with OID %d", table)
	}
	ix, err := c.newIndex(t, spec, "idx")
	if err != nil {
		return nil, err
	}
	if ix.Unique {
		if err := t.keyCovers(ix, "UNIQUE"); err != nil {
			return nil, err
		}
	}
	ix.ByLength = (ix.Kind == KindGist || ix.Kind == KindSpgist) && slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return types.KeptByLength(k.Type) })
	c.indexFile(t, ix, spec.File)
	mark := c.Mark()
	err = c.editStorage(table, func(t *Table) { t.Indexes = append(t.Indexes, ix) })
	if err == nil && t.Key != nil {
		err = c.settleIndex(table, ix.OID, spec.Only)
	}
	if err != nil {
		c.RollbackTo(mark)
		return nil, err
	}
	return ix, nil
}

// newIndex makes an index, which has no file yet; label ends the name that it gets
// when it has none.
func (c *Change) newIndex(t *Table, spec *IndexSpec, label string) (*Index, error) {
	ix := &Index{OID: c.alloc.AllocOID(), Unique: spec.Unique, Kind: spec.Kind, Where: spec.Where, NullsNotDistinct: spec.NullsNotDistinct, Comment: spec.Comment,
		Options: spec.Options}
	if ix.Kind == "" {
		ix.Kind = KindBtree
	}
	if ix.Kind != KindBtree {
		if err := plainSpec(spec); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, k := range spec.Keys {
		key := IndexKey{Col: -1, Expr: k.Expr, Name: k.Name, Type: k.Type, Desc: k.Desc, NullsFirst: k.NullsFirst, Opclass: k.Opclass, Collation: k.Collation}
		if k.Col != "" {
			i := t.Col(k.Col)
			if i < 0 {
				if slices.Contains(systemColumns, k.Col) {
					return nil, sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
				}
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", k.Col)
			}
			key.Col, key.Expr, key.Name, key.Type = i, "", "", t.Columns[i].Type
			names = addName(names, cmp.Or(k.Name, k.Col))
		} else {
			key.Name = ""
			names = addName(names, cmp.Or(k.Name, "expr"))
		}
		if k.Name != t.KeyName(&key) {
			key.Name = k.Name // it cannot be told from the rest
		}
		if method := keyMethods[ix.Kind]; method != 0 {
			var err error
			if key.Opclass == "" {
				err = c.hasOpclass(method, ix.Kind, key.Type)
			} else {
				key.Opclass, err = c.resolveOpclass(method, key.Opclass, key.Type)
			}
			if err != nil {
				return nil, err
			}
		}
		ix.Keys = append(ix.Keys, key)
	}
	for _, n := range spec.Include {
		i := t.Col(n)
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", n)
		}
		ix.Include = append(ix.Include, i)
		names = addName(names, n)
	}
	for _, n := range spec.ExprCols {
		i := t.Col(n)
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", n)
		}
		ix.ExprCols = append(ix.ExprCols, i)
	}
	ix.Name = spec.Name
	if ix.Name == "" {
		ix.Name = chooseName(t.Name, joinColumnNames(names), label, func(n string) bool {
			return c.relationTaken(t.Schema, n) || label != "idx" && c.constraintTaken(t.Schema, n)
		})
	} else if c.relationTaken(t.Schema, ix.Name) {
		return nil, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", ix.Name)
	}
	if ix.Kind == KindInverted || ix.Kind == KindGin {
		if err := c.invertedKeys(ix); err != nil {
			return nil, err
		}
	}
	return ix, nil
}

// plainSpec refuses what only a btree can be asked for.
func plainSpec(spec *IndexSpec) error {
	lacks := func(what string) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "access method \"%s\" does not support %s", spec.Kind, what)
	}
	switch {
	case spec.Unique:
		return lacks("unique indexes")
	case len(spec.Include) > 0 && spec.Kind != KindGist && spec.Kind != KindSpgist:
		return lacks("included columns")
	case (spec.Kind == KindHash || spec.Kind == KindSpgist) && len(spec.Keys) > 1:
		return lacks("multicolumn indexes")
	}
	for _, k := range spec.Keys {
		switch {
		case spec.Kind == KindInverted:
		case k.Desc:
			return lacks("ASC/DESC options")
		case k.NullsFirst:
			return lacks("NULLS FIRST/LAST options")
		}
	}
	return nil
}

// keyMethods are the access methods that ask for an operator class of each key,
// by the kinds of index.
var keyMethods = map[string]types.OID{KindBtree: OIDBtreeAm, KindHash: OIDHashAm, KindGist: OIDGistAm, KindSpgist: OIDSpgistAm, KindBrin: OIDBrinAm}

// invertedKeys checks the key columns of an inverted index: arrays and jsonb are
// indexed by elements, and then all columns are; gin has nothing else.
func (c *Change) invertedKeys(ix *Index) error {
	byElements := 0
	for _, k := range ix.Keys {
		kt := c.snap.BaseType(k.Type)
		et, elements := types.ElementKeyType(kt)
		if !elements && ix.Kind != KindGin {
			continue
		}
		if !elements || et.Kind() == types.KJSON {
			return c.noOpclass(k.Type, ix.Kind)
		}
		if et.User != types.KInvalid {
			if of, _ := c.snap.T(et.OID, -1); of.User != types.KEnum {
				return sqlerr.Unsupported(-1, "an index by elements of type %s", c.snap.FormatType(of, c.DB, c.Path))
			}
		}
		byElements++
	}
	if byElements > 0 && byElements < len(ix.Keys) {
		return sqlerr.Unsupported(-1, "an index by the elements of some of its columns")
	}
	return nil
}

// editStorage changes the table with the rows of a relation: the table itself,
// or the one inside a materialized view.
func (c *Change) editStorage(oid types.OID, change func(t *Table)) error {
	switch x := c.snap.objs.get(oid).(type) {
	case *Table:
		n := copyTable(x)
		change(n)
		return c.put(n)
	case *View:
		if x.Materialized != nil {
			v := *x
			v.Materialized = copyTable(x.Materialized)
			change(v.Materialized)
			return c.put(&v)
		}
	}
	return sqlerr.New(sqlerr.WrongObjectType, "relation with OID %d has no rows of its own", oid)
}

// EditIndex changes a copy of an index: its comment, options, validity.
func (c *Change) EditIndex(index types.OID, change func(ix *Index)) error {
	owner := c.snap.indexTable.get(index)
	return c.editStorage(owner, func(t *Table) {
		for i, ix := range t.Indexes {
			if ix.OID == index {
				n := *ix
				change(&n)
				t.Indexes[i] = &n
			}
		}
	})
}
