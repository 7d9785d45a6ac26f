-- Subqueries in what ON CONFLICT, MERGE and conditions of new rows compute see the table
-- as it was before the statement, not the rows that it has written.
CREATE TABLE cr (id int PRIMARY KEY, a int, b int);
INSERT INTO cr VALUES (1, 1, 0);
INSERT INTO cr VALUES (2, 5), (1, 5) ON CONFLICT (id) DO UPDATE SET b = (SELECT count(*) FROM cr);
TABLE cr ORDER BY id;
TRUNCATE cr;
INSERT INTO cr VALUES (1, 1, 0);
INSERT INTO cr VALUES (2, 7), (1, 7) ON CONFLICT (id) DO UPDATE SET b = 9
  WHERE NOT EXISTS (SELECT FROM cr z WHERE z.a = excluded.a);
TABLE cr ORDER BY id;
INSERT INTO cr VALUES (3, 8, 1), (1, 8, 2), (2, 8, 3) ON CONFLICT (id) DO UPDATE
  SET (a, b) = (SELECT max(z.a), excluded.b + count(*)::int FROM cr z WHERE z.id <> cr.id)
  RETURNING id, a, b, (SELECT sum(a) FROM cr);
WITH n AS (INSERT INTO cr VALUES (4, 9, 1), (1, 9, 2) ON CONFLICT (id) DO UPDATE SET b = (SELECT count(*) FROM cr) RETURNING *)
SELECT id, a, b, (SELECT count(*) FROM cr) FROM n ORDER BY id;
CREATE TABLE cm (id int PRIMARY KEY, a int);
INSERT INTO cm VALUES (1, 0), (2, 0);
MERGE INTO cm USING (VALUES (1), (3)) s(i) ON s.i = cm.id
  WHEN MATCHED THEN UPDATE SET a = 55
  WHEN NOT MATCHED THEN INSERT VALUES (i, (SELECT max(a) FROM cm));
TABLE cm ORDER BY id;
MERGE INTO cm USING (VALUES (1), (2), (3), (4)) s(i) ON s.i = cm.id
  WHEN MATCHED AND (SELECT count(*) FROM cm WHERE a = 55) = 1 THEN UPDATE SET a = (SELECT sum(a) FROM cm) + s.i
  WHEN MATCHED THEN DELETE
  WHEN NOT MATCHED AND EXISTS (SELECT FROM cm WHERE a = 55) THEN INSERT VALUES (i, (SELECT count(*) FROM cm));
TABLE cm ORDER BY id;
-- A partitioned table.
CREATE TABLE cp (id int PRIMARY KEY, a int) PARTITION BY RANGE (id);
CREATE TABLE cp1 PARTITION OF cp FOR VALUES FROM (0) TO (10);
CREATE TABLE cp2 PARTITION OF cp FOR VALUES FROM (10) TO (20);
INSERT INTO cp VALUES (1, 1), (11, 1);
INSERT INTO cp VALUES (2, 2), (12, 2), (1, 2), (11, 3) ON CONFLICT (id) DO UPDATE SET a = (SELECT 100 + count(*) FROM cp1);
TABLE cp ORDER BY id;
-- Views with a check and policies that count.
CREATE VIEW cv AS SELECT * FROM cm WHERE (SELECT count(*) FROM cm z) < 7 WITH CHECK OPTION;
INSERT INTO cv VALUES (21, 1), (22, 1), (23, 1), (24, 1), (25, 1);
INSERT INTO cv VALUES (26, 1);
TABLE cm ORDER BY id;
-- A statement of many rows.
CREATE TABLE cl (id int PRIMARY KEY, a int, b int);
INSERT INTO cl SELECT i, i, 0 FROM generate_series(1, 3000) i WHERE i % 2 = 0;
INSERT INTO cl SELECT i, -1, 0 FROM generate_series(1, 3000) i ON CONFLICT (id) DO UPDATE SET b = (SELECT count(*) FROM cl z WHERE z.a = -1);
SELECT count(*), sum(a), sum(b) FROM cl;
