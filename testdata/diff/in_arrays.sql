-- IN over arrays in stored definitions: an array of arrays would have their elements.
CREATE TABLE tt (a text[], b int[], i int);
INSERT INTO tt VALUES ('{a}', '{1}', 1);
CREATE VIEW v1 AS SELECT i FROM tt WHERE a IN ('{}', '{a}', '{b,c}');
SELECT * FROM v1;
CREATE VIEW v2 AS SELECT i FROM tt WHERE b NOT IN ('{}'::int[], '{2}'::int[], b || 1);
SELECT * FROM v2;
CREATE VIEW v3 AS SELECT i, CASE WHEN b IN ('{1}'::int[], '{3}') THEN 'x' END AS x, a IN ('{}', '{a}') IS TRUE AS y FROM tt;
SELECT * FROM v3;
SELECT pg_get_viewdef('v1'), pg_get_viewdef('v2'), pg_get_viewdef('v3');
ALTER TABLE tt ADD CHECK (a NOT IN ('{z}', '{y}'));
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'tt'::regclass;
INSERT INTO tt VALUES ('{z}');
CREATE INDEX ON tt (i) WHERE b IN ('{1}', '{2}');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'tt'::regclass;
ALTER TABLE tt ALTER i SET DEFAULT CASE WHEN '{1}'::int[] IN ('{2}', '{1}') THEN 7 END;
INSERT INTO tt VALUES ('{q}', '{2}') RETURNING i;
DROP VIEW v1, v2, v3;
DROP TABLE tt;

-- all values of a list are made before the first comparison
SELECT 1 IN (1, 1/0);
SELECT NULL::int IN (1, 1/0);
SELECT 1 NOT IN (1, NULL, 1/0);
SELECT 'a' IN ('a', 'b' || (1/0));
SELECT 1 IN (1, (random() * 0)::int / 0);
SELECT i FROM generate_series(1, 3) AS i WHERE i IN (1, 2, (random() * 0)::int / 0);
SELECT a IN (1, 2, 1 / a) FROM (VALUES (1), (3)) AS v(a);
SELECT 1 IN (1, 1 / a) FROM (VALUES (0)) AS v(a);
PREPARE in_made(int) AS SELECT i, i IN (1, 6 / $1, 2 + $1), 1 IN (1, 6 / $1) FROM generate_series(1, 4) AS i;
EXECUTE in_made(2);
EXECUTE in_made(NULL);
EXECUTE in_made(0);
DEALLOCATE in_made;
SELECT i FROM generate_series(1, 9) AS i WHERE i NOT IN (3, 7, (SELECT 8), (random() * 0)::int + 2);
