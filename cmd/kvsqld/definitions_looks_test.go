package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// defQueries are what clients ask of the catalog, with names in place of OIDs. The latest
// releases of PostgreSQL 15 give attributes an option pg_attver, which clients have no use
// for. Attributes of composite types have other numbers when some were dropped.
var defQueries = []string{
	"TABLE information_schema.columns",
	"TABLE information_schema.table_constraints",
	"TABLE information_schema.key_column_usage",
	"TABLE information_schema.constraint_column_usage",
	"TABLE information_schema.constraint_table_usage",
	"TABLE information_schema.referential_constraints",
	"TABLE information_schema.views",
	"TABLE information_schema.view_column_usage",
	"TABLE information_schema.sequences",
	"TABLE information_schema.domains",
	"TABLE information_schema.domain_constraints",
	"TABLE information_schema.column_domain_usage",
	"TABLE information_schema.column_udt_usage",
	"TABLE information_schema.column_column_usage",
	"SELECT udt_name, attribute_name, is_nullable, data_type, character_maximum_length, collation_name, numeric_precision, numeric_scale, attribute_udt_name FROM information_schema.attributes WHERE udt_schema IN ('public', 'extra')",
	"TABLE information_schema.element_types",
	"TABLE information_schema.tables",
	"TABLE information_schema.table_privileges",
	"TABLE information_schema.column_privileges",
	"TABLE information_schema.usage_privileges",
	"TABLE information_schema.user_defined_types",
	"SELECT conrelid::regclass, contypid::regtype, conname, contype, condeferrable, condeferred, convalidated, connoinherit, conislocal, coninhcount, conindid::regclass, confrelid::regclass, conkey, confkey, confdelsetcols, conparentid <> 0, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint c WHERE connamespace @own",
	"SELECT indrelid::regclass, indexrelid::regclass, indnatts, indnkeyatts, indisunique, indnullsnotdistinct, indisprimary, indisexclusion, indimmediate, indisclustered, indisvalid, indisreplident, indkey, indoption, pg_get_indexdef(indexrelid), pg_get_expr(indpred, indrelid), pg_get_expr(indexprs, indrelid) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE c.relnamespace @own",
	"SELECT c.oid::regclass, CASE relkind WHEN 'c' THEN 0 ELSE attnum END, attname, atttypid::regtype, atttypmod, attnotnull, atthasdef, attidentity, attgenerated, attisdropped, attislocal, attinhcount, attstorage, attcompression, attndims, attcollation::regcollation, attacl, array(SELECT o FROM unnest(attoptions) o WHERE o !~ '^pg_attver='), attstattarget FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 AND NOT attisdropped AND relkind NOT IN ('i', 'I', 't') AND relnamespace @own",
	"SELECT c.oid::regclass, relkind, relpersistence, CASE relkind WHEN 'c' THEN 0 ELSE relnatts END, relchecks, relispartition, relispopulated, relreplident, relrowsecurity, relforcerowsecurity, relowner::regrole, relacl, reloptions, reloftype::regtype, pg_get_partkeydef(c.oid), pg_get_expr(relpartbound, c.oid), pg_get_partition_constraintdef(c.oid), pg_get_viewdef(c.oid), pg_get_viewdef(c.oid, true), obj_description(c.oid, 'pg_class') FROM pg_class c WHERE relkind <> 't' AND relnamespace @own",
	"SELECT inhrelid::regclass, inhparent::regclass, inhseqno, inhdetachpending FROM pg_inherits",
	"SELECT oid::regprocedure, prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel, pronargs, pronargdefaults, prorettype::regtype, proargnames, proargmodes, procost, prorows, proowner::regrole, proacl, pg_get_function_arguments(oid), pg_get_function_result(oid), pg_get_functiondef(oid) FROM pg_proc WHERE prokind <> 'a' AND pronamespace @own",
	"SELECT oid::regtype, typtype, typcategory, typnotnull, typbasetype::regtype, typtypmod, typowner::regrole, typacl, pg_get_expr(typdefaultbin, 0), typcollation::regcollation FROM pg_type WHERE typnamespace @own",
	"SELECT adrelid::regclass, adnum, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) FROM pg_attrdef",
	"SELECT schemaname, sequencename, sequenceowner, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size, last_value FROM pg_sequences",
	"SELECT schemaname, tablename, policyname, permissive, roles, cmd, qual, with_check FROM pg_policies",
	"SELECT pg_get_statisticsobjdef(oid), stxkind, stxstattarget FROM pg_statistic_ext",
	"SELECT pg_describe_object(classoid, objoid, objsubid), description FROM pg_description WHERE objoid >= 16384 AND objoid <> 'public'::regnamespace",
	"SELECT DISTINCT * FROM (SELECT pg_describe_object(classid, objid, objsubid) AS what, pg_describe_object(refclassid, refobjid, refobjsubid) AS needs, deptype FROM pg_depend WHERE refobjid >= 16384 AND refobjid <> 'public'::regnamespace AND NOT (classid = 'pg_rewrite'::regclass AND refclassid = 'pg_type'::regclass)) d WHERE (what || needs) !~ 'toast|trigger|pg_temp'",
	"SELECT conrelid::regclass, conname, confrelid::regclass FROM pg_constraint WHERE contype = 'f'",
	"SELECT defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl FROM pg_default_acl",
	"SELECT nspname, nspowner::regrole, nspacl FROM pg_namespace WHERE nspname IN ('public', 'extra')",
}

// oidNamed are names that are made of OIDs.
var oidNamed = regexp.MustCompile(`\b\d+_\d+_(\d+_not_null)\b|\b(\w+)_\d{5,}\b`)

// asked is what the queries answer, each with its rows in order.
func (s *defSide) asked() string {
	var out []string
	for i, q := range defQueries {
		sql := strings.ReplaceAll(q, "@own", "IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'extra'))")
		if name, ok := strings.CutPrefix(q, "TABLE information_schema."); ok {
			sql = "SELECT x.* FROM information_schema." + name + " x WHERE x::text ~ '[(,](public|extra),'"
		}
		a := diffAsk(context.Background(), s.conn, "SELECT r::text FROM ("+sql+") r")
		for k := range a.rows {
			a.rows[k] = oidNamed.ReplaceAllString(strings.ReplaceAll(a.rows[k], "\n", " "), "$1$2")
		}
		slices.Sort(a.rows)
		for _, r := range a.rows {
			out = append(out, fmt.Sprintf("%d %s", i, r))
		}
		out = append(out, fmt.Sprintf("%d %s %s", i, a.state, a.message))
	}
	return strings.Join(out, "\n")
}
