package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

const oidPgPolicy types.OID = 3256

func rowsPgPolicy(w *writer) {
	env := w.env
	for _, p := range env.Snap.AllPolicies(env.DB) {
		roles := []types.Datum{types.Int(types.TOid, 0)}
		if p.Roles != nil {
			roles = nil
			for _, r := range p.Roles {
				roles = append(roles, types.Int(types.TOid, int64(env.role(r))))
			}
		}
		w.oid(p.OID).str(p.Name).oid(p.Table).chr(p.Command).bool(!p.Restrictive).array(roles).
			opt(env.conditionText(p, &p.Using)).opt(env.conditionText(p, &p.Check)).end()
	}
}

// conditionText is a condition of a policy as pg_get_expr writes it, "" for none.
func (env *Env) conditionText(p *catalog.Policy, q *catalog.BoundQuery) string {
	if q.Query == "" || env.ConditionTree == nil {
		return ""
	}
	t, err := env.ConditionTree(q.View(&p.Common))
	if err != nil || len(t.Targets) != 1 {
		return ""
	}
	w := &queryWriter{env: env}
	w.expr(&t.Targets[0].X)
	return string(w.buf)
}

// policyCommandNames are the commands of policies in pg_policies.
var policyCommandNames = map[byte]string{'*': "ALL", 'r': "SELECT", 'a': "INSERT", 'w': "UPDATE", 'd': "DELETE"}

func rowsPgPolicies(w *writer) {
	env := w.env
	for _, p := range env.Snap.AllPolicies(env.DB) {
		t := env.Snap.Table(p.Table)
		if t == nil {
			continue
		}
		kind, roles := "PERMISSIVE", p.Roles
		if p.Restrictive {
			kind = "RESTRICTIVE"
		}
		if roles == nil {
			roles = []string{"public"}
		}
		w.str(t.Schema).str(t.Name).str(p.Name).str(kind).strArray(roles).str(policyCommandNames[p.Command]).
			opt(env.conditionText(p, &p.Using)).opt(env.conditionText(p, &p.Check)).end()
	}
}
