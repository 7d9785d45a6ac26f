package catalog

import "kvsqld/catalog/types"

// predefinedRoles are the roles that PostgreSQL ships besides the superuser.
// public belongs to the first; the others exist so that GRANT scripts load.
var predefinedRoles = []struct {
	oid  types.OID
	name string
}{
	{6171, "pg_database_owner"}, {6181, "pg_read_all_data"}, {6182, "pg_write_all_data"},
	{3373, "pg_monitor"}, {3374, "pg_read_all_settings"}, {3375, "pg_read_all_stats"},
	{3377, "pg_stat_scan_tables"}, {4569, "pg_read_server_files"}, {4570, "pg_write_server_files"},
	{4571, "pg_execute_server_program"}, {4200, "pg_signal_backend"}, {4544, "pg_checkpoint"},
}

// Empty returns the catalog of a new server: databases postgres, template1 and
// template0, each with a schema public, the role postgres, and PostgreSQL's
// predefined roles.
func Empty() *Snapshot {
	const superuser = "postgres"
	objs := []Object{
		&Role{Common: Common{OID: OIDSuperuser, Name: superuser}, Super: true, Login: true, CreateDB: true,
			CreateRole: true, Inherit: true, Replication: true, BypassRLS: true, ConnLimit: -1},
	}
	for _, r := range predefinedRoles {
		role := &Role{Common: Common{OID: r.oid, Name: r.name}, Inherit: true, ConnLimit: -1}
		if r.name == "pg_monitor" {
			role.MemberOf = []string{"pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables"}
		}
		objs = append(objs, role)
	}
	template := ACL{{Grantor: superuser, Privs: PrivConnect}, {Grantee: superuser, Grantor: superuser, Privs: ACLDatabase.All()}}
	for _, d := range []struct {
		oid, public   types.OID
		name, comment string
		acl           ACL
	}{
		{OIDPostgres, OIDPublic, "postgres", "default administrative connection database", nil},
		{OIDTemplate1, oidPublicTemplate1, "template1", "default template for new databases", template},
		{OIDTemplate0, oidPublicTemplate0, "template0", "unmodifiable empty database", template},
	} {
		objs = append(objs,
			&Database{Common: Common{OID: d.oid, Name: d.name, Owner: superuser, Comment: d.comment, ACL: d.acl}, ConnLimit: -1,
				Closed: d.oid == OIDTemplate0, Template: d.oid != OIDPostgres},
			&Schema{Common: Common{OID: d.public, DB: d.oid, Name: SchemaPublic, Owner: "pg_database_owner", Comment: "standard public schema"}})
	}
	s, err := newSnapshot().apply(objs, nil)
	if err != nil {
		panic("catalog: the empty catalog is invalid: " + err.Error())
	}
	return s
}
