package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// indexLock keeps writers out while an index is made.
const indexLock = kv.Share

func (x *exec) createIndex(s *ast.CreateIndex) error {
	r, err := x.relation(&s.Table)
	if err != nil {
		return withoutPosition(err)
	}
	var t *catalog.Table
	switch r := r.(type) {
	case *catalog.Table:
		t = r
	case *catalog.View:
		t = r.Materialized
	}
	if t == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation \"%s\"", s.Table.Last()).
			WithDetail("This operation is not supported for %ss.", relationKind(r))
	}
	if s.IfNotExists && s.Name != "" {
		if x.exists(t.Schema, s.Name, true) {
			return nil
		}
		if _, ix := x.snap().IndexByName(x.db(), t.Schema, s.Name); ix != nil {
			x.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", s.Name)
			return nil
		}
	}
	if err := knownTablespace(s.Tablespace); err != nil {
		return err
	}
	method, err := x.accessMethod(s.Method)
	if err != nil {
		return err
	}
	options, err := indexOptions(method, s.With)
	if err != nil {
		return err
	}
	lock := indexLock
	if s.Concurrently && x.Unfilled != nil {
		lock = kv.ShareUpdateExclusive
	}
	if err := x.lock(t, lock); err != nil {
		return err
	}
	if err := x.unused(t, "CREATE INDEX"); err != nil {
		return err
	}
	if t.Partitioned() {
		if s.Concurrently {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot create index on partitioned table \"%s\" concurrently", t.Name)
		}
		for _, p := range x.snap().Tree(t)[1:] {
			if s.Only {
				break
			}
			if err := x.lock(p, indexLock); err != nil {
				return err
			}
		}
	}
	spec := &catalog.IndexSpec{Only: s.Only, Name: s.Name, Kind: method, Unique: s.Unique, Include: s.Include, NullsNotDistinct: s.NullsNotDist, Options: options}
	if err := x.bindIndex(t, spec, s.Elems, s.Where); err != nil {
		return err
	}
	ix, err := x.Change.CreateIndex(t.OID, spec)
	if err != nil || lock == indexLock {
		return err
	}
	return x.fillLater(t, ix)
}

// bindIndex gives an index its keys and its predicate.
func (x *exec) bindIndex(t *catalog.Table, spec *catalog.IndexSpec, elems []ast.IndexElem, where ast.Expr) error {
	reads, whole := map[string]bool{}, false
	bind := func(e ast.Expr, want types.T, what string) (*planner.Stored, error) {
		if readsSystemColumn(e, t) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
		}
		b, err := planner.StoredExpr(x.Planner(), e, t, want, what)
		if err != nil {
			return nil, err
		}
		if volatileBelow(b.Expr, 'i') {
			return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in %s must be marked IMMUTABLE", strings.TrimSuffix(what, "s"))
		}
		return b, nil
	}
	read := func(b *planner.Stored) {
		whole = whole || b.Whole
		for _, c := range b.Cols {
			if c >= 0 {
				reads[t.Columns[c].Name] = true
			}
		}
	}
	for i := range elems {
		e := &elems[i]
		collated := liftCollation(e)
		k := catalog.IndexKeySpec{Col: e.Col, Desc: e.Desc, NullsFirst: e.Desc}
		if e.NullsFirst != nil {
			k.NullsFirst = *e.NullsFirst
		}
		var err error
		if e.Opclass != nil {
			class, err := x.opclass(e.Opclass, spec.Kind)
			if err != nil {
				return err
			}
			// Indexes by elements have keys of several types: their default is their kind's.
			if byElements := spec.Kind == catalog.KindGin || spec.Kind == catalog.KindInverted; !byElements || !class.Default {
				k.Opclass = class.Name
			}
		}
		if c, ok := e.X.(*ast.ColumnRef); ok && e.Col == "" && len(c.Parts) == 1 {
			k.Col = c.Parts[0] // a column in parentheses
		}
		var b *planner.Stored
		if k.Col == "" {
			if b, err = bind(e.X, types.T{}, "index expressions"); err != nil {
				return err
			}
			if _, ok := b.Expr.(*plan.Col); ok && b.Text == catalog.QuoteIdent(t.Columns[b.Cols[0]].Name) {
				k.Col = t.Columns[b.Cols[0]].Name // a column that is cast to its own type; a function that returns it stays one
			}
		}
		if at := t.Col(k.Col); at >= 0 {
			if k.Collation, err = x.keyCollation(e.Collate, t.Columns[at].Type, t.Columns[at].Collation); err != nil {
				return positioned(err, collated)
			}
		} else if k.Col == "" {
			read(b)
			k.Type, k.Expr = b.Expr.Type(), b.Text
			k.Name = planner.IndexColumnName(e.X)
			if b.Conflict && e.Collate == nil && collatable(x, k.Type) {
				return noCollation("could not determine which collation to use for index expression")
			}
			if k.Collation, err = x.keyCollation(e.Collate, k.Type, b.Collation); err != nil {
				return positioned(err, collated)
			}
		}
		spec.Keys = append(spec.Keys, k)
	}
	if where != nil {
		b, err := bind(where, types.TBool, "index predicates")
		if err != nil {
			return err
		}
		if !always(where) {
			read(b)
			spec.Where = b.Text
		}
	}
	for c := range reads {
		spec.ExprCols = append(spec.ExprCols, c)
	}
	if whole && t.Partitioned() && !spec.Only && len(x.snap().Children(t.OID)) > 0 {
		return wholeRowError()
	}
	return nil
}

// always reports whether a predicate is the constant true, with which an index is as
// without one.
func always(where ast.Expr) bool {
	k, ok := where.(*ast.Const)
	return ok && k.Kind == ast.ConstBool && strings.EqualFold(k.Val, "true")
}

// liftCollation makes the outermost COLLATE of a key's expression that of the key, as
// PostgreSQL does: (a COLLATE "C") is column a then. One beside the parentheses wins.
// It returns where the expression's is, -1 without one.
func liftCollation(e *ast.IndexElem) int {
	at := -1
	for {
		c, ok := e.X.(*ast.Collate)
		if !ok {
			return at
		}
		at = c.Pos()
		if e.X = c.X; e.Collate == nil {
			e.Collate = &c.Name
		}
	}
}

// accessMethod is the access method of a name, which is refused where indexes cannot have it.
func (x *exec) accessMethod(name string) (string, error) {
	if name == "rtree" {
		x.notice(sqlerr.SuccessfulCompletion, "substituting access method \"gist\" for obsolete method \"rtree\"")
		return catalog.KindGist, nil
	}
	if name == "" || catalog.IsIndexMethod(name) {
		return name, nil
	}
	return "", sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", name)
}

// opclassMethods are the access methods whose operator classes are used; inverted
// indexes have those of btree.
var opclassMethods = map[string]types.OID{catalog.KindBtree: catalog.OIDBtreeAm, catalog.KindInverted: catalog.OIDBtreeAm,
	catalog.KindGin: catalog.OIDGinAm, catalog.KindHash: catalog.OIDHashAm, catalog.KindGist: catalog.OIDGistAm, catalog.KindSpgist: catalog.OIDSpgistAm,
	catalog.KindBrin: catalog.OIDBrinAm}

// opclass finds an operator class.
func (x *exec) opclass(n *ast.Name, method string) (*catalog.Opclass, error) {
	if method == "" {
		method = catalog.KindBtree
	}
	am := opclassMethods[method]
	for _, o := range append(slices.Clip(catalog.Opclasses()), x.snap().ExtensionOpclasses(x.db())...) {
		if o.Name == n.Last() && o.Method == am {
			return &o, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "operator class \"%s\" does not exist for access method \"%s\"", n.Last(), method)
}

// volatileBelow reports whether an expression calls a function that keeps less
// than the promise: 'i' immutable, 's' stable. A conversion through the text form
// calls the output function of one type and the input function of the other.
func volatileBelow(e plan.Expr, promise byte) bool {
	found := false
	less := func(pr *catalog.Proc) {
		if pr != nil && pr.Volatile != 'i' && (promise == 'i' || pr.Volatile == 'v') {
			found = true
		}
	}
	plan.Visit(e, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.Call:
			less(y.Proc)
		case *plan.CoerceIO:
			if y.Literal {
				break // a value as soon as the expression is written down
			}
			from, to := types.Lookup(y.X.Type().OID), types.Lookup(y.T.OID)
			if from == nil || to == nil { // the functions of all types that users define look at the catalog
				found = found || promise == 'i'
				break
			}
			less(catalog.ProcByOID(from.Out))
			less(catalog.ProcByOID(to.In))
		case *plan.CoerceArray:
			found = found || volatileBelow(y.Elem, promise)
		case *plan.InList:
			less(y.Eq)
		case *plan.AnyArray:
			less(y.Proc)
		case *plan.IsDistinct:
			less(y.Eq)
		}
		return true
	})
	return found
}
