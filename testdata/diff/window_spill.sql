-- Windows over partitions that do not fit into the work memory.
SET work_mem = '64kB';
CREATE TABLE wide AS SELECT i, i % 3 AS g, i * 7919 % 5003 AS v, 'text ' || i % 100 AS t, CASE WHEN i % 11 <> 0 THEN i % 17 END AS n
  FROM generate_series(1, 20000) AS i;
SELECT g, min(c), max(c), min(s), max(s), min(f), min(l) FROM (
  SELECT g, count(*) OVER w AS c, sum(v) OVER w AS s, first_value(t) OVER (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS f,
    last_value(t) OVER (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM wide WINDOW w AS (PARTITION BY g)) AS x
  GROUP BY g ORDER BY g;
SELECT count(*), sum(r), sum(p)::numeric(20, 6), sum(d)::numeric(20, 6), sum(q), sum(c) FROM (
  SELECT rank() OVER w AS r, percent_rank() OVER w AS p, cume_dist() OVER w AS d, ntile(7) OVER w AS q, count(*) OVER () AS c
  FROM wide WINDOW w AS (ORDER BY v)) AS x;
SELECT i, g, q, l, p, c FROM (
  SELECT i, g, ntile(n) OVER w AS q, lag(t) OVER w AS l, lead(t, 2) OVER w AS p, count(n) FILTER (WHERE v > 100) OVER (PARTITION BY g) AS c
  FROM wide WINDOW w AS (PARTITION BY g ORDER BY i)) AS x WHERE i % 997 = 0 ORDER BY i;
-- with a condition that ends a partition's numbering
SELECT g, i, c, rn FROM (
  SELECT g, i, count(*) OVER (PARTITION BY g) AS c, row_number() OVER (PARTITION BY g ORDER BY i DESC) AS rn FROM wide) AS x WHERE rn <= 2 ORDER BY g, rn;
SELECT i, c, rn FROM (SELECT i, max(v) OVER () AS c, row_number() OVER (ORDER BY i DESC) AS rn FROM wide) AS x WHERE rn <= 2 ORDER BY rn;
SELECT g, i, p, rn FROM (
  SELECT g, i, percent_rank() OVER w AS p, rank() OVER w AS rn FROM wide WINDOW w AS (PARTITION BY g ORDER BY i)) AS x WHERE rn <= 2 ORDER BY g, rn;
SELECT * FROM (SELECT i, count(*) OVER () AS c, avg(n) OVER ()::numeric(20, 6) AS a, array_length(array_agg(t) OVER (), 1) AS l FROM wide ORDER BY i LIMIT 2) AS x;
SELECT max(length(s)), count(DISTINCT s) FROM (SELECT string_agg(t, ',') OVER (PARTITION BY g, v % 2) AS s FROM (SELECT * FROM wide ORDER BY i) AS o) AS x;
-- first values of partitions whose rows are forgotten
SELECT g, count(DISTINCT f), min(f), sum(l) FROM (
  SELECT g, first_value(t) OVER (PARTITION BY g ORDER BY i) AS f, last_value(v) OVER (PARTITION BY g ORDER BY i) AS l FROM wide) AS x GROUP BY g ORDER BY g;
SELECT g, count(DISTINCT v), sum(DISTINCT v) FILTER (WHERE v > 10), count(DISTINCT (v, t)) FROM wide GROUP BY g ORDER BY g;
SELECT count(DISTINCT i), count(DISTINCT t || i), length(string_agg(DISTINCT t || v, ',' ORDER BY t || v DESC)) FROM wide;
-- rows of RETURNING that wait for the statement's end
UPDATE wide SET t = t || '!' WHERE i <= 5000 RETURNING i, t;
CREATE TABLE narrow AS SELECT DISTINCT g FROM wide;
SELECT * FROM narrow ORDER BY g;
DROP TABLE wide, narrow;
