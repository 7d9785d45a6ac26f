-- A literal or parameter at the right of ANY is an array of what the operator takes
CREATE DOMAIN mail AS text CHECK (VALUE ~ '@');
CREATE TABLE mails (m mail, j jsonb, v varchar(5));
INSERT INTO mails VALUES ('a@b', '{"a": 1}', 'x'), ('c@d', '{"b": 2}', 'y');
SELECT count(*) FROM information_schema.tables WHERE table_name = ANY ('{mails}');
SELECT count(*) FROM information_schema.columns WHERE table_name = 'mails' AND column_name <> ALL ('{m,v}');
SELECT m FROM mails WHERE m = ANY ('{a@b}');
SELECT m FROM mails WHERE m LIKE ANY ('{c%,x%}');
SELECT m FROM mails WHERE j ? ANY ('{b,c}');
SELECT m FROM mails WHERE v = ANY ('{x}') OR v ~ ANY ('{^y}') ORDER BY 1;
SELECT m FROM mails WHERE 'x' = ANY ('{x}') AND now() > ANY ('{2020-01-01}') ORDER BY 1;
PREPARE p AS SELECT count(*) FROM information_schema.tables WHERE table_name = ANY ($1);
EXECUTE p('{mails}');
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'p';
SELECT m FROM mails WHERE m @> ANY ('{b,c}');
SELECT m FROM mails WHERE m || ANY ('{b,c}');
-- a part of a vector is an array
SELECT ('1 2 3'::int2vector)[0:1], ('1 2 3'::oidvector)[:1], ('1 2 3'::int2vector)[5:6], pg_typeof(('1 2 3'::oidvector)[0:0]), ('1 2 3'::int2vector)[1:1] = '{2}';
SELECT indkey[:indnkeyatts - 1], indkey[indnkeyatts:] FROM pg_index WHERE indexrelid = 'pg_class_relname_nsp_index'::regclass;
-- who has a file
CREATE MATERIALIZED VIEW mv AS SELECT 1 AS a;
CREATE VIEW vi AS SELECT 1 AS a;
CREATE TABLE pt (a int PRIMARY KEY) PARTITION BY LIST (a);
CREATE SEQUENCE sq;
SELECT relname, pg_relation_filenode(oid) IS NOT NULL FROM pg_class WHERE relname IN ('mails', 'mv', 'vi', 'pt', 'sq', 'pt_pkey', 'pg_index') ORDER BY 1;
DROP TABLE mails, pt;
DROP MATERIALIZED VIEW mv;
DROP VIEW vi;
DROP SEQUENCE sq;
