-- The schema of a name must be one that the role may use, wherever it is named, and the
-- names of system roles are not given or taken.
create schema u; create role ur; create table u.t(a int primary key); create table u.n (b int references u.t);
create type u.ty as enum ('a'); create domain u.dom as int;
grant insert,select,references,update on u.t to ur; grant select on u.n to ur;
create sequence u.q; grant all on sequence u.q to ur; grant create on schema public to ur;
create function u.f() returns int language sql as 'select 1';
create function u.f2(int) returns int language sql as 'select 1';

create table dflt (a int default nextval('u.q'), b text default 'u.t'::regclass::text, c regclass default 'u.t'); grant all on dflt to ur;
create view vq as select nextval('u.q') n, 'u.t'::regclass r, 'u.f'::regproc p, 'u.ty'::regtype t, 'u'::regnamespace s; grant select on vq to ur;
create function fr() returns regclass language sql begin atomic select 'u.t'::regclass; end;
set role ur;
copy u.t from stdin;
1
\.
copy u.t to stdout;
begin; lock table u.t in access exclusive mode; rollback;
select nextval('u.q'); select setval('u.q',9); select currval('u.q');
create table fk(a int references u.t);
create table fk(a int); alter table fk add foreign key (a) references u.t;
select to_regclass('u.t'); select to_regproc('u.f'); select to_regtype('u.ty'); select to_regclass('u.nothing'); select to_regclass('nosuch.x');
select has_table_privilege('u.t', 'select'); select has_column_privilege('u.t', 'a', 'select'); select has_sequence_privilege('u.q', 'usage'); select has_function_privilege('u.f()', 'execute'); select has_type_privilege('u.ty','usage'); select has_any_column_privilege('u.t', 'select');
select pg_table_size('u.t'); select pg_get_viewdef('u.t'); select pg_get_serial_sequence('u.t','a'); select pg_relation_size('u.t');
select ('u' || '.t')::regclass; select '{u.t}'::regclass[];
vacuum u.t; analyze u.t; grant select on u.t to ur; revoke select on u.t from ur;
comment on table u.t is 'x'; truncate u.t; reindex table u.t; cluster u.t;
alter table u.t add x int; drop table u.t; alter sequence u.q restart;
create table lk (like u.t); create table inh () inherits (u.t); create table po partition of u.t default; create index on u.t(a);
create view v2 as select * from u.t; create table c2 (x u.dom); create table c3 (x u.ty);
create policy p on u.t; alter table fk add constraint z check (u.f() = 1);
select pg_get_indexdef('u.t'::regclass); select u.f(); select null::u.ty;
explain (costs off) select * from u.t; prepare x as select * from u.t; declare c cursor for select * from u.t;
reset role; 
drop view vq; drop function fr(); drop schema u cascade; drop owned by ur; drop role ur;
create role c1;
alter role pg_monitor rename to c11;
alter role c1 rename to pg_c1;
alter role c1 rename to public;
create role c12 connection limit -2;
alter role c1 connection limit -2;
alter role c1 connection limit -1;
alter role pg_monitor login;
alter schema pg_catalog owner to postgres;
reindex table concurrently information_schema.sql_features;
drop role c1;
