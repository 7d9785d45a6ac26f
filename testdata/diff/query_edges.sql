-- Conditions that no row decides, joins that need not read all, sets and rows where
-- they are not allowed, and the order in which errors are found.
CREATE TABLE t1 (a int PRIMARY KEY, b int, c text);
CREATE TABLE t2 (a int, e int, f text);
INSERT INTO t1 SELECT g, g % 7, 'r' || g FROM generate_series(1, 50) g;
INSERT INTO t2 SELECT g % 20, g, 'f' || g FROM generate_series(1, 100) g;

-- a compared column with a subquery that reads the block's table
SELECT t1.a FROM t1 WHERE 42 IN (SELECT (SELECT u.b FROM t2 WHERE t2.f <= 'x' LIMIT 1) FROM (SELECT x.a * 2 AS b FROM t1 x LEFT JOIN t2 USING (a)) u WHERE t1.c = 'r3');
SELECT t1.a FROM t1 WHERE t1.b IN (SELECT (SELECT x.b FROM t2 WHERE t2.f > 'f5' LIMIT 1) FROM t1 x JOIN t2 y ON y.e = x.a WHERE x.c <> t1.c) ORDER BY 1 LIMIT 3;
SELECT t1.a FROM t1 WHERE t1.b IN (SELECT coalesce(x.b, (SELECT x.e + t1.b FROM t1 z LIMIT 1)) FROM (t2 LEFT JOIN t1 w ON w.a = t2.e) x (a, e, f, a2, b) WHERE t1.c IS DISTINCT FROM x.f AND x.e < 60) ORDER BY 1;

-- conditions without a column are decided first, once
SELECT count(*) FROM t1, t2 WHERE current_setting('server_version_num')::int < 0 AND 1 / (t1.a - t1.a) = 1;
SELECT t1.a, (SELECT max(t2.e) FROM t2 WHERE t1.b < 2) FROM t1 WHERE a < 10 ORDER BY 1;
SELECT t1.a, (SELECT 10 / t2.a FROM t2 WHERE t1.b > 7 LIMIT 1) FROM t1 WHERE a < 4 ORDER BY 1;
SELECT count(*) FROM t2 WHERE EXISTS (SELECT 1 FROM t1 WHERE a = 7) AND NOT EXISTS (SELECT 1 FROM t1 WHERE a = 77);
SELECT count(*) FROM t2 WHERE 7 IN (SELECT b FROM t1);
SELECT t1.a, x.n FROM t1 LEFT JOIN LATERAL (SELECT count(*) AS n FROM t2 WHERE t1.a > 3 AND t2.e > 0) x ON t1.b > 2 WHERE t1.a < 7 ORDER BY 1;
SELECT count(*) FROM t1 GROUP BY b HAVING (SELECT false);
SELECT count(*) FROM t1 WHERE random() < 2;

-- pairs are tested as far as they are wanted
SELECT count(*) FROM t1 WHERE EXISTS (SELECT 1 FROM t2 x, t2 y WHERE x.e <> y.e AND (t1.a IS DISTINCT FROM x.e OR t1.b IS NULL));
SELECT a FROM t1 WHERE NOT EXISTS (SELECT 1 FROM t2 x, t2 y WHERE x.e > y.e AND x.e + 50 < t1.a + y.e) ORDER BY 1;
SELECT a FROM t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE t2.e > t1.a + 96) ORDER BY 1;
SELECT count(*), min(t1.a), max(t2.e) FROM t1 LEFT JOIN t2 ON t2.e > t1.a + 96;
SELECT count(*), min(t1.a), max(t2.e) FROM t1 RIGHT JOIN t2 ON t2.e > t1.a + 96;
SELECT count(*), min(t1.a), max(t2.e) FROM t1 LEFT JOIN t2 ON t2.e < t1.a - 2000 WHERE t2.e IS NULL;
SELECT count(*) FROM (SELECT 1 FROM t1, t2, t1 x, t2 y LIMIT 5) s;
SELECT count(*) FROM t1 LEFT JOIN (SELECT * FROM t2 WHERE false) x ON x.e > t1.a;
SELECT count(*) FROM t1 JOIN (SELECT * FROM t2 WHERE e > 1000) x ON x.e > t1.a;
SELECT count(*) FROM generate_series(1, 3000) g LEFT JOIN generate_series(1, 2500) h ON h > g + 2490;
SELECT count(*) FROM generate_series(1, 3000) g WHERE EXISTS (SELECT 1 FROM generate_series(1, 2500) h WHERE h > g);
SELECT count(*) FROM generate_series(1, 3000) g WHERE NOT EXISTS (SELECT 1 FROM generate_series(1, 2500) h WHERE h > g);

-- sets and rows
SELECT generate_series(1, 2) IN (SELECT 1);
SELECT generate_series(1, 2) = ANY (SELECT 1);
SELECT (generate_series(1, 2), 1) = (1, 1);
SELECT (generate_series(1, 2), 1) < (1, 1);
SELECT (1, generate_series(1, 2)) IN (SELECT 1, 1);
CREATE TYPE pair AS (x int, y text);
CREATE TABLE held (id int, p pair);
INSERT INTO held SELECT 1, ROW(1, 'a');
INSERT INTO held SELECT 1, ROW(1, 2, 3);
INSERT INTO held (id, p) SELECT a, ROW(a, c) FROM t1;
INSERT INTO held (id, p) SELECT a, ROW(a, c)::pair FROM t1 WHERE a < 3;
INSERT INTO held VALUES (3, ROW(3, 4));
INSERT INTO held VALUES (3, ROW(3, 4)), (4, ROW(4, 'd'));
UPDATE held SET p = (SELECT ROW(1, 'u'));
UPDATE held SET p = ROW(1, 'u') WHERE id = 1;
SELECT (SELECT ROW(1, 'a'))::pair;
SELECT r::pair FROM (SELECT ROW(1, 'a') AS r) s;
SELECT s::pair FROM (SELECT 1 AS x, 'a'::text AS y) s;
SELECT * FROM held ORDER BY id, p;
SELECT DISTINCT ON (b IS NULL) a, b FROM t1 ORDER BY a;
SELECT DISTINCT ON (b, a + 1) a, b FROM t1 ORDER BY b, a;

-- what is found first
DECLARE k CURSOR FOR SELECT nosuch FROM t1;
DECLARE k CURSOR FOR SELECT 1;
DECLARE k CURSOR WITH HOLD FOR SELECT 1 FOR UPDATE;
CLOSE k;
DECLARE k CURSOR WITH HOLD FOR SELECT a FROM t1 FOR UPDATE;
DECLARE k SCROLL NO SCROLL CURSOR FOR SELECT nosuch;
CREATE TABLE t1 (p, q, r) AS SELECT 1, 2;
CREATE TABLE IF NOT EXISTS t1 AS SELECT * FROM nosuch;
CREATE TABLE IF NOT EXISTS t1 AS SELECT 1;
CREATE TABLE t3 (p, q, r) AS SELECT 1, 2;
BEGIN;
CLUSTER;
ROLLBACK;
START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
COMMIT AND CHAIN;
SHOW transaction_isolation;
SHOW transaction_read_only;
SHOW transaction_deferrable;
ROLLBACK;
SELECT CASE 'a' WHEN 1 THEN 2 END;
SELECT CASE a WHEN 1 THEN 2 WHEN now() THEN 3 END FROM t1;

-- rows without a key are counted from (0,1)
CREATE TABLE loose (a int);
INSERT INTO loose VALUES (1), (2), (3);
SELECT ctid, a FROM loose ORDER BY a;
SELECT a FROM loose WHERE ctid = '(0,2)';
DELETE FROM loose WHERE ctid IN ('(0,1)', '(0,3)');
SELECT ctid, a FROM loose;
