package catalog

import "kvsqld/catalog/types"

// ExtensionDef is an extension that a database may have, with PostgreSQL's name,
// version and functions.
type ExtensionDef struct {
	Name, Version, Comment string

	procs      []extensionProc
	bodies     []extensionBody
	operators  []extensionOperator
	casts      []extensionCast
	opclasses  []Opclass
	aggregates []extensionAggregate
}

// extensionProc is a function of an extension. They all cost 1.
type extensionProc struct {
	name     string
	args     []types.OID
	ret      types.OID
	volatile byte
	argNames []string
	src      string // of a built-in function that implements it, "" for one of its own
	lax      bool   // called with NULLs, too
}

func proc(name string, args []types.OID, ret types.OID, volatile byte, argNames []string) extensionProc {
	return extensionProc{name: name, args: args, ret: ret, volatile: volatile, argNames: argNames}
}

// plpgsql is the extension that every database has, of which there are the catalogs' rows alone.
const (
	PlpgsqlName    = "plpgsql"
	PlpgsqlVersion = "1.0"

	OIDPlpgsql types.OID = 13559
)

var uuidOf = []types.OID{types.OUUID, types.OText}

var extensionDefs = []*ExtensionDef{
	// Of btree_gist there are the operator classes, and neither the functions that only
	// PostgreSQL's indexes call nor the operator <->.
	{Name: "btree_gist", Version: "1.7", Comment: "support for indexing common datatypes in GiST"},
	{Name: "fuzzystrmatch", Version: "1.1", Comment: "determine similarities and distance between strings", procs: []extensionProc{
		proc("levenshtein", oids(types.OText, types.OText), types.OInt4, 'i', nil),
		proc("levenshtein", oids(types.OText, types.OText, types.OInt4, types.OInt4, types.OInt4), types.OInt4, 'i', nil),
		proc("levenshtein_less_equal", oids(types.OText, types.OText, types.OInt4), types.OInt4, 'i', nil),
		proc("levenshtein_less_equal", oids(types.OText, types.OText, types.OInt4, types.OInt4, types.OInt4, types.OInt4), types.OInt4, 'i', nil),
		proc("metaphone", oids(types.OText, types.OInt4), types.OText, 'i', nil),
		proc("soundex", oids(types.OText), types.OText, 'i', nil),
		proc("text_soundex", oids(types.OText), types.OText, 'i', nil),
		proc("difference", oids(types.OText, types.OText), types.OInt4, 'i', nil),
		proc("dmetaphone", oids(types.OText), types.OText, 'i', nil),
		proc("dmetaphone_alt", oids(types.OText), types.OText, 'i', nil),
	}},
	{Name: "pgcrypto", Version: "1.3", Comment: "cryptographic functions", procs: []extensionProc{
		proc("digest", oids(types.OText, types.OText), types.OBytea, 'i', nil),
		proc("digest", oids(types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("hmac", oids(types.OText, types.OText, types.OText), types.OBytea, 'i', nil),
		proc("hmac", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("crypt", oids(types.OText, types.OText), types.OText, 'i', nil),
		proc("gen_salt", oids(types.OText), types.OText, 'v', nil),
		proc("gen_salt", oids(types.OText, types.OInt4), types.OText, 'v', nil),
		proc("encrypt", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("decrypt", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("encrypt_iv", oids(types.OBytea, types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("decrypt_iv", oids(types.OBytea, types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("gen_random_bytes", oids(types.OInt4), types.OBytea, 'v', nil),
		proc("gen_random_uuid", nil, types.OUUID, 'v', nil),
		// The functions of OpenPGP are refused by name when they are called.
		proc("pgp_sym_encrypt", oids(types.OText, types.OText), types.OBytea, 'v', nil),
		proc("pgp_sym_encrypt_bytea", oids(types.OBytea, types.OText), types.OBytea, 'v', nil),
		proc("pgp_sym_encrypt", oids(types.OText, types.OText, types.OText), types.OBytea, 'v', nil),
		proc("pgp_sym_encrypt_bytea", oids(types.OBytea, types.OText, types.OText), types.OBytea, 'v', nil),
		proc("pgp_sym_decrypt", oids(types.OBytea, types.OText), types.OText, 'i', nil),
		proc("pgp_sym_decrypt_bytea", oids(types.OBytea, types.OText), types.OBytea, 'i', nil),
		proc("pgp_sym_decrypt", oids(types.OBytea, types.OText, types.OText), types.OText, 'i', nil),
		proc("pgp_sym_decrypt_bytea", oids(types.OBytea, types.OText, types.OText), types.OBytea, 'i', nil),
		proc("pgp_pub_encrypt", oids(types.OText, types.OBytea), types.OBytea, 'v', nil),
		proc("pgp_pub_encrypt_bytea", oids(types.OBytea, types.OBytea), types.OBytea, 'v', nil),
		proc("pgp_pub_decrypt", oids(types.OBytea, types.OBytea), types.OText, 'i', nil),
		proc("pgp_pub_decrypt_bytea", oids(types.OBytea, types.OBytea), types.OBytea, 'i', nil),
		proc("pgp_key_id", oids(types.OBytea), types.OText, 'i', nil),
		proc("armor", oids(types.OBytea), types.OText, 'i', nil),
		proc("dearmor", oids(types.OText), types.OBytea, 'i', nil),
	}},
	{Name: "uuid-ossp", Version: "1.1", Comment: "generate universally unique identifiers (UUIDs)", procs: []extensionProc{
		proc("uuid_nil", nil, types.OUUID, 'i', nil),
		proc("uuid_ns_dns", nil, types.OUUID, 'i', nil),
		proc("uuid_ns_url", nil, types.OUUID, 'i', nil),
		proc("uuid_ns_oid", nil, types.OUUID, 'i', nil),
		proc("uuid_ns_x500", nil, types.OUUID, 'i', nil),
		proc("uuid_generate_v1", nil, types.OUUID, 'v', nil),
		proc("uuid_generate_v1mc", nil, types.OUUID, 'v', nil),
		proc("uuid_generate_v3", uuidOf, types.OUUID, 'i', []string{"namespace", "name"}),
		proc("uuid_generate_v4", nil, types.OUUID, 'v', nil),
		proc("uuid_generate_v5", uuidOf, types.OUUID, 'i', []string{"namespace", "name"}),
	}},
	citextExtension,
	hstoreExtension,
}

func oids(list ...types.OID) []types.OID { return list }

// AvailableExtensions returns the extensions that databases may have, by name.
func AvailableExtensions() []*ExtensionDef { return extensionDefs }

// AvailableExtension returns the extension of that name, or nil.
func AvailableExtension(name string) *ExtensionDef {
	for _, d := range extensionDefs {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// firstExtensionProc is the OID of the first function of extensions; a new one goes
// to the end of the last extension or gets a range of its own, since the OIDs stay.
const firstExtensionProc types.OID = 9400

// Procs are the implementations of the extension's functions.
func (d *ExtensionDef) Procs() []*Proc {
	oid := firstExtensionProc + 100*d.place()
	var out []*Proc
	for i, p := range d.procs {
		hidden := d.Name + "." + p.name
		src := hidden
		if p.src != "" {
			src = p.src
		}
		out = append(out, &Proc{OID: oid + types.OID(i), Name: p.name, Hidden: hidden, Schema: SchemaOwn, Src: src, Kind: 'f', Strict: !p.lax,
			Volatile: p.volatile, Args: p.args, ArgNames: p.argNames, Ret: p.ret, Cost: 1, Lang: langInternal, Parallel: 's'})
	}
	return out
}

// extensionProcs are those of all extensions.
func extensionProcs() []*Proc {
	var out []*Proc
	for _, d := range extensionDefs {
		out = append(out, d.Procs()...)
	}
	return out
}
