-- Aggregates with DISTINCT take their values in order.
CREATE TABLE v (g int, i int, t text, f float8);
INSERT INTO v VALUES (1, 5, 'b', 1e20), (1, NULL, 'a', 1), (1, 0, 'c', -1e20), (2, 3, NULL, 2), (2, 3, 'z', NULL), (1, 5, 'a', 1), (2, 1, 'y', 3);
SELECT array_agg(DISTINCT i), array_agg(DISTINCT t ORDER BY t DESC), string_agg(DISTINCT t, ','), json_agg(DISTINCT t), jsonb_agg(DISTINCT i) FROM v;
SELECT g, array_agg(DISTINCT i), string_agg(DISTINCT t, '-'), sum(DISTINCT f), avg(DISTINCT f) FROM v GROUP BY g ORDER BY g;
SELECT string_agg(DISTINCT t, i::text) FROM v;
SELECT jsonb_object_agg(DISTINCT i, t) FILTER (WHERE i IS NOT NULL), json_object_agg(DISTINCT i, g) FILTER (WHERE i > 0) FROM v;
SELECT count(DISTINCT (i, t)), array_agg(DISTINCT (i, t)) FROM v;
SELECT array_agg(DISTINCT i ORDER BY i DESC), array_agg(DISTINCT i ORDER BY i NULLS FIRST) FROM v;
SELECT sum(DISTINCT f), stddev(DISTINCT f), corr(DISTINCT f, i) FROM v;
