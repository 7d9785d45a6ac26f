package catalog

import (
	"math"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// A table's parents, its bound and its partition key are elements inside Table.
// Fragments say which index and constraint of the parent a partition's own belongs
// to; in documents this follows from their definitions (linkParts).

func (w *xmlWriter) partition(t *Table) {
	if len(t.Parents) > 0 {
		w.open("Parents", nil)
		for _, p := range t.Parents {
			var a attrList
			if w.ids {
				a.num("oid", int64(p))
				w.empty("Parent", a)
			} else if r := w.snap.Table(p); r != nil {
				if r.Schema != SchemaPublic {
					a.set("schema", r.Schema)
				}
				w.text("Parent", a, r.Name)
			}
		}
		w.close("Parents")
	}
	if b := t.Bound; b != nil {
		var a attrList
		a.flag("default", b.Default)
		a.optNum("modulus", int64(b.Modulus))
		a.optNum("remainder", int64(b.Remainder))
		w.open("PartitionBound", a)
		for _, d := range b.In {
			w.datum("In", d, "", "")
		}
		w.boundValues("From", b.From)
		w.boundValues("To", b.To)
		w.close("PartitionBound")
	}
	if k := t.Key; k != nil {
		var a attrList
		a.set("strategy", strategyNames[k.Strategy])
		w.open("PartitionKey", a)
		for i := range k.Keys {
			c := &k.Keys[i]
			var ka attrList
			ka.opt("opclass", c.Opclass)
			ka.opt("collation", c.Collation)
			w.typeAttrs(&ka, "type", c.Type)
			if c.Col >= 0 {
				w.open("KeyColumn", ka)
				w.columnRef("keyAttribute", t, c.Col)
			} else {
				ka.set("expression", c.Expr)
				w.open("KeyColumn", ka)
			}
			w.columnList("expressionAttribute", t, c.ExprCols)
			w.close("KeyColumn")
		}
		w.close("PartitionKey")
	}
}

func (w *xmlWriter) boundValues(name string, list []BoundValue) {
	for _, v := range list {
		if v.Inf == 0 {
			w.datum(name, v.Val, "", "")
			continue
		}
		var a attrList
		a.num("infinite", int64(v.Inf))
		w.empty(name, a)
	}
}

// partOf writes, in fragments, the index or constraint that one is a part of.
func (w *xmlWriter) partOf(a *attrList, name string, parent types.OID) {
	if w.ids {
		a.optNum(name, int64(parent))
	}
}

// partOf reads what partOf wrote.
func (r *xmlReader) partOf(e *element, name string) types.OID {
	if !r.ids {
		return 0
	}
	return r.oid(e, name)
}

// targets writes, in fragments, the constraints of a foreign key for the partitions
// of the table that it refers to. Documents have none: they are made anew.
func (w *xmlWriter) targets(fk *ForeignKey) {
	if !w.ids {
		return
	}
	for _, x := range fk.Targets {
		a := w.constraintAttrs(x.Name, x.OID)
		a.num("table", int64(x.Table))
		a.flag("unwatched", x.Unwatched)
		w.empty("target", a)
	}
}

// targets reads what targets wrote.
func (r *xmlReader) targets(e *element, fk *ForeignKey) {
	for _, c := range e.children {
		if r.ids && c.name == "target" {
			x := FKTarget{Table: r.oid(c, "table")}
			x.OID, x.Name = r.constraint(c)
			x.Unwatched = r.flag(c, "unwatched")
			fk.Targets = append(fk.Targets, x)
			r.known(c)
		}
	}
}

func (a *attrList) inherited(i Inherited) {
	a.optNum("inherited", int64(i.Parents))
	a.flag("notLocal", i.NotLocal)
}

func (r *xmlReader) inherited(e *element) Inherited {
	return Inherited{Parents: int(r.num(e, "inherited", 0, math.MaxInt16, 0)), NotLocal: r.flag(e, "notLocal")}
}

// partition reads what partition wrote.
func (r *xmlReader) partition(e *element, t *Table) {
	for _, p := range r.each(e, "Parents", "Parent") {
		oid := r.oid(p, "oid")
		if !r.ids {
			if rel := r.relation(p, "", r.str(p, "schema"), p.content()); rel != nil {
				oid = rel.oid
			}
		}
		r.known(p)
		t.Parents = append(t.Parents, oid)
	}
	b, err := e.child("PartitionBound")
	r.check(err)
	if b != nil {
		t.Bound = r.bound(b)
	}
	k, err := e.child("PartitionKey")
	r.check(err)
	if k == nil || r.err != nil {
		return
	}
	t.Key = r.partKey(k, t)
	t.File = ""
	for _, ix := range t.Indexes {
		ix.File, ix.Space = "", 0
	}
}

func (r *xmlReader) bound(e *element) *PartBound {
	b := &PartBound{Default: r.flag(e, "default"), Modulus: int(r.num(e, "modulus", 0, math.MaxInt32, 0)),
		Remainder: int(r.num(e, "remainder", 0, math.MaxInt32, 0))}
	value := func(c *element) BoundValue {
		v := BoundValue{Inf: int8(r.num(c, "infinite", -1, 1, 0))}
		if v.Inf == 0 {
			v.Val = r.datum(c)
		}
		return v
	}
	for _, c := range e.children {
		switch c.name {
		case "In":
			b.In = append(b.In, r.datum(c))
		case "From":
			b.From = append(b.From, value(c))
		case "To":
			b.To = append(b.To, value(c))
		}
	}
	r.known(e, "In", "From", "To")
	return b
}

func (r *xmlReader) partKey(e *element, t *Table) *PartKey {
	k := &PartKey{}
	for s, name := range strategyNames {
		if strings.EqualFold(name, r.need(e, "strategy")) {
			k.Strategy = s
		}
	}
	if k.Strategy == 0 {
		r.fail(e, codeXML, "attribute \"strategy\" must be RANGE, LIST or HASH")
	}
	for _, c := range e.children {
		key := PartKeyCol{Col: -1, Opclass: r.str(c, "opclass"), Collation: r.str(c, "collation"), Type: r.typ(c, "type"), Expr: r.str(c, "expression")}
		if key.Expr == "" {
			cols := r.columnRefs(c, "keyAttribute", t.Columns)
			if len(cols) != 1 {
				r.fail(c, codeXML, "must have one element \"keyAttribute\"")
				return k
			}
			key.Col = cols[0]
		}
		key.ExprCols = r.columnRefs(c, "expressionAttribute", t.Columns)
		r.known(c, "keyAttribute", "expressionAttribute")
		k.Keys = append(k.Keys, key)
	}
	r.known(e, "KeyColumn")
	if len(k.Keys) == 0 && r.err == nil {
		r.fail(e, sqlerr.InvalidObjectDefinition, "has no element \"KeyColumn\"")
	}
	return k
}

// linkParts finds, for the indexes and constraints of the partitions of a document,
// those of the parents that they are parts of.
func linkParts(tables []*Table, alloc Allocator) {
	byOID := make(map[types.OID]*Table, len(tables))
	for _, t := range tables {
		byOID[t.OID] = t
	}
	for _, t := range tables {
		if t.Bound == nil || len(t.Parents) == 0 || byOID[t.Parents[0]] == nil {
			continue
		}
		p := byOID[t.Parents[0]]
		at := ColumnMap(p, t)
		for _, ix := range p.Indexes {
			if part := findPart(p, ix, t, at, true); part != nil {
				part.Parent = ix.OID
				if u, pu := t.uniqueOf(part), p.uniqueOf(ix); u != nil && pu != nil {
					u.Parent = pu.OID
				}
			}
		}
		for _, fk := range p.ForeignKeys {
			for _, own := range t.ForeignKeys {
				if own.Parent == 0 && sameForeignKey(fk, own, at) {
					own.Parent = fk.OID
					break
				}
			}
		}
	}
	for _, t := range tables {
		for _, fk := range t.ForeignKeys {
			if fk.Parent == 0 {
				linkTargets(tables, t, fk, fk.RefTable, alloc)
			}
		}
	}
}

// linkTargets makes the constraints of a foreign key for the partitions below a
// table of a document.
func linkTargets(tables []*Table, t *Table, fk *ForeignKey, table types.OID, alloc Allocator) {
	taken := func(name string) bool {
		return slices.ContainsFunc(tables, func(o *Table) bool { return o.Schema == t.Schema && slices.Contains(o.constraintNames(), name) })
	}
	for _, p := range tables {
		if p.Bound != nil && slices.Contains(p.Parents, table) {
			fk.addTarget(alloc, t, p.OID, taken)
			linkTargets(tables, t, fk, p.OID, alloc)
		}
	}
}
