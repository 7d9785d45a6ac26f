-- Constants that a view's query is ordered and grouped by keep their types in its text:
-- a bare number would be a position.
CREATE TABLE tx (a int, b int);
INSERT INTO tx VALUES (1, 2), (2, 1);
CREATE VIEW v1 AS (SELECT 4 AS x, a FROM tx ORDER BY 1) UNION (SELECT a, b FROM tx ORDER BY 2);
SELECT * FROM v1 ORDER BY 1, 2;
CREATE VIEW v2 AS SELECT 2 AS x, a, b FROM tx ORDER BY 1, b;
SELECT * FROM v2;
CREATE VIEW v3 AS SELECT 4 AS x, max(a) FROM tx GROUP BY b ORDER BY 1, 2;
SELECT * FROM v3;
CREATE VIEW v4 AS SELECT x FROM (SELECT 4 AS x, a FROM tx ORDER BY 1, 2) s GROUP BY 1 ORDER BY 1;
SELECT * FROM v4;
CREATE VIEW v5 AS SELECT DISTINCT ON (1) 7 AS x, a FROM tx ORDER BY 1, 2;
SELECT * FROM v5;
CREATE VIEW v6 AS SELECT 5 AS x, 1.5 AS y, true AS z, 't' AS t, -3 AS n, count(*) FROM tx GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5;
SELECT * FROM v6;
CREATE VIEW v7 AS SELECT 3 AS x, count(*) FROM tx GROUP BY ROLLUP (1) ORDER BY 1;
SELECT * FROM v7;
CREATE VIEW v8 AS SELECT a, array_agg(b ORDER BY 1, b), rank() OVER (PARTITION BY 2 ORDER BY 1) FROM tx GROUP BY a ORDER BY a;
SELECT * FROM v8;
SELECT pg_get_viewdef('v'||i) FROM generate_series(1, 8) i;
DROP VIEW v1, v2, v3, v4, v5, v6, v7, v8;
DROP TABLE tx;
