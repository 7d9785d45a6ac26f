package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgAttribute(w *writer) {
	env := w.env
	if oid, ok := w.wantOID("attrelid"); ok {
		w.attributesOf(oid)
		return
	}
	env.classes("", func(c *classRow) bool {
		w.attributesOf(c.oid)
		return !w.done
	})
}

// attributesOf writes the columns of whatever pg_class has under the OID.
func (w *writer) attributesOf(oid types.OID) {
	env := w.env
	if r := ByOID(oid); r != nil {
		w.attributes(oid, env.granted(r).Columns, !r.View)
		return
	}
	if r := env.Snap.RelationByOID(env.DB, oid); r != nil {
		v, isView := r.(*catalog.View)
		w.attributes(oid, r.RelColumns(), !isView || v.Materialized != nil)
		return
	}
	if t, ix := env.Snap.IndexByOID(env.DB, oid); ix != nil {
		w.indexAttributes(t, ix)
		return
	}
	for _, ix := range catalog.SystemIndexes() {
		if ix.OID == oid {
			w.systemIndexAttributes(&ix)
			return
		}
	}
	if u := env.composites()[oid]; u != nil {
		w.attributes(oid, u.Columns, false)
		return
	}
	w.toastAttributes(oid)
}

// systemAttributes are the columns that every table has without declaring them.
var systemAttributes = []struct {
	num  int
	name string
	typ  types.OID
}{
	{-6, "tableoid", types.OOid}, {-5, "cmax", types.OCid}, {-4, "xmax", types.OXid},
	{-3, "cmin", types.OCid}, {-2, "xmin", types.OXid}, {-1, "ctid", types.OTid},
}

func (w *writer) attributes(rel types.OID, cols []catalog.Column, stored bool) {
	var granted []catalog.SystemGrant
	if t, ok := w.env.Snap.Object(rel).(*catalog.Table); ok {
		granted = t.SystemGrants
	}
	for i := range cols {
		w.attribute(rel, i+1, &cols[i])
	}
	if stored {
		for _, s := range systemAttributes {
			col := &catalog.Column{Name: s.name, Type: types.Of(s.typ), NotNull: true}
			for _, g := range granted {
				if g.Column == s.name {
					col.ACL = g.ACL
				}
			}
			w.attribute(rel, s.num, col)
		}
	}
}

func (w *writer) attribute(rel types.OID, num int, col *catalog.Column) {
	w.attributeWith(rel, num, col, w.env.columnCollation(col))
}

func (w *writer) attributeWith(rel types.OID, num int, col *catalog.Column, collation types.OID) {
	env := w.env
	in := env.Snap.TypeInfo(col.Type.OID)
	if in == nil {
		in = types.Lookup(types.OText)
	}
	typ, target := col.Type.OID, -1
	if col.Dropped {
		typ = 0
	}
	switch {
	case num < 0 || col.StatTarget < 0 || col.Dropped:
		target = 0
	case col.StatTarget > 0:
		target = col.StatTarget
	}
	generated := byte(0)
	if col.Generated {
		generated = 's'
	}
	storage := in.Storage
	if storage == 0 {
		storage = 'p'
	}
	if s := storageCodes[col.Storage]; s != 0 {
		storage = s
	}
	compression := byte(0)
	if col.Compression != "" {
		compression = col.Compression[0]
	}
	mod := col.Type.Mod
	if in.Type == 'd' { // that of its values
		mod = -1
	}
	w.oid(rel).str(col.Name).oid(typ).int(int64(target)).int(int64(in.Len)).int(int64(num)).int(int64(col.Dims)).int(-1).
		int(int64(mod)).bool(in.ByVal).chr(in.Align).chr(storage).chr(compression).bool(col.NotNull).
		bool(col.Default != "").bool(col.Missing != nil).chr(col.Identity).chr(generated).bool(col.Dropped).bool(!col.NotLocal).int(int64(col.Parents)).
		oid(collation).acl(col.ACL).optArray(options(col.Options)).null().null().end()
}

// storageCodes are the codes of what SET STORAGE names.
var storageCodes = map[string]byte{"plain": 'p', "external": 'e', "extended": 'x', "main": 'm'}

func (w *writer) indexAttributes(t *catalog.Table, ix *catalog.Index) {
	names := t.IndexColumnNames(ix)
	for i := range ix.Keys {
		k := &ix.Keys[i]
		col := &catalog.Column{Name: names[i], Type: w.env.indexColumnType(ix, k), StatTarget: k.StatTarget}
		if k.Col >= 0 && t.Columns[k.Col].Type == col.Type {
			col.Storage, col.Dims = t.Columns[k.Col].Storage, t.Columns[k.Col].Dims
		}
		w.attributeWith(ix.OID, i+1, col, w.env.keyCollation(t, k))
	}
	for i, c := range ix.Include {
		n := len(ix.Keys) + i
		w.attribute(ix.OID, n+1, &catalog.Column{Name: names[n], Type: t.Columns[c].Type})
	}
}

func (w *writer) systemIndexAttributes(ix *catalog.SystemIndex) {
	r := ByOID(ix.Table)
	if r == nil {
		return
	}
	for i, k := range ix.Keys {
		if k >= 1 && k <= len(r.Columns) {
			col := r.Columns[k-1]
			w.attributeWith(ix.OID, i+1, &catalog.Column{Name: col.Name, Dims: col.Dims, Type: keyType(ix.Opclasses[i], col.Type)}, w.env.columnCollation(&col))
		}
	}
}
