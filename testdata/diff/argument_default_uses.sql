-- Functions, and sequences, that defaults of arguments need.
CREATE FUNCTION ls_f(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1';
CREATE FUNCTION ls_g(x int, y int DEFAULT ls_f(1)) RETURNS int LANGUAGE sql AS 'SELECT x + y';
CREATE FUNCTION ls_h(x int DEFAULT ls_g(1)) RETURNS int LANGUAGE sql AS 'SELECT x';
SELECT ls_g(1), ls_h();
DROP FUNCTION ls_f(int);
ALTER FUNCTION ls_f(int) RENAME TO ls_f2;
SELECT ls_g(1), ls_h();
DROP FUNCTION ls_f2(int) RESTRICT;
SELECT p.proname, d.deptype FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
 WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'ls_f2'::regproc;
DROP FUNCTION ls_f2(int) CASCADE;
SELECT count(*) FROM pg_proc WHERE proname LIKE 'ls\_%';
CREATE SEQUENCE ls_s;
CREATE FUNCTION ls_n(x bigint DEFAULT nextval('ls_s')) RETURNS bigint LANGUAGE sql AS 'SELECT x';
DROP SEQUENCE ls_s;
DROP FUNCTION ls_n;
DROP SEQUENCE ls_s;
