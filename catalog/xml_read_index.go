package catalog

import (
	"math"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// columnGroups reads the attribute files. A document may leave some out.
func (r *xmlReader) columnGroups(e *element, t *Table) {
	for _, ge := range r.each(e, "ColumnGroups", "ColumnGroup") {
		g := ColumnGroup{File: r.str(ge, "fileName"), Elements: r.flag(ge, "elements")}
		if r.ids {
			g.Space = SpaceID(r.num(ge, "space", 0, math.MaxInt64, 0))
		}
		g.Cols = r.columnRefs(ge, "groupAttribute", t.Columns)
		r.known(ge, "groupAttribute")
		if len(g.Cols) == 0 {
			r.fail(ge, codeXML, "has no element \"groupAttribute\"")
			return
		}
		for _, c := range g.Cols {
			if t.GroupOf(c) >= 0 {
				r.fail(ge, sqlerr.DuplicateColumn, "\"%s\" is in two groups", t.Columns[c].Name)
				return
			}
		}
		t.Groups = append(t.Groups, g)
	}
	if !r.ids && r.err == nil && (t.Layout == LayoutColumn || len(t.Groups) > 0 || t.hasElements()) {
		settleGroups(t, r.doc.alloc, func(base string) string { return base + ".col" })
	}
}

func (r *xmlReader) indexFiles(e *element, t *Table) {
	for _, ie := range r.each(e, "IndexFiles", "IndexFile") {
		ix := &Index{Name: r.need(ie, "indexName"), File: r.str(ie, "fileName")}
		if ix.File == "" && !t.Temp {
			ix.File = ix.Name
		}
		if r.ids {
			ix.OID, ix.Constraint = r.oid(ie, "oid"), r.oid(ie, "constraint")
			ix.Space = SpaceID(r.num(ie, "space", 0, math.MaxInt64, 0))
			ix.Parent = r.partOf(ie, "parent")
		} else {
			ix.OID, ix.Space = r.doc.alloc.AllocOID(), r.doc.alloc.AllocSpace()
		}
		r.num(ie, "keyLength", 0, math.MaxInt32, 0)
		ix.Unique = r.flag(ie, "isUnique")
		ix.Kind = r.indexKind(ie)
		ix.NullsNotDistinct = r.flag(ie, "nullsNotDistinct")
		ix.Invalid, ix.Unready = r.flag(ie, "invalid"), r.flag(ie, "unready")
		ix.ByLength = r.flag(ie, "byLength")
		r.indexMarks(ie, ix)
		ix.Where, ix.Comment = r.str(ie, "where"), r.str(ie, "comment")
		keys, err := ie.child("IndexAttributes")
		r.check(err)
		if keys == nil || len(keys.children) == 0 {
			r.fail(ie, codeXML, "has no element \"IAttribute\"")
			return
		}
		for _, k := range keys.children {
			ix.Keys = append(ix.Keys, r.indexKey(k, t))
		}
		r.known(keys, "IAttribute")
		if inc, err := ie.child("IncludeAttributes"); inc != nil {
			ix.Include = r.columnList(inc, "IAttribute", t.Columns)
			r.known(inc, "IAttribute")
		} else {
			r.check(err)
		}
		ix.ExprCols = r.columnRefs(ie, "expressionAttribute", t.Columns)
		r.known(ie, "IndexAttributes", "IncludeAttributes", "expressionAttribute")
		t.Indexes = append(t.Indexes, ix)
	}
}

func (r *xmlReader) indexKind(e *element) string {
	v, ok := e.attr("indexType")
	if !ok {
		return "btree"
	}
	for kind, paper := range paperIndexTypes {
		if strings.EqualFold(v, paper) {
			return kind
		}
	}
	r.fail(e, sqlerr.UndefinedObject, "attribute \"indexType\" must be BTree, Hash, Inverted, GIN, GiST, SP-GiST or BRIN, not \"%s\"", v)
	return "btree"
}

// indexMarks reads what is only shown of an index.
func (r *xmlReader) indexMarks(e *element, ix *Index) {
	ix.Clustered, ix.Identity = r.flag(e, "clustered"), r.flag(e, "replicaIdentity")
	list := r.str(e, "storageParameters")
	if list == "" {
		return
	}
	for _, o := range strings.Split(list, ",") {
		name, v, ok := strings.Cut(o, "=")
		if !ok || name == "" {
			r.fail(e, codeXML, "attribute \"storageParameters\": \"%s\" is not name=value", o)
			return
		}
		ix.Options = append(ix.Options, Option{name, v})
	}
}

func (r *xmlReader) indexKey(e *element, t *Table) IndexKey {
	k := IndexKey{Desc: r.flag(e, "desc"), NullsFirst: r.flag(e, "nullsFirst"), Opclass: r.str(e, "opclass"),
		Collation: r.str(e, "collation"), Name: r.str(e, "columnName"), StatTarget: int(r.num(e, "statisticsTarget", -1, 10000, 0))}
	if expr, ok := e.attr("expression"); ok {
		k.Col, k.Expr, k.Type = -1, expr, r.typ(e, "type")
		r.known(e)
		return k
	}
	k.Col = columnByName(t.Columns, e.content())
	if k.Col < 0 {
		k.Col = r.columnRef(e, t.Columns)
	}
	r.known(e)
	if r.err == nil {
		k.Type = t.Columns[k.Col].Type
	}
	return k
}
