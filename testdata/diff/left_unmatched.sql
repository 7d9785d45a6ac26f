-- Left joins of which the rows without a match are wanted.
CREATE TABLE lu_o (id int PRIMARY KEY, cust int, q int, y int);
CREATE TABLE lu_n (id int PRIMARY KEY, ord int, part int NOT NULL, body text);
CREATE TABLE lu_k (ord int, part int, v int, PRIMARY KEY (ord, part));
CREATE TABLE lu_d (id int PRIMARY KEY, y int);
INSERT INTO lu_o SELECT i, nullif(i % 7, 3), i % 5, i % 11 FROM generate_series(1, 60) i;
INSERT INTO lu_n SELECT i, nullif(i * 3 % 50, 9), i % 4, CASE WHEN i % 5 > 0 THEN 'n' || i END FROM generate_series(1, 30) i;
INSERT INTO lu_k SELECT i, i % 5, i FROM generate_series(1, 60, 2) i;
INSERT INTO lu_d SELECT i, 2000 + i % 3 FROM generate_series(0, 10) i;
ANALYZE lu_o, lu_n, lu_k, lu_d;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.ord IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL ORDER BY 1;
SELECT count(*) FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.part IS NULL;
-- a column that is NULL in rows with a match
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.body IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.id = o.id WHERE n.ord IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord IS NOT DISTINCT FROM o.cust WHERE n.ord IS NULL ORDER BY 1;
-- others that read it
SELECT o.id, n.id, n.body FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.ord IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.ord IS NULL ORDER BY n.body, o.id DESC LIMIT 5;
SELECT count(n.id), count(*), count(*) FILTER (WHERE n.body IS NULL) FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.ord IS NULL AND coalesce(n.part, o.q) = 2 ORDER BY 1;
SELECT o.id, k.v FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id LEFT JOIN lu_k k ON k.ord = coalesce(n.part, o.id) WHERE n.id IS NULL ORDER BY 1, 2;
SELECT o.id, (SELECT max(k.v) FROM lu_k k WHERE k.part = coalesce(n.part, 4)) FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL ORDER BY 1 LIMIT 3;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL AND EXISTS (SELECT 1 FROM lu_k k WHERE k.ord = coalesce(n.ord, o.id)) ORDER BY 1;
SELECT n FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL LIMIT 2;
-- conditions of one side
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id AND o.q > 2 WHERE n.id IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id AND n.part = 1 AND n.body > 'n1' WHERE n.id IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id AND n.part < o.q WHERE n.ord IS NULL AND o.y > 3 ORDER BY 1;
SELECT count(*) FROM lu_o o LEFT JOIN lu_n n ON n.part = 17 WHERE n.id IS NULL;
SELECT count(*) FROM lu_o o LEFT JOIN lu_n n ON o.q = 1 WHERE n.id IS NULL;
SELECT count(*) FROM lu_o o LEFT JOIN lu_n n ON n.ord < o.id WHERE n.id IS NULL;
-- keys of several columns, other joins, the other direction
SELECT o.id, d.y FROM lu_o o LEFT JOIN lu_k k ON k.ord = o.id AND k.part = o.q JOIN lu_d d ON d.id = o.y WHERE k.ord IS NULL AND d.y = 2001 ORDER BY 1;
SELECT d.y, count(*) FROM lu_k k RIGHT JOIN lu_o o ON k.ord = o.id AND k.part = o.q JOIN lu_d d ON d.id = o.y WHERE k.part IS NULL GROUP BY 1 ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_k k ON k.ord = o.id LEFT JOIN lu_n n ON n.ord = o.id WHERE k.ord IS NULL AND n.id IS NULL ORDER BY 1;
SELECT o.id, n.body FROM lu_o o LEFT JOIN lu_k k ON k.ord = o.id LEFT JOIN lu_n n ON n.ord = o.id WHERE k.ord IS NULL ORDER BY 1, 2;
SELECT o.id FROM lu_o o LEFT JOIN (lu_k k JOIN lu_n n ON n.part = k.part) ON k.ord = o.id WHERE k.ord IS NULL ORDER BY 1;
SELECT o.id FROM lu_o o FULL JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL ORDER BY 1;
SELECT o.id, d.y FROM lu_o o LEFT JOIN lu_d d ON d.id = o.y AND d.id IN (SELECT y FROM lu_d) WHERE d.id IS NULL ORDER BY 1 LIMIT 3;
SELECT d.id FROM lu_d d LEFT JOIN (lu_o o LEFT JOIN lu_n n ON n.ord = o.id) ON o.y = d.id WHERE n.id IS NULL AND o.id > 50 ORDER BY 1;
SELECT d.id, o.id FROM lu_d d LEFT JOIN (SELECT o.* FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL) o ON o.y = d.id AND o.q = 1 ORDER BY 1, 2;
-- below other statements
SELECT y FROM lu_d WHERE id IN (SELECT o.y FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL) ORDER BY 1;
SELECT d.id, (SELECT count(*) FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id AND n.part = d.id WHERE n.id IS NULL AND o.y = d.id) FROM lu_d d ORDER BY 1;
SELECT o.id FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL ORDER BY o.id LIMIT 3 FOR UPDATE OF o;
WITH w AS (SELECT o.id, o.y FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL) SELECT count(*) FROM w a LEFT JOIN w b ON b.id = a.y WHERE b.id IS NULL;
INSERT INTO lu_k SELECT o.id, o.q, 0 FROM lu_o o LEFT JOIN lu_k k ON k.ord = o.id AND k.part = o.q WHERE k.ord IS NULL;
SELECT count(*) FROM lu_k;
UPDATE lu_o t SET q = -1 FROM lu_o o LEFT JOIN lu_n n ON n.ord = o.id WHERE n.id IS NULL AND t.id = o.id;
SELECT count(*) FROM lu_o WHERE q = -1;
DELETE FROM lu_o USING lu_d d LEFT JOIN lu_n n ON n.ord = d.id WHERE n.id IS NULL AND lu_o.y = d.id;
SELECT count(*) FROM lu_o;
DROP TABLE lu_o, lu_n, lu_k, lu_d;
