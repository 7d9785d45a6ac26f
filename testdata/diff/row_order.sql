-- Statements of several rows of which more than one fails: the first one's error counts.
CREATE TABLE p (id int PRIMARY KEY);
INSERT INTO p SELECT generate_series(0, 5);
CREATE TABLE t (id int PRIMARY KEY, k int UNIQUE, v int NOT NULL CHECK (v <> 3), g int GENERATED ALWAYS AS (10 / (k + v)) STORED, CHECK (10 / id > 0));
INSERT INTO t (id, k, v) VALUES (1, 10, 1), (2, 20, 2), (4, 40, 4);
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (1, 60, 6), (7, 70, NULL);
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (7, 70, NULL), (1, 60, 6);
INSERT INTO t (id, k, v) VALUES (5, 20, 5), (7, 70, 3);
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (5, 60, 6), (7, -7, 7);
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (7, -7, 7), (5, 60, 6);
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (0, 60, 6), (1, 70, NULL);
INSERT INTO t (id, k, v) SELECT i, i * 10, CASE i WHEN 9 THEN 3 ELSE i END FROM generate_series(6, 12) i;
INSERT INTO t (id, k, v) VALUES (5, 50, 5), (1, 60, 6), (7, 70, NULL) ON CONFLICT DO NOTHING;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (1, 60, 6), (7, 70, NULL) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (7, 20, 6), (1, 70, 7) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
INSERT INTO t (id, k, v) VALUES (1, 50, 3), (7, 20, 6) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (1, 60, 3) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
-- Keys that a row before has given up are free, and those that it has got are taken.
BEGIN;
INSERT INTO t (id, k, v) VALUES (1, 11, 5), (5, 10, 5) ON CONFLICT (id) DO UPDATE SET k = excluded.k RETURNING *;
SELECT * FROM t ORDER BY id;
ROLLBACK;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (5, 50, 5) ON CONFLICT (id) DO UPDATE SET k = excluded.k;
BEGIN;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (1, 60, 6) ON CONFLICT (id) DO UPDATE SET id = 9 RETURNING *;
SELECT * FROM t ORDER BY id;
ROLLBACK;
INSERT INTO t (id, k, v) VALUES (1, 50, 5), (9, 60, 6) ON CONFLICT (id) DO UPDATE SET id = 9;
INSERT INTO t (id, k, v) VALUES (9, 50, 5), (1, 60, 6), (8, 70, 7) ON CONFLICT (id) DO UPDATE SET id = excluded.v RETURNING *;
SELECT * FROM t ORDER BY id;
-- A row that the condition leaves as it is may be met again.
INSERT INTO t (id, k, v) VALUES (2, 51, 5), (2, 61, 6), (2, 71, 7) ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE excluded.v = 6 RETURNING *;
INSERT INTO t (id, k, v) VALUES (2, 51, 5), (2, 61, 6), (2, 71, 7) ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE excluded.v = 7 RETURNING *;
INSERT INTO t (id, k, v) VALUES (2, 51, 5), (2, 61, 6) ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE t.v > 100 RETURNING *;
SELECT * FROM t ORDER BY id;
-- Expressions of indexes are computed when the rows before are in.
CREATE TABLE e (id int PRIMARY KEY, v int);
CREATE UNIQUE INDEX ON e ((6 / (v - 4)));
INSERT INTO e VALUES (1, 7);
INSERT INTO e VALUES (1, 8), (2, 4);
INSERT INTO e VALUES (3, 7), (2, 4);
INSERT INTO e VALUES (3, 4), (2, 7);
UPDATE e SET v = CASE id WHEN 1 THEN 4 END;
-- Updates of one row at a time.
UPDATE t SET v = CASE id WHEN 2 THEN 3 END WHERE id IN (2, 4);
UPDATE t SET k = CASE id WHEN 2 THEN 40 ELSE k END, v = CASE id WHEN 4 THEN 3 ELSE v END WHERE id IN (2, 4);
UPDATE t SET k = CASE id WHEN 2 THEN 21 ELSE k END, v = CASE id WHEN 4 THEN 3 ELSE v END WHERE id IN (2, 4);
CREATE TABLE d (id int PRIMARY KEY, k int UNIQUE DEFERRABLE);
INSERT INTO d VALUES (1, 1) ON CONFLICT DO NOTHING;
INSERT INTO d VALUES (1, 1) ON CONFLICT (k) DO NOTHING;
INSERT INTO d VALUES (1, 1) ON CONFLICT ON CONSTRAINT d_k_key DO NOTHING;
