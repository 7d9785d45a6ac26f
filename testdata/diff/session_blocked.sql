SELECT pg_isolation_test_session_is_blocked(pg_backend_pid(), '{}');
SELECT pg_isolation_test_session_is_blocked(pg_backend_pid(), ARRAY[pg_backend_pid()]);
SELECT pg_isolation_test_session_is_blocked(0, '{1,2,3}');
SELECT pg_isolation_test_session_is_blocked(NULL, '{1}');
