// Package pgcatalog has the system relations of PostgreSQL 15: pg_catalog and
// information_schema. They are declared relations over a catalog snapshot; the
// planner plans and filters them like any table.
//
// In: an Env (snapshot, session, settings) and optionally an equality lookup.
// Out: rows as datums in the column order of PostgreSQL's relation. Invariant:
// every relation of PostgreSQL 15 exists with its columns, types and attnums;
// those that are always empty here are declared so, with the reason, in
// empty.go, and a test holds the two lists complete.
//
// One relation per file, collected in list.go. describe.go and its neighbours
// have what SQL functions say about objects (pg_get_indexdef and the like).
package pgcatalog

import (
	"slices"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Env is what rows are computed from.
type Env struct {
	Snap       *catalog.Snapshot
	DB         types.OID // the connected database
	User       string
	SearchPath []string // schemas in effect, without the implicit pg_catalog
	TempSchema string   // what pg_temp means, "" if there is none
	AnySchema  bool     // User need not be allowed to use the schemas that names are in
	// Fmt is how the session writes dates and intervals; nil for the canonical texts.
	Fmt      *types.FmtOpts
	Settings func() []Setting
	Sessions func() []SessionInfo
	Locks    func() []LockInfo
	// The cumulative statistics: of a table or index since the server started, and in the
	// open transaction; of a database, of the log, and of a function that was called.
	RelStats, XactStats func(types.OID) RelStats
	DBStats             func(types.OID) DBStats
	LogStats            func() LogStats
	FunctionStats       func(f types.OID, xact bool) (s FunctionStats, called bool)
	// Sequence returns a sequence's last value; called is false before the first
	// nextval.
	Sequence func(types.OID) (last int64, called bool, err error)
	// Prepared and Cursors list the session's own statements and cursors.
	Prepared func() []PreparedInfo
	Cursors  func() []CursorInfo
	// Refused lists what clients asked for and the server does not support.
	Refused func() []RefusedInfo
	// Regions lists the regions of a region-clustered table, as the statement sees
	// them.
	Regions func(*catalog.Table) ([]RegionInfo, error)
	// LargeObjects passes the large objects of the database, as the statement sees them:
	// all, or the one of an OID; nil where there are none.
	LargeObjects func(one types.OID, f func(*catalog.LargeObject)) error
	// Updatable tells which changes a view takes, as bits of pg_relation_is_updatable,
	// and which of its columns; nil where queries are not analysed.
	Updatable func(*catalog.View) (events int, cols []bool)
	// ViewTree analyses a view's query; nil where queries are not analysed.
	ViewTree func(*catalog.View) (*catalog.QueryTree, error)
	// ConditionTree analyses a query that stands for a condition; nil as ViewTree.
	ConditionTree func(*catalog.View) (*catalog.QueryTree, error)
	// BodyReads tells which columns of a relation a function's body names; nil as ViewTree.
	BodyReads func(f *catalog.Function, rel types.OID) []int
	// BodyTree analyses a function's body; nil as ViewTree.
	BodyTree func(*catalog.Function) (*catalog.BodyTree, error)
	// Uses lists the functions that a stored text calls and the relations that it
	// names; nil where texts are not analysed.
	Uses func(catalog.StoredText) []types.OID
	// TypeName reads the name of a type as SQL spells it.
	TypeName func(string) (types.OID, error)
	Now      int64 // microseconds since 2000-01-01 UTC
}

// RegionInfo is a row of kvsqld.regions: the box in degrees, the rows of the table
// with the positions, and the pairs of all tables stored in the region. Known is
// false for the region of the rows without a position, which has no box.
type RegionInfo struct {
	ID                       string
	North, West, South, East float64
	Known                    bool
	Rows, Keys               int64
}

// Setting is a row of pg_settings.
type Setting struct {
	Name, Value, Unit, Category, ShortDesc, Context, VarType, Source, Min, Max string
	EnumVals                                                                   []string
	BootVal, ResetVal, ExtraDesc                                               string
}

// SessionInfo is a row of pg_stat_activity, pg_stat_ssl and pg_stat_gssapi. Times are microseconds since
// 2000-01-01 UTC, 0 for unknown.
type SessionInfo struct {
	PID                                               int32
	DB                                                types.OID
	User, Application                                 string
	ClientAddr                                        string // "" for a Unix socket
	ClientPort                                        int32
	BackendStart, XactStart, QueryStart, StateChanged int64
	WaitEventType, WaitEvent, State, Query            string
	Xid, Xmin                                         uint64 // 0: none
	BackendType                                       string
	TLSVersion, TLSCipher                             string // "" without TLS
	TLSBits                                           int64
	Hidden                                            bool // only who it is may be seen
}

// LockInfo is a row of pg_locks.
type LockInfo struct {
	Type        string // relation, tuple, virtualxid, transactionid, advisory
	DB, Rel     types.OID
	Page, Tuple int64  // of a tuple
	Xid         uint64 // of a transactionid
	Virtual     string // of a virtualxid
	Owner       string // the virtual transaction that holds the lock or wants it
	Fast        bool   // fastpath
	PID         int32
	Mode        string
	Granted     bool
	WaitFrom    int64 // microseconds since 2000-01-01 UTC, 0 when granted
	// Object holds classid, objid and objsubid of an object or an advisory lock.
	Object [3]uint32
}

// PreparedInfo is a row of pg_prepared_statements.
type PreparedInfo struct {
	Name, Statement string
	PrepareTime     int64
	Params          []types.OID
	FromSQL         bool
	// Generic and Custom count the executions by plans without and with the values
	// of the parameters.
	Generic, Custom int64
}

// CursorInfo is a row of pg_cursors.
type CursorInfo struct {
	Name, Statement          string
	Hold, Binary, Scrollable bool
	CreationTime             int64
}

// RefusedInfo is a row of kvsqld.refused.
type RefusedInfo struct {
	Feature, SQLState, Application string
	Count                          int64
}

// Lookup says what is wanted of a relation: rows with the values Vals, which are
// not NULL, in the columns Cols, and of these rows the columns Want (nil: all);
// the others may be NULL.
type Lookup struct {
	Cols []int
	Vals []types.Datum
	Want []int
}

// Relation is a declared relation. Rows emits its rows, or with a lookup those
// that it asks for, until emit returns false. The row is valid until emit
// returns.
type Relation struct {
	*catalog.Virtual
	Rows func(env *Env, key *Lookup, emit func(row []types.Datum) bool) error
}

// registry holds all relations.
type registry struct {
	all    []*Relation
	byName map[string]*Relation // schema.name
	byOID  map[types.OID]*Relation
	infos  []*catalog.Virtual
}

// The registry is filled on first use: the rows of some relations list the
// relations, so that it cannot be a package variable's value.
var (
	loadOnce sync.Once
	loaded   *registry
)

func relations() *registry {
	loadOnce.Do(load)
	return loaded
}

func load() {
	r := &registry{byName: make(map[string]*Relation), byOID: make(map[types.OID]*Relation)}
	defs := make(map[string]def)
	for _, d := range list() {
		defs[d.name] = d
	}
	add := func(s catalog.SystemRelation) *Relation {
		name := s.Name
		if s.Schema != catalog.SchemaPgCatalog {
			name = s.Schema + "." + s.Name
		}
		rel := newRelation(s, defs[name])
		r.byName[s.Schema+"."+s.Name] = rel
		r.byOID[s.OID] = rel
		r.infos = append(r.infos, rel.Virtual)
		return rel
	}
	for _, s := range catalog.SystemRelations() {
		r.all = append(r.all, add(s))
	}
	for _, s := range catalog.OwnRelations() {
		add(s)
	}
	loaded = r
}

func newRelation(s catalog.SystemRelation, d def) *Relation {
	v := &catalog.Virtual{RowType: s.RowType, Columns: s.Columns, View: s.Kind == 'v'}
	v.OID, v.Schema, v.Name, v.Owner = s.OID, s.Schema, s.Name, "postgres"
	for _, key := range d.keys {
		var cols []int
		for _, name := range key {
			cols = append(cols, slices.IndexFunc(s.Columns, func(c catalog.Column) bool { return c.Name == name }))
		}
		v.Keys = append(v.Keys, cols)
	}
	rel := &Relation{Virtual: v}
	rel.Rows = func(env *Env, key *Lookup, emit func([]types.Datum) bool) error {
		if d.rows == nil {
			return nil
		}
		w := &writer{env: env, rel: rel, key: key, row: make([]types.Datum, len(v.Columns)), emit: emit}
		if key != nil && key.Want != nil {
			w.unread = make([]bool, len(v.Columns))
			for i := range w.unread {
				w.unread[i] = !slices.Contains(key.Want, i) && !slices.Contains(key.Cols, i)
			}
		}
		d.rows(w)
		return w.err
	}
	return rel
}

// All returns the system relations that PostgreSQL has, which are those that
// pg_class lists. The slice is shared.
func All() []*Relation { return relations().all }

// Find returns the relation, or nil.
func Find(schema, name string) *Relation { return relations().byName[schema+"."+name] }

// ByOID returns the relation, or nil.
func ByOID(o types.OID) *Relation { return relations().byOID[o] }

// overlay makes the system relations visible in a snapshot.
type overlay struct{}

// Overlay returns the provider for catalog.New and Snapshot.WithVirtual.
func Overlay() catalog.Overlay { return overlay{} }

func (overlay) VirtualRelation(schema, name string) *catalog.Virtual {
	if r := Find(schema, name); r != nil {
		return r.Virtual
	}
	return nil
}

func (overlay) VirtualByOID(o types.OID) *catalog.Virtual {
	if r := ByOID(o); r != nil {
		return r.Virtual
	}
	return nil
}

func (overlay) Virtuals() []*catalog.Virtual { return relations().infos }
