-- A row that one part of a statement has changed, and that another one meets: UPDATE and
-- DELETE pass over it, upserts and MERGE fail.
CREATE TABLE kept (k int PRIMARY KEY, v text, n int UNIQUE);
INSERT INTO kept VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);
WITH c AS (INSERT INTO kept VALUES (2, 'x') ON CONFLICT (k) DO UPDATE SET v = 'B' RETURNING k)
INSERT INTO kept VALUES (2, 'y') ON CONFLICT (k) DO UPDATE SET v = 'R';
WITH c AS (INSERT INTO kept VALUES (2, 'x') ON CONFLICT (k) DO UPDATE SET v = 'B' RETURNING k)
INSERT INTO kept SELECT k, 'y' FROM c ON CONFLICT (k) DO UPDATE SET v = 'R';
WITH c AS (UPDATE kept SET v = 'B' WHERE k = 2 RETURNING k)
INSERT INTO kept SELECT k, 'y' FROM c ON CONFLICT (k) DO UPDATE SET v = 'R';
WITH c AS (UPDATE kept SET k = 9 WHERE k = 2 RETURNING k)
INSERT INTO kept SELECT k, 'y' FROM c ON CONFLICT (k) DO UPDATE SET v = 'R';
WITH c AS (INSERT INTO kept VALUES (5, 'x') RETURNING k)
INSERT INTO kept SELECT k, 'y' FROM c ON CONFLICT (k) DO UPDATE SET v = 'R';
WITH c AS (INSERT INTO kept VALUES (5, 'x') RETURNING k)
INSERT INTO kept SELECT k, 'y' FROM c ON CONFLICT (k) DO NOTHING RETURNING *;
WITH c AS (INSERT INTO kept VALUES (6, 'x', 20) ON CONFLICT (n) DO UPDATE SET n = 21 RETURNING k)
INSERT INTO kept SELECT 7, 'y', 20 FROM c ON CONFLICT (n) DO UPDATE SET v = 'R' RETURNING *;
WITH c AS (INSERT INTO kept VALUES (1, 'x') ON CONFLICT (k) DO UPDATE SET v = 'B' RETURNING k)
UPDATE kept SET v = v || (SELECT max(k) FROM c) RETURNING *;
WITH c AS (INSERT INTO kept VALUES (1, 'x') ON CONFLICT (k) DO UPDATE SET v = 'B' RETURNING k)
DELETE FROM kept WHERE k <= (SELECT max(k) FROM c) + 1 RETURNING *;
SELECT * FROM kept ORDER BY k;
-- The new values of an upsert read the query that changes its row: it is left as that has it.
WITH c AS (UPDATE kept SET v = 'C' WHERE k = 3 RETURNING v)
INSERT INTO kept VALUES (3, 'x') ON CONFLICT (k) DO UPDATE SET v = (SELECT v || '!' FROM c) RETURNING *;
WITH c AS (UPDATE kept SET v = 'D' WHERE k = 3 RETURNING v)
INSERT INTO kept VALUES (1, 'x'), (3, 'x') ON CONFLICT (k) DO UPDATE SET v = (SELECT v || '!' FROM c) RETURNING *;
WITH c AS (UPDATE kept SET v = 'E' WHERE k = 3 RETURNING v)
INSERT INTO kept VALUES (1, 'x') ON CONFLICT (k) DO UPDATE SET v = (SELECT v || '!' FROM c) RETURNING *;
SELECT * FROM kept ORDER BY k;
WITH c AS (UPDATE kept SET v = 'F' WHERE k = 3 RETURNING k)
MERGE INTO kept USING (VALUES (1), (3)) AS s (q) ON k = q WHEN MATCHED THEN UPDATE SET v = v || (SELECT max(k) FROM c);
WITH c AS (UPDATE kept SET v = 'F' WHERE k = 3 RETURNING k)
MERGE INTO kept USING (VALUES (1)) AS s (q) ON k = q WHEN MATCHED THEN UPDATE SET v = v || (SELECT max(k) FROM c);
WITH c AS (UPDATE kept SET v = 'G' WHERE k = 3 RETURNING k)
MERGE INTO kept USING c ON kept.k = c.k WHEN MATCHED THEN DELETE;
SELECT * FROM kept ORDER BY k;
DROP TABLE kept;
