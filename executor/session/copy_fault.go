package session

import (
	"errors"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/planner/plan"
)

// Rows of COPY are stored by the batch, and an error of one must be the one that
// PostgreSQL meets first. It looks at each row by itself as it is read (defaults, the
// condition, NOT NULL, CHECK), and stores rows together once there are copyGroupRows of
// them, or copyGroupBytes of their text; so a key that is there twice is found behind a
// row that is wrong by itself, unless that is of a later group. Where a default or the
// condition is volatile it stores each row at once: it might look at the table.
const (
	copyGroupRows  = 1000
	copyGroupBytes = 65535
)

// tracedRow is a row that has no error by itself, in memory of its own.
type tracedRow struct {
	at   int // in the batch
	vals *vec.Batch
}

// trace finds the error that is to be reported when the first n rows of the vectors
// could not be stored because of err, or when the row behind them, with err nil, could
// not be read. It is nil when these rows have no error.
func (c *copyIn) trace(n int, err error) error {
	if err != nil && !ofCopiedRow(err) {
		return err
	}
	c.column = ""
	var group []tracedRow
	text := 0
	for r := range n {
		one := vec.Batch{Cols: slices.Clone(c.batch.Cols), N: n, Sel: []uint32{uint32(r)}}
		bad := c.complete(&one)
		if bad == nil && one.Rows() > 0 {
			bad = c.ins.Check(&one)
		}
		if bad != nil {
			c.ofDomain(bad, r)
			bad = c.at(bad, c.numbers[r], c.raws[r])
			c.column = ""
			return bad
		}
		if one.Rows() == 0 {
			continue
		}
		group, text = append(group, tracedRow{r, copyBatch(&one)}), text+len(c.raws[r])
		if c.alone || len(group) >= copyGroupRows || text >= copyGroupBytes {
			if bad := c.storeGroup(group); bad != nil {
				return bad
			}
			group, text = group[:0], 0
		}
	}
	if err == nil {
		return nil // the row that could not be read came before these were stored
	}
	if bad := c.storeGroup(group); bad != nil {
		return bad
	}
	return err
}

// ofDomain makes the column whose value a domain refuses the place of the error: PostgreSQL
// finds it when it reads the value.
func (c *copyIn) ofDomain(err error, row int) {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.DataType == "" || e.Code != sqlerr.NotNullViolation && e.Code != sqlerr.CheckViolation {
		return
	}
	var fields [][]byte
	if raw := c.raws[row]; raw != nil {
		var bad error
		if fields, bad = c.split(raw); bad != nil || len(fields) != len(c.cols) {
			return
		}
	}
	found := -1
	for i, k := range c.cols {
		whole := e.Code == sqlerr.NotNullViolation && c.s.snapshot().BaseType(k.t).Kind() != types.KArray
		if !c.hasDomain(k.t, e) || whole && !k.v.Nulls.Get(row) {
			continue
		}
		if found >= 0 && !whole {
			return // one of several
		}
		if found < 0 {
			found = i
		}
	}
	if found >= 0 {
		c.column, c.field = c.cols[found].name, nil
		if fields != nil {
			c.field = fields[found]
		}
	}
}

// hasDomain reports whether values of a type, or their elements, are of the domain of an
// error.
func (c *copyIn) hasDomain(t types.T, e *sqlerr.Error) bool {
	snap := c.s.snapshot()
	for o := t.OID; ; {
		u, in := snap.TypeByOID(o), snap.TypeInfo(o)
		switch {
		case u != nil && u.Kind == 'd' && u.Schema == e.Schema && u.Name == e.DataType:
			return true
		case u != nil && u.Kind == 'd':
			o = u.Base.OID
		case in != nil && in.Kind == types.KArray && in.Elem != 0:
			o = in.Elem
		default:
			return false
		}
	}
}

// storeGroup stores rows one by one; the text of those that others forbid is not shown.
func (c *copyIn) storeGroup(rows []tracedRow) error {
	for _, x := range rows {
		if err := c.ins.Insert(x.vals); err != nil {
			raw := c.raws[x.at]
			if code := sqlerr.CodeOf(err); !c.alone && (code == sqlerr.UniqueViolation || code == sqlerr.ExclusionViolation) {
				raw = nil
			}
			return c.at(err, c.numbers[x.at], raw)
		}
	}
	return nil
}

// seesStored notes an expression that is computed for each row: functions with bodies may
// look for the rows before it.
func (c *copyIn) seesStored(e plan.Expr) {
	c.alone = c.alone || volatileButNextval(e)
	if executor.VolatileBody(e) {
		c.rows = 1
	}
}

// volatileButNextval reports whether an expression is volatile by more than nextval.
func volatileButNextval(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if x, ok := x.(*plan.Call); ok && x.Proc.Volatile == 'v' && x.Proc.Name != "nextval" {
			found = true
		}
		return !found
	})
	return found
}

// ofCopiedRow reports whether an error tells of a row's values.
func ofCopiedRow(err error) bool {
	switch code := sqlerr.CodeOf(err); code[:min(2, len(code))] {
	case "21", "22", "23", "42":
		return true
	}
	return false
}
