package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// OIDs of the catalogs of text search.
const (
	oidPgTSConfig   types.OID = 3602
	oidPgTSDict     types.OID = 3600
	oidPgTSParser   types.OID = 3601
	oidPgTSTemplate types.OID = 3764
)

// SearchCatalogs are the catalogs of text search by what functions call their objects.
var SearchCatalogs = map[string]types.OID{"ts_config": oidPgTSConfig, "ts_dict": oidPgTSDict, "ts_parser": oidPgTSParser, "ts_template": oidPgTSTemplate}

// searchKinds are what the objects of these catalogs are called.
var searchKinds = map[types.OID]string{
	oidPgTSConfig: "text search configuration", oidPgTSDict: "text search dictionary", oidPgTSParser: "text search parser",
	oidPgTSTemplate: "text search template",
}

// searchNames calls f for the objects of text search of a catalog.
func searchNames(class types.OID, f func(o types.OID, name string)) {
	switch class {
	case oidPgTSConfig:
		for _, x := range catalog.TSConfigs() {
			f(x.OID, x.Name)
		}
	case oidPgTSDict:
		for _, x := range catalog.TSDicts() {
			f(x.OID, x.Name)
		}
	case oidPgTSParser:
		for _, x := range catalog.TSParsers() {
			f(x.OID, x.Name)
		}
	case oidPgTSTemplate:
		for _, x := range catalog.TSTemplates() {
			f(x.OID, x.Name)
		}
	}
}

// identifySearch tells about an object of text search.
func identifySearch(a Address) Identity {
	id := Identity{Type: searchKinds[a.Class]}
	searchNames(a.Class, func(o types.OID, name string) {
		if o == a.OID {
			id = schemaIdentity(id.Type, catalog.SchemaPgCatalog, name, catalog.QuoteIdent(name))
		}
	})
	return id
}

// searchAddress finds an object of text search by its name.
func (env *Env) searchAddress(kind string, names, _ []string) (Address, error) {
	want, ok, err := env.builtinName(names)
	if err != nil {
		return Address{}, err
	}
	out := Address{}
	for class, k := range searchKinds {
		if ok && k == kind {
			searchNames(class, func(o types.OID, n string) {
				if n == want {
					out = Address{Class: class, OID: o}
				}
			})
		}
	}
	if out.OID == 0 {
		return out, noObject(kind, names)
	}
	return out, nil
}

// SearchVisible is pg_ts_config_is_visible and its likes, for a catalog; ok is false when
// there is no such object.
func (env *Env) SearchVisible(class, o types.OID) (visible, ok bool) {
	found := identifySearch(Address{Class: class, OID: o}).Found
	return found, found
}

// identifyExtension tells about an extension.
func (env *Env) identifyExtension(o types.OID) Identity {
	if o == catalog.OIDPlpgsql {
		return plainIdentity("extension", catalog.PlpgsqlName)
	}
	if e, ok := env.Snap.Object(o).(*catalog.Extension); ok && e.DB == env.DB {
		return plainIdentity("extension", e.Name)
	}
	return Identity{Type: "extension"}
}

// identifyTrigger tells about a foreign key's trigger.
func (env *Env) identifyTrigger(o types.OID) Identity {
	id := Identity{Type: "trigger"}
	env.triggers(func(t *trigger) {
		if t.oid == o {
			id.on(t.name(), env.identifyClass(Address{Class: oidPgClass, OID: t.table}))
		}
	})
	return id
}

// on completes the identity of an object that belongs to a relation and is named there.
func (id *Identity) on(name string, rel Identity) {
	id.Text, id.Description = catalog.QuoteIdent(name)+" on "+rel.Text, id.Type+" "+name+" on "+rel.Description
	id.Names, id.Found = append(rel.Names, name), true
}
