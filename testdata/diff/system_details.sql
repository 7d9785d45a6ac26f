-- sizes, forks, databases and tablespaces that are not there
CREATE TABLE sized (a int);
SELECT pg_relation_size('sized', 'main'), pg_relation_size('sized', 'fsm'), pg_relation_size('sized', 'vm'), pg_relation_size(0, 'init');
SELECT pg_relation_size('sized', 'foo');
SELECT pg_relation_size('sized', 'MAIN');
SELECT pg_database_size('nowhere');
SELECT pg_database_size(0) IS NULL, pg_database_size(current_database()) >= 0, pg_tablespace_size(0) IS NULL, pg_tablespace_size('pg_default') >= 0;
SELECT pg_tablespace_size('nowhere');
SELECT pg_terminate_backend(0, -1);
BEGIN;
SELECT txid_current_if_assigned() IS NULL, pg_current_xact_id_if_assigned() IS NULL;
SELECT txid_current() > 0;
SELECT txid_current_if_assigned() = txid_current(), pg_current_xact_id_if_assigned() = pg_current_xact_id();
COMMIT;
SELECT txid_current_if_assigned() IS NULL;
SELECT pg_get_expr('x', 0);
SELECT 'x'::pg_ndistinct;
SELECT 'x'::pg_dependencies;
SELECT to_char(interval '-1 day -2:03', 'DD|HH|MI|DDD|HH24|FMDD|FMDDD'), to_char(interval '-11 day', 'DD|DDD'), to_char(interval '-5 months -3 years', 'MM|YYYY|YYY|YY|Y|FMMM|CC|Q|WW');
