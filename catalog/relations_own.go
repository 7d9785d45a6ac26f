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
		{OID: 9220, Schema: SchemaOwn, Name: "regions", Kind: 'v', RowType: 9221, Columns: []Column{
			ownColumn("schemaname", types.OText), ownColumn("tablename", types.OText), ownColumn("regionid", types.OText),
			ownColumn("upperleftlat", types.OFloat8), ownColumn("upperleftlong", types.OFloat8),
			ownColumn("lowerrightlat", types.OFloat8), ownColumn("lowerrightlong", types.OFloat8),
			ownColumn("rows", types.OInt8), ownColumn("keys", types.OInt8),
		}},
	}
}

func ownColumn(name string, t types.OID) Column {
	return Column{Name: name, Type: types.Of(t)}
}
