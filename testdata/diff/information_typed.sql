-- Typed tables in information_schema; what constraints with included columns need.
create schema s;
create type s.pair as (x int, y text);
create table t of s.pair;
create table u (x int, y text);
alter table u of s.pair;
create table v (x int);
select table_name, user_defined_type_catalog = current_database() as here, user_defined_type_schema, user_defined_type_name, is_typed from information_schema.tables where table_schema = 'public' order by 1;
alter table u not of;
select table_name, is_typed from information_schema.tables where table_schema = 'public' order by 1;
create table w (a int, b int, c int, unique (a) include (b), exclude (c with =), primary key (c) include (b));
select pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend where refobjid = 'w'::regclass and classid = 'pg_constraint'::regclass order by 1, 2;
