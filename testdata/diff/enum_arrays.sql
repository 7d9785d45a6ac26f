-- Labels in constants of arrays follow the renaming of a value.
CREATE TYPE en AS ENUM ('a', 'b');
CREATE DOMAIN ed AS en[] DEFAULT '{a}';
CREATE TABLE te (ea en[] DEFAULT ARRAY['a'::en], e en DEFAULT 'a', f en[] DEFAULT '{{a,b},{NULL,a}}', d ed, CHECK (e IN ('a', 'b')), CHECK (ea <> '{b,b}'), CHECK (f <> '[0:1]={a,b}'));
CREATE VIEW tv AS SELECT 'a'::en AS x, ARRAY['a', 'b']::en[] y, '{a,b}'::en[] z FROM te WHERE e = ANY ('{a}');
CREATE INDEX ON te (e) WHERE e = ANY ('{a,b}'::en[]);
CREATE FUNCTION ef() RETURNS en[] LANGUAGE sql RETURN '{b,a}'::en[];
INSERT INTO te DEFAULT VALUES;
ALTER TYPE en RENAME VALUE 'a' TO 'a "a';
SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute a ON adrelid = attrelid AND adnum = attnum WHERE adrelid = 'te'::regclass ORDER BY attnum;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'te'::regclass ORDER BY 1;
SELECT pg_get_indexdef('te_e_idx'::regclass);
SELECT pg_get_viewdef('tv'::regclass);
SELECT ef();
INSERT INTO te DEFAULT VALUES;
TABLE te;
TABLE tv;
