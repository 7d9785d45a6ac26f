package diff

import (
	"maps"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// tableChange is a table that both schemas have, and what becomes of its
// columns. Names in none of the sets stay as they are, where they are.
type tableChange struct {
	name    string
	old, to *catalog.Table
	moved   map[string]bool // made again at the end, with the old values
	remade  map[string]bool // generated: dropped and made again
	retyped map[string]bool
	gone    []string // dropped
}

// touched reports whether a column of the old table is not what it was.
func (c *tableChange) touched(name string) bool {
	return c.moved[name] || c.remade[name] || c.retyped[name] || slices.Contains(c.gone, name)
}

// live are the columns that were not dropped.
func live(t *catalog.Table) []*catalog.Column {
	var out []*catalog.Column
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			out = append(out, &t.Columns[i])
		}
	}
	return out
}

func column(t *catalog.Table, name string) *catalog.Column {
	if i := t.Col(name); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

// table returns the side's table of that name, or nil.
func (d *side) table(name string) *catalog.Table {
	t, _ := d.rels[name].(*catalog.Table)
	if t != nil && t.Temp {
		return nil
	}
	return t
}

func (d *differ) compareTables() {
	for _, n := range sortedKeys(d.b.rels) {
		old, to := d.a.table(n), d.b.table(n)
		d.comparePartitions(n, old, to)
		if old != nil && to != nil {
			d.tables = append(d.tables, d.compareColumns(n, old, to))
		}
	}
}

func (d *differ) change(name string) *tableChange {
	for _, c := range d.tables {
		if c.name == name {
			return c
		}
	}
	return nil
}

// compareColumns decides which columns can stay in place: those at the beginning
// of the new table, as long as they come in the old order.
func (d *differ) compareColumns(name string, old, to *catalog.Table) *tableChange {
	c := &tableChange{name: name, old: old, to: to, moved: map[string]bool{}, remade: map[string]bool{}, retyped: map[string]bool{}}
	cols := live(to)
	for _, x := range cols {
		if was := column(old, x.Name); was != nil && d.a.typ(was.Type) != d.b.typ(x.Type) {
			c.retyped[x.Name] = true
		}
	}
	for _, x := range live(old) {
		if to.Col(x.Name) < 0 {
			c.gone = append(c.gone, x.Name)
		}
	}
	stay := d.inPlace(c, cols)
	for _, x := range cols[stay:] {
		delete(c.retyped, x.Name)
		switch was := column(old, x.Name); {
		case was == nil:
		case x.Generated || was.Generated:
			c.remade[x.Name] = true
		default:
			c.moved[x.Name] = true
		}
	}
	return c
}

// inPlace returns the number of columns that need not move.
func (d *differ) inPlace(c *tableChange, cols []*catalog.Column) int {
	stay, last := 0, -1
	for _, x := range cols {
		at := c.old.Col(x.Name)
		if at <= last || x.Generated && !d.sameGenerated(c, x) {
			break
		}
		stay, last = stay+1, at
	}
	// A generated column that reads a column which does not stay as it is cannot
	// stay either; each time one less does.
	for again := true; again; {
		again = false
		for i, x := range cols[:stay] {
			was := column(c.old, x.Name)
			if !was.Generated || !x.Generated {
				continue
			}
			for _, r := range was.DefaultCols {
				n := c.old.Columns[r].Name
				if c.retyped[n] || !slices.ContainsFunc(cols[:stay], func(y *catalog.Column) bool { return y.Name == n }) {
					stay, again = i, true
					break
				}
			}
			if again {
				break
			}
		}
	}
	return stay
}

func (d *differ) sameGenerated(c *tableChange, x *catalog.Column) bool {
	was := column(c.old, x.Name)
	return was != nil && was.Generated && was.Default == x.Default && !c.retyped[x.Name]
}

// columnDef is a column of CREATE TABLE and ADD COLUMN.
func (d *differ) columnDef(x *catalog.Column, values bool) string {
	s := catalog.QuoteIdent(x.Name) + " " + d.b.typ(x.Type)
	if x.Storage != "" {
		s += " STORAGE " + x.Storage
	}
	if x.Compression != "" {
		s += " COMPRESSION " + x.Compression
	}
	s += collate(x.Collation)
	switch {
	case x.Generated:
		s += " GENERATED ALWAYS AS (" + x.Default + ") STORED"
	case !values:
		return s // the rest comes when the values are there
	case x.Identity != 0:
		s += " " + d.identity(x)
	case x.Default != "":
		s += " DEFAULT " + x.Default
	}
	if x.NotNull {
		s += " NOT NULL"
	}
	return s
}

var identityWords = map[byte]string{'a': "ALWAYS", 'd': "BY DEFAULT"}

func (d *differ) identity(x *catalog.Column) string {
	s := "GENERATED " + identityWords[x.Identity] + " AS IDENTITY"
	if q, ok := d.b.snap.Object(x.Sequence).(*catalog.Sequence); ok {
		s += " (SEQUENCE NAME " + catalog.QualifiedIdent(q.Schema, q.Name) + d.b.sequenceOptions(q) + ")"
	}
	return s
}

// options are a table's storage parameters, the layout among them.
func options(t *catalog.Table) map[string]string {
	m := t.Options.Map()
	if t.Layout == catalog.LayoutColumn {
		m["layout"] = t.Layout
		if g := groups(t); g != "" {
			m["groups"] = g
		}
	}
	return m
}

// groups are the columns that share a file in the column layout.
func groups(t *catalog.Table) string {
	var out []string
	for _, g := range t.Groups {
		var names []string
		for _, c := range g.Cols {
			if !t.Columns[c].Dropped {
				names = append(names, t.Columns[c].Name)
			}
		}
		if len(names) > 1 {
			out = append(out, "("+quote(names)+")")
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func optionList(m map[string]string) string {
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, settingName(k)+" = "+catalog.QuoteLiteral(m[k]))
	}
	return strings.Join(out, ", ")
}

// makeTables makes new tables and the columns of those that stay. Constraints
// come later.
func (d *differ) makeTables() {
	for _, n := range d.b.parentsFirst(sortedKeys(d.b.rels)) {
		t := d.b.table(n)
		if t == nil {
			continue
		}
		if c := d.change(n); c != nil {
			d.alterTable(c)
			continue
		}
		cols := make([]string, 0, len(t.Columns))
		inherits := d.inherits(t)
		for _, x := range live(t) {
			def := ""
			if inherits && x.Parents > 0 {
				def = d.inheritedDef(x)
			} else {
				def = d.columnDef(x, true)
			}
			if def != "" {
				cols = append(cols, "\n  "+def)
			}
		}
		with := ""
		o := options(t)
		if k := t.ClusterSpec(); k != nil {
			maps.Copy(o, k.Options()) // which wait for the keys
		}
		if len(o) > 0 {
			with = " WITH (" + optionList(o) + ")"
		}
		create := "CREATE TABLE "
		if t.Unlogged {
			create = "CREATE UNLOGGED TABLE "
		}
		d.add(create, n, " (", strings.Join(cols, ","), "\n)", d.inheritsClause(t), d.partitionBy(t), with)
		if inherits {
			d.ownProperties(n, t)
		}
		d.owner("TABLE", n, "", t.Owner)
	}
}

func (d *differ) alterTable(c *tableChange) {
	alter := "ALTER TABLE " + d.a.onlyOf(c.old) + c.name + " "
	d.tableOptions(alter, c)
	if !d.follows[c] {
		d.alterColumns("ALTER TABLE "+d.onlyTable(c)+c.name+" ", c)
	}
	d.layout(alter, c)
	d.owner("TABLE", c.name, c.old.Owner, c.to.Owner)
}

func (d *differ) alterColumns(alter string, c *tableChange) {
	for _, x := range live(c.to) {
		if !c.retyped[x.Name] {
			continue
		}
		n, was := catalog.QuoteIdent(x.Name), column(c.old, x.Name)
		if was.Storage == catalog.StorageElements && x.Storage != was.Storage {
			d.add(alter, "ALTER COLUMN ", n, " SET STORAGE extended") // the new type may have no elements
		}
		s := alter + "ALTER COLUMN " + n + " TYPE " + d.b.typ(x.Type)
		if cast := d.convert(was.Type, x.Type); cast != "" {
			s += " USING " + n + cast
		}
		d.add(s)
	}
	d.addColumns(alter, c)
	for _, x := range live(c.to) {
		if was := column(c.old, x.Name); was != nil && !c.remade[x.Name] {
			d.alterColumn(alter, c, was, x)
		}
	}
}

func (d *differ) tableOptions(alter string, c *tableChange) {
	if c.to.Unlogged != c.old.Unlogged {
		d.add(alter, persistence(c.to.Unlogged))
	}
	old, to := options(c.old), options(c.to)
	set := map[string]string{}
	for k, v := range to {
		if w, ok := old[k]; !ok || w != v {
			set[k] = v
		}
	}
	delete(set, "layout") // see layout
	delete(set, "groups")
	var reset []string
	for _, k := range sortedKeys(old) {
		if _, ok := to[k]; !ok && k != "layout" && k != "groups" {
			reset = append(reset, settingName(k))
		}
	}
	if len(reset) > 0 {
		d.add(alter, "RESET (", strings.Join(reset, ", "), ")")
	}
	if len(set) > 0 {
		d.add(alter, "SET (", optionList(set), ")")
	}
}

// layout changes how rows are kept, when the columns are those of the new table.
func (d *differ) layout(alter string, c *tableChange) {
	old, to := options(c.old), options(c.to)
	if old["layout"] == to["layout"] && old["groups"] == to["groups"] && !slices.ContainsFunc(c.to.Groups, d.regrouped(c)) {
		return
	}
	set := map[string]string{"layout": c.to.Layout}
	if to["groups"] != "" {
		set["groups"] = to["groups"]
	}
	d.add(alter, "SET (", optionList(set), ")")
}

// regrouped tells whether a group has a column that is added, and so has left its group.
func (d *differ) regrouped(c *tableChange) func(g catalog.ColumnGroup) bool {
	return func(g catalog.ColumnGroup) bool {
		return len(g.Cols) > 1 && slices.ContainsFunc(g.Cols, func(i int) bool {
			n := c.to.Columns[i].Name
			return c.moved[n] || c.remade[n] || c.old.Col(n) < 0
		})
	}
}

// addColumns adds what is new and what moves, in the new order, and carries the
// values of moved columns over.
func (d *differ) addColumns(alter string, c *tableChange) {
	spare := func(name string) string { return catalog.QuoteIdent("old " + name) }
	var carry, drop []string
	flush := func() {
		if len(carry) > 0 {
			d.add("UPDATE ", c.name, " SET ", strings.Join(carry, ", "))
			carry = nil
		}
	}
	added := map[string]bool{}
	for _, x := range live(c.to) {
		n := catalog.QuoteIdent(x.Name)
		if x.Generated && (c.remade[x.Name] || c.old.Col(x.Name) < 0) {
			flush() // it is computed at once
			for _, r := range x.DefaultCols {
				read := c.to.Columns[r].Name
				if !added[read] && (c.moved[read] || c.remade[read] || c.old.Col(read) < 0) {
					d.refuse("placing the generated column %s of table %s before column %s, which it reads and which is added,", x.Name, c.name, read)
				}
			}
		}
		added[x.Name] = true
		switch {
		case c.moved[x.Name]:
			was := column(c.old, x.Name)
			d.add(alter, "RENAME COLUMN ", n, " TO ", spare(x.Name))
			d.add(alter, "ADD COLUMN ", d.columnDef(x, false))
			carry = append(carry, n+" = "+spare(x.Name)+d.convert(was.Type, x.Type))
			drop = append(drop, spare(x.Name))
		case c.remade[x.Name] && !x.Generated:
			d.refuse("making the generated column %s of table %s an ordinary one and moving it", x.Name, c.name)
		case c.remade[x.Name], c.old.Col(x.Name) < 0:
			d.add(alter, "ADD COLUMN ", d.columnDef(x, true))
		}
	}
	flush()
	for _, n := range drop {
		d.add(alter, "DROP COLUMN ", n)
	}
}

// convert is the cast from one type to another, "" where assignment does.
func (d *differ) convert(from, to types.T) string {
	a, b := d.a.typ(from), d.b.typ(to)
	if a == b || from.OID == to.OID && from.OID < types.FirstUserOID {
		return ""
	}
	if c := catalog.FindCast(from.OID, to.OID); c != nil {
		if c.Context != 'e' {
			return ""
		}
		return "::" + b
	}
	return "::text::" + b
}

func (d *differ) alterColumn(alter string, c *tableChange, was, x *catalog.Column) {
	n := catalog.QuoteIdent(x.Name)
	col := alter + "ALTER COLUMN " + n + " "
	moved := c.moved[x.Name]
	if was.Generated && !x.Generated {
		d.add(col, "DROP EXPRESSION")
	}
	if x.Storage != was.Storage && !moved {
		d.add(col, "SET STORAGE ", d.b.storageWord(x))
	}
	if x.Collation != was.Collation && x.Type == was.Type && !moved {
		to := x.Collation
		if to == "" {
			to = "default"
		}
		d.add(col, "TYPE ", d.b.typ(x.Type), " COLLATE ", catalog.QuoteIdent(to))
	}
	hadDefault := was.Default != "" && !was.Generated && !d.dropsDefault(c, was)
	if x.Default != "" && !x.Generated && !hadDefault {
		d.add(col, "SET DEFAULT ", x.Default)
	}
	switch {
	case x.NotNull && (!was.NotNull || moved):
		d.add(col, "SET NOT NULL")
	case !x.NotNull && was.NotNull && !moved:
		d.add(col, "DROP NOT NULL")
	}
	d.alterIdentity(col, c, was, x)
}

// dropsDefault reports whether the old default goes before the column changes.
func (d *differ) dropsDefault(c *tableChange, was *catalog.Column) bool {
	x := column(c.to, was.Name)
	return was.Default != "" && !was.Generated && x != nil && (was.Default != x.Default || x.Generated || c.touched(was.Name))
}

func (d *differ) sequenceOf(s *side, x *catalog.Column) (name, opts string) {
	q, ok := s.snap.Object(x.Sequence).(*catalog.Sequence)
	if !ok {
		return "", ""
	}
	return catalog.QualifiedIdent(q.Schema, q.Name), s.sequenceOptions(q)
}

func (d *differ) alterIdentity(col string, c *tableChange, was, x *catalog.Column) {
	oldName, oldOpts := d.sequenceOf(d.a, was)
	name, opts := d.sequenceOf(d.b, x)
	moved := c.moved[x.Name]
	if was.Identity == x.Identity && (x.Identity == 0 || oldName == name) && !moved {
		if x.Identity != 0 && oldOpts != opts {
			d.add("ALTER SEQUENCE ", name, opts)
		}
		return
	}
	if x.Identity == 0 {
		return
	}
	d.add(col, "ADD ", d.identity(x))
	// The next value comes after those that are there.
	q := d.b.snap.Object(x.Sequence).(*catalog.Sequence)
	edge := "max"
	if q.Inc < 0 {
		edge = "min"
	}
	v := edge + "(" + catalog.QuoteIdent(x.Name) + ")"
	d.add("SELECT setval(", catalog.QuoteLiteral(name), ", ", v, ") FROM ", c.name, " HAVING ", v, " BETWEEN ", itoa(q.Min), " AND ", itoa(q.Max))
}

// dropsIdentity reports whether an identity goes before the tables are changed,
// so that its sequence's name is free.
func (d *differ) dropsIdentity(c *tableChange, was *catalog.Column) bool {
	x := column(c.to, was.Name)
	if was.Identity == 0 || x == nil {
		return false
	}
	oldName, _ := d.sequenceOf(d.a, was)
	name, _ := d.sequenceOf(d.b, x)
	return was.Identity != x.Identity || oldName != name || c.moved[was.Name]
}
