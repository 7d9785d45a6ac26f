package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Exclusion constraints: their operators, and the operator classes that the
// extension btree_gist gives to the access method gist.

// gistMembers are the operators of the classes of btree_gist.
var gistMembers = []string{"<", "<=", "=", ">=", ">", "<>"}

// btreeGist are the classes of btree_gist, whose families have the same names.
// PostgreSQL numbers them when the extension is made.
var btreeGist = func() (out []Opclass) {
	for i, c := range []struct {
		name string
		in   types.OID
	}{
		{"gist_oid_ops", types.OOid}, {"gist_int2_ops", types.OInt2}, {"gist_int4_ops", types.OInt4}, {"gist_int8_ops", types.OInt8},
		{"gist_float4_ops", types.OFloat4}, {"gist_float8_ops", types.OFloat8}, {"gist_timestamp_ops", types.OTimestamp},
		{"gist_timestamptz_ops", types.OTimestamptz}, {"gist_time_ops", types.OTime}, {"gist_timetz_ops", types.OTimetz},
		{"gist_date_ops", types.ODate}, {"gist_interval_ops", types.OInterval}, {"gist_macaddr_ops", types.OMacaddr},
		{"gist_macaddr8_ops", types.OMacaddr8}, {"gist_text_ops", types.OText}, {"gist_bpchar_ops", types.OBpchar},
		{"gist_bytea_ops", types.OBytea}, {"gist_numeric_ops", types.ONumeric}, {"gist_bit_ops", types.OBit}, {"gist_vbit_ops", types.OVarbit},
		{"gist_inet_ops", types.OInet}, {"gist_cidr_ops", types.OCidr}, {"gist_uuid_ops", types.OUUID}, {"gist_bool_ops", types.OBool},
		{"gist_enum_ops", types.OAnyenum},
	} {
		o := types.OID(15000 + 2*i)
		out = append(out, Opclass{OID: o, Method: OIDGistAm, Name: c.name, Family: o + 1, InType: c.in, Default: true})
	}
	return out
}()

// ExtensionOpclasses are the operator classes that the database's extensions add.
func (s *Snapshot) ExtensionOpclasses(db types.OID) []Opclass {
	var out []Opclass
	if s.Extension(db, "btree_gist") != nil {
		out = btreeGist
	}
	for _, c := range typeOpclasses() {
		if s.ExtensionSchema(db, types.Lookup(c.InType).Extension) != "" {
			out = append(slices.Clip(out), c)
		}
	}
	return out
}

// OpclassExtension is the name of the extension that an operator class of
// ExtensionOpclasses comes with.
func OpclassExtension(c *Opclass) string {
	if in := types.Lookup(c.InType); in != nil && in.Extension != "" {
		return in.Extension
	}
	return "btree_gist"
}

// KeyOpclass is the operator class that an index key of type t has: that of the given
// name or, for "", the default one; nil when there is none.
func (s *Snapshot) KeyOpclass(db, method types.OID, t types.T, name string) *Opclass {
	if name == "" {
		if c := s.DefaultOpclass(method, t); c != nil {
			return c
		}
	} else if c := FindOpclass(method, 0, name); c != nil {
		return c
	}
	own := s.ExtensionOpclasses(db)
	for i := range own {
		c := &own[i]
		if c.Method == method && (name == c.Name || name == "" && (c.InType == s.BaseType(t).OID || c.InType == s.opclassType(t))) {
			return c
		}
	}
	return nil
}

// exclusionOperator finds the operator by which an EXCLUDE constraint compares keys of
// a type, of which the operator class must know it.
func (c *Change) exclusionOperator(t types.T, name string, class *Opclass) (*Operator, error) {
	base := c.snap.BaseType(t).OID
	var op *Operator
	for _, in := range []types.OID{base, c.snap.opclassType(t)} {
		for _, o := range OperatorsByName(name) {
			if op == nil && o.Kind == 'b' && o.Left == in && o.Right == in {
				op = o
			}
		}
	}
	typ := c.typeName(types.Of(t.OID))
	if op == nil {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", typ, name, typ).
			WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
	}
	text := op.Name + "(" + c.typeName(types.Of(op.Left)) + "," + c.typeName(types.Of(op.Right)) + ")"
	if op.Com != op.OID {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "operator %s is not commutative", text).
			WithDetail("Only commutative operators can be used in exclusion constraints.")
	}
	member := slices.ContainsFunc(Amops(), func(a Amop) bool { return a.Family == class.Family && a.Operator == op.OID && a.Purpose == 's' })
	for _, x := range btreeGist {
		member = member || x.OID == class.OID && slices.Contains(gistMembers, name)
	}
	if !member {
		family := class.Name
		for _, f := range Opfamilies() {
			if f.OID == class.Family {
				family = f.Name
			}
		}
		return nil, sqlerr.New(sqlerr.WrongObjectType, "operator %s is not a member of operator family \"%s\"", text, family).
			WithDetail("The exclusion operator must be related to the index operator class for the constraint.")
	}
	return op, nil
}

// ExclusionOperators are the operators of an EXCLUDE constraint.
func (s *Snapshot) ExclusionOperators(t *Table, u *Unique) []types.OID {
	ix := t.IndexByOID(u.Index)
	if ix == nil {
		return nil
	}
	out := make([]types.OID, len(u.Exclude))
	for i, name := range u.Exclude {
		k := ix.Keys[i].Type
		for _, in := range []types.OID{s.BaseType(k).OID, s.opclassType(k)} {
			for _, o := range OperatorsByName(name) {
				if out[i] == 0 && o.Kind == 'b' && o.Left == in && o.Right == in {
					out[i] = o.OID
				}
			}
		}
	}
	return out
}

// addExclusion adds an EXCLUDE constraint with its index.
func (c *Change) addExclusion(t *Table, spec *ConstraintSpec) error {
	if t.Key != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "exclusion constraints are not supported on partitioned tables")
	}
	index := *spec.Index
	index.Name = spec.Name
	switch index.Kind {
	case KindInverted, KindGin, KindBrin:
		return sqlerr.New(sqlerr.FeatureNotSupported, "access method \"%s\" does not support exclusion constraints", index.Kind)
	}
	if spec.Name != "" && slices.Contains(t.constraintNames(), spec.Name) && !c.relationTaken(t.Schema, spec.Name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", spec.Name, t.Name)
	}
	ix, err := c.newIndex(t, &index, "excl")
	if err != nil {
		return err
	}
	u := &Unique{OID: c.alloc.AllocOID(), Name: ix.Name, Index: ix.OID, Exclude: spec.Exclude,
		Deferrable: spec.Deferrable, InitiallyDeferred: spec.InitiallyDeferred}
	for i := range ix.Keys {
		k := &ix.Keys[i]
		class := c.snap.KeyOpclass(c.DB, keyMethods[ix.Kind], k.Type, k.Opclass)
		if class == nil {
			return c.noOpclass(k.Type, ix.Kind)
		}
		if _, err := c.exclusionOperator(k.Type, spec.Exclude[i], class); err != nil {
			return err
		}
		if k.Col >= 0 {
			u.Cols = append(u.Cols, k.Col)
		}
	}
	ix.Constraint = u.OID
	c.indexFile(t, ix, spec.IndexFile)
	t.Indexes = append(t.Indexes, ix)
	t.Uniques = append(t.Uniques, u)
	return nil
}

// exclusionsOf adds the constraints and indexes whose keys have operator classes of an
// extension.
func (c *Change) exclusionsOf(e *Extension, add func(bool, node)) {
	if e.Name != "btree_gist" {
		return
	}
	for _, t := range objectsOf(c.snap, func(t *Table) bool { return t.DB == e.DB }) {
		for _, ix := range t.Indexes {
			if ix.Kind != KindGist || !slices.ContainsFunc(ix.Keys, func(k IndexKey) bool {
				class := c.snap.KeyOpclass(e.DB, OIDGistAm, k.Type, k.Opclass)
				return class != nil && slices.ContainsFunc(btreeGist, func(b Opclass) bool { return b.OID == class.OID })
			}) {
				continue
			}
			if ix.Constraint != 0 {
				add(false, node{kind: nodeConstraint, oid: ix.Constraint, table: t.OID})
			} else {
				add(false, node{kind: nodeIndex, oid: ix.OID, table: t.OID})
			}
		}
	}
}
