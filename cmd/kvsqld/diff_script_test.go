package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// diffStep is one message of a script: a statement of the simple protocol, or one of
// the extended: Parse where params is set, Bind and Execute where run is.
type diffStep struct {
	sql     string
	ordered bool // the rows' order is determined
	parse   bool
	params  []diffType // of the statement p
	run     bool
	values  []string // expressions, for the parameters of p
	types   []diffType
	binary  bool
	runs    string // the prepared statement that the step runs
}

func (s diffStep) String() string {
	switch {
	case s.parse:
		return fmt.Sprintf("Parse (%s) AS %s", diffTypeNames(s.params), s.sql)
	case s.run:
		return fmt.Sprintf("Bind, Execute (%s)", strings.Join(s.values, ", "))
	}
	return s.sql
}

// diffScript is statements whose answers hang on those before: kept plans, cursors,
// savepoints. It starts with the tables as the schema filled them.
type diffScript struct {
	steps []diffStep
	reset []string
	seed  int64
}

func diffTypeNames(types []diffType) string {
	var names []string
	for _, t := range types {
		names = append(names, diffCast[t])
	}
	return strings.Join(names, ", ")
}

// script compares the answers to each step, and the tables after the last one.
func (d *differ) script(ctx context.Context, s diffScript) {
	for _, side := range []struct {
		prefix string
		conn   *pgconn.PgConn
	}{{"script: ", d.own}, {"script, optimizer off: ", d.plain}} {
		kind, detail, at := d.scriptOn(ctx, s, side.conn)
		if kind == "" {
			continue
		}
		kind = strings.TrimPrefix(kind, side.prefix)
		if d.seen[side.prefix+kind] < 6 {
			s, detail = d.shrinkScript(ctx, s, side.conn, kind, detail, at)
		}
		var b strings.Builder
		for i, st := range s.steps {
			if i > 0 {
				b.WriteString(";\n  ")
			}
			b.WriteString(st.String())
		}
		d.report(side.prefix+kind, b.String(), detail, s.seed)
	}
	// What differs is not carried on: the statements that follow start from equal tables.
	d.reset(ctx, d.ref, s.reset)
	d.reset(ctx, d.own, s.reset)
}

// reset ends what a script left open and fills the tables as they were.
func (d *differ) reset(ctx context.Context, c *pgconn.PgConn, reset []string) {
	for _, other := range []*pgconn.PgConn{d.own, d.plain} { // neither waits for what the other left open
		diffAsk(ctx, other, "ROLLBACK")
	}
	for _, q := range append([]string{"ROLLBACK", "CLOSE ALL", "DEALLOCATE ALL", "DROP INDEX IF EXISTS step_x", "DROP FUNCTION IF EXISTS f"}, reset...) {
		diffAsk(ctx, c, q)
	}
}

// scriptOn runs a script on the reference and on one of ours. It ends at an error that
// only one side has and that is excused.
func (d *differ) scriptOn(ctx context.Context, s diffScript, c *pgconn.PgConn) (kind, detail string, at int) {
	d.reset(ctx, d.ref, s.reset)
	d.reset(ctx, c, s.reset)
	for i, st := range s.steps {
		want, got := d.step(ctx, d.ref, st), d.step(ctx, c, st)
		d.compared++
		if want.state == "57014" || got.state == "57014" {
			d.slow++
			return "", "", i
		}
		kind, detail := d.judge(diffStatement{sql: cmp.Or(st.runs, st.sql), ordered: st.ordered}, want, got)
		if kind != "" {
			return kind, "    at " + st.String() + "\n" + detail, i
		}
		if want.state != "" {
			d.refused++
		}
		if want.state != got.state {
			return "", "", i
		}
	}
	for _, c := range []*pgconn.PgConn{d.ref, c} {
		diffAsk(ctx, c, "ROLLBACK")
	}
	for _, t := range d.tables {
		one := diffStatement{sql: "TABLE " + t}
		if kind, detail := d.judge(one, diffAsk(ctx, d.ref, one.sql), diffAsk(ctx, c, one.sql)); kind != "" {
			return "table after: " + kind, detail, len(s.steps)
		}
	}
	return "", "", len(s.steps)
}

// step sends one step.
func (d *differ) step(ctx context.Context, c *pgconn.PgConn, st diffStep) diffAnswer {
	switch {
	case st.parse:
		oids := make([]uint32, len(st.params))
		for i, t := range st.params {
			oids[i] = diffOID[t]
		}
		_, err := c.Prepare(ctx, "p", st.sql, oids)
		return diffAnswer{}.failed(err)
	case st.run:
		values := make([][]byte, len(st.values))
		for i, v := range st.values {
			values[i] = d.text(ctx, v, st.types[i])
		}
		format := int16(0)
		if st.binary {
			format = 1
		}
		return diffRead(c.ExecPrepared(ctx, "p", values, nil, []int16{format}), st.binary)
	}
	return diffAsk(ctx, c, st.sql)
}

// text is the text of an expression's value as the reference spells it.
func (d *differ) text(ctx context.Context, expr string, t diffType) []byte {
	if expr == "NULL" {
		return nil
	}
	key := "SELECT (" + expr + ")::" + diffCast[t] + "::text"
	if v, ok := d.texts[key]; ok {
		return v
	}
	r, err := d.ref.Exec(ctx, key).ReadAll()
	if err != nil || len(r) == 0 || len(r[0].Rows) == 0 {
		return []byte(expr) // the block is aborted, or the value is none of the type
	}
	if d.texts == nil {
		d.texts = map[string][]byte{}
	}
	d.texts[key] = r[0].Rows[0][0]
	return d.texts[key]
}

// shrinkScript leaves out steps, and parts of the prepared statement, that a
// difference does not need.
func (d *differ) shrinkScript(ctx context.Context, s diffScript, c *pgconn.PgConn, kind, detail string, at int) (diffScript, string) {
	compared, refused, excused := d.compared, d.refused, d.excused
	defer func() { d.compared, d.refused, d.excused = compared, refused, excused }()
	fails := func(steps []diffStep) bool {
		one := s
		one.steps = steps
		k, det, _ := d.scriptOn(ctx, one, c)
		if k != kind {
			return false
		}
		if strings.HasPrefix(kind, "state") && detail[strings.Index(detail, "    want"):] != det[strings.Index(det, "    want"):] {
			return false
		}
		detail = det
		return true
	}
	if at < len(s.steps) && fails(s.steps[:at+1]) {
		s.steps = s.steps[:at+1]
	}
	for shorter := true; shorter; {
		shorter = false
		for i := len(s.steps) - 1; i >= 0; i-- {
			if one := slices.Delete(slices.Clone(s.steps), i, i+1); fails(one) {
				s.steps, shorter = one, true
			}
		}
	}
	for i := range s.steps {
		if len(s.steps[i].sql) < 40 {
			continue
		}
		small := diffShrink(s.steps[i].sql, func(sql string) bool {
			one := slices.Clone(s.steps)
			one[i].sql = sql
			return fails(one)
		})
		s.steps = slices.Clone(s.steps)
		s.steps[i].sql = small
	}
	return s, detail
}

// failed is the answer of an error.
func (a diffAnswer) failed(err error) diffAnswer {
	if err != nil {
		a.state, a.message = "connection", err.Error()
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			a.state, a.message = pe.Code, pe.Message
		}
	}
	return a
}
