package expr

import "strings"

// sessionScalars are the prosrc names whose answer is the catalog's or the
// server's; see SessionInfo.Catalog.
var sessionScalars = append(append(privilegeNames(), statSources()...), strings.Fields(`
	pg_get_constraintdef pg_get_constraintdef_ext pg_get_expr pg_get_expr_ext pg_get_function_arg_default
	pg_get_function_arguments pg_get_function_identity_arguments pg_get_function_result pg_get_function_sqlbody
	pg_get_functiondef pg_get_indexdef pg_get_indexdef_ext pg_get_partition_constraintdef pg_get_partkeydef
	pg_get_replica_identity_index pg_get_ruledef pg_get_ruledef_ext pg_get_serial_sequence pg_get_statisticsobjdef
	pg_get_statisticsobjdef_columns pg_get_statisticsobjdef_expressions pg_get_triggerdef pg_get_triggerdef_ext pg_get_userbyid pg_get_viewdef
	pg_get_viewdef_ext pg_get_viewdef_name pg_get_viewdef_name_ext pg_get_viewdef_wrap
	pg_table_is_visible pg_type_is_visible pg_function_is_visible pg_operator_is_visible pg_opclass_is_visible
	pg_opfamily_is_visible pg_collation_is_visible pg_conversion_is_visible pg_statistics_obj_is_visible
	pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
	sql_obj_description_1215 sql_obj_description_1348 sql_col_description_1216 sql_shobj_description_1993
	pg_relation_size sql_pg_relation_size_2325 pg_table_size pg_indexes_size
	pg_total_relation_size pg_database_size_name pg_database_size_oid pg_tablespace_size_name pg_tablespace_size_oid
	pg_tablespace_location pg_relation_filenode pg_relation_filepath pg_relation_is_publishable pg_relation_is_updatable
	pg_column_is_updatable pg_index_column_has_property pg_index_has_property pg_indexam_has_property
	brin_summarize_new_values brin_summarize_range brin_desummarize_range
	pg_sequence_last_value pg_sequence_parameters pg_my_temp_schema pg_is_other_temp_schema pg_notify
	pg_notification_queue_usage pg_postmaster_start_time pg_conf_load_time pg_cancel_backend pg_terminate_backend
	pg_reload_conf xid_age pg_current_xact_id pg_current_xact_id_if_assigned pg_current_snapshot pg_export_snapshot current_query inet_client_addr
	inet_client_port inet_server_addr inet_server_port pg_blocking_pids pg_safe_snapshot_blocking_pids
	pg_isolation_test_session_is_blocked pg_trigger_depth
	pg_collation_actual_version pg_database_collation_actual_version row_security_active row_security_active_name pg_settings_get_flags
	acldefault_sql makeaclitem aclcontains aclinsert aclremove hash_aclitem hash_aclitem_extended pg_xact_status pg_walfile_name
	pg_walfile_name_offset pg_is_wal_replay_paused pg_get_wal_replay_pause_state pg_wal_replay_pause pg_wal_replay_resume pg_promote
	pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_last_committed_xact pg_xact_commit_timestamp
	pg_xact_commit_timestamp_origin pg_current_logfile pg_current_logfile_1arg pg_rotate_logfile pg_rotate_logfile_v2
	pg_event_trigger_table_rewrite_oid pg_event_trigger_table_rewrite_reason pg_stat_get_snapshot_timestamp
	pg_partition_root pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn enum_first enum_last enum_range_all
	enum_range_bounds oidvectortypes pg_column_compression
	pg_describe_object pg_identify_object pg_identify_object_as_address pg_get_object_address satisfies_hash_partition currtid_byrelname
	_pg_index_position _pg_truetypid _pg_truetypmod _pg_char_max_length _pg_char_octet_length _pg_numeric_precision
	_pg_numeric_precision_radix _pg_numeric_scale _pg_datetime_precision _pg_interval_type
`)...)

// statNames are functions of the cumulative statistics: pg_stat_get_…, without the
// prefix.
const statNames = `
	numscans tuples_returned tuples_fetched tuples_inserted tuples_updated tuples_deleted tuples_hot_updated
	blocks_fetched blocks_hit live_tuples dead_tuples mod_since_analyze ins_since_vacuum xact_numscans
	xact_tuples_returned xact_tuples_fetched xact_tuples_inserted xact_tuples_updated xact_tuples_deleted
	xact_tuples_hot_updated xact_blocks_fetched xact_blocks_hit last_vacuum_time last_autovacuum_time
	last_analyze_time last_autoanalyze_time vacuum_count autovacuum_count analyze_count autoanalyze_count
	function_calls function_total_time function_self_time xact_function_calls xact_function_total_time
	xact_function_self_time db_numbackends db_xact_commit db_xact_rollback db_blocks_fetched db_blocks_hit
	db_tuples_returned db_tuples_fetched db_tuples_inserted db_tuples_updated db_tuples_deleted db_temp_files
	db_temp_bytes db_deadlocks db_sessions db_sessions_abandoned db_sessions_fatal db_sessions_killed
	db_conflict_all db_conflict_bufferpin db_conflict_lock db_conflict_snapshot db_conflict_startup_deadlock
	db_conflict_tablespace db_session_time db_active_time db_idle_in_transaction_time db_blk_read_time
	db_blk_write_time db_checksum_failures db_checksum_last_failure db_stat_reset_time
	bgwriter_buf_written_checkpoints bgwriter_buf_written_clean bgwriter_maxwritten_clean buf_alloc
	buf_fsync_backend buf_written_backend bgwriter_timed_checkpoints bgwriter_requested_checkpoints
	bgwriter_stat_reset_time checkpoint_write_time checkpoint_sync_time wal archiver wal_receiver backend_pid
	backend_dbid backend_userid backend_activity backend_activity_start backend_xact_start backend_start
	backend_wait_event backend_wait_event_type backend_client_addr backend_client_port`

// statSources lists the functions of the statistics that return one value.
func statSources() []string {
	out := strings.Fields(`pg_stat_clear_snapshot pg_stat_force_next_flush pg_stat_reset pg_stat_reset_shared
		pg_stat_reset_single_table_counters pg_stat_reset_single_function_counters pg_stat_reset_slru
		pg_stat_reset_replication_slot pg_stat_reset_subscription_stats pg_stat_have_stats`)
	for _, n := range strings.Fields(statNames) {
		out = append(out, "pg_stat_get_"+n)
	}
	return out
}

// sessionSets are those that return sets; see SessionInfo.CatalogRows.
var sessionSets = strings.Fields(`
	pg_get_keywords aclexplode pg_lock_status pg_cursor pg_prepared_statement pg_prepared_xact show_all_settings
	pg_timezone_names pg_timezone_abbrevs pg_available_extensions pg_available_extension_versions pg_stat_get_activity
	pg_listening_channels pg_partition_ancestors pg_partition_tree pg_tablespace_databases pg_config
	pg_get_catalog_foreign_keys pg_hba_file_rules pg_get_publication_tables pg_stat_get_backend_idset
	pg_stat_get_slru pg_stat_get_recovery_prefetch pg_stat_get_wal_senders pg_stat_get_subscription pg_stat_get_progress_info
	pg_event_trigger_ddl_commands pg_event_trigger_dropped_objects show_all_file_settings
	pg_ls_tmpdir_noargs pg_ls_tmpdir_1arg pg_ls_waldir pg_ls_logdir pg_ls_archive_statusdir pg_ls_logicalsnapdir pg_ls_logicalmapdir
	pg_ls_replslotdir pg_ident_file_mappings pg_get_replication_slots pg_show_replication_origin_status
	pg_get_shmem_allocations pg_get_backend_memory_contexts
`)

// privilegeNames lists has_…_privilege in its forms: the role by name, by OID or
// left out; the object by name or OID.
func privilegeNames() []string {
	out := []string{"has_parameter_privilege_id_name", "has_parameter_privilege_name", "has_parameter_privilege_name_name"}
	forms := []string{"_id", "_id_id", "_id_name", "_name", "_name_id", "_name_name"}
	for _, object := range []string{"any_column", "database", "foreign_data_wrapper", "function", "language", "schema",
		"sequence", "server", "table", "tablespace", "type"} {
		for _, f := range forms {
			out = append(out, "has_"+object+"_privilege"+f)
		}
	}
	for _, f := range forms {
		out = append(out, "pg_has_role"+f)
	}
	for _, role := range []string{"", "_id", "_name"} {
		for _, table := range []string{"_id", "_name"} {
			for _, column := range []string{"_attnum", "_name"} {
				out = append(out, "has_column_privilege"+role+table+column)
			}
		}
	}
	return out
}
