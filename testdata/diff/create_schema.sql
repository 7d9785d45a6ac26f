-- Elements of CREATE SCHEMA: made in the schema, as its owner, in the order of their kinds.
create role regress_cs_owner;
create schema cs
  create view v as select a, nextval('sq') as n from t
  create index on t (a)
  create table t (a int primary key default nextval('sq'), b int references u)
  create sequence sq
  create table u (c int primary key)
  grant select on v to public;
create schema cs
  create sequence sq
  create table u (c int primary key)
  create view v as select a, b from t
  create index ti on t (b)
  create table t (a int primary key default nextval('sq'), b int references u)
  create table p (a int) partition by list (a)
  create table p1 partition of p for values in (1)
  grant select on v to regress_cs_owner;
insert into cs.u values (7);
insert into cs.t (b) values (7), (7);
select * from cs.v;
select relname, relkind from pg_class where relnamespace = 'cs'::regnamespace order by 1;
select pg_get_viewdef('cs.v');
select has_table_privilege('regress_cs_owner', 'cs.v', 'select'), has_table_privilege('regress_cs_owner', 'cs.t', 'select');
create schema cs2 create table cs.x (a int);
create schema cs2 create view cs.x as select 1;
create schema cs2 create sequence cs.x;
create schema cs2 create index on cs.t (b);
create schema cs2 create temp view x as select 1;
create schema authorization regress_cs_owner create table t (a int) create table public.u (a int);
create schema authorization regress_cs_owner create table t (a int) create view v as select * from t;
select nspname, pg_get_userbyid(nspowner), relname, pg_get_userbyid(relowner)
  from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'regress_cs_owner' order by 3;
select current_user = session_user, current_schema;
create table t (a text);
select to_regclass('t')::text, to_regclass('public.t')::text;
drop table t;
drop schema cs, regress_cs_owner cascade;
drop role regress_cs_owner;
