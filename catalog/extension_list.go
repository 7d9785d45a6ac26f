package catalog

import "kvsqld/catalog/types"

// ExtensionDef is an extension that a database may have, with PostgreSQL's name,
// version and functions.
type ExtensionDef struct {
	Name, Version, Comment string

	procs []extensionProc
}

// extensionProc is a function of an extension. They are all strict and cost 1.
type extensionProc struct {
	name     string
	args     []types.OID
	ret      types.OID
	volatile byte
	argNames []string
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
		{"levenshtein", oids(types.OText, types.OText), types.OInt4, 'i', nil},
		{"levenshtein", oids(types.OText, types.OText, types.OInt4, types.OInt4, types.OInt4), types.OInt4, 'i', nil},
		{"levenshtein_less_equal", oids(types.OText, types.OText, types.OInt4), types.OInt4, 'i', nil},
		{"levenshtein_less_equal", oids(types.OText, types.OText, types.OInt4, types.OInt4, types.OInt4, types.OInt4), types.OInt4, 'i', nil},
		{"metaphone", oids(types.OText, types.OInt4), types.OText, 'i', nil},
		{"soundex", oids(types.OText), types.OText, 'i', nil},
		{"text_soundex", oids(types.OText), types.OText, 'i', nil},
		{"difference", oids(types.OText, types.OText), types.OInt4, 'i', nil},
		{"dmetaphone", oids(types.OText), types.OText, 'i', nil},
		{"dmetaphone_alt", oids(types.OText), types.OText, 'i', nil},
	}},
	{Name: "pgcrypto", Version: "1.3", Comment: "cryptographic functions", procs: []extensionProc{
		{"digest", oids(types.OText, types.OText), types.OBytea, 'i', nil},
		{"digest", oids(types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"hmac", oids(types.OText, types.OText, types.OText), types.OBytea, 'i', nil},
		{"hmac", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"crypt", oids(types.OText, types.OText), types.OText, 'i', nil},
		{"gen_salt", oids(types.OText), types.OText, 'v', nil},
		{"gen_salt", oids(types.OText, types.OInt4), types.OText, 'v', nil},
		{"encrypt", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"decrypt", oids(types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"encrypt_iv", oids(types.OBytea, types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"decrypt_iv", oids(types.OBytea, types.OBytea, types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"gen_random_bytes", oids(types.OInt4), types.OBytea, 'v', nil},
		{"gen_random_uuid", nil, types.OUUID, 'v', nil},
		// The functions of OpenPGP are refused by name when they are called.
		{"pgp_sym_encrypt", oids(types.OText, types.OText), types.OBytea, 'v', nil},
		{"pgp_sym_encrypt_bytea", oids(types.OBytea, types.OText), types.OBytea, 'v', nil},
		{"pgp_sym_encrypt", oids(types.OText, types.OText, types.OText), types.OBytea, 'v', nil},
		{"pgp_sym_encrypt_bytea", oids(types.OBytea, types.OText, types.OText), types.OBytea, 'v', nil},
		{"pgp_sym_decrypt", oids(types.OBytea, types.OText), types.OText, 'i', nil},
		{"pgp_sym_decrypt_bytea", oids(types.OBytea, types.OText), types.OBytea, 'i', nil},
		{"pgp_sym_decrypt", oids(types.OBytea, types.OText, types.OText), types.OText, 'i', nil},
		{"pgp_sym_decrypt_bytea", oids(types.OBytea, types.OText, types.OText), types.OBytea, 'i', nil},
		{"pgp_pub_encrypt", oids(types.OText, types.OBytea), types.OBytea, 'v', nil},
		{"pgp_pub_encrypt_bytea", oids(types.OBytea, types.OBytea), types.OBytea, 'v', nil},
		{"pgp_pub_decrypt", oids(types.OBytea, types.OBytea), types.OText, 'i', nil},
		{"pgp_pub_decrypt_bytea", oids(types.OBytea, types.OBytea), types.OBytea, 'i', nil},
		{"pgp_key_id", oids(types.OBytea), types.OText, 'i', nil},
		{"armor", oids(types.OBytea), types.OText, 'i', nil},
		{"dearmor", oids(types.OText), types.OBytea, 'i', nil},
	}},
	{Name: "uuid-ossp", Version: "1.1", Comment: "generate universally unique identifiers (UUIDs)", procs: []extensionProc{
		{"uuid_nil", nil, types.OUUID, 'i', nil},
		{"uuid_ns_dns", nil, types.OUUID, 'i', nil},
		{"uuid_ns_url", nil, types.OUUID, 'i', nil},
		{"uuid_ns_oid", nil, types.OUUID, 'i', nil},
		{"uuid_ns_x500", nil, types.OUUID, 'i', nil},
		{"uuid_generate_v1", nil, types.OUUID, 'v', nil},
		{"uuid_generate_v1mc", nil, types.OUUID, 'v', nil},
		{"uuid_generate_v3", uuidOf, types.OUUID, 'i', []string{"namespace", "name"}},
		{"uuid_generate_v4", nil, types.OUUID, 'v', nil},
		{"uuid_generate_v5", uuidOf, types.OUUID, 'i', []string{"namespace", "name"}},
	}},
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
	oid := firstExtensionProc
	for _, other := range extensionDefs {
		if other == d {
			break
		}
		oid += 100
	}
	var out []*Proc
	for i, p := range d.procs {
		out = append(out, &Proc{OID: oid + types.OID(i), Name: p.name, Schema: SchemaOwn, Src: d.Name + "." + p.name, Kind: 'f', Strict: true,
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
