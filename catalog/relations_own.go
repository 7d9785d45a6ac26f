package catalog

import "kvsqld/catalog/types"

// OwnRelations returns the relations of SchemaOwn. Their OIDs are fixed and lie
// between the built-in ones and FirstUserOID.
func OwnRelations() []SystemRelation {
	return []SystemRelation{
		{OID: 9210, Schema: SchemaOwn, Name: "refused", Kind: 'v', RowType: 9211, Columns: []Column{
			ownColumn("feature", types.OText), ownColumn("sqlstate", types.OText),
			ownColumn("application", types.OText), ownColumn("count", types.OInt8),
		}},
	}
}

func ownColumn(name string, t types.OID) Column {
	return Column{Name: name, Type: types.Of(t)}
}
