package planner

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Literals of regclass, regtype, regproc and regprocedure name objects. Stored texts have
// them with their schemas, and they follow when the objects are renamed.

// qualifyLiteral spells a literal so that it means the same whatever the search path: with
// the schemas of what it names, and the names of a snapshot.
func (c *Context) qualifyLiteral(t types.T, text string, names *catalog.Snapshot) string {
	if oid := c.objectNamed(t, text); oid != 0 {
		if name := c.objectName(t, oid, names); name != "" {
			return name
		}
		return text
	}
	if elem := c.namingElement(t); elem != 0 {
		full, _ := mapElements(text, func(s string) (string, bool) {
			name := c.qualifyLiteral(types.Of(elem), s, names)
			return name, name != s
		})
		return full
	}
	if t.OID == types.ORegclass {
		return c.systemRelation(text)
	}
	return c.canonicalLiteral(t, text)
}

// namingElement is the type of the elements of an array of names, 0 for other types.
func (c *Context) namingElement(t types.T) types.OID {
	if in := types.Lookup(t.OID); in != nil && in.Kind == types.KArray && namesObjects(in.Elem) {
		return in.Elem
	}
	return 0
}

// namesObjects reports whether the literals of a type name relations, types or functions.
func namesObjects(t types.OID) bool {
	return t == types.ORegclass || t == types.ORegtype || t == types.ORegproc || t == types.ORegprocedure
}

// mapElements gives elements of an array's text other texts; false: all stay.
func mapElements(text string, f func(string) (string, bool)) (string, bool) {
	d, err := types.Parse(types.Of(types.ArrayOf(types.OText)), text, types.DefaultFmt)
	if err != nil || d.Null {
		return text, false
	}
	_, dims, lbs, elems, err := types.ArrayElems(d)
	if err != nil {
		return text, false
	}
	found := false
	for i := range elems {
		if elems[i].Null {
			continue
		}
		if s, ok := f(string(elems[i].B)); ok {
			elems[i], found = types.Text(s), true
		}
	}
	if !found {
		return text, false
	}
	return string(types.AppendText(nil, types.NewArray(types.TText, dims, lbs, elems), types.DefaultFmt)), true
}

// objectNamed is the user-defined object that a literal names, 0 for none.
func (c *Context) objectNamed(t types.T, text string) types.OID {
	switch {
	case t.OID == types.ORegclass:
		if r := c.relationNamed(text); r != nil && r.ObjectOID() >= types.FirstUserOID {
			return r.ObjectOID()
		}
	case namesObjects(t.OID) && c.Fmt != nil && c.Fmt.Reg != nil:
		if d, err := types.Parse(t, text, c.Fmt); err == nil && types.OID(d.I) >= types.FirstUserOID {
			return types.OID(d.I)
		}
	}
	return 0
}

// relationNamed is the relation that a literal of regclass names, nil for none.
func (c *Context) relationNamed(text string) catalog.Relation {
	schema, name, ok := splitName(text)
	if !ok {
		return nil
	}
	path := c.SearchPath
	if schema != "" {
		path = []string{schema}
	}
	for _, s := range path {
		if r := c.Snap.Relation(c.DB, s, name); r != nil {
			return r
		}
	}
	return nil
}

// systemRelation is the name of a relation that no user made, with its schema unless it is
// pg_catalog.
func (c *Context) systemRelation(text string) string {
	r := c.relationNamed(text)
	if r == nil {
		return text
	}
	schema, name := r.RelName()
	if schema == catalog.SchemaPgCatalog {
		return catalog.QuoteIdent(name)
	}
	return catalog.QualifiedIdent(schema, name)
}

// objectName is the name of an object with its schema, as literals of a type spell it.
func (c *Context) objectName(t types.T, oid types.OID, names *catalog.Snapshot) string {
	pathless := []string{catalog.SchemaPgCatalog}
	switch t.OID {
	case types.ORegtype:
		return names.FormatType(types.Of(oid), c.DB, pathless)
	case types.ORegclass:
		if r := names.RelationByOID(c.DB, oid); r != nil {
			return catalog.QualifiedIdent(r.RelName())
		}
		return ""
	}
	f, ok := names.Object(oid).(*catalog.Function)
	if !ok {
		return ""
	}
	name := catalog.QualifiedIdent(f.Schema, f.Name)
	if t.OID == types.ORegproc {
		return name
	}
	var args []string
	for _, a := range f.Inputs() {
		args = append(args, names.FormatType(a, c.DB, pathless))
	}
	return name + "(" + strings.Join(args, ",") + ")"
}

// canonicalLiteral is a literal of a user-defined array, row or range type as the type writes
// its value.
func (c *Context) canonicalLiteral(t types.T, text string) string {
	in := c.Snap.TypeInfo(t.OID)
	reader := c.Consts
	if reader == nil {
		reader = c.literals
	}
	if reader == nil || in == nil || t.OID < types.FirstUserOID ||
		in.Kind != types.KArray && in.Kind != types.KRecord && in.Subtype == 0 {
		return text
	}
	v, err := reader.EvalConst(&plan.CoerceIO{
		At:       plan.At{T: t, Off: -1},
		X:        &plan.Const{At: plan.At{T: types.TText, Off: -1}, Val: types.Bytes(types.TText, []byte(text))},
		Explicit: true, Literal: true,
	})
	if err != nil || v.Null {
		return text
	}
	return string(types.AppendText(nil, v, deparseOptions(c).Fmt))
}

// splitName takes schema.name or name apart: parts may be quoted, others are
// folded to lower case.
func splitName(text string) (schema, name string, ok bool) {
	var parts []string
	for rest := strings.TrimSpace(text); ; {
		part := ""
		if strings.HasPrefix(rest, `"`) {
			i := 1
			for ; i < len(rest); i++ {
				if rest[i] == '"' {
					if i+1 < len(rest) && rest[i+1] == '"' {
						i++
					} else {
						break
					}
				}
			}
			if i >= len(rest) {
				return "", "", false
			}
			part, rest = strings.ReplaceAll(rest[1:i], `""`, `"`), rest[i+1:]
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = strings.ToLower(rest[:i]), rest[i:]
		}
		if part == "" {
			return "", "", false
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		if rest[0] != '.' {
			return "", "", false
		}
		rest = rest[1:]
	}
	switch len(parts) {
	case 1:
		return "", parts[0], true
	case 2:
		return parts[0], parts[1], true
	}
	return "", "", false
}
