CREATE FUNCTION sfc1(OUT int, OUT numeric) LANGUAGE sql AS 'SELECT (1, 2.1)';
SELECT * FROM sfc1();
SELECT column2 FROM sfc1();
SELECT * FROM sfc1() AS f(a);
CREATE OR REPLACE FUNCTION sfc1(OUT int, OUT numeric) LANGUAGE sql AS 'SELECT (1, 2)';
SELECT * FROM sfc1();
CREATE OR REPLACE FUNCTION sfc1(OUT int, OUT numeric) LANGUAGE sql AS 'SELECT (1, 2.1, 3)';
SELECT * FROM sfc1();
CREATE FUNCTION sfc2(IN f1 int, OUT f2 int, OUT text) LANGUAGE sql AS $$SELECT $1 - 1, $1::text || 'z'$$;
SELECT * FROM sfc2(42);
SELECT * FROM ROWS FROM (unnest(ARRAY[10, 20], ARRAY['foo', 'bar']), generate_series(101, 102)) WITH ORDINALITY AS z(a, b, c, ord);
SELECT row_to_json(s.*) FROM generate_series(11, 14) WITH ORDINALITY s;
SELECT row_to_json(s.*) FROM generate_series(11, 14) WITH ORDINALITY s(a, b);
SELECT count(s.*), count(s) FROM generate_series(11, 14) s;
CREATE FUNCTION sfc3(a anyelement, b anyarray, c anycompatible, d anycompatible, OUT x anyarray, OUT y anycompatiblearray)
  LANGUAGE sql AS 'SELECT a || b, array[c, d]';
SELECT x, pg_typeof(x), y, pg_typeof(y) FROM sfc3(11, ARRAY[1, 2], 42, 34.5);
SELECT x, pg_typeof(x), y, pg_typeof(y) FROM sfc3(11, ARRAY[1, 2], point(1, 2), point(3, 4));
SELECT x, pg_typeof(x), y, pg_typeof(y) FROM sfc3(11, '{1,2}', point(1, 2), '(3,4)');
SELECT x, pg_typeof(x), y, pg_typeof(y) FROM sfc3(11, ARRAY[1, 2.2], 42, 34.5);
CREATE FUNCTION sfc4(variadic anycompatiblearray) RETURNS anycompatiblearray LANGUAGE sql AS 'SELECT $1';
SELECT x, pg_typeof(x) FROM sfc4(11, 12) x;
SELECT x, pg_typeof(x) FROM sfc4(11, 12.2) x;
SELECT x, pg_typeof(x) FROM sfc4(11, '12') x;
SELECT x, pg_typeof(x) FROM sfc4(11, '12.2') x;
SELECT x, pg_typeof(x) FROM sfc4(variadic ARRAY[11, 12]) x;
CREATE TABLE sfc_h (a int);
INSERT INTO sfc_h VALUES (0), (1);
SELECT 1 AS one FROM sfc_h WHERE 1 / a = 1 HAVING 1 < 2;
SELECT 1 AS one FROM sfc_h WHERE 1 / a = 1 HAVING 1 > 2;
SELECT count(*) FROM sfc_h WHERE 1 / a = 1 HAVING 1 < 2;
CREATE SCHEMA sfc_s;
CREATE PROCEDURE sfc_s.p(int) LANGUAGE sql AS 'SELECT 1';
DROP SCHEMA sfc_s;
DROP SCHEMA sfc_s CASCADE;
CREATE SEQUENCE sfc_q AS smallint MINVALUE -32768;
ALTER SEQUENCE sfc_q AS integer;
CREATE SEQUENCE sfc_d AS smallint INCREMENT -1 MAXVALUE 32767 START 32767;
ALTER SEQUENCE sfc_d AS integer;
CREATE SEQUENCE sfc_p AS smallint;
ALTER SEQUENCE sfc_p AS bigint;
SELECT sequencename, min_value, max_value FROM pg_sequences WHERE sequencename LIKE 'sfc%' ORDER BY 1;
WITH RECURSIVE g(f, t) AS (SELECT 1, 2 UNION ALL SELECT t, f FROM g)
  CYCLE f, t SET is_cycle TO point '(1,1)' DEFAULT point '(0,0)' USING path
SELECT * FROM g;
WITH RECURSIVE g(f, t) AS (SELECT 1, 2 UNION ALL SELECT t, f FROM g)
  CYCLE f, t SET is_cycle TO 'y' DEFAULT 'n' USING path
SELECT * FROM g;
SELECT '"\ud83d\ud83d"'::jsonpath;
SELECT '"\ud83dx"'::jsonpath;
WITH c(c) AS MATERIALIZED (SELECT row(1, 2)), c2(c) AS (SELECT * FROM c) SELECT (c).f1 FROM c2 AS t;
WITH c(c) AS MATERIALIZED (SELECT row(1, 2)), c2(c) AS (SELECT * FROM c)
SELECT * FROM c2 AS t WHERE (SELECT * FROM (SELECT c AS c1) s WHERE (SELECT (c1).f1 > 0)) IS NOT NULL;
WITH RECURSIVE x(n) AS (WITH x1 AS (SELECT 1 FROM x) SELECT 0 UNION SELECT * FROM x1) SELECT * FROM x;
WITH RECURSIVE x(n) AS (WITH x1 AS (SELECT 2 FROM x) SELECT * FROM x1 UNION SELECT * FROM x) SELECT * FROM x;
WITH RECURSIVE x(n) AS (WITH x AS (SELECT 1 AS n) SELECT 0 UNION SELECT n FROM x) SELECT * FROM x ORDER BY 1;
WITH RECURSIVE x(n) AS (WITH x1 AS (SELECT 1 AS n) SELECT n FROM x1 UNION SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x ORDER BY 1;
-- One output parameter of a composite type: a row either way.
CREATE TYPE sfc_ctx AS (a bigint, b bigint);
CREATE PROCEDURE sfc_z(INOUT c sfc_ctx) LANGUAGE sql AS 'SELECT row(1::bigint, 2::bigint)';
CALL sfc_z(NULL);
CREATE PROCEDURE sfc_w(INOUT c sfc_ctx, INOUT d int) LANGUAGE sql AS 'SELECT row(1::bigint, 2::bigint)::sfc_ctx, 5';
CALL sfc_w(NULL, 1);
DROP TYPE sfc_ctx CASCADE;
