package session

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// aclFuncs are the functions and operators of aclitem.
func aclFuncs(m map[string]catalogFunc) {
	m["acldefault_sql"] = (*catalogCall).aclDefault
	m["makeaclitem"] = (*catalogCall).makeACLItem
	m["aclcontains"] = (*catalogCall).aclContains
	for _, n := range []string{"aclinsert", "aclremove"} {
		m[n] = func(*catalogCall) (types.Datum, error) {
			return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "%s is no longer supported", n)
		}
	}
	m["hash_aclitem"] = func(c *catalogCall) (types.Datum, error) {
		sum, err := c.aclSum()
		return types.Int(c.ret, int64(int32(sum))), err
	}
	m["hash_aclitem_extended"] = func(c *catalogCall) (types.Datum, error) {
		sum, err := c.aclSum()
		if err != nil || c.num(1) == 0 {
			return types.Int(c.ret, int64(sum)), err
		}
		return types.Int(c.ret, int64(partition.Hash(types.TInt4, types.Int(types.TInt4, int64(int32(sum))), uint64(c.num(1))))), nil
	}
}

// aclIn is the input of aclitem: the item in the form that is kept.
func (s *Session) aclIn(text string) (string, error) {
	it, garbage, err := catalog.ReadACLItem(text)
	if err != nil {
		return "", err
	}
	for _, name := range []string{it.Grantee, it.Grantor} {
		if name != "" && s.snapshot().Role(name) == nil {
			return "", sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
		}
	}
	if it.Grantor == "" {
		s.tell(warning(sqlerr.InvalidGrantor, "defaulting grantor to user ID %d", catalog.OIDSuperuser))
		it.Grantor = s.roleName(catalog.OIDSuperuser)
	}
	if garbage {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "extra garbage at the end of the ACL specification")
	}
	return it.String(), nil
}

// roleName is the name of a role, or its number where there is no such role.
func (s *Session) roleName(o types.OID) string {
	if r, ok := s.snapshot().Object(o).(*catalog.Role); ok {
		return r.Name
	}
	return strconv.FormatUint(uint64(o), 10)
}

// makeACLItem answers makeaclitem(grantee, grantor, privilege, grantable).
func (c *catalogCall) makeACLItem() (types.Datum, error) {
	it := catalog.ACLItem{Grantor: c.roleName(c.oid(1)), Privs: catalog.PrivByName(c.str(2))}
	if it.Privs == 0 && !strings.EqualFold(c.str(2), "RULE") || strings.TrimSpace(c.str(2)) != c.str(2) {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", c.str(2))
	}
	if c.oid(0) != 0 {
		it.Grantee = c.roleName(c.oid(0))
	}
	if c.flag(3) {
		it.Grant = it.Privs
	}
	return types.Bytes(c.ret, []byte(it.String())), nil
}

// aclContains answers acl @> item: an entry of the same roles has all its privileges.
func (c *catalogCall) aclContains() (types.Datum, error) {
	want, _, err := catalog.ParseACLItem(c.str(1))
	if err != nil {
		return types.Datum{}, err
	}
	_, _, _, elems, err := types.ArrayElems(c.a[0])
	if err != nil {
		return types.Datum{}, err
	}
	for _, e := range elems {
		if e.Null {
			return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "ACL arrays must not contain null values")
		}
		it, _, err := catalog.ParseACLItem(string(e.B))
		if err != nil {
			return types.Datum{}, err
		}
		if it.Grantee == want.Grantee && it.Grantor == want.Grantor && want.Privs&^it.Privs == 0 && want.Grant&^it.Grant == 0 {
			return types.Bool(true), nil
		}
	}
	return types.Bool(false), nil
}

// aclSum is what is hashed of an aclitem: the sum of its roles and privileges.
func (c *catalogCall) aclSum() (uint32, error) {
	it, _, err := catalog.ParseACLItem(c.str(0))
	if err != nil {
		return 0, err
	}
	sum := uint32(it.Privs) | uint32(it.Grant)<<16
	for _, name := range []string{it.Grantee, it.Grantor} {
		sum += uint32(c.snapshot().RoleOID(name))
	}
	return sum, nil
}

// aclDefault answers acldefault(kind, owner): the ACL that NULL stands for.
func (c *catalogCall) aclDefault() (types.Datum, error) {
	kind := c.str(0)
	if len(kind) == 1 && !strings.Contains("crstndfplLSFT", kind) {
		return types.Datum{}, sqlerr.New(sqlerr.InternalError, "unrecognized objtype abbreviation: %s", kind)
	}
	owner, ok := c.snapshot().Object(c.oid(1)).(*catalog.Role)
	if len(kind) != 1 || !ok {
		return c.null()
	}
	return aclDatum(catalog.DefaultACL(catalog.ACLKind(kind[0]), owner.Name)), nil
}

func aclDatum(acl catalog.ACL) types.Datum {
	elem := types.Of(types.OAclitem)
	list := make([]types.Datum, len(acl))
	for i, s := range acl.Strings() {
		list[i] = types.Bytes(elem, []byte(s))
	}
	return types.NewVector(elem, list)
}

// aclRows answers aclexplode: a row per privilege.
func (s sessionInfo) aclRows(array types.Datum) ([][]types.Datum, error) {
	if array.Null {
		return nil, nil
	}
	_, _, _, elems, err := types.ArrayElems(array)
	if err != nil {
		return nil, err
	}
	var out [][]types.Datum
	for _, e := range elems {
		it, _, err := catalog.ParseACLItem(string(e.B))
		if err != nil {
			return nil, err
		}
		var grantee types.OID
		if it.Grantee != "" {
			grantee = s.snapshot().RoleOID(it.Grantee)
		}
		for _, name := range it.Privs.Names() {
			out = append(out, []types.Datum{types.Int(types.TOid, int64(s.snapshot().RoleOID(it.Grantor))), types.Int(types.TOid, int64(grantee)),
				types.Text(name), types.Bool(it.Grant&catalog.PrivByName(name) != 0)})
		}
	}
	return out, nil
}
