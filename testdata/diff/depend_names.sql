-- Messages do not quote the names of constraints; views need the primary key that they group by.
create table t (c int, b text);
alter table t add constraint "K 3" check (c > 0), add constraint "U 3" unique (b);
create table u (a text constraint "F 4" references t (b));
drop table t cascade;
create table t (a int primary key, d text);
create view v as select d, count(*) from t group by a;
create view w as select d, count(*) from t group by d;
select regexp_replace(pg_describe_object(classid, objid, objsubid), 'rewrite.*', ''), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend where objid in (select oid from pg_rewrite where ev_class in ('v'::regclass, 'w'::regclass)) order by 1, 2, 3;
alter table t drop constraint t_pkey;
create domain d as int constraint "D 1" check (value > 0);
alter table t drop constraint t_pkey cascade;
-- The index of a constraint needs what its expressions and its predicate read.
CREATE TABLE depend_part (a int, b int, c int, EXCLUDE (a WITH =, (b + c) WITH =) WHERE (c > 1 AND abs(b) > 2), UNIQUE (a), PRIMARY KEY (b));
SELECT DISTINCT pg_describe_object(classid, objid, objsubid) AS o, pg_describe_object(refclassid, refobjid, refobjsubid) AS r, deptype
  FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'depend_part'::regclass) ORDER BY 1, 2, 3;
SELECT DISTINCT pg_describe_object(classid, objid, objsubid) AS o, pg_describe_object(refclassid, refobjid, refobjsubid) AS r, deptype
  FROM pg_depend WHERE classid = 'pg_constraint'::regclass AND objid IN (SELECT oid FROM pg_constraint WHERE conrelid = 'depend_part'::regclass) ORDER BY 1, 2, 3;
DROP TABLE depend_part;
-- A view that reads itself needs the columns it reads.
CREATE VIEW own AS SELECT 1 AS a;
CREATE OR REPLACE VIEW own AS SELECT * FROM own;
SELECT pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND objid = (SELECT oid FROM pg_rewrite WHERE ev_class = 'own'::regclass) ORDER BY 1, 2;
DROP VIEW own;
