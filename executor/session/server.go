package session

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/wire"
)

// Options configure a Server; a zero field means its default.
type Options struct {
	// Auth is "" or "auto": trust on loopback, SCRAM elsewhere; "trust",
	// "scram" or "password" for everybody.
	Auth string
	// Settings are defaults of run-time parameters for all sessions.
	Settings map[string]string
	// MaxConnections is what max_connections shows.
	MaxConnections int
	// MaxParallel is the number of goroutines a scan may use; 0 is 1.
	MaxParallel int
	// MaxStatementMemory and MaxMemory are the bytes that a statement, and all
	// together, may keep in memory; beyond them a statement fails with 53200.
	// 0 is no limit.
	MaxStatementMemory, MaxMemory int64
	TempDir                       string
	// RememberAtOnce: a text's plan is remembered, with its literals as parameters, when
	// the text comes for the first time. Tests run statements once.
	RememberAtOnce bool
	// Files is where COPY may read and write files; nil: nowhere.
	Files  *ServerFiles
	Logger *slog.Logger
}

func (o *Options) maxConnections() string {
	if o.MaxConnections == 0 {
		return "100"
	}
	return strconv.Itoa(o.MaxConnections)
}

// Server is what all sessions of one store share. It is a wire.Backend.
type Server struct {
	Store   kv.Store
	Catalog *catalog.Catalog
	Tables  *table.DB

	// Cancel and Terminate end another connection's statement, or the connection,
	// and report whether there is one of that number; nil: not possible.
	Cancel, Terminate func(pid int32) bool

	opts       Options
	start      time.Time
	rows       rowCounters
	cumulative cumulative
	notify     notifyHub
	advisory   advisoryLocks
	memory     executor.Pool
	grow       func(int64) error // counts what transactions write
	refusals   refusals
	exports    exports
	numbers    kv.Numbers   // nil: the store numbers no transactions
	lobFiles   sync.Mutex   // held while a database gets the files of large objects
	defining   atomic.Int32 // commits with definitions that have not ended

	// The background worker that keeps statistics up to date.
	ctx          context.Context
	stop         context.CancelFunc
	stale        chan types.OID
	analyzerDone chan struct{}

	mu struct {
		sync.Mutex
		sessions map[int32]*Session
		left     chan struct{} // closed when a session ends; nil: nobody waits for that
	}
}

var _ wire.Backend = (*Server)(nil)

// superuserReserved is superuser_reserved_connections.
const superuserReserved = 3

// countersOID is the key of the fragment with the catalog's counters; no object
// has OID 0.
const countersOID types.OID = 0

// Open makes the server of an open store: it reads the catalog, and writes that
// of a new server into an empty store.
func Open(ctx context.Context, store kv.Store, o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	srv := &Server{Store: store, Tables: table.NewDB(store), opts: o, start: time.Now()}
	srv.memory.Limit = o.MaxMemory
	srv.notify.limit, srv.advisory.limit = queueLimit(o.MaxMemory), advisoryLimit(o.MaxMemory)
	srv.cumulative.init()
	srv.grow = srv.growWrites
	if err := executor.RemoveLeftovers(o.TempDir); err != nil {
		o.Logger.Warn("temporary files of an earlier process were not removed", "error", err)
	}
	srv.advisory.waits, _ = store.(kv.Waits)
	srv.mu.sessions = make(map[int32]*Session)
	srv.Catalog = catalog.New(pgcatalog.Overlay())
	if err := srv.Tables.Init(ctx); err != nil {
		return nil, err
	}
	if err := srv.load(ctx); err != nil {
		return nil, err
	}
	last, err := srv.Tables.DropScratch(ctx)
	if err != nil {
		o.Logger.Warn("files of tables that were being copied were not dropped", "error", err)
	}
	for uint64(srv.Catalog.AllocSpace()) < last { // numbers are not used again
		continue
	}
	srv.numberXacts()
	_ = srv.dropTemp(ctx, 0, "") // the log has it
	srv.ctx, srv.stop = context.WithCancel(context.WithoutCancel(ctx))
	srv.stale, srv.analyzerDone = make(chan types.OID, 64), make(chan struct{})
	if err := srv.renew(ctx); err != nil {
		return nil, err
	}
	go srv.analyzer()
	return srv, nil
}

func (srv *Server) load(ctx context.Context) error {
	snap, err := srv.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	frags, err := table.Fragments(ctx, snap)
	var list [][]byte
	for _, f := range frags {
		list = append(list, append([]byte(nil), f.XML...))
	}
	snap.Close()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return srv.Catalog.Load(list)
	}
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := srv.writeObjects(tx, srv.Catalog.Current().Objects(), nil); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// writeObjects stores the fragments of changed objects and the counters.
func (srv *Server) writeObjects(tx kv.Txn, put []catalog.Object, del []types.OID) error {
	for _, o := range put {
		xml, err := catalog.EncodeObject(o)
		if err != nil {
			return err
		}
		if err := table.PutFragment(tx, table.Fragment{OID: o.ObjectOID(), XML: xml}); err != nil {
			return err
		}
	}
	for _, o := range del {
		if err := table.DropFragment(tx, o); err != nil {
			return err
		}
	}
	return table.PutFragment(tx, table.Fragment{OID: countersOID, XML: srv.Catalog.EncodeCounters()})
}

// Close writes what the server keeps in memory. The sessions have ended; the
// store is the caller's to close.
func (srv *Server) Close(ctx context.Context) error {
	srv.stop()
	<-srv.analyzerDone
	return srv.Tables.Flush(ctx)
}

// Auth implements wire.Backend.
func (srv *Server) Auth(_ context.Context, p *wire.StartupParams, info *wire.ConnInfo) (wire.AuthMethod, *wire.Verifier, error) {
	method := wire.AuthSCRAM
	switch srv.opts.Auth {
	case "trust":
		return wire.AuthTrust, nil, nil
	case "password":
		method = wire.AuthPassword
	case "scram":
	default:
		if info.Loopback() {
			return wire.AuthTrust, nil, nil
		}
	}
	role := srv.Catalog.Current().Role(p.User)
	if role == nil || role.Verifier == "" || role.ValidUntil != 0 && role.ValidUntil < now() {
		return method, nil, nil
	}
	v, err := wire.ParseVerifier(role.Verifier)
	if err != nil {
		return method, nil, err
	}
	return method, v, nil
}

// Connect implements wire.Backend.
func (srv *Server) Connect(_ context.Context, p *wire.StartupParams, info *wire.ConnInfo) (wire.Session, error) {
	s, err := srv.connect(p, info)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (srv *Server) connect(p *wire.StartupParams, info *wire.ConnInfo) (*Session, error) {
	snap := srv.Catalog.Current()
	role := snap.Role(p.User)
	if role == nil {
		return nil, sqlerr.New(sqlerr.InvalidAuthorization, "role \"%s\" does not exist", p.User)
	}
	if !role.Login {
		return nil, sqlerr.New(sqlerr.InvalidAuthorization, "role \"%s\" is not permitted to log in", p.User)
	}
	db := snap.Database(p.Database)
	if db == nil {
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", p.Database)
	}
	if db.Closed {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "database \"%s\" is not currently accepting connections", p.Database)
	}
	if has, _ := snap.Privileges(role.Name, db); has&catalog.PrivConnect == 0 {
		return nil, fatal(sqlerr.InsufficientPrivilege, "permission denied for database \""+p.Database+"\"").
			WithDetail("User does not have CONNECT privilege.")
	}
	if n := srv.count(func(s *Session) bool { return s.db == db.OID }); db.ConnLimit >= 0 && n >= db.ConnLimit && !role.Super {
		return nil, fatal(sqlerr.TooManyConnections, "too many connections for database \""+db.Name+"\"")
	}
	if n := srv.count(func(s *Session) bool { return s.authUser == role.Name }); role.ConnLimit >= 0 && n >= role.ConnLimit && !role.Super {
		return nil, fatal(sqlerr.TooManyConnections, "too many connections for role \""+role.Name+"\"")
	}
	s, err := srv.newSession(db, role, p.Settings, info)
	if err != nil {
		return nil, err
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if max, _ := strconv.Atoi(srv.opts.maxConnections()); !role.Super && len(srv.mu.sessions) >= max-superuserReserved {
		return nil, fatal(sqlerr.TooManyConnections, "remaining connection slots are reserved for non-replication superuser connections")
	}
	srv.mu.sessions[info.PID] = s
	s.startCounting()
	return s, nil
}

// newSession makes a session that nobody else knows of.
func (srv *Server) newSession(db *catalog.Database, role *catalog.Role, packet []wire.Parameter, info *wire.ConnInfo) (*Session, error) {
	s := &Session{
		srv: srv, info: info, db: db.OID, dbName: db.Name, authUser: role.Name, sessionUser: role.Name, user: role.Name,
		settings: newSettings(), prepared: map[string]*prepared{}, started: time.Now(),
	}
	s.cache.init()
	s.tableExprsFn, s.mayCallFn, s.noteMovedFn, s.virtualFn, s.sequenceRowFn, s.tellFn, s.currentOfFn = s.tableExprs, s.mayExecute, s.noteMoved, s.virtualRows, s.sequenceRow, s.tell, s.currentOf
	s.grants = srv.memory.Grants(srv.opts.MaxStatementMemory)
	s.infoFn, s.callSQLFn, s.roomFn = sessionInfo{s}, s.callSQL, s.grants.Room
	return s, s.startSettings(db, role, packet)
}

// count returns how many sessions there are of a kind.
func (srv *Server) count(of func(s *Session) bool) int {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	n := 0
	for _, s := range srv.mu.sessions {
		if of(s) {
			n++
		}
	}
	return n
}

func (srv *Server) disconnect(s *Session) {
	srv.mu.Lock()
	delete(srv.mu.sessions, s.info.PID)
	if srv.mu.left != nil {
		close(srv.mu.left)
		srv.mu.left = nil
	}
	srv.mu.Unlock()
}

// sessions returns the live sessions.
func (srv *Server) sessions() []*Session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	out := make([]*Session, 0, len(srv.mu.sessions))
	for _, s := range srv.mu.sessions {
		out = append(out, s)
	}
	return out
}

// commit makes a transaction's writes durable together with its changes of the
// catalog, and publishes these (S3).
func (srv *Server) commit(ctx context.Context, tx kv.Txn, d *catalog.Delta) error {
	if d.Empty() {
		return tx.Commit(ctx)
	}
	pub, err := srv.Catalog.Begin(d)
	if err != nil {
		return err
	}
	defer pub.Abort()
	put, del := pub.Changes()
	if err := srv.writeObjects(tx, put, del); err != nil {
		return err
	}
	tx.OnCommit(pub.Commit)
	var gone []types.OID
	for _, o := range del {
		if _, ok := srv.Catalog.Current().Object(o).(*catalog.Database); ok {
			gone = append(gone, o)
		}
	}
	tx.OnCommit(func() {
		for _, o := range gone {
			srv.end(srv.inDatabase(o, nil)) // who came while it was being dropped
		}
		for _, o := range del {
			srv.cumulative.dropped(o)
		}
	})
	srv.defining.Add(1)
	defer srv.defining.Add(-1)
	err = tx.Commit(ctx)
	if errors.Is(err, kv.ErrUndetermined) {
		srv.opts.Logger.Error("the outcome of a commit with catalog changes is unknown", "error", err)
	}
	return err
}

// rowCounters are live numbers of rows per table, for the planner's estimates
// between two runs of ANALYZE. They count from the last known number and are
// lost with the process.
type rowCounters struct {
	m sync.Map // types.OID → *rowCounter
}

type rowCounter struct {
	delta, changed atomic.Int64
	analyze        atomic.Int32 // analyzeIdle, …
}

func (c *rowCounters) of(t types.OID) *rowCounter {
	if x, ok := c.m.Load(t); ok {
		return x.(*rowCounter)
	}
	x, _ := c.m.LoadOrStore(t, new(rowCounter))
	return x.(*rowCounter)
}

// Room makes sure that n bytes more may be in memory: 53200. Many may ask at once.
func (srv *Server) Room(n int64) error { return srv.memory.Room(n) }
