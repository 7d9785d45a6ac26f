-- A domain needs the functions and sequences of its default.
create function f(bigint) returns int language sql immutable return $1 * 2;
create sequence s;
create table t (a int default f(nextval('s')), b int default nextval('s'));
create domain d as int default nextval('s');
create domain e as int;
alter domain e set default f(nextval('s') + nextval('s'));
create type mood as enum ('a', 'b');
create domain g as text default 'a'::mood::text;
select classid::regclass, pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend where refobjid in ('f'::regproc, 's'::regclass) order by 2, 3;
drop type mood;
drop function f;
create table u (a e);
drop function f cascade;
\d u
\d t
drop sequence s cascade;
\d t
create table named (a int);
create domain h as oid default 'named'::regclass;
select pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend where refobjid = 'named'::regclass order by 1, 2;
