-- What the columns of indexes over expressions are called.
CREATE TABLE u (a int, b text, d date, j jsonb);
CREATE INDEX ON u ((a::text));
CREATE INDEX ON u ((coalesce(a, 1)), (extract(year from d)), (j->>'x'), (j->'y'), (a + 1), (('x' || b)::varchar), trim(b), (CASE WHEN a > 1 THEN b END));
CREATE INDEX ON u ((CASE WHEN a > 1 THEN 1 ELSE a END), (greatest(a, 2)), (ROW(a, 1) IS NULL), (b IS NOT NULL), (ARRAY[a]), ((ARRAY[a])[1]), (a IN (1, 2)), (nullif(a, 2)), (b LIKE 'x'));
CREATE INDEX ON u (lower(b), (lower(b) || 'x'), (b COLLATE "C"), upper(b), (upper(b)));
CREATE TABLE v (LIKE u INCLUDING INDEXES);
ALTER TABLE u RENAME COLUMN a TO z;
SELECT i.indrelid::regclass, i.indexrelid::regclass, attnum, attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid WHERE indrelid IN ('u'::regclass, 'v'::regclass) ORDER BY 1, 2, 3;
CREATE TABLE p (a int, b text) PARTITION BY LIST (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE INDEX ON p ((b::varchar(3)), (a::bigint));
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
SELECT i.indexrelid::regclass, attnum, attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid WHERE indrelid IN ('p1'::regclass, 'p2'::regclass, 'p'::regclass) ORDER BY 1, 2;
