package session

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/planner"
)

// pgEnv is what the system catalogs and the describing functions are computed
// from.
func (s *Session) pgEnv() *pgcatalog.Env {
	path := s.searchPath(false)
	if s.hasTemp && !slices.Contains(path, s.tempName()) {
		path = append([]string{s.tempName()}, path...)
	}
	return &pgcatalog.Env{
		Snap: s.snapshot(), DB: s.db, User: s.user, SearchPath: path, TempSchema: s.tempName(), Fmt: s.settings.fmt,
		Settings: s.settingRows, Sessions: s.sessionRows, Locks: s.locksSeen, Sequence: s.sequenceState,
		Prepared: s.preparedRows, Cursors: s.cursorRows, Refused: s.srv.refusals.rows, Regions: s.regionRows, LargeObjects: s.largeObjects,
		RelStats: s.relStats, XactStats: s.xactStats, DBStats: s.databaseStats, LogStats: s.logStats, FunctionStats: s.functionStats,
		Updatable: s.updatable, ViewTree: s.viewTree, ConditionTree: s.conditionTree, BodyTree: s.bodyTree, BodyReads: s.bodyColumns, Uses: s.textUses, TypeName: s.typeName, Now: now(),
	}
}

// indexExpr is an expression of an index as errors show it.
func (s *Session) indexExpr(text string) string { return s.pgEnv().IndexExprText(text) }

// updatable tells which changes a view takes; one whose query cannot be bound
// any more takes none.
func (s *Session) updatable(v *catalog.View) (int, []bool) {
	events, cols, err := planner.Updatable(s.planContext(s.snapshot()), v)
	if err != nil {
		return 0, nil
	}
	return events, cols
}

// viewTree analyses a view's query for its text.
func (s *Session) viewTree(v *catalog.View) (*catalog.QueryTree, error) {
	return planner.ViewTree(s.planContext(s.snapshot()), v)
}

// conditionTree is viewTree of a query that stands for a condition.
func (s *Session) conditionTree(v *catalog.View) (*catalog.QueryTree, error) {
	return planner.ConditionTree(s.planContext(s.snapshot()), v)
}

// textUses lists the functions and relations of a text of the catalog.
func (s *Session) textUses(t catalog.StoredText) []types.OID {
	return planner.TextUses(s.planContext(s.snapshot()), t)
}

// bodyColumns tells which columns of a relation a function's body names.
func (s *Session) bodyColumns(f *catalog.Function, rel types.OID) []int {
	return planner.BodyReads(s.planContext(s.snapshot()), f, rel)
}

// bodyTree analyses a function's body for its text.
func (s *Session) bodyTree(f *catalog.Function) (*catalog.BodyTree, error) {
	return planner.BodyTree(s.planContext(s.snapshot()), f)
}

// regionRows lists the regions of a region-clustered table.
func (s *Session) regionRows(t *catalog.Table) ([]pgcatalog.RegionInfo, error) {
	d, err := s.srv.Tables.For(t)
	if err != nil {
		return nil, err
	}
	list, err := d.Regions(context.Background(), s.tx.kv)
	if err != nil {
		return nil, err
	}
	out := make([]pgcatalog.RegionInfo, len(list))
	for i, r := range list {
		out[i] = pgcatalog.RegionInfo{ID: r.ID, North: r.Box.North, West: r.Box.West, South: r.Box.South, East: r.Box.East,
			Known: !r.Unplaced, Rows: int64(r.Rows), Keys: int64(r.Keys)}
	}
	return out, nil
}

// virtualRows emits the rows of a system relation, of which the columns want are
// read.
func (s *Session) virtualRows(rel *catalog.Virtual, cols []int, vals []types.Datum, want []int, emit func([]types.Datum) bool) error {
	r := pgcatalog.ByOID(rel.OID)
	if r == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
	}
	if want == nil {
		want = []int{}
	}
	return r.Rows(s.pgEnv(), &pgcatalog.Lookup{Cols: cols, Vals: vals, Want: want}, emit)
}

// regNames is the session's view of the reg* types.
type regNames struct{ s *Session }

// EnumIn implements types.RegNames.
func (r regNames) EnumIn(t types.T, label string) (types.Datum, error) {
	if known, ok := r.s.snapshot().T(t.OID, t.Mod); ok && known.User != types.KEnum { // an element of an array, known by OID alone
		return types.Parse(known, label, r.s.settings.fmt)
	}
	u := r.s.snapshot().TypeByOID(t.OID)
	if u == nil || u.Kind != 'e' {
		return types.Datum{}, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", t.OID)
	}
	for _, l := range u.Labels {
		if l.Label == label {
			return types.Enum(t, l.Order, label), r.s.usableLabel(u, l.OID, label)
		}
	}
	return types.Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input value for enum %s: \"%s\"",
		r.s.snapshot().FormatType(types.Of(u.OID), r.s.db, r.s.searchPath(true)), label)
}

// DomainBase implements types.RegNames.
func (r regNames) DomainBase(t types.T) (types.T, bool) {
	return r.s.snapshot().BelowDomains(t)
}

// InDomain implements types.RegNames.
func (r regNames) InDomain(t types.T, d types.Datum) (types.Datum, error) {
	x, err := planner.DomainValue(r.s.planContext(r.s.snapshot()), d, t)
	if err == nil && x != nil {
		d, err = r.s.evalConst(context.Background(), x)
	}
	d.T = t
	return d, err
}

// InBounds implements types.RegNames.
func (r regNames) InBounds(t types.T, d types.Datum) (types.Datum, error) {
	snap := r.s.snapshot()
	in := snap.TypeInfo(t.OID)
	if in == nil || in.Subtype < types.FirstUserOID {
		return d, nil
	}
	if u := snap.TypeByOID(in.Subtype); u == nil || u.Kind != 'd' {
		return d, nil
	}
	plain := d.T
	bound, _ := snap.T(in.Subtype, -1)
	d, err := r.InDomain(bound, d)
	d.T = plain
	return d, err
}

// Attributes implements types.RegNames.
func (r regNames) Attributes(typ types.OID) ([]string, []types.T, error) {
	snap := r.s.snapshot()
	typ = snap.BaseType(types.Of(typ)).OID
	var cols []catalog.Column
	if u := snap.TypeByOID(typ); u != nil && u.Kind == 'c' {
		cols = u.Columns
	} else if in := snap.TypeInfo(typ); in != nil && in.RelID != 0 && snap.RelationByOID(r.s.db, in.RelID) != nil {
		cols = snap.RelationByOID(r.s.db, in.RelID).RelColumns()
	} else {
		return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", typ)
	}
	var names []string
	var out []types.T
	for i := range cols {
		if !cols[i].Dropped {
			names, out = append(names, cols[i].Name), append(out, cols[i].Type)
		}
	}
	return names, out, nil
}

// usableLabel refuses a label that this transaction's ALTER TYPE added: indexes
// could keep it though the transaction fails.
func (s *Session) usableLabel(u *catalog.UserType, label types.OID, text string) error {
	if s.tx == nil || s.tx.change == nil || !s.tx.change.AddedLabel(label) {
		return nil
	}
	return sqlerr.New(sqlerr.UnsafeNewEnumValueUsage, "unsafe use of new value \"%s\" of enum type %s", text, catalog.QuoteIdent(u.Name)).
		WithHint("New enum values must be committed before they can be used.")
}

// RegIn implements types.RegNames.
func (r regNames) RegIn(t types.OID, name string) (types.OID, error) {
	return regIn(r.s.pgEnv(), t, name)
}

// ACLIn implements types.RegNames.
func (r regNames) ACLIn(text string) (string, error) { return r.s.aclIn(text) }

// RegOut implements types.RegNames.
func (r regNames) RegOut(t, o types.OID) (string, bool) { return r.s.pgEnv().RegOut(t, o) }

// RegIn implements expr.SessionInfo.
func (s sessionInfo) RegIn(t types.T, name string) (types.OID, error) {
	return regIn(s.pgEnv(), t.OID, name)
}

// RegStored implements expr.SessionInfo.
func (s sessionInfo) RegStored(t types.T, name string) (types.OID, error) {
	env := s.pgEnv()
	env.AnySchema = true
	env.TypeName = func(text string) (types.OID, error) {
		pc := s.planContext(s.snapshot())
		pc.User = ""
		return typeName(pc, text)
	}
	return regIn(env, t.OID, name)
}

// RegFind implements expr.SessionInfo.
func (s sessionInfo) RegFind(t types.OID, name string) (types.OID, error) {
	return s.pgEnv().RegFind(t, name)
}

// regIn reads a reg* value: a number, "-" or for operators "0" for none, or a
// name.
func regIn(env *pgcatalog.Env, t types.OID, name string) (types.OID, error) {
	if name == "-" && t != types.ORegoper && t != types.ORegoperator {
		return 0, nil
	}
	if name != "" && strings.Trim(name, "0123456789") == "" {
		d, err := types.Parse(types.TOid, name, &types.FmtOpts{})
		return types.OID(d.I), err
	}
	return env.RegIn(t, name)
}

// typeName reads the name of a type in a value.
func (s *Session) typeName(text string) (types.OID, error) {
	return typeName(s.planContext(s.snapshot()), text)
}

func typeName(pc *planner.Context, text string) (types.OID, error) {
	n, err := parser.ParseTypeName(text)
	var e *sqlerr.Error
	switch {
	case strings.TrimSpace(text) == "" || err == nil && n.SetOf:
		return 0, sqlerr.New(sqlerr.SyntaxError, "invalid type name \"%s\"", text)
	case errors.As(err, &e):
		bad := *e
		bad.Pos, bad.Where = 0, "invalid type name \""+text+"\""
		return 0, &bad
	case err != nil:
		return 0, err
	}
	o, err := planner.TypeOID(pc, &n)
	if errors.As(err, &e) {
		bad := *e
		bad.Pos = 0
		return 0, &bad
	}
	return o, err
}

// RegOut implements expr.SessionInfo.
func (s sessionInfo) RegOut(t types.T, o types.OID) string {
	if o == 0 {
		if t.OID == types.ORegoper || t.OID == types.ORegoperator {
			return "0"
		}
		return "-"
	}
	if name, ok := s.pgEnv().RegOut(t.OID, o); ok {
		return name
	}
	return strconv.FormatUint(uint64(o), 10)
}

func (s *Session) sequenceState(o types.OID) (int64, bool, error) {
	q, err := sessionInfo{s}.sequence(o)
	if err != nil {
		return 0, false, err
	}
	st, err := s.sequenceStands(q)
	return st.Last, st.Called, err
}

// settingRows are the rows of pg_settings.
func (s *Session) settingRows() []pgcatalog.Setting {
	var out []pgcatalog.Setting
	for key, d := range settingTable() {
		switch key {
		case "is_superuser", "role", "session_authorization", "seed", "default_with_oids":
			continue
		}
		if s.mayExamine(key) != nil {
			continue
		}
		v := s.settings.get(key)
		switch key {
		case "transaction_isolation", "transaction_read_only", "transaction_deferrable", "max_connections":
			v, _ = s.showSetting(key)
		}
		row := pgcatalog.Setting{Name: d.name, Value: d.shown(v), Unit: d.unit, Context: d.context, VarType: d.kind, Source: "default",
			EnumVals: d.enum, BootVal: d.def, ResetVal: s.settings.resetValue(key), Category: d.category, ShortDesc: d.short, ExtraDesc: d.extra, Min: d.minText, Max: d.maxText}
		if chosen, of := s.modeChosen(key); of {
			if row.Source = "override"; chosen {
				row.Source = "session"
			}
		} else if _, set := s.settings.sess[key]; set {
			row.Source = "session"
		} else if v, set := s.settings.reset[key]; set {
			row.Source = "client"
			if given, ok := s.srv.opts.Settings[key]; ok {
				if given, err := d.canonical(s, given); err == nil && given == v {
					row.Source = "command line"
				}
			}
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b pgcatalog.Setting) int { return compareFold(a.Name, b.Name) })
	return out
}

// sessionRows are the rows of pg_stat_activity.
func (s *Session) sessionRows() []pgcatalog.SessionInfo {
	var out []pgcatalog.SessionInfo
	if s.tx != nil {
		s.tx.kv.Seq() // the statement that asks has a snapshot
	}
	xacts := s.srv.xacts()
	waits := s.waitEvents()
	for _, o := range s.srv.sessions() {
		a := &o.activity
		if !s.maySee(o.authUser) {
			a.mu.Lock()
			row := pgcatalog.SessionInfo{PID: o.info.PID, DB: o.db, User: o.authUser, Application: a.application,
				Query: "<insufficient privilege>", Hidden: true}
			a.mu.Unlock()
			out = append(out, row)
			continue
		}
		a.mu.Lock()
		row := pgcatalog.SessionInfo{PID: o.info.PID, DB: o.db, User: o.authUser, Application: a.application,
			BackendStart: types.TimestampFromTime(o.started), XactStart: a.xactStart, QueryStart: a.queryStart,
			StateChanged: a.stateChanged, State: a.state, Query: a.query, BackendType: "client backend"}
		a.mu.Unlock()
		if x := xacts[row.PID]; x != nil {
			row.Xid, row.Xmin = x.number, x.xmin
		}
		if row.State != "active" {
			row.WaitEventType, row.WaitEvent = "Client", "ClientRead"
		} else if e := waits[row.PID]; e != "" {
			row.WaitEventType, row.WaitEvent = "Lock", e
		} else if len(s.srv.unsafeFor(row.PID)) > 0 {
			row.WaitEventType, row.WaitEvent = "IPC", "SafeSnapshot"
		}
		if t, ok := o.info.RemoteAddr.(*net.TCPAddr); ok {
			row.ClientAddr, row.ClientPort = t.IP.String(), int32(t.Port)
		}
		if t := o.info.TLS; t != nil {
			row.TLSVersion, row.TLSCipher, row.TLSBits = t.Version, t.Cipher, int64(t.Bits)
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b pgcatalog.SessionInfo) int { return int(a.PID - b.PID) })
	return out
}

func (s *Session) preparedRows() []pgcatalog.PreparedInfo {
	var out []pgcatalog.PreparedInfo
	for _, p := range s.prepared {
		if p.name == "" {
			continue
		}
		row := pgcatalog.PreparedInfo{Name: p.name, Statement: p.text, PrepareTime: p.made, FromSQL: p.fromSQL, Generic: p.uses.generic, Custom: p.uses.custom}
		if p.planned != nil {
			for _, t := range p.planned.q.Params {
				row.Params = append(row.Params, t.OID)
			}
		}
		out = append(out, row)
	}
	return out
}

func (s *Session) cursorRows() []pgcatalog.CursorInfo {
	var out []pgcatalog.CursorInfo
	for p := range s.portals.all {
		row := pgcatalog.CursorInfo{Name: p.name, Statement: p.ps.text, Scrollable: p.back, CreationTime: p.made}
		if c := p.cursor; c != nil {
			row.Hold, row.Binary = c.hold, c.binary
		}
		out = append(out, row)
	}
	return out
}
