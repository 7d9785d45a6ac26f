-- Views over ORDER BY USING, natural joins and casts in FROM.
CREATE VIEW v1 AS SELECT * FROM cast(1 + 2 AS int4) AS i4, cast(1 + 2 AS int8) AS i8, coalesce(1, 2) c, localtimestamp(3) t, ROWS FROM (cast('7' AS int), generate_series(1, 2)) r(x, y);
SELECT pg_get_viewdef('v1', true), pg_get_viewdef('v1');
SELECT i4, i8, c, x, y FROM v1;
CREATE VIEW v2 AS SELECT a FROM (VALUES ('x'::text), ('y'), (NULL)) v(a) ORDER BY a USING ~>~, a USING <;
SELECT pg_get_viewdef('v2', true);
TABLE v2;
CREATE VIEW v3 AS SELECT a, rank() OVER (ORDER BY a USING ~>~) FROM (VALUES ('x'::text), ('y')) v(a) ORDER BY 2;
SELECT pg_get_viewdef('v3', true);
TABLE v3;
CREATE VIEW v4 AS SELECT array_agg(a ORDER BY a USING >), array_agg(a ORDER BY a USING ~<~ NULLS FIRST), array_agg(DISTINCT a ORDER BY a USING ~>~) FROM (VALUES ('x'::text), ('y')) v(a);
SELECT pg_get_viewdef('v4', true);
TABLE v4;
CREATE VIEW v5 AS SELECT 'a'::text AS a UNION SELECT 'b' ORDER BY a USING ~>~ NULLS LAST;
SELECT pg_get_viewdef('v5', true);
TABLE v5;
CREATE VIEW v6 AS SELECT ('4' COLLATE "C")::int AS c1;
SELECT pg_get_viewdef('v6', true);
SELECT ('a' COLLATE "C")::int;
SELECT ('4' COLLATE "nosuch")::int;
SELECT ('4' COLLATE "C")::varchar(1), ('{4}' COLLATE "C")::int[];
-- Aggregates of an outer query.
SELECT array(SELECT percentile_disc(a) WITHIN GROUP (ORDER BY x) FROM (VALUES (0.3), (0.7)) v(a) GROUP BY a) FROM generate_series(1, 5) g(x);
SELECT array(SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (0.3), (0.7)) v(a) GROUP BY a) FROM generate_series(1, 5) g(x);
SELECT array(SELECT percentile_disc(x) WITHIN GROUP (ORDER BY a) FROM (VALUES (0.3), (0.7)) v(a)) FROM (VALUES (0.2), (0.9)) g(x);
SELECT (SELECT max(min(unique1)) FROM (VALUES (1)) q) FROM (VALUES (1)) v(unique1);
SELECT (SELECT max(unique1) FILTER (WHERE sum(ten) > 0) FROM (VALUES (1)) q) FROM (VALUES (1, 2)) v(unique1, ten);
-- Collations of recursive queries.
WITH RECURSIVE foo(x) AS (SELECT x FROM (VALUES ('a' COLLATE "C"), ('b')) t(x) UNION ALL SELECT (x || 'c') COLLATE "POSIX" FROM foo WHERE length(x) < 10) SELECT * FROM foo;
WITH RECURSIVE foo(x) AS (SELECT x FROM (VALUES ('a'), ('b')) t(x) UNION ALL SELECT (x || 'c') COLLATE "POSIX" FROM foo WHERE length(x) < 3) SELECT * FROM foo;
WITH RECURSIVE foo(y, x) AS (SELECT 1, x FROM (VALUES ('a' COLLATE "C"), ('b')) t(x) UNION SELECT 2, (x || 'c') FROM foo WHERE length(x) < 2) SELECT * FROM foo;
WITH RECURSIVE foo(y, x) AS (SELECT 1, 'a' COLLATE "C" UNION SELECT 2, (x || 'c') FROM foo WHERE length(x) < 2) SELECT * FROM foo;
-- Aggregates by their arguments.
CREATE FUNCTION lb(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql AS 'select least($1,$2)';
CREATE AGGREGATE least_agg2 (int4) (STYPE = int8, SFUNC = lb);
CREATE AGGREGATE least_agg3 (int8) (STYPE = int8, SFUNC = lb);
CREATE AGGREGATE least_agg4 (varchar) (STYPE = text, SFUNC = lb);
ALTER AGGREGATE nosuch (float8 ORDER BY anyelement) RENAME TO x;
ALTER AGGREGATE my_rank (VARIADIC "any" ORDER BY VARIADIC "any") RENAME TO test_rank;
DROP AGGREGATE nosuch (ORDER BY anyelement);
COMMENT ON AGGREGATE nosuch (float8 ORDER BY int4) IS 'x';
DROP AGGREGATE percentile_disc (float8 ORDER BY anyelement);
DROP FUNCTION substr(text, int);
