-- Stored expressions show dates and intervals as the session writes them
CREATE TABLE styles (d date DEFAULT '2020-01-31', i interval DEFAULT '1 year 2 mons 3 days 04:05:06', i3 interval(3) DEFAULT '1 day', iy interval year to month DEFAULT '3 years',
  ts timestamp DEFAULT '2020-01-31 10:00', tz timestamptz DEFAULT '2020-01-31 10:00+00', a interval[] DEFAULT '{1 day,NULL,2 hours}', r daterange DEFAULT '[2020-01-01,2020-02-01)',
  tx text DEFAULT '1 day', c interval DEFAULT '1 day'::text::interval, t time DEFAULT '10:00', CHECK (i > '-1 days'), CHECK (d BETWEEN '2000-01-01' AND '2100-01-01'));
CREATE INDEX styles_i ON styles ((i + '1 day')) WHERE ts > '2019-12-31';
CREATE VIEW styles_v AS SELECT i + '1 day'::interval AS x, date '2020-01-31' AS y, timestamptz '2020-01-31 10:00+00' AS z FROM styles WHERE d > '2020-01-01';
CREATE TABLE styles_p (d date, z timestamptz) PARTITION BY RANGE (d);
CREATE TABLE styles_p1 PARTITION OF styles_p FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'styles'::regclass ORDER BY adnum;
SET intervalstyle = iso_8601;
SET datestyle = 'German';
SET timezone = 'Europe/Berlin';
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'styles'::regclass ORDER BY adnum;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'styles'::regclass ORDER BY 1;
SELECT pg_get_indexdef('styles_i'::regclass), pg_get_expr(indpred, indrelid), pg_get_indexdef(indexrelid, 1, true) FROM pg_index WHERE indexrelid = 'styles_i'::regclass;
SELECT pg_get_viewdef('styles_v');
SELECT column_default FROM information_schema.columns WHERE table_name = 'styles' ORDER BY ordinal_position;
SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'styles_p1';
SELECT pg_get_partition_constraintdef('styles_p1'::regclass);
SET intervalstyle = sql_standard;
SET datestyle = 'SQL, DMY';
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'styles'::regclass ORDER BY adnum;
RESET ALL;
INSERT INTO styles DEFAULT VALUES RETURNING d, i, ts, a;
DROP TABLE styles, styles_p CASCADE;
