package pgcatalog

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// specificName tells overloaded functions apart in information_schema.
func specificName(name string, oid types.OID) string {
	return name + "_" + strconv.FormatUint(uint64(oid), 10)
}

func rowsRoutines(w *writer) {
	for _, p := range catalog.Procs() {
		w.routine(p.OID, p.Kind, types.Of(p.Ret))
	}
	for _, f := range w.env.Snap.AllFunctions(w.env.DB) {
		w.routine(f.OID, f.Kind(), f.Ret)
	}
}

func (w *writer) routine(oid types.OID, kind byte, ret types.T) {
	r, ok := w.env.routine(oid)
	if !ok || !w.env.mayExecute(oid) {
		return
	}
	body := func(language, text string) {
		if w.env.ownsRoutine(oid) {
			w.str(language).str(text)
		} else {
			w.str(language).null()
		}
	}
	db, f := w.env.dbName(), w.env.ownFacts(ret)
	w.str(db).str(r.schema).str(specificName(r.name, oid)).str(db).str(r.schema).str(r.name)
	switch kind {
	case 'f':
		w.str("FUNCTION")
	case 'p':
		w.str("PROCEDURE")
	default: // aggregates and window functions are not of the standard
		w.null()
	}
	w.nulls(6)
	if kind == 'p' {
		w.nulls(23)
	} else {
		w.str(f.dataType).nulls(14).udtColumns(&f).nulls(4).str("0")
	}
	switch {
	case r.language == "sql" && (r.standard || oid < types.FirstUserOID): // it is kept as an expression
		body("SQL", "")
		w.null()
	case r.language == "sql":
		body("SQL", r.body)
		w.null()
	case r.language == "c":
		body("EXTERNAL", r.body)
		w.str(r.body)
	default:
		body("EXTERNAL", r.body)
		w.null()
	}
	w.str(strings.ToUpper(r.language)).str("GENERAL").yes(r.volatile == 'i').str("MODIFIES")
	if kind == 'p' {
		w.null()
	} else {
		w.yes(r.strict)
	}
	security := "INVOKER"
	if r.definer {
		security = "DEFINER"
	}
	w.null().yes(true).int(0).null().null().str(security).nulls(3).yes(false).nulls(3).yes(false).nulls(24).end()
}

var parameterModes = map[byte]string{'i': "IN", 'o': "OUT", 'b': "INOUT", 'v': "IN", 't': "OUT"}

func rowsParameters(w *writer) {
	env := w.env
	db := env.dbName()
	row := func(schema, name string, oid types.OID, i int, mode byte, arg string, t types.T) {
		f := env.ownFacts(t)
		if f.dataType == "" {
			f.dataType = "USER-DEFINED"
		}
		w.str(db).str(schema).str(specificName(name, oid)).int(int64(i + 1)).str(parameterModes[mode]).
			yes(false).yes(false).opt(arg).str(f.dataType).nulls(14).udtColumns(&f).nulls(4).str(strconv.Itoa(i + 1))
		if dflt, ok := env.GetFunctionArgDefault(oid, i+1); ok && env.ownsRoutine(oid) {
			w.str(dflt).end()
		} else {
			w.null().end()
		}
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
		if !env.mayExecute(p.OID) {
			continue
		}
		args := p.Args
		if p.AllArgs != nil {
			args = p.AllArgs
		}
		for i, t := range args {
			row(p.In(), p.Name, p.OID, i, mode(p.ArgModes, i), at(p.ArgNames, i), types.Of(t))
		}
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		for i, t := range f.Args {
			if !env.mayExecute(f.OID) {
				break
			}
			row(f.Schema, f.Name, f.OID, i, mode(f.ArgModes, i), at(f.ArgNames, i), t)
		}
	}
}
