package diff

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// side is one of the two schemas.
type side struct {
	snap *catalog.Snapshot
	db   types.OID
	env  *pgcatalog.Env
	rels map[string]catalog.Relation // by qualified name
	// unnamed are the sequences of identity columns, which come and go with them.
	identity map[types.OID]bool
}

func newSide(s *catalog.Snapshot, db types.OID) *side {
	d := &side{snap: s, db: db, env: &pgcatalog.Env{Snap: s, DB: db}, rels: map[string]catalog.Relation{}, identity: map[types.OID]bool{}}
	for _, r := range s.Relations(db) {
		d.rels[relName(r)] = r
		if t, ok := r.(*catalog.Table); ok {
			for i := range t.Columns {
				if c := &t.Columns[i]; c.Identity != 0 && !c.Dropped {
					d.identity[c.Sequence] = true
				}
			}
		}
	}
	return d
}

func (d *side) typ(t types.T) string { return d.snap.FormatType(t, d.db, nil) }

func relName(r catalog.Relation) string { return catalog.QualifiedIdent(r.RelName()) }

func quote(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = catalog.QuoteIdent(n)
	}
	return strings.Join(out, ", ")
}

// differ collects the statements.
type differ struct {
	a, b *side
	out  []string
	// changes of the tables that both have.
	tables []*tableChange
	// leads and follows tell of tables whose columns change together with those below or
	// above them.
	leads, follows map[*tableChange]bool
	// again are the views of the old schema that are dropped, by qualified name,
	// and made again if the new schema has them.
	again map[string]*catalog.View
	// The routines of both, by name and arguments; remade are those that are dropped
	// and made again.
	oldRoutines, routines map[string]*routine
	remade                map[string]bool
	made                  map[string]bool // types, routines, operators and casts, by kind and name
	dropped               map[string]bool // views and routines
	left                  map[string]bool // taken out of region-clustered files
	unchecked             bool            // the script has turned check_function_bodies off
	suspended             bool            // the old default privileges are gone
	err                   error
}

func (d *differ) add(parts ...string) { d.out = append(d.out, strings.Join(parts, "")+";") }

// refuse remembers the first difference that no DDL can make.
func (d *differ) refuse(format string, args ...any) {
	if d.err == nil {
		d.err = sqlerr.Unsupported(-1, format, args...)
	}
}

// Statements returns the DDL, each statement with its semicolon, that makes
// database db of the new snapshot out of database oldDB of the old one.
func Statements(old *catalog.Snapshot, oldDB types.OID, to *catalog.Snapshot, db types.OID) ([]string, error) {
	d := &differ{a: newSide(old, oldDB), b: newSide(to, db), again: map[string]*catalog.View{}, made: map[string]bool{}, dropped: map[string]bool{}}
	d.roles()
	d.compareTables()
	d.compareTrees()
	d.compareRoutines()
	d.detachPartitions()
	d.leaveParents()
	d.viewsToDrop()
	d.dropPolicies()
	d.dropViews()
	d.releaseTyped()
	d.leavePlaces()
	d.dropParts()
	d.dropOperators()
	d.dropRoutines(true)
	d.dropRelations()
	d.suspendDefaults()
	d.schemas()
	d.extensions()
	d.userTypes()
	d.sequences()
	d.makeRoutines(beforeTables)
	d.makeTables()
	d.bindTyped()
	d.linkSequences()
	d.makeRoutines(behindTables)
	d.makeParts()
	d.placeTables()
	d.makeViews()
	d.makeRoutines(behindViews)
	d.makePolicies()
	d.shown()
	d.comments()
	d.privileges()
	d.notes()
	d.dropRoutines(false)
	d.dropTypes()
	d.dropExtensions()
	d.dropSchemas()
	d.settings()
	d.dropRoles()
	return d.out, d.err
}

// notes refuses other comments on, and privileges for, what every database has.
func (d *differ) notes() {
	same := func(x, y catalog.SystemNote) bool {
		return x.Class == y.Class && x.OID == y.OID && x.Sub == y.Sub && x.Described == y.Described && x.Comment == y.Comment &&
			(x.ACL == nil) == (y.ACL == nil) && x.ACL.Equal(y.ACL)
	}
	a, b := d.a.snap.SystemNotes(d.a.db), d.b.snap.SystemNotes(d.b.db)
	for _, n := range b {
		if !slices.ContainsFunc(a, func(o catalog.SystemNote) bool { return same(o, n) }) {
			d.refuse("changing the comment on, or the privileges for, a built-in object in a script of differences")
		}
	}
	for _, o := range a {
		if !slices.ContainsFunc(b, func(n catalog.SystemNote) bool { return n.Class == o.Class && n.OID == o.OID && n.Sub == o.Sub }) {
			d.refuse("taking back the comment on, or the privileges for, a built-in object in a script of differences")
		}
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// roles makes and changes roles.
func (d *differ) roles() {
	for _, r := range sortByName(d.b.snap.Roles()) {
		old := d.a.snap.Role(r.Name)
		name := catalog.QuoteIdent(r.Name)
		opts := roleOptions(r)
		if strings.HasPrefix(r.Name, "pg_") {
			continue
		}
		was := &catalog.Role{}
		if old != nil {
			was = old
		}
		until := validUntil(r)
		if until == validUntil(was) {
			until = ""
		}
		switch {
		case old == nil:
			d.add("CREATE ROLE ", name, " ", opts, until)
		case opts != roleOptions(old):
			d.add("ALTER ROLE ", name, " ", opts, until)
		case until != "":
			d.add("ALTER ROLE ", name, until)
		}
		d.comment("ROLE", name, was.Comment, r.Comment)
		d.pairs("ALTER ROLE "+name, was.Settings, r.Settings)
		d.pairs("ALTER ROLE ALL", was.Everybody, r.Everybody)
		for _, db := range slices.Compact(slices.Sorted(sortedDatabases(was, r))) {
			d.pairs("ALTER ROLE "+name+" IN DATABASE "+catalog.QuoteIdent(db), was.InDatabase[db], r.InDatabase[db])
		}
	}
	d.memberships()
}

// sortedDatabases yields the databases in which one of two roles has settings.
func sortedDatabases(a, b *catalog.Role) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range []*catalog.Role{a, b} {
			for db := range r.InDatabase {
				if !yield(db) {
					return
				}
			}
		}
	}
}

func sortByName(list []*catalog.Role) []*catalog.Role {
	slices.SortFunc(list, func(a, b *catalog.Role) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func roleOptions(r *catalog.Role) string {
	var out []string
	flag := func(on bool, word string) {
		if !on {
			word = "NO" + word
		}
		out = append(out, word)
	}
	flag(r.Super, "SUPERUSER")
	flag(r.Login, "LOGIN")
	flag(r.CreateDB, "CREATEDB")
	flag(r.CreateRole, "CREATEROLE")
	flag(r.Inherit, "INHERIT")
	flag(r.Replication, "REPLICATION")
	flag(r.BypassRLS, "BYPASSRLS")
	return strings.Join(append(out, "CONNECTION LIMIT "+itoa(int64(r.ConnLimit))), " ")
}

func (d *differ) dropRoles() {
	for _, r := range sortByName(d.a.snap.Roles()) {
		if d.b.snap.Role(r.Name) == nil {
			d.add("DROP ROLE ", catalog.QuoteIdent(r.Name))
		}
	}
}

// pairs turns settings into others with SET and RESET.
func (d *differ) pairs(alter string, old, to map[string]string) {
	for _, k := range sortedKeys(old) {
		if _, ok := to[k]; !ok {
			d.add(alter, " RESET ", settingName(k))
		}
	}
	for _, k := range sortedKeys(to) {
		if v, ok := old[k]; !ok || v != to[k] {
			d.add(alter, " SET ", settingName(k), " = ", settingValue(k, to[k]))
		}
	}
}

func settingName(k string) string {
	parts := strings.Split(k, ".")
	return strings.ReplaceAll(quote(parts), ", ", ".")
}

// settingValue is a value of SET: lists of names stay lists.
func settingValue(k, v string) string {
	if k == "search_path" {
		return v
	}
	return catalog.QuoteLiteral(v)
}

// settings are those of the database.
func (d *differ) settings() {
	old, to := d.a.database(), d.b.database()
	// The statements run in the old database, whatever its name.
	name := catalog.QuoteIdent(old.Name)
	d.pairs("ALTER DATABASE "+name, old.Settings, to.Settings)
	if old.ConnLimit != to.ConnLimit {
		d.add("ALTER DATABASE ", name, " CONNECTION LIMIT ", strconv.Itoa(to.ConnLimit))
	}
	if old.Closed != to.Closed {
		d.refuse("ALTER DATABASE %s ALLOW_CONNECTIONS %t, from another database,", name, !to.Closed)
	}
	if old.Template != to.Template {
		d.add("ALTER DATABASE ", name, " IS_TEMPLATE ", strconv.FormatBool(to.Template))
	}
	d.comment("DATABASE", name, old.Comment, to.Comment)
}

// userSchemas are the schemas that are not built in.
func (d *side) userSchemas() map[string]*catalog.Schema {
	m := map[string]*catalog.Schema{}
	for _, n := range d.snap.Schemas(d.db) {
		if !catalog.IsBuiltinSchema(n.Name) && !catalog.IsTempSchema(n.Name) {
			m[n.Name] = n
		}
	}
	return m
}

func (d *differ) schemas() {
	old, to := d.a.userSchemas(), d.b.userSchemas()
	for _, n := range sortedKeys(to) {
		name := catalog.QuoteIdent(n)
		was := old[n]
		if was == nil {
			d.add("CREATE SCHEMA ", name)
			was = &catalog.Schema{}
		}
		d.owner("SCHEMA", name, was.Owner, to[n].Owner)
		d.comment("SCHEMA", name, was.Comment, to[n].Comment)
	}
}

func (d *differ) dropSchemas() {
	to := d.b.userSchemas()
	for _, n := range sortedKeys(d.a.userSchemas()) {
		if to[n] == nil {
			d.add("DROP SCHEMA ", catalog.QuoteIdent(n))
		}
	}
}

// owner changes an object's owner; old is "" for a new object.
func (d *differ) owner(kind, name, old, to string) {
	if old != to && to != "" {
		d.add("ALTER ", kind, " ", name, " OWNER TO ", catalog.QuoteIdent(to))
	}
}

// comment changes an object's comment.
func (d *differ) comment(kind, name, old, to string) {
	switch {
	case old == to:
	case to == "":
		d.add("COMMENT ON ", kind, " ", name, " IS NULL")
	default:
		d.add("COMMENT ON ", kind, " ", name, " IS ", catalog.QuoteLiteral(to))
	}
}
