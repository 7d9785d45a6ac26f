-- Stored literals of user-defined types are shown as the types write them.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE span AS RANGE (subtype = int);
CREATE TABLE t (a mood[] DEFAULT '{"sad"}', b mood[] DEFAULT '{ sad , "very happy",NULL}', c mood[] DEFAULT '{{"sad"},{ok}}',
  d pair DEFAULT '( 1,"x")', e pair[] DEFAULT '{"(1, x)"}', f mood DEFAULT 'sad', g span DEFAULT '[1 , 5]', h span[] DEFAULT '{"[1, 5]"}',
  i mood[] DEFAULT ARRAY['sad']::mood[], CHECK (a <> '{"ok"}'));
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass ORDER BY adnum;
ALTER TABLE t ALTER a SET DEFAULT '{"ok" }';
CREATE INDEX i ON t (f) WHERE a <> '{"sad"}';
CREATE VIEW v AS SELECT '{"sad"}'::mood[] AS x, '(1,"x")'::pair AS y, a = '{"sad"}' AS z, '{}'::mood[] AS w FROM t WHERE h @> '{"[2,3]"}';
SELECT column_default FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass;
SELECT indexdef FROM pg_indexes WHERE indexname = 'i';
SELECT pg_get_viewdef('v');
CREATE FUNCTION f(x mood[] DEFAULT '{"sad"}') RETURNS int LANGUAGE sql AS 'SELECT array_length(x, 1)';
SELECT pg_get_function_arguments('f'::regproc), f();
CREATE SCHEMA s;
CREATE TYPE s.size AS ENUM ('big');
CREATE SEQUENCE q;
CREATE FUNCTION g(x mood DEFAULT 'sad', y s.size DEFAULT 'big', z int DEFAULT nextval('q')) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT pg_get_function_arguments('g'::regproc), pg_get_functiondef('g'::regproc);
SET search_path = s;
SELECT pg_get_function_arguments('public.g'::regproc), pg_get_function_arg_default('public.g'::regproc, 2);
RESET search_path;
ALTER TABLE t DROP CONSTRAINT t_a_check;
INSERT INTO t DEFAULT VALUES RETURNING *;
SELECT x, y, z, w FROM v;
