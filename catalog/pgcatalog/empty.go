package pgcatalog

import (
	"kvsqld/catalog"
)

// emptyRelation is a relation that never has rows here, with the reason.
type emptyRelation struct{ name, reason string }

// empty lists the relations that are always empty.
var empty = []emptyRelation{
	{"pg_backend_memory_contexts", "memory is the Go runtime's"},
	{"pg_config", "there is no build configuration"},
	{"pg_event_trigger", "event triggers are not supported"},
	{"pg_file_settings", "configuration files are the command's"},
	{"pg_foreign_data_wrapper", "foreign data is not supported"},
	{"pg_foreign_server", "foreign data is not supported"},
	{"pg_foreign_table", "foreign data is not supported"},
	{"pg_hba_file_rules", "there is no pg_hba.conf"},
	{"pg_ident_file_mappings", "there is no pg_ident.conf"},
	{"pg_largeobject", "the planner reads the table with the pages, where there is one"},
	{"pg_prepared_xacts", "two-phase commit by clients is not supported"},
	{"pg_publication", "logical replication is not supported"},
	{"pg_publication_namespace", "logical replication is not supported"},
	{"pg_publication_rel", "logical replication is not supported"},
	{"pg_publication_tables", "logical replication is not supported"},
	{"pg_replication_origin", "replication is not supported"},
	{"pg_replication_origin_status", "replication is not supported"},
	{"pg_replication_slots", "replication is not supported"},
	{"pg_seclabel", "security labels are not supported"},
	{"pg_seclabels", "security labels are not supported"},
	{"pg_shmem_allocations", "there is no shared memory"},
	{"pg_shseclabel", "security labels are not supported"},
	{"pg_stat_progress_analyze", "progress is not tracked"},
	{"pg_stat_progress_basebackup", "progress is not tracked"},
	{"pg_stat_progress_cluster", "progress is not tracked"},
	{"pg_stat_progress_copy", "progress is not tracked"},
	{"pg_stat_progress_create_index", "progress is not tracked"},
	{"pg_stat_progress_vacuum", "progress is not tracked"},
	{"pg_stat_replication", "replication is not supported"},
	{"pg_stat_replication_slots", "replication is not supported"},
	{"pg_stat_subscription", "logical replication is not supported"},
	{"pg_stat_subscription_stats", "logical replication is not supported"},
	{"pg_stat_wal_receiver", "replication is not supported"},
	{"pg_statio_sys_sequences", "there are no system sequences"},
	{"pg_statistic", "pg_stats shows the statistics"},
	{"pg_statistic_ext_data", "extended statistics are kept, but nothing is gathered for them"},
	{"pg_stats_ext", "extended statistics are kept, but nothing is gathered for them"},
	{"pg_stats_ext_exprs", "extended statistics are kept, but nothing is gathered for them"},
	{"pg_subscription", "logical replication is not supported"},
	{"pg_subscription_rel", "logical replication is not supported"},
	{"pg_transform", "transforms are not supported"},
	{"pg_user_mapping", "foreign data is not supported"},
	{"pg_user_mappings", "foreign data is not supported"},

	{"information_schema._pg_foreign_data_wrappers", "foreign data is not supported"},
	{"information_schema._pg_foreign_servers", "foreign data is not supported"},
	{"information_schema._pg_foreign_table_columns", "foreign data is not supported"},
	{"information_schema._pg_foreign_tables", "foreign data is not supported"},
	{"information_schema._pg_user_mappings", "foreign data is not supported"},
	{"information_schema.check_constraint_routine_usage", "the functions of checks are not recorded"},
	{"information_schema.column_options", "foreign data is not supported"},
	{"information_schema.foreign_data_wrapper_options", "foreign data is not supported"},
	{"information_schema.foreign_data_wrappers", "foreign data is not supported"},
	{"information_schema.foreign_server_options", "foreign data is not supported"},
	{"information_schema.foreign_servers", "foreign data is not supported"},
	{"information_schema.foreign_table_options", "foreign data is not supported"},
	{"information_schema.foreign_tables", "foreign data is not supported"},
	{"information_schema.sql_features", "conformance is not declared"},
	{"information_schema.sql_implementation_info", "conformance is not declared"},
	{"information_schema.sql_parts", "conformance is not declared"},
	{"information_schema.sql_sizing", "conformance is not declared"},
	{"information_schema.transforms", "transforms are not supported"},
	{"information_schema.triggered_update_columns", "triggers are not supported"},
	{"information_schema.triggers", "triggers are not supported"},
	{"information_schema.user_mapping_options", "foreign data is not supported"},
	{"information_schema.user_mappings", "foreign data is not supported"},
}

// EmptyReason returns why a relation never has rows here, or "".
func EmptyReason(schema, name string) string {
	if schema == catalog.SchemaInformation {
		name = schema + "." + name
	}
	for _, e := range empty {
		if e.name == name {
			return e.reason
		}
	}
	return ""
}
