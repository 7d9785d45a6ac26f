-- Bodies and policies with queries that are grouped by a primary key, and show other columns, need the key.
create table k(a int primary key, b text); create function gb() returns setof text begin atomic select b from k group by a; end;
create view kv as select b from k group by a;
create function gv() returns setof text begin atomic select b from kv; end;
create table k2(a int primary key, b text);
create function gi() returns void begin atomic insert into k2 select a, b from k group by a; end;
create table pt(a text); create policy p on pt using (a in (select b from k group by k.a));
create function gr() returns text return (select max(b) from (select b from k group by a) s);
alter table k drop constraint k_pkey;
select case refclassid when $$pg_class$$::regclass then refobjid::regclass::text end, refclassid::regclass::text, refobjsubid, (select conname from pg_constraint where oid = refobjid and refclassid = 'pg_constraint'::regclass), deptype from pg_depend where objid = 'gb'::regproc and refclassid <> 'pg_namespace'::regclass and refobjid >= 16384 order by 4,2,3;
select classid::regclass::text, deptype from pg_depend where refobjid = (select oid from pg_constraint where conname = 'k_pkey') order by 1,2;
alter table k2 drop constraint k2_pkey;
alter table k drop constraint k_pkey cascade;
