package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgType(w *writer) {
	env := w.env
	if oid, ok := w.wantOID("oid"); ok {
		if in := env.Snap.TypeInfo(oid); in != nil {
			w.typeRow(in)
		}
		return
	}
	name, byName := w.wantName("typname")
	row := func(in *types.Info) {
		if !byName || in.Name == name {
			w.typeRow(in)
		}
	}
	for _, in := range types.All() {
		row(in)
	}
	for _, in := range catalog.InformationTypes() {
		row(in)
	}
	for _, in := range env.Snap.TypeInfos(env.DB) {
		row(in)
	}
}

// The functions that arrays and jsonb are subscripted and analysed with.
const (
	procArraySubscript    types.OID = 6179
	procRawArraySubscript types.OID = 6180
	procJSONBSubscript    types.OID = 6098
	procArrayAnalyze      types.OID = 3816
	procRangeAnalyze      types.OID = 3916
	procMultirangeAnalyze types.OID = 4242
)

func (w *writer) typeRow(in *types.Info) {
	env := w.env
	owner, acl := catalog.OIDSuperuser, catalog.ACL(nil)
	if name := env.Snap.TypeOwner(in.OID); name != "" {
		owner = env.role(name)
	}
	u := env.Snap.TypeByOID(in.OID)
	if u != nil {
		acl = u.ACL
	}
	var subscript, analyze types.OID
	switch {
	case in.OID == types.OJSONB:
		subscript = procJSONBSubscript
	case in.OID == types.OHstore:
		subscript = env.shownProc(catalog.ProcBySrc("hstore.hstore_subscript_handler").OID)
	case in.OID == types.ORecordArr:
		subscript, analyze = procArraySubscript, procArrayAnalyze
	case in.Category == 'A' && in.Type == 'b' && in.Elem != 0 && in.Len == -1 && in.OID != types.OInt2Vector && in.OID != types.OOidVector:
		subscript, analyze = procArraySubscript, procArrayAnalyze
	case in.OID == types.OInt2Vector || in.OID == types.OOidVector:
		subscript = procArraySubscript
	case in.Elem != 0 && in.Type == 'b':
		subscript = procRawArraySubscript
	case in.Kind == types.KRange && in.Type == 'r':
		analyze = procRangeAnalyze
	case in.Kind == types.KMultirange && in.Type == 'm':
		analyze = procMultirangeAnalyze
	}
	var base types.OID
	baseMod, notNull, dflt := int32(-1), false, ""
	if u != nil && u.Kind == 'd' {
		base, baseMod, notNull, dflt = u.Base.OID, u.Base.Mod, u.NotNull, w.env.exprText(u.Default, false)
	}
	for _, d := range catalog.InformationDomains() {
		if d.OID == in.OID && d.Kind == 'd' {
			base, baseMod = d.Base, d.BaseMod
		}
	}
	collation := env.collationOf(types.Of(in.OID))
	if in.OID < types.FirstUserOID && types.Lookup(in.OID) == nil {
		collation = env.systemCollation(types.Of(in.OID))
	}
	category := in.Category
	if category == 0 {
		category = 'U'
	}
	w.oid(in.OID).str(in.Name).oid(env.typeNamespace(in.OID)).oid(owner).int(int64(in.Len)).bool(in.ByVal).chr(in.Type).
		chr(category).bool(in.Preferred).bool(true).chr(in.Delim).oid(in.RelID).oid(subscript).oid(in.Elem).oid(in.Array).
		oid(env.shownProc(in.In)).oid(env.shownProc(in.Out)).oid(env.shownProc(in.Recv)).oid(env.shownProc(in.Send)).oid(in.ModIn).oid(in.ModOut).oid(analyze).chr(in.Align).chr(in.Storage).
		bool(notNull).oid(base).int(int64(baseMod)).int(0).oid(collation).opt(dflt).opt(dflt).acl(acl).end()
}

func (env *Env) typeNamespace(o types.OID) types.OID {
	return env.namespace(env.Snap.TypeSchema(env.DB, o))
}
