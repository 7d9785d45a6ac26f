CREATE TABLE fs (k int, b text);
CREATE VIEW fsv AS SELECT (a).k, a.b FROM fs a;
CREATE VIEW fsw AS SELECT a AS whole, (a).k, a.*::text AS txt FROM fs a;
SELECT pg_get_viewdef('fsv'), pg_get_viewdef('fsw');
ALTER TABLE fs DROP COLUMN k;
ALTER TABLE fs RENAME k TO kk;
SELECT pg_get_viewdef('fsw');
SELECT * FROM fsw;
SELECT refobjsubid FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid WHERE ev_class = 'fsv'::regclass AND refobjid = 'fs'::regclass ORDER BY 1;
