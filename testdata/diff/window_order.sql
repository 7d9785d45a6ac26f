-- Without an ORDER BY the rows come as the last window that sorts has left them.
CREATE TABLE w (a int, b int, c text);
INSERT INTO w SELECT i % 4, (i * 7) % 10, 'c' || i % 3 FROM generate_series(1,20) i;
SELECT array_agg(r) FROM (SELECT a, b, c, row_number() OVER (ORDER BY a, b, c), rank() OVER (ORDER BY b DESC, a, c), count(*) OVER () FROM w) r;
SELECT array_agg(r) FROM (SELECT a, b, sum(b) OVER (PARTITION BY a ORDER BY b, c), sum(b) OVER (PARTITION BY c ORDER BY b, a), first_value(a) OVER (ORDER BY c, b, a) FROM w) r;
SELECT array_agg(r) FROM (SELECT a, b, last_value(b) OVER (), row_number() OVER (ORDER BY b, a, c) FROM w) r;
SELECT array_agg(r) FROM (SELECT a, sum(a) OVER w1, sum(b) OVER w2 FROM w WINDOW w2 AS (ORDER BY b, a, c), w1 AS (ORDER BY a DESC, b, c)) r;
SELECT array_agg(r) FROM (SELECT a, sum(a) OVER w1, sum(b) OVER (w1 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), first_value(b) OVER (ORDER BY b DESC, a, c) FROM w WINDOW w1 AS (ORDER BY a, b, c)) r;
SELECT array_agg(r) FROM (SELECT a, count(*), rank() OVER (ORDER BY count(*), a), row_number() OVER (ORDER BY a DESC), nth_value(a, 2) OVER () FROM w GROUP BY a) r;
SELECT array_agg(r) FROM (SELECT a, b, last_value(b) OVER (), first_value(b) OVER () , lead(b) OVER (ORDER BY a NULLS FIRST, b, c), lag(b) OVER (ORDER BY a, b, c) FROM w) r;
DROP TABLE w;
