package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// partitionOf begins a partition: it has the columns and checks of its parent.
// It returns the checks.
func (b *tableBuilder) partitionOf(s *ast.CreateTable) ([]catalog.ConstraintSpec, error) {
	p, err := b.partitionedTable(s.PartitionOf)
	if err != nil {
		return nil, err
	}
	if err := b.lock(p, kv.AccessExclusive); err != nil {
		return nil, err
	}
	if err := b.owns(p); err != nil {
		return nil, err
	}
	if p.Temp != b.spec.Temp {
		kinds := [2]string{"permanent", "temporary"}
		if p.Temp {
			slices.Reverse(kinds[:])
		}
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot create a %s relation as partition of %s relation \"%s\"", kinds[1], kinds[0], p.Name)
	}
	b.spec.Parents, b.ofPartition = []types.OID{p.OID}, true
	for i := range p.Columns {
		if c := &p.Columns[i]; !c.Dropped {
			b.spec.Columns = append(b.spec.Columns, catalog.ColumnSpec{Column: inheritedColumn(c)})
		}
	}
	for i := range b.spec.Columns {
		// a partition's columns have other numbers when the parent has dropped some
		c := &b.spec.Columns[i]
		c.DefaultCols = slices.Clone(c.DefaultCols)
		for k, at := range c.DefaultCols {
			c.DefaultCols[k] = b.probe().Col(p.Columns[at].Name)
		}
	}
	if err := b.columnOptions(s); err != nil {
		return nil, err
	}
	var checks []catalog.ConstraintSpec
	for _, k := range p.Checks {
		if err := b.noWholeRow(p, k); err != nil {
			return nil, err
		}
		checks = append(checks, newInheritedCheck(p, k))
	}
	return checks, b.noWholeRows(p.Indexes)
}

// columnOptions adds the constraints of the definition to columns that come from
// elsewhere.
func (b *tableBuilder) columnOptions(s *ast.CreateTable) error {
	for i := range s.Columns {
		c := &s.Columns[i]
		at := b.probe().Col(c.Name)
		if at < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", c.Name)
		}
		if slices.ContainsFunc(s.Columns[:i], func(o ast.ColumnDef) bool { return o.Name == c.Name }) {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		if err := b.columnConstraints(at, c, false); err != nil {
			return err
		}
	}
	return nil
}

// partitionBound reads the bound of a new partition.
func (b *tableBuilder) partitionBound(s *ast.CreateTable) (err error) {
	b.spec.Bound, err = b.bound(b.snap().Table(b.spec.Parents[0]), s.Bound, b.spec.Name)
	return err
}

// partitionedTable finds the parent of a partition.
func (x *exec) partitionedTable(n *ast.Name) (*catalog.Table, error) {
	r, err := x.relation(n)
	if err != nil {
		return nil, withoutPosition(err)
	}
	if t, ok := r.(*catalog.Table); ok && t.Key != nil {
		return t, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "\"%s\" is not partitioned", n.Last())
}

// partitionKey reads PARTITION BY for the columns of the new table.
func (b *tableBuilder) partitionKey(k *ast.PartitionKey) error {
	key := &catalog.PartKey{}
	switch strings.ToLower(k.Strategy) {
	case "range":
		key.Strategy = catalog.PartRange
	case "list":
		key.Strategy = catalog.PartList
		if len(k.Elems) > 1 {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use \"list\" partition strategy with more than one column")
		}
	case "hash":
		key.Strategy = catalog.PartHash
	default:
		return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized partitioning strategy \"%s\"", k.Strategy)
	}
	if len(k.Elems) > catalog.MaxIndexColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "cannot partition using more than %d columns", catalog.MaxIndexColumns)
	}
	t := b.probe()
	for i := range k.Elems {
		c, err := b.keyColumn(i+1, &k.Elems[i], t)
		if err != nil {
			return err
		}
		if err := b.keyType(&k.Elems[i], key.Strategy, &c); err != nil {
			return err
		}
		key.Keys = append(key.Keys, c)
	}
	b.spec.Key = key
	return nil
}

// keyColumn reads a column or an expression of a partition key, the number-th part of it.
func (b *tableBuilder) keyColumn(number int, e *ast.IndexElem, t *catalog.Table) (catalog.PartKeyCol, error) {
	bad := func(format string, args ...any) (catalog.PartKeyCol, error) {
		return catalog.PartKeyCol{}, sqlerr.New(sqlerr.InvalidObjectDefinition, format, args...).At(e.Pos())
	}
	liftCollation(e)
	name := e.Col
	if r, ok := e.X.(*ast.ColumnRef); ok && len(r.Parts) == 1 && !r.Star {
		name = r.Parts[0] // a column in parentheses
	}
	if name != "" {
		switch name {
		case "tableoid", "ctid", "xmin", "xmax", "cmin", "cmax":
			if e.Col == "" {
				return catalog.PartKeyCol{}, sqlerr.New(sqlerr.InvalidObjectDefinition, "partition key expressions cannot contain system column references")
			}
			return bad("cannot use system column \"%s\" in partition key", name)
		}
		i := t.Col(name)
		if i < 0 && name == t.Name && e.Col == "" { // the whole row
			for _, c := range t.Columns {
				if c.Generated {
					return catalog.PartKeyCol{}, generatedKey(&c).At(e.Pos())
				}
			}
			return catalog.PartKeyCol{}, sqlerr.Unsupported(e.Pos(), "a partition key that reads the whole row")
		}
		if i < 0 {
			return catalog.PartKeyCol{}, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in partition key does not exist", name).At(e.Pos())
		}
		return b.wholeColumn(i, e, t)
	}
	x, err := planner.StoredExpr(b.Planner(), e.X, t, types.T{}, "partition key expressions")
	if err != nil {
		return catalog.PartKeyCol{}, withoutPosition(err)
	}
	if _, ok := x.Expr.(*plan.Col); ok && x.Cols[0] >= 0 { // a column that is cast to its own type
		return b.wholeColumn(x.Cols[0], e, t)
	}
	if pseudo := pseudoType(e.X, x.Expr.Type()); pseudo != "" {
		return catalog.PartKeyCol{}, sqlerr.New(sqlerr.InvalidTableDefinition, "partition key column %d has pseudo-type %s", number, pseudo)
	}
	for _, c := range x.Cols {
		if c >= 0 && t.Columns[c].Generated {
			return catalog.PartKeyCol{}, generatedKey(&t.Columns[c]).At(e.Pos())
		}
	}
	if volatileBelow(x.Expr, 'i') {
		return catalog.PartKeyCol{}, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in partition key expression must be marked IMMUTABLE")
	}
	if x.Whole { // a new value of any column may move the row
		x.Cols = nil
		for i := range t.Columns {
			if !t.Columns[i].Dropped {
				x.Cols = append(x.Cols, i)
			}
		}
	}
	if _, constant := x.Expr.(*plan.Const); constant || len(x.Cols) == 0 { // a function's body may leave nothing of its arguments
		return catalog.PartKeyCol{}, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use constant expression as partition key")
	}
	k := catalog.PartKeyCol{Col: -1, Expr: x.Text, ExprCols: x.Cols, Type: x.Expr.Type()}
	k.Collation, err = b.keyCollation(e.Collate, k.Type, x.Collation)
	return k, err
}

// wholeColumn is a part of a partition key that is a column, that of number i.
func (b *tableBuilder) wholeColumn(i int, e *ast.IndexElem, t *catalog.Table) (catalog.PartKeyCol, error) {
	if t.Columns[i].Generated {
		return catalog.PartKeyCol{}, generatedKey(&t.Columns[i]).At(e.Pos())
	}
	k := catalog.PartKeyCol{Col: i, Type: t.Columns[i].Type}
	var err error
	k.Collation, err = b.keyCollation(e.Collate, k.Type, t.Columns[i].Collation)
	return k, err
}

// generatedKey refuses a partition key that reads a generated column.
func generatedKey(c *catalog.Column) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column in partition key").
		WithDetail("Column \"%s\" is a generated column.", c.Name)
}

// pseudoType is the name of the type of an expression that no column can have, "" for
// others: an untyped literal has unknown.
func pseudoType(x ast.Expr, t types.T) string {
	if c, ok := x.(*ast.Const); ok && (c.Kind == ast.ConstString || c.Kind == ast.ConstNull) {
		return "unknown"
	}
	if t.OID == types.OUnknown || t.OID == types.ORecord {
		return types.FormatType(t)
	}
	return ""
}

// keyType checks that values of the key can be told apart as the strategy does.
func (b *tableBuilder) keyType(e *ast.IndexElem, strategy byte, c *catalog.PartKeyCol) error {
	base := b.snap().BaseType(c.Type)
	am := "btree"
	ok := false
	switch base.Kind() {
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KFloat4, types.KFloat8, types.KNumeric, types.KText,
		types.KBytea, types.KDate, types.KTime, types.KTimetz, types.KTimestamp, types.KTimestamptz, types.KInterval, types.KUUID,
		types.KEnum, types.KInet, types.KMacaddr, types.KBit, types.KJSONB, types.KCitext, types.KMoney:
		ok = true
	case types.KArray, types.KRange, types.KMultirange:
		// the values of a user-defined type may change inside of a bound
		if ok = base.OID < types.FirstUserOID && base.Elem < types.FirstUserOID; !ok {
			return sqlerr.Unsupported(e.Pos(), "a partition key of type %s", b.typeName(c.Type))
		}
	case types.KJSON, types.KGeometry:
	default:
		return sqlerr.Unsupported(e.Pos(), "a partition key of type %s", b.typeName(c.Type))
	}
	if strategy == catalog.PartHash {
		am = "hash"
		if base.Kind() == types.KMoney {
			ok = false // there is no hash of it in PostgreSQL
		}
		if ok && !partition.Hashable(base) {
			return sqlerr.Unsupported(e.Pos(), "hash partitions by values of type %s", b.typeName(c.Type))
		}
	}
	if base.Kind() == types.KOid { // xid has equality alone
		ok = b.snap().DefaultOpclass(opclassMethods[am], base) != nil
	}
	if !ok && e.Opclass == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"%s\"", b.typeName(c.Type), am).
			WithHint("You must specify a %s operator class or define a default %s operator class for the data type.", am, am)
	}
	if e.Opclass != nil {
		var err error
		c.Opclass, err = b.keyOpclass(e.Opclass, am, base)
		return err
	}
	return nil
}

// keyOpclass checks the operator class of a key column; the type's default one is
// "". The classes of patterns order texts as collation C does, and those of the
// default one's family as that does.
func (x *exec) keyOpclass(n *ast.Name, am string, t types.T) (string, error) {
	class, err := x.opclass(n, am)
	if err != nil {
		return "", err
	}
	if !x.snap().OpclassAccepts(class, t) {
		return "", sqlerr.New(sqlerr.DatatypeMismatch, "operator class \"%s\" does not accept data type %s", n.Last(), x.typeName(t))
	}
	d := x.snap().DefaultOpclass(class.Method, t)
	switch {
	case d != nil && d.OID == class.OID:
		return "", nil
	case !strings.HasSuffix(class.Name, "_pattern_ops") && (d == nil || d.Family != class.Family):
		return "", sqlerr.Unsupported(n.Pos(), "operator class \"%s\" in a partition key", class.Name)
	}
	return class.Name, nil
}

// bound reads the bound of a partition and checks it against those that are there.
func (x *exec) bound(p *catalog.Table, b *ast.PartitionBound, name string) (*catalog.PartBound, error) {
	out, at, err := x.readBound(p, b)
	if err != nil {
		return nil, err
	}
	return out, partition.Of(x.snap(), p).Fits(name, out, at)
}

// readBound reads the bound of a partition; at tells where in the statement each of
// its values stands, -1 being the whole.
func (x *exec) readBound(p *catalog.Table, b *ast.PartitionBound) (out *catalog.PartBound, at func(i int) int, err error) {
	out = &catalog.PartBound{Default: b.Default}
	at = func(int) int { return b.Pos() }
	wrong := func(kind string) error {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "invalid bound specification for a %s partition", kind).At(b.Pos())
	}
	switch {
	case b.Default:
		if p.Key.Strategy == catalog.PartHash {
			return nil, nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a hash-partitioned table may not have a default partition")
		}
	case p.Key.Strategy == catalog.PartHash:
		if !b.Hash {
			return nil, nil, wrong("hash")
		}
		if b.Modulus <= 0 {
			return nil, nil, sqlerr.New(sqlerr.InvalidTableDefinition, "modulus for hash partition must be an integer value greater than zero")
		}
		if b.Remainder >= b.Modulus {
			return nil, nil, sqlerr.New(sqlerr.InvalidTableDefinition, "remainder for hash partition must be less than modulus")
		}
		out.Modulus, out.Remainder = b.Modulus, b.Remainder
	case p.Key.Strategy == catalog.PartList:
		if b.In == nil {
			return nil, nil, wrong("list")
		}
		var places []int
		for _, e := range b.In {
			d, err := x.boundValue(p, 0, e)
			if err != nil {
				return nil, nil, err
			}
			if !slices.ContainsFunc(out.In, func(o types.Datum) bool { return types.Compare(o, d) == 0 }) {
				out.In = append(out.In, d)
				places = append(places, e.Pos())
			}
		}
		at = placeOf(b, places)
	default:
		if b.From == nil {
			return nil, nil, wrong("range")
		}
		for _, side := range []struct {
			name string
			list []ast.Expr
		}{{"FROM", b.From}, {"TO", b.To}} {
			if len(side.list) != len(p.Key.Keys) {
				return nil, nil, sqlerr.New(sqlerr.InvalidTableDefinition, "%s must specify exactly one value per partitioning column", side.name)
			}
		}
		if out.From, err = x.rangeBound(p, b.From); err != nil {
			return nil, nil, err
		}
		if out.To, err = x.rangeBound(p, b.To); err != nil {
			return nil, nil, err
		}
		var places []int
		for _, e := range append(slices.Clone(b.From), b.To...) {
			places = append(places, e.Pos())
		}
		at = placeOf(b, places)
	}
	return out, at, nil
}

func placeOf(b *ast.PartitionBound, places []int) func(i int) int {
	return func(i int) int {
		if i < 0 {
			return b.Pos()
		}
		return places[i]
	}
}

// rangeBound reads one end of a range.
func (x *exec) rangeBound(p *catalog.Table, list []ast.Expr) ([]catalog.BoundValue, error) {
	var out []catalog.BoundValue
	for i, e := range list {
		v := catalog.BoundValue{}
		if r, ok := e.(*ast.ColumnRef); ok && len(r.Parts) == 1 {
			switch r.Parts[0] {
			case "minvalue":
				v.Inf = -1
			case "maxvalue":
				v.Inf = 1
			}
		}
		if i > 0 && out[i-1].Inf != 0 && v.Inf != out[i-1].Inf {
			word := "MAXVALUE"
			if out[i-1].Inf < 0 {
				word = "MINVALUE"
			}
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "every bound following %s must also be %s", word, word).At(e.Pos())
		}
		if v.Inf == 0 {
			d, err := x.boundValue(p, i, e)
			if err != nil {
				return nil, err
			}
			if d.Null {
				return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot specify NULL in range bound")
			}
			v.Val = d
		}
		out = append(out, v)
	}
	return out, nil
}

// boundValue evaluates a value of a bound for key column i.
func (x *exec) boundValue(p *catalog.Table, i int, e ast.Expr) (types.Datum, error) {
	var bad error
	ast.Walk(e, func(n ast.Node) bool {
		if r, ok := n.(*ast.ColumnRef); ok && bad == nil {
			bad = sqlerr.New(sqlerr.FeatureNotSupported, "cannot use column reference in partition bound expression").At(r.Pos())
		}
		return bad == nil
	})
	if bad != nil {
		return types.Datum{}, bad
	}
	k := &p.Key.Keys[i]
	want := x.snap().BaseType(k.Type)
	v, err := x.toRun(e, nil, want, "partition bound")
	if err != nil {
		if se, ok := err.(*sqlerr.Error); ok && se.Code == sqlerr.DatatypeMismatch {
			name := k.Expr
			if k.Col >= 0 {
				name = p.Columns[k.Col].Name
			}
			return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "specified value cannot be cast to type %s for column \"%s\"", x.typeName(k.Type), name).At(e.Pos())
		}
		return types.Datum{}, err
	}
	d, err := x.evalConst(v)
	d.T = want
	return d, err
}
