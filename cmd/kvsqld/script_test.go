package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"kvsqld/catalog/types"
)

// The scripts of testdata/sql are sequences of
//
//	sql [conn=NAME] [sort] [differs=(REASON)]
//	SELECT 1 AS one;
//	----
//	one int4
//	1
//	SELECT 1
//
// with these directives:
//
//	sql    every statement is a message of its own; a statement ends with a
//	       semicolon at the end of a line
//	batch  the whole text is one message, and so one implicit transaction
//	copy   a COPY FROM STDIN statement, then its data
//	plan   the plans of the statements; PostgreSQL has other ones
//
// conn names the connection that runs the statements (a new one at its first
// use), sort orders the rows of the answer, differs says why the answer is not
// that of PostgreSQL.
//
// The answer has the columns with their types ("mod" is the type modifier), the
// rows, the command tag; notices and errors with their SQLSTATE.

// statementTimeout turns a missing answer into a test failure.
const statementTimeout = 3 * time.Minute

// firstUserOID is the lowest OID of objects that are not built in.
const firstUserOID = 16384

var typeNames = pgtype.NewMap()

// script runs one file over connections to one server.
type script struct {
	t        testing.TB
	connect  func(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error)
	extended bool // statements go through Parse, Bind, Execute
	postgres bool // the server is PostgreSQL, with the exceptions that are its due

	conns map[string]*pgconn.PgConn
	out   strings.Builder
}

func (s *script) run(t *testing.T, path string) {
	s.conns = map[string]*pgconn.PgConn{}
	defer s.close()
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		s.t = t
		if s.postgres && (d.HasArg("differs") || d.Cmd == "plan") {
			if d.Cmd != "plan" {
				s.directive(d)
			}
			return d.Expected
		}
		got := s.directive(d)
		if s.postgres && withoutMessages(got) == withoutMessages(d.Expected) && !d.Rewrite {
			return d.Expected
		}
		return got
	})
}

func (s *script) close() {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	for _, c := range s.conns {
		c.Close(ctx)
	}
}

func (s *script) conn(ctx context.Context, name string) *pgconn.PgConn {
	if c := s.conns[name]; c != nil && !c.IsClosed() {
		return c
	}
	c, err := s.connect(ctx, func(n *pgconn.Notice) {
		fmt.Fprintf(&s.out, "%s %s: %s\n", n.Severity, n.Code, n.Message)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.conns[name] = c
	return c
}

func (s *script) directive(d *datadriven.TestData) string {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	name := ""
	d.MaybeScanArgs(s.t, "conn", &name)
	c := s.conn(ctx, name)
	s.out.Reset()
	sorted := d.HasArg("sort")
	switch d.Cmd {
	case "sql":
		for _, q := range statements(d.Input) {
			s.statement(ctx, c, q, sorted)
		}
	case "plan":
		for _, q := range statements(d.Input) {
			s.statement(ctx, c, "EXPLAIN (COSTS OFF) "+q, false)
		}
	case "batch":
		s.results(c.Exec(ctx, d.Input), sorted)
	case "copy":
		q, data, _ := strings.Cut(d.Input, ";\n")
		if data != "" {
			data += "\n"
		}
		tag, err := c.CopyFrom(ctx, strings.NewReader(data), q)
		s.end(tag, err)
	default:
		d.Fatalf(s.t, "unknown directive %s", d.Cmd)
	}
	return s.out.String()
}

// statements splits a text after semicolons that end a line.
func statements(text string) []string {
	var list []string
	var cur strings.Builder
	for line := range strings.Lines(text) {
		cur.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			list = append(list, strings.TrimSpace(cur.String()))
			cur.Reset()
		}
	}
	if rest := strings.TrimSpace(cur.String()); rest != "" {
		list = append(list, rest)
	}
	return list
}

func (s *script) statement(ctx context.Context, c *pgconn.PgConn, q string, sorted bool) {
	up := strings.ToUpper(q)
	switch {
	case strings.HasPrefix(up, "COPY") && strings.Contains(up, "TO STDOUT"):
		var buf bytes.Buffer
		tag, err := c.CopyTo(ctx, &buf, strings.TrimSuffix(q, ";"))
		s.out.WriteString(visible(buf.String()))
		s.end(tag, err)
	case s.extended:
		s.fail(s.result(c.ExecParams(ctx, q, nil, nil, nil, nil), sorted))
	default:
		s.results(c.Exec(ctx, q), sorted)
	}
}

func (s *script) results(m *pgconn.MultiResultReader, sorted bool) {
	for m.NextResult() {
		if s.result(m.ResultReader(), sorted) != nil {
			break
		}
	}
	s.fail(m.Close())
}

// result prints one result. Of a result that ends with an error nothing is
// printed, because how much of it arrives is the server's choice; the error is
// the caller's to print.
func (s *script) result(r *pgconn.ResultReader, sorted bool) error {
	fields := r.FieldDescriptions()
	var rows []string
	for r.NextRow() {
		rows = append(rows, row(r.Values()))
	}
	tag, err := r.Close()
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		cols := make([]string, len(fields))
		for i, f := range fields {
			cols[i] = f.Name + " " + typeName(f.DataTypeOID)
			if f.TypeModifier != -1 {
				cols[i] += fmt.Sprintf(" mod %d", f.TypeModifier)
			}
		}
		fmt.Fprintln(&s.out, visible(strings.Join(cols, " | ")))
	}
	if sorted {
		sort.Strings(rows)
	}
	for _, r := range rows {
		fmt.Fprintln(&s.out, r)
	}
	if tag.String() != "" {
		fmt.Fprintln(&s.out, tag)
	}
	return nil
}

func row(values [][]byte) string {
	if len(values) == 0 {
		return "(no columns)"
	}
	out := make([]string, len(values))
	for i, v := range values {
		switch {
		case v == nil:
			out[i] = "NULL"
		case len(v) == 0:
			out[i] = "''"
		default:
			out[i] = visible(string(v))
		}
	}
	return strings.Join(out, " | ")
}

func typeName(oid uint32) string {
	if t, ok := typeNames.TypeForOID(oid); ok {
		return t.Name
	}
	if in := types.Lookup(types.OID(oid)); oid >= firstUserOID || in != nil && in.Extension != "" {
		return "(a type of the script)" // whose OID may be any
	}
	return fmt.Sprint(oid)
}

// visible keeps the file's line structure whatever a value has in it.
func visible(v string) string {
	nl := strings.HasSuffix(v, "\n")
	lines := strings.Split(strings.TrimSuffix(v, "\n"), "\n")
	for i, l := range lines {
		if strings.HasSuffix(l, " ") {
			l = strings.TrimRight(l, " ") + strings.Repeat("␠", len(l)-len(strings.TrimRight(l, " ")))
		}
		lines[i] = l
	}
	if nl {
		return strings.Join(lines, "\n") + "\n"
	}
	return strings.Join(lines, "↵")
}

func (s *script) end(tag pgconn.CommandTag, err error) {
	if err != nil {
		s.fail(err)
		return
	}
	fmt.Fprintln(&s.out, tag)
}

func (s *script) fail(err error) {
	if err == nil {
		return
	}
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		fmt.Fprintf(&s.out, "CONNECTION: %v\n", err)
		return
	}
	fmt.Fprintf(&s.out, "%s %s: %s\n", pe.Severity, pe.Code, pe.Message)
	if pe.Detail != "" {
		fmt.Fprintf(&s.out, "DETAIL: %s\n", visible(pe.Detail))
	}
}

// withoutMessages leaves of notices and errors only what clients may rely on:
// severity and SQLSTATE.
func withoutMessages(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "DETAIL: ") {
			continue
		}
		if head, _, ok := strings.Cut(line, ": "); ok {
			if sev, code, ok := strings.Cut(head, " "); ok && len(code) == 5 && strings.ToUpper(sev) == sev {
				line = head + "\n"
			}
		}
		b.WriteString(line)
	}
	return b.String()
}
