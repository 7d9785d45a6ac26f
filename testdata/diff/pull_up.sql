-- Views, derived tables and WITH queries whose tables are joined in the place of them.
CREATE TABLE pu_a (id int PRIMARY KEY, k int, t text);
CREATE TABLE pu_b (id int PRIMARY KEY, a int REFERENCES pu_a, v numeric(8,2), t varchar(10));
CREATE INDEX pu_b_a ON pu_b (a);
INSERT INTO pu_a SELECT i, i % 7, CASE WHEN i % 5 > 0 THEN 'a' || i END FROM generate_series(1, 60) i;
INSERT INTO pu_b SELECT i, CASE WHEN i % 4 > 0 THEN 1 + i * 13 % 60 END, i / 3.0, 'b' || i % 9 FROM generate_series(1, 90) i;
CREATE VIEW pu_v AS SELECT id, k * 2 AS k2, t FROM pu_a WHERE k < 6;
CREATE VIEW pu_w AS SELECT v.id, v.k2, b.v, b.id AS bid, coalesce(b.t, '-') AS bt FROM pu_v v LEFT JOIN pu_b b ON b.a = v.id AND b.v > 3;
CREATE VIEW pu_full AS SELECT v.id, b.id AS bid FROM pu_v v FULL JOIN (SELECT * FROM pu_b WHERE v < 20) b ON b.a = v.id;
SELECT b.id, v.k2, v.t FROM pu_b b JOIN pu_v v ON v.id = b.a ORDER BY 1;
SELECT b.id, v.k2, v.t FROM pu_b b LEFT JOIN pu_v v ON v.id = b.a ORDER BY 1;
SELECT b.id, v.k2 FROM pu_v v RIGHT JOIN pu_b b ON v.id = b.a AND v.k2 > 4 ORDER BY 1;
SELECT b.id, v.id FROM pu_v v FULL JOIN pu_b b ON v.id = b.a ORDER BY 1, 2;
SELECT * FROM pu_w WHERE id = 14 ORDER BY bid;
SELECT * FROM pu_w WHERE bid IS NULL ORDER BY id;
SELECT w.id, w.bt, x.id FROM pu_w w LEFT JOIN pu_w x ON x.id = w.k2 AND x.bt = w.bt WHERE w.id < 20 ORDER BY 1, 2, 3;
SELECT count(*), count(id), count(bid), sum(id), sum(bid) FROM pu_full;
SELECT * FROM pu_full f JOIN pu_v v ON v.id = f.id WHERE f.bid BETWEEN 10 AND 40 ORDER BY 2;
-- expressions that are not NULL where the row is missing stay behind
SELECT b.id, x.one, x.n FROM pu_b b LEFT JOIN (SELECT id, 1 AS one, coalesce(t, 'none') AS n FROM pu_a WHERE k = 3) x ON x.id = b.a WHERE b.id < 25 ORDER BY 1;
SELECT b.id, x.s FROM pu_b b LEFT JOIN (SELECT id, id + k AS s FROM pu_a WHERE k = 3) x ON x.id = b.a WHERE b.id < 25 ORDER BY 1;
SELECT b.id, x FROM pu_b b LEFT JOIN (SELECT id, t FROM pu_a WHERE k = 3) x ON x.id = b.a WHERE b.id < 12 ORDER BY 1;
SELECT b.id, x IS NULL, x.id IS NULL FROM pu_b b LEFT JOIN (SELECT id, t FROM pu_a WHERE k = 3) x ON x.id = b.a WHERE b.id < 12 ORDER BY 1;
SELECT x, (x).id, row_to_json(x) FROM (SELECT id, k, t FROM pu_a) x WHERE x.id = 5;
-- parameters by WITH, rows without tables
WITH p AS (SELECT 3 AS k, 'a' || 3 AS t) SELECT a.id FROM pu_a a, p WHERE a.k = p.k OR a.t = p.t ORDER BY 1;
WITH p AS (SELECT 3 AS k) SELECT a.id, p.k FROM pu_a a JOIN p ON p.k = a.k ORDER BY 1;
WITH p AS (SELECT 3 AS k WHERE false) SELECT a.id, p.k FROM pu_a a JOIN p ON p.k = a.k ORDER BY 1;
WITH p AS (SELECT 3 AS k) SELECT a.id, p.k FROM pu_a a LEFT JOIN p ON p.k = a.k WHERE a.id < 12 ORDER BY 1;
SELECT * FROM (SELECT 1 AS x) a, (SELECT 2 AS y) b;
SELECT x.one, count(*) FROM pu_a, (SELECT 1 AS one) x GROUP BY x.one;
SELECT x.one FROM pu_a, (SELECT 'c' AS one) x WHERE id < 3 ORDER BY x.one;
-- LATERAL
SELECT a.id, x.id FROM pu_a a, LATERAL (SELECT id FROM pu_b WHERE a = a.id) x WHERE a.id < 5 ORDER BY 1, 2;
SELECT a.id, x.id FROM pu_a a LEFT JOIN LATERAL (SELECT b.id FROM pu_b b WHERE b.a = a.id AND b.v > a.k) x ON true WHERE a.id < 9 ORDER BY 1, 2;
SELECT a.id, x.s, y.d FROM pu_a a, LATERAL (SELECT a.k + b.id AS s FROM pu_b b WHERE b.a = a.id) x, LATERAL (SELECT x.s * 2 AS d) y WHERE a.id < 9 ORDER BY 1, 2;
SELECT a.id, z.n FROM pu_a a, LATERAL (SELECT q.n FROM (SELECT count(*) AS n FROM pu_b b WHERE b.a = a.id) q) z WHERE a.id < 9 ORDER BY 1;
SELECT a.id, x.bid, x.cid FROM pu_a a LEFT JOIN LATERAL (SELECT b.id AS bid, c.id AS cid FROM pu_b b LEFT JOIN pu_b c ON c.id = a.id WHERE b.a = a.id) x ON x.bid > 5 WHERE a.id < 9 ORDER BY 1, 2;
SELECT a.id, y.id, x.id FROM pu_a a LEFT JOIN (pu_b y JOIN LATERAL (SELECT c.id FROM pu_a c WHERE c.k = y.id % 7) x ON true) ON y.a = a.id WHERE a.id < 4 ORDER BY 1, 2, 3;
-- subqueries over views
SELECT id FROM pu_a a WHERE EXISTS (SELECT 1 FROM pu_w w WHERE w.id = a.id AND w.v > 10) ORDER BY 1;
SELECT id FROM pu_a a WHERE id NOT IN (SELECT w.id FROM pu_w w WHERE w.v > 10) ORDER BY 1;
SELECT id, (SELECT max(w.v) FROM pu_w w WHERE w.id = a.id) FROM pu_a a ORDER BY 1;
SELECT id, (SELECT sum(q.k2 * 2) FROM (SELECT k2 FROM pu_v WHERE id = a.id) q) FROM pu_a a WHERE id < 9 ORDER BY 1;
-- grouping, windows, DISTINCT and order over them
SELECT k2, count(*), min(t) FROM pu_v GROUP BY k2 ORDER BY k2 DESC;
SELECT k2 + 1, count(DISTINCT bt) FROM pu_w GROUP BY 1 HAVING sum(v) > 20 ORDER BY 1;
SELECT id, rank() OVER (PARTITION BY k2 ORDER BY id DESC) FROM pu_v ORDER BY 1 LIMIT 7;
SELECT DISTINCT k2 FROM pu_w ORDER BY 1;
SELECT DISTINCT ON (k2) k2, id FROM pu_w ORDER BY k2 DESC, id DESC;
SELECT id FROM pu_v ORDER BY t NULLS FIRST, id LIMIT 9;
SELECT x.k2, unnest(ARRAY[x.id, -x.id]) FROM (SELECT * FROM pu_v WHERE id < 4) x ORDER BY 1, 2;
SELECT id FROM pu_v UNION SELECT bid FROM pu_w ORDER BY 1 DESC NULLS LAST LIMIT 5;
-- what has effects, or is not read
CREATE SEQUENCE pu_s;
SELECT count(id) FROM (SELECT id, nextval('pu_s') FROM pu_a) q;
SELECT currval('pu_s');
SELECT q.id FROM (SELECT id, 1/0 AS z FROM pu_a) q WHERE id < 3 ORDER BY 1;
SELECT r.id FROM (SELECT q.id, q.z FROM (SELECT id, 1/0 AS z FROM pu_a) q) r WHERE id < 3 ORDER BY 1;
SELECT q.id FROM (SELECT id, 1/0 AS z FROM pu_a) q WHERE z > 0;
SELECT q.id FROM (SELECT id, (id - 3) AS z FROM pu_a WHERE id <> 3) q WHERE 6 / z = 2 ORDER BY 1;
-- writing
UPDATE pu_b SET v = x.k2 FROM pu_v x WHERE x.id = pu_b.a AND pu_b.id < 6 RETURNING pu_b.id, v, x.t, x.*;
UPDATE pu_b SET v = x.s FROM (SELECT a.id, a.k + p.q AS s FROM pu_a a, (SELECT 100 AS q) p) x WHERE x.id = pu_b.a AND pu_b.id BETWEEN 6 AND 9 RETURNING *;
DELETE FROM pu_b USING pu_v x WHERE x.id = pu_b.a AND x.k2 = 4 RETURNING pu_b.id, x.id, x.t;
MERGE INTO pu_b USING (SELECT x.id, x.k2 FROM pu_v x WHERE x.id < 8) s ON pu_b.id = s.id WHEN MATCHED THEN UPDATE SET v = s.k2 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.id, -1);
INSERT INTO pu_b SELECT x.id + 1000, x.id, x.k2 FROM pu_v x JOIN pu_w w ON w.id = x.id WHERE w.bid < 20;
SELECT id, a, v FROM pu_b WHERE id < 12 OR id > 1000 ORDER BY id;
SELECT x.id FROM (SELECT id FROM pu_a WHERE k = 1) x JOIN pu_b ON pu_b.a = x.id ORDER BY 1, pu_b.id FOR UPDATE OF pu_b;
SELECT id FROM (SELECT id FROM pu_a WHERE k = 1 FOR UPDATE) x ORDER BY 1;
-- collations and types
SELECT x.t FROM (SELECT t COLLATE "C" AS t FROM pu_a) x JOIN (SELECT t COLLATE "POSIX" AS t FROM pu_a) y ON x.t = y.t ORDER BY 1 LIMIT 2;
SELECT x.c, length(x.c) FROM (SELECT t::char(6) AS c, id FROM pu_a) x WHERE x.c = 'a4' OR id = 7 ORDER BY 1;
SELECT pg_typeof(x.a), pg_typeof(x.b), x.b FROM (SELECT 'u' AS a, v AS b, id FROM pu_b) x WHERE id = 11;
DROP VIEW pu_full, pu_w, pu_v;
DROP TABLE pu_b, pu_a;
DROP SEQUENCE pu_s;
