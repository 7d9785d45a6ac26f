-- TABLESAMPLE in views; what CLUSTER and REINDEX take; functions of schemas.
CREATE TABLE vt (a int PRIMARY KEY, b text);
INSERT INTO vt SELECT g, 'r' || g FROM generate_series(1, 20) g;
CREATE VIEW s1 AS SELECT a FROM vt TABLESAMPLE bernoulli (100);
CREATE VIEW s2 AS SELECT x.q, y.a FROM vt x (p, q) TABLESAMPLE system (100.0) REPEATABLE (7) JOIN ONLY vt y TABLESAMPLE bernoulli (0) ON x.p = y.a;
CREATE VIEW s3 AS SELECT count(*) AS n FROM vt TABLESAMPLE system (50 + 50) REPEATABLE (1 + 1) WHERE a > 5;
SELECT pg_get_viewdef('s1'), pg_get_viewdef('s2', true), pg_get_viewdef('s3');
SELECT count(*) FROM s1;
SELECT count(*) FROM s2;
SELECT n FROM s3;
UPDATE s1 SET a = 1;
INSERT INTO s1 VALUES (99);
ALTER TABLE vt RENAME a TO aa;
SELECT pg_get_viewdef('s3');
SELECT n FROM s3;
CREATE VIEW sx AS SELECT * FROM s1 TABLESAMPLE bernoulli (1);
CLUSTER s1;
REINDEX TABLE s1;
DROP VIEW s1, s2, s3;
