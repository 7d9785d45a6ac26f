package expr_test

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
)

// testSession is a session without a server: user and database postgres, one
// sequence, no catalog functions.
type testSession struct {
	rand     *expr.Rand
	seq      int64
	settings map[string]string
}

func (s *testSession) CurrentUser() string { return "postgres" }
func (s *testSession) SessionUser() string { return "postgres" }
func (s *testSession) Database() string    { return "postgres" }
func (s *testSession) SearchPath(implicit bool) []string {
	if implicit {
		return []string{"pg_catalog", "public"}
	}
	return []string{"public"}
}
func (s *testSession) Setting(name string) (string, bool, error) {
	if name == "client_encoding" {
		return "UTF8", true, nil
	}
	v, ok := s.settings[name]
	return v, ok, nil
}
func (s *testSession) SetSetting(name string, value *string, _ bool) (string, error) {
	if s.settings == nil {
		s.settings = map[string]string{}
	}
	if value == nil {
		delete(s.settings, name)
		return "", nil
	}
	s.settings[name] = *value
	return *value, nil
}
func (s *testSession) BackendPID() int32                                 { return 4711 }
func (s *testSession) Nextval(context.Context, types.OID) (int64, error) { s.seq++; return s.seq, nil }
func (s *testSession) Currval(context.Context, types.OID) (int64, error) { return s.seq, nil }
func (s *testSession) Lastval(context.Context) (int64, error)            { return s.seq, nil }
func (s *testSession) Setval(_ context.Context, _ types.OID, v int64, called bool) (int64, error) {
	s.seq = v
	if !called {
		s.seq--
	}
	return v, nil
}
func (s *testSession) RegFind(t types.OID, name string) (types.OID, error) {
	o, err := s.RegIn(types.Of(t), name)
	if err != nil {
		return 0, nil
	}
	return o, nil
}

func (s *testSession) RegIn(t types.T, name string) (types.OID, error) {
	if in := types.ByName(name); in != nil && t == types.TRegtype {
		return in.OID, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedTable, `relation "%s" does not exist`, name)
}
func (s *testSession) RegStored(t types.T, name string) (types.OID, error) { return s.RegIn(t, name) }
func (s *testSession) RegOut(_ types.T, o types.OID) string                { return types.FormatTypeNoMod(o) }
func (s *testSession) EnumLabels(types.OID) ([]string, bool) {
	return []string{"sad", "ok", "happy"}, true
}
func (s *testSession) Catalog(src string, _ []types.Datum, _ types.T) (types.Datum, error) {
	return types.Datum{}, sqlerr.Unsupported(-1, "%s", src)
}
func (s *testSession) CatalogRows(src string, _ []types.Datum, _ []types.T) ([][]types.Datum, error) {
	return nil, sqlerr.Unsupported(-1, "%s", src)
}
func (s *testSession) KeyValue(_ context.Context, src string, _ []types.Datum) (types.Datum, error) {
	return types.Datum{}, sqlerr.Unsupported(-1, "%s", src)
}
func (s *testSession) KeyScan(context.Context, types.OID, string, string) ([][]types.Datum, error) {
	return nil, sqlerr.Unsupported(-1, "kv_scan")
}
func (s *testSession) LargeObject(_ context.Context, src string, _ []types.Datum, _ types.T) (types.Datum, error) {
	return types.Datum{}, sqlerr.Unsupported(-1, "%s", src)
}
func (s *testSession) AdvisoryLock(context.Context, expr.AdvisoryKey, bool) (bool, error) {
	return true, nil
}
func (s *testSession) AdvisoryUnlock(expr.AdvisoryKey) bool { return true }
func (s *testSession) AdvisoryUnlockAll()                   {}
func (s *testSession) Random() *expr.Rand                   { return s.rand }
