package session

// The statements that change the catalog are executed by package executor/ddl;
// this file connects it with the session's transaction.

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/ddl"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/wire"
)

func detachesConcurrently(stmt ast.Stmt) bool {
	x, ok := stmt.(*ast.AlterTable)
	if !ok || x.Actions[0].Kind != "DETACH PARTITION" {
		return false
	}
	return len(x.Actions[0].Options) > 0 && x.Actions[0].Options[0].Name == "concurrently"
}

// definition runs a statement that changes the catalog. The change is recorded
// by catalog.Change, the files follow in the same transaction, and both become
// visible at the commit.
func (s *Session) definition(ctx context.Context, c *call, _ sink) (string, int64, error) {
	what := ast.Command(c.stmt)
	if _, ok := c.stmt.(*ast.Select); ok {
		what = "SELECT INTO"
	}
	if err := s.writable(what); err != nil {
		return "", 0, err
	}
	if sel, ok := c.stmt.(*ast.Select); ok && sel.Into != nil {
		q := *sel
		q.Into = nil
		c.stmt = &ast.CreateTable{Off: sel.Off, Name: *sel.Into, As: &q}
	}
	if x, ok := c.stmt.(*ast.CreateTable); ok && x.AsExecute != nil {
		ps, params, err := s.executeArgs(ctx, x.AsExecute)
		if err != nil {
			return "", 0, err
		}
		q, ok := ps.stmt.(*ast.Select)
		if !ok || ps.planned == nil {
			return "", 0, sqlerr.New(sqlerr.WrongObjectType, "prepared statement is not a SELECT")
		}
		ps.uses.planned(len(params) > 0)
		c.params = params
		made := *x
		made.As, made.AsExecute = q, nil
		c.stmt = &made
		if x.WithNoData {
			tag, rows, err := s.definition(ctx, c, nil)
			if tag == "CREATE TABLE AS" {
				tag = "SELECT 0" // EXECUTE counts its rows also where none are taken
			}
			return tag, rows, err
		}
	}
	if !ddl.Handles(c.stmt) {
		return "", 0, sqlerr.Unsupported(c.stmt.Pos(), "%s", what)
	}
	if err := s.elsewhere(c.stmt); err != nil {
		return "", 0, err
	}
	if x, ok := c.stmt.(*ast.CreateIndex); ok && x.Concurrently {
		if err := s.alone(c, "CREATE INDEX CONCURRENTLY"); err != nil {
			return "", 0, err
		}
	}
	if x, ok := c.stmt.(*ast.Drop); ok && x.Concurrently {
		if err := s.alone(c, "DROP INDEX CONCURRENTLY"); err != nil {
			return "", 0, err
		}
		switch {
		case len(x.Names) > 1:
			return "", 0, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
		case x.Cascade:
			return "", 0, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support CASCADE")
		}
	}
	if detachesConcurrently(c.stmt) && s.block != idle {
		return "", 0, inBlockError("ALTER TABLE ... DETACH CONCURRENTLY")
	}
	switch c.stmt.(type) {
	case *ast.CreateDatabase, *ast.DropDatabase:
		if err := s.alone(c, what); err != nil {
			return "", 0, err
		}
	}
	if x, ok := c.stmt.(*ast.CreateTable); ok && x.Temp || isTempObject(c.stmt) {
		s.useTemp()
	}
	if _, err := s.tx.kv.Number(); err != nil {
		return "", 0, err
	}
	c.unfilled = 0
	tag, err := s.define(ctx, c)
	if err == nil && c.unfilled != 0 {
		err = s.fillIndex(ctx, c, c.unfilled)
	}
	if x, ok := c.stmt.(*ast.Truncate); ok && err == nil {
		s.emptied(x)
	}
	if err != nil {
		return "", 0, err
	}
	if x, ok := c.stmt.(*ast.CreateTable); ok {
		s.noteOnCommit(x)
	}
	s.settings.epoch++
	s.tx.rewrites++
	return tag, -1, nil
}

// define runs the statement over the catalog, again for as long as others change its
// tables while it waits for their locks, or rows that a query or a function in it locks.
func (s *Session) define(ctx context.Context, c *call) (tag string, err error) {
	ch, t := s.ddl(), s.tx
	for {
		mark, changed, restarts := t.kv.Savepoint(), ch.Mark(), len(t.restarts)
		tag, err = ddl.Execute(s.ddlEnv(ctx, c), c.stmt)
		moved := errors.Is(err, ddl.ErrMoved)
		if !moved && !isRetry(err) {
			if err == nil {
				t.kv.Release(mark)
			}
			return tag, err
		}
		t.kv.RollbackTo(mark)
		t.kv.Release(mark)
		ch.RollbackTo(changed)
		s.dropScratch(t)
		t.restarts = t.restarts[:restarts]
		if !moved {
			if err := s.readAgain(ctx); err != nil {
				return "", err
			}
		}
		t.base = nil
		if err := s.rebase(); err != nil {
			return "", err
		}
	}
}

func isTempObject(st ast.Stmt) bool {
	switch x := st.(type) {
	case *ast.CreateView:
		return x.Temp
	case *ast.CreateSequence:
		return x.Temp
	case *ast.CreateTable:
		return x.Name.Schema() == "pg_temp"
	}
	return false
}

// ddlEnv is what one statement of package ddl gets of the session.
func (s *Session) ddlEnv(ctx context.Context, c *call) *ddl.Env {
	ch, t := s.ddl(), s.tx
	return &ddl.Env{
		Ctx: ctx, Change: ch, Txn: s.tx.kv, Tables: s.srv.Tables, User: s.user, SessionUser: s.sessionUser, Path: s.creationPath(), Temp: s.tempName(), UsesTemp: s.useTemp,
		LockTimeout: s.settings.lockTimeout, BodiesUnchecked: s.settings.get("check_function_bodies") == "off", Text: c.text,
		Inside: s.inSchema,
		MayRun: s.checkRights,
		As: func(role string, f func() error) error {
			defer s.actAs(s.user)
			s.actAs(role)
			return f()
		},
		Configured: func(fn *catalog.Function, f func() error) error {
			_, leave, err := s.configured(fn, nil)
			if err != nil {
				return err
			}
			defer leave()
			return f()
		},
		Planner: func() *planner.Context {
			p := s.planDuring(ctx, ch.Snapshot())
			p.ParamTypes = typesOf(c.params)
			return p
		},
		QueryText: func(t *catalog.QueryTree, names *catalog.Snapshot) string {
			env := pgcatalog.Env{Snap: names, DB: s.db, SearchPath: []string{catalog.SchemaPgCatalog}}
			return env.QueryText(t)
		},
		FirstTrigger: func(table types.OID) string {
			env := pgcatalog.Env{Snap: ch.Snapshot(), DB: s.db}
			return env.FirstTrigger(table)
		},
		BodyText: func(t *catalog.BodyTree, names *catalog.Snapshot) string {
			env := pgcatalog.Env{Snap: names, DB: s.db, SearchPath: []string{catalog.SchemaPgCatalog}}
			return env.BodyText(t)
		},
		Exec: func(q *plan.Query) (*executor.Run, error) {
			p := &plannedStmt{q: q, snap: ch.Snapshot()}
			if err := s.lockRead(ctx, q, c.params); err != nil {
				return nil, err
			}
			s.fillEnv(ctx, &p.env, &p.x, p, c.params)
			p.env.Unproven = true
			if c.stats != nil {
				*c.stats = *executor.NewStats() // of the last attempt
				c.took, p.env.Stats = q, c.stats
			}
			return executor.Build(q, &p.env)
		},
		Eval: func() *expr.Env {
			x := &expr.Env{}
			s.fillExpr(ctx, x, nil)
			return x
		},
		Notice:   s.tell,
		Unfilled: func(index types.OID) { c.unfilled = index },
		Beside:   s.beside(ctx, c),
		Filled: func(table types.OID, rows int64) {
			s.countRows(table, rows, rows)
			s.tally.Rel(table).Inserted += rows
		},
		Emptied: s.countEmptied,
		Moved: func(relation types.OID) bool {
			return s.srv.Catalog.Current().Object(relation) != t.base.Object(relation)
		},
		Newest:  s.srv.Catalog.Current,
		Unused:  func(t *catalog.Table, command string) error { return s.unused(ctx, t, command) },
		Unread:  s.unread,
		Checked: func(t *catalog.Table, command string) error { return s.checked(ctx, t, command) },
		NewerIndex: func(table types.OID) {
			if t.newer == nil {
				t.newer = map[types.OID]bool{}
			}
			t.newer[table] = true
		},
		Restart: func(q types.OID, last int64, called bool) {
			t.restarts = append(t.restarts, &restart{q, table.SeqState{Last: last, Called: called, Gen: s.srv.Tables.NewSeqGen()}})
		},
		Unkept: func(q types.OID) { delete(s.seqs.kept, q) },
		LastValue: func(q *catalog.Sequence) (last int64, called bool, err error) {
			st, err := s.sequenceStands(q)
			return st.Last, st.Called, err
		},
		LargeObjects: lobStore{s, ctx},
		Address: func(kind string, names, args []string) (class, oid types.OID, sub int, err error) {
			a, err := s.pgEnv().ObjectAddress(kind, names, args)
			return a.Class, a.OID, a.Sub, err
		},

		Vacate:  func(db types.OID, force bool) (int, error) { return s.vacate(ctx, db, force) },
		Setting: func(v *ast.SetVar) (string, error) { return s.checkedSetting(ctx, v) },
		Verifier: func(password string) (string, error) {
			return verifierOf(password, s.settings.get("password_encryption") == "md5")
		},
	}
}

// md5Secret is how PostgreSQL stores a password that was hashed with MD5.
var md5Secret = regexp.MustCompile(`^md5[0-9a-f]{32}$`)

// verifierOf is ddl.Env.Verifier: what CREATE ROLE is given may be a verifier already.
// A password that is to be hashed with MD5 is refused.
func verifierOf(password string, md5 bool) (string, error) {
	if md5Secret.MatchString(password) {
		return "", sqlerr.Unsupported(-1, "an MD5 password")
	}
	v, err := wire.ParseVerifier(password)
	switch {
	case err == nil:
	case md5 && password != "":
		return "", sqlerr.Unsupported(-1, "password_encryption \"md5\"")
	default:
		v, err = wire.NewVerifier(password)
	}
	if err != nil || password == "" || v.Check("") {
		return "", err
	}
	return v.String(), nil
}

// inSchema is ddl.Env.Inside.
func (s *Session) inSchema(schema, owner string, f func(path []string) error) error {
	g, user, path := s.settings, s.user, s.settings.path
	defer func() {
		g.path = path
		g.epoch++
		s.actAs(user)
		s.ddl()
	}()
	g.path = append([]string{schema}, path...)
	g.epoch++
	s.actAs(owner)
	s.ddl()
	return f(s.creationPath())
}

// lockRead locks the tables of a query that a definition runs; ddl.ErrMoved when one
// has changed while its lock was waited for.
func (s *Session) lockRead(ctx context.Context, q *plan.Query, params []types.Datum) error {
	if _, err := s.lockTables(ctx, q, params, false); err != nil {
		return err
	}
	for i := range q.Tables {
		oid := q.Tables[i].Table.OID
		if s.tx.base.Object(oid) != nil && s.srv.Catalog.Current().Object(oid) != s.tx.base.Object(oid) {
			return ddl.ErrMoved
		}
	}
	return nil
}

// unused is ddl.Env.Unused.
func (s *Session) unused(ctx context.Context, t *catalog.Table, command string) error {
	reads := func(q *plan.Query) bool {
		return slices.ContainsFunc(q.Tables, func(u plan.TableUse) bool { return u.Table.OID == t.OID })
	}
	if s.openQuery(reads) {
		return inUse(command, t.Name)
	}
	return s.checked(ctx, t, command)
}

// unread is ddl.Env.Unread.
func (s *Session) unread(ix *catalog.Index, command string) error {
	if s.openQuery(func(q *plan.Query) bool { return q.ReadsIndex(ix.OID) }) {
		return inUse(command, ix.Name)
	}
	return nil
}

func inUse(command, name string) error {
	return sqlerr.New(sqlerr.ObjectInUse, "cannot %s \"%s\" because it is being used by active queries in this session", command, name)
}

// openQuery reports whether is holds for the query of a portal that has rows to come.
func (s *Session) openQuery(is func(*plan.Query) bool) bool {
	for p := range s.portals.all {
		if p.done || p.failed || p.planned == nil || p.cursor != nil && p.cursor.held {
			continue
		}
		if is(p.planned.q) {
			return true
		}
	}
	return false
}

// checked is ddl.Env.Checked.
func (s *Session) checked(ctx context.Context, t *catalog.Table, command string) error {
	if s.tx.deferred.Empty() {
		return nil
	}
	pending, err := s.tx.deferred.Pending(s.plainEnv(ctx), t.OID)
	if pending {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot %s \"%s\" because it has pending trigger events", command, t.Name)
	}
	return err
}

// dropContents drops what is in a schema outside of any session's transaction.
func (srv *Server) dropContents(ctx context.Context, db types.OID, schema string) error {
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	ch := catalog.NewChange(srv.Catalog.Current(), db, "postgres", nil, srv.Catalog)
	before := ch.Snapshot()
	if err := ch.DropContents(schema); err != nil {
		return err
	}
	if err := ddl.Reconcile(ctx, srv.Tables, tx, db, before, ch.Snapshot()); err != nil {
		return err
	}
	return srv.commit(ctx, tx, ch.Delta())
}

// findRelation resolves a relation's name; nil when there is none.
func (s *Session) findRelation(n *ast.Name) (catalog.Relation, error) {
	snap := s.snapshot()
	if err := s.checkCatalogName(n); err != nil {
		return nil, err
	}
	if sch := n.Schema(); sch != "" {
		if err := s.usable(sch); err != nil {
			return nil, err
		}
		return snap.Relation(s.db, s.schemaName(sch), n.Last()), nil
	}
	for _, p := range s.searchPath(true) {
		if r := snap.Relation(s.db, p, n.Last()); r != nil {
			return r, nil
		}
	}
	return nil, nil
}

// checkCatalogName refuses names of other databases.
func (s *Session) checkCatalogName(n *ast.Name) error {
	if len(n.Parts) == 3 && n.Parts[0] != s.dbName {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s.%s.%s\"", n.Parts[0], n.Parts[1], n.Parts[2])
	}
	return nil
}

// schemaName replaces pg_temp by the session's temporary schema.
func (s *Session) schemaName(n string) string {
	if n == "pg_temp" {
		return s.tempName()
	}
	return n
}

// mustRelation is findRelation with 42P01, or 42809 for an index.
func (s *Session) mustRelation(n *ast.Name) (catalog.Relation, error) {
	r, err := s.findRelation(n)
	if err == nil && r == nil {
		err = noRelation(n)
		if _, ix := s.findIndex(n); ix != nil {
			err = sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
		}
		if name := s.schemaName(n.Schema()); name != "" && s.snapshot().Schema(s.db, name) == nil {
			err = sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
		}
	}
	return r, err
}

func noRelation(n *ast.Name) error {
	return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", dotted(n))
}

// dotted is a name as messages show it.
func dotted(n *ast.Name) string {
	if s := n.Schema(); s != "" {
		return s + "." + n.Last()
	}
	return n.Last()
}

// findIndex resolves an index's name; nils when there is none.
func (s *Session) findIndex(n *ast.Name) (*catalog.Table, *catalog.Index) {
	snap := s.snapshot()
	if sch := n.Schema(); sch != "" {
		return snap.IndexByName(s.db, s.schemaName(sch), n.Last())
	}
	for _, p := range s.searchPath(true) {
		if t, ix := snap.IndexByName(s.db, p, n.Last()); ix != nil {
			return t, ix
		}
	}
	return nil, nil
}

// lockTable takes a table lock and returns the table as it is then.
func (s *Session) lockTable(ctx context.Context, t *catalog.Table, m kv.TableLockMode) (*catalog.Table, error) {
	now, err := s.whereItIs(t, func(d *table.Desc) (*catalog.Table, error) {
		if err := d.LockTable(ctx, s.tx.kv, m, s.lockOpt()); err != nil {
			return nil, err
		}
		if err := s.rebase(); err != nil {
			return nil, err
		}
		return storageOf(s.snapshot(), t), nil
	})
	if err != nil {
		return nil, err
	}
	if s.tx.iso == kv.ReadCommitted {
		// What was committed while the lock was waited for is to be seen.
		if err := s.tx.kv.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	if now == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", t.Name)
	}
	return now, nil
}

// whereItIs locks a table by take, which returns the table as it is then, again for as long
// as others have given it another master file meanwhile: that is what its locks are on.
func (s *Session) whereItIs(t *catalog.Table, take func(*table.Desc) (*catalog.Table, error)) (*catalog.Table, error) {
	for {
		d, err := s.srv.Tables.For(t)
		if err != nil {
			return nil, err
		}
		now, err := take(d)
		if err != nil || now == nil || now.Space == t.Space {
			return now, err
		}
		t = now
	}
}

// storageOf returns the present version of a table, or of the table inside a
// materialized view.
func storageOf(snap *catalog.Snapshot, t *catalog.Table) *catalog.Table {
	switch o := snap.Object(t.OID).(type) {
	case *catalog.Table:
		return o
	case *catalog.View:
		return o.Materialized
	}
	return nil
}
