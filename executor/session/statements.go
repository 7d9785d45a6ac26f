package session

import (
	"context"
	"maps"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// runSession runs the statements that concern the session alone and need no
// transaction of their own; done is false for all others.
func (s *Session) runSession(ctx context.Context, c *call, out sink) (tag string, n int64, done bool, err error) {
	switch x := c.stmt.(type) {
	case *ast.SetVar:
		tag, err = s.setVar(ctx, x, c.several)
	case *ast.Show:
		tag, err = "SHOW", s.show(x, out)
	case *ast.Discard:
		tag, err = "DISCARD "+x.What, s.discard(x, c)
	case *ast.Deallocate:
		tag, err = s.deallocate(x)
	case *ast.CloseCursor:
		tag, err = s.closeCursor(x)
	case *ast.Fetch:
		// It is no statement of its own as far as snapshots are concerned.
		tag, n, err = s.fetch(ctx, x, out)
		return tag, n, true, err
	default:
		return "", 0, false, nil
	}
	return tag, -1, true, err
}

func (s *Session) setVar(ctx context.Context, x *ast.SetVar, several bool) (string, error) {
	tag := "SET"
	if x.Reset {
		tag = "RESET"
	}
	// What a later statement of the same message, or before Sync, fails with undoes it.
	if err := s.ensureTx(ctx); err != nil {
		return "", err
	}
	if x.All {
		s.resetAll()
		return tag, nil
	}
	if x.Local && s.block == idle && !several {
		s.tell(warning(sqlerr.NoActiveSQLTransaction, "SET LOCAL can only be used in transaction blocks"))
	}
	if x.Reset && x.Name == "transaction_isolation" && s.block == idle && !several {
		s.tell(warning(sqlerr.NoActiveSQLTransaction, "RESET TRANSACTION can only be used in transaction blocks"))
	}
	if x.Default || x.Reset {
		return tag, s.setSetting(x.Name, nil, x.Local)
	}
	v, err := s.settingText(ctx, x)
	if err != nil {
		return "", err
	}
	return tag, s.setSetting(x.Name, &v, x.Local)
}

// checkedSetting is the text of a value that ALTER ROLE or ALTER DATABASE keeps
// for later sessions.
func (s *Session) checkedSetting(ctx context.Context, x *ast.SetVar) (string, error) {
	d := findSetting(x.Name)
	if d == nil && !customName(x.Name) {
		return "", unknownSetting(x.Name)
	}
	if d != nil && d.context != "sighup" {
		if err := d.changeable(); err != nil {
			return "", err
		}
		if err := d.allowed(s.snapshot(), s.user); err != nil {
			return "", err
		}
	}
	if x.Reset || x.Default {
		return "", nil
	}
	v, err := s.settingText(ctx, x)
	if err != nil || d == nil {
		return v, err
	}
	if _, err := d.canonical(s, v); err != nil {
		return "", err
	}
	return v, nil
}

// settingText makes one text of the values of SET.
func (s *Session) settingText(ctx context.Context, x *ast.SetVar) (string, error) {
	d := findSetting(x.Name)
	if x.FromCurrent {
		v, ok := s.showSetting(x.Name)
		if !ok {
			return "", unknownSetting(x.Name)
		}
		return v, nil
	}
	if len(x.Values) > 1 && (d == nil || !d.list) {
		if d == nil && !customName(x.Name) {
			return "", unknownSetting(x.Name)
		}
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "SET %s takes only one argument", x.Name)
	}
	var parts []string
	for _, v := range x.Values {
		text := ""
		switch v := v.(type) {
		case *ast.Const:
			text = v.Val
		case *ast.Unary:
			k, ok := v.X.(*ast.Const)
			if !ok {
				return "", sqlerr.New(sqlerr.SyntaxError, "syntax error in SET").At(v.Pos())
			}
			text = v.Op + k.Val
		default:
			dt, err := s.evalExpr(ctx, v, types.T{}, "SET")
			if err != nil {
				return "", err
			}
			text = string(types.AppendText(nil, dt, nil))
			if strings.EqualFold(x.Name, "timezone") && dt.T.Kind() == types.KInterval {
				zone := badValue("TimeZone", "INTERVAL '"+text+"'")
				switch {
				case dt.Iv.Months != 0:
					return "", zone.WithDetail("Cannot specify months in time zone interval.")
				case dt.Iv.Days != 0:
					return "", zone.WithDetail("Cannot specify days in time zone interval.")
				}
				text = hours(dt.Iv)
			}
		}
		switch x.Name {
		case "search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries":
			text = catalog.QuoteIdent(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", "), nil
}

// hours is an interval as SET TIME ZONE takes it.
func hours(iv types.Interval) string {
	d := types.NewDecimal(iv.Micros/1000000, 0)
	h, err := d.Div(types.NewDecimal(3600, 0))
	if err != nil {
		return "0"
	}
	return h.TrimScale().String()
}

var textColumn = wire.Column{Type: types.TText}

// sendText sends rows of texts.
func (s *Session) sendText(out sink, names []string, rows [][]string) error {
	cols := make([]wire.Column, len(names))
	ts := make([]types.T, len(names))
	for i, n := range names {
		cols[i], ts[i] = textColumn, types.TText
		cols[i].Name = n
	}
	out.begin(cols, s.settings.fmt)
	b := vec.NewBuilder(ts)
	row := make([]types.Datum, len(names))
	flush := func() error {
		if b.Len() == 0 {
			return nil
		}
		return out.batch(b.Finish())
	}
	for _, r := range rows {
		for i, v := range r {
			row[i] = types.Text(v)
		}
		b.Append(row)
		if b.Len() == vec.BatchSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (s *Session) show(x *ast.Show, out sink) error {
	if x.Name == "all" {
		var rows [][]string
		for _, r := range s.settingRows() {
			v, _ := s.showSetting(r.Name)
			rows = append(rows, []string{r.Name, v, r.ShortDesc})
		}
		return s.sendText(out, []string{"name", "setting", "description"}, rows)
	}
	if err := s.mayExamine(x.Name); err != nil {
		return err
	}
	v, ok := s.showSetting(x.Name)
	if !ok {
		return unknownSetting(x.Name)
	}
	return s.sendText(out, []string{settingLabel(x.Name)}, [][]string{{v}})
}

// settingLabel is the column name of SHOW.
func settingLabel(name string) string {
	if d := findSetting(name); d != nil {
		return d.name
	}
	return name
}

func (s *Session) discard(x *ast.Discard, c *call) error {
	switch x.What {
	case "PLANS":
		s.cache.clear()
	case "SEQUENCES":
		s.seqs = sequenceMemory{}
	case "TEMP", "TEMPORARY":
		s.dropTempSchema()
	case "ALL":
		if err := s.alone(c, "DISCARD ALL"); err != nil {
			return err
		}
		for p := range s.portals.all {
			s.dropPortal(p)
		}
		null := (*string)(nil)
		if err := s.setSetting("session_authorization", null, false); err != nil {
			return err
		}
		if err := s.setSetting("role", null, false); err != nil {
			return err
		}
		s.resetAll()
		s.deallocateAll()
		s.srv.notify.forget(s)
		s.srv.advisory.releaseAll(s)
		s.cache.clear()
		s.dropTempSchema()
		s.seqs = sequenceMemory{}
	}
	return nil
}

// alone refuses a statement that cannot be part of a transaction where it would be.
func (s *Session) alone(c *call, what string) *sqlerr.Error {
	switch {
	case s.block != idle || c.several:
		return inBlockError(what)
	case c.pipelined:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot be executed within a pipeline", what)
	}
	return nil
}

// inBlockError refuses what cannot be part of a transaction.
func inBlockError(what string) *sqlerr.Error {
	return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", what)
}

// deallocateAll drops the statements with a name.
func (s *Session) deallocateAll() {
	maps.DeleteFunc(s.prepared, func(name string, _ *prepared) bool { return name != "" })
}

func (s *Session) deallocate(x *ast.Deallocate) (string, error) {
	if x.Name == "" {
		s.deallocateAll()
		return "DEALLOCATE ALL", nil
	}
	if _, err := s.findPrepared(x.Name); err != nil {
		return "", err
	}
	delete(s.prepared, x.Name)
	return "DEALLOCATE", nil
}

// utilityColumns returns the columns of a statement that is not planned, nil
// for those without rows.
func (s *Session) utilityColumns(ctx context.Context, st ast.Stmt) ([]wire.Column, error) {
	switch x := st.(type) {
	case *ast.Show:
		if x.Name == "all" {
			return textColumns("name", "setting", "description"), nil
		}
		if _, ok := s.showSetting(x.Name); !ok {
			return nil, unknownSetting(x.Name)
		}
		return textColumns(settingLabel(x.Name)), nil
	case *ast.Explain:
		return s.explainColumns(x), nil
	case *ast.Execute:
		if ps := s.prepared[x.Name]; ps != nil {
			return ps.cols, nil
		}
	case *ast.Fetch:
		if p := s.portals.get(x.Cursor); p != nil && !x.Move {
			return p.cols, nil
		}
	}
	return nil, nil
}

func textColumns(names ...string) []wire.Column {
	out := make([]wire.Column, len(names))
	for i, n := range names {
		out[i] = textColumn
		out[i].Name = n
	}
	return out
}
