package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/storage/kv"
)

func (x *exec) createDomain(s *ast.CreateDomain) error {
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return err
	}
	base, err := planner.ResolveType(x.Planner(), &s.Type)
	if err != nil {
		return withoutPosition(err)
	}
	if k := base.Kind(); k == types.KPseudo || k == types.KVoid || base.OID == types.ORecord {
		return sqlerr.New(sqlerr.DatatypeMismatch, "\"%s\" is not a valid base type for a domain", x.typeName(base))
	}
	if err := x.mayUseType(base); err != nil {
		return err
	}
	collation, err := x.collation(s.Collate, base)
	if err != nil {
		return withoutPosition(err)
	}
	spec := &catalog.DomainSpec{Schema: schema, Name: name, Base: base, Collation: collation}
	if over := x.Change.Snapshot().TypeByOID(base.OID); over != nil {
		spec.Default = over.Default // as it is now: a later one of that domain is not this one's
	}
	nullSeen, defaultSeen := false, false
	for i := range s.Constraints {
		k := &s.Constraints[i]
		switch k.Kind {
		case "NOT NULL", "NULL":
			if nullSeen && spec.NotNull != (k.Kind == "NOT NULL") {
				return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL constraints")
			}
			nullSeen, spec.NotNull = true, k.Kind == "NOT NULL"
		case "DEFAULT":
			if defaultSeen {
				return sqlerr.New(sqlerr.SyntaxError, "multiple default expressions")
			}
			defaultSeen = true
			if spec.Default, _, err = x.defaultText(k.Expr, base, name); err != nil {
				return withoutPosition(err)
			}
		case "CHECK":
			if k.NoInherit {
				return sqlerr.New(sqlerr.InvalidObjectDefinition, "check constraints for domains cannot be marked NO INHERIT")
			}
			check, err := planner.DomainCheck(x.Planner(), k.Expr, base)
			if err != nil {
				return withoutPosition(err)
			}
			spec.Checks = append(spec.Checks, catalog.Check{Name: k.Name, Expr: check.Text})
		default:
			return notForDomains(k)
		}
	}
	_, err = x.Change.CreateDomain(spec)
	return err
}

// withoutPosition removes the position from an error: PostgreSQL gives none in
// the definitions of domains.
func withoutPosition(err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || e.Pos == 0 || e.Refused {
		return err
	}
	c := *e
	c.Pos = 0
	return &c
}

// notForDomains says that a kind of constraint is no domain's.
func notForDomains(k *ast.Constraint) error {
	what := ""
	switch k.Kind {
	case "PRIMARY KEY":
		what = "primary key"
	case "UNIQUE":
		what = "unique"
	case "EXCLUDE":
		what = "exclusion"
	case "FOREIGN KEY":
		what = "foreign key"
	default:
		return sqlerr.Unsupported(k.Pos(), "%s in a domain", k.Kind)
	}
	return sqlerr.New(sqlerr.SyntaxError, "%s constraints not possible for domains", what)
}

// alterDomain is ALTER DOMAIN with an action on the default or a constraint.
func (x *exec) alterDomain(s *ast.AlterTable) error {
	u := x.userType(&s.Name)
	if u == nil {
		return x.noType(&s.Name)
	}
	if u.Kind != 'd' {
		return sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", x.typeName(types.Of(u.OID)))
	}
	for i := range s.Actions {
		if err := x.domainAction(u, &s.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *exec) domainAction(u *catalog.UserType, a *ast.AlterAction) error {
	c := x.Change
	switch a.Kind {
	case "SET DEFAULT":
		text, _, err := x.defaultText(a.Expr, u.Base, u.Name)
		if err != nil {
			return withoutPosition(err)
		}
		return c.AlterDomain(u.OID, func(u *catalog.UserType) error {
			u.Default = text
			u.Unbind(text)
			return nil
		})
	case "DROP DEFAULT":
		return c.AlterDomain(u.OID, func(u *catalog.UserType) error { u.Default = ""; return nil })
	case "SET NOT NULL":
		x.after = append(x.after, func() error { return x.domainValues(u, "") })
		return c.AlterDomain(u.OID, func(u *catalog.UserType) error { u.NotNull = true; return nil })
	case "DROP NOT NULL":
		return c.AlterDomain(u.OID, func(u *catalog.UserType) error { u.NotNull = false; return nil })
	case "ADD CONSTRAINT":
		return x.addDomainConstraint(u, a)
	case "DROP CONSTRAINT":
		if a.IfExists && u.CheckNamed(a.Name) == nil {
			x.notice(sqlerr.SuccessfulCompletion, "constraint \"%s\" of domain \"%s\" does not exist, skipping", a.Name, u.Name)
			return nil
		}
		return c.DropDomainConstraint(u.OID, a.Name)
	}
	k := u.CheckNamed(a.Name)
	if k == nil {
		if a.Kind == "RENAME CONSTRAINT" {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist", a.Name, x.typeName(types.Of(u.OID)))
		}
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of domain \"%s\" does not exist", a.Name, u.Name)
	}
	edit := func(change func(k *catalog.Check)) error {
		return c.AlterDomain(u.OID, func(u *catalog.UserType) error {
			for i, old := range u.Checks {
				if old.Name == a.Name {
					n := *old
					change(&n)
					u.Checks[i] = &n
				}
			}
			return nil
		})
	}
	switch a.Kind {
	case "VALIDATE CONSTRAINT":
		x.after = append(x.after, func() error { return x.domainValues(u, k.Expr) })
		return edit(func(k *catalog.Check) { k.NotValid = false })
	case "RENAME CONSTRAINT":
		if u.CheckNamed(a.NewName) != nil {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for domain %s already exists", a.NewName, x.typeName(types.Of(u.OID)))
		}
		return edit(func(k *catalog.Check) { k.Name = a.NewName })
	}
	return sqlerr.Unsupported(a.Pos(), "ALTER DOMAIN %s", a.Kind)
}

func (x *exec) addDomainConstraint(u *catalog.UserType, a *ast.AlterAction) error {
	k := a.Constraint
	if k.Kind != "CHECK" {
		return notForDomains(k)
	}
	check, err := planner.DomainCheck(x.Planner(), k.Expr, u.Base)
	if err != nil {
		return withoutPosition(err)
	}
	if !k.NotValid {
		x.after = append(x.after, func() error { return x.domainValues(u, check.Text) })
	}
	return x.Change.AddDomainCheck(u.OID, catalog.Check{Name: k.Name, Expr: check.Text, NotValid: k.NotValid})
}

// domainValues tests the stored values of a domain against a check, or for
// NULLs when check is "". Domains inside of arrays, ranges and rows
// cannot be altered.
func (x *exec) domainValues(u *catalog.UserType, check string) error {
	for _, r := range x.snap().Holding(x.db(), u.OID) {
		t, ok := r.(*catalog.Table)
		if !ok {
			continue
		}
		for i := range t.Columns {
			col := &t.Columns[i]
			if col.Dropped {
				continue
			}
			if !x.overDomain(col.Type, u.OID) {
				if x.madeOfDomain(col.Type, u.OID) {
					return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type \"%s\" because column \"%s.%s\" uses it", u.Name, t.Name, col.Name)
				}
				continue
			}
			if err := x.hold(t, kv.Share); err != nil {
				return err
			}
			if err := x.domainColumn(t, col, u, check); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exec) domainColumn(t *catalog.Table, col *catalog.Column, u *catalog.UserType, check string) error {
	base := x.snap().FormatType(x.snap().BaseType(u.Base), x.db(), []string{catalog.SchemaPgCatalog})
	cond, e := "value IS NULL", sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of table \"%s\" contains null values", col.Name, t.Name)
	if check != "" {
		cond = "NOT (" + check + ")"
		e = sqlerr.New(sqlerr.CheckViolation, "column \"%s\" of table \"%s\" contains values that violate the new constraint", col.Name, t.Name)
	}
	bad, err := x.any("SELECT 1 FROM (SELECT " + ast.QuoteIdent(col.Name) + "::" + base + " AS value FROM " + qualified(t) + ") AS v WHERE " + cond + " LIMIT 1")
	if err != nil || !bad {
		return err
	}
	e.Schema, e.Table, e.Column = t.Schema, t.Name, col.Name
	return e
}

// overDomain reports whether t is the domain or one over it.
func (x *exec) overDomain(t types.T, domain types.OID) bool {
	for {
		if t.OID == domain {
			return true
		}
		u := x.snap().TypeByOID(t.OID)
		if u == nil || u.Kind != 'd' {
			return false
		}
		t = u.Base
	}
}

// madeOfDomain reports whether values of t have values of the domain inside.
func (x *exec) madeOfDomain(t types.T, domain types.OID) bool {
	if x.overDomain(t, domain) {
		return true
	}
	in := x.snap().TypeInfo(t.OID)
	if in == nil || t.OID < types.FirstUserOID {
		return false
	}
	if in.Kind == types.KArray && in.Elem != 0 {
		return x.madeOfDomain(types.T{OID: in.Elem, Mod: -1}, domain)
	}
	if in.Type != 'd' && in.Subtype != 0 {
		return x.madeOfDomain(types.T{OID: in.Subtype, Mod: -1}, domain)
	}
	if u := x.snap().TypeByOID(t.OID); u != nil {
		if u.Kind == 'd' {
			return x.madeOfDomain(u.Base, domain)
		}
		for i := range u.Columns {
			if !u.Columns[i].Dropped && x.madeOfDomain(u.Columns[i].Type, domain) {
				return true
			}
		}
	}
	return false
}
