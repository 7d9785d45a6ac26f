package expr

import (
	"math/big"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// systemFuncs has the functions of pg_lsn and of snapshots.
func systemFuncs(r *registry) {
	r.add(fn2(func(_ *callCtx, a, b []byte) (types.Decimal, error) {
		d := new(big.Int).Sub(bigWord(a), bigWord(b))
		return types.ParseDecimal(d.String())
	}), "pg_lsn_mi", "pg_wal_lsn_diff")
	r.add(fn2(func(_ *callCtx, a []byte, n types.Decimal) ([]byte, error) { return lsnPlus(a, n, 1) }), "pg_lsn_pli")
	r.add(fn2(func(_ *callCtx, n types.Decimal, a []byte) ([]byte, error) { return lsnPlus(a, n, 1) }), "sql_numeric_pl_pg_lsn_5023")
	r.add(fn2(func(_ *callCtx, a []byte, n types.Decimal) ([]byte, error) { return lsnPlus(a, n, -1) }), "pg_lsn_mii")
	r.add(fn1(func(_ *callCtx, n types.Decimal) ([]byte, error) {
		v, err := wholeDecimal(n, "cannot convert NaN to pg_lsn", "cannot convert infinity to pg_lsn")
		if err != nil {
			return nil, err
		}
		return lsnOf(v)
	}), "numeric_pg_lsn")
	snapshot := func(f func(c *callCtx, s types.Snapshot) types.Datum, src string) {
		r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
			s, _ := types.ParseSnapshot(string(in[0].B))
			return f(c, s), nil
		}), src)
	}
	snapshot(func(c *callCtx, s types.Snapshot) types.Datum { return xactNumber(c.call.T, s.Xmin) }, "pg_snapshot_xmin")
	snapshot(func(c *callCtx, s types.Snapshot) types.Datum { return xactNumber(c.call.T, s.Xmax) }, "pg_snapshot_xmax")
	r.addSet(func(call *plan.Call) setBody {
		return rowsSet(func(c *callCtx, in []types.Datum) ([][]types.Datum, error) {
			s, _ := types.ParseSnapshot(string(in[0].B))
			rows := make([][]types.Datum, len(s.Xip))
			for i, x := range s.Xip {
				rows[i] = []types.Datum{xactNumber(call.T, x)}
			}
			return rows, nil
		})(call)
	}, "pg_snapshot_xip")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		s, _ := types.ParseSnapshot(string(in[1].B))
		x := uint64(in[0].I)
		if in[0].T.Kind() == types.KWord {
			x = types.WordValue(in[0].B)
		}
		visible := x < s.Xmin
		if !visible && x < s.Xmax {
			visible = true
			for _, running := range s.Xip {
				visible = visible && running != x
			}
		}
		return types.Bool(visible), nil
	}), "pg_visible_in_snapshot")
}

// xactNumber is a transaction's number as a bigint or an xid8.
func xactNumber(t types.T, v uint64) types.Datum {
	if t.Kind() == types.KWord {
		return types.Word(t, v)
	}
	return types.Int(t, int64(v))
}

func bigWord(b []byte) *big.Int { return new(big.Int).SetUint64(types.WordValue(b)) }

// wholeDecimal rounds a finite number to an integer.
func wholeDecimal(n types.Decimal, nan, inf string) (*big.Int, error) {
	if n.IsNaN() {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s", nan)
	}
	if !n.IsFinite() {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s", inf)
	}
	return wholeBig(n)
}

func wholeBig(n types.Decimal) (*big.Int, error) {
	v, ok := new(big.Int).SetString(string(n.Round(0).AppendText(nil)), 10)
	if !ok {
		return nil, errLSNRange()
	}
	return v, nil
}

func errLSNRange() error { return sqlerr.New(sqlerr.InvalidParameterValue, "pg_lsn out of range") }

func lsnOf(v *big.Int) ([]byte, error) {
	if !v.IsUint64() {
		return nil, errLSNRange()
	}
	return types.Word(types.T{}, v.Uint64()).B, nil
}

func lsnPlus(a []byte, n types.Decimal, sign int64) ([]byte, error) {
	nan, inf := "cannot add NaN to pg_lsn", "cannot add infinity to pg_lsn"
	if sign < 0 {
		nan, inf = "cannot subtract NaN from pg_lsn", "cannot subtract infinity from pg_lsn"
	}
	if _, err := wholeDecimal(n, nan, inf); err != nil {
		return nil, err
	}
	// Rounded after the addition: half way goes away from zero, which is up.
	lsn, err := types.ParseDecimal(bigWord(a).String())
	if err != nil {
		return nil, err
	}
	if sign < 0 {
		n = n.Neg()
	}
	v, err := wholeBig(lsn.Add(n))
	if err != nil {
		return nil, err
	}
	return lsnOf(v)
}
