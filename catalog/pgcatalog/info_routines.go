package pgcatalog

import (
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsRoutines(w *writer) {
	env := w.env
	db := env.dbName()
	for _, p := range catalog.Procs() {
		w.routine(db, catalog.SchemaPgCatalog, p.Name, p.OID, p.Kind == 'p', types.Of(p.Ret), p.Src, "INTERNAL", p.Volatile == 'i', p.Strict)
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		w.routine(db, f.Schema, f.Name, f.OID, f.Procedure, f.Ret, f.Body, "SQL", f.Volatile == 'i', f.Strict)
	}
}

func (w *writer) routine(db, schema, name string, oid types.OID, procedure bool, ret types.T, body, language string, deterministic, strict bool) {
	kind := "FUNCTION"
	if procedure {
		kind = "PROCEDURE"
	}
	f := w.env.facts(ret)
	w.str(db).str(schema).str(name + "_" + strconv.FormatUint(uint64(oid), 10)).str(db).str(schema).str(name).str(kind).nulls(6)
	if procedure {
		w.null().nulls(14).nulls(3)
	} else {
		w.str(f.dataType).nulls(14).udtColumns(&f)
	}
	w.nulls(4).str("0")
	external := "EXTERNAL"
	if language == "SQL" {
		external = "SQL"
	}
	w.str(external).str(body).null().str(language).str("GENERAL").yes(deterministic).str("MODIFIES")
	if procedure {
		w.null()
	} else {
		w.yes(strict)
	}
	w.null().yes(true).int(0).
		null().null().str("INVOKER").nulls(3).yes(false).nulls(3).yes(false).nulls(24).end()
}

var parameterModes = map[byte]string{'i': "IN", 'o': "OUT", 'b': "INOUT", 'v': "IN", 't': "OUT"}

func rowsParameters(w *writer) {
	env := w.env
	db := env.dbName()
	row := func(schema, name string, oid types.OID, i int, mode byte, arg string, t types.T) {
		f := env.facts(t)
		if f.dataType == "" {
			f.dataType = "USER-DEFINED"
		}
		w.str(db).str(schema).str(name + "_" + strconv.FormatUint(uint64(oid), 10)).int(int64(i + 1)).str(parameterModes[mode]).
			yes(false).yes(false).opt(arg).str(f.dataType).nulls(14).udtColumns(&f).nulls(4).str(strconv.Itoa(i + 1)).null().end()
	}
	at := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	mode := func(list []byte, i int) byte {
		if i < len(list) {
			return list[i]
		}
		return 'i'
	}
	for _, p := range catalog.Procs() {
		args := p.Args
		if p.AllArgs != nil {
			args = p.AllArgs
		}
		for i, t := range args {
			row(catalog.SchemaPgCatalog, p.Name, p.OID, i, mode(p.ArgModes, i), at(p.ArgNames, i), types.Of(t))
		}
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		for i, t := range f.Args {
			row(f.Schema, f.Name, f.OID, i, mode(f.ArgModes, i), at(f.ArgNames, i), t)
		}
	}
}
