package ast

import (
	"strconv"
	"strings"
)

// session writes the statements that are neither queries nor definitions.
func (p *printer) session(s Stmt) {
	switch s := s.(type) {
	case *Transaction:
		p.transaction(s)
	case *SetVar:
		p.setVar(s)
	case *Show:
		p.put("SHOW ")
		p.setting(s.Name)
	case *Discard:
		p.put("DISCARD ", s.What)
	case *Prepare:
		p.put("PREPARE ")
		p.ident(s.Name)
		if s.Types != nil {
			p.funcArgs("", s.Types)
		}
		p.put(" AS ")
		p.stmt(s.Stmt)
	case *Execute:
		p.put("EXECUTE ")
		p.ident(s.Name)
		if s.Args != nil {
			p.parenExprs(s.Args)
		}
	case *Deallocate:
		p.put("DEALLOCATE ")
		p.identOrAll(s.Name)
	case *Explain:
		p.put("EXPLAIN ")
		p.genericOptions(s.Options)
		p.stmt(s.Stmt)
	case *Copy:
		p.copy(s)
	case *DeclareCursor:
		p.declare(s)
	case *Fetch:
		p.fetch(s)
	case *CloseCursor:
		p.put("CLOSE ")
		p.identOrAll(s.Name)
	case *Listen:
		p.put(s.Kind, " ")
		if s.Channel == "" {
			p.put("*")
		} else {
			p.ident(s.Channel)
		}
		if s.Payload != "" {
			p.put(", ")
			p.literal(s.Payload)
		}
	case *LockTable:
		p.put("LOCK TABLE ")
		p.tables(s.Tables)
		p.put(" IN ", s.Mode, " MODE")
		p.putIf(s.NoWait, " NOWAIT")
	case *Vacuum:
		p.vacuum(s)
	case *Backup:
		p.put("BACKUP TO STDOUT")
	case *Do:
		p.put("DO ")
		p.literal(s.Body)
		if s.Language != "" {
			p.put(" LANGUAGE ")
			p.literal(s.Language)
		}
	case *CallProc:
		p.put("CALL ")
		p.plainCall(s.Call)
	case *SetConstraints:
		p.put("SET CONSTRAINTS ")
		if s.Names == nil {
			p.put("ALL")
		} else {
			p.names(s.Names)
		}
		if s.Deferred {
			p.put(" DEFERRED")
		} else {
			p.put(" IMMEDIATE")
		}
	case *Truncate:
		p.put("TRUNCATE TABLE ")
		p.tables(s.Tables)
		p.putIf(s.RestartIdentity, " RESTART IDENTITY")
		p.putIf(s.Cascade, " CASCADE")
	case *Comment:
		p.comment(s)
	case *Grant:
		p.grant(s)
	case *AlterDefaults:
		p.put("ALTER DEFAULT PRIVILEGES ")
		if len(s.Roles) > 0 {
			p.put("FOR ROLE ")
			p.roles(s.Roles)
			p.put(" ")
		}
		if len(s.Schemas) > 0 {
			p.put("IN SCHEMA ")
			p.idents(s.Schemas)
			p.put(" ")
		}
		p.grant(s.Grant)
	case *Owned:
		if s.To == "" {
			p.put("DROP OWNED BY ")
			p.roles(s.Roles)
			p.putIf(s.Cascade, " CASCADE")
			break
		}
		p.put("REASSIGN OWNED BY ")
		p.roles(s.Roles)
		p.put(" TO ")
		p.role(s.To)
	case *Refresh:
		p.put("REFRESH MATERIALIZED VIEW ")
		p.putIf(s.Concurrently, "CONCURRENTLY ")
		p.name(s.Name)
		p.putIf(s.WithNoData, " WITH NO DATA")
	case *Unsupported:
		p.put(s.Text)
	}
}

func (p *printer) identOrAll(name string) {
	if name == "" {
		p.put("ALL")
		return
	}
	p.ident(name)
}

func (p *printer) tables(l []TableRef) {
	for i := range l {
		p.putIf(i > 0, ", ")
		p.from(&l[i])
	}
}

func (p *printer) transaction(t *Transaction) {
	switch {
	case t.Start:
		p.put("START TRANSACTION")
	case t.Kind == "SET SESSION CHARACTERISTICS":
		p.put("SET SESSION CHARACTERISTICS AS TRANSACTION")
	default:
		p.put(t.Kind)
	}
	if t.Name != "" {
		p.put(" ")
		if strings.HasSuffix(t.Kind, "PREPARED") || strings.HasPrefix(t.Kind, "PREPARE") {
			p.literal(t.Name)
		} else {
			p.ident(t.Name)
		}
	}
	m := t.Modes
	if m.Snapshot != "" {
		p.put(" SNAPSHOT ")
		p.literal(m.Snapshot)
	}
	if m.Isolation != "" {
		p.put(" ISOLATION LEVEL ", m.Isolation)
	}
	if m.ReadOnly != nil {
		p.put(" READ ", map[bool]string{true: "ONLY", false: "WRITE"}[*m.ReadOnly])
	}
	if m.Deferrable != nil {
		p.put(" ", not(!*m.Deferrable), "DEFERRABLE")
	}
	p.putIf(t.Chain, " AND CHAIN")
}

// setting writes a setting's name.
func (p *printer) setting(name string) {
	if name == "all" {
		p.put("ALL")
		return
	}
	p.dotted(strings.Split(name, "."))
}

func (p *printer) setVar(v *SetVar) {
	if v.Reset {
		p.put("RESET ")
		if v.All {
			p.put("ALL")
		} else {
			p.dotted(strings.Split(v.Name, "."))
		}
		return
	}
	p.put("SET ")
	p.putIf(v.Local, "LOCAL ")
	p.putIf(v.Session, "SESSION ")
	if v.Name == "timezone" && len(v.Values) == 1 {
		if c, ok := v.Values[0].(*Cast); ok {
			p.put("TIME ZONE ")
			p.expr(c, 0)
			return
		}
	}
	p.setting(v.Name)
	p.settingValue(v)
}

func (p *printer) settingValue(v *SetVar) {
	switch {
	case v.FromCurrent:
		p.put(" FROM CURRENT")
	case v.Default:
		p.put(" TO DEFAULT")
	default:
		p.put(" TO ")
		p.exprs(v.Values)
	}
}

// genericOptions writes (name value, …) and a blank; nothing for none.
func (p *printer) genericOptions(l []Option) {
	if len(l) == 0 {
		return
	}
	p.put("(")
	for i, o := range l {
		p.putIf(i > 0, ", ")
		p.put(QuoteIdent(o.Name))
		if o.X != nil {
			p.put(" ")
			p.expr(o.X, 0)
		}
		if o.List != nil {
			p.put(" ")
			p.parenExprs(o.List)
		}
	}
	p.put(") ")
}

func (p *printer) copy(c *Copy) {
	p.put("COPY ")
	if c.Table != nil {
		p.name(*c.Table)
		p.parenIdents(c.Cols)
	} else {
		p.put("(")
		p.stmt(c.Query)
		p.put(")")
	}
	if c.From {
		p.put(" FROM ")
	} else {
		p.put(" TO ")
	}
	p.putIf(c.Program, "PROGRAM ")
	switch {
	case c.File != "" || c.Program:
		p.literal(c.File)
	case c.From:
		p.put("STDIN")
	default:
		p.put("STDOUT")
	}
	p.put(" ")
	p.genericOptions(c.Options)
	p.where("WHERE ", c.Where)
}

func (p *printer) declare(d *DeclareCursor) {
	p.put("DECLARE ")
	p.ident(d.Name)
	p.putIf(d.Binary, " BINARY")
	p.putIf(d.Insensitive, " INSENSITIVE")
	p.putIf(d.Asensitive, " ASENSITIVE")
	if d.Scroll != nil {
		if d.BothScroll {
			p.putIf(*d.Scroll, " NO")
			p.put(" SCROLL")
		}
		p.putIf(!*d.Scroll, " NO")
		p.put(" SCROLL")
	}
	p.put(" CURSOR")
	p.putIf(d.Hold, " WITH HOLD")
	p.put(" FOR ")
	p.query(d.Query)
}

func (p *printer) fetch(f *Fetch) {
	if f.Move {
		p.put("MOVE ")
	} else {
		p.put("FETCH ")
	}
	p.put(f.Direction, " ")
	switch f.Direction {
	case "NEXT", "PRIOR", "FIRST", "LAST":
	default:
		if f.All {
			p.put("ALL ")
		} else {
			p.put(strconv.FormatInt(f.Count, 10), " ")
		}
	}
	p.put("FROM ")
	p.ident(f.Cursor)
}

func (p *printer) vacuum(v *Vacuum) {
	p.put(v.Kind, " ")
	p.genericOptions(v.Options)
	if v.What != "" {
		p.put(v.What, " ")
	}
	for i, t := range v.Tables {
		p.putIf(i > 0, ", ")
		p.name(t.Name)
		if v.Kind == "CLUSTER" && t.Cols != nil {
			p.put(" USING ")
			p.ident(t.Cols[0])
		} else {
			p.parenIdents(t.Cols)
		}
	}
}

func (p *printer) comment(c *Comment) {
	kind := c.Kind
	if kind == "DOMAIN CONSTRAINT" {
		kind = "CONSTRAINT"
	}
	if c.Label {
		p.put("SECURITY LABEL ")
		if c.Provider != "" {
			p.put("FOR ")
			p.ident(c.Provider)
			p.put(" ")
		}
		p.put("ON ", kind, " ")
	} else {
		p.put("COMMENT ON ", kind, " ")
	}
	switch c.Kind {
	case "OPERATOR":
		p.operatorRef(c.Name, c.Args)
	case "CAST":
		p.castTypes(c.Args)
	case "TRANSFORM":
		p.put("FOR ")
		p.typeName(c.Args[0])
		p.put(" LANGUAGE ")
		p.name(c.Name)
	default:
		p.object(c.Kind, c.Name)
		p.funcArgs(c.Kind, c.Args)
	}
	switch {
	case c.On == nil:
	case c.Kind == "OPERATOR CLASS" || c.Kind == "OPERATOR FAMILY":
		p.put(" USING ")
		p.name(*c.On)
	default:
		p.put(" ON ")
		p.putIf(kind != c.Kind, "DOMAIN ")
		p.name(*c.On)
	}
	p.put(" IS ")
	if c.Null {
		p.put("NULL")
	} else {
		p.literal(c.Text)
	}
}

func (p *printer) grant(g *Grant) {
	word, to := "GRANT ", " TO "
	if g.Revoke {
		word, to = "REVOKE ", " FROM "
	}
	p.put(word)
	if g.Revoke && g.GrantOpt {
		if g.Roles != nil {
			p.put("ADMIN OPTION FOR ")
		} else {
			p.put("GRANT OPTION FOR ")
		}
	}
	if g.Roles != nil {
		p.idents(g.Roles)
	} else {
		for i, w := range g.Privileges {
			p.putIf(i > 0, ", ")
			p.put(w)
			if i < len(g.Cols) && g.Cols[i] != nil {
				p.put(" (")
				p.idents(g.Cols[i])
				p.put(")")
			}
		}
		p.put(" ON ", g.ObjKind)
		for i := range g.Objects {
			p.putIf(i > 0, ",")
			p.put(" ")
			p.object(g.ObjKind, g.Objects[i])
			if i < len(g.Args) && g.Args[i] != nil {
				p.put("(")
				for k := range g.Args[i] {
					p.putIf(k > 0, ", ")
					p.typeName(g.Args[i][k])
				}
				p.put(")")
			}
		}
	}
	p.put(to)
	p.roles(g.Grantees)
	if !g.Revoke && g.GrantOpt {
		if g.Roles != nil {
			p.put(" WITH ADMIN OPTION")
		} else {
			p.put(" WITH GRANT OPTION")
		}
	}
	if g.GrantedBy != "" {
		p.put(" GRANTED BY ")
		p.role(g.GrantedBy)
	}
	p.putIf(g.Cascade, " CASCADE")
}

func (p *printer) roles(list []string) {
	for i, r := range list {
		p.putIf(i > 0, ", ")
		p.role(r)
	}
}
