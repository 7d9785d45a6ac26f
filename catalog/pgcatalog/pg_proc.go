package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgProc(w *writer) {
	env := w.env
	if oid, ok := w.wantOID("oid"); ok {
		if p := catalog.ProcByOID(oid); p != nil {
			w.proc(p)
		} else if f, ok := env.Snap.Object(oid).(*catalog.Function); ok && f.DB == env.DB {
			w.userProc(f)
		}
		return
	}
	if name, ok := w.wantName("proname"); ok {
		for _, p := range catalog.ProcsByName(name) {
			w.proc(p)
		}
	} else {
		for _, p := range catalog.Procs() {
			w.proc(p)
		}
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		w.userProc(f)
	}
}

func (w *writer) proc(p *catalog.Proc) {
	src := p.Src
	if p.Lang == langSQL {
		src = "" // the name of the implementation is made up
	}
	schema := catalog.OIDPgCatalog
	if p.Schema != "" {
		schema = w.env.namespace(p.Schema)
	}
	w.oid(p.OID).str(p.Name).oid(schema).oid(catalog.OIDSuperuser).oid(p.Lang).float(p.Cost).float(p.Rows).
		oid(p.Variadic).oid(p.Support).chr(p.Kind).bool(false).bool(p.LeakProof).bool(p.Strict).bool(p.RetSet).chr(p.Volatile).
		chr(p.Parallel).int(int64(len(p.Args))).int(int64(len(p.Defaults))).oid(p.Ret)
	vector(w, p.Args)
	if p.AllArgs == nil {
		w.null()
	} else {
		intArray(w, p.AllArgs)
	}
	w.optArray(letters(p.ArgModes)).optArray(p.ArgNames).opt(strings.Join(p.Defaults, ", ")).null().str(src).nulls(3).acl(w.env.procACL(p)).end()
}

func letters(b []byte) []string {
	var out []string
	for _, c := range b {
		out = append(out, string(c))
	}
	return out
}

// The OIDs of the languages "sql" and "internal".
const (
	langSQL      types.OID = 14
	langInternal types.OID = 12
	langC        types.OID = 13
)

func (w *writer) userProc(f *catalog.Function) {
	variadic := types.OID(0)
	for i, t := range f.Args {
		if f.Mode(i) == 'v' {
			variadic = w.env.Snap.TypeInfo(t.OID).Elem
		}
	}
	body, lang := f.Body, langSQL
	if f.Standard {
		body = ""
	}
	if f.Language == catalog.LanguageInternal {
		lang = langInternal
	}
	if f.Agg != nil {
		body, lang = "aggregate_dummy", langInternal
	}
	w.oid(f.OID).str(f.Name).oid(w.env.namespace(f.Schema)).oid(w.env.role(f.Owner)).oid(lang).float(f.Cost).float(f.Rows).
		oid(variadic).oid(0).chr(f.Kind()).bool(f.Definer).bool(f.LeakProof).bool(f.Strict).bool(f.RetSet).chr(f.Volatile).chr(f.Parallel).
		int(int64(len(f.Inputs()))).int(int64(len(f.Defaults))).oid(f.Ret.OID)
	vector(w, typeOIDs(f.Inputs()))
	if f.ArgModes == nil {
		w.null().null()
	} else {
		intArray(w, typeOIDs(f.Args))
		w.strArray(letters(f.ArgModes))
	}
	w.optArray(f.ArgNames).opt(strings.Join(f.Defaults, ", ")).null().str(body).null()
	if f.Standard {
		w.str(f.Body)
	} else {
		w.null()
	}
	w.optArray(f.Config).acl(f.ACL).end()
}

func typeOIDs(list []types.T) []types.OID {
	out := make([]types.OID, len(list))
	for i, t := range list {
		out[i] = t.OID
	}
	return out
}
