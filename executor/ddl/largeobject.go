package ddl

import (
	"fmt"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// LargeObjects are the large objects as definitions see them: rows, not a part of the
// catalog.
type LargeObjects interface {
	// Get returns a large object of the session's database, or 42704.
	Get(oid types.OID) (*catalog.LargeObject, error)
	// Each passes those of a database; f must not change any.
	Each(db types.OID, f func(*catalog.LargeObject) error) error
	Store(*catalog.LargeObject) error
	Drop(oid types.OID) error
}

// largeObject finds the large object that a statement names.
func (x *exec) largeObject(n *ast.Name) (*catalog.LargeObject, error) {
	d, err := types.Parse(types.TOid, n.Last(), nil)
	if err != nil {
		return nil, err
	}
	return x.LargeObjects.Get(types.OID(d.I))
}

// ownLargeObject is largeObject for who has to own it.
func (x *exec) ownLargeObject(n *ast.Name) (*catalog.LargeObject, error) {
	o, err := x.largeObject(n)
	if err == nil && !x.snap().Owns(x.User, o) {
		err = x.snap().NotOwner(o)
	}
	return o, err
}

// grantLargeObjects is GRANT and REVOKE ON LARGE OBJECT.
func (x *exec) grantLargeObjects(s *ast.Grant, grantees []string) error {
	spec := &catalog.GrantSpec{Revoke: s.Revoke, Grantees: grantees, Option: s.GrantOpt, Cascade: s.Cascade}
	var list []*catalog.LargeObject
	for i := range s.Objects {
		o, err := x.largeObject(&s.Objects[i])
		if err != nil {
			return err
		}
		list = append(list, o)
	}
	if err := x.grantPrivileges(s, list[0], spec); err != nil {
		return err
	}
	for i := range s.Objects {
		o, err := x.largeObject(&s.Objects[i]) // which may be named twice
		if err != nil {
			return err
		}
		if o, err = x.Change.GrantLargeObject(o, spec); err != nil {
			return err
		}
		if err := x.LargeObjects.Store(o); err != nil {
			return err
		}
	}
	return nil
}

// alterLargeObject is ALTER LARGE OBJECT … OWNER TO.
func (x *exec) alterLargeObject(s *ast.AlterObject) error {
	role := x.roleName(s.NewName)
	if x.snap().Role(role) == nil {
		return noRole(s.NewName)
	}
	o, err := x.ownLargeObject(&s.Name)
	if err != nil {
		return err
	}
	if !x.snap().IsSuper(x.User) {
		if err := x.memberOf(role); err != nil {
			return err
		}
	}
	if o.Owner == role {
		return nil
	}
	return x.LargeObjects.Store(o.OwnedBy(role))
}

// commentLargeObject is COMMENT ON LARGE OBJECT.
func (x *exec) commentLargeObject(s *ast.Comment) error {
	o, err := x.ownLargeObject(&s.Name)
	if err != nil {
		return err
	}
	n := *o
	if n.Comment = s.Text; s.Null {
		n.Comment = ""
	}
	return x.LargeObjects.Store(&n)
}

// largeObjectsOf says what a role that is to be dropped has to do with large objects.
func (x *exec) largeObjectsOf(role string) (lines []string, err error) {
	if x.LargeObjects == nil {
		return nil, nil
	}
	for _, d := range x.snap().Databases() {
		n := 0
		err := x.LargeObjects.Each(d.OID, func(o *catalog.LargeObject) error {
			l := o.RoleLines(role)
			if n += len(l); d.OID == x.db() {
				lines = append(lines, l...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		switch {
		case n == 0 || d.OID == x.db():
		case n == 1:
			lines = append(lines, "1 object in database "+catalog.QuoteIdent(d.Name))
		default:
			lines = append(lines, fmt.Sprintf("%d objects in database %s", n, catalog.QuoteIdent(d.Name)))
		}
	}
	return lines, nil
}

// ownedLargeObjects does what REASSIGN OWNED and DROP OWNED (to "") do with the large
// objects of roles.
func (x *exec) ownedLargeObjects(roles []string, to string) error {
	if x.LargeObjects == nil {
		return nil
	}
	var changed []*catalog.LargeObject
	var gone []types.OID
	err := x.LargeObjects.Each(x.db(), func(o *catalog.LargeObject) error {
		switch owned := slices.Contains(roles, o.Owner); {
		case owned && to == "":
			gone = append(gone, o.OID)
		case owned:
			changed = append(changed, o.OwnedBy(to))
		case to == "":
			if n := o.WithoutRoles(roles); n != o {
				changed = append(changed, n)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, o := range changed {
		if err := x.LargeObjects.Store(o); err != nil {
			return err
		}
	}
	for _, oid := range gone {
		if err := x.LargeObjects.Drop(oid); err != nil {
			return err
		}
	}
	return nil
}
