package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// likeAll are what INCLUDING ALL names.
var likeAll = []string{"DEFAULTS", "CONSTRAINTS", "INDEXES", "IDENTITY", "GENERATED", "COMMENTS", "STORAGE", "COMPRESSION", "STATISTICS"}

// likeSource finds what LIKE names: the columns of a table, view or composite type;
// t is nil unless it is a table.
func (b *tableBuilder) likeSource(n *ast.Name) (cols []catalog.Column, t *catalog.Table, err error) {
	unfit := func(what string) error {
		return sqlerr.New(sqlerr.WrongObjectType, "relation \"%s\" is invalid in LIKE clause", n.Last()).
			WithDetail("This operation is not supported for %s.", what).At(n.Pos())
	}
	switch r := b.lookup(n).(type) {
	case nil:
	case *catalog.Sequence:
		return nil, nil, unfit("sequences")
	case *catalog.Table:
		if err := b.needs(n, catalog.PrivSelect); err != nil {
			return nil, nil, err
		}
		return r.Columns, r, b.hold(r, kv.AccessShare)
	default:
		if _, virtual := r.(*catalog.Virtual); !virtual {
			err = b.needs(n, catalog.PrivSelect)
		}
		return r.RelColumns(), nil, err
	}
	if u := b.userType(n); u != nil && u.Kind == 'c' {
		return u.Columns, nil, nil
	}
	if _, ix := b.index(n); ix != nil {
		return nil, nil, unfit("indexes")
	}
	return nil, nil, b.noRelation(n).At(n.Pos())
}

// index finds an index by its name along the search path.
func (x *exec) index(n *ast.Name) (*catalog.Table, *catalog.Index) {
	paths := x.Planner().SearchPath
	if s := n.Schema(); s != "" {
		paths = []string{x.schemaNamed(s)}
	}
	for _, s := range paths {
		if t, ix := x.snap().IndexByName(x.db(), s, n.Last()); ix != nil {
			return t, ix
		}
	}
	return nil, nil
}

// like copies columns, and what INCLUDING names, from another relation.
// likeStatistics is a statistics object that LIKE copies, with its comment or without.
type likeStatistics struct {
	of      *catalog.ExtStats
	comment bool
}

func (b *tableBuilder) like(l *ast.Like) error {
	cols, t, err := b.likeSource(&l.Table)
	if err != nil {
		return err
	}
	in := map[string]bool{}
	for _, o := range l.Options {
		verb, what, _ := strings.Cut(o, " ")
		list := []string{what}
		if what == "ALL" {
			list = likeAll
		}
		for _, w := range list {
			in[w] = verb == "INCLUDING"
		}
	}
	for i := range cols {
		if c := &cols[i]; !c.Dropped {
			b.likeColumn(c, cols, in)
		}
	}
	if t == nil {
		return nil
	}
	names := func(cols []int) []string { return namesOf(t, cols) }
	if in["CONSTRAINTS"] {
		for _, k := range t.Checks {
			if err := b.noWholeRow(t, k); err != nil {
				return err
			}
			spec := catalog.ConstraintSpec{Kind: 'c', Name: k.Name, Expr: k.Expr, ExprCols: names(k.Cols), NoInherit: k.NoInherit}
			if in["COMMENTS"] {
				spec.Comment = k.Comment
			}
			b.spec.Constraints = append(b.spec.Constraints, spec)
		}
	}
	if in["STATISTICS"] {
		for _, e := range b.snap().ExtStatsOf(t.OID) {
			b.statistics = append(b.statistics, likeStatistics{e, in["COMMENTS"]})
		}
	}
	if !in["INDEXES"] {
		return nil
	}
	if err := b.noWholeRows(t.Indexes); err != nil {
		return err
	}
	for _, ix := range t.Indexes {
		if ix.Constraint != 0 {
			continue
		}
		spec := likeIndex(t, ix, names)
		if in["COMMENTS"] {
			spec.Comment = ix.Comment
		}
		b.indexes = append(b.indexes, spec)
	}
	for _, u := range t.Uniques {
		spec := catalog.ConstraintSpec{Kind: 'u', Copied: true, Cols: names(u.Cols), Deferrable: u.Deferrable, InitiallyDeferred: u.InitiallyDeferred}
		if u.Exclude != nil {
			spec.Kind, spec.Cols, spec.Exclude, spec.Index = 'x', nil, u.Exclude, likeIndex(t, t.IndexByOID(u.Index), names)
			b.spec.Constraints = append(b.spec.Constraints, spec)
			continue
		}
		if u.Primary {
			spec.Kind = 'p'
		}
		if ix := t.IndexByOID(u.Index); ix != nil {
			spec.Include, spec.NullsNotDistinct, spec.IndexOptions = names(ix.Include), ix.NullsNotDistinct, ix.Options
			if ix.Kind != catalog.KindBtree {
				spec.IndexKind = ix.Kind
			}
			if in["COMMENTS"] {
				spec.IndexComment = ix.Comment
			}
		}
		b.spec.Constraints, b.keys = append(b.spec.Constraints, spec), append(b.keys, nil)
	}
	return nil
}

// likeColumn adds a column like one of another relation's columns.
func (b *tableBuilder) likeColumn(c *catalog.Column, cols []catalog.Column, in map[string]bool) {
	spec := catalog.ColumnSpec{Column: catalog.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Collation: c.Collation}}
	if in["COMMENTS"] {
		spec.Comment = c.Comment
	}
	if in["STORAGE"] {
		spec.Storage = c.Storage
		if b.stored == nil {
			b.stored = map[string]bool{}
		}
		b.stored[c.Name] = true
	}
	if in["COMPRESSION"] {
		spec.Compression = c.Compression
	}
	switch {
	case c.Generated && in["GENERATED"]:
		spec.Generated, spec.Default, spec.DefaultDeps = true, c.Default, c.DefaultDeps
		for _, k := range c.DefaultCols {
			spec.DefaultReads = append(spec.DefaultReads, cols[k].Name)
		}
	case !c.Generated && in["DEFAULTS"]:
		spec.Default, spec.DefaultDeps = c.Default, c.DefaultDeps
		if c.Default != "" && c.Sequence != 0 && c.Identity == 0 {
			spec.DefaultDeps = append(slices.Clone(c.DefaultDeps), c.Sequence)
		}
	}
	if c.Identity != 0 && in["IDENTITY"] {
		spec.Identity = c.Identity
		spec.OwnSequence = b.likeSequence(c)
	}
	b.spec.Columns = append(b.spec.Columns, spec)
}

// likeSequence is a sequence with the options of another column's, and, as in PostgreSQL,
// of bigint whatever the column's type.
func (b *tableBuilder) likeSequence(c *catalog.Column) *catalog.SequenceSpec {
	spec := &catalog.SequenceSpec{Type: types.TInt8}
	if q, ok := b.snap().Object(c.Sequence).(*catalog.Sequence); ok {
		spec.Start, spec.Inc, spec.Min, spec.Max, spec.Cache, spec.Cycle = &q.Start, &q.Inc, &q.Min, &q.Max, &q.Cache, q.Cycle
	}
	return spec
}

// likeIndex is the specification of an index like another table's.
func likeIndex(t *catalog.Table, ix *catalog.Index, names func([]int) []string) *catalog.IndexSpec {
	spec := &catalog.IndexSpec{Unique: ix.Unique, Kind: ix.Kind, Include: names(ix.Include), NullsNotDistinct: ix.NullsNotDistinct,
		Where: ix.Where, ExprCols: names(ix.ExprCols), Options: ix.Options}
	for _, k := range ix.Keys {
		key := catalog.IndexKeySpec{Desc: k.Desc, NullsFirst: k.NullsFirst, Opclass: k.Opclass, Collation: k.Collation}
		if k.Col >= 0 {
			key.Col = t.Columns[k.Col].Name
		} else {
			key.Type, key.Expr = k.Type, k.Expr
		}
		key.Name = t.KeyName(&k)
		spec.Keys = append(spec.Keys, key)
	}
	return spec
}
