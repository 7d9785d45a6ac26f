package diff

import (
	"strings"

	"kvsqld/catalog"
)

// policyCommands are the commands of policies as CREATE POLICY has them.
var policyCommands = map[byte]string{'*': "ALL", 'r': "SELECT", 'a': "INSERT", 'w': "UPDATE", 'd': "DELETE"}

// condition is a condition of a policy, taken from the query that the catalog keeps of
// it: SELECT condition AS condition FROM ONLY table.
func condition(q *catalog.BoundQuery) string {
	s := strings.TrimPrefix(q.Query, "SELECT ")
	if i := strings.LastIndex(s, " AS condition"); i >= 0 {
		s = s[:i]
	}
	return s
}

// policies are the side's policies, by table and name. What reads something that does
// not stay as it is has no equal on the other side.
func (d *differ) policies(s *side) map[string]*shownObject {
	m := map[string]*shownObject{}
	for _, p := range s.snap.AllPolicies(s.db) {
		t := s.snap.Table(p.Table)
		if t == nil || t.Temp {
			continue
		}
		x := &shownObject{noun: "POLICY", name: catalog.QuoteIdent(p.Name) + " ON " + relName(t), comment: p.Comment}
		x.def = "CREATE POLICY " + x.name
		if p.Restrictive {
			x.def += " AS RESTRICTIVE"
		}
		x.def += " FOR " + policyCommands[p.Command] + " TO "
		if p.Roles == nil {
			x.def += "PUBLIC"
		} else {
			x.def += quote(p.Roles)
		}
		if p.Using.Query != "" {
			x.def += " USING (" + condition(&p.Using) + ")"
		}
		if p.Check.Query != "" {
			x.def += " WITH CHECK (" + condition(&p.Check) + ")"
		}
		if s == d.a && d.policyReadsChanged(p) {
			x.def += " " // is made again
		}
		m[x.name] = x
	}
	return m
}

func (d *differ) policyReadsChanged(p *catalog.Policy) bool {
	for _, q := range []*catalog.BoundQuery{&p.Using, &p.Check} {
		if q.Query == "" {
			continue
		}
		if v := q.View(&p.Common); d.readsChanged(v) || d.viewCalls(v) {
			return true
		}
	}
	return false
}

// statistics are the side's statistics objects.
func (d *differ) statistics(s *side) map[string]*shownObject {
	m := map[string]*shownObject{}
	for _, e := range s.snap.AllExtStats(s.db) {
		x := &shownObject{noun: "STATISTICS", name: catalog.QualifiedIdent(e.Schema, e.Name), comment: e.Comment, owner: e.Owner}
		x.def, _ = s.env.StatisticsDef(e.OID)
		if e.Target >= 0 {
			x.def += ";\nALTER STATISTICS " + x.name + " SET STATISTICS " + itoa(int64(e.Target))
		}
		if t := s.snap.Table(e.Table); s == d.a && t != nil {
			c := d.change(relName(t))
			for _, i := range append(append([]int{}, e.Cols...), e.ExprCols...) {
				if c == nil || c.touched(t.Columns[i].Name) {
					x.def += " " // is made again, if at all
					break
				}
			}
		}
		m[x.name] = x
	}
	return m
}

// dropPolicies drops policies and statistics objects that go or are made again, before
// what they read changes. Those of a dropped table go with it.
func (d *differ) dropPolicies() {
	old, oldStats := d.policies(d.a), d.statistics(d.a)
	d.dropObjects(old, d.policies(d.b))
	d.dropObjects(oldStats, d.statistics(d.b))
}

// makePolicies makes them, and has the tables obey them or not.
func (d *differ) makePolicies() {
	for _, n := range sortedKeys(d.b.rels) {
		t := d.b.table(n)
		if t == nil {
			continue
		}
		was := d.a.table(n)
		if was == nil {
			was = &catalog.Table{}
		}
		if on := t.RowSecurity; on != was.RowSecurity {
			d.add("ALTER TABLE ", n, map[bool]string{true: " ENABLE", false: " DISABLE"}[on], " ROW LEVEL SECURITY")
		}
		if on := t.ForceRowSecurity; on != was.ForceRowSecurity {
			d.add("ALTER TABLE ", n, map[bool]string{true: " FORCE", false: " NO FORCE"}[on], " ROW LEVEL SECURITY")
		}
	}
	d.makeObjects(d.policies(d.a), d.policies(d.b))
	d.makeObjects(d.statistics(d.a), d.statistics(d.b))
}
