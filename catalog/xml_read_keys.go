package catalog

import (
	"math"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// constraint reads a constraint's OID and name.
func (r *xmlReader) constraint(e *element) (types.OID, string) {
	name := r.str(e, "name")
	if r.ids {
		return r.oid(e, "oid"), name
	}
	return r.doc.alloc.AllocOID(), name
}

func (r *xmlReader) primaryKey(e *element, t *Table) {
	pk, err := e.child("primaryKey")
	r.check(err)
	if pk == nil {
		return
	}
	u := &Unique{Primary: true}
	u.OID, u.Name = r.constraint(pk)
	if u.Name == "" {
		u.Name = objectName(t.Name, "", "pkey")
	}
	u.Deferrable, u.InitiallyDeferred = r.flag(pk, "deferrable"), r.flag(pk, "initiallyDeferred")
	u.Comment = r.str(pk, "comment")
	u.Parent, u.Derived = r.partOf(pk, "parent"), r.flag(pk, "derived")
	ix := &Index{Unique: true, Primary: true, Kind: "btree", Name: r.str(pk, "indexName"), Comment: r.str(pk, "indexComment")}
	r.indexMarks(pk, ix)
	if k := r.str(pk, "indexType"); k != "" {
		ix.Kind = strings.ToLower(k)
	}
	if ix.Name == "" {
		ix.Name = u.Name
	}
	if r.ids {
		ix.OID = r.oid(pk, "index")
		ix.Parent, ix.Invalid = r.partOf(pk, "parentIndex"), r.flag(pk, "indexInvalid")
	} else {
		ix.OID = r.doc.alloc.AllocOID()
	}
	u.Index, ix.Constraint = ix.OID, u.OID
	if ix.File = r.str(pk, "fileName"); r.ids {
		ix.Space = SpaceID(r.num(pk, "space", 0, math.MaxInt64, 0))
	}
	t.PK = r.columnRefs(pk, "pkAttribute", t.Columns)
	if len(t.PK) == 0 {
		r.fail(pk, codeXML, "has no element \"pkAttribute\"")
	}
	u.Cols = append([]int(nil), t.PK...)
	ix.Include = r.columnList(pk, "includeAttribute", t.Columns)
	r.known(pk, "pkAttribute", "includeAttribute")
	if r.err != nil {
		return
	}
	for _, c := range t.PK {
		t.Columns[c].NotNull = true
		ix.Keys = append(ix.Keys, IndexKey{Col: c, Type: t.Columns[c].Type})
	}
	t.Indexes = append(t.Indexes, ix)
	t.Uniques = append(t.Uniques, u)
}

// uniqueKeys reads UNIQUE constraints; linkUniques finds their indexes.
func (r *xmlReader) uniqueKeys(e *element, t *Table) {
	for _, ue := range r.each(e, "uniqueKeys", "uniqueKey") {
		u := &Unique{}
		u.OID, u.Name = r.constraint(ue)
		u.Deferrable, u.InitiallyDeferred = r.flag(ue, "deferrable"), r.flag(ue, "initiallyDeferred")
		u.Comment = r.str(ue, "comment")
		u.Parent, u.Derived = r.partOf(ue, "parent"), r.flag(ue, "derived")
		u.Cols = r.columnRefs(ue, "ukAttribute", t.Columns)
		if len(u.Cols) == 0 {
			r.fail(ue, codeXML, "has no element \"ukAttribute\"")
		}
		if r.ids {
			u.Index = r.oid(ue, "index")
		} else {
			// Kept for linkUniques.
			r.str(ue, "indexName")
		}
		r.known(ue, "ukAttribute")
		t.Uniques = append(t.Uniques, u)
	}
}

// linkUniques joins a document's UNIQUE constraints with their index files; a
// constraint without one gets one.
func (r *xmlReader) linkUniques(e *element, t *Table) {
	if r.ids || r.err != nil {
		return
	}
	at := 0
	if len(t.PK) > 0 {
		at = 1
	}
	for i, ue := range r.each(e, "uniqueKeys", "uniqueKey") {
		u := t.Uniques[at+i]
		want := r.str(ue, "indexName")
		var found *Index
		for _, ix := range t.Indexes {
			if ix.Primary || !ix.Unique || ix.Constraint != 0 || !indexServesKey(ix, u.Cols) {
				continue
			}
			if want == "" || ix.Name == want {
				found = ix
				break
			}
		}
		if found == nil && want != "" {
			r.fail(ue, sqlerr.UndefinedObject, "attribute \"indexName\": there is no unique index \"%s\" on these attributes", want)
			return
		}
		names := make([]string, len(u.Cols))
		for k, c := range u.Cols {
			names[k] = t.Columns[c].Name
		}
		if u.Name == "" && found != nil {
			u.Name = found.Name
		} else if u.Name == "" {
			u.Name = objectName(t.Name, joinColumnNames(names), "key")
		}
		if found == nil {
			found = &Index{OID: r.doc.alloc.AllocOID(), Name: u.Name, Space: r.doc.alloc.AllocSpace(), Unique: true, Kind: "btree",
				File: fileBase(t.Schema, u.Name) + ".ind"}
			for _, c := range u.Cols {
				found.Keys = append(found.Keys, IndexKey{Col: c, Type: t.Columns[c].Type})
			}
			t.Indexes = append(t.Indexes, found)
		}
		u.Index, found.Constraint = found.OID, u.OID
		u.Cols = found.KeyCols()
	}
}

// exclusions reads EXCLUDE constraints, whose indexes have been read.
func (r *xmlReader) exclusions(e *element, t *Table) {
	for _, xe := range r.each(e, "exclusions", "exclusion") {
		u := &Unique{}
		u.OID, u.Name = r.constraint(xe)
		u.Deferrable, u.InitiallyDeferred = r.flag(xe, "deferrable"), r.flag(xe, "initiallyDeferred")
		u.Comment = r.str(xe, "comment")
		name := r.need(xe, "indexName")
		u.Exclude = strings.Fields(r.need(xe, "operators"))
		r.known(xe)
		i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Name == name && !ix.Unique })
		if r.err != nil {
			return
		}
		if i < 0 || len(t.Indexes[i].Keys) != len(u.Exclude) {
			r.fail(xe, sqlerr.UndefinedObject, "attribute \"indexName\": there is no index \"%s\" with a key for each operator", name)
			return
		}
		ix := t.Indexes[i]
		if u.Name == "" {
			u.Name = ix.Name
		}
		for k, op := range u.Exclude {
			if len(OperatorsByName(op)) == 0 {
				r.fail(xe, sqlerr.UndefinedFunction, "attribute \"operators\": there is no operator %s", op)
				return
			}
			if c := ix.Keys[k].Col; c >= 0 {
				u.Cols = append(u.Cols, c)
			}
		}
		u.Index, ix.Constraint = ix.OID, u.OID
		t.Uniques = append(t.Uniques, u)
	}
}

// checks reads CHECK constraints; t is nil for a domain's.
func (r *xmlReader) checks(e *element, t *Table) []*Check {
	var out []*Check
	for _, ce := range r.each(e, "checks", "check") {
		k := &Check{}
		k.OID, k.Name = r.constraint(ce)
		k.Expr = r.need(ce, "expression")
		k.NotValid, k.NoInherit = r.flag(ce, "notValid"), r.flag(ce, "noInherit")
		k.Comment = r.str(ce, "comment")
		k.Inherited = r.inherited(ce)
		if t != nil {
			k.Cols = r.columnRefs(ce, "checkAttribute", t.Columns)
		}
		if k.Name == "" {
			r.fail(ce, codeXML, "attribute \"name\" is missing")
		}
		r.known(ce, "checkAttribute")
		out = append(out, k)
	}
	return out
}

func (r *xmlReader) foreignKeys(e *element, t *Table) {
	for _, fe := range r.each(e, "foreignKeys", "foreignKey") {
		fk := &ForeignKey{}
		fk.OID, fk.Name = r.constraint(fe)
		fk.OnDelete, fk.OnUpdate = r.char(fe, "onDelete", "arcnd", 'a'), r.char(fe, "onUpdate", "arcnd", 'a')
		fk.Match = r.char(fe, "match", "sf", 's')
		fk.Deferrable, fk.InitiallyDeferred = r.flag(fe, "deferrable"), r.flag(fe, "initiallyDeferred")
		fk.NotValid = r.flag(fe, "notValid")
		fk.Comment = r.str(fe, "comment")
		fk.Parent = r.partOf(fe, "parent")
		if r.ids {
			fk.Unchecked, fk.Unwatched = r.flag(fe, "unchecked"), r.flag(fe, "unwatched")
		}
		fk.Cols = r.columnList(fe, "fkAttribute", t.Columns)
		fk.DelCols = r.columnList(fe, "deleteAttribute", t.Columns)
		if len(fk.Cols) == 0 {
			r.fail(fe, codeXML, "has no element \"fkAttribute\"")
		}
		refs, err := fe.child("references")
		r.check(err)
		if refs == nil {
			r.fail(fe, codeXML, "has no element \"references\"")
			return
		}
		r.references(refs, fk)
		r.targets(fe, fk)
		r.known(fe, "fkAttribute", "deleteAttribute", "references", "target")
		if r.err != nil {
			return
		}
		if fk.Name == "" {
			names := make([]string, len(fk.Cols))
			for i, c := range fk.Cols {
				names[i] = t.Columns[c].Name
			}
			fk.Name = chooseName(t.Name, joinColumnNames(names), "fkey", func(n string) bool {
				for _, other := range t.constraintNames() {
					if other == n {
						return true
					}
				}
				return false
			})
		}
		t.ForeignKeys = append(t.ForeignKeys, fk)
	}
}

// references reads the target of a foreign key. In documents the index behind
// it is found when all tables are read.
func (r *xmlReader) references(e *element, fk *ForeignKey) {
	te, err := e.child("refTable")
	r.check(err)
	if te == nil {
		r.fail(e, codeXML, "has no element \"refTable\"")
		return
	}
	var cols []Column
	if r.ids {
		fk.RefTable, fk.RefIndex = r.oid(te, "oid"), r.oid(te, "index")
	} else if rel := r.relation(te, "", r.str(te, "schema"), te.content()); rel != nil {
		fk.RefTable = rel.oid
		cols = rel.columns
	}
	r.known(te)
	if r.err != nil {
		return
	}
	fk.RefCols = r.columnRefs(e, "refAttribute", cols)
	if len(fk.RefCols) != len(fk.Cols) && r.err == nil {
		r.fail(e, sqlerr.InvalidForeignKey, "has %d elements \"refAttribute\" for %d elements \"fkAttribute\"", len(fk.RefCols), len(fk.Cols))
	}
	r.known(e, "refTable", "refAttribute")
}
