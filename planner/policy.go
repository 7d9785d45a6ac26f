package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// Row-level security. What a role may not see is hidden where the table is read:
//
//	CREATE POLICY own ON t USING (owner = current_user);
//	SELECT * FROM t WHERE f(a)   reads of t the rows with owner = current_user AND f(a)
//
// The conditions of policies belong to the entry of FROM (rel.secure) and not to
// WHERE, so that outer joins see the visible rows alone; conditions of the statement
// that might leak what they are computed for come behind them (rel.ordered). New rows
// are checked where those of views WITH CHECK OPTION are (plan.RowCheck).

// policyColumn is the name of the only column of a policy's stored query.
const policyColumn = "condition"

// StorePolicy binds a condition of a policy of a table and returns it as a query.
func StorePolicy(c *Context, x ast.Expr, t *catalog.Table, write QueryWriter) (*StoredQuery, error) {
	if err := checkPolicy(c, x, t); err != nil {
		return nil, err
	}
	cond := &ast.Cast{Off: ast.Off(x.Pos()), X: x, Type: ast.TypeName{Name: ast.Name{Parts: []string{catalog.SchemaPgCatalog, "bool"}}}}
	table := &ast.TableRef{Off: ast.Off(x.Pos()), Name: ast.Name{Parts: []string{t.Schema, t.Name}}, Only: true}
	return StoreQuery(c, &ast.Select{Off: ast.Off(x.Pos()), Targets: []ast.Target{{X: cond, Alias: policyColumn}}, From: []ast.FromItem{table}},
		[]string{policyColumn}, write)
}

func checkPolicy(c *Context, x ast.Expr, t *catalog.Table) (err error) {
	stored := *c
	stored.Stored = true
	p := newPlanner(&stored)
	defer p.recover(&err)
	r := p.tableRel(t, t.Name)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "policy expressions", noAgg: true, noWin: true}
	p.mustBool(p.known(b.expr(x)), "POLICY")
	return nil
}

// actor is the role in whose name relations are read now.
func (p *planner) actor() string {
	if p.as != "" {
		return p.as
	}
	return p.User
}

// subject reports whether the policies of a table count for the role that reads or
// changes it now.
func (p *planner) subject(t *catalog.Table) bool {
	if t == nil || !t.RowSecurity || p.rec != nil || p.Stored || p.User == "" {
		return false
	}
	p.secured = true
	if !p.Snap.SubjectTo(t, p.actor()) {
		return false
	}
	if p.RowSecurityOff {
		fail(p.Snap.PoliciesCount(t, p.actor()))
	}
	return true
}

// asActor runs f with another role as the actor.
func (p *planner) asActor(role string, f func()) {
	was := p.as
	p.as = role
	f()
	p.as = was
}

// policies returns those that are for a command of the actor.
func (p *planner) policies(t *catalog.Table, command byte) (permissive, restrictive []*catalog.Policy) {
	for _, pol := range p.Snap.Policies(t.OID) {
		switch {
		case !pol.Applies(p.Snap, p.actor(), command):
		case pol.Restrictive:
			restrictive = append(restrictive, pol)
		default:
			permissive = append(permissive, pol)
		}
	}
	return permissive, restrictive
}

// policyCond binds a condition of a policy over an entry of its table.
func (p *planner) policyCond(pol *catalog.Policy, q *catalog.BoundQuery, r *rel) plan.Expr {
	s, err := p.Texts.ParseQuery(q.Query)
	if err != nil {
		fail(err)
	}
	// What a policy reads in a subquery is subject to policies as well. A table whose
	// policies are being bound may be among it as long as those have no subqueries.
	again := func(o policed) bool { return o.cond == q || o.table == pol.Table && hasSubquery(s.Targets[0].X) }
	if slices.ContainsFunc(p.policing, again) {
		failf(sqlerr.InvalidObjectDefinition, -1, "infinite recursion detected in policy for relation \"%s\"", p.Snap.Table(pol.Table).Name)
	}
	p.policing = append(p.policing, policed{pol.Table, q})
	named := *r
	named.alias = aliasOf(s.From[0].(*ast.TableRef))
	right := p.watched[r.id]
	delete(p.watched, r.id) // the policy reads the columns, not the user
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(&named, nil)}}, what: "policy expressions", noAgg: true, noWin: true}
	var x plan.Expr
	p.within(pol.CallsOf(q.Query), func() { x = b.expr(s.Targets[0].X) })
	x = p.known(p.mustBool(x, "POLICY"))
	p.watch(r, right)
	p.policing = p.policing[:len(p.policing)-1]
	return x
}

// policed is a condition of a policy that is being bound.
type policed struct {
	table types.OID
	cond  *catalog.BoundQuery
}

// hasSubquery reports whether an expression has a subquery.
func hasSubquery(x ast.Expr) (found bool) {
	ast.Walk(x, func(n ast.Node) bool {
		_, ok := n.(*ast.Select)
		found = found || ok
		return !found
	})
	return found
}

// quals are the conditions under which the actor sees rows for a command.
func (p *planner) quals(t *catalog.Table, r *rel, command byte) []plan.Expr {
	permissive, restrictive := p.policies(t, command)
	var any, all []plan.Expr
	for _, pol := range permissive {
		if pol.Using.Query != "" {
			any = append(any, p.policyCond(pol, &pol.Using, r))
		}
	}
	if any == nil {
		return []plan.Expr{constBool(false)}
	}
	for _, pol := range restrictive {
		if pol.Using.Query != "" {
			all = append(all, p.policyCond(pol, &pol.Using, r))
		}
	}
	return append(all, disjunction(any))
}

func disjunction(list []plan.Expr) plan.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &plan.Or{At: plan.At{T: types.TBool, Off: -1}, Args: list}
}

// secure hides the rows of an entry that the actor may not see; commands are those
// whose policies count.
func (p *planner) secure(r *rel, t *catalog.Table, commands ...byte) {
	if !p.subject(t) {
		return
	}
	for _, c := range commands {
		r.secure = append(r.secure, p.quals(t, r, c)...)
	}
}

// ordered puts conjuncts of an entry's own that might leak something behind what hides its
// rows; local has both.
func (r *rel) ordered(local []plan.Expr) []plan.Expr {
	if r == nil || len(r.secure) == 0 {
		return local
	}
	var out, late []plan.Expr
	for _, c := range local {
		switch {
		case slices.Contains(r.secure, c):
		case leaks(c):
			late = append(late, c)
		default:
			out = append(out, c)
		}
	}
	if late == nil {
		return local
	}
	// what can choose an access path may be computed twice
	for _, c := range r.secure {
		if !leaks(c) {
			out = append(out, c)
		}
	}
	return append(out, &plan.And{At: plan.At{T: types.TBool, Off: -1}, Args: append(slices.Clone(r.secure), late...)})
}

// rowCheck is one condition of policies on rows: over an entry of the table.
type rowCheck struct {
	policy string
	cond   plan.Expr
}

// checksOf are the conditions that policies for a command ask of a row: with using
// those that say what is seen, else those of new rows.
func (p *planner) checksOf(t *catalog.Table, r *rel, command byte, using bool) []rowCheck {
	of := func(pol *catalog.Policy) *catalog.BoundQuery {
		if !using && pol.Check.Query != "" {
			return &pol.Check
		}
		return &pol.Using
	}
	permissive, restrictive := p.policies(t, command)
	var any []plan.Expr
	for _, pol := range permissive {
		if q := of(pol); q.Query != "" {
			any = append(any, p.policyCond(pol, q, r))
		}
	}
	if any == nil {
		return []rowCheck{{cond: constBool(false)}}
	}
	out := []rowCheck{{cond: disjunction(any)}}
	for _, pol := range restrictive {
		if q := of(pol); q.Query != "" {
			out = append(out, rowCheck{pol.Name, p.policyCond(pol, q, r)})
		}
	}
	return out
}

// rowChecks are the checks of policies for a command, and with read those of SELECT:
// of rows that are written, or with target of rows that are there.
func (p *planner) rowChecks(t *catalog.Table, command byte, read, target bool) []plan.RowCheck {
	base := p.tableRel(t, "")
	lay := layout{}
	lay.addTable(base, liveCols(t), 0)
	list := p.checksOf(t, base, command, target)
	if read && command != 'r' {
		list = append(list, p.checksOf(t, base, 'r', true)...)
	}
	var out []plan.RowCheck
	for _, k := range list {
		cond := stripPos(p.planExprs([]plan.Expr{k.cond}, lay)[0])
		out = append(out, plan.RowCheck{Table: t.Name, Policy: k.policy, Security: true, Target: target, Cond: cond})
	}
	return out
}

// readsAny reports whether a statement reads columns of what it changes.
func readsAny(r *catalog.Right) bool {
	return r != nil && (r.Need&catalog.PrivSelect != 0 || len(r.Select) > 0)
}

// role is the role in whose name the table of a destination is changed.
func (d *destination) role(p *planner) string {
	if len(d.views) > 0 {
		return d.views[len(d.views)-1].as
	}
	return p.as
}

// insertChecks are the checks of policies on new rows; those of ON CONFLICT DO UPDATE
// go to oc.
func (p *planner) insertChecks(d *destination, oc *plan.OnConflict, returning bool, views []plan.RowCheck) []plan.RowCheck {
	var out []plan.RowCheck
	p.asActor(d.role(p), func() {
		if !p.subject(d.table) {
			return
		}
		read := readsAny(d.right) || returning
		out = p.rowChecks(d.table, 'a', read, false)
		if oc != nil && oc.DoUpdate {
			oc.Existing = p.rowChecks(d.table, 'w', read, true)
			oc.Checks = p.rowChecks(d.table, 'w', read, false)
		}
	})
	if oc != nil {
		oc.Checks = append(oc.Checks, views...)
	}
	return append(out, views...)
}

// updateChecks are the checks of policies on changed rows.
func (p *planner) updateChecks(d *destination, returning bool) (out []plan.RowCheck) {
	p.asActor(d.role(p), func() {
		if p.subject(d.table) {
			out = p.rowChecks(d.table, 'w', readsAny(d.right) || returning, false)
		}
	})
	return out
}

// secureTarget hides rows of the table that UPDATE or DELETE changes.
func (p *planner) secureTarget(d *destination, r *rel, verb string, returning bool) {
	command := byte('w')
	if verb == "DELETE" {
		command = 'd'
	}
	p.asActor(d.role(p), func() {
		if readsAny(d.right) || returning {
			p.secure(r, d.table, 'r', command)
		} else {
			p.secure(r, d.table, command)
		}
	})
}

func merging(list []plan.RowCheck) []plan.RowCheck {
	for i := range list {
		list[i].Merge = true
	}
	return list
}

// mergeChecks puts the checks of policies into the WHEN clauses of MERGE.
func (p *planner) mergeChecks(t *catalog.Table, whens []plan.MergeWhen) {
	if !p.subject(t) {
		return
	}
	read := readsAny(p.dest)
	for i := range whens {
		w := &whens[i]
		switch w.Action {
		case plan.MergeUpdate:
			w.Existing = merging(p.rowChecks(t, 'w', false, true))
			w.Checks = p.rowChecks(t, 'w', read, false)
		case plan.MergeDelete:
			w.Existing = merging(p.rowChecks(t, 'd', false, true))
		case plan.MergeInsert:
			w.Checks = p.rowChecks(t, 'a', false, false) // MERGE returns no rows
		}
	}
}
