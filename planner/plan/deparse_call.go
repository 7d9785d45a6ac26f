package plan

import (
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// OperatorIn spells an operator of a schema, "" for a built-in one.
func OperatorIn(schema, name string) string {
	if schema == "" {
		return name
	}
	return "OPERATOR(" + catalog.QuoteIdent(schema) + "." + name + ")"
}

// function writes an operator, a conversion by a function, one of the grammar's
// own forms, or name(arguments).
func (d *deparser) function(e *Call, implicit bool) {
	switch {
	case e.Own != nil:
		d.str("(")
		if len(e.Args) > 1 {
			d.expr(e.Args[0], true)
			d.str(" ")
		}
		schema, name := e.Own.Schema, e.Own.Name
		if d.opt.Operator != nil {
			schema, name = d.opt.Operator(e.Own)
		}
		d.str(OperatorIn(schema, name) + " ")
		d.expr(e.Args[len(e.Args)-1], true)
		d.str(")")
		return
	case e.Op != "" && len(e.Args) == 1:
		d.str("(" + OperatorIn(e.OpSchema, e.Op) + " ")
		d.expr(e.Args[0], true)
		d.str(")")
		return
	case e.Op != "":
		d.str("(")
		d.expr(e.Args[0], true)
		d.str(" " + OperatorIn(e.OpSchema, e.Op) + " ")
		d.expr(e.Args[1], true)
		d.str(")")
		return
	case e.Syntax != "" && d.syntax(e):
		return
	case e.Cast != CastNone:
		d.cast(e.Args[0], e.T, e.Cast, implicit, false)
		return
	}
	args := e.Args[:len(e.Args)-e.Defaults]
	any := e.Proc.Variadic == types.OAny
	name := catalog.QuoteIdent(e.Proc.Name)
	if f := e.Proc.Own; f != nil {
		schema, last := f.Schema, f.Name
		if d.opt.Function != nil {
			schema, last = d.opt.Function(f)
		}
		name = catalog.QualifiedIdent(schema, last)
	}
	d.str(name + "(")
	if e.Written != nil {
		for i, a := range e.Written {
			if i > 0 {
				d.str(", ")
			}
			if e.VariadicArr && i == len(e.Written)-1 {
				d.str("VARIADIC ")
			}
			if a.Name != "" {
				d.str(catalog.QuoteIdent(a.Name) + " => ")
			}
			d.expr(e.Args[a.Idx], true)
		}
		d.str(")")
		return
	}
	for i, x := range args {
		if i > 0 {
			d.str(", ")
		}
		last := i == len(args)-1
		if last && e.Defaults == 0 && (e.VariadicArr || e.Proc.Variadic != 0 && !any) {
			d.str("VARIADIC ")
		}
		d.expr(x, true)
	}
	d.str(")")
}

// precision writes (p) of a value function that has one.
func (d *deparser) precision(t types.T) {
	if t.Mod >= 0 {
		d.str("(" + strconv.Itoa(int(t.Mod)) + ")")
	}
}

// syntax writes the forms that have a grammar of their own; false when the
// call is shown as an ordinary one all the same.
func (d *deparser) syntax(e *Call) bool {
	arg := func(before string, i int, after string) {
		d.str(before)
		d.expr(e.Args[i], false)
		d.str(after)
	}
	switch e.Syntax {
	case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP",
		"CURRENT_USER", "CURRENT_ROLE", "USER", "SESSION_USER", "CURRENT_CATALOG", "CURRENT_SCHEMA":
		d.str(e.Syntax)
		d.precision(e.T)
	case "extract":
		c, ok := e.Args[0].(*Const)
		if !ok {
			return false
		}
		d.str("EXTRACT(" + string(c.Val.B))
		arg(" FROM ", 1, ")")
	case "position":
		arg("POSITION((", 1, ") IN (")
		arg("", 0, "))")
	case "substring", "substring similar":
		switch at := e.Proc.Args[1]; {
		case at == types.OInt4:
			arg("SUBSTRING(", 0, "")
			arg(" FROM ", 1, "")
			if len(e.Args) == 3 {
				arg(" FOR ", 2, "")
			}
			d.str(")")
		case len(e.Args) == 3:
			arg("SUBSTRING(", 0, "")
			arg(" SIMILAR ", 1, "")
			arg(" ESCAPE ", 2, ")")
		default:
			return false
		}
	case "overlay":
		arg("OVERLAY(", 0, "")
		arg(" PLACING ", 1, "")
		arg(" FROM ", 2, "")
		if len(e.Args) == 4 {
			arg(" FOR ", 3, "")
		}
		d.str(")")
	case "trim":
		side := map[string]string{"ltrim": "LEADING", "rtrim": "TRAILING"}[e.Proc.Name]
		if side == "" {
			side = "BOTH"
		}
		d.str("TRIM(" + side)
		if len(e.Args) == 2 {
			arg(" ", 1, "")
		}
		arg(" FROM ", 0, ")")
	case "timezone":
		arg("(", 1, " AT TIME ZONE ")
		arg("", 0, ")")
	case "overlaps":
		arg("((", 0, "")
		arg(", ", 1, ")")
		arg(" OVERLAPS (", 2, "")
		arg(", ", 3, "))")
	case "is_normalized":
		c, ok := e.Args[len(e.Args)-1].(*Const)
		if !ok {
			return false
		}
		arg("(", 0, " IS ")
		if e.Defaults == 0 {
			d.str(string(c.Val.B) + " ")
		}
		d.str("NORMALIZED)")
	case "pg_collation_for":
		arg("COLLATION FOR (", 0, ")")
	case "normalize":
		arg("NORMALIZE(", 0, "")
		if len(e.Args) == 2 && e.Defaults == 0 {
			if c, ok := e.Args[1].(*Const); ok {
				d.str(", " + string(c.Val.B))
			}
		}
		d.str(")")
	default:
		return false
	}
	return true
}
