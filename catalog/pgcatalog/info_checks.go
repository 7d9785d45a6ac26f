package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// informationChecks are the domains of information_schema that have a CHECK constraint.
var informationChecks = []*catalog.UserType{
	informationCheck(13221, "cardinal_number", 13222, "cardinal_number_domain_check", "(VALUE >= 0)"),
	informationCheck(13234, "yes_or_no", 13235, "yes_or_no_check", "((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[]))"),
}

func informationCheck(domain types.OID, name string, oid types.OID, check, expr string) *catalog.UserType {
	return &catalog.UserType{Common: catalog.Common{OID: domain, Schema: catalog.SchemaInformation, Name: name}, Kind: 'd',
		Checks: []*catalog.Check{{OID: oid, Name: check, Expr: expr}}}
}

// checkedTypes are the user-defined types, and the domains of information_schema.
func (env *Env) checkedTypes() []*catalog.UserType {
	return append(informationChecks[:len(informationChecks):len(informationChecks)], env.Snap.UserTypes(env.DB)...)
}
