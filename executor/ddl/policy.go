package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/storage/kv"
)

// policyCommands are the commands of policies by the words of FOR.
var policyCommands = map[string]byte{"": '*', "ALL": '*', "SELECT": 'r', "INSERT": 'a', "UPDATE": 'w', "DELETE": 'd'}

// policyTable finds the table of a policy, which the current role must own.
func (x *exec) policyTable(n *ast.Name) (*catalog.Table, error) {
	r, err := x.relation(&ast.Name{Off: -1, Parts: n.Parts})
	if err != nil {
		return nil, withoutPosition(err)
	}
	if !x.snap().Owns(x.User, r) {
		return nil, x.snap().NotOwner(r)
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", n.Last())
	}
	return t, x.lock(t, kv.AccessExclusive)
}

// createPolicy makes or changes a policy.
func (x *exec) createPolicy(s *ast.CreatePolicy) error {
	if !s.Alter {
		switch command := policyCommands[s.Command]; {
		case (command == 'r' || command == 'd') && s.Check != nil:
			return sqlerr.New(sqlerr.SyntaxError, "WITH CHECK cannot be applied to SELECT or DELETE")
		case command == 'a' && s.Using != nil:
			return sqlerr.New(sqlerr.SyntaxError, "only WITH CHECK expression allowed for INSERT")
		}
	}
	if s.NewName != "" {
		return x.renamePolicy(s)
	}
	roles, err := x.policyRoles(s.Roles)
	if err != nil {
		return err
	}
	t, err := x.policyTable(&s.Table)
	if err != nil {
		return err
	}
	pol := &catalog.Policy{Common: catalog.Common{Name: s.Name}, Table: t.OID, Command: policyCommands[s.Command], Restrictive: s.Restrictive}
	old := x.snap().Policy(t.OID, s.Name)
	switch {
	case s.Alter && old == nil:
		return noPolicy(s.Name, t)
	case s.Alter:
		*pol = *old
		if s.Using != nil && pol.Command == 'a' {
			return sqlerr.New(sqlerr.SyntaxError, "only WITH CHECK expression allowed for INSERT")
		}
		if s.Check != nil && (pol.Command == 'r' || pol.Command == 'd') {
			return sqlerr.New(sqlerr.SyntaxError, "only USING expression allowed for SELECT, DELETE")
		}
	}
	if s.Roles != nil {
		pol.Roles = roles
	}
	for _, c := range []struct {
		x  ast.Expr
		to *catalog.BoundQuery
	}{{s.Using, &pol.Using}, {s.Check, &pol.Check}} {
		if c.x == nil {
			continue
		}
		q, err := planner.StorePolicy(x.Planner(), c.x, t, x.QueryText)
		if err != nil {
			return withoutPosition(err)
		}
		*c.to = catalog.BoundQuery{Query: q.Text, Deps: q.Deps, ColDeps: q.ColDeps}
		pol.Unbind(q.Text)
	}
	if !s.Alter && old != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "policy \"%s\" for table \"%s\" already exists", s.Name, t.Name)
	}
	return x.Change.PutPolicy(pol)
}

func noPolicy(name string, t *catalog.Table) error {
	return sqlerr.New(sqlerr.UndefinedObject, "policy \"%s\" for table \"%s\" does not exist", name, t.Name)
}

// policyRoles resolves the roles of TO; nil is PUBLIC.
func (x *exec) policyRoles(list []string) ([]string, error) {
	if slices.Contains(list, "public") {
		if len(list) > 1 {
			if x.Notice != nil {
				e := sqlerr.New(sqlerr.InvalidParameterValue, "ignoring specified roles other than PUBLIC").WithHint("All roles are members of the PUBLIC role.")
				e.Severity = "WARNING"
				x.Notice(e)
			}
		}
		return nil, nil
	}
	var out []string
	for _, r := range list {
		name := x.roleName(r)
		if x.snap().Role(name) == nil {
			return nil, noRole(r)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

func (x *exec) renamePolicy(s *ast.CreatePolicy) error {
	t, err := x.policyTable(&s.Table)
	if err != nil {
		return err
	}
	if x.snap().Policy(t.OID, s.NewName) != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "policy \"%s\" for table \"%s\" already exists", s.NewName, t.Name)
	}
	old := x.snap().Policy(t.OID, s.Name)
	if old == nil {
		return noPolicy(s.Name, t)
	}
	n := *old
	n.Name = s.NewName
	return x.Change.PutPolicy(&n)
}

// dropPolicy is DROP POLICY of one that is there.
func (x *exec) dropPolicy(s *ast.Drop) (done bool, err error) {
	r, ok := x.lookup(s.On).(*catalog.Table)
	if !ok {
		return false, nil
	}
	pol := x.snap().Policy(r.OID, s.Names[0].Last())
	if pol == nil {
		return false, nil
	}
	if !x.snap().Owns(x.User, r) {
		return true, denied("must be owner of relation %s", r.Name)
	}
	t, err := x.policyTable(s.On)
	if err != nil {
		return true, err
	}
	return true, x.Change.DropPolicy(x.snap().Policy(t.OID, pol.Name).OID)
}

// rowSecurity is ALTER TABLE … ROW LEVEL SECURITY.
func (x *exec) rowSecurity(t *catalog.Table, kind string) error {
	on, forced := t.RowSecurity, t.ForceRowSecurity
	switch kind {
	case "ENABLE ROW LEVEL SECURITY":
		on = true
	case "DISABLE ROW LEVEL SECURITY":
		on = false
	case "FORCE ROW LEVEL SECURITY":
		forced = true
	case "NO FORCE ROW LEVEL SECURITY":
		forced = false
	}
	return x.Change.SetRowSecurity(t.OID, on, forced)
}
