-- The select list's parameters and literals wait for the type of the column that
-- they are inserted into, unless ORDER BY, GROUP BY or DISTINCT need one before.
CREATE TABLE isp (id serial PRIMARY KEY, n int, ref bigint, width int, name varchar(20), ok bool, day date);
PREPARE p1 AS INSERT INTO isp (ref, width, name, ok, n) SELECT $1, $2, $3, $4, coalesce(max(n), 0) + 1 FROM isp WHERE ref = $5 RETURNING *;
EXECUTE p1 (1, 2, 'x', true, 1);
EXECUTE p1 (1, 2, 'y', false, 1);
PREPARE p2 AS INSERT INTO isp (ref, width) SELECT $1, max(n) FROM isp;
PREPARE p3 AS INSERT INTO isp (ref, width) SELECT $1, max(n) FROM isp HAVING max(n) > $2;
PREPARE p4 AS INSERT INTO isp (ref, width) SELECT $1, max(n) FROM isp GROUP BY ok, $2;
PREPARE p5 AS INSERT INTO isp (ref, name) SELECT $1, $1 FROM isp;
PREPARE p6 AS INSERT INTO isp (name, width) SELECT $1, count(*) FROM isp GROUP BY GROUPING SETS ((n), ());
PREPARE p7 AS INSERT INTO isp (name, width) SELECT $1, row_number() OVER () FROM isp ORDER BY $1;
PREPARE p8 AS INSERT INTO isp (name, width) SELECT $1, n FROM isp GROUP BY 1, 2;
PREPARE p9 AS INSERT INTO isp (name, width) SELECT $1 AS a, n FROM isp GROUP BY a, 2;
PREPARE p10 AS INSERT INTO isp (name, width) SELECT $1 AS a, n FROM isp ORDER BY a;
PREPARE p11 AS INSERT INTO isp (width, n) SELECT $1, n FROM isp GROUP BY 1, 2;
PREPARE p12 AS INSERT INTO isp (width, n) SELECT $1, n FROM isp ORDER BY 1;
PREPARE p13 AS INSERT INTO isp (width, n) SELECT DISTINCT $1, n FROM isp;
PREPARE p14 AS INSERT INTO isp (width, n) SELECT $1, n FROM isp UNION ALL SELECT $2, count(*) FROM isp;
PREPARE p15 AS INSERT INTO isp (day, n) SELECT $1, sum(n) OVER () FROM isp;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY 1;
INSERT INTO isp (day, n) SELECT '2020-02-29', count(*) FROM isp RETURNING day, n;
INSERT INTO isp (day, n) SELECT '2020-02-29', n FROM isp GROUP BY n RETURNING day, n;
INSERT INTO isp (day, n) SELECT '2020-02-29', n FROM isp GROUP BY 1, n;
INSERT INTO isp (day, n) SELECT '2020-02-29', n FROM isp ORDER BY 1;
INSERT INTO isp (day, n) SELECT '2020-02-29', n FROM isp ORDER BY '2020-02-29'::text;
INSERT INTO isp (day, n) SELECT NULL, count(*) FROM isp GROUP BY ROLLUP (ok) RETURNING day;
DEALLOCATE ALL;
DROP TABLE isp;
