-- Where a WITH query has the name of a table, the text of a view has the table's schema.
CREATE SCHEMA vh;
SET search_path = vh;
CREATE TABLE t (i int);
CREATE TABLE u (i int);
CREATE VIEW v1 AS WITH t AS (SELECT i + 10 AS i FROM t WHERE i = 1) SELECT t.i, (SELECT count(*) FROM vh.t) c FROM t;
CREATE VIEW v2 AS WITH t AS (SELECT 1 AS i) SELECT t.i FROM t JOIN vh.t p USING (i) JOIN u USING (i);
CREATE VIEW v3 AS WITH RECURSIVE u AS (SELECT i FROM vh.u UNION ALL SELECT u.i + 1 FROM u WHERE u.i < 3) TABLE u;
CREATE VIEW v4 AS SELECT * FROM (WITH u AS (SELECT 1 AS x) SELECT x, vh.t.i FROM u, vh.t, vh.u z) q, u, LATERAL (SELECT x FROM t) l;
CREATE VIEW v5 AS WITH a AS (SELECT i FROM u), u AS (SELECT i FROM a) SELECT * FROM u UNION ALL SELECT * FROM vh.u ORDER BY 1;
CREATE FUNCTION vf() RETURNS SETOF int LANGUAGE sql BEGIN ATOMIC
  WITH t AS (SELECT 5 AS i) INSERT INTO vh.t SELECT t.i FROM t, vh.t z RETURNING i;
  WITH u AS (UPDATE u SET i = i RETURNING i) SELECT i FROM u WHERE i NOT IN (SELECT i FROM vh.u);
END;
SELECT c, pg_get_viewdef(c::regclass) FROM unnest('{v1,v2,v3,v4,v5}'::text[]) c;
SELECT c, pg_get_viewdef(c::regclass, true) FROM unnest('{v1,v2,v3,v4,v5}'::text[]) c;
SELECT pg_get_functiondef('vf'::regproc);
