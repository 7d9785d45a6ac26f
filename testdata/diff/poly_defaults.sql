-- The types of defaults count among those of polymorphic arguments.
CREATE FUNCTION pd1(a anyelement, b anyelement DEFAULT 5) RETURNS anyelement LANGUAGE sql AS 'SELECT b';
SELECT pd1('a'::text);
SELECT pd1(1), pd1(1, 2), pd1(a => 3), pd1('a'::text, 'b');
SELECT pd1(1.5);
SELECT pd1(a => 1.5);
CREATE FUNCTION pd2(a anyarray DEFAULT '{1}'::int[]) RETURNS anyarray LANGUAGE sql AS 'SELECT a';
SELECT pd2(), pd2('{a}'::text[]), pg_typeof(pd2());
CREATE FUNCTION pd3(a anycompatible, b anycompatible DEFAULT 5) RETURNS anycompatible LANGUAGE sql AS 'SELECT b';
SELECT pd3(1.5), pg_typeof(pd3(1.5)), pd3(1), pg_typeof(pd3(1));
SELECT pd3('a'::text);
CREATE FUNCTION pd4(a anyelement, b text DEFAULT 'x', c int DEFAULT 7) RETURNS text LANGUAGE sql AS 'SELECT a::text || b || c';
SELECT pd4(1), pd4('q'::text, 'y'), pd4(2.5, c => 1);
CREATE VIEW pv AS SELECT pd1(1) AS a, pd2() AS b, pd4(true) AS c;
SELECT pg_get_viewdef('pv'::regclass);
TABLE pv;
