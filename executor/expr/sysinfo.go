package expr

import (
	"context"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// PostgresVersion is the version of PostgreSQL whose behaviour is followed.
const PostgresVersion = "15.18"

// session returns the session, or the refusal of a function that needs one.
func (c *callCtx) session() (SessionInfo, error) {
	if c.env.Session == nil {
		return nil, sqlerr.Unsupported(c.call.Off, "function %s without a session", c.call.Proc.Name)
	}
	return c.env.Session, nil
}

// ask lifts a question to the session.
func ask(f func(s SessionInfo, a []types.Datum) (types.Datum, error)) builder {
	return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		s, err := c.session()
		if err != nil {
			return null, err
		}
		return f(s, a)
	})
}

func sysinfoFuncs(r *registry) {
	name := func(f func(SessionInfo) string) builder {
		return ask(func(s SessionInfo, _ []types.Datum) (types.Datum, error) { return types.Text(f(s)), nil })
	}
	r.add(name(SessionInfo.CurrentUser), "current_user")
	r.add(name(SessionInfo.SessionUser), "session_user")
	r.add(name(SessionInfo.Database), "current_database")
	r.add(ask(func(s SessionInfo, _ []types.Datum) (types.Datum, error) {
		if path := s.SearchPath(false); len(path) > 0 {
			return types.Text(path[0]), nil
		}
		return null, nil
	}), "current_schema")
	r.add(ask(func(s SessionInfo, a []types.Datum) (types.Datum, error) {
		var out []types.Datum
		for _, p := range s.SearchPath(a[0].I != 0) {
			out = append(out, types.Bytes(types.TName, []byte(p)))
		}
		return vector(types.TName, out), nil
	}), "current_schemas")
	r.add(ask(func(s SessionInfo, _ []types.Datum) (types.Datum, error) { return intDatum(int64(s.BackendPID())), nil }), "pg_backend_pid")
	r.add(fn0(func(*callCtx) ([]byte, error) {
		return []byte("PostgreSQL " + PostgresVersion + " (kvsqld) on x86_64-pc-linux-gnu, compiled by gc, 64-bit"), nil
	}), "pgsql_version")
	r.add(fn0(func(*callCtx) ([]byte, error) { return []byte("kvsqld (PostgreSQL " + PostgresVersion + ")"), nil }), "kvsqld_version")
	r.add(fn0(func(*callCtx) (bool, error) { return false, nil }), "pg_is_in_recovery")
	r.add(fn0(func(*callCtx) ([]byte, error) { return []byte("UTF8"), nil }), "getdatabaseencoding")
	r.add(ask(func(s SessionInfo, _ []types.Datum) (types.Datum, error) {
		v, _, _ := s.Setting("client_encoding")
		return types.Bytes(types.TName, []byte(v)), nil
	}), "pg_client_encoding")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		if int(a[0].I) < 0 || int(a[0].I) >= len(encodingWidths) {
			return null, nil
		}
		return intDatum(int64(encodingWidths[a[0].I])), nil
	}), "pg_encoding_max_length_sql")
	r.add(pgTypeof, "pg_typeof")
	r.add(fnD(func(c *callCtx, _ []types.Datum) (types.Datum, error) {
		return null, sqlerr.Unsupported(c.call.Off, "COLLATION FOR outside of a query") // queries have it as a constant
	}), "pg_collation_for")
	r.add(countNulls(true), "pg_num_nulls")
	r.add(countNulls(false), "pg_num_nonnulls")
	r.add(fn0(func(*callCtx) ([]byte, error) { return randomUUID() }), "gen_random_uuid")
	r.add(fnD(columnSize), "pg_column_size")
	r.add(fn0(func(*callCtx) (bool, error) { return false, nil }), "pg_jit_available")
	settingFuncs(r)
	sequenceFuncs(r)
	lockFuncs(r)
	toRegFuncs(r)
	for _, src := range sessionScalars {
		r.session[src] = true
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			s, err := c.session()
			if err != nil {
				return null, err
			}
			return s.Catalog(src, a, c.call.T)
		}), src)
	}
	for _, src := range sessionSets {
		r.session[src] = true
		r.addSet(func(call *plan.Call) setBody {
			return rowsSet(func(c *callCtx, a []types.Datum) ([][]types.Datum, error) {
				s, err := c.session()
				if err != nil {
					return nil, err
				}
				return s.CatalogRows(src, a, setColumns(call))
			})(call)
		}, src)
	}
}

// pgTypeof is known when the call is compiled.
func pgTypeof(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
	return newConst(call.T, types.Int(call.T, int64(call.Args[0].Type().OID))), nil
}

func countNulls(nulls bool) builder {
	return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		args, err := spread(c, a, 0)
		if err != nil || args == nil {
			return null, err
		}
		n := int64(0)
		for _, d := range args {
			if d.Null == nulls {
				n++
			}
		}
		return intDatum(n), nil
	})
}

func settingFuncs(r *registry) {
	current := func(s SessionInfo, name string, missingOK bool) (types.Datum, error) {
		v, ok, err := s.Setting(name)
		if err != nil {
			return null, err
		}
		if !ok && !missingOK {
			return null, sqlerr.New(sqlerr.UndefinedObject, `unrecognized configuration parameter "%s"`, name)
		}
		if !ok {
			return null, nil
		}
		return types.Text(v), nil
	}
	r.add(ask(func(s SessionInfo, a []types.Datum) (types.Datum, error) { return current(s, string(a[0].B), false) }), "show_config_by_name")
	r.add(ask(func(s SessionInfo, a []types.Datum) (types.Datum, error) {
		return current(s, string(a[0].B), a[1].I != 0)
	}), "show_config_by_name_missing_ok")
	r.add(ask(func(s SessionInfo, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "SET requires parameter name")
		}
		var value *string
		if !a[1].Null {
			text := string(a[1].B)
			value = &text
		}
		v, err := s.SetSetting(string(a[0].B), value, !a[2].Null && a[2].I != 0)
		return types.Text(v), err
	}), "set_config_by_name")
}

func sequenceFuncs(r *registry) {
	add := func(name string, f func(ctx context.Context, s SessionInfo, a []types.Datum) (int64, error)) {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			s, err := c.session()
			if err != nil {
				return null, err
			}
			v, err := f(c.env.Ctx, s, a)
			return intDatum(v), err
		}), name)
	}
	add("nextval_oid", func(ctx context.Context, s SessionInfo, a []types.Datum) (int64, error) {
		return s.Nextval(ctx, types.OID(a[0].I))
	})
	add("currval_oid", func(ctx context.Context, s SessionInfo, a []types.Datum) (int64, error) {
		return s.Currval(ctx, types.OID(a[0].I))
	})
	add("lastval", func(ctx context.Context, s SessionInfo, _ []types.Datum) (int64, error) { return s.Lastval(ctx) })
	add("setval_oid", func(ctx context.Context, s SessionInfo, a []types.Datum) (int64, error) {
		return s.Setval(ctx, types.OID(a[0].I), a[1].I, true)
	})
	add("setval3_oid", func(ctx context.Context, s SessionInfo, a []types.Datum) (int64, error) {
		return s.Setval(ctx, types.OID(a[0].I), a[1].I, a[2].I != 0)
	})
}

// lockFuncs registers the advisory locks: pg_[try_]advisory_[xact_]lock[_shared]
// with one 64-bit key or two 32-bit ones, and their releases.
func lockFuncs(r *registry) {
	key := func(a []types.Datum, shared, txn bool) AdvisoryKey {
		k := AdvisoryKey{Key: a[0].I, Shared: shared, Txn: txn}
		if len(a) == 2 {
			k.Key, k.Two = a[0].I<<32|int64(uint32(a[1].I)), true
		}
		return k
	}
	for _, width := range []string{"_int8", "_int4"} {
		for _, shared := range []string{"", "_shared"} {
			for _, txn := range []string{"", "xact_"} {
				for _, try := range []string{"", "try_"} {
					isShared, inTxn, wait := shared != "", txn != "", try == ""
					r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
						s, err := c.session()
						if err != nil {
							return null, err
						}
						ok, err := s.AdvisoryLock(c.env.Ctx, key(a, isShared, inTxn), wait)
						if wait {
							return types.Datum{}, err
						}
						return types.Bool(ok), err
					}), "pg_"+try+"advisory_"+txn+"lock"+shared+width)
				}
			}
			isShared := shared != ""
			r.add(ask(func(s SessionInfo, a []types.Datum) (types.Datum, error) {
				return types.Bool(s.AdvisoryUnlock(key(a, isShared, false))), nil
			}), "pg_advisory_unlock"+shared+width)
		}
	}
	r.add(ask(func(s SessionInfo, _ []types.Datum) (types.Datum, error) {
		s.AdvisoryUnlockAll()
		return types.Datum{}, nil
	}), "pg_advisory_unlock_all")
	sleep := func(c *callCtx, d time.Duration) error {
		if d <= 0 {
			return nil
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-c.env.Ctx.Done():
			return canceled()
		}
	}
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Datum{}, sleep(c, time.Duration(a[0].F*float64(time.Second)))
	}), "pg_sleep")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		iv := a[0].Iv
		us := iv.Micros + (int64(iv.Days)+30*int64(iv.Months))*usecPerDay
		return types.Datum{}, sleep(c, time.Duration(us)*time.Microsecond)
	}), "sql_pg_sleep_for_3935")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Datum{}, sleep(c, time.Duration(a[0].I-c.env.instant())*time.Microsecond)
	}), "sql_pg_sleep_until_3936")
}

// toRegFuncs registers to_regclass and its like, which are NULL where the input
// functions say that nothing has the name.
func toRegFuncs(r *registry) {
	for src, t := range map[string]types.OID{"to_regclass": types.ORegclass, "to_regtype": types.ORegtype,
		"to_regproc": types.ORegproc, "to_regprocedure": types.ORegprocedure, "to_regnamespace": types.ORegnamespace,
		"to_regrole": types.ORegrole, "to_regoper": types.ORegoper, "to_regoperator": types.ORegoperator,
		"to_regcollation": types.ORegcollation} {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			s, err := c.session()
			if err != nil {
				return null, err
			}
			o, err := s.RegFind(t, string(a[0].B))
			if err != nil || o == 0 {
				return null, err
			}
			return types.Int(c.call.T, int64(o)), nil
		}), src)
	}
	r.session["format_type"] = true
	r.add(fnD(formatType), "format_type")
}

// formatType names built-in types itself and asks the session for others.
func formatType(c *callCtx, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return null, nil
	}
	o := types.OID(a[0].I)
	in := types.Lookup(o)
	switch {
	case o == 0:
		return types.Text("-"), nil
	case (in == nil || in.Extension != "") && c.env.Session != nil:
		return c.env.Session.Catalog("format_type", a, c.call.T)
	case in == nil:
		return types.Text("???"), nil
	case a[1].Null:
		return types.Text(types.FormatTypeNoMod(o)), nil
	}
	return types.Text(types.FormatType(types.T{OID: o, Mod: int32(a[1].I)})), nil
}

// encodingWidths are the greatest numbers of bytes of a character in PostgreSQL's
// encodings, by their numbers.
var encodingWidths = [...]uint8{1, 3, 3, 3, 4, 3, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	2, 2, 2, 2, 4, 3, 2}
