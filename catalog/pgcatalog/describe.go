package pgcatalog

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// GetExpr is pg_get_expr: the text of a default, check, predicate, bound or index
// expression.
func (env *Env) GetExpr(text string, _ types.OID, pretty bool) string {
	if strings.HasPrefix(text, "FOR VALUES ") {
		return text // a partition's bound
	}
	return env.exprText(text, pretty)
}

// GetIndexDef is pg_get_indexdef: the CREATE INDEX statement for column 0, else
// the definition of one key or included column; false when there is no such
// index.
func (env *Env) GetIndexDef(index types.OID, col int, pretty bool) (string, bool) {
	t, ix := env.Snap.IndexByOID(env.DB, index)
	if ix == nil {
		for _, s := range catalog.SystemIndexes() {
			if s.OID != index {
				continue
			}
			if col == 0 {
				return systemIndexDef(&s), true
			}
			if r := ByOID(s.Table); r != nil && col <= len(s.Keys) {
				return catalog.QuoteIdent(r.Columns[s.Keys[col-1]-1].Name), true
			}
			return "", true
		}
		if t, ok := env.toastByOID(index); ok && t.index == index {
			return t.indexDef(col), true
		}
		return "", false
	}
	switch {
	case col == 0 && pretty:
		return env.indexDefFor(t, ix, only(t)+env.Snap.RelationText(env.DB, env.SearchPath, t.Schema, t.Name), true), true
	case col == 0:
		return env.indexDef(t, ix), true
	case col <= len(ix.Keys):
		k := &ix.Keys[col-1]
		if k.Col >= 0 {
			return catalog.QuoteIdent(t.Columns[k.Col].Name), true
		}
		return env.indexExprText(k.Expr, pretty), true
	case col <= len(ix.Keys)+len(ix.Include):
		return catalog.QuoteIdent(t.Columns[ix.Include[col-1-len(ix.Keys)]].Name), true
	}
	return "", true
}

// indexDef is the CREATE INDEX statement with the table's schema, which dumps
// rely on.
func (env *Env) indexDef(t *catalog.Table, ix *catalog.Index) string {
	return env.indexDefFor(t, ix, only(t)+catalog.QualifiedIdent(t.Schema, t.Name), false)
}

// only stands before a partitioned table, whose partitions' indexes are dumped on
// their own.
func only(t *catalog.Table) string {
	if t.Key != nil {
		return "ONLY "
	}
	return ""
}

func (env *Env) indexDefFor(t *catalog.Table, ix *catalog.Index, table string, pretty bool) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if ix.Unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("INDEX " + catalog.QuoteIdent(ix.Name) + " ON " + table + " USING " + ix.Kind + " (")
	for i := range ix.Keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(env.indexKeyDef(t, &ix.Keys[i], pretty))
	}
	b.WriteByte(')')
	if len(ix.Include) > 0 {
		b.WriteString(" INCLUDE (" + columnNames(t.Columns, ix.Include) + ")")
	}
	if ix.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	b.WriteString(withOptions(ix.Options))
	if ix.Where != "" {
		b.WriteString(" WHERE " + env.exprText(ix.Where, pretty))
	}
	return b.String()
}

func (env *Env) indexKeyDef(t *catalog.Table, k *catalog.IndexKey, pretty bool) string {
	s := ""
	if k.Col >= 0 {
		s = catalog.QuoteIdent(t.Columns[k.Col].Name)
	} else {
		s = env.indexExprText(k.Expr, pretty)
	}
	if k.Collation != "" {
		s += " COLLATE " + catalog.QuoteIdent(k.Collation)
	}
	if k.Opclass != "" {
		s += " " + catalog.QuoteIdent(k.Opclass)
	}
	switch {
	case k.Desc && !k.NullsFirst:
		s += " DESC NULLS LAST"
	case k.Desc:
		s += " DESC"
	case k.NullsFirst:
		s += " NULLS FIRST"
	}
	return s
}

func systemIndexDef(ix *catalog.SystemIndex) string {
	r := ByOID(ix.Table)
	if r == nil {
		return ""
	}
	unique := ""
	if ix.Unique {
		unique = "UNIQUE "
	}
	cols := make([]int, len(ix.Keys))
	for i, k := range ix.Keys {
		cols[i] = k - 1
	}
	return "CREATE " + unique + "INDEX " + ix.Name + " ON " + r.Schema + "." + r.Name + " USING btree (" + columnNames(r.Columns, cols) + ")"
}

// columnNames lists the names of columns, quoted where necessary.
func columnNames(cols []catalog.Column, list []int) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = catalog.QuoteIdent(cols[c].Name)
	}
	return strings.Join(names, ", ")
}

// GetConstraintDef is pg_get_constraintdef; false when there is no such
// constraint.
func (env *Env) GetConstraintDef(oid types.OID, pretty bool) (string, bool) {
	def, ok := "", false
	env.tables(func(_ types.OID, t *catalog.Table) {
		for _, u := range t.Uniques {
			if u.OID == oid {
				def, ok = env.uniqueDef(t, u, false, pretty), true
			}
		}
		for _, k := range t.Checks {
			if k.OID == oid {
				def, ok = env.checkDef(k, pretty), true
			}
		}
		for _, k := range t.ForeignKeys {
			if k.OID == oid {
				def, ok = env.foreignKeyDef(t, k), true
			}
			for i := range k.Targets {
				if x := &k.Targets[i]; x.OID == oid {
					if own := env.targetKey(t, k, env.Snap.Table(x.Table)); own != nil {
						def, ok = env.foreignKeyDef(t, own), true
					}
				}
			}
		}
	})
	if ok {
		return def, true
	}
	for _, u := range env.checkedTypes() {
		for _, k := range u.Checks {
			if k.OID == oid {
				return env.checkDef(k, pretty), true
			}
		}
	}
	return "", false
}

// UniqueCommand is a UNIQUE, PRIMARY KEY or EXCLUDE constraint as ADD CONSTRAINT takes it,
// with the parameters of its index, which pg_get_constraintdef leaves out.
func (env *Env) UniqueCommand(t *catalog.Table, u *catalog.Unique) string {
	return env.uniqueDef(t, u, true, false)
}

func (env *Env) uniqueDef(t *catalog.Table, u *catalog.Unique, with, pretty bool) string {
	s := "UNIQUE "
	ix := t.IndexByOID(u.Index)
	if u.Exclude != nil && ix != nil {
		return env.exclusionDef(t, u, ix, pretty)
	}
	if u.Primary {
		s = "PRIMARY KEY "
	} else if ix != nil && ix.NullsNotDistinct {
		s += "NULLS NOT DISTINCT "
	}
	s += "(" + columnNames(t.Columns, u.Cols) + ")"
	if ix != nil && len(ix.Include) > 0 {
		s += " INCLUDE (" + columnNames(t.Columns, ix.Include) + ")"
	}
	if ix != nil && with {
		s += withOptions(ix.Options)
	}
	return s + deferrable(u.Deferrable, u.InitiallyDeferred)
}

// exclusionDef is an EXCLUDE constraint, with the parameters of its index.
func (env *Env) exclusionDef(t *catalog.Table, u *catalog.Unique, ix *catalog.Index, pretty bool) string {
	var b strings.Builder
	b.WriteString("EXCLUDE USING " + ix.Kind + " (")
	for i := range ix.Keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(env.indexKeyDef(t, &ix.Keys[i], pretty) + " WITH " + u.Exclude[i])
	}
	b.WriteByte(')')
	if len(ix.Include) > 0 {
		b.WriteString(" INCLUDE (" + columnNames(t.Columns, ix.Include) + ")")
	}
	b.WriteString(withOptions(ix.Options))
	if ix.Where != "" {
		b.WriteString(" WHERE (" + env.exprText(ix.Where, pretty) + ")")
	}
	return b.String() + deferrable(u.Deferrable, u.InitiallyDeferred)
}

// withOptions is WITH of an index, "" without options. Values that are no names are
// quoted.
func withOptions(given catalog.Options) string {
	var list []string
	for _, o := range options(given) {
		name, v, _ := strings.Cut(o, "=")
		if catalog.QuoteIdent(v) != v {
			v = catalog.QuoteLiteral(v)
		}
		list = append(list, name+"="+v)
	}
	if list == nil {
		return ""
	}
	return " WITH (" + strings.Join(list, ", ") + ")"
}

func deferrable(d, initially bool) string {
	s := ""
	if d {
		s = " DEFERRABLE"
	}
	if initially {
		s += " INITIALLY DEFERRED"
	}
	return s
}

func (env *Env) checkDef(k *catalog.Check, pretty bool) string {
	s := "CHECK (" + env.exprText(k.Expr, pretty) + ")"
	if k.NoInherit {
		s += " NO INHERIT"
	}
	if k.NotValid {
		s += " NOT VALID"
	}
	return s
}

var foreignKeyActions = map[byte]string{'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

func (env *Env) foreignKeyDef(t *catalog.Table, k *catalog.ForeignKey) string {
	s := "FOREIGN KEY (" + columnNames(t.Columns, k.Cols) + ") REFERENCES "
	if ref := env.Snap.Table(k.RefTable); ref != nil {
		s += env.Snap.RelationText(env.DB, env.SearchPath, ref.Schema, ref.Name) + "(" + columnNames(ref.Columns, k.RefCols) + ")"
	}
	if k.Match == 'f' {
		s += " MATCH FULL"
	}
	if a := foreignKeyActions[k.OnUpdate]; a != "" {
		s += " ON UPDATE " + a
	}
	if a := foreignKeyActions[k.OnDelete]; a != "" {
		s += " ON DELETE " + a
		if len(k.DelCols) > 0 {
			s += " (" + columnNames(t.Columns, k.DelCols) + ")"
		}
	}
	s += deferrable(k.Deferrable, k.InitiallyDeferred)
	if k.NotValid {
		s += " NOT VALID"
	}
	return s
}

// GetViewDef is pg_get_viewdef; false when there is no such view.
func (env *Env) GetViewDef(oid types.OID, pretty bool, wrap int) (string, bool) {
	v, ok := env.Snap.RelationByOID(env.DB, oid).(*catalog.View)
	if !ok {
		return "", false
	}
	return env.viewText(v, pretty, wrap), true
}

// GetRuleDef is pg_get_ruledef: the rule that a view is; false for no rule.
func (env *Env) GetRuleDef(oid types.OID, pretty bool) (string, bool) {
	for _, r := range catalog.Rules() {
		if text := ruleText(&r, pretty); r.OID == oid && text != "" {
			return text, true
		}
	}
	for _, r := range env.Snap.Relations(env.DB) {
		v, ok := r.(*catalog.View)
		if !ok || synthOID("rewrite", v.OID, 0) != oid {
			continue
		}
		name := catalog.QualifiedIdent(v.Schema, v.Name)
		if pretty {
			name = env.Snap.RelationText(env.DB, env.SearchPath, v.Schema, v.Name)
		}
		return "CREATE RULE \"_RETURN\" AS\n    ON SELECT TO " + name + " DO INSTEAD " + env.viewText(v, pretty, 0), true
	}
	return "", false
}

// GetSerialSequence is pg_get_serial_sequence: the qualified name of the
// sequence that belongs to a column, the oldest of several; "" when it has none.
func (env *Env) GetSerialSequence(rel types.OID, column string) (string, error) {
	r := env.Snap.RelationByOID(env.DB, rel)
	if r == nil {
		return "", sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", rel)
	}
	cols := r.RelColumns()
	at := slices.IndexFunc(cols, func(c catalog.Column) bool { return c.Name == column && !c.Dropped })
	if at < 0 {
		_, name := r.RelName()
		return "", sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", column, name)
	}
	var oldest *catalog.Sequence
	for _, other := range env.Snap.Relations(env.DB) {
		q, ok := other.(*catalog.Sequence)
		if ok && q.OwnerTable == rel && q.OwnerCol == at && (oldest == nil || q.OID < oldest.OID) {
			oldest = q
		}
	}
	if oldest == nil {
		return "", nil
	}
	return catalog.QualifiedIdent(oldest.Schema, oldest.Name), nil
}
