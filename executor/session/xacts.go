package session

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// xactBlock is how many transaction numbers are reserved at once, and firstXact where
// they begin: lower numbers have been told by servers that counted commits.
const (
	xactBlock = 1024
	firstXact = 1024
)

// numberXacts lets the store number its transactions. What is reserved is kept like the
// state of a sequence, under an OID that no object has.
func (srv *Server) numberXacts() {
	n, ok := srv.Store.(kv.Numbers)
	if !ok {
		return
	}
	srv.numbers = n
	q := &catalog.Sequence{Common: catalog.Common{OID: xactsOID, Name: "transaction numbers"}, Inc: xactBlock, Min: 1, Max: math.MaxInt64}
	n.NumberFrom(func() (first, last uint64, err error) {
		if q.Start == 0 {
			q.Start = int64(firstXact + srv.Store.Stats().Seq)
		}
		r, err := srv.Tables.NextVals(context.Background(), q)
		return uint64(r.First), uint64(r.First) + xactBlock - 1, err
	})
}

// xactsOID is the key of the transaction numbers among the states of sequences.
const xactsOID types.OID = 1

// xactNumber is the open transaction's number, which it gets if it has none.
func (c *catalogCall) xactNumber() (types.Datum, error) {
	if c.tx == nil || c.srv.numbers == nil {
		return c.null()
	}
	n, err := c.tx.kv.Number()
	if err != nil {
		return types.Datum{}, err
	}
	return c.xid(n)
}

func (c *catalogCall) xid(n uint64) (types.Datum, error) {
	if c.ret.Kind() == types.KWord {
		return types.Word(c.ret, n), nil
	}
	return c.integer(int64(n))
}

func xactFuncs(m map[string]catalogFunc) {
	m["pg_current_xact_id"] = (*catalogCall).xactNumber
	m["pg_current_xact_id_if_assigned"] = func(c *catalogCall) (types.Datum, error) {
		if c.tx == nil || c.tx.kv.Assigned() == 0 {
			return c.null()
		}
		return c.xid(c.tx.kv.Assigned())
	}
	m["pg_current_snapshot"] = (*catalogCall).snapshotText
	m["pg_xact_status"] = (*catalogCall).xactStatus
	m["xid_age"] = (*catalogCall).xidAge
}

// xidAge answers age(xid): how many numbers were given since, by the transaction's own
// or, if it has none, by the next one.
func (c *catalogCall) xidAge() (types.Datum, error) {
	if c.num(0) < 3 { // the numbers of no transaction
		return types.Int(c.ret, math.MaxInt32), nil
	}
	var n uint64
	if c.tx != nil {
		n = c.tx.kv.Assigned()
	}
	if n == 0 && c.srv.numbers != nil {
		r, err := c.srv.numbers.Running(math.MaxUint64 - 1)
		if err != nil {
			return types.Datum{}, err
		}
		n = r.Max
	}
	return types.Int(c.ret, int64(int32(uint32(n)-uint32(c.num(0))))), nil
}

// snapshotText is pg_current_snapshot: the same for as long as the transaction reads
// the same state.
func (c *catalogCall) snapshotText() (types.Datum, error) {
	t := c.tx
	if t == nil || c.srv.numbers == nil {
		return c.null()
	}
	if seq := t.kv.Seq(); t.running == nil || t.runningAt != seq {
		r, err := c.srv.numbers.Running(seq)
		if err != nil {
			return types.Datum{}, err
		}
		t.running, t.runningAt = &r, seq
	}
	var b strings.Builder
	b.WriteString(strconv.FormatUint(t.running.Min, 10) + ":" + strconv.FormatUint(t.running.Max, 10) + ":")
	sep := ""
	for _, x := range t.running.List {
		if x != t.kv.Assigned() { // which PostgreSQL does not list either
			b.WriteString(sep + strconv.FormatUint(x, 10))
			sep = ","
		}
	}
	return c.text(b.String(), true)
}

// xactStatus answers pg_xact_status and txid_status; NULL for what ended long ago.
func (c *catalogCall) xactStatus() (types.Datum, error) {
	id := uint64(c.a[0].I)
	if c.a[0].T.Kind() == types.KWord {
		id = types.WordValue(c.a[0].B)
	}
	switch {
	case id == 0 || c.srv.numbers == nil:
		return c.null()
	case id < 3:
		return c.text("committed", true)
	}
	o, err := c.srv.numbers.Outcome(id)
	if err != nil {
		return types.Datum{}, err
	}
	switch o {
	case kv.OutcomeFuture:
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "transaction ID %d is in the future", id)
	case kv.OutcomeRunning:
		return c.text("in progress", true)
	case kv.OutcomeCommitted:
		return c.text("committed", true)
	case kv.OutcomeAborted:
		return c.text("aborted", true)
	}
	return c.null()
}

// xactInfo is what others see of a session's transaction.
type xactInfo struct {
	pid, backend int32
	local        uint64 // counts the session's transactions
	open         bool
	number, xmin uint64 // 0: none
}

// virtual is the transaction's name before it has a number.
func (x *xactInfo) virtual() string {
	return itoa(int(x.backend)) + "/" + strconv.FormatUint(x.local, 10)
}

// xacts lists the sessions' transactions by process number.
func (srv *Server) xacts() map[int32]*xactInfo {
	list := srv.sessions()
	slices.SortFunc(list, func(a, b *Session) int { return int(a.info.PID - b.info.PID) })
	out := make(map[int32]*xactInfo, len(list))
	for i, o := range list {
		x := &xactInfo{pid: o.info.PID, backend: int32(i + 1)}
		out[x.pid] = x
		a := &o.activity
		a.mu.Lock()
		x.local, x.open = a.xacts, a.xact != nil
		var seq uint64
		reads := false
		if x.open {
			x.number = a.xact.Assigned()
			if a.state == "active" || a.xact.Isolation() != kv.ReadCommitted {
				seq, reads = a.xact.Reading()
			}
		}
		a.mu.Unlock()
		if srv.numbers == nil {
			continue
		}
		if reads {
			if r, err := srv.numbers.Running(seq); err == nil {
				x.xmin = r.Min
			}
		}
		if x.number != 0 { // it may have ended meanwhile
			if o, _ := srv.numbers.Outcome(x.number); o != kv.OutcomeRunning {
				x.number, x.open = 0, false
			}
		}
	}
	return out
}
