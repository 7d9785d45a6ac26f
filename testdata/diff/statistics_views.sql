-- The cumulative statistics: what is counted, where there is a row, the functions below the views.
CREATE TABLE stv (a int PRIMARY KEY, b int);
CREATE TABLE stv_plain (x int, y text);
INSERT INTO stv SELECT i, i % 10 FROM generate_series(1, 100) i;
INSERT INTO stv_plain SELECT i, 'v' FROM generate_series(1, 50) i;
SELECT count(*) FROM stv_plain WHERE y = 'no';
SELECT count(*) FROM stv_plain WHERE x > 10;
SELECT max(y) FROM stv_plain WHERE x > 40;
UPDATE stv SET b = 0 WHERE b = 3;
DELETE FROM stv WHERE b = 4;
SELECT pg_stat_force_next_flush();
SELECT relname, n_tup_ins, n_tup_upd, n_tup_del, n_live_tup FROM pg_stat_user_tables WHERE relname LIKE 'stv%' ORDER BY 1;
SELECT seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'stv_plain';
SELECT idx_scan IS NOT NULL, idx_tup_fetch IS NOT NULL FROM pg_stat_user_tables WHERE relname = 'stv';
SELECT pg_stat_get_numscans('stv_plain'::regclass), pg_stat_get_tuples_returned('stv_plain'::regclass), pg_stat_get_tuples_inserted('stv'::regclass),
       pg_stat_get_tuples_updated('stv'::regclass), pg_stat_get_tuples_deleted('stv'::regclass), pg_stat_get_live_tuples('stv_plain'::regclass);
-- the open transaction's own
BEGIN;
SELECT pg_stat_force_next_flush();
INSERT INTO stv_plain VALUES (1, 'x'), (2, 'y');
UPDATE stv_plain SET y = 'z' WHERE x = 2;
SELECT seq_scan, seq_tup_read, idx_scan, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables WHERE relname = 'stv_plain';
SELECT pg_stat_get_xact_numscans('stv_plain'::regclass), pg_stat_get_xact_tuples_inserted('stv_plain'::regclass);
ROLLBACK;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_tup_upd, n_live_tup FROM pg_stat_user_tables WHERE relname = 'stv_plain';
-- VACUUM and ANALYZE
SELECT last_vacuum, last_analyze, vacuum_count, analyze_count, autovacuum_count FROM pg_stat_user_tables WHERE relname = 'stv_plain';
VACUUM stv_plain;
ANALYZE stv_plain;
SELECT last_vacuum IS NOT NULL, last_analyze IS NOT NULL, vacuum_count, analyze_count, n_ins_since_vacuum, n_mod_since_analyze
FROM pg_stat_user_tables WHERE relname = 'stv_plain';
SELECT pg_stat_get_vacuum_count('stv_plain'::regclass), pg_stat_get_last_vacuum_time('stv_plain'::regclass) = (SELECT last_vacuum FROM pg_stat_all_tables WHERE relname = 'stv_plain');
SELECT pg_stat_reset_single_table_counters('stv_plain'::regclass);
SELECT seq_scan, n_tup_ins, vacuum_count, last_vacuum FROM pg_stat_user_tables WHERE relname = 'stv_plain';
-- functions
CREATE FUNCTION stv_f(int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT $1 + 1 FROM stv_plain LIMIT 1';
SET track_functions = 'all';
SELECT sum(stv_f(x)) FROM stv_plain WHERE x <= 4;
SELECT pg_stat_force_next_flush();
SELECT funcname, calls, total_time >= self_time FROM pg_stat_user_functions WHERE funcname = 'stv_f';
SELECT pg_stat_get_function_calls('stv_f(int)'::regprocedure), pg_stat_get_function_total_time('stv_f(int)'::regprocedure) >= 0;
SELECT pg_stat_reset_single_function_counters('stv_f(int)'::regprocedure);
RESET track_functions;
SELECT pg_stat_get_function_calls(1), pg_stat_get_xact_function_calls(1), pg_stat_get_function_self_time(1);
-- databases
SELECT datname IS NULL, numbackends FROM pg_stat_database WHERE datid = 0;
SELECT numbackends > 0, xact_commit > 0, xact_rollback > 0, tup_inserted >= 150, tup_updated >= 10, tup_deleted >= 10, tup_returned > 0, blks_hit > 0,
       conflicts, temp_files, temp_bytes, checksum_failures, checksum_last_failure, session_time > 0, active_time > 0, idle_in_transaction_time >= 0,
       sessions > 0, sessions_killed, blk_read_time FROM pg_stat_database WHERE datname = current_database();
SELECT pg_stat_get_db_numbackends(d.oid) > 0, pg_stat_get_db_xact_commit(d.oid) > 0, pg_stat_get_db_conflict_all(d.oid), pg_stat_get_db_sessions(0)
FROM pg_database d WHERE datname = current_database();
SELECT confl_tablespace, confl_lock, confl_snapshot, confl_bufferpin, confl_deadlock FROM pg_stat_database_conflicts WHERE datname = current_database();
-- the server
SELECT count(*), min(wal_records) >= 0, min(wal_bytes) >= 0, pg_typeof(min(wal_bytes)), min(stats_reset) < now() FROM pg_stat_wal;
SELECT count(*), min(checkpoints_timed) >= 0, min(checkpoint_write_time) >= 0 FROM pg_stat_bgwriter;
SELECT archived_count, last_archived_wal, failed_count FROM pg_stat_archiver;
SELECT name FROM pg_stat_slru ORDER BY 1;
SELECT prefetch, hit, wal_distance, io_depth FROM pg_stat_recovery_prefetch;
SELECT count(*) FROM pg_stat_replication;
SELECT count(*) FROM pg_stat_wal_receiver;
SELECT count(*) FROM pg_stat_get_wal_senders();
SELECT pg_stat_get_wal_receiver();
SELECT count(*) FROM pg_stat_progress_copy;
SELECT pg_current_wal_lsn() > '0/0', pg_current_wal_insert_lsn() >= pg_current_wal_lsn(), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') > 0, length(pg_walfile_name(pg_current_wal_lsn()));
-- sessions
SELECT a.datname = current_database(), a.usename = current_user, a.state, a.backend_type, a.query LIKE 'SELECT a.datname%' FROM pg_stat_activity a WHERE pid = pg_backend_pid();
SELECT datid = (SELECT oid FROM pg_database WHERE datname = current_database()), state, ssl IS NOT NULL, leader_pid FROM pg_stat_get_activity(pg_backend_pid());
SELECT count(*) FROM pg_stat_get_backend_idset() b WHERE pg_stat_get_backend_pid(b) = pg_backend_pid() AND pg_stat_get_backend_activity(b) LIKE 'SELECT count(*)%';
SELECT pg_stat_get_backend_pid(-1), pg_stat_get_backend_start(0), pg_stat_get_backend_activity(-1);
-- errors
SELECT pg_stat_reset_shared('none');
SELECT pg_stat_have_stats('nonsense', 1, 2);
SELECT count(*) FROM pg_stat_get_progress_info('nonsense');
SELECT pg_stat_reset_replication_slot('nonsense');
SELECT pg_stat_reset_slru('nonsense'), pg_stat_clear_snapshot(), pg_stat_reset_shared('wal');
SELECT pg_stat_get_numscans(1), pg_stat_get_numscans(NULL), pg_stat_get_last_vacuum_time(1);
CREATE ROLE stv_role;
SET ROLE stv_role;
SELECT pg_stat_reset();
SELECT pg_stat_reset_single_table_counters(1);
SELECT pg_stat_get_numscans(1);
RESET ROLE;
DROP ROLE stv_role;
DROP FUNCTION stv_f;
DROP TABLE stv, stv_plain;
-- The rows that a table is made with are inserted.
begin;
create table counted_rows as select generate_series(1, 1000) a;
select n_tup_ins from pg_stat_xact_user_tables where relname = 'counted_rows';
commit;
