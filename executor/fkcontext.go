package executor

import (
	"errors"
	"fmt"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// PostgreSQL carries out foreign keys by SQL statements, which the context of errors
// shows: conflicts and timeouts of locks, and what an action's rows fail by.

// fkStatement is which of the statements an error belongs to.
type fkStatement uint8

const (
	fkFindParent fkStatement = iota
	fkFindChild
	fkDelete
	fkUpdate
	fkSetNull
	fkSetDefault
)

// statement is what the event's action is done by, and the columns that it sets.
func (e *fkEvent) statement() (fkStatement, []int) {
	fk := e.ref.FK
	var st fkStatement
	switch action := e.action(); {
	case action == 'c' && e.new == nil:
		return fkDelete, nil
	case action == 'c':
		return fkUpdate, fk.Cols
	case action == 'n':
		st = fkSetNull
	default:
		st = fkSetDefault
	}
	if e.new == nil && len(fk.DelCols) > 0 {
		return st, fk.DelCols
	}
	return st, fk.Cols
}

// in adds the statement to the context of an error that a client gets.
func (st fkStatement) in(env *Env, child *catalog.Table, fk *catalog.ForeignKey, cols []int, err error) error {
	if err == nil || errors.Is(err, ErrRetry) {
		return err
	}
	var e *sqlerr.Error
	if !errors.As(wrapErr(env.Ctx, err), &e) {
		return err
	}
	text := st.text(env, child, fk, cols)
	if text == "" {
		return err
	}
	c := *e
	if c.Cause == nil {
		c.Cause = err
	}
	if c.Where != "" {
		c.Where += "\n"
	}
	c.Where += "SQL statement \"" + text + "\""
	return &c
}

// text is the statement as PostgreSQL writes it; "" where it would cast the keys. cols are
// the columns that it sets.
func (st fkStatement) text(env *Env, child *catalog.Table, fk *catalog.ForeignKey, cols []int) string {
	parent := env.Snap.Table(fk.RefTable)
	if parent == nil || child.Bound != nil || parent.Bound != nil {
		return "" // the statement is one on the whole of a partitioned table
	}
	for i, c := range fk.Cols {
		if t := child.Columns[c].Type; t.OID != parent.Columns[fk.RefCols[i]].Type.OID || t.OID == types.OVarchar {
			return ""
		}
	}
	name := func(t *catalog.Table) string {
		s := quoted(t.Schema) + "." + quoted(t.Name)
		if t.Key == nil {
			s = "ONLY " + s
		}
		return s
	}
	var b strings.Builder
	at := 0
	switch st {
	case fkFindParent:
		fmt.Fprintf(&b, "SELECT 1 FROM %s x WHERE ", name(parent))
		for i, c := range fk.RefCols {
			if i > 0 {
				b.WriteString(" AND ")
			}
			fmt.Fprintf(&b, "%s OPERATOR(pg_catalog.=) $%d", quoted(parent.Columns[c].Name), i+1)
		}
		b.WriteString(" FOR KEY SHARE OF x")
		return b.String()
	case fkFindChild:
		fmt.Fprintf(&b, "SELECT 1 FROM %s x", name(child))
	case fkDelete:
		fmt.Fprintf(&b, "DELETE FROM %s", name(child))
	default:
		fmt.Fprintf(&b, "UPDATE %s SET ", name(child))
		for i, c := range cols {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoted(child.Columns[c].Name) + " = ")
			switch st {
			case fkSetNull:
				b.WriteString("NULL")
			case fkSetDefault:
				b.WriteString("DEFAULT")
			default:
				at++
				fmt.Fprintf(&b, "$%d", at)
			}
		}
	}
	for i, c := range fk.Cols {
		word := " AND "
		if i == 0 {
			word = " WHERE "
		}
		fmt.Fprintf(&b, "%s$%d OPERATOR(pg_catalog.=) %s", word, at+i+1, quoted(child.Columns[c].Name))
	}
	if st == fkFindChild {
		b.WriteString(" FOR KEY SHARE OF x")
	}
	return b.String()
}

// quoted is a name in quotes, needed or not.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
