package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// An aggregate is a Function element with an Aggregate element inside. Functions
// that it calls are named by schema and signature, in fragments by OID.

func (w *xmlWriter) aggregate(g *AggregateDef) {
	var a attrList
	w.functionRef(&a, "transition", g.Trans)
	w.functionRef(&a, "final", g.Final)
	w.functionRef(&a, "combine", g.Combine)
	if g.SortOp != 0 {
		a.num("sortOperator", int64(g.SortOp))
	}
	w.typeAttrs(&a, "state", g.State)
	if g.Init != nil {
		a.set("initialState", *g.Init)
	}
	w.empty("Aggregate", a)
}

func (w *xmlWriter) functionRef(a *attrList, attr string, oid types.OID) {
	switch {
	case oid == 0:
	case w.ids:
		a.num(attr+"OID", int64(oid))
	default:
		if f, ok := w.snap.objs.get(oid).(*Function); ok {
			a.set(attr, w.signature(f))
			a.set(attr+"Schema", f.Schema)
		} else if p := ProcByOID(oid); p != nil {
			a.set(attr, p.signature())
			a.set(attr+"Schema", SchemaPgCatalog)
		}
	}
}

// signature names a built-in function with its arguments.
func (p *Proc) signature() string {
	out := p.Name + "("
	for i, o := range p.Args {
		if i > 0 {
			out += ","
		}
		out += types.FormatType(types.Of(o))
	}
	return out + ")"
}

func (r *xmlReader) aggregate(e *element) *AggregateDef {
	g := &AggregateDef{Trans: r.functionRef(e, "transition"), Final: r.functionRef(e, "final"), Combine: r.functionRef(e, "combine"),
		SortOp: r.oid(e, "sortOperator"), State: r.typ(e, "state")}
	if v, ok := e.attr("initialState"); ok {
		g.Init = &v
	}
	if g.Trans == 0 {
		r.fail(e, codeXML, "an aggregate has no transition function")
	}
	return g
}

func (r *xmlReader) functionRef(e *element, attr string) types.OID {
	if r.ids {
		return r.oid(e, attr+"OID")
	}
	sig, ok := e.attr(attr)
	if !ok {
		return 0
	}
	schema := r.str(e, attr+"Schema")
	if schema == SchemaPgCatalog {
		for _, p := range slices.Concat(Procs(), extensionProcs()) {
			if (p.Schema == "" || p.Hidden != "") && p.signature() == sig {
				return p.OID
			}
		}
	} else if oid := r.doc.function(schema, sig); oid != 0 {
		return oid
	}
	r.fail(e, sqlerr.UndefinedFunction, "attribute \"%s\": \"%s\" does not exist", attr, sig)
	return 0
}
