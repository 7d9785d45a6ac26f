package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// The lines about statements that log_statement, log_min_duration_statement,
// log_min_duration_sample and log_duration ask for. Their texts are PostgreSQL's; they come
// at the level of information. A text with a password of a role is not logged.

// logRules are those settings.
type logRules struct {
	on       bool // any of them asks for lines
	kinds    statementKind
	min      time.Duration // from which statements are logged; negative: never
	sample   time.Duration // from which a part of them is
	rate     float64       // that part
	duration bool          // of each statement, without its text
}

// statementKind orders statements as log_statement does: a value logs its own kind and
// those before it.
type statementKind uint8

const (
	loggedNever statementKind = iota
	loggedDDL
	loggedMod
	loggedAll
)

func (g *settings) logRules() logRules {
	ms := func(name string) time.Duration { return time.Duration(atoi(g.get(name))) * time.Millisecond }
	r := logRules{min: ms("log_min_duration_statement"), sample: ms("log_min_duration_sample"), duration: g.get("log_duration") == "on"}
	r.kinds = statementKind(max(0, slices.Index([]string{"none", "ddl", "mod", "all"}, g.get("log_statement"))))
	r.rate, _ = strconv.ParseFloat(g.get("log_statement_sample_rate"), 64)
	r.on = r.kinds > loggedNever || r.min >= 0 || r.sample >= 0 || r.duration
	return r
}

// kindOf tells from which value of log_statement on a statement is logged.
func (s *Session) kindOf(st ast.Stmt) statementKind {
	switch x := st.(type) {
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge, *ast.Truncate:
		return loggedMod
	case *ast.Copy:
		if x.From {
			return loggedMod
		}
		return loggedAll
	case *ast.Select:
		if x.Into != nil {
			return loggedDDL
		}
		return loggedAll
	case *ast.Vacuum:
		if x.Kind == "CLUSTER" {
			return loggedDDL
		}
		return loggedAll
	case *ast.Explain:
		if i := slices.IndexFunc(x.Options, func(o ast.Option) bool { return o.Name == "analyze" }); i >= 0 {
			if on, ok := optionBool(&x.Options[i]); ok && !on {
				return loggedAll
			}
			return s.kindOf(x.Stmt)
		}
		return loggedAll
	case *ast.Prepare:
		return s.kindOf(x.Stmt)
	case *ast.Execute:
		if ps := s.prepared[x.Name]; ps != nil && ps.stmt != nil {
			if _, again := ps.stmt.(*ast.Execute); !again {
				return s.kindOf(ps.stmt)
			}
		}
		return loggedAll
	case nil, *ast.Transaction, *ast.SetVar, *ast.Show, *ast.Discard, *ast.Deallocate, *ast.DeclareCursor, *ast.Fetch,
		*ast.CloseCursor, *ast.Listen, *ast.LockTable, *ast.Do, *ast.CallProc, *ast.SetConstraints, *ast.Backup:
		return loggedAll
	}
	return loggedDDL
}

// logStatement logs a text before it runs if log_statement asks for one of its kind. what
// says how the client has sent it.
func (s *Session) logStatement(st ast.Stmt, what, text string, params []types.Datum) {
	if r := &s.settings.logs; r.kinds > loggedNever && !s.logged && s.kindOf(st) <= r.kinds {
		s.logged = true
		s.log(what+": "+s.loggable(text), params)
	}
}

// logDuration logs how long a message has taken that began at a time and has not failed,
// with its text if that is long enough and not in the log already.
func (s *Session) logDuration(began time.Time, what, text string, params []types.Datum) {
	r := &s.settings.logs
	took := time.Since(began)
	long := r.min >= 0 && took >= r.min
	if !long && r.sample >= 0 && took >= r.sample {
		long = rand.Float64() < r.rate
	}
	if !long && !r.duration {
		return
	}
	line := fmt.Sprintf("duration: %.3f ms", float64(took.Nanoseconds())/1e6)
	if !long || s.logged {
		s.log(line, nil)
		return
	}
	s.log(line+"  "+what+": "+s.loggable(text), params)
}

// logError logs an error that a client gets at the level of debugging, and not as
// log_min_messages says: where clients try and fail, the log would grow by their texts.
func (s *Session) logError(err error, text string) {
	if !s.srv.opts.Logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := s.logAttrs()
	if e := new(sqlerr.Error); errors.As(err, &e) {
		attrs = append(attrs, "sqlstate", string(e.Code))
		err = errors.New(e.Message)
	}
	s.srv.opts.Logger.Debug("ERROR:  "+err.Error(), append(attrs, "statement", s.loggable(text))...)
}

// log writes a line about the session's client.
func (s *Session) log(line string, params []types.Datum) {
	attrs := s.logAttrs()
	if list := s.paramList(params); list != "" {
		attrs = append(attrs, "detail", "parameters: "+list)
	}
	s.srv.opts.Logger.Info(line, attrs...)
}

func (s *Session) logAttrs() []any {
	return []any{"pid", s.info.PID, "user", s.authUser, "database", s.dbName, "application", s.settings.get("application_name")}
}

// paramList shows parameters as far as log_parameter_max_length says.
func (s *Session) paramList(params []types.Datum) string {
	most := int(atoi(s.settings.get("log_parameter_max_length")))
	if most == 0 {
		return ""
	}
	var b []byte
	for i, p := range params {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(i+1), 10)
		if p.Null {
			b = append(b, " = NULL"...)
			continue
		}
		text := string(types.AppendText(nil, p, s.settings.fmt))
		more := ""
		if most > 0 && len(text) > most {
			text, more = strings.ToValidUTF8(text[:most], ""), "..."
		}
		b = append(b, " = '"...)
		b = append(b, strings.ReplaceAll(text, "'", "''")...)
		b = append(b, more...)
		b = append(b, '\'')
	}
	return string(b)
}

// loggable is a text without a role's password: then it is not shown at all.
func (s *Session) loggable(text string) string {
	if !strings.Contains(strings.ToLower(text), "password") {
		return text
	}
	hidden := "(a text with a password)"
	list, err := s.strings(text).Parse(text)
	if err != nil {
		return hidden
	}
	for i := range list {
		if hasPassword(list[i].Stmt) {
			return hidden
		}
	}
	return text
}

func hasPassword(st ast.Stmt) bool {
	var l []ast.Option
	switch x := st.(type) {
	case *ast.CreateRole:
		l = x.Options
	case *ast.AlterRole:
		l = x.Options
	}
	return slices.ContainsFunc(l, func(o ast.Option) bool { return o.Name == "password" })
}

// named names a prepared statement, and the portal that runs it, as PostgreSQL's lines do.
func (ps *prepared) named(what, portal string) string {
	name := cmp.Or(ps.name, "<unnamed>")
	if portal != "" {
		name += "/" + portal
	}
	return what + " " + name
}
